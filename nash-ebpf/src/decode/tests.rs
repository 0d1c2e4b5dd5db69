//! What records decode to, by kind; and that no bytes at all make the decoder stumble.

use nash_events::KernelEventKind;
use nash_events::kernel::{MutationOp, OpenVia, PathSource};

use super::{Calendar, decode};
use crate::abi::draft::Draft;
use crate::abi::{self, Call, Change, Form, Kind, RecordError, Via, flag, span};

const CALENDAR: Calendar = Calendar { boot_at_ns: 1_721_900_000_000_000_000 };

fn kind_of(draft: &Draft) -> KernelEventKind {
    decode(&draft.bytes(), CALENDAR).unwrap().kind
}

/// The event as it would stand on the wire, without its envelope.
fn json_of(draft: &Draft) -> serde_json::Value {
    serde_json::to_value(kind_of(draft)).unwrap()
}

fn exec(walk: &[u8], requested: &[u8], argv: &[u8]) -> Draft {
    let argc = argv.split(|byte| *byte == 0).skip(1).count();
    let file = abi::File { ino: 7, dev: 8 << 20 | 1, what: u32::try_from(argc).unwrap(), ..abi::File::default() };
    Draft::new(Kind::Exec, file)
        .piece(span::PATH, Form::Walk, walk)
        .piece(span::NAME, Form::Text, requested)
        .piece(span::SECOND_PATH, Form::Walk, b"w\0")
        .piece(span::SECOND_NAME, Form::Text, argv)
}

#[test]
fn who_did_it_stands_in_every_event() {
    let decoded = decode(&Draft::new(Kind::Exit, abi::Exit::default()).bytes(), CALENDAR).unwrap();
    assert_eq!(
        serde_json::to_value(&decoded.actor).unwrap(),
        serde_json::json!({"pid": 412, "tid": 413, "startTicks": 88_123, "nsPid": 12, "pidNs": 4_026_531_836_u64,
            "ppid": 411, "uid": 1000, "comm": "git", "cgroup": 42, "root": {"pid": 400, "startTicks": 88_000}})
    );
    assert_eq!(decoded.boot_ns, 881_234_567_890);
    assert!((decoded.ts - 1_721_900_881_234.567_8).abs() < 0.001, "{}", decoded.ts);
}

#[test]
fn a_process_outside_every_session_has_no_root() {
    let mut draft = exec(b"bash.real\0bin\0", b"/bin/bash.real", b"bash\0").flags(flag::EXEC_PRESERVED);
    draft.head.root_tgid = 0;
    let actor = decode(&draft.bytes(), CALENDAR).unwrap().actor;
    assert_eq!((actor.root, actor.assurance), (None, Some(serde_json::json!({"image": "preserved"}))));
}

#[test]
fn an_exec_tells_file_name_arguments_and_directory() {
    assert_eq!(
        json_of(&exec(b"git\0bin\0usr\0", b"/bin/git", b"git\0push\0\0")),
        serde_json::json!({"path": "/usr/bin/git", "dev": 2049, "ino": 7, "requested": "/bin/git",
            "argv": ["git", "push", ""], "cwd": "/w", "euid": 0, "gid": 0, "egid": 0})
    );
}

#[test]
fn a_script_is_told_before_its_interpreter() {
    let chain = |draft: &Draft| match kind_of(draft) {
        KernelEventKind::Exec(exec) => exec.chain.iter().map(|file| file.path.clone().unwrap().to_string()).collect(),
        other => vec![format!("{other:?}")],
    };
    let script = |draft: Draft| draft.flags(flag::EXEC_SCRIPT);
    let no_chain = Vec::<String>::new();
    assert_eq!(chain(&script(exec(b"bash\0bin\0", b"./x.sh", b"/bin/bash\0./x.sh\0arg\0"))), ["/w/./x.sh"]);
    assert_eq!(chain(&script(exec(b"env\0bin\0", b"/x", b"/bin/env\0-S\0/x\0"))), ["/x"]);
    // What the arguments seem to say counts for nothing.
    assert_eq!(chain(&exec(b"bash\0bin\0", b"./x.sh", b"/bin/bash\0./x.sh\0")), no_chain);
    assert_eq!(chain(&exec(b"dash\0bin\0", b"/bin/sh", b"sh\0-c\0:\0")), no_chain);
}

#[test]
fn files_without_a_name_are_told_as_such() {
    let json = json_of(&exec(b"memfd:p\0", b"/dev/fd/3", b"p\0").flags(flag::FILE_DETACHED | flag::FILE_UNLINKED));
    assert_eq!((&json["memfd"], &json["deleted"], &json["path"]), (&true.into(), &true.into(), &"/memfd:p".into()));
    // The name alone proves nothing.
    assert_eq!(json_of(&exec(b"memfd:p\0", b"/memfd:p", b"p\0"))["memfd"], serde_json::Value::Null);
}

