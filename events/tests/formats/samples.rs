//! One filled-in value of every kind, for the tests that go over all of them.
//!
//! Values only; nothing is checked here.

use std::collections::BTreeMap;

use nash_events::event::{
    CaptureLevel, Cd, CdVia, Cmdsub, CommandType, Data, Denied, Dropped, Exec, Export, ExportOp, Fallback,
    FallbackReason, Function, HashOf, KernelWitness, Nesting, NestingKind, Persona, Pipe, PipelinePosition,
    ProcsubDirection, Redirect, RedirectMode, RedirectTarget, Shell, ShellPhase, Source, Tamper, Trap, TrapOp,
};
use nash_events::kernel::{self, Actor, Cgroup, KernelEvent, KernelEventKind, Root};
use nash_events::{CmdId, Event, EventKind, PipelineId, ProcsubId, Seq, SessionId, ShellBatch, ShellId};

/// A name that is not UTF-8.
pub(crate) const LATIN_1: &[u8] = b"caf\xe9";

/// Every kind at its fullest, with bytes that are not UTF-8 wherever bytes may stand.
pub(crate) fn shell_kinds() -> Vec<EventKind> {
    let redacted = vec!["github-token".to_owned()];
    let data = Data {
        bytes: 90_210,
        truncated: true,
        sha256: Some("ab".repeat(32)),
        preview: Some(vec![0, 0xff, b'\n']),
        hashed_bytes: Some(64),
        hash_of: Some(HashOf::Redacted),
    };
    vec![
        EventKind::Shell(Box::new(shell())),
        EventKind::Exec(Box::new(exec())),
        EventKind::ExecStart(Box::new(Exec { exit_code: None, duration_ms: None, duration_us: None, ..exec() })),
        EventKind::Redirect(Box::new(redirect(RedirectTarget::Path(LATIN_1.into()), Some(data.clone())))),
        EventKind::Pipe(Box::new(Pipe {
            pipeline_id: Some(PipelineId("p1".into())),
            from_index: Some(0),
            to_index: Some(1),
            procsub: Some(ProcsubId("s1".into())),
            direction: Some(ProcsubDirection::Read),
            data: Some(data.clone()),
            tap_failed: true,
            still_open: true,
            redacted: redacted.clone(),
        })),
        EventKind::Cmdsub(Box::new(Cmdsub { data, assign: Some("NAME".into()), redacted: redacted.clone() })),
        EventKind::Cd(Box::new(Cd {
            from: Some("/workspace".into()),
            to: LATIN_1.into(),
            via: Some(CdVia::Pushd),
            redacted: redacted.clone(),
        })),
        EventKind::Export(Export { names: vec!["AWS_REGION".into()], op: ExportOp::Export, redacted: Vec::new() }),
        EventKind::Function(Function { name: "deploy".into() }),
        EventKind::Source(Source {
            path: LATIN_1.into(),
            sha256: Some("cd".repeat(32)),
            hash_of: Some(HashOf::Redacted),
            bytes: Some(120),
            redacted: vec!["password-assignment".into()],
        }),
        EventKind::Trap(Box::new(Trap {
            signals: vec!["EXIT".into()],
            op: TrapOp::Set,
            action: Some(LATIN_1.into()),
            redacted: redacted.clone(),
        })),
        EventKind::Fallback(Box::new(Fallback {
            reason: FallbackReason::Unsupported("coproc".into()),
            input: Some(LATIN_1.into()),
            truncated: true,
            sha256: Some("ef".repeat(32)),
            hash_of: Some(HashOf::Redacted),
            line: Some(1),
            column: Some(4),
            shell: Some("/usr/bin/bash.real".into()),
            redacted,
        })),
        EventKind::Dropped(Dropped {
            count: 3,
            by_kind: BTreeMap::from([("pipe".into(), 3)]),
            reason: "queue-full".into(),
        }),
        EventKind::Tamper(Tamper { what: "unset:NUCLEIC_SHELL_ID".into() }),
        EventKind::Denied(Denied {
            rule: "no-push".into(),
            subject: Some("/usr/bin/git".into()),
            reason: Some("ask first".into()),
        }),
    ]
}

pub(crate) fn exec() -> Exec {
    Exec {
        argv: vec!["git".into(), LATIN_1.into(), "".into(), "\u{fffd}".into()],
        argc: Some(70),
        argv_truncated: true,
        resolved_path: Some(LATIN_1.into()),
        command_type: CommandType::External,
        cwd: Some("/workspace".into()),
        pid: Some(412),
        exit_code: Some(1),
        signal: None,
        duration_ms: Some(812),
        duration_us: Some(812_406),
        pipeline: Some(PipelinePosition { id: PipelineId("p1".into()), index: 0, len: 2 }),
        nesting: Nesting::of(vec![
            NestingKind::Function(LATIN_1.into()),
            NestingKind::Cmdsub,
            NestingKind::Source("/w/a:b".into()),
        ]),
        parent_cmd: Some(CmdId(3)),
        assigns: vec!["A".into()],
        error: Some("not found".into()),
        replaced: true,
        redacted: vec!["github-token".into()],
    }
}

