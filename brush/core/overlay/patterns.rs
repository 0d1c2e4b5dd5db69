//! Shell patterns: `case`, `[[ == ]]`, `${x#…}`, and names of files.
//!
//! Replaces upstream's `patterns.rs`, which translates each pattern into a regular expression each time. Here a pattern is
//! compiled once and kept by its text, and matched directly. In a pattern's text a backslash protects the next character,
//! which is how quoted text is told from the rest. Expansion into names of files is in [`pathnames`].
#![warn(warnings, clippy::all, clippy::pedantic)]

mod compile;
mod matching;
pub(crate) mod pathnames;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::error;
use compile::Token;

/// How many compiled patterns are kept; more begin anew.
const CACHE_PATTERNS_MAX: usize = 2048;
/// Longer patterns are compiled again instead of kept, in bytes.
const CACHE_TEXT_MAX: usize = 1024;

thread_local! {
    static CACHE: RefCell<[HashMap<String, Arc<Compiled>>; 4]> = RefCell::default();
}

/// Options for filename expansion.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilenameExpansionOptions {
    pub require_dot_in_pattern_to_match_dot_files: bool,
}

/// The names that a pattern became.
#[derive(Debug, Default)]
pub(crate) struct Names(Vec<String>);

impl Names {
    /// The names.
    pub fn into_paths(self) -> Vec<String> {
        self.0
    }
}

/// A pattern.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    text: String,
    extended: bool,
    case_insensitive: bool,
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl Pattern {
    /// Sets whether `@(…)` and its like have a meaning.
    #[must_use]
    pub const fn set_extended_globbing(mut self, value: bool) -> Self {
        self.extended = value;
        self
    }

    /// There is nothing to set: patterns match line ends like other characters.
    #[must_use]
    pub const fn set_multiline(self, _value: bool) -> Self {
        self
    }

    /// Sets whether upper and lower case are the same.
    #[must_use]
    pub const fn set_case_insensitive(mut self, value: bool) -> Self {
        self.case_insensitive = value;
        self
    }

    /// Whether the pattern is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether the pattern matches the whole of the value.
    ///
    /// # Errors
    /// Never: every text is a pattern.
    pub fn exactly_matches(&self, value: &str) -> Result<bool, error::Error> {
        Ok(compiled(&self.text, self.extended, self.case_insensitive).matches(value))
    }

    /// A filter that lets everything pass.
    pub(crate) const fn accept_all_expand_filter(_path: &Path) -> bool {
        true
    }

    /// The names of files that match, for completion.
    #[allow(clippy::unnecessary_wraps)]
    pub(crate) fn expand<F: Fn(&Path) -> bool>(
        &self,
        folder: &Path,
        filter: Option<&F>,
        options: &FilenameExpansionOptions,
    ) -> Result<Names, error::Error> {
        let options = pathnames::Options {
            extended: self.extended,
            case_insensitive: self.case_insensitive,
            hidden: !options.require_dot_in_pattern_to_match_dot_files,
            dots: false,
            globstar: false,
        };
        let mut names = pathnames::matching(&self.text, folder, options);
        if let Some(filter) = filter {
            names.retain(|name| filter(&crate::bytes::path(name)));
        }
        names.sort();
        Ok(Names(names))
    }
}

/// A pattern made ready to match.
#[derive(Debug)]
pub(crate) struct Compiled {
    tokens: Vec<Token>,
    case_insensitive: bool,
}

/// Compiles a pattern, or finds it compiled.
pub(crate) fn compiled(text: &str, extended: bool, case_insensitive: bool) -> Arc<Compiled> {
    let fresh = || Arc::new(Compiled { tokens: compile::tokens(text, extended, case_insensitive), case_insensitive });
    if text.len() > CACHE_TEXT_MAX {
        return fresh();
    }
    CACHE.with_borrow_mut(|caches| {
        let cache = &mut caches[usize::from(extended) * 2 + usize::from(case_insensitive)];
        if let Some(found) = cache.get(text) {
            return Arc::clone(found);
        }
        if cache.len() >= CACHE_PATTERNS_MAX {
            cache.clear();
        }
        let made = fresh();
        cache.insert(text.to_owned(), Arc::clone(&made));
        made
    })
}

/// Which part of a value is to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// Any.
    Anywhere,
    /// The beginning.
    Start,
    /// The end.
    End,
}

impl Compiled {
    /// Whether the pattern matches the whole value.
    pub fn matches(&self, value: &str) -> bool {
        matching::whole(&self.tokens, value, self.case_insensitive)
    }

    /// Whether the pattern says more than its text.
    pub fn has_magic(&self) -> bool {
        self.tokens.iter().any(|token| !matches!(token, Token::Char(_)))
    }

    /// What is left of the pattern behind a dot that it begins with and names.
    pub fn behind_dot(&self) -> Vec<Self> {
        let rests = matching::behind_dot(&self.tokens);
        rests.into_iter().map(|tokens| Self { tokens, case_insensitive: self.case_insensitive }).collect()
    }

    /// The value without the beginning that matches.
    pub fn without_prefix<'a>(&self, value: &'a str, longest: bool) -> &'a str {
        matching::prefix_end(&self.tokens, value, longest, self.case_insensitive).map_or(value, |end| &value[end..])
    }

    /// The value without the end that matches.
    pub fn without_suffix<'a>(&self, value: &'a str, longest: bool) -> &'a str {
        matching::suffix_start(&self.tokens, value, longest, self.case_insensitive)
            .map_or(value, |start| &value[..start])
    }

    /// The first and longest part that matches from a position on.
    pub fn find(&self, value: &str, from: usize, anchor: Anchor) -> Option<(usize, usize)> {
        match anchor {
            Anchor::Start => {
                let end = matching::prefix_end(&self.tokens, value, true, self.case_insensitive)?;
                Some((0, end))
            }
            Anchor::End => {
                let start = matching::suffix_start(&self.tokens, value, true, self.case_insensitive)?;
                Some((start, value.len()))
            }
            Anchor::Anywhere => matching::first(&self.tokens, value, from, self.case_insensitive),
        }
    }
}

/// Protects what has a meaning in a pattern.
pub(crate) fn escape_into(text: &str, pattern: &mut String) {
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\' | '(' | ')' | '|' | '@' | '+' | '!' | '-' | '^' | ':' | '.' | '=') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
}
