//! Command lines inside text: `curl -u user:password` in a script, where nothing has split the words yet.
//!
//! Words are split roughly, on blanks and quotes, and then read as arguments are. It does not parse shell.

use super::super::bytes::{Look, Set, Text};
use super::super::flags::FlagReader;
use super::super::rule::{Hit, Keyword};
use super::value_hit;

/// Longest command line read behind the program's name, in bytes: this much of a stream is held back there.
const LINE_LEN_MAX: usize = 512;

/// Programs whose short flags are worth reading in text.
pub(crate) const KEYWORDS: &[&str] = &[
    "curl ",
    "wget ",
    "mysql ",
    "mysqldump ",
    "mysqladmin ",
    "mariadb ",
    "sshpass ",
    "docker login",
    "podman login",
    "helm registry login",
    "redis-cli ",
    "smbclient ",
    "ldapsearch ",
    "openssl ",
    "mongosh ",
    "mongo ",
    "mongodump ",
];

/// Reads the words behind a program's name up to the end of its command.
pub(crate) fn read(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let limit = text.run(keyword.end, Set::LINE, LINE_LEN_MAX)?;
    let mut reader = FlagReader::default();
    for word in text.slice(keyword.start, keyword.end).split(|byte| *byte == b' ').filter(|word| !word.is_empty()) {
        reader.read(word);
    }
    let mut position = keyword.end;
    while position < limit {
        let Some((start, end, next)) = next_word(text.slice(0, limit), position) else { break };
        let word = text.slice(start, end);
        // Another program's name wakes the rule again, so its arguments are not read twice.
        if KEYWORDS.iter().any(|known| known.trim_end().as_bytes() == word) {
            break;
        }
        if let Some(secret) = reader.read(word) {
            return value_hit(text, start + secret.range.start, start + secret.range.end, secret.rule);
        }
        position = next;
    }
    Ok(None)
}

/// Returns where the next word starts and ends, without its quotes, and where to go on. `None` ends the command.
fn next_word(line: &[u8], from: usize) -> Option<(usize, usize, usize)> {
    let start = from + line[from..].iter().position(|byte| !Set::BLANK.has(*byte))?;
    match line[start] {
        b';' | b'|' | b'&' | b')' | b'#' | b'>' | b'<' => None,
        quote @ (b'"' | b'\'') => {
            let len = line[start + 1..].iter().position(|byte| *byte == quote).unwrap_or(line.len() - start - 1);
            Some((start + 1, start + 1 + len, (start + len + 2).min(line.len())))
        }
        _ => {
            let len = line[start..]
                .iter()
                .position(|byte| Set::SPACE.has(*byte) || b";|&)".contains(byte))
                .unwrap_or(line.len() - start);
            let mut word_end = start + len;
            if line[word_end - 1] == b'"' || line[word_end - 1] == b'\'' {
                word_end -= 1;
            }
            (len > 0).then_some((start, word_end, start + len))
        }
    }
}
