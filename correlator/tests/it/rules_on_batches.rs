//! Administrators' rules on their way through the receiver: whatever a batch holds, no masked secret is kept, printed or told.
//!
//! Rules and secrets are made up.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nash_correlator::rules::{Rules, mask_batch};
use nash_events::bytes::{from_base64, to_base64};
use nash_events::decode_batch;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::events::{SHELL, batch_json, exec, shell_end, shell_start};
use crate::process::{Server, TOKEN, answer, post_request, program, wait_until};

const FILE: &str = "[[rules]]\nid = 'acme'\nregex = '''acme_[a-z0-9]{16}'''\nkeywords = ['acme_']\n\
    [[rules]]\nid = 'door'\nregex = '''--door[= ](\\S+)'''\n\
    [[rules]]\nid = 'vault'\npath = '''\\.vault$'''\n";

const BODY: &str = "q7x2m9k4w1z8b5n3";

fn token() -> String {
    format!("acme_{BODY}")
}

/// The only event of a batch after rules were applied, which still is a batch.
fn event(event: Value) -> Value {
    let mut batch = batch_json(SHELL, None, &[event]);
    mask_batch(&[Rules::parse(FILE).unwrap().0], &mut batch);
    decode_batch(&serde_json::to_vec(&batch).unwrap()).unwrap();
    batch["events"][0].take()
}

fn data(kind: &Value, preview: &[u8], more: &Value) -> Value {
    let mut event = json!({"seq": 1, "ts": 1.0, "bytes": preview.len(), "previewB64": to_base64(preview),
        "sha256": hex(preview)});
    for (key, value) in kind.as_object().unwrap().iter().chain(more.as_object().unwrap()) {
        event[key] = value.clone();
    }
    event
}

fn heredoc() -> Value {
    json!({"kind": "redirect", "op": "<<", "target": {"heredoc": true}})
}

fn hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

fn preview(event: &Value) -> String {
    String::from_utf8(from_base64(event["previewB64"].as_str().unwrap()).unwrap()).unwrap()
}

#[test]
fn an_argument_is_masked_by_itself_and_by_the_word_before_it() {
    let shown = event(exec(1, 1, &format!("tool --door k3y --x={} --door=k3y", token()), &json!({})));
    assert_eq!(shown["argv"], json!(["tool", "--door", "****", "--x=acme_****", "--door=****"]));
    assert_eq!(shown["redacted"], json!(["acme", "door"]));
    let shown = event(exec(1, 1, &format!("echo {}", token()), &json!({"redacted": ["jwt", "aa"]})));
    assert_eq!(shown["redacted"], json!(["aa", "acme", "jwt"]));
}

#[test]
fn arguments_that_are_no_text_keep_both_their_forms_alike() {
    let bytes = [b"\xff".as_slice(), token().as_bytes()].concat();
    let mut given = exec(1, 1, "echo x", &json!({}));
    given["argv"] = json!(["echo", String::from_utf8_lossy(&bytes)]);
    given["argvB64"] = json!([to_base64(b"echo"), to_base64(&bytes)]);
    let shown = event(given.clone());
    assert_eq!(shown["argv"], json!(["echo", "\u{fffd}acme_****"]));
    assert_eq!(shown["argvB64"], json!([to_base64(b"echo"), to_base64(b"\xffacme_****")]));
    // The bytes are what counts: a text that says something else is not kept.
    given["argv"] = json!(["echo", token()]);
    given["argvB64"] = json!([to_base64(b"echo"), to_base64(b"\xff")]);
    assert_eq!(event(given)["argv"], json!(["echo", "\u{fffd}"]));
}

#[test]
fn a_whole_preview_that_was_masked_has_the_hash_of_what_is_left() {
    let text = format!("key={}\n", token());
    let shown = event(data(&heredoc(), text.as_bytes(), &json!({})));
    assert_eq!(preview(&shown), "key=acme_****\n");
    assert_eq!(shown["sha256"], json!(hex(b"key=acme_****\n")));
    assert_eq!((&shown["hashOf"], &shown["bytes"]), (&json!("redacted"), &json!(text.len())));
    let untouched = data(&heredoc(), b"nothing", &json!({}));
    assert_eq!(event(untouched.clone()), untouched);
}

#[test]
fn a_part_that_was_masked_has_no_hash_and_does_not_end_in_half_a_secret() {
    let part = json!({"truncated": true, "bytes": 1 << 20, "hashedBytes": 1 << 19});
    let shown = event(data(&heredoc(), format!("key={} and", token()).as_bytes(), &part));
    assert_eq!(preview(&shown), "key=acme_**** and");
    for gone in ["sha256", "hashOf", "hashedBytes"] {
        assert_eq!(shown.get(gone), None);
    }
    let shown = event(data(&heredoc(), format!("key={}", &token()[..15]).as_bytes(), &part));
    assert_eq!(preview(&shown), "key=acme_****");
    assert_eq!(shown.get("sha256"), None);
}

