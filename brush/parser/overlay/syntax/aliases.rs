//! Aliases: a word in a command's place that stands for other text.
//!
//! Upstream replaces words of a command that is parsed already. An alias may hold any part of a command, so its text takes
//! the word's place in the source. Which words are aliases, the shell knows.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::Kind;
use super::{Parser, Result};

/// The aliases whose text is being read.
#[derive(Debug, Default)]
pub(super) struct Expanding {
    /// Each alias's name and where its text ends; it is no alias inside of that.
    active: Vec<(String, usize)>,
    /// Where the text of an alias ends that wants the next word expanded too.
    next_word_at: Option<usize>,
}

impl Parser<'_> {
    /// Looks at the next token where a command's name may stand, with aliases replaced.
    pub(super) fn peek_command(&mut self) -> Result<Kind> {
        let mut kind = self.peek()?;
        while kind == Kind::Word && self.expand_alias() {
            kind = self.peek()?;
        }
        Ok(kind)
    }

    /// As [`Self::peek_command`] where only the word behind an alias that ends in a blank is expanded.
    pub(super) fn peek_argument(&mut self) -> Result<Kind> {
        let mut kind = self.peek()?;
        while kind == Kind::Word && self.follows_open_alias() && self.expand_alias() {
            kind = self.peek()?;
        }
        Ok(kind)
    }

    fn follows_open_alias(&mut self) -> bool {
        let Some(end) = self.aliases.next_word_at else {
            return false;
        };
        let Some(token) = &self.token else {
            return false;
        };
        if token.start < end {
            return false;
        }
        self.aliases.next_word_at = None;
        true
    }

    /// Replaces the word that was looked at, if it is an alias.
    fn expand_alias(&mut self) -> bool {
        if self.substitutions > 0 {
            return false;
        }
        let Some(token) = self.token.as_ref().filter(|token| token.joined.is_none()) else {
            return false;
        };
        let (start, end) = (token.start, token.end);
        let name = self.cursor.slice(start, end);
        if name.bytes().any(|byte| b"\\'\"`$/=".contains(&byte)) {
            return false;
        }
        self.aliases.active.retain(|(_, until)| *until > start);
        if self.aliases.active.iter().any(|(active, _)| active == name) {
            return false;
        }
        let Some(value) = self.surroundings.alias(name) else {
            return false;
        };
        let name = name.to_owned();
        let text = value.clone();
        self.token = None;
        self.cursor.splice(start, end, &text);
        let move_end = |place: usize| place + text.len() - (end - start);
        for (_, until) in &mut self.aliases.active {
            *until = move_end(*until);
        }
        self.aliases.active.push((name, start + text.len()));
        self.aliases.next_word_at = match self.aliases.next_word_at {
            _ if value.ends_with([' ', '\t']) => Some(start + text.len()),
            Some(place) if place > start => Some(move_end(place)),
            _ => None,
        };
        true
    }
}
