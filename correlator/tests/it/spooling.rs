//! What is taken from spool directories, and what is left there.

use std::path::Path;

use nash_events::event::{EventKind, Function};
use nash_events::journal::encode_record;
use nash_events::{JournalHeader, Record, SessionId, ShellId};
use serde_json::json;

use crate::events::{SHELL, batch_json, exec};
use crate::process::{Server, wait_until};

fn line(seq: u64) -> Vec<u8> {
    let mut line = batch_json(SHELL, None, &[exec(seq, seq, "step", &json!({}))]).to_string().into_bytes();
    line.push(b'\n');
    line
}

fn journal(records: usize) -> Vec<u8> {
    let header = JournalHeader {
        session_id: SessionId("s".to_owned()),
        shell_id: ShellId::parse("jjjj").unwrap(),
        parent_shell: None,
        agent: nash_events::batch::Agent::new(),
        pid: 1,
        start_ticks: None,
        boot_id: None,
        unlocked: false,
    };
    let mut bytes = header.encode().unwrap();
    for number in 0..records {
        let kind = EventKind::Function(Function { name: format!("f{number}") });
        bytes.extend(encode_record(&Record { ts: 1.0, cmd: None, kind: &kind }).unwrap());
    }
    bytes
}

/// Runs a receiver over a spool until its complete files are gone; gives its feed as JSON.
fn taken(spool: &Path) -> Vec<serde_json::Value> {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &["--json", "--spool", spool.to_str().unwrap()]);
    let complete =
        |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl" || extension == "journal");
    wait_until("the spool is empty", || {
        std::fs::read_dir(spool).unwrap().all(|entry| !complete(&entry.unwrap().path()))
    });
    let (ended_well, feed) = server.stop();
    assert!(ended_well);
    feed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn complete_files_are_taken_and_removed_and_others_left() {
    let spool = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(spool.path().join(name), bytes).unwrap();
    write("a-1.jsonl", &[line(1), line(2)].concat());
    write("a-2.jsonl", &[line(2), b"nonsense\n".to_vec(), line(3)].concat());
    write("a-3.jsonl.tmp", &line(4));
    write("notes.txt", b"mine");
    std::os::unix::fs::symlink("/etc/hostname", spool.path().join("link.jsonl-not")).unwrap();
    write("jjjj.journal", &journal(3));
    let feed = taken(spool.path());
    let count = |shell: &str| feed.iter().filter(|line| line["shellId"] == shell).count();
    assert_eq!((count(SHELL), count("jjjj")), (3, 3), "{feed:?}");
    let mut left: Vec<_> = std::fs::read_dir(spool.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a-3.jsonl.tmp", "link.jsonl-not", "notes.txt"]);
}

#[test]
fn the_journal_of_a_living_shell_is_left_alone_until_the_shell_is_gone() {
    let spool = tempfile::tempdir().unwrap();
    let path = spool.path().join("jjjj.journal");
    std::fs::write(&path, journal(2)).unwrap();
    let living = std::fs::File::open(&path).unwrap();
    living.lock_shared().unwrap();
    let marker = spool.path().join("z.jsonl");
    std::fs::write(&marker, line(1)).unwrap();

    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &["--json", "--spool", spool.path().to_str().unwrap()]);
    // Files are taken in the order of their names, so by now the journal was looked at.
    wait_until("the marker is taken", || !marker.exists());
    assert!(path.exists());
    drop(living);
    wait_until("the journal is taken", || !path.exists());
    assert_eq!(server.stop().1.lines().count(), 3);
}

#[test]
fn garbage_costs_itself_and_what_is_no_file_stays() {
    let spool = tempfile::tempdir().unwrap();
    let at = |name: &str| spool.path().join(name);
    let garbage: Vec<u8> = (0_u32..300_000).flat_map(|number| number.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
    std::fs::write(at("binary.jsonl"), &garbage).unwrap();
    std::fs::write(at("empty.jsonl"), b"").unwrap();
    std::fs::write(at("endless.jsonl"), vec![b'a'; 9 << 20]).unwrap();
    let whole = journal(1);
    let torn = [("binary", &garbage[..]), ("empty", b""), ("torn", &whole[..20]), ("zeros", &[0; 9000])];
    for (name, bytes) in torn {
        let path = at(&format!("{name}.journal"));
        std::fs::write(&path, bytes).unwrap();
        // So old that nobody is still making it.
        std::fs::File::open(&path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    std::fs::create_dir(at("dir.jsonl")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", at("link.jsonl")).unwrap();
    std::fs::write(at("z.jsonl"), line(1)).unwrap();

    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &["--json", "--spool", spool.path().to_str().unwrap()]);
    wait_until("the last file is taken", || !at("z.jsonl").exists());
    assert_eq!(server.post(&line(2)).0, 202);
    let (ended_well, feed) = server.stop();
    assert!(ended_well);
    assert_eq!(feed.lines().count(), 2, "{feed}");
    let mut left: Vec<_> = std::fs::read_dir(spool.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["dir.jsonl", "link.jsonl"]);
}

#[test]
fn a_file_cut_anywhere_gives_its_whole_lines() {
    let spool = tempfile::tempdir().unwrap();
    let whole = [line(1), line(2)].concat();
    let first = line(1).len();
    // Each cut is a file of a shell of its own.
    for cut in 0..=whole.len() {
        let text = String::from_utf8(whole[..cut].to_vec()).unwrap().replace(SHELL, &format!("cut-{cut:05}"));
        // The id's length differs from the original's, so the cut is where it was within the lines.
        std::fs::write(spool.path().join(format!("{cut:05}.jsonl")), text).unwrap();
    }
    let feed = taken(spool.path());
    for cut in 0..=whole.len() {
        let expected = match cut {
            _ if cut + 1 >= whole.len() => 2,
            _ if cut + 1 >= first => 1,
            _ => 0,
        };
        let shell = format!("cut-{cut:05}");
        let found = feed.iter().filter(|line| line["shellId"] == shell.as_str()).count();
        assert_eq!(found, expected, "cut at {cut}");
    }
}
