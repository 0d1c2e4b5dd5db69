//! Taps: pipes that count, hash and keep the head of what crosses them.
//!
//! A tap is a small process between two pipes. It shares this process's memory, so that making it costs little and what it
//! saw is at hand, and nothing else: it goes on when the shell is replaced, killed or gone, and no signal but SIGKILL ends it
//! before its pipes. Bytes pass unchanged, and hardly more of them are on the way than in a plain pipe. What they mean is not known
//! here.

#[cfg(target_os = "linux")]
mod copier;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod region;
#[cfg(all(test, target_os = "linux"))]
mod tests;

#[cfg(not(target_os = "linux"))]
pub(crate) use self::none::Tap;
#[cfg(target_os = "linux")]
pub(crate) use self::process::Tap;

/// The ends that stand for a plain pipe's: what is written to the second arrives at the first.
pub(crate) type Ends = (std::io::PipeReader, std::io::PipeWriter);

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
    use super::{Crossing, Ends};

    /// A tap that can't be made.
    pub(crate) enum Tap {}

    impl Tap {
        /// Makes no tap.
        pub(crate) fn open() -> std::io::Result<(Self, Ends)> {
            Err(std::io::ErrorKind::Unsupported.into())
        }

        /// Never asked.
        pub(crate) fn has_ended(&self) -> bool {
            match *self {}
        }

        /// Never asked.
        pub(crate) fn has_failed(&mut self) -> bool {
            match *self {}
        }

        /// Never asked.
        pub(crate) fn crossing(&self) -> Crossing {
            match *self {}
        }
    }
}
