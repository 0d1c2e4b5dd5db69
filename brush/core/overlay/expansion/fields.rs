//! Fields: where a word is split, and which of its fields are patterns for names of files.
//!
//! IFS is read once for a word. A field's pattern is only kept once something in it could be one.
//! Part of what replaces upstream's expansion.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::sinks::Sink;
use crate::error::Error;
use crate::extensions::ShellExtensions;
use crate::patterns::{self, pathnames};
use crate::shell::Shell;
use crate::word::scan;
use crate::{binding, bytes, locale};

/// The fields of the words so far.
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Fields {
    done: Vec<Field>,
    current: Field,
    /// Whether the current field is one even if it stays empty.
    started: bool,
    /// Whether a list between the quotes had no values.
    had_none: bool,
    state: State,
    ifs: Ifs,
    /// Whether patterns are looked for.
    globs: bool,
    extended: bool,
}

#[derive(Default)]
struct Field {
    text: String,
    /// The text as a pattern, from the first character on that could make it one.
    pattern: Option<String>,
}

/// What came before the current field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing.
    Start,
    /// Blanks that ended a field.
    Blanks,
    /// A delimiter that isn't blank.
    Delimiter,
}

enum Ifs {
    /// Space, tab and newline.
    Usual,
    /// Something else; its blanks and the rest.
    Own(String),
}

impl Ifs {
    /// What kind of delimiter a character is.
    fn delimits(&self, c: char) -> Option<State> {
        match self {
            Self::Usual => matches!(c, ' ' | '\t' | '\n').then_some(State::Blanks),
            Self::Own(ifs) => {
                ifs.contains(c).then_some(if matches!(c, ' ' | '\t' | '\n') { State::Blanks } else { State::Delimiter })
            }
        }
    }
}

impl Fields {
    pub fn new(shell: &Shell<impl ShellExtensions>, globs: bool) -> Self {
        let ifs = match shell.env_str("IFS") {
            Some(ifs) if ifs != " \t\n" => Ifs::Own(ifs.into_owned()),
            _ => Ifs::Usual,
        };
        Self {
            done: Vec::new(),
            current: Field::default(),
            started: false,
            had_none: false,
            state: State::Start,
            ifs,
            globs: globs && !shell.options().disable_filename_globbing,
            extended: shell.options().extended_globbing,
        }
    }

    /// Ends the word.
    pub fn end_word(&mut self) {
        if self.started {
            self.end_field();
        }
        self.state = State::Start;
    }

    fn end_field(&mut self) {
        self.done.push(std::mem::take(&mut self.current));
        self.started = false;
    }

    fn append(&mut self, text: &str, quoted: bool) {
        self.started = true;
        // A backslash protects what follows, should the field turn out to be a pattern.
        let could_be_pattern =
            |text: &str| text.contains(['*', '?', '[', '\\']) || (self.extended && text.contains('('));
        if !quoted && self.globs && self.current.pattern.is_none() && could_be_pattern(text) {
            let mut pattern = String::new();
            patterns::escape_into(&self.current.text, &mut pattern);
            self.current.pattern = Some(pattern);
        }
        if let Some(pattern) = &mut self.current.pattern {
            if quoted {
                patterns::escape_into(text, pattern);
            } else {
                pattern.push_str(text);
            }
        }
        self.current.text.push_str(text);
    }

    /// The fields, with names of files in place of patterns.
    pub fn into_strings(self, shell: &Shell<impl ShellExtensions>) -> Result<Vec<String>, Error> {
        let mut strings = Vec::with_capacity(self.done.len());
        for field in self.done {
            match &field.pattern {
                Some(pattern) if pathnames::has_magic(pattern, self.extended) => {
                    add_names(shell, pattern, field.text, &mut strings)?;
                }
                _ => strings.push(bytes::rejoin(field.text)),
            }
        }
        Ok(strings)
    }
}

