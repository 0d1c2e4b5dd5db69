//! The watch: brush's gate on one side, a shell's stream of events on the other.
//!
//! Every call becomes at most one record. Whether anything is observed was decided by the configuration at the start; an
//! inactive watch answers `is_active` with no and is asked nothing else.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use brush_core::gate::{
    ExecEnd, ExecKind, ExecSpan, ExecStart, Gate, PipeEvent, RedirectEvent, StateChange, SubstitutionEvent, Verdict,
};
use nash_events::event::{CommandType, EventKind, Exec, Fallback, Function, HashOf, Source, Tamper};
use nash_events::{CmdId, CommandEnd, Record, SessionId, ShellId, redact};
use sha2::{Digest as _, Sha256};

use super::identity::Identity;
use super::spans::{BuiltinCall, CommandSpan, ForkSpan};
use super::{data, place, shell, state, words};
use crate::config::{Capture, Config};
use crate::delivery::{self, Delivery, Settings, now_ms};
use crate::fallback::Handover;
use crate::invocation::Invocation;

/// Most bytes of a script that a `fallback` event shows: 64 KiB, the bound of a preview.
const INPUT_BYTES_MAX: usize = nash_events::limits::PREVIEW_BYTES_MAX;

/// Builtins that change the shell's state in a way that their end tells.
const STATE_BUILTINS: [&str; 11] =
    ["cd", "pushd", "popd", "export", "declare", "typeset", "unset", "readonly", "local", "trap", "eval"];

/// What observes a shell: nothing, or its stream.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    stream: Option<Arc<Stream>>,
    child_variables: Arc<[(String, String)]>,
}

/// A shell's stream, shared by everything that writes to it in this process.
pub(super) struct Stream {
    delivery: Delivery,
    capture: Capture,
    /// Where the spool lies: a redirection into it is a hand laid on the observation.
    spool: Option<std::path::PathBuf>,
}

impl Watch {
    /// Starts observing, if that is configured and possible, and reports the shell's start.
    pub(crate) fn start(config: &Config, argv: &[OsString], invocation: &Invocation) -> Self {
        let mut variables = vec![("NUCLEIC_NASH".to_owned(), "1".to_owned())];
        let process = config.observes().then(Identity::of_this_process);
        let stream = process.as_ref().and_then(|process| Stream::open(config, process)).map(Arc::new);
        if let (Some(stream), Some(process)) = (&stream, &process) {
            stream.record(None, &EventKind::Shell(Box::new(shell::start(process, config, argv, invocation))));
            for problem in &config.problems {
                let what = format!("configuration: {problem}");
                stream.record(None, &EventKind::Tamper(Tamper { what }));
            }
            if let Some(id) = stream.delivery.shell_id() {
                variables.push(("NUCLEIC_SHELL_ID".to_owned(), id.as_str().to_owned()));
            }
        }
        Self { stream, child_variables: variables.into() }
    }

    /// Whether anything is observed.
    pub(crate) fn is_on(&self) -> bool {
        self.stream.is_some()
    }

    /// Reports that the script goes to the real shell, which takes this process's place next.
    pub(crate) fn fallback(&self, handover: &Handover, shell: Option<&Path>) {
        let Some(stream) = &self.stream else { return };
        stream.record(None, &EventKind::Fallback(Box::new(described(handover, shell))));
        stream.delivery.before_replace();
    }

    /// Reports the shell's end and delivers what is left.
    pub(crate) fn end(&self, status: u8) {
        if let Some(stream) = &self.stream {
            stream.delivery.finish(i32::from(status));
        }
    }
}

impl Gate for Watch {
    fn is_active(&self) -> bool {
        self.stream.is_some()
    }

    fn next_command(&self) -> u64 {
        self.stream.as_ref().map_or(0, |stream| stream.delivery.next_command().0)
    }

    fn next_pipeline(&self) -> u64 {
        self.stream.as_ref().map_or(0, |stream| stream.delivery.next_pipeline())
    }

    fn on_process_substitution(&self, writes: bool) -> u64 {
        let Some(stream) = &self.stream else { return 0 };
        let number = stream.delivery.next_procsub();
        stream.record(None, &EventKind::Pipe(Box::new(data::process_substitution(number, writes))));
        number
    }

    fn on_exec(&self, start: &ExecStart<'_>) -> Verdict {
        Verdict::Allow(self.stream.as_ref().map(|stream| Stream::command(stream, start)))
    }

