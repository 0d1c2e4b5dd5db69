//! `analyze`: what it reads, what it says of what it can't, and the forms in which it tells.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use nash_events::event::{EventKind, Function};
use nash_events::journal::{Delivered, Note, encode_record};
use nash_events::{JournalHeader, Record, SessionId, ShellId};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

use crate::events::{SHELL, batch_json, exec};
use crate::process::program;

fn line(seq: u64, word: &str) -> Vec<u8> {
    let mut line = batch_json(SHELL, None, &[exec(seq, seq, word, &json!({}))]).to_string().into_bytes();
    line.push(b'\n');
    line
}

/// A journal with a record for each function, of which the first was delivered.
fn journal(shell: &str, functions: &[&str]) -> Vec<u8> {
    let header = JournalHeader {
        session_id: SessionId("s".to_owned()),
        shell_id: ShellId::parse(shell).unwrap(),
        parent_shell: None,
        agent: nash_events::batch::Agent::new(),
        // No process has it.
        pid: u32::MAX,
        start_ticks: None,
        boot_id: None,
        unlocked: false,
    };
    let mut bytes = header.encode().unwrap();
    for name in functions {
        let kind = EventKind::Function(Function { name: (*name).to_owned() });
        bytes.extend(encode_record(&Record { ts: 1.0, cmd: None, kind: &kind }).unwrap());
    }
    let delivered = Delivered { offset: bytes.len() as u64, seq: nash_events::Seq(1) };
    bytes.extend(Note::Delivered(delivered).encode().unwrap());
    bytes
}

fn analyze(args: &[&str], dir: &Path, stdin: &[u8]) -> Output {
    let mut command = program();
    command.arg("analyze").args(args).current_dir(dir);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    child.wait_with_output().unwrap()
}

fn story(args: &[&str], dir: &Path, stdin: &[u8]) -> Value {
    let output = analyze(&[&["--json"], args].concat(), dir, stdin);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a story tells of: words of commands, names of functions.
fn told(story: &Value) -> Vec<String> {
    let mut told = Vec::new();
    for shell in story["shells"].as_array().unwrap() {
        let commands = shell["commands"].as_array().unwrap().iter().map(|command| &command["argv"][0]);
        let functions = shell["events"].as_array().unwrap().iter().map(|event| &event["name"]);
        told.extend(commands.chain(functions).map(|word| word.as_str().unwrap_or("?").to_owned()));
    }
    told.sort();
    told
}

#[test]
fn every_format_is_recognised_by_its_content_whatever_it_is_called() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    let zstd = |bytes: &[u8]| compress_to_vec(bytes, CompressionLevel::Fastest);
    write("batches.txt", &line(1, "one"));
    write("packed", &zstd(&line(2, "two")));
    write("journal.jsonl", &journal("jjjj", &["three", "four"]));
    write("kkkk.bin", &zstd(&journal("kkkk", &["five"])));
    let nice: Value = serde_json::from_slice(&line(3, "six")).unwrap();
    write("nice", &serde_json::to_vec_pretty(&nice).unwrap());
    write("half.tmp", &line(4, "unfinished"));
    write("photo.jpg", b"\xff\xd8\xff\xe0 no story");
    std::fs::create_dir(dir.path().join("below")).unwrap();
    write("below/more", &line(5, "seven"));
    std::os::unix::fs::symlink("batches.txt", dir.path().join("link")).unwrap();
    let all = ["five", "four", "one", "seven", "six", "three", "two"];
    assert_eq!(told(&story(&["."], dir.path(), b"")), all);
    // The same, each by its name, and one from a pipe.
    let named = ["packed", "journal.jsonl", "kkkk.bin", "nice", "below/more", "-"];
    assert_eq!(told(&story(&named, dir.path(), &line(1, "one"))), all);
    assert_eq!(told(&story(&["-"], dir.path(), &zstd(&journal("kkkk", &["five"])))), ["five"]);
}

#[test]
fn a_byte_order_mark_costs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let marked = |bytes: Vec<u8>| [b"\xef\xbb\xbf".to_vec(), bytes].concat();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    let lines = marked([line(1, "one"), line(2, "two")].concat());
    write("lines", &lines);
    write("packed", &compress_to_vec(&marked(line(3, "three"))[..], CompressionLevel::Fastest));
    write("journal", &marked(journal("jjjj", &["four", "five"])));
    let output = analyze(&["--json", "."], dir.path(), b"");
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    let story: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told(&story), ["five", "four", "one", "three", "two"]);
    assert_eq!(told(&self::story(&["-"], dir.path(), &lines)), ["one", "two"]);
}

