//! Taps: pipes that count, hash and keep the head of what crosses them.
//!
//! A tap stands between two pipes: what a command writes into the first is moved into the second, from which the next one reads.
//! Small processes do that, for a shell and all its forks; they share its memory, so that making a tap costs little and what it saw
//! is at hand, and nothing else: they go on when the shell is replaced, killed or gone. Bytes pass unchanged, and early in a
//! stream no more of them are on the way than in a plain pipe. What they mean is not known here.
//!
//! ```text
//! writer ─▶ first pipe ─▶ worker ─▶ second pipe ─▶ reader      process  the shell's side
//!                          │  ▲                                keeper   starts the worker, and another one where it is killed
//!                      region: counters, heads, hashes         worker   waits for all links
//!                                                              copier   one step of one link
//!                                                              loan     what comes early in a stream
//! ```

#[cfg(target_os = "linux")]
mod copier;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod loan;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod region;
#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(target_os = "linux")]
mod worker;

#[cfg(not(target_os = "linux"))]
pub(crate) use self::none::{Tap, Taps};
#[cfg(target_os = "linux")]
pub(crate) use self::process::{Tap, Taps};

/// The ends that stand for a plain pipe's: what is written to the second arrives at the first.
pub(crate) type Ends = (std::io::PipeReader, std::io::PipeWriter);

/// Names a tap to another process that shares its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct TapName {
    /// The taps that it is one of: the process that started them, and how many that had started before.
    taps: (u32, u32),
    place: usize,
}

impl TapName {
    /// The process that started the taps.
    pub(crate) fn starter(self) -> u32 {
        self.taps.0
    }
}

/// What a tap saw, when its pipe has ended or when it is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Crossing {
    /// How many bytes crossed.
    pub bytes: u64,
    /// The first of them, at most as many as a preview holds.
    pub head: Vec<u8>,
    /// SHA-256 of the first `hashed` bytes; nothing where the pipe hasn't ended.
    pub sha256: Option<[u8; 32]>,
    /// How many bytes the hash covers.
    pub hashed: u64,
}

/// Where there is no way to make one.
#[cfg(not(target_os = "linux"))]
mod none {
    use std::sync::Arc;

    use super::{Crossing, Ends, TapName};

    /// Taps that can't be made.
    pub(crate) enum Taps {}

    /// A tap that can't be made.
    pub(crate) enum Tap {}

    impl Taps {
        /// Starts nothing.
        pub(crate) fn start() -> std::io::Result<Arc<Self>> {
            Err(std::io::ErrorKind::Unsupported.into())
        }

        /// Never asked.
        pub(crate) fn open(self: &Arc<Self>) -> std::io::Result<(Tap, Ends)> {
            match **self {}
        }

        /// Never asked.
        pub(crate) fn settle(&self) {
            match *self {}
        }

        /// Never asked.
        pub(crate) fn forked(&self) {
            match *self {}
        }

        /// Never asked.
        pub(crate) fn named(self: &Arc<Self>, _name: TapName) -> Option<Tap> {
            match **self {}
        }

        /// Never asked.
        pub(crate) fn are_gone(&self) -> bool {
            match *self {}
        }
    }

    impl Tap {
        /// Never asked.
        pub(crate) fn name(&self) -> TapName {
            match *self {}
        }

        /// Never asked.
        pub(crate) fn has_ended(&self) -> bool {
            match *self {}
        }

        /// Never asked.
        pub(crate) fn wait_for_end(&self, _at_most: std::time::Duration) {
            match *self {}
        }

        /// Never asked.
        pub(crate) fn has_failed(&self) -> bool {
            match *self {}
        }

        /// Never asked.
        pub(crate) fn is_broken(&self) -> bool {
            match *self {}
        }

        /// Never asked.
        pub(crate) fn crossing(&self) -> Crossing {
            match *self {}
        }
    }
}
