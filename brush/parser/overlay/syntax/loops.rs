//! Loops: `for`, `select`, `while` and `until`.
//!
//! Part of what replaces upstream's grammar.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::{Kind, Operator};
use super::{Assignments, Parser, Result, SyntaxErrorKind};
use crate::ast::{self, CompoundCommand as Compound};

impl Parser<'_> {
    /// `while …; do …; done`, and `until`.
    pub(super) fn while_clause(&mut self) -> Result<ast::WhileOrUntilClauseCommand> {
        let token = self.take()?;
        let condition = self.compound_list()?;
        let body = self.do_group()?;
        let loc = self.cursor.span_at(token.start);
        Ok(ast::WhileOrUntilClauseCommand(condition, body, loc))
    }

    /// `select name …`.
    pub(super) fn select_clause(&mut self) -> Result<Compound> {
        let token = self.take()?;
        self.named_loop(token.start).map(Compound::SelectClause)
    }

    /// `for name …` or `for ((…))`.
    pub(super) fn for_clause(&mut self) -> Result<Compound> {
        let token = self.take()?;
        if self.peek()? == Kind::Operator(Operator::Open) && !self.options.sh_mode {
            return self.arithmetic_for(token.start);
        }
        self.named_loop(token.start).map(Compound::ForClause)
    }

    fn named_loop(&mut self, start: usize) -> Result<ast::ForClauseCommand> {
        let name = self.plain_word()?;
        let loc = self.cursor.span_at(start);
        let variable_name = self.text_of(&name).to_owned();
        let mut values = None;
        if self.take_operator(Operator::Semicolon)? {
            self.skip_newlines()?;
        } else {
            self.skip_newlines()?;
            if self.peek()? == Kind::Word && self.peeked_word() == Some("in") {
                self.token = None;
                values = Some(self.loop_words()?);
            }
        }
        let body = self.loop_body()?;
        Ok(ast::ForClauseCommand { variable_name, values, body, loc })
    }

    /// The words behind `in`, and what ends them.
    fn loop_words(&mut self) -> Result<Vec<ast::Word>> {
        let mut words = Vec::new();
        self.assignments = Assignments::None;
        while self.peek_argument()? == Kind::Word {
            let token = self.take()?;
            words.push(self.word_of(&token));
        }
        self.assignments = Assignments::Leading;
        if !matches!(self.peek()?, Kind::Newline | Kind::Operator(Operator::Semicolon)) {
            return self.unexpected();
        }
        self.token = None;
        self.skip_newlines()?;
        Ok(words)
    }

    fn loop_body(&mut self) -> Result<ast::DoGroupCommand> {
        if self.peek_command()? == Kind::Word && self.peeked_word() == Some("{") {
            let group = self.brace_group()?;
            return Ok(ast::DoGroupCommand { list: group.list, loc: group.loc });
        }
        self.do_group()
    }

    fn do_group(&mut self) -> Result<ast::DoGroupCommand> {
        self.keyword("do")?;
        let start = self.cursor.at;
        let list = self.compound_list()?;
        self.keyword("done")?;
        let loc = self.cursor.span_at(start);
        Ok(ast::DoGroupCommand { list, loc })
    }

    fn arithmetic_for(&mut self, start: usize) -> Result<Compound> {
        let open = self.take()?;
        if self.byte() != Some(b'(') {
            return Err(self.unexpected_token(&open));
        }
        let inner = self.cursor.at + 1;
        self.cursor.at = inner;
        self.pair(b'(', b')', open.start, None)?;
        let end = self.cursor.at - 1;
        if self.byte() != Some(b')') {
            let what = vec!["syntax error: arithmetic expression required".to_owned()];
            return Err(self.error_at(end, SyntaxErrorKind::ArithmeticFor(what), false));
        }
        self.cursor.at += 1;
        let text = self.cursor.slice(inner, end).to_owned();
        let parts = self.for_expressions(&text, start)?;
        let loc = self.cursor.span_at(start);
        if matches!(self.peek()?, Kind::Newline | Kind::Operator(Operator::Semicolon)) {
            self.token = None;
            self.skip_newlines()?;
        }
        let body = self.loop_body()?;
        let [initializer, condition, updater] = parts.map(|value| Some(ast::UnexpandedArithmeticExpr { value }));
        let clause = ast::ArithmeticForClauseCommand { initializer, condition, updater, body, loc };
        Ok(Compound::ArithmeticForClause(clause))
    }

    fn for_expressions(&mut self, text: &str, start: usize) -> Result<[String; 3]> {
        let parts: Vec<String> =
            split_at_semicolons(text).into_iter().map(|part| part.trim_start().to_owned()).collect();
        let count = parts.len();
        <[String; 3]>::try_from(parts).map_err(|_| {
            let what = if count < 3 { "arithmetic expression required" } else { "`;' unexpected" };
            let lines = vec![format!("syntax error: {what}"), format!("syntax error: `(({text}))'")];
            self.error_at(start, SyntaxErrorKind::ArithmeticFor(lines), false)
        })
    }
}

/// Splits at semicolons that are neither quoted nor between parentheses.
fn split_at_semicolons(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut quote) = (0, 0_usize, None);
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quote) {
            _ if escaped => escaped = false,
            (b'\\', _) => escaped = true,
            (_, Some(open)) if byte == open => quote = None,
            (b'"' | b'\'' | b'`', None) => quote = Some(byte),
            (b'(' | b'{', None) => depth += 1,
            (b')' | b'}', None) => depth = depth.saturating_sub(1),
            (b';', None) if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
