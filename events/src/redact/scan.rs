//! The search: one pass over the input that wakes a rule only where one of its keywords stands.
//!
//! The pass rolls a hash of three bytes (five bits each, so that case folds away) over the input and looks it up in a
//! 4 KiB bitmap that the compiler worked out from the rule tables: nothing is built when a shell starts, and a command
//! line without a keyword costs about a nanosecond a byte. It does not replace anything.

use super::bytes::{Look, Set, Text};
use super::rule::{Hit, Rule, Shape};
use super::rules::FAMILIES;

/// Bytes in the rolling hash.
const GRAM_LEN: usize = 3;
/// Number of different hashes: five bits a byte.
const GRAM_COUNT: usize = 1 << (5 * GRAM_LEN);

/// A keyword in the index: the hash of its start, and where it stands in the tables.
#[derive(Clone, Copy)]
struct Entry {
    gram: u16,
    family: u8,
    rule: u8,
    keyword: u8,
}

static ENTRIES: [Entry; entry_count()] = sorted_entries();

static BITMAP: [u64; GRAM_COUNT / 64] = {
    let entries = sorted_entries::<{ entry_count() }>();
    let mut bitmap = [0; GRAM_COUNT / 64];
    let mut index = 0;
    while index < entries.len() {
        let gram = entries[index].gram as usize;
        bitmap[gram / 64] |= 1 << (gram % 64);
        index += 1;
    }
    bitmap
};

/// Searches from a position on and reports each secret, in order and without overlap. Returns the position up to which
/// everything is decided: the end of the input if it is complete.
pub(crate) fn scan(text: &Text<'_>, from: usize, mut found: impl FnMut(Hit)) -> usize {
    let bytes = text.bytes;
    let mut gram = 0;
    // The first position at which a keyword may start, counting what is already masked as gone.
    let mut open = from;
    let mut position = from;
    while let Some(byte) = bytes.get(position) {
        gram = roll(gram, *byte);
        position += 1;
        if BITMAP[gram / 64] & (1 << (gram % 64)) == 0 || position < open + GRAM_LEN {
            continue;
        }
        let start = position - GRAM_LEN;
        match wake(text, start, gram) {
            Err(_) => return start,
            Ok(None) => {}
            Ok(Some(mut hit)) => {
                hit.end += bytes[hit.end..].iter().take_while(|byte| hit.swallow.has(**byte)).count();
                found(hit);
                if hit.end == bytes.len() {
                    return hit.end;
                }
                open = hit.end.max(start + 1);
                position = position.max(open);
            }
        }
    }
    if text.is_complete() { bytes.len() } else { open.max(bytes.len().saturating_sub(GRAM_LEN - 1)) }
}

/// Tries the token rules, those with a distinctive prefix, at one position. Grammars use it to keep a provider's prefix in
/// a value that they would mask whole.
pub(crate) fn token_at(text: &Text<'_>, start: usize) -> Look<Option<Hit>> {
    let Some(head) = text.bytes.get(start..start + GRAM_LEN) else { return Ok(None) };
    let gram = head.iter().fold(0, |gram, byte| roll(gram, *byte));
    for (rule, keyword) in awake(gram) {
        if let Shape::Parts(_) = rule.shape
            && let Some(hit) = rule.read(text, start, keyword)?
        {
            return Ok(Some(hit));
        }
    }
    Ok(None)
}

fn wake(text: &Text<'_>, start: usize, gram: usize) -> Look<Option<Hit>> {
    for (rule, keyword) in awake(gram) {
        if let Some(hit) = rule.read(text, start, keyword)? {
            return Ok(Some(hit));
        }
    }
    Ok(None)
}

fn awake(gram: usize) -> impl Iterator<Item = (&'static Rule, &'static str)> {
    let first = ENTRIES.partition_point(|entry| usize::from(entry.gram) < gram);
    ENTRIES[first..].iter().take_while(move |entry| usize::from(entry.gram) == gram).map(|entry| {
        let rule = &FAMILIES[usize::from(entry.family)][usize::from(entry.rule)];
        (rule, rule.keywords[usize::from(entry.keyword)])
    })
}

const fn roll(gram: usize, byte: u8) -> usize {
    ((gram << 5) | (byte & 31) as usize) & (GRAM_COUNT - 1)
}

/// A keyword of two bytes stands in the index once for each third byte.
const fn entries_of(keyword: &str) -> usize {
    if keyword.len() < GRAM_LEN { 32 } else { 1 }
}

const fn entry_count() -> usize {
    let mut count = 0;
    let mut family = 0;
    while family < FAMILIES.len() {
        let mut rule = 0;
        while rule < FAMILIES[family].len() {
            let keywords = FAMILIES[family][rule].keywords;
            let mut keyword = 0;
            while keyword < keywords.len() {
                count += entries_of(keywords[keyword]);
                keyword += 1;
            }
            rule += 1;
        }
        family += 1;
    }
    count
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the tables are far smaller than the types, and a test counts them"
)]
const fn sorted_entries<const COUNT: usize>() -> [Entry; COUNT] {
    let mut entries = [Entry { gram: 0, family: 0, rule: 0, keyword: 0 }; COUNT];
    let mut count = 0;
    let mut family = 0;
    while family < FAMILIES.len() {
        let mut rule = 0;
        while rule < FAMILIES[family].len() {
            let keywords = FAMILIES[family][rule].keywords;
            let mut keyword = 0;
            while keyword < keywords.len() {
                let text = keywords[keyword].as_bytes();
                let mut third = 0;
                while third < entries_of(keywords[keyword]) {
                    let last = if text.len() < GRAM_LEN { third as u8 } else { text[2] };
                    let gram = roll(roll(roll(0, text[0]), text[1]), last) as u16;
                    insert(
                        &mut entries,
                        count,
                        Entry { gram, family: family as u8, rule: rule as u8, keyword: keyword as u8 },
                    );
                    count += 1;
                    third += 1;
                }
                keyword += 1;
            }
            rule += 1;
        }
        family += 1;
    }
    entries
}

/// Keeps the entries in order of hash and, within one hash, in order of the tables: the more specific rule comes first.
const fn insert(entries: &mut [Entry], count: usize, entry: Entry) {
    let mut place = count;
    while place > 0 && entries[place - 1].gram > entry.gram {
        entries[place] = entries[place - 1];
        place -= 1;
    }
    entries[place] = entry;
}

/// Tells which bytes a hit leaves to be swallowed when the input so far ends with it.
pub(crate) fn swallow_after(hit: &Hit, len: usize) -> Set {
    if hit.end == len { hit.swallow } else { Set::NONE }
}
