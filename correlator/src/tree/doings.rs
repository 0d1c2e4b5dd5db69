//! What processes did to files and others, in a few words: changes by name, reading by count.
//!
//! A file that was written and removed again is a temporary one, and one that was written and renamed is the new name's. What
//! nearly every program reads is only counted. The story's data has it all.

use foldhash::{HashMap, HashSet};
use nash_events::KernelEventKind;
use nash_events::kernel::{Connect, MutationOp};

use super::Options;
use super::figures::signal_name;
use crate::paint::{Style, Text};
use crate::story::Effect;
use crate::terminal_text::{quote, visible};

/// Files of one sort that are named: 3, and one more where that is the last; the others are counted.
const NAMED_MAX: usize = 3;

/// Files that were only read are named up to this number: 2, as with `cat` or `diff`.
const READ_NAMED_MAX: usize = 2;

/// Numbers of the errors that are told apart: no such file, not a directory, and two refusals.
const ENOENT: i64 = 2;
const ENOTDIR: i64 = 20;
const EACCES: i64 = 13;
const EPERM: i64 = 1;

/// Bits of `open`'s flags: `O_DIRECTORY`, as x86 has it and as ARM does.
const O_DIRECTORY: u64 = 0o200_000 | 0o40_000;

/// What was done, sorted by what a person asks for.
#[derive(Default)]
struct Doings<'a> {
    wrote: Vec<&'a [u8]>,
    removed: Vec<&'a [u8]>,
    moved: Vec<(&'a [u8], &'a [u8])>,
    made: Vec<&'a [u8]>,
    changed: Vec<(&'static str, &'a [u8])>,
    read: Vec<&'a [u8]>,
    background: HashSet<&'a [u8]>,
    missing: HashSet<&'a [u8]>,
    refused: Vec<&'a [u8]>,
    reached: Vec<String>,
    notable: Vec<String>,
}

/// A line's worth of phrases; nothing where there is nothing to say.
pub(super) fn phrases<'a>(
    effects: impl Iterator<Item = &'a Effect>,
    cwd: Option<&[u8]>,
    options: &Options,
) -> Vec<(Style, String)> {
    let mut doings = Doings::default();
    for effect in effects {
        doings.take(effect);
    }
    doings.settle();
    doings.tell(cwd, options)
}

impl<'a> Doings<'a> {
    fn take(&mut self, effect: &'a Effect) {
        match &effect.what {
            KernelEventKind::Open(open) => {
                let path = open.path.as_ref().map_or(&b"?"[..], |path| path.as_bytes());
                let errno = open.result.map_or(0, |result| (-result).max(0));
                let writes = crate::kernel::effects::writes(open.flags);
                match errno {
                    0 if effect.background => _ = self.background.insert(path),
                    0 if writes => self.wrote.push(path),
                    // A directory that is listed is no file that is read.
                    0 if open.flags.is_some_and(|flags| flags & O_DIRECTORY != 0) => {}
                    0 => self.read.push(path),
                    ENOENT | ENOTDIR => _ = self.missing.insert(path),
                    EACCES | EPERM => self.refused.push(path),
                    _ => {}
                }
            }
            KernelEventKind::Mutation(told) => {
                let path = told.path.as_ref().map_or(&b"?"[..], |path| path.as_bytes());
                let new_path = told.new_path.as_ref().map_or(&b"?"[..], |path| path.as_bytes());
                if told.result.is_some_and(|result| result < 0) {
                    if matches!(told.result, Some(result) if -result == EACCES || -result == EPERM) {
                        self.refused.push(path);
                    }
                    return;
                }
                match told.op {
                    MutationOp::Unlink | MutationOp::Rmdir => self.removed.push(path),
                    MutationOp::Rename => self.moved.push((path, new_path)),
                    MutationOp::Link | MutationOp::Symlink => self.made.push(new_path),
                    MutationOp::Mkdir | MutationOp::Mknod => self.made.push(path),
                    MutationOp::Truncate => self.wrote.push(path),
                    MutationOp::Chmod => self.changed.push(("mode", path)),
                    MutationOp::Chown => self.changed.push(("owner", path)),
                }
            }
            what => self.take_other(what, effect.count, effect.background),
        }
    }