/// Adds the names that match, or what stands for a pattern without a match.
fn add_names(
    shell: &Shell<impl ShellExtensions>,
    pattern: &str,
    text: String,
    strings: &mut Vec<String>,
) -> Result<(), Error> {
    let options = shell.options();
    let ignored = shell.env_str("GLOBIGNORE").filter(|ignored| !ignored.is_empty());
    let mut names = pathnames::matching(
        pattern,
        shell.working_dir(),
        pathnames::Options {
            extended: options.extended_globbing,
            case_insensitive: options.case_insensitive_pathname_expansion,
            hidden: options.glob_matches_dotfiles || ignored.is_some(),
            dots: !options.glob_skip_dots && ignored.is_none(),
            globstar: options.enable_star_star_glob,
        },
    );
    if let Some(ignored) = ignored {
        let ignored: Vec<_> =
            ignored_patterns(&ignored).map(|one| patterns::compiled(one, options.extended_globbing, false)).collect();
        names.retain(|name| {
            !ignored.iter().any(|pattern| pattern.matches(name)) && !matches!(name.rsplit('/').next(), Some("." | ".."))
        });
    }
    if names.is_empty() {
        if options.fail_expansion_on_globs_without_match {
            let error = binding::complaint(format!("no match: {text}"));
            return Err(if options.exit_on_nonzero_command_exit { error.into_fatal() } else { error });
        }
        if !options.expand_non_matching_patterns_to_null {
            strings.push(text);
        }
        return Ok(());
    }
    locale::sort(shell, &mut names);
    strings.append(&mut names);
    Ok(())
}

/// The patterns of GLOBIGNORE; a colon in brackets, in an extended pattern or behind a backslash doesn't separate.
fn ignored_patterns(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let patterns = std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = first_pattern(rest.as_bytes());
        let pattern = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(pattern)
    });
    patterns.filter(|pattern| !pattern.is_empty())
}

/// Where the parentheses that open here have been closed.
fn end_of_extended(text: &[u8], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate().skip(open) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return at + 1,
            b')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Where the first of several patterns ends.
fn first_pattern(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at = match byte {
            b':' => return at,
            b'\\' => at + 2,
            b'[' => scan::brackets(text, at + 1).unwrap_or(text.len()),
            b'(' if at > 0 && b"?*+@!".contains(&text[at - 1]) => end_of_extended(text, at),
            _ => at + 1,
        };
    }
    text.len()
}

impl Sink for Fields {
    fn literal(&mut self, text: &str, quoted: bool) {
        self.append(text, quoted);
    }

    fn value(&mut self, text: &str, quoted: bool) {
        if quoted {
            return self.append(text, true);
        }
        let mut from = 0;
        for (at, c) in text.char_indices() {
            let Some(kind) = self.ifs.delimits(c) else { continue };
            if at > from {
                self.append(&text[from..at], false);
            }
            from = at + c.len_utf8();
            if self.started {
                self.end_field();
                self.state = kind;
            } else if kind == State::Delimiter {
                // One that follows blanks belongs to them; any other ends an empty field.
                if self.state != State::Blanks {
                    self.done.push(Field::default());
                }
                self.state = State::Delimiter;
            }
        }
        if from < text.len() {
            self.append(&text[from..], false);
        }
    }

    fn none(&mut self) {
        self.had_none = true;
    }

    fn begin_quotes(&mut self) -> bool {
        self.had_none = false;
        !self.started
    }

    fn end_quotes(&mut self, began: bool) {
        if began && self.had_none && self.current.text.is_empty() {
            self.started = false;
        }
        self.had_none = false;
    }

    fn between(&mut self, _star: bool, quoted: bool) {
        // Values that are split are joined by what splits them first, which keeps the empty ones between.
        let first = match &self.ifs {
            Ifs::Own(ifs) if !quoted => ifs.chars().next(),
            _ => None,
        };
        match first {
            Some(first) => self.value(first.encode_utf8(&mut [0; 4]), false),
            None => self.end_word(),
        }
    }
}
