//! Simple commands.
//!
//! Part of what replaces upstream's grammar. Which builtin a word names matters only for what may look like an assignment.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::{Kind, Operator, Process, Token};
use super::{Assignments, Parser, Result};
use crate::ast::{self, Command, CommandPrefixOrSuffixItem as Item};

/// Commands behind which arrays may be assigned.
const ASSIGNING: &[&str] = &["alias", "declare", "eval", "export", "let", "local", "readonly", "typeset"];

impl Parser<'_> {
    /// Reads a simple command, or the definition of a function that begins like one.
    pub(super) fn simple_command(&mut self) -> Result<Command> {
        let mut prefix = Vec::new();
        self.assignments = Assignments::Leading;
        loop {
            match self.peek_command()? {
                Kind::Word => {
                    let token = self.take()?;
                    if let Some(assignment) = self.assignment(&token) {
                        let word = self.word_of(&token);
                        prefix.push(Item::AssignmentWord(assignment, word));
                        continue;
                    }
                    if prefix.is_empty() {
                        return self.simple_command_from(token);
                    }
                    return self.named_command(prefix, token);
                }
                Kind::Array => prefix.push(self.array_assignment()?),
                _ if self.at_redirect()? => prefix.push(Item::IoRedirect(self.redirect()?)),
                _ => break,
            }
        }
        if prefix.is_empty() {
            return self.unexpected();
        }
        let prefix = Some(ast::CommandPrefix(prefix));
        Ok(Command::Simple(ast::SimpleCommand { prefix, word_or_name: None, suffix: None }))
    }

    /// As [`Self::simple_command`], whose first word was taken already.
    pub(super) fn simple_command_from(&mut self, name: Token) -> Result<Command> {
        self.assignments = self.assignments_behind(&name);
        if self.peek_argument()? == Kind::Operator(Operator::Open) {
            self.assignments = Assignments::Leading;
            return self.deeper(|parser| parser.function_by_parentheses(&name));
        }
        self.named_command(Vec::new(), name)
    }

    fn assignments_behind(&self, name: &Token) -> Assignments {
        let assigns = ASSIGNING.contains(&self.text_of(name));
        if assigns { Assignments::Arguments } else { Assignments::None }
    }

    /// The process substitution that a word is. One that may hold aliases stays text, which is read with them when it runs.
    fn process_of(&self, token: &mut Token) -> Option<Box<Process>> {
        token.process.take().filter(|_| !self.surroundings.has_aliases())
    }

    fn named_command(&mut self, prefix: Vec<Item>, mut name: Token) -> Result<Command> {
        self.assignments = self.assignments_behind(&name);
        // bash counts a command to the line on which the token behind its first word ends.
        let next_end = match self.peek_argument()? {
            Kind::Word | Kind::Array | Kind::Number | Kind::Variable => self.token.as_ref().map(|token| token.end),
            _ => None,
        };
        let mut suffix = Vec::new();
        let word = if let Some(process) = self.process_of(&mut name) {
            suffix.push(Item::ProcessSubstitution(process.0, process.1));
            None
        } else {
            let mut word = self.word_of(&name);
            if prefix.is_empty() {
                word.loc = Some(self.cursor.span_at(next_end.unwrap_or(name.end)));
            }
            Some(word)
        };
        loop {
            match self.peek_argument()? {
                Kind::Word => {
                    let mut token = self.take()?;
                    if let Some(process) = self.process_of(&mut token) {
                        suffix.push(Item::ProcessSubstitution(process.0, process.1));
                        continue;
                    }
                    let assignment = self.assignment(&token);
                    let word = self.word_of(&token);
                    suffix.push(match assignment {
                        Some(assignment) => Item::AssignmentWord(assignment, word),
                        None => Item::Word(word),
                    });
                }
                Kind::Array => suffix.push(self.array_assignment()?),
                _ if self.at_redirect()? => suffix.push(Item::IoRedirect(self.redirect()?)),
                _ => break,
            }
        }
        self.assignments = Assignments::Leading;
        let prefix = Some(ast::CommandPrefix(prefix)).filter(|prefix| !prefix.0.is_empty());
        let suffix = Some(ast::CommandSuffix(suffix)).filter(|suffix| !suffix.0.is_empty());
        Ok(Command::Simple(ast::SimpleCommand { prefix, word_or_name: word, suffix }))
    }
}
