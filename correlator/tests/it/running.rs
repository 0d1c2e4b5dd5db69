//! `run`, with scripts in the place of nash that do what nash does: report over the socket or leave a spool file.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::events::{SHELL, batch_json, element, exec, nesting, shell_end, shell_start, with};
use crate::process::{post_unix, program, wait_until};

/// Makes an executable script.
fn script(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A shell that leaves a report in its spool, then does what it was asked to.
fn spooling_shell(dir: &Path) -> PathBuf {
    let events = [shell_start(1, &json!({})), exec(2, 1, "make all", &json!({"exitCode": 2})), shell_end(3, 3)];
    shell_that_spools(dir, &[batch_json(SHELL, None, &events)])
}

/// A shell that leaves these batches in its spool, then does what it was asked to.
fn shell_that_spools(dir: &Path, batches: &[Value]) -> PathBuf {
    let batch = dir.join("batch");
    std::fs::write(&batch, batches.iter().map(|batch| batch.to_string() + "\n").collect::<String>()).unwrap();
    let text = format!("cp '{}' \"$NUCLEIC_SHELL_SPOOL/x.jsonl\"\nexec /bin/sh \"$@\"", batch.display());
    script(dir, "spooling", &text)
}

fn run(shell: &Path, args: &[&str]) -> Output {
    program()
        .args(["run", "--observer=none"])
        .arg("--shell")
        .arg(shell)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn the_story_follows_the_scripts_output_and_the_status_is_the_scripts() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(&spooling_shell(dir.path()), &["--", "echo out; echo err >&2; exit 3"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(text(&output.stderr), "err\n");
    let expected = "out\n\n────────────────────────\n\
        bash -c script  in /w  exit 3   1.00s\n\
        └─ ✗ make all          exit 2   3.4ms\n\
        \n\
        coverage: shell only; 1 shell, 1 command, 0 events lost\n";
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn what_a_compound_an_assignment_and_a_nested_shell_did_is_told_as_one_story() {
    let place = |index| json!({"pipeline": element("p1", index, 2)});
    let in_loop = with(place(1), &json!({"parentCmd": 2, "nesting": nesting(&["subshell"])}));
    let outer = [
        shell_start(1, &json!({})),
        exec(2, 1, "ls", &place(0)),
        json!({"kind": "redirect", "seq": 3, "cmd": 2, "op": ">", "target": {"path": "/w/out"}, "compound": true, "bytes": 8}),
        exec(4, 3, "read f", &with(in_loop.clone(), &json!({"type": "builtin"}))),
        exec(5, 4, "bash -c script", &with(in_loop, &json!({"pid": 300}))),
        exec(6, 6, "date", &json!({"parentCmd": 5, "nesting": nesting(&["cmdsub"])})),
        json!({"kind": "cmdsub", "seq": 7, "cmd": 5, "bytes": 2, "previewB64": "eAo="}),
        shell_end(8, 0),
    ];
    let inner = [
        shell_start(1, &json!({"pid": 300, "ts": 1042.0})),
        json!({"kind": "redirect", "seq": 2, "cmd": 1, "op": "<", "target": {"path": "/w/in"}, "compound": true}),
        exec(3, 2, "cat", &json!({"parentCmd": 1})),
        shell_end(4, 0),
    ];
    let dir = tempfile::tempdir().unwrap();
    let batches = [batch_json("bbbbbbbb-2", Some(SHELL), &inner), batch_json(SHELL, None, &outer)];
    let output = run(&shell_that_spools(dir.path(), &batches), &["--", "true"]);
    let expected = "
bash -c script  in /w            1.00s
├─ pipeline of 2
│  ├─ ✓ ls                       3.4ms
│  └─ | { … } > /w/out (8 B)
│     ├─ ✓ read f                3.4ms
│     └─ ✓ bash -c script        3.4ms
│        └─ { … } < /w/in
│           └─ ✓ cat             3.4ms
└─ $( ) ✓ date → 2 B: \"x\"        3.4ms

coverage: shell only; 2 shells, 5 commands, 0 events lost
";
    let (_, story) = text(&output.stdout).split_once('─').unwrap();
    assert_eq!(story.trim_start_matches('─'), expected);
}

#[test]
fn with_json_standard_output_carries_the_story_alone() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(&spooling_shell(dir.path()), &["--json", "--", "echo out"]);
    assert_eq!(text(&output.stderr), "out\n");
    let story: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(story["type"], "story");
    assert_eq!(story["shells"][0]["commands"][0]["argv"], json!(["make", "all"]));
    assert_eq!(story["coverage"]["eventsLost"], 0);
}

#[test]
fn a_story_that_goes_to_a_file_leaves_the_scripts_output_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("story.json");
    let output = run(&spooling_shell(dir.path()), &["--json", "-o", file.to_str().unwrap(), "--", "echo out"]);
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("out\n", ""));
    let story: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(story["coverage"]["commands"], 1);
}

#[test]
fn the_shell_is_led_to_a_socket_that_only_its_token_opens() {
    let dir = tempfile::tempdir().unwrap();
    let waiting = "printf '%s\\n' \"$NUCLEIC_SHELL_SOCKET\" \"$NUCLEIC_HOOK_TOKEN\" \"$NUCLEIC_SESSION_ID\" >told.tmp\n\
        mv told.tmp told\nwhile [ ! -e go ]; do sleep 0.05; done";
    let shell = script(dir.path(), "waiting", waiting);
    let child = program()
        .current_dir(dir.path())
        .args(["run", "--observer=none", "--shell", shell.to_str().unwrap(), "--", "x"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let told = dir.path().join("told");
    wait_until("the shell has started", || told.exists());
    let told = std::fs::read_to_string(told).unwrap();
    let [socket, token, session] = told.lines().collect::<Vec<_>>()[..] else { panic!("{told}") };
    assert!(!session.is_empty());
    let socket = Path::new(socket);
    let private = std::fs::metadata(socket.parent().unwrap()).unwrap().permissions().mode();
    assert_eq!(private & 0o777, 0o700);
    let body = batch_json(SHELL, None, &[exec(1, 1, "true", &json!({}))]).to_string();
    assert_eq!(post_unix(socket, "wrong", body.as_bytes()).0, 401);
    assert_eq!(post_unix(socket, token, body.as_bytes()).0, 202);
    std::fs::write(dir.path().join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("✓ true"), "{}", text(&output.stdout));
    assert!(!socket.exists(), "the private directory is gone");
}

#[test]
fn a_signal_that_ended_the_script_becomes_its_status() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(&spooling_shell(dir.path()), &["--", "kill -KILL $$"]);
    assert_eq!(output.status.code(), Some(128 + 9));
}

#[test]
fn a_signal_to_the_program_reaches_the_script_and_the_story_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let shell = spooling_shell(dir.path());
    let waiting = "trap 'echo caught; exit 7' TERM; touch ready; while :; do sleep 0.05; done";
    let child = program()
        .current_dir(dir.path())
        .args(["run", "--observer=none", "--shell", shell.to_str().unwrap(), "--", waiting])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the script has started", || dir.path().join("ready").exists());
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    let out = text(&output.stdout);
    assert!(out.starts_with("caught\n") && out.contains("make all"), "{out}");
}

#[test]
fn a_script_with_arguments_and_a_command_with_words_arrive_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let shell = spooling_shell(dir.path());
    let file = script(dir.path(), "build.sh", "printf '<%s>' \"$@\"");
    let story = dir.path().join("story");
    let run = |words: &[&str]| {
        let args = [&["-o", story.to_str().unwrap(), "--"], words].concat();
        text(&run(&shell, &args).stdout).to_owned()
    };
    assert_eq!(run(&[file.to_str().unwrap(), "a b", "$x"]), "<a b><$x>");
    assert_eq!(run(&["printf", "<%s>", "a b", "$x", "it's"]), "<a b><$x><it's>");
    assert_eq!(run(&["x=1; echo $x"]), "1\n");
}