#[test]
fn damage_costs_itself_and_is_told_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("spool");
    let text =
        [line(1, "one"), b"{\"type\":\"shell-batch\",oops\n".to_vec(), line(2, "two"), line(3, "three")].concat();
    std::fs::write(&path, &text[..text.len() - 9]).unwrap();
    let output = analyze(&["--json", "spool"], dir.path(), b"");
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("spool:2: not JSON at byte"), "{stderr}");
    assert!(stderr.contains("spool:4: the last line is truncated"), "{stderr}");
    let story: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (told(&story), &story["coverage"]["damagedLines"]),
        (vec!["one".to_owned(), "two".to_owned()], &json!(2))
    );
}

#[test]
fn a_compressed_file_that_is_cut_gives_what_stands_before_the_cut() {
    let dir = tempfile::tempdir().unwrap();
    // Frames of their own, so that the first is whole.
    let frame = |bytes: &[u8]| compress_to_vec(bytes, CompressionLevel::Fastest);
    let whole = [frame(&line(1, "one")), frame(&line(2, "two"))].concat();
    std::fs::write(dir.path().join("cut"), &whole[..whole.len() - 5]).unwrap();
    let output = analyze(&["--json", "cut"], dir.path(), b"");
    assert_eq!(output.status.code(), Some(0));
    let story: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((told(&story), &story["coverage"]["damagedLines"]), (vec!["one".to_owned()], &json!(1)));
    assert!(String::from_utf8(output.stderr).unwrap().contains("zstd"), "the reason is told");
}

/// One frame with a window of a mebibyte, which is more than its text: blocks as they are.
fn wide_frame(text: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 10 << 3];
    let blocks = text.chunks(100_000).count();
    for (index, block) in text.chunks(100_000).enumerate() {
        let header = (u32::try_from(block.len()).unwrap() << 3) | u32::from(index + 1 == blocks);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(block);
    }
    frame
}

#[test]
fn a_compressed_file_is_read_whatever_its_window_and_as_far_as_it_goes() {
    let dir = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..5000).map(|number| format!("f{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let lines: Vec<u8> = (1..2000).flat_map(|seq| line(seq, "one")).collect();
    for (name, text, count) in [("journal", journal("abc", &names), 5000), ("lines", lines, 1999)] {
        let whole = wide_frame(&text);
        assert!(text.len() > 200_000, "{}", text.len());
        std::fs::write(dir.path().join(name), &whole).unwrap();
        std::fs::write(dir.path().join("cut"), &whole[..whole.len() - 5]).unwrap();
        assert_eq!(told(&story(&[name], dir.path(), b"")).len(), count, "{name}");
        assert_eq!(told(&story(&["-"], dir.path(), &whole)).len(), count, "{name}, from a pipe");
        for (from, stdin) in [("cut", &b""[..]), ("-", &whole[..whole.len() - 5])] {
            let output = analyze(&["--json", from], dir.path(), stdin);
            let cut: Value = serde_json::from_slice(&output.stdout).unwrap();
            let kept = told(&cut).len();
            assert!(kept > count / 4 && kept < count, "{name}: {kept} of {count}");
            assert_eq!(cut["coverage"]["damagedLines"].as_u64().map(|lines| lines > 0), Some(true), "{name}");
            assert!(String::from_utf8(output.stderr).unwrap().contains("zstd"), "{name}: the reason is told");
        }
    }
}

#[test]
fn journals_in_one_file_are_told_as_the_same_in_several() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (journal("aaaa", &["one", "more"]), journal("bbbb", &["two"]));
    let all = [one.clone(), two.clone(), line(1, "three"), journal("cccc", &["four"])].concat();
    std::fs::write(dir.path().join("all"), &all).unwrap();
    std::fs::write(dir.path().join("all.zst"), wide_frame(&all)).unwrap();
    let expected = ["four", "more", "one", "three", "two"];
    for (from, stdin) in [("all", &b""[..]), ("all.zst", b""), ("-", &all)] {
        let story = story(&[from], dir.path(), stdin);
        assert_eq!(told(&story), expected, "{from}");
        assert_eq!(story["coverage"]["shells"], 4, "{from}");
        let first = story["shells"].as_array().unwrap().iter().find(|shell| shell["shellId"] == "aaaa").unwrap();
        assert_eq!(first["events"].as_array().unwrap().len(), 2, "{from}");
    }
    let broken = [wide_frame(&all), b"no frame".to_vec()].concat();
    for (from, stdin) in [("broken", &b""[..]), ("-", &broken)] {
        std::fs::write(dir.path().join("broken"), &broken).unwrap();
        assert_eq!(told(&story(&[from], dir.path(), stdin)), expected, "{from}");
    }
    // A journal in a spool is one shell's: who writes a header into it begins no other.
    let name = "0123456789abcdef0123456789abcdef";
    let own = [journal(name, &["one"]), two].concat();
    std::fs::write(dir.path().join(format!("{name}.journal")), own).unwrap();
    assert_eq!(story(&[&format!("{name}.journal")], dir.path(), b"")["coverage"]["shells"], 1);
}