    fn take_other(&mut self, what: &KernelEventKind, count: u64, background: bool) {
        let times = if count > 1 { format!(" ×{count}") } else { String::new() };
        let failed = |result: Option<i64>| if result.is_some_and(|result| result < 0) { ", refused" } else { "" };
        match what {
            KernelEventKind::Connect(_) if background => {}
            KernelEventKind::Connect(connect) => {
                // A connection that does not wait is in progress, not refused.
                const EINPROGRESS: i64 = 115;
                let tried = connect.result.is_some_and(|result| result < 0 && -result != EINPROGRESS);
                self.reached.push(format!("{}{}", address(connect), if tried { ", in vain" } else { "" }));
            }
            // A socket to the kernel itself has neither address nor path.
            KernelEventKind::Bind(bind) if bind.address.is_none() && bind.path.is_none() => {}
            KernelEventKind::Bind(bind) if bind.result.is_none_or(|result| result >= 0) => {
                self.notable.push(format!("bound to {}{times}", address(bind)));
            }
            KernelEventKind::Kill(kill) => {
                let to = kill.target_pid.map_or_else(|| "a group".to_owned(), |pid| format!("process {pid}"));
                self.notable.push(format!("sent {} to {to}{times}{}", signal_name(kill.signal), failed(kill.result)));
            }
            KernelEventKind::Ptrace(ptrace) => {
                let into = ptrace.target_pid.map_or_else(String::new, |pid| format!(" process {pid}"));
                let via = visible(ptrace.via.as_bytes());
                self.notable.push(format!("reached into{into} by {via}{times}{}", failed(ptrace.result)));
            }
            KernelEventKind::Namespace(namespace) => {
                let via = visible(namespace.via.as_bytes());
                self.notable.push(format!("changed namespaces by {via}{times}{}", failed(namespace.result)));
            }
            KernelEventKind::Mount(mount) => {
                let at = mount.path.as_ref().map_or_else(String::new, |path| format!(" {}", quote(path.as_bytes())));
                self.notable.push(format!("{}{at}{times}{}", visible(mount.via.as_bytes()), failed(mount.result)));
            }
            KernelEventKind::Memfd(_) => self.notable.push(format!("made a file in memory{times}")),
            _ => {}
        }
    }

    /// Joins what belongs together, so that it is told once.
    fn settle(&mut self) {
        let moved: HashMap<&[u8], &[u8]> = self.moved.iter().copied().collect();
        for path in &mut self.wrote {
            if let Some(new) = moved.get(path) {
                *path = new;
            }
        }
        for (_, path) in &mut self.changed {
            if let Some(new) = moved.get(path) {
                *path = new;
            }
        }
        let written: HashSet<&[u8]> = self.wrote.iter().chain(&self.made).copied().collect();
        // A written file that was renamed is told as written under its new name.
        self.moved.retain(|(_, new)| !written.contains(new));
        let removed: HashSet<&[u8]> = self.removed.iter().copied().collect();
        self.removed.retain(|path| !written.contains(path));
        self.wrote.retain(|path| !removed.contains(path));
        self.made.retain(|path| !removed.contains(path));
        self.read.retain(|path| !written.contains(path));
        for list in [&mut self.wrote, &mut self.removed, &mut self.made, &mut self.read, &mut self.refused] {
            let mut known = HashSet::default();
            list.retain(|path| known.insert(*path));
        }
        self.changed.retain(|(_, path)| !removed.contains(path));
        let mut changed = HashSet::default();
        self.changed.retain(|change| changed.insert(*change));
        let temporary = removed.intersection(&written).count();
        match temporary {
            0 => {}
            1 => self.notable.push("1 temporary file".to_owned()),
            many => self.notable.push(format!("{many} temporary files")),
        }
        for list in [&mut self.reached, &mut self.notable] {
            let mut known = HashSet::default();
            list.retain(|said| known.insert(said.clone()));
        }
    }

