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
    "htpasswd ",
    "zip -",
    "az login",
    "sqlcmd ",
    "ipmitool ",
    "rabbitmqctl ",
    "xfreerdp ",
    "ssh-keygen ",
    "lftp ",
    "7z a ",
    "7z x ",
    "7za ",
    "twine upload",
];

/// Reads the words behind a program's name up to the end of its command.
pub(crate) fn read(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let limit = text.run(keyword.end, Set::LINE, LINE_LEN_MAX)?;
    let mut reader = FlagReader::default();
    // The keyword holds the program's name and perhaps a word or the dash of a flag: all of it is read as words.
    let mut position = keyword.start;
    while position < limit {
        let Some((start, end, next)) = next_word(text.slice(0, limit), position) else { break };
        let word = text.slice(start, end);
        // Another program's name wakes the rule again, so its arguments are not read twice.
        if start > keyword.start && KEYWORDS.iter().any(|known| known.trim_end().as_bytes() == word) {
            break;
        }
        if let Some(secret) = reader.read(word) {
            let quoted = Set::QUOTE.has_any(&word[secret.range.start..=secret.range.start]);
            let from = start + secret.range.start + usize::from(quoted);
            let to = start + secret.range.end;
            return if from < to { value_hit(text, from, to, secret.rule) } else { Ok(None) };
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
            let len = bare_len(&line[start..]);
            let mut word_end = start + len;
            if line[word_end - 1] == b'"' || line[word_end - 1] == b'\'' {
                word_end -= 1;
            }
            (len > 0).then_some((start, word_end, start + len))
        }
    }
}

/// Returns the length of an unquoted word, in which quotes may open (`-p'a b'`).
fn bare_len(line: &[u8]) -> usize {
    let mut quote = None;
    let end = line.iter().position(|byte| {
        match quote {
            Some(open) if open == *byte => quote = None,
            Some(_) => {}
            None if b"\"'".contains(byte) => quote = Some(*byte),
            None => return Set::SPACE.has(*byte) || b";|&)".contains(byte),
        }
        false
    });
    // A quote that nothing closes was not one, but an apostrophe or the end of a string around the command.
    match (end, quote) {
        (None, Some(_)) => line.iter().position(|byte| Set::SPACE.has(*byte)).unwrap_or(line.len()),
        _ => end.unwrap_or(line.len()),
    }
}
