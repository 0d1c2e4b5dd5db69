//! Events about processes: forks, execs, exits, and reaching for another process.
//!
//! Arguments are divided here, but not judged.

use nash_events::bound_argv;
use nash_events::kernel::{Exec, ExecImage, Exit, Fork, KernelEventKind, Kill, Ptrace};
use nash_events::limits::ARGS_MAX;
use nash_events::redact;

use super::path::{Masks, named, own_name, path};
use super::{known, start_ticks};
use crate::abi::{self, Call, Record, flag, span};
use crate::kernel::{INITIAL_PID_NAMESPACE, stat_device};

/// What the kernel calls the files of `memfd_create`.
const MEMFD_PREFIX: &[u8] = b"memfd:";

/// The bit of a status that tells a core dump, as `wait` has it.
const CORE_DUMPED: u32 = 0x80;

/// The bits of a status that hold a signal's number.
const SIGNAL: u32 = 0x7f;

pub(super) fn fork(record: &Record<'_>) -> KernelEventKind {
    let fork: abi::Fork = record.body();
    KernelEventKind::Fork(Fork {
        child_pid: fork.child_tgid,
        // Only first threads are told of.
        child_tid: Some(fork.child_tgid),
        child_start_ticks: Some(start_ticks(fork.child_start_ns)),
        child_ns_pid: known(fork.child_ns_tgid),
        child_pid_ns: known(fork.child_pid_ns).map(u64::from),
        flags: None,
    })
}

pub(super) fn exec(record: &Record<'_>) -> KernelEventKind {
    let file: abi::File = record.body();
    let mut masks = Masks::default();
    if file.result < 0 {
        let requested = named(record.piece(span::PATH), record.piece(span::NAME));
        return KernelEventKind::Exec(Box::new(Exec {
            requested: requested.map(|requested| masks.text(&requested.bytes)),
            result: Some(file.result),
            redacted: masks.into_rules(),
            ..Exec::default()
        }));
    }
    let walk = record.piece(span::PATH);
    let words = words(record);
    let asked_for = record.piece(span::NAME).bytes;
    let chain = chain(record).map(|bytes| ExecImage { path: Some(masks.text(&bytes)), dev: None, ino: None });
    let (argv, argc, argv_truncated) = arguments(record, &words, &file, &mut masks);
    KernelEventKind::Exec(Box::new(Exec {
        path: path(walk).map(|path| masks.text(&path.bytes)),
        dev: known(file.ino).map(|_| stat_device(file.dev)),
        ino: known(file.ino),
        requested: (!asked_for.is_empty()).then(|| masks.text(asked_for)),
        argv,
        argc,
        argv_truncated,
        cwd: path(record.piece(span::SECOND_PATH)).map(|path| masks.text(&path.bytes)),
        chain: chain.into_iter().collect(),
        memfd: record.has(flag::FILE_DETACHED) && own_name(walk).starts_with(MEMFD_PREFIX),
        deleted: record.has(flag::FILE_UNLINKED),
        euid: Some(file.euid),
        gid: Some(file.gid),
        egid: Some(file.egid),
        same_as: None,
        sha256: None,
        build_id: None,
        result: None,
        redacted: masks.into_rules(),
    }))
}

pub(super) fn exit(record: &Record<'_>) -> KernelEventKind {
    let exit: abi::Exit = record.body();
    // Both parts of a status are small: seven bits and eight.
    let signal = i32::try_from(exit.status & SIGNAL).ok().and_then(known);
    let code = i32::try_from(exit.status >> 8 & 0xff).ok();
    KernelEventKind::Exit(Exit {
        exit_code: if signal.is_none() { code } else { None },
        signal,
        core_dumped: exit.status & CORE_DUMPED != 0,
    })
}

