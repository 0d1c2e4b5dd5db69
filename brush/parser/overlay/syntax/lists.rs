//! Lists and pipelines.
//!
//! Part of what replaces upstream's grammar. What a single command is stands elsewhere.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::{Kind, Operator};
use super::{Assignments, Parser, Result};
use crate::ast::{self, AndOr, SeparatorOperator as Separator};

/// Words that end a list where a command might begin.
const CLOSING_WORDS: &[&str] = &["then", "do", "done", "fi", "elif", "else", "esac", "}"];

impl Parser<'_> {
    /// Reads up to the end of a line that ends a command; `None` at the end of the text.
    pub(super) fn complete_command(&mut self) -> Result<Option<ast::CompleteCommand>> {
        self.skip_newlines()?;
        if self.peek()? == Kind::End {
            return Ok(None);
        }
        let mut items = Vec::new();
        loop {
            let and_or = self.and_or()?;
            let separator = match self.peek()? {
                Kind::Operator(Operator::Semicolon) => Separator::Sequence,
                Kind::Operator(Operator::And) => Separator::Async,
                Kind::Newline | Kind::End => {
                    self.token = None;
                    items.push(ast::CompoundListItem(and_or, Separator::Sequence));
                    break;
                }
                _ => return self.unexpected(),
            };
            self.token = None;
            items.push(ast::CompoundListItem(and_or, separator));
            if matches!(self.peek()?, Kind::Newline | Kind::End) {
                self.token = None;
                break;
            }
        }
        Ok(Some(ast::CompoundList(items)))
    }

    /// What is left must be nothing.
    pub(super) fn end_of_text(&mut self) -> Result<()> {
        self.skip_newlines()?;
        if self.peek()? == Kind::End { Ok(()) } else { self.unexpected() }
    }

    /// The commands inside a compound command: at least one, up to a token that none begins with.
    pub(super) fn compound_list(&mut self) -> Result<ast::CompoundList> {
        self.skip_newlines()?;
        let mut items = Vec::new();
        loop {
            let and_or = self.and_or()?;
            let separator = match self.peek()? {
                Kind::Operator(Operator::Semicolon) => Separator::Sequence,
                Kind::Newline => Separator::Newline,
                Kind::Operator(Operator::And) => Separator::Async,
                _ => {
                    items.push(ast::CompoundListItem(and_or, Separator::Sequence));
                    break;
                }
            };
            self.token = None;
            items.push(ast::CompoundListItem(and_or, separator));
            self.skip_newlines()?;
            if !self.begins_command()? {
                break;
            }
        }
        Ok(ast::CompoundList(items))
    }

    /// Whether the next token can begin a command.
    fn begins_command(&mut self) -> Result<bool> {
        Ok(match self.peek_command()? {
            Kind::Word => !self.peeked_word().is_some_and(|word| CLOSING_WORDS.contains(&word)),
            Kind::Number | Kind::Variable | Kind::Array => true,
            Kind::Operator(operator) => operator == Operator::Open || operator.redirects(),
            Kind::Newline | Kind::End => false,
        })
    }

    fn and_or(&mut self) -> Result<ast::AndOrList> {
        let first = self.pipeline()?;
        let mut additional = Vec::new();
        loop {
            let join = match self.peek()? {
                Kind::Operator(Operator::AndAnd) => AndOr::And,
                Kind::Operator(Operator::OrOr) => AndOr::Or,
                _ => return Ok(ast::AndOrList { first, additional }),
            };
            self.token = None;
            self.skip_newlines()?;
            additional.push(join(self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<ast::Pipeline> {
        let mut bang = false;
        let mut timed = None;
        let mut prefixed = false;
        self.assignments = Assignments::Leading;
        while self.peek_command()? == Kind::Word {
            match self.peeked_word() {
                Some("!") => {
                    self.token = None;
                    bang = !bang;
                }
                Some("time") if !self.options.sh_mode => timed = Some(self.timed()?),
                _ => break,
            }
            prefixed = true;
        }
        let ends = matches!(self.peek()?, Kind::Newline | Kind::End | Kind::Operator(Operator::Semicolon));
        let seq = if prefixed && ends { Vec::new() } else { self.stages()? };
        Ok(ast::Pipeline { timed, bang, seq })
    }

    fn timed(&mut self) -> Result<ast::PipelineTimed> {
        let token = self.take()?;
        let span = self.cursor.span_at(token.start);
        let mut posix = false;
        if self.peek()? == Kind::Word && self.peeked_word() == Some("-p") {
            self.token = None;
            posix = true;
        }
        if self.peek()? == Kind::Word && self.peeked_word() == Some("--") {
            self.token = None;
        }
        Ok(if posix { ast::PipelineTimed::TimedWithPosixOutput(span) } else { ast::PipelineTimed::Timed(span) })
    }

    fn stages(&mut self) -> Result<Vec<ast::Command>> {
        let mut seq = Vec::with_capacity(1);
        loop {
            let mut command = self.command()?;
            let more = match self.peek()? {
                Kind::Operator(Operator::Pipe) => true,
                Kind::Operator(Operator::PipeBoth) => {
                    redirect_errors_too(&mut command);
                    true
                }
                _ => false,
            };
            seq.push(command);
            if !more {
                return Ok(seq);
            }
            self.token = None;
            self.skip_newlines()?;
            self.assignments = Assignments::Leading;
        }
    }
}

/// `|&` redirects standard error behind all other redirections.
fn redirect_errors_too(command: &mut ast::Command) {
    let redirect = ast::IoRedirect::File(
        Some(2),
        ast::IoFileRedirectKind::DuplicateOutput,
        ast::IoFileRedirectTarget::Duplicate(ast::Word::new("1")),
    );
    let redirects = match command {
        ast::Command::Simple(simple) => {
            let suffix = simple.suffix.get_or_insert_default();
            suffix.0.push(ast::CommandPrefixOrSuffixItem::IoRedirect(redirect));
            return;
        }
        ast::Command::Compound(_, redirects) | ast::Command::ExtendedTest(_, redirects) => redirects,
        ast::Command::Function(function) => &mut function.body.1,
    };
    redirects.get_or_insert_with(|| ast::RedirectList(Vec::new())).0.push(redirect);
}