#[test]
fn what_was_received_can_be_kept() {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("kept");
    let output = run(&spooling_shell(dir.path()), &["--keep", kept.to_str().unwrap(), "--", "true"]);
    assert!(output.status.success());
    let journal = std::fs::read_to_string(kept.join("accepted.ndjson")).unwrap();
    assert_eq!(journal.lines().count(), 1);
}

#[test]
fn a_damaged_spool_file_costs_its_line_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let shell = script(dir.path(), "damaging", "printf '{\"type\":' >\"$NUCLEIC_SHELL_SPOOL/x.jsonl\"");
    let output = run(&shell, &["--", "x"]);
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("! 1 damaged line of spool files was left out"), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("x.jsonl:1: the last line is truncated"), "{}", text(&output.stderr));
}

#[test]
fn many_damaged_lines_are_counted_and_only_a_few_are_complained_about() {
    let dir = tempfile::tempdir().unwrap();
    let shell = script(dir.path(), "damaging", "yes nonsense | head -1000 >\"$NUCLEIC_SHELL_SPOOL/x.jsonl\"");
    let output = run(&shell, &["--", "x"]);
    assert!(text(&output.stdout).contains("! 1000 damaged lines of spool files were left out"));
    let complaints: Vec<&str> = text(&output.stderr).lines().filter(|line| line.contains("x.jsonl")).collect();
    assert_eq!(complaints.len(), 4, "{complaints:?}");
    assert!(complaints[3].ends_with("x.jsonl: 997 more like these"), "{complaints:?}");
}

