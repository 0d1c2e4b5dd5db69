//! `((…))`.
//!
//! Part of what replaces upstream's grammar. The expression stays text.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::Token;
use super::{Parser, Result};
use crate::ast;

impl Parser<'_> {
    /// Reads an arithmetic command whose first parenthesis was taken; nothing where two subshells begin instead.
    pub(super) fn arithmetic_command(&mut self, open: &Token) -> Result<Option<ast::ArithmeticCommand>> {
        let second = self.cursor.at;
        self.cursor.at = second + 1;
        self.pair(b'(', b')', open.start, None)?;
        let end = self.cursor.at - 1;
        if self.byte() != Some(b')') {
            self.cursor.at = second;
            return Ok(None);
        }
        self.cursor.at += 1;
        let value = self.cursor.slice(second + 1, end).to_owned();
        let loc = self.cursor.span_at(open.start);
        Ok(Some(ast::ArithmeticCommand { expr: ast::UnexpandedArithmeticExpr { value }, loc }))
    }
}
