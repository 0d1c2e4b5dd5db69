//! Names of files that match a pattern.
//!
//! Reads folders and nothing else. The order of what is found, and what becomes of a pattern without a match, are the caller's.
//! Part of what replaces upstream's patterns.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::path::Path;

use super::compiled;
use crate::bytes;

/// What a shell's options say about names.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct Options {
    /// Whether groups have a meaning.
    pub extended: bool,
    /// Whether case doesn't count.
    pub case_insensitive: bool,
    /// Whether names that begin with a dot match like others.
    pub hidden: bool,
    /// Whether a pattern that begins with a dot matches the folder itself and the one above.
    pub dots: bool,
    /// Whether `**` stands for any number of folders.
    pub globstar: bool,
}

/// Whether the text of a pattern says more than a name.
pub(crate) fn has_magic(pattern: &str, extended: bool) -> bool {
    let may_have = pattern.contains(['*', '?', '[']) || extended && pattern.contains('(');
    may_have && components(pattern).iter().any(|component| compiled(component, extended, false).has_magic())
}

/// The names that match, in the order of the folders.
pub(crate) fn matching(pattern: &str, folder: &Path, options: Options) -> Vec<String> {
    let components = components(pattern);
    let mut found = Vec::new();
    let walk = Walk { folder, components: &components, options };
    walk.step(0, "", false, &mut found);
    found
}

/// The parts between slashes; a bracket or a group doesn't reach over one, and a slash needs no protection.
fn components(pattern: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = pattern.split('/').collect();
    let before_slashes = parts.len() - 1;
    for part in &mut parts[..before_slashes] {
        let backslashes = part.len() - part.trim_end_matches('\\').len();
        if backslashes % 2 == 1 {
            *part = &part[..part.len() - 1];
        }
    }
    parts
}

struct Walk<'a> {
    folder: &'a Path,
    components: &'a [&'a str],
    options: Options,
}

impl Walk<'_> {
    /// Goes on with the component at `index`, below the names so far (which end in a slash, if there are any).
    fn step(&self, index: usize, so_far: &str, matched: bool, found: &mut Vec<String>) {
        let Some(component) = self.components.get(index) else {
            return;
        };
        let last = index + 1 == self.components.len();
        if self.options.globstar && *component == "**" {
            return self.any_depth(index, so_far, found);
        }
        let pattern = compiled(component, self.options.extended, self.options.case_insensitive);
        if pattern.has_magic() {
            for name in self.names(so_far, &pattern) {
                let path = format!("{so_far}{name}");
                if last {
                    found.push(path);
                } else if self.is_folder(&path) {
                    self.step(index + 1, &format!("{path}/"), true, found);
                }
            }
            return;
        }
        let path = format!("{so_far}{}", unescaped(component));
        if path.is_empty() && last {
            return;
        }
        if !last {
            // A folder that isn't there ends the search; before the first slash there may be nothing.
            return self.step(index + 1, &format!("{path}/"), matched, found);
        }
        let exists =
            if component.is_empty() { self.is_folder(&path) } else { self.real(&path).symlink_metadata().is_ok() };
        if exists || !matched && self.components.len() == 1 {
            found.push(path);
        }
    }

    fn real(&self, path: &str) -> std::path::PathBuf {
        self.folder.join(bytes::path(path))
    }

    fn is_folder(&self, path: &str) -> bool {
        self.real(path).is_dir()
    }

    fn names(&self, so_far: &str, pattern: &super::Compiled) -> Vec<String> {
        let entries =
            if so_far.is_empty() { std::fs::read_dir(self.folder) } else { std::fs::read_dir(self.real(so_far)) };
        let Ok(entries) = entries else { return Vec::new() };
        // A dot at the beginning is only matched by one that the pattern names there.
        let behind_dot = pattern.behind_dot();
        let is_named = |name: &str| {
            name.strip_prefix('.').is_some_and(|rest| behind_dot.iter().any(|pattern| pattern.matches(rest)))
        };
        let dots = if self.options.dots && !behind_dot.is_empty() { &[".", ".."][..] } else { &[] };
        let dots = dots.iter().map(|name| (*name).to_owned());
        dots.chain(entries.filter_map(Result::ok).map(|entry| bytes::encode_os(&entry.file_name())))
            .filter(|name| {
                let is_free = !name.starts_with('.') || self.options.hidden && !matches!(name.as_str(), "." | "..");
                if is_free { pattern.matches(name) } else { is_named(name) }
            })
            .collect()
    }

    /// `**`: this folder and all below; as the last component, everything that is there.
    fn any_depth(&self, index: usize, so_far: &str, found: &mut Vec<String>) {
        let last = index + 1 == self.components.len();
        if last {
            if !so_far.is_empty() && self.is_folder(so_far) {
                // A folder that was matched itself is named like any other.
                let options = self.options;
                let matched = self.components[..index].iter().any(|part| has_magic(part, options.extended));
                let name = if matched { so_far.trim_end_matches('/') } else { so_far };
                found.push(name.to_owned());
            }
        } else {
            self.step(index + 1, so_far, true, found);
        }
        let everything = compiled("*", false, false);
        for name in self.names(so_far, &everything) {
            let path = format!("{so_far}{name}");
            let real = self.real(&path);
            let is_folder = real.is_dir();
            if last {
                found.push(path.clone());
            }
            // Links are named but not followed.
            if is_folder && !real.is_symlink() {
                self.below(index, &format!("{path}/"), found);
            }
        }
    }

    fn below(&self, index: usize, so_far: &str, found: &mut Vec<String>) {
        if index + 1 < self.components.len() {
            return self.any_depth(index, so_far, found);
        }
        let everything = compiled("*", false, false);
        for name in self.names(so_far, &everything) {
            let path = format!("{so_far}{name}");
            let real = self.real(&path);
            found.push(path.clone());
            if real.is_dir() && !real.is_symlink() {
                self.below(index, &format!("{path}/"), found);
            }
        }
    }
}

/// The component's text without the backslashes that protect it.
fn unescaped(component: &str) -> String {
    let mut result = String::with_capacity(component.len());
    let mut chars = component.chars();
    while let Some(c) = chars.next() {
        result.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    result
}
