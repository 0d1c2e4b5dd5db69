//! Where programs were found, by their names: what `hash` shows.
//!
//! Stands in for upstream's `pathcache.rs`, which neither counts how often an entry was used, nor keeps bash's order, nor
//! notices that `PATH` has changed. Searching is not done here.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::associative::AssociativeArray;
use crate::{error, variables};

/// How many buckets bash's table has; its order is that of the buckets.
const BUCKETS: u32 = 256;

/// A program that was found.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Entry {
    path: PathBuf,
    hits: AtomicU32,
    /// Counts entries, since of one bucket the newest comes first.
    age: u64,
}

impl Clone for Entry {
    fn clone(&self) -> Self {
        Self { path: self.path.clone(), hits: self.hits.load(Ordering::Relaxed).into(), age: self.age }
    }
}

/// A table of programs that were found.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PathCache {
    entries: HashMap<String, Entry>,
    next_age: u64,
    /// The search path by which they were found.
    searched: String,
}

impl PathCache {
    /// Forgets everything.
    pub fn reset(&mut self) {
        self.entries.clear();
    }

    /// Forgets everything if the search path is another one now.
    pub fn follow(&mut self, path: &str) {
        if self.searched != path {
            self.entries.clear();
            path.clone_into(&mut self.searched);
        }
    }

    /// The path of a program, and counts that it was asked for.
    pub fn get<S: AsRef<str>>(&self, name: S) -> Option<PathBuf> {
        let entry = self.entries.get(name.as_ref())?;
        entry.hits.fetch_add(1, Ordering::Relaxed);
        Some(entry.path.clone())
    }

    /// The path of a program that was found by this search path; nothing is counted.
    pub(crate) fn peek(&self, name: &str, path: &str) -> Option<PathBuf> {
        self.entries.get(name).filter(|_| self.searched == path).map(|entry| entry.path.clone())
    }

    /// Enters a program that was found in order to be run.
    pub fn set<T: Into<String>>(&mut self, name: T, path: PathBuf) {
        self.enter(name.into(), path, 1);
    }

    /// Enters a program that was not run yet.
    pub fn remember(&mut self, name: &str, path: PathBuf) {
        self.enter(name.to_owned(), path, 0);
    }

    /// The table as the value of a variable.
    ///
    /// # Errors
    /// None that the table could give rise to.
    pub fn to_value(&self) -> Result<variables::ShellValue, error::Error> {
        let entries = self.entries().map(|(name, path, _)| (name.to_owned(), crate::bytes::encode_os(path)));
        Ok(variables::ShellValue::AssociativeArray(AssociativeArray::in_buckets(BUCKETS, entries)))
    }

    /// Forgets a program; says whether it was there.
    pub fn unset<S: AsRef<str>>(&mut self, name: S) -> bool {
        self.entries.remove(name.as_ref()).is_some()
    }

    /// Names, paths and how often they were used, in bash's order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &PathBuf, u32)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(name, entry)| (bucket(name), std::cmp::Reverse(entry.age)));
        entries.into_iter().map(|(name, entry)| (name.as_str(), &entry.path, entry.hits.load(Ordering::Relaxed)))
    }

    fn enter(&mut self, name: String, path: PathBuf, hits: u32) {
        let age = self.entries.get(&name).map_or(self.next_age, |entry| entry.age);
        self.next_age += 1;
        self.entries.insert(name, Entry { path, hits: hits.into(), age });
    }
}

/// The bucket that bash's hash function, a variant of FNV, gives a name.
fn bucket(name: &str) -> u32 {
    let hash = crate::bytes::decode(name)
        .iter()
        .fold(0x811c_9dc5_u32, |hash, byte| hash.wrapping_mul(0x0100_0193) ^ u32::from(*byte));
    hash % BUCKETS
}
