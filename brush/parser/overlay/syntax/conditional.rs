//! `[[ … ]]`.
//!
//! Part of what replaces upstream's grammar. Operands stay as they were written.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::{Kind, Operator, Token};
use super::{Assignments, Parser, Result, SyntaxErrorKind};
use crate::ast::{self, BinaryPredicate as Binary, ExtendedTestExpr as Expr, UnaryPredicate as Unary};

/// What bash calls a number that touches a redirection, which has no text there.
const NUMBER_TOKEN: u32 = 284;

impl Parser<'_> {
    /// Reads `[[ … ]]`, at whose first token the reader stands.
    pub(super) fn extended_test(&mut self) -> Result<ast::ExtendedTestExprCommand> {
        let token = self.take()?;
        self.assignments = Assignments::None;
        let expr = self.either()?;
        if !self.at_end()? {
            let found = self.take()?;
            if found.kind == Kind::End {
                return Err(self.error_at(token.start, SyntaxErrorKind::UnclosedTest, false));
            }
            let words = "syntax error in conditional expression".to_owned();
            return Err(self.conditional_error(found.start, words));
        }
        self.token = None;
        self.assignments = Assignments::Leading;
        let loc = self.cursor.span_at(token.start);
        Ok(ast::ExtendedTestExprCommand { expr, loc })
    }

    fn at_end(&mut self) -> Result<bool> {
        Ok(self.peek()? == Kind::Word && self.peeked_word() == Some("]]"))
    }

    #[expect(clippy::unnecessary_box_returns, reason = "errors travel boxed, so that results stay small")]
    fn conditional_error(&mut self, at: usize, words: String) -> Box<super::SyntaxError> {
        self.error_at(at, SyntaxErrorKind::Conditional(words), false)
    }

    /// A token where an operand was to come. bash says nothing of `]]`.
    #[expect(clippy::unnecessary_box_returns, reason = "errors travel boxed, so that results stay small")]
    fn misplaced(&mut self, token: &Token) -> Box<super::SyntaxError> {
        let words = match token.kind {
            Kind::Word if self.text_of(token) == "]]" => String::new(),
            Kind::Number => format!("unexpected token {NUMBER_TOKEN} in conditional command"),
            _ => format!("unexpected token `{}' in conditional command", self.name_of(token)),
        };
        self.conditional_error(token.start, words)
    }

    fn either(&mut self) -> Result<Expr> {
        let left = self.both()?;
        if self.take_operator(Operator::OrOr)? {
            let right = self.either()?;
            return Ok(Expr::Or(Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Expr> {
        let left = self.term()?;
        if self.take_operator(Operator::AndAnd)? {
            let right = self.both()?;
            return Ok(Expr::And(Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn term(&mut self) -> Result<Expr> {
        self.skip_newlines()?;
        let kind = self.peek()?;
        if kind == Kind::Operator(Operator::Open) {
            return self.deeper(Self::parenthesized);
        }
        let token = self.take()?;
        if kind != Kind::Word || self.text_of(&token) == "]]" {
            return Err(self.misplaced(&token));
        }
        if self.text_of(&token) == "!" {
            let negated = self.deeper(Self::term)?;
            self.skip_newlines()?;
            return Ok(Expr::Not(Box::new(negated)));
        }
        let unary = unary(self.text_of(&token));
        let next = self.peek()?;
        let expr = match unary {
            Some(unary) => {
                if next != Kind::Word || self.at_end()? {
                    let next = self.take()?;
                    let name = self.name_of(&next);
                    let words = format!("unexpected argument `{name}' to conditional unary operator");
                    return Err(self.conditional_error(next.start, words));
                }
                let operand = self.take()?;
                Expr::UnaryTest(unary, self.word_of(&operand))
            }
            _ => self.operands(&token)?,
        };
        self.skip_newlines()?;
        Ok(expr)
    }

    fn parenthesized(&mut self) -> Result<Expr> {
        self.token = None;
        let inner = self.either().map_err(|mut error| {
            // The parenthesis is missed too.
            if let SyntaxErrorKind::Conditional(words) = &mut error.kind {
                words.push_str("\nexpected `)'");
            }
            error
        })?;
        self.skip_newlines()?;
        if !self.take_operator(Operator::Close)? {
            let found = self.take()?;
            if found.kind == Kind::End {
                return Err(self.unexpected_token(&found));
            }
            let name = self.name_of(&found);
            let words = format!("unexpected token `{name}', expected `)'");
            return Err(self.conditional_error(found.start, words));
        }
        self.skip_newlines()?;
        Ok(Expr::Parenthesized(Box::new(inner)))
    }

    /// A word by itself, or the operands of a binary operator.
    fn operands(&mut self, left: &Token) -> Result<Expr> {
        let left = self.word_of(left);
        let predicate = match self.peek()? {
            Kind::Operator(Operator::Less) => Some(Binary::LeftSortsBeforeRight),
            Kind::Operator(Operator::Greater) => Some(Binary::LeftSortsAfterRight),
            Kind::Operator(Operator::AndAnd | Operator::OrOr | Operator::Close) => None,
            Kind::Word if self.peeked_word() == Some("]]") => None,
            Kind::Word => {
                let predicate = self.peeked_word().and_then(binary);
                if predicate.is_none() {
                    let at = self.cursor.at;
                    return Err(self.conditional_error(at, "conditional binary operator expected".to_owned()));
                }
                predicate
            }
            Kind::End => return self.unexpected(),
            _ => {
                let found = self.take()?;
                let name = self.name_of(&found);
                let words = format!("unexpected token `{name}', conditional binary operator expected");
                return Err(self.conditional_error(found.start, words));
            }
        };
        let Some(predicate) = predicate else {
            return Ok(Expr::UnaryTest(Unary::StringHasNonZeroLength, left));
        };
        self.token = None;
        let right = self.right_operand(&predicate)?;
        let quoted = right.value.starts_with(['\'', '"']);
        let predicate = match predicate {
            Binary::StringMatchesRegex if quoted => Binary::StringContainsSubstring,
            other => other,
        };
        Ok(Expr::BinaryTest(predicate, left, right))
    }

    fn right_operand(&mut self, predicate: &Binary) -> Result<ast::Word> {
        let token = match predicate {
            Binary::StringMatchesRegex => {
                self.skip_blanks();
                self.read_regex()?
            }
            Binary::StringExactlyMatchesPattern
            | Binary::StringExactlyMatchesString
            | Binary::StringDoesNotExactlyMatchPattern => {
                self.pattern = true;
                let token = self.take();
                self.pattern = false;
                token?
            }
            _ => self.take()?,
        };
        if token.kind == Kind::Word && self.text_of(&token) != "]]" {
            return Ok(self.word_of(&token));
        }
        if token.kind == Kind::End {
            return Err(self.unexpected_token(&token));
        }
        let name = self.name_of(&token);
        let words = format!("unexpected argument `{name}' to conditional binary operator");
        Err(self.conditional_error(token.start, words))
    }

    /// A regular expression: parentheses hold anything, and a bar stands for itself.
    fn read_regex(&mut self) -> Result<Token> {
        let start = self.cursor.at;
        loop {
            match self.byte() {
                Some(b'(') => {
                    let open = self.cursor.at;
                    self.cursor.at += 1;
                    self.pair(b'(', b')', open, None)?;
                }
                Some(b'|') => self.cursor.at += 1,
                Some(b' ' | b'\t' | b'\n' | b'&' | b';' | b')' | b'<' | b'>') | None => break,
                Some(_) => {
                    self.read_word()?;
                }
            }
        }
        if self.cursor.at == start {
            return self.take();
        }
        Ok(Token::new(Kind::Word, start, self.cursor.at))
    }
}

fn unary(word: &str) -> Option<Unary> {
    Some(match word {
        "-a" | "-e" => Unary::FileExists,
        "-b" => Unary::FileExistsAndIsBlockSpecialFile,
        "-c" => Unary::FileExistsAndIsCharSpecialFile,
        "-d" => Unary::FileExistsAndIsDir,
        "-f" => Unary::FileExistsAndIsRegularFile,
        "-g" => Unary::FileExistsAndIsSetgid,
        "-h" | "-L" => Unary::FileExistsAndIsSymlink,
        "-k" => Unary::FileExistsAndHasStickyBit,
        "-n" => Unary::StringHasNonZeroLength,
        "-o" => Unary::ShellOptionEnabled,
        "-p" => Unary::FileExistsAndIsFifo,
        "-r" => Unary::FileExistsAndIsReadable,
        "-s" => Unary::FileExistsAndIsNotZeroLength,
        "-t" => Unary::FdIsOpenTerminal,
        "-u" => Unary::FileExistsAndIsSetuid,
        "-v" => Unary::ShellVariableIsSetAndAssigned,
        "-w" => Unary::FileExistsAndIsWritable,
        "-x" => Unary::FileExistsAndIsExecutable,
        "-z" => Unary::StringHasZeroLength,
        "-G" => Unary::FileExistsAndOwnedByEffectiveGroupId,
        "-N" => Unary::FileExistsAndModifiedSinceLastRead,
        "-O" => Unary::FileExistsAndOwnedByEffectiveUserId,
        "-R" => Unary::ShellVariableIsSetAndNameRef,
        "-S" => Unary::FileExistsAndIsSocket,
        _ => return None,
    })
}

fn binary(word: &str) -> Option<Binary> {
    Some(match word {
        "==" => Binary::StringExactlyMatchesPattern,
        // The same, as it was written.
        "=" => Binary::StringExactlyMatchesString,
        "!=" => Binary::StringDoesNotExactlyMatchPattern,
        "=~" => Binary::StringMatchesRegex,
        "-eq" => Binary::ArithmeticEqualTo,
        "-ne" => Binary::ArithmeticNotEqualTo,
        "-lt" => Binary::ArithmeticLessThan,
        "-le" => Binary::ArithmeticLessThanOrEqualTo,
        "-gt" => Binary::ArithmeticGreaterThan,
        "-ge" => Binary::ArithmeticGreaterThanOrEqualTo,
        "-ef" => Binary::FilesReferToSameDeviceAndInodeNumbers,
        "-nt" => Binary::LeftFileIsNewerOrExistsWhenRightDoesNot,
        "-ot" => Binary::LeftFileIsOlderOrDoesNotExistWhenRightDoes,
        _ => return None,
    })
}
