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

/// A keyword in the index: the hash of its start, its first bytes, and where it stands in the tables.
#[derive(Clone, Copy)]
struct Entry {
    gram: u16,
    /// The first eight bytes, folded, as far as the keyword goes; and which of them those are.
    head: u64,
    head_mask: u64,
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

/// How many different hashes stand in the index before those of each word of the bitmap.
static GRAMS_BEFORE: [u32; GRAM_COUNT / 64 + 1] = {
    let mut before = [0; GRAM_COUNT / 64 + 1];
    let mut word = 0;
    while word < GRAM_COUNT / 64 {
        before[word + 1] = before[word] + BITMAP[word].count_ones();
        word += 1;
    }
    before
};

/// Where the entries of each hash that stands in the index begin, in the order of hashes.
static FIRST_ENTRIES: [usize; gram_count()] = {
    let mut firsts = [0; gram_count()];
    let mut count = 0;
    let mut index = 0;
    while index < ENTRIES.len() {
        if index == 0 || ENTRIES[index].gram != ENTRIES[index - 1].gram {
            firsts[count] = index;
            count += 1;
        }
        index += 1;
    }
    firsts
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
    if BITMAP[gram / 64] & (1 << (gram % 64)) == 0 {
        return Ok(None);
    }
    for (rule, keyword) in awake(text, start, gram) {
        if let Shape::Parts(_) = rule.shape
            && let Some(hit) = rule.read(text, start, keyword)?
        {
            return Ok(Some(hit));
        }
    }
    Ok(None)
}

fn wake(text: &Text<'_>, start: usize, gram: usize) -> Look<Option<Hit>> {
    for (rule, keyword) in awake(text, start, gram) {
        if let Some(hit) = rule.read(text, start, keyword)? {
            return Ok(Some(hit));
        }
    }
    Ok(None)
}

/// The rules that may have a match at a position whose hash stands in the index, with the keywords that begin as the text does there.
fn awake(text: &Text<'_>, start: usize, gram: usize) -> impl Iterator<Item = (&'static Rule, &'static str)> {
    let bits_before = BITMAP[gram / 64] & ((1 << (gram % 64)) - 1);
    let rank = (GRAMS_BEFORE[gram / 64] + bits_before.count_ones()) as usize;
    let first = FIRST_ENTRIES.get(rank).copied().unwrap_or(ENTRIES.len());
    let of_gram = ENTRIES[first..].iter().take_while(move |entry| usize::from(entry.gram) == gram);
    // Near the end, where there are fewer bytes, every rule may look for itself.
    let head = text.bytes.get(start..).and_then(<[u8]>::first_chunk).map(|head| folded(*head));
    of_gram.filter(move |entry| head.is_none_or(|head| head & entry.head_mask == entry.head)).map(|entry| {
        let rule = &FAMILIES[usize::from(entry.family)][usize::from(entry.rule)];
        (rule, rule.keywords[usize::from(entry.keyword)])
    })
}

/// Eight bytes as one number in which case, and a little more, makes no difference.
const fn folded(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes) | u64::from_le_bytes([0x20; 8])
}

/// The beginning of a keyword as such a number, and a mask of the bytes that it has there.
const fn folded_keyword(text: &[u8]) -> (u64, u64) {
    let (mut head, mut mask) = ([0; 8], [0; 8]);
    let mut index = 0;
    while index < text.len() && index < head.len() {
        head[index] = text[index];
        mask[index] = 0xff;
        index += 1;
    }
    let mask = u64::from_le_bytes(mask);
    (folded(head) & mask, mask)
}

const fn gram_count() -> usize {
    let mut count = 0;
    let mut word = 0;
    while word < BITMAP.len() {
        count += BITMAP[word].count_ones() as usize;
        word += 1;
    }
    count
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
    let mut entries = [Entry { gram: 0, head: 0, head_mask: 0, family: 0, rule: 0, keyword: 0 }; COUNT];
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
                    let (head, head_mask) = folded_keyword(text);
                    let entry =
                        Entry { gram, head, head_mask, family: family as u8, rule: rule as u8, keyword: keyword as u8 };
                    insert(&mut entries, count, entry);
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
