//! `history`, `fc` and `bind` as a shell without line editing has them.
//!
//! Only what a script enters itself is remembered; keys can't be bound to anything.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use brush_core::bytes;

use super::call::{Call, USAGE, system_words};
use super::control::number;
use super::options::Options;
use super::values;

/// The lines that were entered.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn lines() -> MutexGuard<'static, Vec<String>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `history`.
pub(crate) fn history(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut options = Options::new("acd:npsrw", &words);
    let (mut clears, mut offset, mut file, mut enters, mut expands) = (false, None, None, false, false);
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                'c' => clears = true,
                'd' => offset = Some(found.argument.to_owned()),
                'p' => expands = true,
                's' => enters = true,
                letter => file = Some(letter),
            },
            Err(refusal) => return call.refuse(&refusal),
        }
    }
    let rest = &words[options.used()..];
    if clears {
        lines().clear();
        return 0;
    }
    if enters {
        if !rest.is_empty() {
            lines().push(rest.join(" "));
        }
        return 0;
    }
    if expands {
        for word in rest {
            call.print(&format!("{word}\n"));
        }
        return 0;
    }
    if let Some(offset) = offset {
        return delete(call, &offset);
    }
    match file {
        Some(letter) => exchange(call, letter, rest.first()),
        None => list(call, rest),
    }
}

fn list(call: &mut Call<'_>, words: &[String]) -> u8 {
    let lines = lines().clone();
    let mut count = lines.len();
    if let Some(word) = words.first() {
        let Some(wanted) = number(word) else {
            call.complain(&format!("{word}: numeric argument required"));
            return 1;
        };
        if words.len() > 1 {
            call.abandon("too many arguments");
            return 1;
        }
        count = count.min(usize::try_from(wanted.unsigned_abs()).unwrap_or(usize::MAX));
    }
    for (index, line) in lines.iter().enumerate().skip(lines.len() - count) {
        call.print(&format!("{:5}  {line}\n", index + 1));
    }
    0
}

/// Where in the list an offset is; a negative one counts from the end.
fn position(word: &str, count: usize) -> Option<usize> {
    let offset = number(word)?;
    let count = i64::try_from(count).ok()?;
    let index = if offset < 0 { count + offset } else { offset - 1 };
    usize::try_from(index).ok().filter(|_| index < count)
}

fn delete(call: &mut Call<'_>, offset: &str) -> u8 {
    let count = lines().len();
    let range = offset.char_indices().skip(1).find(|(_, letter)| *letter == '-').map(|(index, _)| index);
    let (first, last) = range.map_or((offset, offset), |index| (&offset[..index], &offset[index + 1..]));
    match (position(first, count), position(last, count)) {
        (Some(first), Some(last)) if first <= last => {
            lines().drain(first..=last);
            0
        }
        _ => {
            call.complain(&format!("{offset}: history position out of range"));
            1
        }
    }
}

/// Reads a file into the list, or writes the list into one.
fn exchange(call: &mut Call<'_>, letter: char, name: Option<&String>) -> u8 {
    let Some(name) = name.cloned().or_else(|| values::text(call.context.shell, "HISTFILE")) else { return 0 };
    let path = bytes::path(&name).into_owned();
    let text =
        |lines: &[String]| lines.iter().flat_map(|line| [&*bytes::decode(line), b"\n"].concat()).collect::<Vec<u8>>();
    let result = match letter {
        'w' | 'a' => {
            let mut options = std::fs::File::options();
            // What was typed is for its owner's eyes only.
            options.append(letter == 'a').write(true).truncate(letter == 'w').create(true).mode(0o600);
            let file = options.open(&path);
            file.and_then(|mut file| file.write_all(&text(&lines())))
        }
        _ => std::fs::read(&path).map(|read| {
            lines().extend(bytes::encode_vec(read).lines().map(str::to_owned));
        }),
    };
    match result {
        Ok(()) => 0,
        // A file that isn't there to be read is no trouble worth words.
        Err(_) if matches!(letter, 'r' | 'n') => 1,
        Err(error) => {
            call.complain(&format!("{name}: cannot create: {}", system_words(&error)));
            1
        }
    }
}

/// Runs `fc`.
pub(crate) fn fc(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut options = Options::new("e:lnrs", &words);
    let (mut lists, mut plain, mut reversed) = (false, false, false);
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                'l' => lists = true,
                'n' => plain = true,
                'r' => reversed = true,
                _ => {}
            },
            // A number with a sign before it is no option.
            Err(_) if words.get(options.used()).is_some_and(|word| number(word).is_some()) => break,
            Err(refusal) => return call.refuse(&refusal),
        }
    }
    let all = lines().clone();
    if !lists {
        call.complain(if all.is_empty() { "no command found" } else { "history specification out of range" });
        return 1;
    }
    if all.is_empty() {
        return 0;
    }
    let rest = &words[options.used()..];
    let newest = all.len() - 1;
    let first = rest.first().map_or(Some(newest.saturating_sub(15)), |word| position(word, all.len()));
    let last = rest.get(1).map_or(Some(newest), |word| position(word, all.len()));
    let (Some(first), Some(last)) = (first, last) else {
        call.complain("history specification out of range");
        return 1;
    };
    let mut shown: Vec<usize> = (first.min(last)..=first.max(last)).collect();
    if reversed != (first > last) {
        shown.reverse();
    }
    for index in shown {
        let line = &all[index];
        call.print(&if plain { format!("\t {line}\n") } else { format!("{}\t {line}\n", index + 1) });
    }
    0
}

/// Runs `bind`.
pub(crate) fn bind(call: &mut Call<'_>) -> u8 {
    call.complain("warning: line editing not enabled");
    let words = std::mem::take(&mut call.words);
    let mut options = Options::new("lvpVPsSXf:q:u:m:r:x:", &words);
    let mut status = 0;
    loop {
        match options.next() {
            Ok(None) => return status,
            Ok(Some(found)) => match found.letter {
                'f' => {
                    if let Err(error) = std::fs::metadata(bytes::path(found.argument)) {
                        call.complain(&format!("{}: cannot read: {}", found.argument, system_words(&error)));
                        status = 1;
                    }
                }
                'm' if !is_keymap(found.argument) => {
                    call.complain(&format!("`{}': invalid keymap name", found.argument));
                    return 1;
                }
                _ => {}
            },
            Err(refusal) => return call.refuse(&refusal).max(USAGE),
        }
    }
}

fn is_keymap(name: &str) -> bool {
    matches!(
        name,
        "emacs" | "emacs-standard" | "emacs-meta" | "emacs-ctlx" | "vi" | "vi-move" | "vi-command" | "vi-insert"
    )
}