    fn on_redirect(&self, redirect: &RedirectEvent<'_>) {
        if let Some(stream) = &self.stream {
            let command = (redirect.command != 0).then_some(CmdId(redirect.command));
            stream.record(
                command,
                &EventKind::Redirect(Box::new(data::redirect(redirect, stream.capture == Capture::Tap))),
            );
            state::report_redirection(stream, command, redirect, stream.spool.as_deref());
        }
    }

    fn on_pipe(&self, pipe: &PipeEvent) {
        if let Some(stream) = &self.stream {
            stream.record(None, &EventKind::Pipe(Box::new(data::pipe(pipe))));
        }
    }

    fn on_command_substitution(&self, substitution: &SubstitutionEvent<'_>) {
        if let Some(stream) = &self.stream {
            let command = (substitution.command != 0).then_some(CmdId(substitution.command));
            let with_preview = stream.capture == Capture::Tap;
            let event = data::substitution(substitution, with_preview);
            stream.record(command, &EventKind::Cmdsub(Box::new(event)));
        }
    }

    fn on_state(&self, change: &StateChange<'_>) {
        let Some(stream) = &self.stream else { return };
        match *change {
            StateChange::FunctionDefined(name) => {
                stream.record(None, &EventKind::Function(Function { name: name.to_owned() }));
            }
            StateChange::Sourced { path, contents } => {
                stream.record(None, &EventKind::Source(sourced(path, contents)));
            }
            StateChange::Assigned(name) => state::report_assignment(stream, None, name),
        }
    }

    fn child_variables(&self) -> &[(String, String)] {
        &self.child_variables
    }

    fn on_forked_child(&self) {
        if let Some(stream) = &self.stream {
            stream.delivery.after_fork_in_child();
        }
    }

    fn on_forked_child_end(&self, status: u8) {
        self.end(status);
    }

    fn on_forked(&self, pid: i32) -> Option<Box<dyn ExecSpan>> {
        let stream = Arc::clone(self.stream.as_ref()?);
        Some(Box::new(ForkSpan { stream, pid }))
    }
}

impl Stream {
    fn open(config: &Config, process: &Identity) -> Option<Self> {
        let shell_id = delivery::random_shell_id()?;
        let parent_shell = config.parent_shell.as_ref().and_then(|id| ShellId::parse(id.as_str()).ok());
        let agent = config.agent.iter().map(|(name, value)| {
            let value = redact::redact(value.as_bytes());
            ((*name).to_owned(), String::from_utf8_lossy(&value.bytes).into_owned())
        });
        let for_token = config.clone();
        let settings = Settings {
            socket: config.socket_path().map(Path::to_path_buf),
            hook_url: config.hook_url.clone(),
            token: Box::new(move || for_token.token().ok().flatten().map(|token| token.reveal().to_owned())),
            spool: config.spool_path().map(Path::to_path_buf),
            temporary: std::env::temp_dir(),
            sockets_refused: config.sockets_refused,
            // A session that nobody named is the shell's own.
            session_id: SessionId(config.session_id.clone().unwrap_or_else(|| shell_id.as_str().to_owned())),
            shell_id,
            parent_shell,
            agent: agent.collect(),
            start_ticks: process.start_ticks,
            boot_id: process.boot_id.clone(),
        };
        let spool = settings.spool.clone();
        Some(Self { delivery: Delivery::open(settings)?, capture: config.capture, spool })
    }

    /// Appends an event.
    pub(super) fn record(&self, cmd: Option<CmdId>, kind: &EventKind) {
        self.delivery.append(&Record { ts: now_ms(), cmd, kind });
    }

    /// Appends a command's start and gives what will be told the rest.
    fn command(stream: &Arc<Self>, start: &ExecStart<'_>) -> Box<dyn ExecSpan> {
        let command = CmdId(start.command);
        stream.delivery.start(now_ms(), command, described_start(start));
        for name in start.assigned {
            state::report_assignment(stream, Some(command), name);
        }
        state::report_environment(stream, command, start.argv);
        let name = start.argv.first().map(String::as_str).unwrap_or_default();
        let changes_state = start.kind == ExecKind::Builtin && STATE_BUILTINS.contains(&name);
        let builtin = changes_state.then(|| BuiltinCall { argv: start.argv.to_vec(), cwd: start.cwd.to_owned() });
        let parent = place::parent(start.place);
        Box::new(CommandSpan {
            parent,
            stream: Arc::clone(stream),
            command,
            started: Instant::now(),
            replacing: false,
            builtin,
        })
    }

    pub(super) fn running(&self, command: CmdId, pid: i32) {
        self.delivery.started_as(command, pid.unsigned_abs());
    }