#[test]
fn a_shell_that_is_not_there_is_named() {
    let output = run(Path::new("/nonexistent/nash"), &["--", "true"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(text(&output.stderr).contains("/nonexistent/nash"), "{}", text(&output.stderr));
    let dir = tempfile::tempdir().unwrap();
    let lonely = dir.path().join("nash-correlate");
    std::fs::copy(env!("CARGO_BIN_EXE_nash-correlate"), &lonely).unwrap();
    let output = std::process::Command::new(&lonely)
        .env("PATH", dir.path())
        .args(["run", "--observer=none", "--", "x"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125));
    let complaint = text(&output.stderr);
    assert!(complaint.contains("no nash found") && complaint.contains("PATH"), "{complaint}");
}

#[test]
fn bad_usage_is_status_2_and_a_receiver_that_nobody_may_use_does_not_start() {
    assert_eq!(program().arg("run").output().unwrap().status.code(), Some(2));
    let tokenless = program().args(["serve", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(tokenless.status.code(), Some(2));
    assert!(text(&tokenless.stderr).contains("no token: give --token-file FILE"), "{}", text(&tokenless.stderr));
    assert_eq!(program().args(["serve", "--listen", "nowhere"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn a_story_whose_batches_can_t_be_kept_is_told_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let keep = dir.path().join("kept");
    std::fs::create_dir_all(keep.join("spool")).unwrap();
    let program = program().get_program().to_owned();
    let events = [shell_start(1, &json!({})), exec(2, 1, "make all", &json!({})), shell_end(3, 0)];
    std::fs::write(keep.join("spool/x.jsonl"), batch_json(SHELL, None, &events).to_string() + "\n").unwrap();
    // As on a full disk, no file may grow.
    let mut limited = std::process::Command::new("/bin/sh");
    limited.arg("-c").arg(r#"trap '' XFSZ; ulimit -f 0; exec "$@""#).arg("sh").arg(program);
    limited.args(["run", "--observer=none", "--shell", "/bin/sh", "--keep"]).arg(&keep).args(["--", "exit 4"]);
    let output = limited.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let (told, said) = (text(&output.stdout), text(&output.stderr));
    assert!(told.contains("make all") && told.contains("1 command, 0 events lost"), "{told}{said}");
    assert_eq!(said.matches("what is kept is not whole").count(), 1, "{said}");
}
