//! The patches of one package, in order.
//!
//! A patch's file name is its number and its title: `0003-gate-call-sites.patch` is "gate call sites". What a header has
//! to say is told in `brush/README.md` and not enforced here.

use std::{fs, path::Path};

use crate::{
    PatchingError,
    patch::Patch,
    tree::{SourceTree, visible_entries},
};

const SUFFIX: &str = ".patch";

/// Reads the patches in `directory` in the order of their names.
///
/// Gaps in the numbers and equal numbers are allowed; names of another form are an error.
pub fn read(directory: &Path) -> Result<Vec<Patch>, PatchingError> {
    let mut patches = Vec::new();
    for path in visible_entries(directory)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if title(name).is_none() {
            return Err(PatchingError::PatchName(name.to_owned()));
        }
        let text = fs::read(&path).map_err(PatchingError::io("reading", &path))?;
        patches.push(Patch::parse(name, &text)?);
    }
    Ok(patches)
}

/// Applies all patches in order.
pub fn apply(patches: &[Patch], tree: &mut SourceTree) -> Result<(), PatchingError> {
    patches.iter().try_for_each(|patch| patch.apply(tree))
}

/// Returns the title in a patch's file name; None if [`file_name`] would not give the name back, number aside.
pub fn title(name: &str) -> Option<String> {
    let (number, slug) = name.strip_suffix(SUFFIX)?.split_once('-')?;
    let words: Vec<&str> = slug.split('-').collect();
    let is_word =
        |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_number = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && words.iter().all(is_word)).then(|| words.join(" "))
}

/// Returns the subject of the commit that stands for a patch: its number and its title.
pub fn subject(name: &str) -> Option<String> {
    Some(format!("{} {}", name.split_once('-')?.0, title(name)?))
}

/// Makes the file name of the patch that a commit with this subject stands for; None for a title without letters or digits.
///
/// A subject without a number gets the one after `previous`, the name of the patch before it.
pub fn file_name(previous: Option<&str>, subject: &str) -> Option<String> {
    let (number, title) = match subject.split_once(' ') {
        Some((number, title)) if number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            (number.to_owned(), title)
        }
        _ => {
            let last: usize = previous.and_then(|name| name.get(..4)?.parse().ok()).unwrap_or_default();
            (format!("{:04}", last + 1), subject)
        }
    };
    let lower = title.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| format!("{number}-{}{SUFFIX}", words.join("-")))
}