pub(crate) fn redirect(target: RedirectTarget, data: Option<Data>) -> Redirect {
    Redirect {
        op: ">>".into(),
        fd: Some(1),
        target,
        mode: Some(RedirectMode::Append),
        data,
        size_before: Some(100),
        size_after: Some(1932),
        changed: true,
        compound: true,
        construct: Some("while".to_owned()),
        parent_cmd: Some(CmdId(6)),
        error: Some("noclobber".into()),
        redacted: vec!["github-token".into()],
    }
}

fn shell() -> Shell {
    Shell {
        pid: Some(411),
        start_ticks: Some(88_213),
        boot_id: Some("b-1".into()),
        pid_ns: Some(4_026_531_836),
        ppid: Some(400),
        argv: vec!["bash".into(), LATIN_1.into()],
        argc: Some(3),
        argv_truncated: true,
        cwd: Some(LATIN_1.into()),
        persona: Some(Persona::Bash),
        version: Some("0.1.0".into()),
        capture: Some(CaptureLevel::Tap),
        kernel: Some(KernelWitness::None),
        confine: Some("read-only".into()),
        exit_code: Some(0),
        redacted: vec!["jwt".into()],
        ..Shell::new(ShellPhase::End)
    }
}

/// An event of that kind in the middle of a stream.
pub(crate) fn event(kind: EventKind) -> Event {
    Event { seq: Seq(7), ts: Some(1_721_900_000_000.25), cmd: Some(CmdId(3)), cmd_seq: Some(Seq(5)), kind }
}

pub(crate) fn shell_batch(events: Vec<Event>) -> ShellBatch {
    ShellBatch {
        source: "nash".into(),
        session_id: SessionId("s-1".into()),
        shell_id: ShellId::from_bytes([7; 16]),
        parent_shell: None,
        agent: BTreeMap::new(),
        events,
    }
}

/// Every kernel kind with some of its fields.
pub(crate) fn kernel_kinds() -> Vec<KernelEventKind> {
    let ops = ["unlink", "rename", "link", "symlink", "mkdir", "mknod", "rmdir", "truncate", "chmod", "chown"];
    let mutation = |op: &str| {
        KernelEventKind::Mutation(Box::new(kernel::Mutation {
            op: op.into(),
            path: Some(LATIN_1.into()),
            new_path: Some("/w/b".into()),
            new_uid: Some(0),
            result: Some(-2),
            ..Default::default()
        }))
    };
    let connect = kernel::Connect { family: "unix".into(), path: Some(b"\0abstract"[..].into()), ..Default::default() };
    let exec = kernel::Exec {
        path: Some(LATIN_1.into()),
        argv: vec![LATIN_1.into()],
        chain: vec![kernel::ExecImage { path: Some(LATIN_1.into()), dev: Some(1), ino: Some(2) }],
        memfd: true,
        ..Default::default()
    };
    let open = kernel::Open {
        path: Some("/etc/passwd".into()),
        path_source: Some(kernel::PathSource::User),
        result: Some(-13),
        via: Some(kernel::OpenVia::IoUring),
        ..Default::default()
    };
    let mut kinds = vec![
        KernelEventKind::Fork(kernel::Fork { child_pid: 413, child_start_ticks: Some(9), ..Default::default() }),
        KernelEventKind::Exec(Box::new(exec)),
        KernelEventKind::Present(Box::new(kernel::Present {
            path: Some(LATIN_1.into()),
            ino: Some(2),
            argv: vec![LATIN_1.into()],
            ..Default::default()
        })),
        KernelEventKind::Exit(kernel::Exit { exit_code: None, signal: Some(9), core_dumped: true }),
        KernelEventKind::Open(Box::new(open)),
        KernelEventKind::Connect(Box::new(connect.clone())),
        KernelEventKind::Bind(Box::new(connect)),
        KernelEventKind::Ptrace(kernel::Ptrace { via: "ptrace".into(), target_pid: Some(400), ..Default::default() }),
        KernelEventKind::Kill(kernel::Kill { signal: 9, target_pid: Some(400), ..Default::default() }),
        KernelEventKind::Namespace(kernel::Namespace { via: "unshare".into(), flags: Some(1 << 29), result: Some(0) }),
        KernelEventKind::Mount(Box::new(kernel::Mount {
            via: "mount".into(),
            path: Some(LATIN_1.into()),
            from: Some(LATIN_1.into()),
            fs_type: Some("none".into()),
            flags: Some(4096),
            result: Some(-1),
        })),
        KernelEventKind::Memfd(kernel::Memfd { path: Some(LATIN_1.into()), flags: Some(1), result: Some(3) }),
        KernelEventKind::Lost(kernel::Lost { count: 40, by_kind: BTreeMap::new(), reason: "ring-full".into() }),
    ];
    kinds.extend(ops.map(mutation));
    kinds
}

pub(crate) fn kernel_event(kind: KernelEventKind) -> KernelEvent {
    let actor = Actor {
        pid: Some(412),
        tid: Some(412),
        start_ticks: Some(88_123),
        ns_pid: Some(12),
        pid_ns: Some(4_026_531_836),
        ppid: Some(411),
        uid: Some(1000),
        comm: Some(LATIN_1.into()),
        cgroup: Some(Cgroup::Id(4242)),
        root: Some(Root { pid: 400, start_ticks: 88_000 }),
        assurance: None,
    };
    KernelEvent { seq: Seq(9), ts: Some(1.5), boot_ns: Some(881_234_567_890), actor, kind }
}