#[test]
fn a_journal_without_its_header_is_taken_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let whole = journal("nnnn", &["one"]);
    std::fs::write(dir.path().join("nnnn.journal"), &whole[20..]).unwrap();
    let story = story(&["nnnn.journal"], dir.path(), b"");
    assert_eq!(story["shells"][0]["shellId"], "nnnn");
}

#[test]
fn what_holds_nothing_of_ours_or_is_not_there_is_named_and_the_rest_is_told() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("notes"), b"my notes\n").unwrap();
    std::fs::write(dir.path().join("spool"), line(1, "one")).unwrap();
    let output = analyze(&["--json", "notes", "gone", "spool"], dir.path(), b"");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("notes: expected batches") && stderr.contains("gone: "), "{stderr}");
    assert_eq!(told(&serde_json::from_slice(&output.stdout).unwrap()), ["one"]);
    let output = analyze(&["gone"], dir.path(), b"");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert_eq!(analyze(&[], dir.path(), b"").status.code(), Some(2));
}

#[test]
fn lines_of_json_hold_what_the_one_object_holds() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("spool"), [line(1, "one"), line(2, "two")].concat()).unwrap();
    std::fs::write(dir.path().join("journal"), journal("jjjj", &["f"])).unwrap();
    let output = analyze(&["--format", "ndjson", "spool", "journal"], dir.path(), b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.starts_with("{\"type\":\"")), "{text}");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["story", "shell", "event", "shell", "command", "command"]);
    assert_eq!(lines[4]["argv"], json!(["one"]));
    assert_eq!(lines[4]["shellId"], SHELL);
}

#[test]
fn rules_mask_what_is_told() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("spool"), line(1, "acme_0123456789")).unwrap();
    std::fs::write(dir.path().join("rules"), "[[rules]]\nid = \"acme\"\nregex = '''acme_[0-9]+'''\n").unwrap();
    let output = analyze(&["--rules", "rules", "spool"], dir.path(), b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !text.contains("0123456789"), "{text}");
}

/// A journal of shells one after the other, with more events than are kept until somebody looks for what is over.
fn long_day() -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..110_u32 {
        let start_ms = f64::from(number) * 20_000.0;
        let mut events =
            vec![json!({"kind": "shell", "phase": "start", "seq": 1, "ts": start_ms, "pid": 100, "argv": ["bash"]})];
        for cmd in 1..=200_u64 {
            let ts = start_ms + f64::from(u32::try_from(cmd).unwrap());
            events.push(exec(cmd + 1, cmd, &format!("step {number} {cmd}"), &json!({"ts": ts})));
        }
        events.push(json!({"kind": "shell", "phase": "end", "seq": 202, "ts": start_ms + 300.0, "exitCode": 0}));
        text.extend(batch_json(&format!("shell-{number:03}"), None, &events).to_string().into_bytes());
        text.push(b'\n');
    }
    text
}

#[test]
fn a_long_file_is_told_in_parts_with_everything_once_and_counted_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("long"), long_day()).unwrap();
    let output = analyze(&["--format", "ndjson", "long"], dir.path(), b"");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    let stories = of("story");
    assert!(stories.len() > 1, "told at once");
    let last = &stories.last().unwrap()["coverage"];
    assert_eq!((&last["commands"], &last["shells"], &last["eventsLost"]), (&json!(22_000), &json!(110), &json!(0)));
    let mut commands: Vec<_> = of("command").iter().map(|line| line["argv"].to_string()).collect();
    commands.sort();
    commands.dedup();
    assert_eq!((commands.len(), of("command").len(), of("shell").len()), (22_000, 22_000, 110));

    // The tree tells how much was seen once, and the one object has everything.
    let tree = String::from_utf8(analyze(&["long"], dir.path(), b"").stdout).unwrap();
    assert_eq!(
        (tree.matches("coverage: ").count(), tree.matches("step 7 9 ").count()),
        (1, 1),
        "{}",
        &tree[tree.len() - 500..]
    );
    assert_eq!(story(&["long"], dir.path(), b"")["shells"].as_array().unwrap().len(), 110);
}

#[test]
fn a_journal_whose_header_is_damaged_names_no_session_of_its_own_making() {
    let dir = tempfile::tempdir().unwrap();
    let id = "0123456789abcdef0123456789abcdef";
    let mut bytes = journal(id, &["one"]);
    bytes[0] = b'X';
    let path = dir.path().join(format!("{id}.journal"));
    std::fs::write(&path, bytes).unwrap();
    let out = program().arg("analyze").arg("--json").arg(&path).output().unwrap();
    let story: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&story["shells"][0]["shellId"], &story["shells"][0]["sessionId"]), (&json!(id), &json!(id)));
}
