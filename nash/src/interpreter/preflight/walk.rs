//! Walking through a script's commands, once, and noting what the table tells of.
//!
//! Goes into functions, substitutions, the texts of `eval` and the files of `source`, as far as they are known before
//! anything runs. A text that can't be read or parsed is left to the shell that will run it.

use std::borrow::Cow;

use brush_core::parser::ast::{
    AndOr, AssignmentValue, Command, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, Pipeline, SimpleCommand,
};
use brush_parser::ParserOptions;
use brush_parser::word::{self, WordPiece, WordPieceWithSource};

use super::table::{Entry, Literal, TABLE};
use crate::interpreter::Shell;

/// How deep texts may stand in each other before they are not looked at any more.
const DEPTH_MAX: usize = 10;

/// The largest file that is looked through, in bytes; what is larger is data rather than a script.
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// A walk through one script.
pub(super) struct Walk<'s> {
    shell: &'s Shell,
    options: ParserOptions,
    depth: usize,
    /// Whether this is a file that the script sources: what its functions do counts for nothing, since libraries and agents'
    /// snapshots define many that are never called.
    in_library: bool,
    /// Which of its signs each entry has been found with: one bit each.
    seen: [u8; TABLE.len()],
    /// The functions with the name of a command in the table: where there is one, the command isn't the builtin.
    functions: Vec<&'static str>,
}

impl<'s> Walk<'s> {
    pub(super) fn new(shell: &'s Shell) -> Self {
        Self {
            shell,
            options: shell.parser_options(),
            depth: 0,
            in_library: false,
            seen: [0; TABLE.len()],
            functions: Vec::new(),
        }
    }

    /// What was found to go to the real shell.
    pub(super) fn found(&self) -> Option<&'static Entry> {
        let is_found = |(entry, seen): &(&Entry, &u8)| {
            let mut signs = entry.signs.iter().enumerate();
            signs.all(|(bit, sign)| **seen & (1 << bit) != 0 && !self.functions.contains(&sign.command))
        };
        TABLE.iter().zip(&self.seen).find(is_found).map(|(entry, _)| entry)
    }

    /// Commands that follow each other.
    pub(super) fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            self.pipeline(&item.0.first);
            for next in &item.0.additional {
                let (AndOr::And(pipeline) | AndOr::Or(pipeline)) = next;
                self.pipeline(pipeline);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        for command in &pipeline.seq {
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(command) => self.simple(command),
            Command::Compound(command, _) => self.compound(command),
            Command::Function(function) => {
                let signs = TABLE.iter().flat_map(|entry| entry.signs);
                self.functions
                    .extend(signs.map(|sign| sign.command).find(|command| *command == function.fname.value.as_str()));
                if !self.in_library {
                    self.compound(&function.body.0);
                }
            }
            Command::ExtendedTest(..) => {}
        }
    }

    fn compound(&mut self, command: &CompoundCommand) {
        match command {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            CompoundCommand::ForClause(clause) | CompoundCommand::SelectClause(clause) => self.list(&clause.body.list),
            CompoundCommand::ArithmeticForClause(clause) => self.list(&clause.body.list),
            CompoundCommand::CaseClause(clause) => {
                for list in clause.cases.iter().filter_map(|case| case.cmd.as_ref()) {
                    self.list(list);
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for branch in clause.elses.iter().flatten() {
                    branch.condition.iter().for_each(|list| self.list(list));
                    self.list(&branch.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::Coprocess(coprocess) => self.command(&coprocess.body),
            CompoundCommand::Arithmetic(_) | CompoundCommand::ExtendedTest(_) => {}
        }
    }

    fn simple(&mut self, command: &SimpleCommand) {
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            if let CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) = item
                && let AssignmentValue::Scalar(value) = &assignment.value
            {
                self.substitutions(&value.value);
            }
        }
        let suffix = || command.suffix.iter().flat_map(|suffix| &suffix.0);
        for item in suffix() {
            match item {
                CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                    self.substitutions(&word.value);
                }
                CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => self.list(&subshell.list),
                CommandPrefixOrSuffixItem::IoRedirect(_) => {}
            }
        }
        let Some(name) = command.word_or_name.as_ref().map(|name| name.value.trim_start_matches('\\')) else { return };
        let words = suffix().filter_map(|item| match item {
            CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                Some(literal(&word.value))
            }
            _ => None,
        });
        match name {
            "command" | "builtin" => {
                let words: Vec<_> = words.collect();
                if let Some((Some(name), words)) = words.split_first() {
                    self.call(name, || words.to_vec());
                }
            }
            _ => self.call(name, || words.collect()),
        }
    }

    /// A command by its name; its words are looked at only where the name tells something.
    fn call<'w>(&mut self, name: &str, words: impl FnOnce() -> Vec<Literal<'w>>) {
        match name {
            "eval" => {
                let words: Option<Vec<_>> = words().into_iter().collect();
                if let Some(words) = words {
                    self.nested(words.join(" ").as_bytes());
                }
            }
            "source" | "." => {
                let words = words();
                if let Some(text) = words.first().and_then(Option::as_deref).and_then(read_file) {
                    let outer = std::mem::replace(&mut self.in_library, true);
                    self.nested(&text);
                    self.in_library = outer;
                }
            }
            _ if is_in_table(name) => self.note(name, &words()),
            _ => {}
        }
    }

    fn note(&mut self, name: &str, words: &[Literal<'_>]) {
        for (entry, seen) in TABLE.iter().zip(&mut self.seen) {
            for (bit, sign) in entry.signs.iter().enumerate() {
                if sign.command == name && (sign.is_meant)(words) {
                    *seen |= 1 << bit;
                }
            }
        }
    }

    /// The commands whose output is a part of this word.
    fn substitutions(&mut self, text: &str) {
        if (text.contains("$(") || text.contains('`'))
            && may_tell(text.as_bytes(), self.in_library)
            && let Ok(pieces) = word::parse(text, &self.options)
        {
            self.pieces(&pieces);
        }
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource]) {
        for piece in pieces {
            match &piece.piece {
                WordPiece::CommandSubstitution(text) | WordPiece::BackquotedCommandSubstitution(text) => {
                    self.nested(text.as_bytes());
                }
                WordPiece::DoubleQuotedSequence(pieces) => self.pieces(pieces),
                _ => {}
            }
        }
    }

    /// A text that stands in the script. Most need no parser to be seen as harmless.
    fn nested(&mut self, text: &[u8]) {
        if self.depth == DEPTH_MAX || !may_tell(text, self.in_library) {
            return;
        }
        if let Ok(program) = self.shell.parse(text) {
            self.depth += 1;
            program.complete_commands.iter().for_each(|list| self.list(list));
            self.depth -= 1;
        }
    }
}

