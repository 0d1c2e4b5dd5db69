//! Associative arrays, in the order in which bash lists them.
//!
//! Upstream has no such file: it keeps them sorted. The order is that of bash's hash table, found by trying: scripts print it,
//! and what they print is stored and compared. Keys are hashed as the bytes they stand for.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::collections::BTreeMap;

use crate::bytes;

/// How many buckets an array begins with.
const BUCKETS_AT_FIRST: u32 = 1024;
/// The array grows when it has this many entries for each bucket.
const ENTRIES_PER_BUCKET: usize = 2;
/// By how much it grows.
const GROWTH: u32 = 4;

/// Keys and their values.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AssociativeArray {
    /// Entries by bucket; within one, the newest is last.
    buckets: BTreeMap<u32, Vec<Entry>>,
    bucket_count: u32,
    length: usize,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Entry {
    key: String,
    value: String,
    hash: u32,
}

impl Default for AssociativeArray {
    fn default() -> Self {
        Self { buckets: BTreeMap::new(), bucket_count: BUCKETS_AT_FIRST, length: 0 }
    }
}

impl AssociativeArray {
    /// An empty array.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The names in the order of a table that begins with another number of buckets.
    pub(crate) fn with_buckets(names: &[String], bucket_count: u32) -> Self {
        Self::in_buckets(bucket_count, names.iter().map(|name| (name.clone(), String::new())))
    }

    /// The entries in the order of a table that begins with another number of buckets.
    pub(crate) fn in_buckets(bucket_count: u32, entries: impl Iterator<Item = (String, String)>) -> Self {
        let mut array = Self { bucket_count, ..Self::default() };
        for (key, value) in entries {
            array.insert(key, value);
        }
        array
    }

    /// How many keys there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no key.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&String> {
        let bucket = self.buckets.get(&(hash(key) & (self.bucket_count - 1)))?;
        bucket.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// Whether there is such a key.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets a key's value and gives the one it had.
    pub fn insert(&mut self, key: String, value: String) -> Option<String> {
        let hash = hash(&key);
        if let Some(bucket) = self.buckets.get_mut(&(hash & (self.bucket_count - 1)))
            && let Some(entry) = bucket.iter_mut().find(|entry| entry.key == key)
        {
            return Some(std::mem::replace(&mut entry.value, value));
        }
        if self.length >= self.bucket_count as usize * ENTRIES_PER_BUCKET {
            self.grow();
        }
        self.length += 1;
        self.buckets.entry(hash & (self.bucket_count - 1)).or_default().push(Entry { key, value, hash });
        None
    }

    /// Removes a key and gives its value.
    pub fn remove(&mut self, key: &str) -> Option<String> {
        let bucket = self.buckets.get_mut(&(hash(key) & (self.bucket_count - 1)))?;
        let at = bucket.iter().position(|entry| entry.key == key)?;
        self.length -= 1;
        Some(bucket.remove(at).value)
    }

    /// Keys and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &String)> {
        self.buckets.values().flat_map(|bucket| bucket.iter().rev()).map(|entry| (&entry.key, &entry.value))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.iter().map(|(key, _)| key)
    }

    /// The values in order.
    pub fn values(&self) -> impl Iterator<Item = &String> {
        self.iter().map(|(_, value)| value)
    }

    fn grow(&mut self) {
        self.bucket_count *= GROWTH;
        for (_, bucket) in std::mem::take(&mut self.buckets) {
            for entry in bucket.into_iter().rev() {
                self.buckets.entry(entry.hash & (self.bucket_count - 1)).or_default().push(entry);
            }
        }
    }
}

impl FromIterator<(String, String)> for AssociativeArray {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(entries: I) -> Self {
        let mut array = Self::default();
        for (key, value) in entries {
            array.insert(key, value);
        }
        array
    }
}

/// The hash of FNV-1 over the key's bytes, each of which counts as signed.
fn hash(key: &str) -> u32 {
    const OFFSET: u32 = 2_166_136_261;
    const PRIME: u32 = 16_777_619;
    bytes::decode(key)
        .iter()
        .fold(OFFSET, |hash, byte| hash.wrapping_mul(PRIME) ^ i32::from(byte.cast_signed()).cast_unsigned())
}