#[test]
fn arguments_are_masked_and_bounded_and_what_is_missing_is_said() {
    let json = json_of(&exec(b"curl\0", b"curl", b"curl\0-u\0me:hunter2hunter2\0"));
    assert!(!json["argv"].to_string().contains("hunter2"), "{json}");
    assert!(!json["redacted"].as_array().unwrap().is_empty(), "{json}");
    let many: Vec<u8> = b"x\0".repeat(100);
    let json = json_of(&exec(b"x\0", b"x", &many));
    assert_eq!((json["argv"].as_array().unwrap().len(), &json["argc"]), (64, &100.into()));
    assert_eq!(json["argvTruncated"], true);
    let cut = json_of(&exec(b"x\0", b"x", b"x\0ghp_0123456789abc").flags(flag::ARGV_CUT));
    assert_eq!((&cut["argv"][1], &cut["argvTruncated"]), (&"ghp_****".into(), &true.into()));
    let unread = json_of(&exec(b"x\0", b"x", b"").flags(flag::ARGV_UNREAD));
    assert_eq!((&unread["argv"], &unread["argvTruncated"]), (&serde_json::json!([]), &true.into()));
}

#[test]
fn an_exec_that_failed_tells_what_was_asked_for_and_the_error() {
    let file = abi::File { result: -13, ..abi::File::default() };
    let draft =
        Draft::new(Kind::Exec, file).piece(span::PATH, Form::Walk, b"w\0").piece(span::NAME, Form::Text, b"run.sh");
    assert_eq!(json_of(&draft), serde_json::json!({"requested": "/w/run.sh", "argv": [], "result": -13}));
}

#[test]
fn an_exit_is_a_status_or_a_signal() {
    let exit = |status| json_of(&Draft::new(Kind::Exit, abi::Exit { status, unused: 0 }));
    assert_eq!(exit(0), serde_json::json!({"exitCode": 0}));
    assert_eq!(exit(0x2a00), serde_json::json!({"exitCode": 42}));
    assert_eq!(exit(9), serde_json::json!({"signal": 9}));
    assert_eq!(exit(0x8b), serde_json::json!({"signal": 11, "coreDumped": true}));
}

#[test]
fn an_open_file_is_the_kernel_s_and_a_failed_one_the_process_s_word() {
    let file = abi::File { result: 3, ino: 77, dev: 41, mount_id: 30, flags: 0o2_000_000, ..abi::File::default() };
    let opened = Draft::new(Kind::Open, file).piece(span::PATH, Form::Walk, b"passwd\0etc\0");
    assert_eq!(
        json_of(&opened),
        serde_json::json!({"path": "/etc/passwd", "pathSource": "kernel", "flags": 0o2_000_000, "result": 3,
            "dev": 41, "ino": 77, "mountId": 30})
    );
    let failed = Draft::new(Kind::Open, abi::File { result: -2, ..abi::File::default() })
        .piece(span::PATH, Form::Walk, b"w\0")
        .piece(span::NAME, Form::Text, b"a/b");
    assert_eq!(json_of(&failed), serde_json::json!({"path": "/w/a/b", "pathSource": "user", "flags": 0, "result": -2}));
    let cut = Draft::new(Kind::Open, file).piece(span::PATH, Form::Walk, b"c\0b\0").cut(span::PATH);
    assert_eq!((&json_of(&cut)["path"], &json_of(&cut)["pathTruncated"]), (&"b/c".into(), &true.into()));
}

#[test]
fn ways_to_open_are_told_apart() {
    let open = |via: Via| match kind_of(&Draft::new(Kind::Open, abi::File { what: via as u32, ..Default::default() })) {
        KernelEventKind::Open(open) => (open.via, open.result),
        other => panic!("{other:?}"),
    };
    assert_eq!(open(Via::Call), (None, Some(0)));
    assert_eq!(open(Via::IoUring), (Some(OpenVia::IoUring), Some(0)));
    assert_eq!(open(Via::Handle), (Some(OpenVia::Handle), Some(0)));
    assert_eq!(open(Via::Hook), (None, None));
}

