//! What one process did to files, folded as it comes: the same path in the same way is one entry with a count.
//!
//! Folding is what keeps memory in proportion to what is different, not to what happened. It does not depend on the order
//! of arrival: of equal opens, the first by time stands. Nothing here judges a path.

use std::sync::Arc;

use foldhash::HashMap;
use nash_events::ByteString;
use nash_events::kernel::{Mutation, MutationOp, Open, OpenVia, PathSource};

use super::Moment;

/// Files of one process that are kept by name: 20,000; a build's linker or a search of a source tree stays below it. Later
/// ones are counted.
pub(crate) const FILES_KEPT_MAX: usize = 20_000;

/// Bits of `open`'s flags, as Linux has them on every architecture that nash runs on.
const O_ACCMODE: u64 = 3;
const O_CREAT: u64 = 0o100;
const O_EXCL: u64 = 0o200;
const O_TRUNC: u64 = 0o1000;

/// What a shell's journal is called, behind the shell's id.
const JOURNAL_ENDING: &[u8] = b".journal";

/// The files of one process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    pub(crate) opens: HashMap<OpenKey, Tally>,
    pub(crate) mutations: HashMap<MutationKey, Tally>,
    /// Events beyond [`FILES_KEPT_MAX`].
    pub(crate) not_kept: u64,
}

/// What makes two opens the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct OpenKey {
    pub(crate) path: Option<Arc<[u8]>>,
    pub(crate) writes: bool,
    /// Whether it makes a journal that was not there: what opens that afterwards is something else.
    pub(crate) makes_journal: bool,
    /// 0, or the error's number.
    pub(crate) errno: i64,
}

/// What makes two changes the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct MutationKey {
    pub(crate) op: MutationOp,
    pub(crate) path: Option<Arc<[u8]>>,
    pub(crate) new_path: Option<Arc<[u8]>>,
    pub(crate) errno: i64,
}

/// How often, and what the first of them said.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) count: u64,
    pub(crate) first: Moment,
    pub(crate) last_ts: Option<f64>,
    pub(crate) detail: Detail,
}

/// What the first of equal events said beside its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Detail {
    pub(crate) flags: Option<u64>,
    pub(crate) mode: Option<u32>,
    pub(crate) result: Option<i64>,
    pub(crate) dev: Option<u64>,
    pub(crate) ino: Option<u64>,
    pub(crate) path_source: Option<PathSource>,
    pub(crate) path_truncated: bool,
    pub(crate) via: Option<OpenVia>,
    pub(crate) size: Option<u64>,
    pub(crate) owner: Option<(Option<u32>, Option<u32>)>,
    pub(crate) redacted: Vec<String>,
}

/// Paths that many processes share, kept once each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths(foldhash::HashSet<Arc<[u8]>>);

impl Paths {
    /// Forgets what nobody uses any more.
    pub(crate) fn sweep(&mut self) {
        self.0.retain(|path| Arc::strong_count(path) > 1);
    }

    /// The shared copy of a path.
    fn share(&mut self, path: Option<&ByteString>) -> Option<Arc<[u8]>> {
        let path = path?.as_bytes();
        if let Some(known) = self.0.get(path) {
            return Some(Arc::clone(known));
        }
        let shared: Arc<[u8]> = path.into();
        self.0.insert(Arc::clone(&shared));
        Some(shared)
    }
}

impl Files {
    /// Takes an `open`.
    pub(crate) fn open(&mut self, open: &Open, at: &Moment, paths: &mut Paths, room: bool) {
        let errno = open.result.map_or(0, |result| (-result).max(0));
        let path = paths.share(open.path.as_ref());
        let is_journal = path.as_ref().is_some_and(|path| path.ends_with(JOURNAL_ENDING));
        let makes_journal = is_journal && open.flags.is_some_and(|flags| flags & O_EXCL != 0);
        let key = OpenKey { path, writes: writes(open.flags), makes_journal, errno };
        let detail = Detail {
            flags: open.flags,
            mode: open.mode,
            result: open.result,
            dev: open.dev,
            ino: open.ino,
            path_source: open.path_source.clone(),
            path_truncated: open.path_truncated,
            via: open.via.clone(),
            redacted: open.redacted.clone(),
            ..Detail::default()
        };
        let full = !room || self.is_full();
        match self.opens.get_mut(&key) {
            Some(tally) => tally.add(at, detail),
            None if full => self.not_kept += 1,
            None => _ = self.opens.insert(key, Tally::new(at, detail)),
        }
    }