pub(super) fn ptrace(record: &Record<'_>) -> KernelEventKind {
    let reach: abi::Reach = record.body();
    let call = Call::from_number(reach.call);
    let via = match call {
        Some(Call::Ptrace) => "ptrace",
        Some(Call::VmWrite) => "process_vm_writev",
        Some(Call::PidfdGetfd) => "pidfd_getfd",
        _ => "unknown",
    };
    // pidfd_getfd names a descriptor, which says nothing where the process behind it is not known.
    let is_pid = call != Some(Call::PidfdGetfd) || reach.target_start_ns != 0;
    KernelEventKind::Ptrace(Ptrace {
        via: via.to_owned(),
        request: (call == Some(Call::Ptrace)).then_some(reach.request),
        target_pid: if is_pid { target(record, &reach) } else { None },
        target_start_ticks: known(reach.target_start_ns).map(start_ticks),
        result: Some(reach.result),
    })
}

pub(super) fn kill(record: &Record<'_>) -> KernelEventKind {
    let reach: abi::Reach = record.body();
    KernelEventKind::Kill(Kill {
        signal: i32::try_from(reach.request).unwrap_or_default(),
        target_pid: target(record, &reach),
        target_start_ticks: known(reach.target_start_ns).map(start_ticks),
        result: Some(reach.result),
    })
}

/// Whom a process reached for, by the host's count. A number that the probes only heard from a caller in another pid namespace means
/// somebody else there.
fn target(record: &Record<'_>, reach: &abi::Reach) -> Option<u32> {
    let is_the_hosts = reach.target_start_ns != 0 || record.head.pid_ns == INITIAL_PID_NAMESPACE;
    if is_the_hosts { one_process(reach.target) } else { None }
}

/// A process as a caller names it; 0 and below mean groups.
fn one_process(target: u32) -> Option<u32> {
    i32::try_from(target).ok().filter(|pid| *pid > 0).map(i32::cast_unsigned)
}

/// The arguments as they lie in memory, a NUL after each.
fn words<'a>(record: &Record<'a>) -> Vec<&'a [u8]> {
    let bytes = record.piece(span::SECOND_NAME).bytes;
    if bytes.is_empty() {
        return Vec::new();
    }
    let whole = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    whole.split(|byte| *byte == 0).collect()
}

/// Masks and bounds the arguments; how many there were, where that is not how many are reported; whether any is missing.
fn arguments(
    record: &Record<'_>,
    words: &[&[u8]],
    file: &abi::File,
    masks: &mut Masks,
) -> (Vec<nash_events::ByteString>, Option<u64>, bool) {
    let is_cut = record.has(flag::ARGV_CUT);
    let argc = u64::from(file.what).max(words.len() as u64);
    let shown = &words[..words.len().min(ARGS_MAX + 1)];
    let masked = redact::redact_argv(shown);
    masks.add(&masked.rules);
    let mut argv: Vec<_> = masked.argv.iter().map(|word| word.to_vec()).collect();
    if is_cut
        && shown.len() == words.len()
        && let Some(last) = argv.last_mut()
    {
        // What was cut off might have completed a secret.
        let masked = redact::redact_truncated(last);
        masks.add(&masked.rules);
        *last = masked.bytes.into_owned();
    }
    let bounded = bound_argv(&argv);
    let is_truncated = is_cut || bounded.truncated || record.has(flag::ARGV_UNREAD);
    let all_there = bounded.argv.len() as u64 == argc;
    (bounded.argv, (!all_there).then_some(argc), is_truncated)
}

/// The script that an interpreter was started for, or the file of a registered format.
fn chain(record: &Record<'_>) -> Option<Vec<u8>> {
    let asked_for = record.piece(span::NAME);
    if !record.has(flag::EXEC_SCRIPT) || asked_for.bytes.is_empty() {
        return None;
    }
    if asked_for.bytes.starts_with(b"/") {
        return Some(asked_for.bytes.to_vec());
    }
    named(record.piece(span::SECOND_PATH), asked_for).map(|script| script.bytes)
}
