//! Files that are a known shell, or the dynamic loader, under another inode or name: told by their content.
//!
//! Headers of every executed file are read once; more only of one that may be such a copy. How a copy was made is not asked; what
//! can't be read (a file in memory, one whose process is gone with its name) is not judged.

mod content;
mod known;

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nash_events::ByteString;
use nash_events::kernel::{Actor, Exec};

use content::{Head, digest};
use known::{Known, Role};

/// Files whose content is remembered: 1024; when there are more, what is known is forgotten and read again.
const REMEMBERED_MAX: usize = 1024;

/// A file as it was when it was read: device, inode, size, and when its content changed.
type State = (u64, u64, u64, i64, i64);

/// Knows shells by their content.
#[derive(Debug, Default)]
pub struct Likeness {
    known: Vec<Known>,
    read: HashMap<State, Found>,
}

/// What is known of one file.
#[derive(Clone, Debug, Default)]
struct Found {
    build_id: Option<String>,
    sha256: Option<String>,
    /// Which known file it is like.
    like: Option<usize>,
}

impl Likeness {
    /// Reads the preserved shells, the machine's own, and nash, which may stand in the place of one.
    ///
    /// # Errors
    /// A preserved shell can't be read.
    pub fn of(preserved: &[PathBuf], nash: &[PathBuf]) -> io::Result<Self> {
        Ok(Self { known: known::read(preserved, nash)?, read: HashMap::new() })
    }

    /// Says of a program that was executed what its file is; of a copy of a preserved shell or of nash, as which image it counts.
    pub fn tell(&mut self, actor: &Actor, exec: &mut Exec) -> Option<&'static str> {
        if self.known.is_empty() || exec.result.is_some() {
            return None;
        }
        let (path, state) = place(actor, exec)?;
        let found = self.found(&path, state);
        exec.build_id = found.build_id;
        let like = self.known.get(found.like?)?;
        let is_itself = like.file == (state.0, state.1);
        let has_its_name = exec.path.as_ref().is_some_and(|path| path.as_bytes() == like.path.as_os_str().as_bytes());
        // What stands in a shell's place is called as one, and is none.
        if !(is_itself && has_its_name) && like.role != Role::Nash {
            exec.same_as = Some(ByteString::from(like.path.as_os_str().as_bytes()));
        }
        if !is_itself {
            exec.sha256 = found.sha256;
        }
        match like.role {
            Role::Preserved if !is_itself => Some("preserved"),
            Role::Nash if !is_itself => Some("nash"),
            _ => None,
        }
    }

    fn found(&mut self, path: &Path, state: State) -> Found {
        if let Some(found) = self.read.get(&state) {
            return found.clone();
        }
        let found = open(path, state).map(|file| self.look(file, state)).unwrap_or_default();
        if self.read.len() >= REMEMBERED_MAX {
            self.read.clear();
        }
        self.read.insert(state, found.clone());
        found
    }

    /// What a file is: itself first, then by all of its content, then by its build id, then by most of its content. Of two that say
    /// the same, the preserved shell comes first.
    fn look(&self, file: File, state: State) -> Found {
        let (dev, ino, size, ..) = state;
        let Head { build_id, .. } = Head::of(&file);
        let place = |is_it: &dyn Fn(&Known) -> bool| self.known.iter().position(is_it);
        if let Some(itself) = place(&|known| known.file == (dev, ino)) {
            return Found { build_id, sha256: None, like: Some(itself) };
        }
        let like = place(&|known| build_id.is_some() && known.build_id == build_id)
            .or_else(|| place(&|known| is_about(size, known.size) && known.samples.are_in(&file)));
        let is_worth_it = like.is_some_and(|like| is_about(size, self.known[like].size));
        let is_as_long = self.known.iter().any(|known| known.size == size);
        let sha256 = if is_worth_it || is_as_long { digest(file, size).ok() } else { None };
        let same = sha256.as_ref().and_then(|hash| place(&|known| known.size == size && known.sha256 == *hash));
        let like = same.or(like);
        Found { build_id, sha256: sha256.filter(|_| like.is_some()), like }
    }
}

/// Whether a file is as long as another, up to a quarter more or less: what is appended or cut does not make it another program.
fn is_about(size: u64, known: u64) -> bool {
    size.abs_diff(known) <= known / 4
}

/// Where the executed file can be opened, by its process or by its name; nothing but that very file.
fn place(actor: &Actor, exec: &Exec) -> Option<(PathBuf, State)> {
    let by_process = actor.pid.map(|pid| PathBuf::from(format!("/proc/{pid}/exe")));
    let by_name = exec.path.as_ref().map(|path| Path::new(std::ffi::OsStr::from_bytes(path.as_bytes())).to_owned());
    by_process.into_iter().chain(by_name).find_map(|path| {
        let facts = std::fs::metadata(&path).ok().filter(|facts| facts.is_file() && exec.ino == Some(facts.ino()))?;
        Some((path, state(&facts)))
    })
}

/// Opens a file as it was when it was looked at. A name may lead elsewhere meanwhile, to a pipe, say, which is not waited for.
fn open(path: &Path, known: State) -> Option<File> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    let facts = file.metadata().ok()?;
    (facts.is_file() && state(&facts) == known).then_some(file)
}

fn state(facts: &Metadata) -> State {
    (facts.dev(), facts.ino(), facts.len(), facts.ctime(), facts.ctime_nsec())
}

#[cfg(test)]
mod tests;
