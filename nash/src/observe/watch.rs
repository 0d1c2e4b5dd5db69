//! The watch: brush's gate on one side, a shell's stream of events on the other.
//!
//! Every call becomes at most one record. Whether anything is observed was decided by the configuration at the start; an
//! inactive watch answers `is_active` with no and is asked nothing else.

use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use brush_core::gate::{
    ExecEnd, ExecKind, ExecSpan, ExecStart, Gate, PipeEnds, PipeEvent, RedirectEvent, StateChange, SubstitutionEvent,
    Verdict,
};
use nash_events::event::{EventKind, Function, Pipe, Tamper};
use nash_events::{CmdId, Record, SessionId, ShellId, redact};

use super::files::{Files, Opened};
use super::handed::Handed;
use super::identity::Identity;
use super::links::Links;
use super::previews::Previews;
use super::spans::{BuiltinCall, CommandSpan, ForkSpan};
use super::{command, data, place, shell, state, words};
use crate::config::{Capture, Config};
use crate::delivery::{self, Delivery, Settings, now_ms};
use crate::fallback::Handover;
use crate::invocation::Invocation;

/// Builtins that change the shell's state in a way that their end tells.
const STATE_BUILTINS: [&str; 12] =
    ["cd", "pushd", "popd", "export", "declare", "typeset", "unset", "readonly", "local", "trap", "eval", "exec"];

/// How long a command takes after which it is looked whether others have ended that nobody waits for: 1 ms. A look takes some
/// ten microseconds for each, which many builtins don't.
const WORTH_A_LOOK: Duration = Duration::from_millis(1);

/// What observes a shell: nothing, or its stream.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    stream: Option<Arc<Stream>>,
    child_variables: Arc<[(String, String)]>,
}

