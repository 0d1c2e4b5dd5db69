//! What nash is told from outside: the environment over `/etc/nash/nash.toml`.
//!
//! Nothing is required, and nothing that is wrong breaks a command: a value that can't be used is passed over and remembered
//! in [`Config::problems`]. Nothing below a home folder is read, and nothing is opened here but that one file.
//!
//! | variable | key in the file | meaning |
//! |---|---|---|
//! | `NUCLEIC_SHELL_SOCKET` | `socket` | unix socket of the collector |
//! | `NUCLEIC_SHELL_HOOK_URL` | `hook_url` | `http://host:port/shell-event` of the collector |
//! | `NUCLEIC_HOOK_TOKEN` | `token` | bearer token |
//! | `NUCLEIC_HOOK_TOKEN_FILE` | `token_file` | file that holds the token |
//! | `NUCLEIC_SESSION_ID` | `session_id` | session that the events belong to |
//! | `NUCLEIC_SHELL_SPOOL` | `spool` | folder for what can't be delivered |
//! | `NUCLEIC_SHELL_CAPTURE` | `capture` | `off`, `meta` or `tap` (default) |
//! | `NUCLEIC_SHELL_KERNEL` | `kernel` | `ebpf`, `ptrace`, `ptrace-full` or `none` (default) |
//! | `NUCLEIC_REAL_BASH` | `real_bash` | the real bash |
//! | `NUCLEIC_REAL_SH` | `real_sh` | the real sh |
//! | `NUCLEIC_NASH_DISABLE` | `disable` | hand everything to the real shell |
//!
//! An empty variable means "not this one", and hides what the file says.

mod file;
mod sources;
#[cfg(test)]
mod tests;
mod token;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

pub use token::{HookToken, TokenError};

use crate::persona::Persona;
use file::FileSettings;
use sources::Sources;

/// The only configuration file; it gives defaults below the environment.
pub const CONFIG_PATH: &str = "/etc/nash/nash.toml";

/// Unix socket of a collector that is tried when observation is configured without naming a socket.
pub const DEFAULT_SOCKET: &str = "/run/nucleic/control.sock";

/// Spool folder that is used when observation is configured without naming one.
pub const DEFAULT_SPOOL: &str = "/var/spool/nucleic-nash";

/// Longest session id that is taken, in bytes: it is repeated in every batch.
const SESSION_ID_LEN_MAX: usize = 256;

/// Most problems that are remembered: they go into one event.
const PROBLEMS_MAX: usize = 16;

/// Variables by which agents mark the commands they run; recorded when present.
const AGENT_MARKERS: [&str; 6] =
    ["CODEX_TOOL_CALL_ID", "CODEX_SESSION_ID", "CLAUDE_CODE_SESSION_ID", "AI_AGENT", "GEMINI_CLI", "TRACEPARENT"];

/// Variables by which sandboxes say that sockets will be refused.
const SANDBOX_MARKERS: [&str; 2] = ["CODEX_SANDBOX_NETWORK_DISABLED", "SANDBOX_RUNTIME"];

/// Says how much is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Capture {
    /// `off`: a plain shell.
    Off,
    /// `meta`: structure without data.
    Meta,
    /// `tap`: structure and bounded, redacted data.
    #[default]
    Tap,
}

impl Capture {
    /// Returns the word for this level, as in `NUCLEIC_SHELL_CAPTURE`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Meta => "meta",
            Self::Tap => "tap",
        }
    }

    /// Returns the level that a word stands for.
    fn from_word(word: &str) -> Option<Self> {
        [Self::Off, Self::Meta, Self::Tap].into_iter().find(|level| level.as_str() == word)
    }
}

/// Says which kernel observer the shell may count on or has to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kernel {
    /// `none`: the shell's own view only.
    #[default]
    None,
    /// `ebpf`: the daemon runs on this host.
    Ebpf,
    /// `ptrace`: the tracer is started over the shell's commands.
    Ptrace,
    /// `ptrace-full`: the same, with every system call it knows.
    PtraceFull,
}

impl Kernel {
    /// Returns the word for this choice, as in `NUCLEIC_SHELL_KERNEL`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ebpf => "ebpf",
            Self::Ptrace => "ptrace",
            Self::PtraceFull => "ptrace-full",
        }
    }

    /// Returns the choice that a word stands for.
    fn from_word(word: &str) -> Option<Self> {
        [Self::None, Self::Ebpf, Self::Ptrace, Self::PtraceFull].into_iter().find(|choice| choice.as_str() == word)
    }
}

/// A place that is configured, or is not, or is explicitly not wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Place {
    /// Nothing was said: the default place is used once anything else turns observation on.
    #[default]
    Unset,
    /// The variable is there and empty: not even the default place is used.
    Off,
    /// This path.
    At(PathBuf),
}

impl Place {
    /// Tells whether a path was given.
    pub fn is_configured(&self) -> bool {
        matches!(self, Self::At(_))
    }

    /// Returns the path to use: the one given, or `default` where nothing was said.
    pub fn or_default<'a>(&'a self, default: &'a str) -> Option<&'a Path> {
        match self {
            Self::At(path) => Some(path),
            Self::Unset => Some(Path::new(default)),
            Self::Off => None,
        }
    }
}

/// Names the shell that started this one; 32 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentShellId(String);