    /// Takes a change to the file system.
    pub(crate) fn mutation(&mut self, told: &Mutation, at: &Moment, paths: &mut Paths, room: bool) {
        let key = MutationKey {
            op: told.op,
            path: paths.share(told.path.as_ref()),
            new_path: paths.share(told.new_path.as_ref()),
            errno: told.result.map_or(0, |result| (-result).max(0)),
        };
        let owner = (told.new_uid.is_some() || told.new_gid.is_some()).then_some((told.new_uid, told.new_gid));
        let detail = Detail {
            mode: told.mode,
            result: told.result,
            dev: told.dev,
            ino: told.ino,
            path_source: told.path_source.clone(),
            size: told.size,
            owner,
            redacted: told.redacted.clone(),
            ..Detail::default()
        };
        let full = !room || self.is_full();
        match self.mutations.get_mut(&key) {
            Some(tally) => tally.add(at, detail),
            None if full => self.not_kept += 1,
            None => _ = self.mutations.insert(key, Tally::new(at, detail)),
        }
    }

    /// Files that are kept by name.
    pub(crate) fn len(&self) -> usize {
        self.opens.len() + self.mutations.len()
    }

    fn is_full(&self) -> bool {
        self.len() >= FILES_KEPT_MAX
    }
}

impl Tally {
    fn new(at: &Moment, detail: Detail) -> Self {
        Self { count: 1, first: at.clone(), last_ts: at.ts, detail }
    }

    fn add(&mut self, at: &Moment, detail: Detail) {
        self.count += 1;
        self.last_ts = match (self.last_ts, at.ts) {
            (Some(known), Some(told)) => Some(known.max(told)),
            (known, told) => known.or(told),
        };
        if at.is_before(&self.first) {
            (self.first, self.detail) = (at.clone(), detail);
        }
    }
}

/// Whether flags of `open` allow a change to the file.
pub(crate) fn writes(flags: Option<u64>) -> bool {
    flags.is_some_and(|flags| flags & O_ACCMODE != 0 || flags & (O_CREAT | O_TRUNC) != 0)
}

/// Whether an open takes a file to write to whether it is there or not, as redirections do, and nash with a journal never.
pub(crate) fn takes_any(flags: Option<u64>) -> bool {
    flags.is_some_and(|flags| flags & (O_CREAT | O_EXCL) == O_CREAT)
}

#[cfg(test)]
mod tests {
    use nash_events::{KernelEvent, KernelEventKind, Seq};

    use super::*;

    fn at(seq: u64) -> Moment {
        let kind = KernelEventKind::Open(Box::default());
        let actor = nash_events::kernel::Actor::default();
        Moment::of(&"o".into(), &KernelEvent { seq: Seq(seq), ts: None, boot_ns: Some(seq), actor, kind })
    }

    fn open(path: &str) -> Open {
        Open { path: Some(path.into()), result: Some(3), ..Open::default() }
    }

    #[test]
    fn equal_opens_are_one_entry_that_the_first_by_time_stands_for() {
        let (mut files, mut paths) = (Files::default(), Paths::default());
        for seq in [3, 1, 2] {
            files.open(&open("/a"), &at(seq), &mut paths, true);
        }
        let tally = files.opens.values().next().unwrap();
        assert_eq!((files.len(), tally.count, tally.first.seq), (1, 3, Seq(1)));
    }

    #[test]
    fn without_room_what_is_new_is_counted_and_what_is_known_goes_on() {
        let (mut files, mut paths) = (Files::default(), Paths::default());
        files.open(&open("/a"), &at(1), &mut paths, true);
        files.open(&open("/a"), &at(2), &mut paths, false);
        files.open(&open("/b"), &at(3), &mut paths, false);
        assert_eq!((files.len(), files.not_kept), (1, 1));
        drop(files);
        paths.sweep();
        assert!(paths.0.is_empty());
    }
}