#[test]
fn every_change_keeps_its_own_values() {
    let file = abi::File { mode: 0o644, size: 5, uid: 1000, gid: u32::MAX, ..abi::File::default() };
    let expected = [
        (Change::Unlink, MutationOp::Unlink, "{}"),
        (Change::Rename, MutationOp::Rename, "{}"),
        (Change::Link, MutationOp::Link, "{}"),
        (Change::Symlink, MutationOp::Symlink, "{}"),
        (Change::Mkdir, MutationOp::Mkdir, r#"{"mode":420}"#),
        (Change::Mknod, MutationOp::Mknod, r#"{"mode":420}"#),
        (Change::Rmdir, MutationOp::Rmdir, "{}"),
        (Change::Truncate, MutationOp::Truncate, r#"{"size":5}"#),
        (Change::Chmod, MutationOp::Chmod, r#"{"mode":420}"#),
        (Change::Chown, MutationOp::Chown, r#"{"newUid":1000}"#),
    ];
    assert_eq!(expected.len(), Change::ALL.len());
    for (change, op, values) in expected {
        let draft = Draft::new(Kind::Mutation, abi::File { what: change as u32, ..file });
        let KernelEventKind::Mutation(mutation) = kind_of(&draft) else { panic!("{change:?}") };
        assert_eq!(mutation.op, op);
        let mut json = json_of(&draft);
        json.as_object_mut().unwrap().remove("result");
        assert_eq!(json.to_string(), values, "{change:?}");
    }
}

#[test]
fn both_names_of_a_change_start_where_their_call_says() {
    let rename = abi::File { what: Change::Rename as u32, ..abi::File::default() };
    let draft = Draft::new(Kind::Mutation, rename)
        .piece(span::PATH, Form::Walk, b"w\0")
        .piece(span::NAME, Form::Text, b"a")
        .piece(span::SECOND_PATH, Form::Walk, b"v\0")
        .piece(span::SECOND_NAME, Form::Text, b"b");
    let KernelEventKind::Mutation(change) = kind_of(&draft) else { panic!() };
    assert_eq!((change.path, change.new_path), (Some("/w/a".into()), Some("/v/b".into())));
    assert_eq!(change.path_source, Some(PathSource::User));
    let symlink = abi::File { what: Change::Symlink as u32, ..abi::File::default() };
    let draft = Draft::new(Kind::Mutation, symlink)
        .piece(span::NAME, Form::Text, b"../target")
        .piece(span::SECOND_PATH, Form::Walk, b"v\0")
        .piece(span::SECOND_NAME, Form::Text, b"link");
    let KernelEventKind::Mutation(change) = kind_of(&draft) else { panic!() };
    assert_eq!((change.path, change.new_path), (Some("../target".into()), Some("/v/link".into())));
    let chmod = Draft::new(Kind::Mutation, abi::File { what: Change::Chmod as u32, ..abi::File::default() }).piece(
        span::PATH,
        Form::Walk,
        b"f\0",
    );
    assert_eq!(json_of(&chmod)["pathSource"], "kernel");
}

#[test]
fn addresses_are_written_as_people_write_them() {
    let socket = |family, address: &[u8], name: &[u8]| {
        let mut socket = abi::Socket { family, port: 443, result: -111, ..abi::Socket::default() };
        socket.address[..address.len()].copy_from_slice(address);
        json_of(&Draft::new(Kind::Connect, socket).piece(span::NAME, Form::Text, name)).to_string()
    };
    let cases = [
        (socket(2, &[127, 0, 0, 1], b""), r#"{"address":"127.0.0.1","family":"inet","port":443,"result":-111}"#),
        (
            socket(10, &[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], b""),
            r#"{"address":"2001:db8::1","family":"inet6","port":443,"result":-111}"#,
        ),
        (socket(1, &[], b"/run/s\0junk"), r#"{"family":"unix","path":"/run/s","result":-111}"#),
        (socket(1, &[], b"\0abs\0tract"), r#"{"family":"unix","path":"\u0000abs\u0000tract","result":-111}"#),
        (socket(16, &[], b""), r#"{"family":"16","result":-111}"#),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_reach_names_its_target_where_it_is_one_process() {
    let reach = |kind, call: Call, target, target_start_ns| {
        json_of(&Draft::new(
            kind,
            abi::Reach { request: 9, target, target_start_ns, call: call as u32, ..Default::default() },
        ))
        .to_string()
    };
    assert_eq!(
        reach(Kind::Kill, Call::Kill, 400, 880_000_000_000),
        r#"{"result":0,"signal":9,"targetPid":400,"targetStartTicks":88000}"#
    );
    assert_eq!(reach(Kind::Kill, Call::Kill, (-5_i32).cast_unsigned(), 0), r#"{"result":0,"signal":9}"#);
    assert_eq!(reach(Kind::Ptrace, Call::Ptrace, 400, 0), r#"{"request":9,"result":0,"targetPid":400,"via":"ptrace"}"#);
    assert_eq!(reach(Kind::Ptrace, Call::VmWrite, 400, 0), r#"{"result":0,"targetPid":400,"via":"process_vm_writev"}"#);
    assert_eq!(reach(Kind::Ptrace, Call::PidfdGetfd, 4, 0), r#"{"result":0,"via":"pidfd_getfd"}"#);
}

#[test]
fn a_number_of_another_pid_namespace_names_nobody_here() {
    let reach = |start_ns: u64| {
        let body =
            abi::Reach { call: Call::VmWrite as u32, target: 4, target_start_ns: start_ns, ..abi::Reach::default() };
        let mut draft = Draft::new(Kind::Ptrace, body);
        draft.head.pid_ns = 4_026_532_000;
        serde_json::to_string(&kind_of(&draft)).unwrap()
    };
    assert_eq!(reach(0), r#"{"via":"process_vm_writev","result":0}"#);
    assert_eq!(reach(90_000_000), r#"{"via":"process_vm_writev","targetPid":4,"targetStartTicks":9,"result":0}"#);
}

#[test]
fn spaces_tell_their_call() {
    let space = |call: Call| abi::Space { flags: 1, call: call as u32, ..abi::Space::default() };
    let mount = Draft::new(Kind::Mount, space(Call::Mount))
        .piece(span::PATH, Form::Walk, b"w\0")
        .piece(span::NAME, Form::Text, b"m")
        .piece(span::SECOND_PATH, Form::Text, b"tmpfs")
        .piece(span::SECOND_NAME, Form::Text, b"none");
    assert_eq!(
        json_of(&mount),
        serde_json::json!({"via": "mount", "path": "/w/m", "from": "none", "fsType": "tmpfs", "flags": 1, "result": 0})
    );
    let chroot = Draft::new(Kind::Mount, space(Call::Chroot)).piece(span::PATH, Form::Walk, b"").piece(
        span::NAME,
        Form::Text,
        b"/r",
    );
    assert_eq!(json_of(&chroot), serde_json::json!({"via": "chroot", "path": "/r", "result": 0}));
    let unshare = Draft::new(Kind::Namespace, space(Call::Unshare));
    assert_eq!(json_of(&unshare), serde_json::json!({"via": "unshare", "flags": 1, "result": 0}));
    let memfd = Draft::new(Kind::Memfd, space(Call::Memfd)).piece(span::NAME, Form::Text, b"payload");
    assert_eq!(json_of(&memfd), serde_json::json!({"path": "payload", "flags": 1, "result": 0}));
}

#[test]
fn what_is_no_record_is_an_error() {
    let whole = exec(b"x\0", b"x", b"x\0").bytes();
    for len in 0..whole.len() {
        assert!(matches!(decode(&whole[..len], CALENDAR), Err(RecordError::Short { .. })), "{len}");
    }
    let mut draft = Draft::new(Kind::Open, abi::File::default());
    draft.head.kind = 99;
    assert_eq!(decode(&draft.bytes(), CALENDAR), Err(RecordError::Kind(99)));
    draft.head.abi = 7;
    assert_eq!(decode(&draft.bytes(), CALENDAR), Err(RecordError::Version(7)));
    let mut draft = Draft::new(Kind::Open, abi::File::default());
    draft.head.span[0].bytes = 1;
    assert_eq!(decode(&draft.bytes(), CALENDAR), Err(RecordError::Spans));
}

#[test]
fn no_bytes_make_the_decoder_stumble() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut decoded = 0_u32;
    for round in 0..40_000_u64 {
        let kind = Kind::ALL[usize::try_from(round).unwrap() % Kind::ALL.len()];
        let text: Vec<u8> = (0..next() % 64).map(|_| next().to_le_bytes()[0]).collect();
        let half = text.len() / 2;
        let mut bytes = Draft::new(kind, abi::File::default())
            .piece(span::PATH, Form::Walk, &text[..half])
            .piece(span::NAME, Form::Text, &text[half..])
            .bytes();
        // A few bytes anywhere, sometimes in the length and the kind too.
        for _ in 0..next() % 24 {
            let from = if next() % 4 == 0 { 0 } else { 8 };
            let at = from + usize::try_from(next()).unwrap_or(0) % (bytes.len() - from);
            bytes[at] = next().to_le_bytes()[0];
        }
        if let Ok(event) = decode(&bytes, CALENDAR) {
            decoded += 1;
            serde_json::to_vec(&event.kind).unwrap();
        }
    }
    assert!(decoded > 10_000, "only {decoded} were records at all");
}
