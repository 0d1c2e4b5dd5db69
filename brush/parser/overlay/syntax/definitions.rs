//! Definitions of functions.
//!
//! Part of what replaces upstream's grammar. Whether a name is allowed is known when the definition is run.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::{Kind, Operator, Token};
use super::{Parser, Result};
use crate::ast;

impl Parser<'_> {
    /// `function name …`.
    pub(super) fn function_by_keyword(&mut self) -> Result<ast::Command> {
        self.take()?;
        let name = self.plain_word()?;
        if self.peek()? == Kind::Operator(Operator::Open) && self.parentheses_are_empty() {
            self.token = None;
            if !self.take_operator(Operator::Close)? {
                return self.unexpected();
            }
        }
        self.function_of(&name)
    }

    /// Whether `()` follows rather than the parenthesis of a body.
    fn parentheses_are_empty(&mut self) -> bool {
        let mut distance = 0;
        while matches!(self.byte_ahead(distance), Some(b' ' | b'\t')) {
            distance += 1;
        }
        self.byte_ahead(distance) == Some(b')')
    }

    /// `name ()`, at the first parenthesis.
    pub(super) fn function_by_parentheses(&mut self, name: &Token) -> Result<ast::Command> {
        self.take()?;
        if !self.take_operator(Operator::Close)? {
            return self.unexpected();
        }
        self.function_of(name)
    }

    fn function_of(&mut self, name: &Token) -> Result<ast::Command> {
        let fname = self.word_of(name);
        let body = self.function_body()?;
        Ok(ast::Command::Function(ast::FunctionDefinition { fname, body }))
    }

    /// `() …`, without a name.
    pub(super) fn function_parentheses_and_body(&mut self) -> Result<ast::FunctionBody> {
        if !self.take_operator(Operator::Open)? || !self.take_operator(Operator::Close)? {
            return self.unexpected();
        }
        self.function_body()
    }

    fn function_body(&mut self) -> Result<ast::FunctionBody> {
        self.skip_newlines()?;
        let Some(compound) = self.deeper(Self::compound)? else {
            return self.unexpected();
        };
        let redirects = self.redirect_list()?;
        Ok(ast::FunctionBody(compound, redirects))
    }
}