    pub(super) fn running_in_place(&self, command: CmdId, pid: i32) {
        if self.delivery.has_left_shell() {
            // Nobody is left to tell its end.
            self.running(command, pid);
            self.replacing(command, None);
        } else {
            self.delivery.started_in_place(command, pid.unsigned_abs());
        }
    }

    pub(super) fn replacing_fork(&self, command: CmdId, parent: Option<CmdId>, pid: i32) {
        if let Some(parent) = parent {
            self.delivery.replaced(parent, now_ms());
        }
        self.running_in_place(command, pid);
    }

    pub(super) fn waiting(&self) {
        self.delivery.about_to_wait();
    }

    pub(super) fn replacing(&self, command: CmdId, parent: Option<CmdId>) {
        let ts = now_ms();
        for command in [parent, Some(command)].into_iter().flatten() {
            self.delivery.replaced(command, ts);
        }
        self.delivery.before_replace();
    }

    pub(super) fn replace_failed(&self) {
        self.delivery.replace_failed();
    }

    pub(super) fn ended(&self, command: CmdId, end: &ExecEnd, duration: Duration) {
        self.delivery.end(command, described_end(end, Some(duration)));
    }

    pub(super) fn process_ended(&self, pid: i32, end: &ExecEnd) {
        self.delivery.end_of_process(pid.unsigned_abs(), described_end(end, None));
    }
}

fn described_start(start: &ExecStart<'_>) -> Exec {
    let words = words::arguments(start.argv);
    let mut redacted = words.redacted;
    let (command_type, resolved_path) = match start.kind {
        ExecKind::External(path) => {
            let path = words::text_into(path.as_os_str().as_bytes(), &mut redacted);
            (CommandType::External, Some(path))
        }
        ExecKind::Builtin => (CommandType::Builtin, None),
        ExecKind::Function => (CommandType::Function, None),
        ExecKind::NotFound => (CommandType::External, None),
    };
    Exec {
        argv: words.argv,
        argc: words.argc,
        argv_truncated: words.truncated,
        resolved_path,
        command_type,
        cwd: Some(words::text_into(start.cwd.as_os_str().as_bytes(), &mut redacted)),
        pid: matches!(start.kind, ExecKind::Builtin | ExecKind::Function).then(std::process::id),
        pipeline: start.place.pipeline.map(place::position),
        nesting: place::nesting(start.place),
        parent_cmd: place::parent(start.place),
        assigns: start.assigned.to_vec(),
        redacted,
        ..Exec::default()
    }
}

fn described_end(end: &ExecEnd, duration: Option<Duration>) -> CommandEnd {
    CommandEnd {
        ts: now_ms(),
        exit_code: end.status.map(i32::from),
        signal: end.signal,
        // Not the number that Rust puts behind the system's words.
        error: end.error.as_deref().map(|error| words::message(error.split(" (os error").next().unwrap_or(error))),
        duration_us: duration.map(|duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)),
    }
}

/// Describes a sourced file. Its hash is of the true bytes only where they hold no secret: settings may hold little else.
fn sourced(path: &Path, contents: &[u8]) -> Source {
    let mut redacted = Vec::new();
    let path = words::text_into(path.as_os_str().as_bytes(), &mut redacted);
    let masked = redact::redact(contents);
    redacted.extend(masked.rules.iter().map(|rule| (*rule).to_owned()));
    redacted.sort();
    redacted.dedup();
    Source {
        path,
        sha256: Some(hex(&masked.bytes)),
        hash_of: (!masked.rules.is_empty()).then_some(HashOf::Redacted),
        bytes: Some(contents.len() as u64),
        redacted,
    }
}

fn described(handover: &Handover, shell: Option<&Path>) -> Fallback {
    let masked = handover.input.as_deref().map(redact::redact);
    let hidden = masked.as_ref().is_some_and(|masked| !masked.rules.is_empty());
    let hashed = masked.as_ref().map(|masked| hex(&masked.bytes));
    let position = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Fallback {
        reason: handover.reason.clone(),
        truncated: masked.as_ref().is_some_and(|masked| masked.bytes.len() > INPUT_BYTES_MAX),
        input: masked.as_ref().map(|masked| nash_events::argv::head(&masked.bytes, INPUT_BYTES_MAX).into()),
        sha256: hashed,
        hash_of: hidden.then_some(HashOf::Redacted),
        line: handover.position.map(|at| position(at.line)),
        column: handover.position.map(|at| position(at.column)),
        shell: shell.map(|path| path.as_os_str().as_bytes().into()),
        redacted: masked.map(|masked| masked.rules.into_iter().map(str::to_owned).collect()).unwrap_or_default(),
    }
}

/// SHA-256 in lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
