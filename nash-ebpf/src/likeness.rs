//! Files that are a preserved shell under another inode: told by their content.
//!
//! Only a file of a preserved shell's size is read, and each once. How the copy was made is not asked; what can't be read (a file
//! in memory, one whose process is gone with its name) is not judged.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nash_events::kernel::{Actor, Exec};
use sha2::{Digest, Sha256};

/// Files whose content is remembered: 1024; when there are more, what is known is forgotten and read again.
const REMEMBERED_MAX: usize = 1024;

/// Bytes that are read at a time: 64 KiB.
const BLOCK_BYTES: usize = 64 << 10;

/// A file as it was when it was read: device, inode, size, and when its content changed.
type State = (u64, u64, u64, i64, i64);

/// Knows preserved shells by their content.
#[derive(Debug, Default)]
pub struct Likeness {
    /// Sizes in bytes with SHA-256 in hexadecimal.
    known: Vec<(u64, String)>,
    read: HashMap<State, Option<String>>,
}

impl Likeness {
    /// Reads the preserved shells.
    ///
    /// # Errors
    /// One of them can't be read.
    pub fn of(preserved: &[PathBuf]) -> io::Result<Self> {
        let mut known = Vec::new();
        for path in preserved {
            let file = File::open(path)?;
            known.push((file.metadata()?.len(), digest(file)?));
        }
        Ok(Self { known, read: HashMap::new() })
    }

    /// The SHA-256 of the file that was executed, if that is a preserved shell's.
    pub fn digest_of(&mut self, actor: &Actor, exec: &Exec) -> Option<String> {
        if self.known.is_empty() || exec.result.is_some() {
            return None;
        }
        let (file, state) = open(actor, exec)?;
        if !self.known.iter().any(|(size, _)| *size == state.2) {
            return None;
        }
        if let Some(found) = self.read.get(&state) {
            return found.clone();
        }
        let found = digest(file).ok().filter(|digest| self.known.iter().any(|(_, known)| known == digest));
        if self.read.len() >= REMEMBERED_MAX {
            self.read.clear();
        }
        self.read.insert(state, found.clone());
        found
    }
}

/// Opens the executed file, by its process or by its name; nothing but that very file.
fn open(actor: &Actor, exec: &Exec) -> Option<(File, State)> {
    let by_process = actor.pid.map(|pid| PathBuf::from(format!("/proc/{pid}/exe")));
    let by_name = exec.path.as_ref().map(|path| Path::new(std::ffi::OsStr::from_bytes(path.as_bytes())).to_owned());
    by_process.into_iter().chain(by_name).find_map(|path| {
        // Looked at before it is opened: a name may lead to a pipe meanwhile.
        let facts = std::fs::metadata(&path).ok().filter(|facts| facts.is_file() && exec.ino == Some(facts.ino()))?;
        let state = (facts.dev(), facts.ino(), facts.len(), facts.ctime(), facts.ctime_nsec());
        Some((File::open(&path).ok()?, state))
    })
}

fn digest(mut file: File) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let length = file.read(&mut block)?;
        if length == 0 {
            break;
        }
        hash.update(&block[..length]);
    }
    let mut text = String::new();
    for byte in hash.finalize() {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_known_by_its_content_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("real"), "shell").unwrap();
        std::fs::write(path("copy"), "shell").unwrap();
        std::fs::write(path("like"), "Shell").unwrap();
        std::fs::write(path("other"), "something else").unwrap();
        let mut likeness = Likeness::of(&[path("real")]).unwrap();
        let mut judge = |name: &str| {
            let ino = std::fs::metadata(path(name)).unwrap().ino();
            let exec = Exec { path: Some(path(name).as_os_str().as_bytes().into()), ino: Some(ino), ..Exec::default() };
            likeness.digest_of(&Actor::default(), &exec)
        };
        let expected = digest(File::open(path("real")).unwrap()).unwrap();
        assert_eq!(expected.len(), 64);
        assert_eq!(judge("copy").as_ref(), Some(&expected));
        assert_eq!((judge("like"), judge("other")), (None, None));
        std::fs::write(path("copy"), "SHELL").unwrap();
        std::fs::write(path("like"), "shell").unwrap();
        assert_eq!(judge("like"), Some(expected), "what it holds now counts");
    }

    #[test]
    fn a_preserved_shell_that_can_not_be_read_is_an_error() {
        assert!(Likeness::of(&["/no/such/shell".into()]).is_err());
    }
}