/// A shell's stream, shared by everything that writes to it in this process.
pub(super) struct Stream {
    pub(super) delivery: Delivery,
    capture: Capture,
    /// Where the spool lies: a redirection into it is a hand laid on the observation.
    spool: Option<std::path::PathBuf>,
    pub(super) links: Links,
    pub(super) files: Files,
    /// What forks that become programs leave to the process that waits for them.
    pub(super) handed: Option<Handed>,
    previews: Previews,
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
        stream.record(None, &EventKind::Fallback(Box::new(command::fallback(handover, shell))));
        stream.delivery.before_replace();
    }

    /// Reports the shell's end and delivers what is left.
    pub(crate) fn end(&self, status: u8) {
        if let Some(stream) = &self.stream {
            stream.tell_all();
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

    fn on_process_substitution(&self, writes: bool) -> (u64, Option<PipeEnds>) {
        let Some(stream) = &self.stream else { return (0, None) };
        let number = stream.delivery.next_procsub();
        (number, stream.join(data::process_substitution(number, writes)))
    }

    fn on_exec(&self, start: &ExecStart<'_>) -> Verdict {
        Verdict::Allow(self.stream.as_ref().map(|stream| Stream::command(stream, start)))
    }

    fn on_redirect(&self, redirect: &RedirectEvent<'_>) {
        if let Some(stream) = &self.stream {
            let command = (redirect.command != 0).then_some(CmdId(redirect.command));
            let mut event = data::redirect(redirect, stream.capture == Capture::Tap);
            if stream.capture == Capture::Tap && redirect.error.is_none() {
                stream.files.about_to_open(redirect);
                stream.previews.bound(command, event.data.as_mut());
            }
            stream.record(command, &EventKind::Redirect(Box::new(event)));
            state::report_redirection(stream, command, redirect, stream.spool.as_deref());
        }
    }

    fn on_opened(&self, redirect: &RedirectEvent<'_>, file: BorrowedFd<'_>) {
        if let Some(stream) = self.stream.as_ref().filter(|stream| stream.capture == Capture::Tap) {
            stream.files.opened(redirect, file);
        }
    }

    fn on_lasting(&self, fd: i32, is_open: bool) {
        if let Some(stream) = &self.stream {
            stream.read_back(stream.files.lasting(fd, is_open));
        }
    }

    fn on_compound_end(&self, compound: u64) {
        if let Some(stream) = &self.stream {
            stream.read_back(stream.files.of(CmdId(compound)));
        }
    }

    fn on_pipe(&self, pipe: &PipeEvent) -> Option<PipeEnds> {
        self.stream.as_ref()?.join(data::pipe(pipe))
    }

    fn on_command_substitution(&self, substitution: &SubstitutionEvent<'_>) {
        if let Some(stream) = &self.stream {
            let command = (substitution.command != 0).then_some(CmdId(substitution.command));
            let with_preview = stream.capture == Capture::Tap;
            let mut event = data::substitution(substitution, with_preview);
            stream.previews.bound(command, Some(&mut event.data));
            stream.record(command, &EventKind::Cmdsub(Box::new(event)));
        }
    }

    fn on_state(&self, change: &StateChange<'_>) {
        let Some(stream) = &self.stream else { return };
        match *change {
            StateChange::FunctionDefined(name) => {
                stream.record(None, &EventKind::Function(Function { name: words::masked(name) }));
            }
            StateChange::Sourced { path, contents } => {
                stream.record(None, &EventKind::Source(command::sourced(path, contents)));
            }
            StateChange::Assigned(name) => state::report_assignment(stream, None, name),
        }
    }

    fn child_variables(&self) -> &[(String, String)] {
        &self.child_variables
    }

    fn before_descriptors(&self, numbers: &[i32]) {
        if let Some(stream) = &self.stream {
            stream.delivery.give_way(numbers);
        }
    }

    fn on_forked_child(&self) {
        if let Some(stream) = &self.stream {
            stream.links.forget();
            stream.files.forget();
            stream.handed.iter().for_each(Handed::forked);
            stream.delivery.after_fork_in_child();
        }
    }

    fn on_forked_child_end(&self, status: u8) {
        self.end(status);
    }

    fn on_forked(&self, pid: i32) -> Option<Box<dyn ExecSpan>> {
        let stream = Arc::clone(self.stream.as_ref()?);
        // Taps serve all forks that come after them; each of those would have to start its own.
        if stream.delivery.wants_taps() && !stream.links.has_taps() {
            stream.links.prepare();
        }
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
        let delivery = Delivery::open(settings)?;
        let capture = config.capture;
        let handed = if capture == Capture::Tap { Handed::new().ok() } else { None };
        let (files, links, previews) = (Files::default(), Links::new(), Previews::default());
        Some(Self { delivery, capture, spool, links, files, handed, previews })
    }

    /// Makes the pipe of a link: with a tap on it where data is captured. Otherwise, or where that can't be, a plain one will do.
    fn join(&self, mut pipe: Pipe) -> Option<PipeEnds> {
        if self.capture == Capture::Tap {
            if !self.links.has_taps() {
                self.delivery.want_taps();
            }
            match self.links.open(pipe.clone()) {
                Ok(ends) => return Some(ends),
                Err(error) => pipe.tap_failed = error.kind() != std::io::ErrorKind::Unsupported,
            }
        }
        self.record(None, &EventKind::Pipe(Box::new(pipe)));
        None
    }

    /// Keeps what an `exec` without a command has opened for the shell.
    pub(super) fn keep_files(&self, command: CmdId) {
        self.read_back(self.files.keep(command));
    }

    /// Tells what went through files.
    pub(super) fn read_back(&self, opened: Vec<Opened>) {
        for opened in opened {
            let mut redirect = data::read_back(&opened);
            self.previews.bound(opened.command, redirect.data.as_mut());
            self.record(opened.command, &EventKind::Redirect(Box::new(redirect)));
        }
    }

    pub(super) fn tell(&self, pipes: Vec<Pipe>) {
        for pipe in pipes {
            self.record(None, &EventKind::Pipe(Box::new(pipe)));
        }
    }

    /// Appends an event.
    pub(super) fn record(&self, cmd: Option<CmdId>, kind: &EventKind) {
        self.delivery.append(&Record { ts: now_ms(), cmd, kind });
    }

    /// Appends a command's start and gives what will be told the rest.
    fn command(stream: &Arc<Self>, start: &ExecStart<'_>) -> Box<dyn ExecSpan> {
        let command = CmdId(start.command);
        stream.delivery.start(now_ms(), command, command::start(start));
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
        self.hand_over(pid.unsigned_abs());
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
        self.links.settle();
        self.delivery.about_to_wait();
    }

    pub(super) fn replacing(&self, command: CmdId, parent: Option<CmdId>) {
        let ts = now_ms();
        for command in [parent, Some(command)].into_iter().flatten() {
            self.files.let_go(command);
            self.delivery.replaced(command, ts);
        }
        self.tell_all();
        self.delivery.before_replace();
    }

    pub(super) fn replace_failed(&self) {
        self.delivery.replace_failed();
    }

    pub(super) fn ended(&self, command: CmdId, end: &ExecEnd, duration: Duration) {
        // Before the end, so that both are one event for a reader.
        self.read_back(self.files.of(command));
        self.delivery.end(command, command::end(end, Some(duration)));
        if duration >= WORTH_A_LOOK {
            self.tell_ended();
        } else {
            self.tell(self.links.ended());
        }
    }

    pub(super) fn process_ended(&self, pid: i32, end: &ExecEnd) {
        self.take_over(|leaver| leaver.pid == pid.unsigned_abs());
        self.delivery.end_of_process(pid.unsigned_abs(), command::end(end, None));
        self.tell_ended();
    }
}
