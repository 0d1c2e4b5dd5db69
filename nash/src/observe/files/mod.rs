//! Files that redirections opened: noted when they are opened, read back when the command has ended.
//!
//! The command has the real descriptor; nothing stands between it and its file. What was opened by a process that then became the
//! command is read back by the one that waited for it. Special files are never touched.

mod read_back;

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use brush_core::gate::{RedirectEvent, RedirectTarget};
use nash_events::CmdId;
use nash_events::event::{Redirect, RedirectMode};
use serde::{Deserialize, Serialize};

use self::read_back::Identity;
pub(super) use self::read_back::ReadBack;
use super::data;

/// The files of redirections that are in force.
#[derive(Default)]
pub(super) struct Files {
    open: Mutex<State>,
}

#[derive(Default)]
struct State {
    opened: Vec<Opened>,
    /// The size of the file that is about to be opened, with its path.
    about_to_be: Option<(PathBuf, u64)>,
    /// The numbers that the newest command closes or leads elsewhere, in case it is an `exec`.
    closed: Vec<(CmdId, i32)>,
}

/// A file that a redirection opened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Opened {
    /// The command that it belongs to.
    pub command: Option<CmdId>,
    /// The redirection as it was told.
    pub told: Redirect,
    path: PathBuf,
    fd: i32,
    file: Identity,
    /// Its size before it was opened, in bytes.
    size_before: u64,
    /// Whether it stays open after its command, as what `exec` opens.
    #[serde(default)]
    stays: bool,
}

impl Files {
    /// Notes what is about to be opened: its size is lost when it is cut to nothing.
    pub(super) fn about_to_open(&self, redirect: &RedirectEvent<'_>) {
        let mut state = self.state();
        match redirect.target {
            RedirectTarget::Path(path) => {
                let size = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map_or(0, |file| file.len());
                state.about_to_be = Some((path.to_owned(), size));
            }
            RedirectTarget::Close | RedirectTarget::Fd(..)
                if redirect.command != 0 && state.opened.iter().any(|opened| opened.stays) =>
            {
                let command = CmdId(redirect.command);
                // Those of a command that turned out to be no `exec` mean nothing any more.
                state.closed.retain(|(by, _)| *by == command);
                state.closed.push((command, redirect.fd));
            }
            _ => {}
        }
    }

    /// Notes what was opened, if it is a regular file.
    pub(super) fn opened(&self, redirect: &RedirectEvent<'_>, file: BorrowedFd<'_>) {
        let RedirectTarget::Path(path) = redirect.target else { return };
        let Some((file, size)) = Identity::of_regular(file) else { return };
        let mut state = self.state();
        let before = state.about_to_be.take().filter(|(named, _)| named == path);
        let told = data::redirect(redirect, false);
        let size_before = match told.mode {
            Some(RedirectMode::Write) => before.map_or(0, |(_, size)| size),
            _ => size,
        };
        let command = (redirect.command != 0).then_some(CmdId(redirect.command));
        let path = path.to_owned();
        state.opened.push(Opened { command, told, path, fd: redirect.fd, file, size_before, stays: false });
    }

    /// Takes the files of a command that has ended.
    pub(super) fn of(&self, command: CmdId) -> Vec<Opened> {
        self.take(|opened| opened.command == Some(command) && !opened.stays)
    }

    /// Keeps what an `exec` without a command opened, until it is closed or led elsewhere; takes what that did to earlier ones.
    pub(super) fn keep(&self, command: CmdId) -> Vec<Opened> {
        let mut state = self.state();
        let closed = std::mem::take(&mut state.closed);
        let mut gone: Vec<i32> = closed.into_iter().filter(|(by, _)| *by == command).map(|(_, fd)| fd).collect();
        for opened in state.opened.iter_mut().filter(|opened| opened.command == Some(command)) {
            opened.stays = true;
            gone.push(opened.fd);
        }
        drop(state);
        self.take(|opened| opened.stays && opened.command != Some(command) && gone.contains(&opened.fd))
    }

    /// Keeps what was opened last with this number, until it is closed; takes what was closed.
    pub(super) fn lasting(&self, fd: i32, is_open: bool) -> Vec<Opened> {
        if !is_open {
            return self.take(|opened| opened.stays && opened.fd == fd);
        }
        if let Some(opened) = self.state().opened.iter_mut().rfind(|opened| opened.fd == fd) {
            opened.stays = true;
        }
        Vec::new()
    }

    /// Takes all: the shell ends.
    pub(super) fn rest(&self) -> Vec<Opened> {
        self.take(|_| true)
    }

    /// Lets a command's files go unread: it takes the shell's place.
    pub(super) fn let_go(&self, command: CmdId) {
        self.take(|opened| opened.command == Some(command));
    }

    /// Leaves them to the shell that this one was forked from.
    pub(super) fn forget(&self) {
        *self.state() = State::default();
    }

    fn take(&self, which: impl Fn(&Opened) -> bool) -> Vec<Opened> {
        let mut state = self.state();
        if state.opened.is_empty() {
            return Vec::new();
        }
        let (taken, left) = std::mem::take(&mut state.opened).into_iter().partition(|opened| which(opened));
        state.opened = left;
        taken
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Opened {
    /// Reads back what went through the redirection.
    pub(super) fn read_back(&self) -> ReadBack {
        let start = if self.told.mode == Some(RedirectMode::Append) { self.size_before } else { 0 };
        // Of what was read only the head is shown: hashing it all would be reading it a second time.
        let only_head = self.told.mode == Some(RedirectMode::Read);
        read_back::read(Path::new(&self.path), self.file, start, only_head)
    }

    /// The file's size before it was opened, in bytes.
    pub(super) fn size_before(&self) -> u64 {
        self.size_before
    }
}
