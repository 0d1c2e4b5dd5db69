//! What delivery is told: where to post, where to write, and whose events these are.
//!
//! Read once, at the shell's start. Nothing here looks at the environment.

use std::fmt;
use std::path::PathBuf;

use nash_events::batch::Agent;
use nash_events::{SessionId, ShellId};

/// Finds the bearer token when it is needed, which may mean reading a file.
pub(crate) type FindToken = Box<dyn Fn() -> Option<String> + Send + Sync>;

/// Everything that delivery is told.
pub(crate) struct Settings {
    /// The collector's unix socket; it is tried first.
    pub(crate) socket: Option<PathBuf>,
    /// The collector's `http://host:port/shell-event`; it is tried where there is no socket.
    pub(crate) hook_url: Option<String>,
    /// Gives the bearer token; called once, before the first request.
    pub(crate) token: FindToken,
    /// The spool directory; made with mode 0700 where it is missing.
    pub(crate) spool: Option<PathBuf>,
    /// The directory for temporary files, in which `nucleic-nash-<uid>` stands in for a spool that can't be written.
    pub(crate) temporary: PathBuf,
    /// Whether a sandbox says that sockets are refused: nothing is posted then.
    pub(crate) sockets_refused: bool,
    /// The session.
    pub(crate) session_id: SessionId,
    /// The id of this shell; random, see [`random_shell_id`](super::random_shell_id).
    pub(crate) shell_id: ShellId,
    /// The shell that this one was started from.
    pub(crate) parent_shell: Option<ShellId>,
    /// What the environment tells about the agent.
    pub(crate) agent: Agent,
    /// Field 22 of `/proc/self/stat`.
    pub(crate) start_ticks: Option<u64>,
    /// `/proc/sys/kernel/random/boot_id`.
    pub(crate) boot_id: Option<String>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { socket, hook_url, spool, shell_id, .. } = self;
        write!(f, "Settings {{ socket: {socket:?}, hook_url: {hook_url:?}, spool: {spool:?}, shell_id: {shell_id} }}")
    }
}