fn is_in_table(name: &str) -> bool {
    TABLE.iter().flat_map(|entry| entry.signs).any(|sign| sign.command == name)
}

/// Commands that lead to further texts.
const LEADS: [&str; 3] = ["eval", "source", "."];

/// The bytes that such a command, or one of the table, begins with: few words of a text need a second look.
const BEGINNINGS: [bool; 256] = beginnings();

const fn beginnings() -> [bool; 256] {
    let mut found = [false; 256];
    let (mut entry, mut lead) = (0, 0);
    while entry < TABLE.len() {
        let mut sign = 0;
        while sign < TABLE[entry].signs.len() {
            found[TABLE[entry].signs[sign].command.as_bytes()[0] as usize] = true;
            sign += 1;
        }
        entry += 1;
    }
    while lead < LEADS.len() {
        found[LEADS[lead].as_bytes()[0] as usize] = true;
        lead += 1;
    }
    found
}

/// Whether a text has one of the table's commands where a command may begin, or leads to further texts.
///
/// What agents source before each command is long and full of `set` and `eval`: those alone don't make it worth the parser.
fn may_tell(text: &[u8], in_library: bool) -> bool {
    let tells = |word: &str| match word {
        "set" => !in_library,
        _ if LEADS.contains(&word) => !in_library,
        _ => is_in_table(word),
    };
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'=');
    let mut in_word = false;
    for (at, &byte) in text.iter().enumerate() {
        if !in_word && BEGINNINGS[usize::from(byte)] {
            let rest = &text[at..];
            let end = rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len());
            if std::str::from_utf8(&rest[..end]).is_ok_and(tells) {
                return true;
            }
        }
        in_word = is_part(byte);
    }
    false
}

/// The text of a word that is the same whatever the script does before.
fn literal(word: &str) -> Literal<'_> {
    let is_plain = |text: &str| !text.contains(['$', '`', '\\', '\'', '"']);
    if let Some(inside) = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')) {
        return (!inside.contains('\'')).then_some(Cow::Borrowed(inside));
    }
    if let Some(inside) = word.strip_prefix('"').and_then(|word| word.strip_suffix('"')) {
        return is_plain(inside).then_some(Cow::Borrowed(inside));
    }
    (is_plain(word) && !word.starts_with('~') && !word.contains(['*', '?', '[', '{'])).then_some(Cow::Borrowed(word))
}

/// A file of a size that a script has; nothing else is opened, since reading may consume.
fn read_file(path: &str) -> Option<Vec<u8>> {
    let about = std::fs::metadata(path).ok()?;
    let is_script = about.is_file() && (1..=FILE_BYTES_MAX).contains(&about.len());
    is_script.then(|| std::fs::read(path).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{literal, may_tell};

    #[test]
    fn a_word_is_literal_where_nothing_in_it_expands() {
        for (word, text) in [("a", "a"), ("'a $b'", "a $b"), ("\"a b\"", "a b")] {
            assert_eq!(literal(word).as_deref(), Some(text), "{word}");
        }
        for word in ["$a", "'a'b'", "\"$a\"", "a\\b", "~/x", "*.sh"] {
            assert_eq!(literal(word), None, "{word}");
        }
    }

    #[test]
    fn a_text_tells_only_by_words_of_their_own() {
        assert!(may_tell(b"x; help cd", true));
        assert!(may_tell(b"eval \"$x\"", false));
        assert!(!may_tell(b"tool --help; help_me; set -o x", true));
    }
}