    fn tell(&self, cwd: Option<&[u8]>, options: &Options) -> Vec<(Style, String)> {
        let mut said = Vec::new();
        let mut say = |style, verb: &str, paths: &[&[u8]]| {
            if !paths.is_empty() {
                said.push((style, format!("{verb} {}", names(paths, cwd, NAMED_MAX))));
            }
        };
        say(Style::Plain, "wrote", &self.wrote);
        say(Style::Plain, "made", &self.made);
        say(Style::Plain, "removed", &self.removed);
        for what in ["mode", "owner"] {
            let paths: Vec<&[u8]> =
                self.changed.iter().filter(|(changed, _)| *changed == what).map(|(_, path)| *path).collect();
            say(Style::Plain, &format!("changed the {what} of"), &paths);
        }
        say(Style::Warn, "was refused", &self.refused);
        for (old, new) in self.moved.iter().take(NAMED_MAX) {
            let arrow = options.arrow();
            said.push((Style::Plain, format!("renamed {} {arrow} {}", name(old, cwd), name(new, cwd))));
        }
        if self.moved.len() > NAMED_MAX {
            said.push((Style::Plain, format!("renamed {} more", self.moved.len() - NAMED_MAX)));
        }
        if !self.reached.is_empty() {
            let shown: Vec<&str> = self.reached.iter().take(NAMED_MAX).map(String::as_str).collect();
            let more = self.reached.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            said.push((Style::Plain, format!("connected to {}{more}", shown.join(", "))));
        }
        said.extend(self.notable.iter().map(|notable| (Style::Plain, notable.clone())));
        said.extend(self.reading(cwd).map(|reading| (Style::Dim, reading)));
        said
    }

    /// What was read, in a few words; nothing where it was the background alone.
    fn reading(&self, cwd: Option<&[u8]>) -> Option<String> {
        let mut aside = Vec::new();
        if !self.background.is_empty() {
            aside.push(format!("{} of the system", self.background.len()));
        }
        if !self.missing.is_empty() {
            aside.push(format!("{} not there", self.missing.len()));
        }
        if self.read.is_empty() {
            return None;
        }
        let aside = if aside.is_empty() { String::new() } else { format!(" (+{})", aside.join(", ")) };
        let read = if self.read.len() <= READ_NAMED_MAX {
            names(&self.read, cwd, READ_NAMED_MAX)
        } else {
            format!("{} files", self.read.len())
        };
        Some(format!("read {read}{aside}"))
    }
}

/// Names a few, and counts the others by the directory that they share.
fn names(paths: &[&[u8]], cwd: Option<&[u8]>, limit: usize) -> String {
    if paths.len() <= limit + 1 {
        let all: Vec<String> = paths.iter().map(|path| name(path, cwd)).collect();
        return all.join(", ");
    }
    let directory = shared_directory(paths);
    if directory.len() > 1 && Some(directory) != cwd {
        return format!("{} files in {}", paths.len(), name(directory, cwd));
    }
    let shown: Vec<String> = paths.iter().take(limit).map(|path| name(path, cwd)).collect();
    format!("{} and {} more", shown.join(", "), paths.len() - limit)
}

/// The directory that is common to all.
fn shared_directory<'a>(paths: &[&'a [u8]]) -> &'a [u8] {
    let Some((first, others)) = paths.split_first() else { return b"" };
    let mut shared = parent(first);
    for other in others {
        while !shared.is_empty() && !is_below(other, shared) {
            shared = parent(shared);
        }
    }
    shared
}

fn parent(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte == b'/').map_or(b"", |at| &path[..at])
}

fn is_below(path: &[u8], directory: &[u8]) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with(b"/"))
}

/// A path as it is seen from a directory.
fn name(path: &[u8], cwd: Option<&[u8]>) -> String {
    let below = cwd.filter(|cwd| cwd.len() > 1).and_then(|cwd| path.strip_prefix(cwd)?.strip_prefix(b"/"));
    quote(below.filter(|below| !below.is_empty()).unwrap_or(path))
}

/// Where a socket leads.
fn address(connect: &Connect) -> String {
    if let Some(path) = &connect.path {
        let path = path.as_bytes();
        return path.strip_prefix(b"\0").map_or_else(|| quote(path), |name| format!("@{}", visible(name)));
    }
    let address = connect.address.as_deref().unwrap_or("?");
    let port = connect.port.map(|port| format!(":{port}")).unwrap_or_default();
    let shown = if address.contains(':') { format!("[{address}]") } else { address.to_owned() };
    visible(format!("{shown}{port}").as_bytes())
}

/// Packs phrases into lines of about so many columns.
pub(super) fn pack(phrases: Vec<(Style, String)>, columns: usize) -> Vec<Text> {
    let mut lines: Vec<Text> = Vec::new();
    for (style, phrase) in phrases {
        let width = phrase.chars().count() + 2;
        match lines.last_mut() {
            Some(line) if line.width() + width <= columns => {
                line.push(Style::Dim, "; ").push(style, phrase);
            }
            _ => {
                let mut line = Text::new();
                line.push(style, phrase);
                lines.push(line);
            }
        }
    }
    lines
}
