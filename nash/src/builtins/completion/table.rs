//! The specifications that `complete` has been told, by the names of commands.
//!
//! They are listed in the order of bash's table.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::specification::Specification;

/// How many buckets bash's table has; its order is that of the buckets.
const BUCKETS: u32 = 512;

/// The table; of one bucket the newest comes first.
static TABLE: Mutex<Vec<(String, Specification)>> = Mutex::new(Vec::new());

fn table() -> MutexGuard<'static, Vec<(String, Specification)>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The names by which bash keeps what holds for no command of its own.
pub(super) fn special(letter: &str) -> Option<&'static str> {
    match letter {
        "D" => Some("_DefaultCmD_"),
        "E" => Some("_EmptycmD_"),
        "I" => Some("_InitialWorD_"),
        _ => None,
    }
}

/// A name as it is listed.
pub(super) fn shown(name: &str) -> &str {
    match name {
        "_DefaultCmD_" => "-D",
        "_EmptycmD_" => "-E",
        "_InitialWorD_" => "-I",
        "" => "''",
        _ => name,
    }
}

pub(super) fn get(name: &str) -> Option<Specification> {
    table().iter().find(|(known, _)| known == name).map(|(_, specification)| specification.clone())
}

pub(super) fn set(name: &str, specification: Specification) {
    let mut table = table();
    match table.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => *known = specification,
        None => table.push((name.to_owned(), specification)),
    }
}

pub(super) fn remove(name: &str) -> bool {
    let mut table = table();
    let before = table.len();
    table.retain(|(known, _)| known != name);
    table.len() < before
}

pub(super) fn clear() {
    table().clear();
}

/// Everything, in the order in which bash lists it.
pub(super) fn all() -> Vec<(String, Specification)> {
    let mut all: Vec<_> = table().iter().rev().cloned().collect();
    all.sort_by_key(|(name, _)| bucket(name));
    all
}

/// The bucket that bash's hash function, a variant of FNV, gives a name.
fn bucket(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5_u32, |hash, byte| hash.wrapping_mul(0x0100_0193) ^ u32::from(byte)) % BUCKETS
}
