//! What delivery is told: where to post, where to write, and whose events these are.
//!
//! Read once, at the shell's start. Nothing here looks at the environment.

use std::fmt;
use std::path::PathBuf;

use nash_events::batch::Agent;
use nash_events::{SessionId, ShellId};

/// Finds the bearer token when it is needed, which may mean reading a file.
pub type FindToken = Box<dyn Fn() -> Option<String> + Send + Sync>;

/// Everything that delivery is told.
pub struct Settings {
    /// The collector's unix socket; it is tried first.
    pub socket: Option<PathBuf>,
    /// The collector's `http://host:port/shell-event`; it is tried where there is no socket.
    pub hook_url: Option<String>,
    /// Gives the bearer token; called once, before the first request.
    pub token: FindToken,
    /// The spool directory; made with mode 0700 where it is missing.
    pub spool: Option<PathBuf>,
    /// The directory for temporary files, in which `nucleic-nash-<uid>` stands in for a spool that can't be written.
    pub temporary: PathBuf,
    /// Whether a sandbox says that sockets are refused: nothing is posted then.
    pub sockets_refused: bool,
    /// The session.
    pub session_id: SessionId,
    /// The id of this shell; random, see [`random_shell_id`](super::random_shell_id).
    pub shell_id: ShellId,
    /// The shell that this one was started from.
    pub parent_shell: Option<ShellId>,
    /// What the environment tells about the agent.
    pub agent: Agent,
    /// Field 22 of `/proc/self/stat`.
    pub start_ticks: Option<u64>,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: Option<String>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { socket, hook_url, spool, shell_id, .. } = self;
        write!(f, "Settings {{ socket: {socket:?}, hook_url: {hook_url:?}, spool: {spool:?}, shell_id: {shell_id} }}")
    }
}