#[test]
fn the_content_of_a_file_that_a_rule_names_is_masked_whole() {
    let file = json!({"kind": "redirect", "op": ">", "target": {"path": "/w/a.vault"}});
    let shown = event(data(&file, b"anything", &json!({})));
    assert_eq!((preview(&shown).as_str(), &shown["redacted"]), ("****", &json!(["vault"])));
    assert_eq!(shown["target"], json!({"path": "/w/a.vault"}));
}

#[test]
fn paths_input_handlers_levels_and_fields_of_the_future_are_texts() {
    let secret = token();
    for given in [
        json!({"kind": "cd", "seq": 1, "from": "/w", "to": format!("/w/{secret}"), "via": "cd"}),
        json!({"kind": "trap", "seq": 1, "signals": ["EXIT"], "op": "set", "action": format!("echo {secret}")}),
        json!({"kind": "fallback", "seq": 1, "reason": "parse-error", "input": format!("if {secret}"), "sha256": "00"}),
        json!({"kind": "tamper", "seq": 1, "what": format!("wrote /w/{secret}")}),
        json!({"kind": "source", "seq": 1, "path": secret}),
        json!({"kind": "redirect", "seq": 1, "op": ">", "target": {"path": secret}}),
        json!({"kind": "exec", "seq": 1, "argv": ["x"], "type": "function", "error": secret,
            "nesting": {"depth": 1, "kind": format!("source:{secret}"), "stack": [format!("source:{secret}")]}}),
        json!({"kind": "telepathy", "seq": 1, "thought": {"deep": [secret, {"deeper": [[secret]]}]}}),
    ] {
        let shown = event(given.clone());
        assert!(!shown.to_string().contains(BODY), "{shown}");
        assert_eq!(shown["redacted"], json!(["acme"]), "{shown}");
        assert_eq!((&shown["kind"], &shown["seq"]), (&given["kind"], &given["seq"]));
    }
    let shown = event(json!({"kind": "fallback", "seq": 1, "reason": "parse-error", "input": secret, "sha256": "00"}));
    assert_eq!((&shown["sha256"], &shown["hashOf"]), (&json!(hex(b"acme_****")), &json!("redacted")));
}

#[test]
fn what_a_batch_is_made_of_survives_a_rule_that_matches_everything() {
    let greedy = Rules::parse("[[rules]]\nid = 'all'\nregex = '(?s).+'").unwrap().0;
    let place = json!({"pipeline": {"id": "p1", "index": 0, "len": 2}, "sha256": "ab"});
    let events = [shell_start(1, &json!({"bootId": "b", "startTicks": 3})), exec(2, 1, "a b", &place), shell_end(3, 0)];
    let mut batch = batch_json(SHELL, Some("parent"), &events);
    batch["agent"] = json!({"AI_AGENT": "x"});
    let given = batch.clone();
    mask_batch(&[greedy], &mut batch);
    decode_batch(&serde_json::to_vec(&batch).unwrap()).unwrap();
    for kept in ["type", "version", "source", "sessionId", "shellId", "parentShell"] {
        assert_eq!(batch[kept], given[kept]);
    }
    assert_eq!(batch["agent"], json!({"AI_AGENT": "****"}));
    assert_eq!(batch["events"][1]["argv"], json!(["****", "****"]));
    for (index, key) in
        [(0, "kind"), (0, "phase"), (0, "bootId"), (0, "startTicks"), (1, "type"), (1, "pipeline"), (1, "sha256")]
    {
        assert_eq!(batch["events"][index][key], given["events"][index][key]);
    }
}

fn rules_file(dir: &Path) -> PathBuf {
    let path = dir.join("rules.toml");
    std::fs::write(&path, FILE).unwrap();
    path
}