impl ParentShellId {
    /// Digits in an id: 128 bits.
    const LEN: usize = 32;

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes a value of `NUCLEIC_SHELL_ID`; anything but 32 hexadecimal digits is none of ours and ignored.
    fn from_value(value: &OsStr) -> Option<Self> {
        let digits = value.to_str()?;
        let fits = digits.len() == Self::LEN && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        fits.then(|| Self(digits.to_ascii_lowercase()))
    }
}

/// Holds everything that nash is told from outside.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// `NUCLEIC_SHELL_SOCKET`.
    pub socket: Place,
    /// `NUCLEIC_SHELL_HOOK_URL`, always starting with `http://`.
    pub hook_url: Option<String>,
    /// `NUCLEIC_SESSION_ID`.
    pub session_id: Option<String>,
    /// `NUCLEIC_SHELL_SPOOL`.
    pub spool: Place,
    /// `NUCLEIC_SHELL_CAPTURE`.
    pub capture: Capture,
    /// `NUCLEIC_SHELL_KERNEL`.
    pub kernel: Kernel,
    /// `NUCLEIC_REAL_BASH`.
    pub real_bash: Option<PathBuf>,
    /// `NUCLEIC_REAL_SH`.
    pub real_sh: Option<PathBuf>,
    /// `NUCLEIC_NASH_DISABLE`: everything goes to the real shell.
    pub disabled: bool,
    /// `NUCLEIC_SHELL_ID`, as the shell that started this one set it.
    pub parent_shell: Option<ParentShellId>,
    /// Markers of the agent that runs this shell, names and values as found.
    pub agent: Vec<(&'static str, OsString)>,
    /// A sandbox says that sockets are refused: batches go straight to the spool.
    pub sockets_refused: bool,
    /// What could not be used, for an event; at most 16 lines.
    pub problems: Vec<String>,
    token: token::TokenSource,
}

impl Config {
    /// Reads the environment of this process and the system's configuration file.
    pub fn from_process() -> Self {
        Self::load(|name| std::env::var_os(name), Path::new(CONFIG_PATH))
    }

    /// Reads the variables that `environment` returns, and defaults from the file at `path` if there is one.
    pub fn load(environment: impl Fn(&str) -> Option<OsString>, path: &Path) -> Self {
        let mut problems = Vec::new();
        let file = FileSettings::read(path, &mut problems);
        let mut sources = Sources { environment, file, problems };
        let config = Self {
            socket: sources.place("NUCLEIC_SHELL_SOCKET", "socket"),
            hook_url: sources.hook_url(),
            session_id: sources.session_id(),
            spool: sources.place("NUCLEIC_SHELL_SPOOL", "spool"),
            capture: sources.word("NUCLEIC_SHELL_CAPTURE", "capture", Capture::from_word),
            kernel: sources.word("NUCLEIC_SHELL_KERNEL", "kernel", Kernel::from_word),
            real_bash: sources.value("NUCLEIC_REAL_BASH", "real_bash").map(PathBuf::from),
            real_sh: sources.value("NUCLEIC_REAL_SH", "real_sh").map(PathBuf::from),
            disabled: sources.disabled(),
            parent_shell: (sources.environment)("NUCLEIC_SHELL_ID").and_then(|id| ParentShellId::from_value(&id)),
            agent: sources.agent(),
            sockets_refused: SANDBOX_MARKERS.iter().any(|name| sources.is_set(name)),
            token: sources.token(),
            problems: Vec::new(),
        };
        let mut problems = sources.problems;
        problems.truncate(PROBLEMS_MAX);
        Self { problems, ..config }
    }

    /// Tells whether there is anything to observe for: a socket, a URL or a spool was named, and capture isn't off.
    ///
    /// Without that, nash is a plain shell and opens nothing.
    pub fn observes(&self) -> bool {
        let wanted = self.socket.is_configured() || self.hook_url.is_some() || self.spool.is_configured();
        wanted && self.capture != Capture::Off && !self.disabled
    }

    /// Returns the socket to try, named or by default; `None` where it was switched off or a sandbox refuses sockets.
    pub fn socket_path(&self) -> Option<&Path> {
        if self.sockets_refused { None } else { self.socket.or_default(DEFAULT_SOCKET) }
    }

    /// Returns the spool folder, named or by default; `None` where it was switched off.
    pub fn spool_path(&self) -> Option<&Path> {
        self.spool.or_default(DEFAULT_SPOOL)
    }

    /// Returns the real shell that is configured for a persona, if one is.
    pub fn real_shell(&self, persona: Persona) -> Option<&Path> {
        match persona {
            Persona::Bash | Persona::RestrictedBash => self.real_bash.as_deref(),
            Persona::Sh => self.real_sh.as_deref(),
        }
    }

    /// Returns the bearer token, reading its file only now; the caller keeps it.
    ///
    /// # Errors
    /// The token's file can't be read or doesn't hold one.
    pub fn token(&self) -> Result<Option<HookToken>, TokenError> {
        self.token.read()
    }
}

/// Tells whether the environment alone switches nash off: the one question that is asked before anything else is read.
///
/// Any value of `NUCLEIC_NASH_DISABLE` counts but the empty one and `0`.
pub fn is_disabled_by_environment() -> bool {
    std::env::var_os("NUCLEIC_NASH_DISABLE").is_some_and(|value| means_yes(&value))
}

/// Tells whether a switch is on.
fn means_yes(value: &OsStr) -> bool {
    !value.is_empty() && value != "0"
}
