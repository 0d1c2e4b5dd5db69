//! Redirections.
//!
//! Part of what replaces upstream's grammar. What they open is not looked at.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::{Kind, Operator, Token};
use super::{Assignments, Parser, Result};
use crate::ast::{self, IoFileRedirectKind as FileKind, IoFileRedirectTarget as Target, IoRedirect};

impl Parser<'_> {
    /// The redirections behind a compound command.
    pub(super) fn redirect_list(&mut self) -> Result<Option<ast::RedirectList>> {
        let mut redirects = Vec::new();
        while self.at_redirect()? {
            redirects.push(self.redirect()?);
        }
        if !redirects.is_empty() && self.peek()? == Kind::Word {
            // No reserved word is recognised behind a redirection.
            return self.unexpected();
        }
        Ok(Some(ast::RedirectList(redirects)).filter(|list| !list.0.is_empty()))
    }

    /// Whether a redirection comes next.
    pub(super) fn at_redirect(&mut self) -> Result<bool> {
        Ok(match self.peek()? {
            Kind::Number | Kind::Variable => true,
            Kind::Operator(operator) => operator.redirects(),
            _ => false,
        })
    }

    /// Reads one redirection.
    pub(super) fn redirect(&mut self) -> Result<IoRedirect> {
        let mut number = None;
        let mut variable = None;
        let first = self.take()?;
        let operator = match first.kind {
            Kind::Number => {
                number = self.text_of(&first).parse().ok();
                self.take()?
            }
            Kind::Variable => {
                let text = self.text_of(&first);
                variable = text.get(1..text.len() - 1).map(str::to_owned);
                self.take()?
            }
            _ => first,
        };
        let Kind::Operator(kind) = operator.kind else {
            return Err(self.unexpected_token(&operator));
        };
        let redirect = self.redirect_of(number, kind, &operator)?;
        Ok(match variable {
            Some(name) => IoRedirect::Named(name, Box::new(redirect)),
            None => redirect,
        })
    }

    fn redirect_of(&mut self, number: Option<ast::IoFd>, kind: Operator, token: &Token) -> Result<IoRedirect> {
        let assignments = std::mem::replace(&mut self.assignments, Assignments::None);
        let target = match self.peek()? {
            Kind::Word => self.take()?,
            // `>2>f`: what touches a redirection is no target.
            _ => return self.unexpected(),
        };
        self.assignments = assignments;
        let file = |kind, target| IoRedirect::File(number, kind, target);
        Ok(match kind {
            Operator::Document | Operator::DocumentWithoutTabs => {
                let end = self.word_of(&target);
                let without_tabs = kind == Operator::DocumentWithoutTabs;
                IoRedirect::HereDocument(number, self.expect_document(end, without_tabs, token.start))
            }
            Operator::HereString => IoRedirect::HereString(number, self.word_of(&target)),
            Operator::Both => IoRedirect::OutputAndError(self.word_of(&target), false),
            Operator::BothAppend => IoRedirect::OutputAndError(self.word_of(&target), true),
            Operator::LessAnd => file(FileKind::DuplicateInput, Target::Duplicate(self.word_of(&target))),
            Operator::GreaterAnd => file(FileKind::DuplicateOutput, Target::Duplicate(self.word_of(&target))),
            Operator::LessGreater => file(FileKind::ReadAndWrite, self.file_target(target)),
            Operator::Append => file(FileKind::Append, self.file_target(target)),
            Operator::Clobber => file(FileKind::Clobber, self.file_target(target)),
            Operator::Greater => file(FileKind::Write, self.file_target(target)),
            _ => file(FileKind::Read, self.file_target(target)),
        })
    }

    fn file_target(&mut self, mut token: Token) -> Target {
        match token.process.take() {
            Some(process) => Target::ProcessSubstitution(process.0, process.1),
            None => Target::Filename(self.word_of(&token)),
        }
    }
}
