//! A note between shells that a collector is slow: a tiny file in the spool directory.
//!
//! Shells are short and many; without it each of them would find out for itself, at its command's cost. Only what costs time
//! is noted: a collector that refuses at once is asked again by the next shell.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::endpoint::Endpoint;

/// How long shells leave a collector alone that was slow once: 1 s, twice as long each time again.
const WINDOW_MIN: Duration = Duration::from_secs(1);

/// The longest: 30 s, after which a collector that came back is in use again.
const WINDOW_MAX: Duration = Duration::from_secs(30);

/// `SPOOL/.slow-<hash of the endpoint>`: how often in a row it was slow, in decimal; its time says when last.
#[derive(Debug)]
pub(crate) struct SlowMark {
    path: PathBuf,
    /// What the file said, if it was there.
    times: Option<u32>,
}

impl SlowMark {
    /// Reads the mark of an endpoint.
    pub(crate) fn read(directory: &Path, endpoint: &Endpoint) -> Self {
        let path = directory.join(format!(".slow-{:016x}", hash(&endpoint.to_string())));
        Self { times: read_times(&path), path }
    }

    /// Whether the endpoint is to be left alone. The first shell that comes after that asks again, and keeps the others
    /// from asking at the same time.
    pub(crate) fn says_wait(&self) -> bool {
        let Some(times) = self.times else { return false };
        let age = std::fs::metadata(&self.path).and_then(|found| found.modified()).ok().map(|at| at.elapsed());
        // A time in the future says nothing.
        let fresh = matches!(age, Some(Ok(age)) if age < window(times));
        if !fresh {
            self.write(times);
        }
        fresh
    }

    /// Notes that the endpoint was slow.
    pub(crate) fn note_slow(&self) {
        self.write(self.times.map_or(0, |times| times.saturating_add(1)));
    }

    /// Notes that the endpoint answered.
    pub(crate) fn note_answered(&self) {
        if self.times.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    fn write(&self, times: u32) {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        if let Ok(mut file) = options.open(&self.path) {
            let _ = write!(file, "{times}");
        }
        let now = SystemTime::now();
        let _ = OpenOptions::new().write(true).open(&self.path).and_then(|file| file.set_modified(now));
    }
}

/// How long an endpoint is left alone that was slow once more than `times` in a row.
fn window(times: u32) -> Duration {
    WINDOW_MIN.saturating_mul(1 << times.min(10)).min(WINDOW_MAX)
}

fn read_times(path: &Path) -> Option<u32> {
    let mut text = String::new();
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(path).ok()?;
    file.take(16).read_to_string(&mut text).ok()?;
    Some(text.trim().parse().unwrap_or(0))
}

/// FNV-1a, 64 bits: the same in every version, which the standard library's is not.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_doubles_up_to_its_bound() {
        let seconds = [0, 1, 2, 3, 4, 5, 6, u32::MAX].map(|times| window(times).as_secs());
        assert_eq!(seconds, [1, 2, 4, 8, 16, 30, 30, 30]);
    }

    #[test]
    fn a_mark_is_there_until_the_endpoint_answers() {
        let directory = tempfile::tempdir().unwrap();
        let endpoint = Endpoint::Unix("/run/x".into());
        let read = || SlowMark::read(directory.path(), &endpoint);
        assert!(!read().says_wait());
        read().note_slow();
        assert!(read().says_wait());
        assert!(!SlowMark::read(directory.path(), &Endpoint::Unix("/run/y".into())).says_wait());
        read().note_slow();
        assert_eq!(read().times, Some(1));
        read().note_answered();
        assert!(!read().says_wait());
    }

    #[test]
    fn only_the_first_shell_after_the_window_asks_again() {
        let directory = tempfile::tempdir().unwrap();
        let endpoint = Endpoint::Unix("/run/x".into());
        let read = || SlowMark::read(directory.path(), &endpoint);
        read().note_slow();
        let file = OpenOptions::new().write(true).open(&read().path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(5)).unwrap();
        assert!(!read().says_wait());
        assert!(read().says_wait());
    }
}