#[test]
fn what_a_rule_masks_is_neither_kept_nor_printed_whichever_way_it_came() {
    let dir = tempfile::tempdir().unwrap();
    let spool = tempfile::tempdir().unwrap();
    let rules = rules_file(dir.path());
    let server = Server::start(
        dir.path(),
        &["--json", "--spool", spool.path().to_str().unwrap(), "--rules", rules.to_str().unwrap()],
    );
    let agent = |mut batch: Value| {
        batch["agent"] = json!({"AI_AGENT": token()});
        batch["novelty"] = json!(1);
        batch
    };
    let posted = agent(batch_json(SHELL, None, &[exec(1, 1, &format!("echo {}", token()), &json!({}))]));
    assert_eq!(server.post(posted.to_string().as_bytes()).0, 202);
    // A key that comes twice is read once, and kept once.
    let twice = batch_json(SHELL, None, &[exec(2, 2, "true", &json!({}))]).to_string();
    let twice = twice.replacen('{', &format!("{{\"novelty\":\"{}\",\"novelty\":1,", token()), 1);
    assert_eq!(server.post(twice.as_bytes()).0, 202);
    let kernel = json!({"type": "kernel-batch", "version": 1, "source": "ebpf", "hostId": "h", "bootId": "b",
        "observerId": "o", "events": [{"kind": "open", "seq": 1, "pid": 3, "path": token()}]});
    let mut stream = server.connect();
    std::io::Write::write_all(&mut stream, &post_request("/kernel-event", TOKEN, kernel.to_string().as_bytes()))
        .unwrap();
    assert_eq!(answer(&mut stream).0, 202);
    let spooled = agent(batch_json("bbbb", None, &[exec(1, 1, &format!("printf {}", token()), &json!({}))]));
    std::fs::write(spool.path().join("b-1.jsonl.tmp"), spooled.to_string() + "\n").unwrap();
    std::fs::rename(spool.path().join("b-1.jsonl.tmp"), spool.path().join("b-1.jsonl")).unwrap();
    wait_until("the spool is read", || !spool.path().join("b-1.jsonl").exists());
    let (ended_well, out) = server.stop();
    assert!(ended_well);
    let kept = std::fs::read_to_string(dir.path().join("accepted.ndjson")).unwrap();
    assert_eq!(kept.lines().count(), 4);
    assert!(!kept.contains(BODY) && !out.contains(BODY), "{kept}\n{out}");
    assert_eq!(kept.matches("acme_****").count(), 5, "{kept}");
    assert!(out.contains("\"argv\":[\"echo\",\"acme_****\"]") && out.contains("\"redacted\":[\"acme\"]"), "{out}");
}

#[test]
fn run_masks_its_story_and_what_it_keeps() {
    let dir = tempfile::tempdir().unwrap();
    let rules = rules_file(dir.path());
    let events = [shell_start(1, &json!({})), exec(2, 1, &format!("echo {}", token()), &json!({})), shell_end(3, 0)];
    let batch = dir.path().join("batch");
    std::fs::write(&batch, batch_json(SHELL, None, &events).to_string() + "\n").unwrap();
    let shell = dir.path().join("shell");
    std::fs::write(&shell, format!("#!/bin/sh\ncp '{}' \"$NUCLEIC_SHELL_SPOOL/x.jsonl\"\n", batch.display())).unwrap();
    std::fs::set_permissions(&shell, std::fs::Permissions::from_mode(0o755)).unwrap();
    let keep = dir.path().join("keep");
    let output = program()
        .args(["run", "--observer=none", "--rules"])
        .arg(&rules)
        .arg("--shell")
        .arg(&shell)
        .arg("--keep")
        .arg(&keep)
        .args(["--", "true"])
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("echo 'acme_****'") && !told.contains(BODY), "{told}");
    assert!(!std::fs::read_to_string(keep.join("accepted.ndjson")).unwrap().contains(BODY));
}

#[test]
fn rules_that_cannot_be_used_are_bad_usage_before_anything_happens() {
    let dir = tempfile::tempdir().unwrap();
    let bad = dir.path().join("bad.toml");
    std::fs::write(&bad, "[[rules]]\nid = 'a'\nregex = 'a('\n").unwrap();
    let journal = dir.path().join("journal");
    let touched = dir.path().join("touched");
    for file in [&bad, &dir.path().join("none.toml")] {
        let mut serve = program();
        serve.args(["serve", "--listen", "127.0.0.1:0", "--journal"]).arg(&journal).arg("--rules").arg(file);
        serve.env("NUCLEIC_HOOK_TOKEN", TOKEN);
        let mut run = program();
        run.args(["run", "--observer=none"])
            .arg("--rules")
            .arg(file)
            .args(["--shell", "/bin/sh", "-c"])
            .arg(format!("touch {}", touched.display()));
        for mut command in [serve, run] {
            let output = command.output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains(&*file.to_string_lossy()), "{said}");
            assert!(*file != bad || said.contains(&format!("{}:3: ", bad.display())), "{said}");
        }
    }
    assert!(!journal.exists() && !touched.exists());
}

#[test]
fn what_was_masked_once_stays_as_it_is() {
    let rules =
        [Rules::parse(FILE).unwrap().0, Rules::parse("[[rules]]\nid = 'word'\nregex = 'key=(\\S+)'").unwrap().0];
    let text = format!("key={} and acme_{BODY}", token());
    let file = json!({"kind": "redirect", "op": ">", "target": {"path": "/w/a.vault"}});
    let mut batch = batch_json(
        SHELL,
        None,
        &[
            exec(1, 1, &format!("tool --door k3y --x={}", token()), &json!({})),
            data(&heredoc(), text.as_bytes(), &json!({"seq": 2})),
            data(&file, text.as_bytes(), &json!({"seq": 3, "truncated": true})),
        ],
    );
    mask_batch(&rules, &mut batch);
    assert_eq!(preview(&batch["events"][1]), "key=**** and acme_****");
    assert_eq!(batch["events"][1]["redacted"], json!(["acme", "word"]));
    let once = batch.clone();
    mask_batch(&rules, &mut batch);
    assert_eq!(batch, once);
}
