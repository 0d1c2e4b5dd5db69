//! `pushd`, `popd` and `dirs`: the stack of directories.
//!
//! The working directory is always the stack's first entry and is kept elsewhere; the interpreter's list holds the others,
//! the newest last.

use std::path::PathBuf;

use super::call::{Call, USAGE};
use super::cd;
use super::control::number;
use super::options::Refusal;
use super::values;

/// Runs `pushd`.
pub(crate) fn push(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut stays = false;
    let mut rotation = None;
    let mut rest = words.as_slice();
    while let Some((word, after)) = rest.split_first() {
        match word.as_str() {
            "--help" if rest.len() == words.len() => return call.refuse(&Refusal::Help),
            "-n" => stays = true,
            "--" => {
                rest = after;
                break;
            }
            "-" => break,
            word if word.starts_with(['+', '-']) => {
                let Some(index) = number(&word[1..]) else { return not_a_number(call, word) };
                let count = entries(call);
                let index = if word.starts_with('-') { count - index } else { index };
                if !(0..=count).contains(&index) {
                    return out_of_range(call, word);
                }
                rotation = usize::try_from(index).ok();
            }
            _ => break,
        }
        rest = after;
    }
    if let Some(rotation) = rotation {
        return rotate(call, rotation, stays);
    }
    match rest {
        [] if stays => 0,
        [] => swap(call),
        [folder] => {
            let before = call.context.shell.working_dir().to_owned();
            let status = if stays { 0 } else { enter_new(call, folder) };
            if status != 0 {
                return status;
            }
            let entry = if stays { PathBuf::from(folder) } else { before };
            call.context.shell.directory_stack_mut().push(entry);
            show(call)
        }
        _ => {
            call.complain("too many arguments");
            1
        }
    }
}

/// Runs `popd`.
pub(crate) fn pop(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut stays = false;
    let (mut from_left, mut index, mut shown) = (true, 0, "");
    for (at, word) in words.iter().enumerate() {
        match word.as_str() {
            "--help" if at == 0 => return call.refuse(&Refusal::Help),
            "-n" => stays = true,
            "--" | "" => break,
            word if word.starts_with(['+', '-']) => {
                let Some(found) = number(&word[1..]) else { return not_a_number(call, word) };
                (from_left, index, shown) = (word.starts_with('+'), found, word);
            }
            word => {
                call.complain(&format!("{word}: invalid argument"));
                return call.usage();
            }
        }
    }
    let count = entries(call);
    if index > count || index < -count || (count == 0 && index == 0) {
        return out_of_range(call, shown);
    }
    if (from_left && index == 0) || (!from_left && index == count) {
        let Some(newest) = call.context.shell.directory_stack().last().cloned() else { return 1 };
        let status = if stays { 0 } else { enter(call, &newest) };
        if status != 0 {
            return status;
        }
        call.context.shell.directory_stack_mut().pop();
    } else {
        let at = if from_left { count - index } else { index };
        let stack = call.context.shell.directory_stack_mut();
        if let Ok(at) = usize::try_from(at)
            && at < stack.len()
        {
            stack.remove(at);
        }
    }
    show(call)
}

/// Runs `dirs`.
pub(crate) fn list(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut listing = Listing::default();
    let (mut clears, mut wanted, mut shown) = (false, None, "");
    for (at, word) in words.iter().enumerate() {
        match word.as_str() {
            "--help" if at == 0 => return call.refuse(&Refusal::Help),
            "-l" => listing.is_long = true,
            "-c" => clears = true,
            "-v" => listing.has_numbers = true,
            "-p" => listing.has_lines = true,
            "--" => break,
            word if word.starts_with(['+', '-']) => {
                let Some(index) = number(&word[1..]) else { return not_a_number(call, word) };
                let count = entries(call);
                // Counted from the left, as they are shown.
                wanted = Some(if word.starts_with('+') { index } else { count - index });
                shown = &word[1..];
            }
            word => {
                call.complain(&format!("{word}: invalid option"));
                return call.usage();
            }
        }
    }
    if clears {
        call.context.shell.directory_stack_mut().clear();
        return 0;
    }
    let all = all(call);
    let Some(wanted) = wanted else {
        let text = listing.of(call, &all);
        call.print(&text);
        return 0;
    };
    let Some((index, entry)) = usize::try_from(wanted).ok().and_then(|index| Some((index, all.get(index)?))) else {
        return out_of_range(call, shown);
    };
    let line = format!("{}\n", listing.entry(call, index, entry));
    call.print(&line);
    0
}

/// How entries are shown.
#[derive(Default)]
struct Listing {
    is_long: bool,
    has_numbers: bool,
    has_lines: bool,
}

impl Listing {
    fn of(&self, call: &Call<'_>, all: &[String]) -> String {
        let entries: Vec<String> =
            all.iter().enumerate().map(|(index, entry)| self.entry(call, index, entry)).collect();
        entries.join(if self.has_numbers || self.has_lines { "\n" } else { " " }) + "\n"
    }

    fn entry(&self, call: &Call<'_>, index: usize, entry: &str) -> String {
        let entry = if self.is_long { entry.to_owned() } else { cd::with_tilde(call, entry) };
        if self.has_numbers { format!("{index:2}  {entry}") } else { entry }
    }
}

/// All entries as they are shown: the working directory first.
fn all(call: &Call<'_>) -> Vec<String> {
    let older = call.context.shell.directory_stack().iter().rev().map(|path| cd::printed(path));
    std::iter::once(cd::told(call)).chain(older).collect()
}

/// How many entries there are beside the working directory.
fn entries(call: &Call<'_>) -> i64 {
    i64::try_from(call.context.shell.directory_stack().len()).unwrap_or(0)
}

fn show(call: &mut Call<'_>) -> u8 {
    let text = Listing::default().of(call, &all(call));
    call.print(&text);
    0
}

fn swap(call: &mut Call<'_>) -> u8 {
    let before = call.context.shell.working_dir().to_owned();
    let Some(newest) =
        call.context.shell.directory_stack_mut().last_mut().map(|newest| std::mem::replace(newest, before))
    else {
        call.complain("no other directory");
        return 1;
    };
    match enter(call, &newest) {
        0 => show(call),
        status => status,
    }
}

fn rotate(call: &mut Call<'_>, count: usize, stays: bool) -> u8 {
    let mut carried = call.context.shell.working_dir().to_owned();
    let stack = call.context.shell.directory_stack_mut();
    for _ in 0..count {
        let Some(newest) = stack.pop() else { break };
        stack.insert(0, carried);
        carried = newest;
    }
    if stays {
        return 0;
    }
    match enter(call, &carried) {
        0 => show(call),
        status => status,
    }
}

fn enter(call: &mut Call<'_>, folder: &std::path::Path) -> u8 {
    cd::go(call, &cd::printed(folder))
}

/// Goes where a word leads, which may be the directory before.
fn enter_new(call: &mut Call<'_>, folder: &str) -> u8 {
    if folder != "-" {
        return cd::go(call, folder);
    }
    let Some(before) = values::text(call.context.shell, "OLDPWD") else {
        call.complain("OLDPWD not set");
        return 1;
    };
    let physical = cd::goes_physically(call);
    cd::enter(call, &before, physical, true)
}

fn not_a_number(call: &mut Call<'_>, word: &str) -> u8 {
    call.complain(&format!("{word}: invalid number"));
    call.usage();
    USAGE
}

fn out_of_range(call: &mut Call<'_>, word: &str) -> u8 {
    if entries(call) == 0 {
        call.complain("directory stack empty");
    } else {
        call.complain(&format!("{word}: directory stack index out of range"));
    }
    1
}
