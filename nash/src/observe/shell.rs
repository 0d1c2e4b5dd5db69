//! The event of a shell's start: who it is, what it was called with, how much it reports.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use nash_events::event::{CaptureLevel, KernelWitness, Persona as PersonaName, Shell, ShellPhase};

use super::{identity, words};
use crate::config::{Capture, Config, Kernel};
use crate::invocation::Invocation;
use crate::persona::Persona;
use crate::version;

/// Describes a shell that starts.
pub(super) fn start(
    process: &identity::Identity,
    config: &Config,
    argv: &[OsString],
    invocation: &Invocation,
) -> Shell {
    let arguments: Vec<&[u8]> = argv.iter().map(|argument| argument.as_bytes()).collect();
    let arguments = words::arguments(&arguments);
    let mut redacted = arguments.redacted;
    let cwd = std::env::current_dir().ok();
    Shell {
        pid: Some(process.pid),
        start_ticks: process.start_ticks,
        boot_id: process.boot_id.clone(),
        pid_ns: process.pid_namespace,
        ppid: Some(process.parent_pid),
        argv: arguments.argv,
        argc: arguments.argc,
        argv_truncated: arguments.truncated,
        cwd: cwd.map(|cwd| words::text_into(cwd.as_os_str().as_bytes(), &mut redacted)),
        persona: Some(match invocation.persona {
            Persona::Sh => PersonaName::Sh,
            Persona::Bash | Persona::RestrictedBash => PersonaName::Bash,
        }),
        version: Some(version::NASH_VERSION.to_owned()),
        capture: Some(match config.capture {
            Capture::Off => CaptureLevel::Off,
            Capture::Meta => CaptureLevel::Meta,
            Capture::Tap => CaptureLevel::Tap,
        }),
        kernel: Some(match config.kernel {
            Kernel::None => KernelWitness::None,
            Kernel::Ebpf => KernelWitness::Ebpf,
            Kernel::Ptrace | Kernel::PtraceFull => KernelWitness::Ptrace,
        }),
        redacted,
        ..Shell::new(ShellPhase::Start)
    }
}
