//! `complete`, `compgen` and `compopt` as a shell without line editing has them.
//!
//! Specifications are kept and listed, candidates are generated; nothing is ever completed.

mod actions;
mod generation;
mod specification;
mod table;

pub(crate) use generation::execute as compgen;
use specification::{Mistake, Specification};

use super::call::{Call, USAGE};
use super::options::Refusal;

/// Runs `complete`.
pub(crate) fn complete(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let request = match Specification::parse("abcdefgjko:prsuvA:G:W:P:S:X:F:C:DEI", &words) {
        Ok(request) => request,
        Err(mistake) => return refuse(call, mistake),
    };
    let mut names = words[request.used..].to_vec();
    if let Some(special) = request.special {
        names = vec![special.to_owned()];
    }
    if request.prints || (words.is_empty()) {
        if names.is_empty() {
            for (name, specification) in table::all() {
                call.print(&specification.listed(&name));
            }
            return 0;
        }
        return each(call, &names, |name| table::get(name).map(|specification| specification.listed(name)));
    }
    if request.removes {
        if names.is_empty() {
            table::clear();
            return 0;
        }
        // Where nothing was ever told there is nothing to miss.
        let is_empty = table::all().is_empty();
        return each(call, &names, |name| (table::remove(name) || is_empty).then(String::new));
    }
    if names.is_empty() {
        return call.usage();
    }
    for name in names {
        table::set(&name, request.specification.clone());
    }
    0
}

/// Runs `compopt`.
pub(crate) fn compopt(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut changes = Vec::new();
    let mut special = None;
    let mut rest = words.as_slice();
    while let Some((word, after)) = rest.split_first() {
        let is_on = match word.as_str() {
            "--help" => return call.refuse(&Refusal::Help),
            "--" => {
                rest = after;
                break;
            }
            "-D" | "-E" | "-I" => {
                special = table::special(&word[1..]);
                rest = after;
                continue;
            }
            "-o" => true,
            "+o" => false,
            word if word.len() > 1 && word.starts_with(['-', '+']) => {
                let shown: String = word.chars().take(2).collect();
                return call.refuse(&Refusal::Unknown(shown));
            }
            _ => break,
        };
        let Some((option, after)) = after.split_first() else {
            return call.refuse(&Refusal::NoArgument(word.clone()));
        };
        if !specification::OPTIONS.contains(&option.as_str()) {
            call.complain(&format!("{option}: invalid option name"));
            return USAGE;
        }
        changes.push((option.clone(), is_on));
        rest = after;
    }
    let names: Vec<String> = special.map_or_else(|| rest.to_vec(), |special| vec![special.to_owned()]);
    if names.is_empty() {
        call.complain("not currently executing completion function");
        return 1;
    }
    each(call, &names, |name| {
        let mut specification = table::get(name)?;
        if changes.is_empty() {
            return Some(specification.listed_options(name));
        }
        for (option, is_on) in &changes {
            specification.set_option(option, *is_on);
        }
        table::set(name, specification);
        Some(String::new())
    })
}

/// Does something with each name, and complains of those that have no specification.
fn each(call: &mut Call<'_>, names: &[String], mut act: impl FnMut(&str) -> Option<String>) -> u8 {
    let mut status = 0;
    for name in names {
        if let Some(text) = act(name) {
            call.print(&text);
        } else {
            call.complain(&format!("{name}: no completion specification"));
            status = 1;
        }
    }
    status
}

fn refuse(call: &mut Call<'_>, mistake: Mistake) -> u8 {
    match mistake {
        Mistake::Options(refusal) => call.refuse(&refusal),
        Mistake::Value(complaint) => {
            call.complain(&complaint);
            USAGE
        }
    }
}
