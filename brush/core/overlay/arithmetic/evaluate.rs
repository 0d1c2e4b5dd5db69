//! The evaluation of an expression, one function for each level of precedence.
//!
//! What stands behind `&&`, `||` or `?` and doesn't count is read but not evaluated. Variables are read and changed through
//! [`crate::binding`]. Part of what replaces upstream's arithmetic.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::operators::{TIGHTEST_LEVEL, applied, operator, raised};
use super::tokens::{self, Long, Token, Wrong};
use super::{EvalError, nested};
use crate::binding::{self, Key};
use crate::extensions::ShellExtensions;
use crate::interp::ExecutionParameters;
use crate::shell::Shell;

type Value = Result<i64, EvalError>;

pub(super) struct Evaluation<'a, SE: ShellExtensions> {
    shell: &'a mut Shell<SE>,
    params: &'a ExecutionParameters,
    text: &'a str,
    depth: u32,
    /// Whether the keys of associative arrays are taken as they stand.
    keeps_keys: bool,
    /// Where the next token is read.
    at: usize,
    /// Where the last token began, for messages.
    token_start: usize,
    current: Token,
    last: Token,
    /// The value of the current token.
    value: i64,
    /// The name that was read last.
    name: &'a str,
    /// Where its subscript led.
    key: Option<Key>,
    /// How many reasons there are not to evaluate.
    skipping: u32,
}

impl<'a, SE: ShellExtensions> Evaluation<'a, SE> {
    /// The depth comes with whether keys are taken as they stand.
    pub fn new(
        shell: &'a mut Shell<SE>,
        params: &'a ExecutionParameters,
        text: &'a str,
        (depth, keeps_keys): (u32, bool),
    ) -> Self {
        Self {
            shell,
            params,
            text,
            depth,
            keeps_keys,
            at: 0,
            token_start: 0,
            current: Token::End,
            last: Token::End,
            value: 0,
            name: "",
            key: None,
            skipping: 0,
        }
    }

    /// The value of the whole text.
    pub fn value(mut self) -> Value {
        self.next()?;
        let value = self.comma()?;
        if self.current == Token::End { Ok(value) } else { Err(self.wrong("syntax error in expression")) }
    }

    fn wrong(&self, what: &str) -> EvalError {
        self.wrong_until(what, self.text.len())
    }

    /// As [`Self::wrong`], with the text only up to `end`.
    fn wrong_until(&self, what: &str, end: usize) -> EvalError {
        let text = self.text[..end].trim_start_matches([' ', '\t', '\n']);
        let token = &self.text[self.token_start.min(end)..end];
        EvalError::new(format!("{text}: {what} (error token is \"{token}\")"))
    }

    fn read(&mut self, at: usize, current: Token, last: Token) -> Result<tokens::Read, EvalError> {
        let (shell, keeps_keys) = (&*self.shell, self.keeps_keys);
        let is_plain = |name: &str| keeps_keys && binding::is_associative(shell, name);
        match tokens::read(self.text, at, current, last, &is_plain) {
            Ok(read) => {
                if read.token != Token::End {
                    self.token_start = read.start;
                }
                Ok(read)
            }
            Err((wrong, start)) => {
                self.token_start = start;
                Err(self.wrong(match wrong {
                    Wrong::Number(what, end) => return Err(self.wrong_until(what, end)),
                    Wrong::OperandExpected => "syntax error: operand expected",
                    Wrong::InvalidOperator => "syntax error: invalid arithmetic operator",
                    Wrong::NotAssignable(what) => what,
                    Wrong::Subscript => "bad array subscript",
                }))
            }
        }
    }

    fn next(&mut self) -> Result<(), EvalError> {
        let read = self.read(self.at, self.current, self.last)?;
        self.at = read.end;
        if read.token == Token::Name {
            self.name = &self.text[read.start..read.end];
            self.key = None;
            // A name that is assigned to isn't looked up.
            let after = self.read(read.end, Token::Name, self.current)?;
            self.token_start = read.start;
            let changed = matches!(self.current, Token::Long(Long::PreIncrement | Long::PreDecrement));
            self.value = if changed || after.token != Token::Op(b'=') { self.look_up()? } else { 0 };
        } else {
            self.value = read.value;
        }
        self.last = self.current;
        self.current = read.token;
        Ok(())
    }

    fn look_up(&mut self) -> Value {
        if self.skipping > 0 {
            return Ok(0);
        }
        let (shell, params) = (&mut *self.shell, self.params);
        if let Some(number) = binding::plain_number(shell, self.name) {
            return Ok(number);
        }
        let (key, value) = binding::arithmetic_value(shell, params, self.name, self.keeps_keys)?;
        self.key = key;
        match value {
            // dash takes numbers, and no expressions.
            Some(value) if shell.options().sh_mode && !tokens::is_number(&value) => {
                Err(EvalError::fatal(format!("Illegal number: {value}")))
            }
            Some(value) => nested(shell, params, &value, self.depth + 1, self.keeps_keys),
            None if shell.options().treat_unset_variables_as_error => {
                Err(EvalError::fatal(format!("{}: unbound variable", self.name)))
            }
            None => Ok(0),
        }
    }

    /// Assigns; a subscript that was read is not evaluated again.
    fn assign(&mut self, name: &str, key: Option<Key>, value: i64) -> Result<(), EvalError> {
        if self.skipping > 0 {
            return Ok(());
        }
        let key = key.or_else(|| {
            // A key that stays as it stands was not read where the element is only assigned to.
            let (array, rest) = name.split_once('[').filter(|_| self.keeps_keys)?;
            binding::is_associative(self.shell, array).then(|| Key::Text(rest[..rest.len() - 1].to_owned()))
        });
        binding::assign_number(self.shell, self.params, name, key, value)
    }

    fn comma(&mut self) -> Value {
        let mut value = self.assignment()?;
        while self.current == Token::Op(b',') {
            self.next()?;
            value = self.assignment()?;
        }
        Ok(value)
    }

    fn assignment(&mut self) -> Value {
        let left = self.condition()?;
        let operation = match self.current {
            Token::Op(b'=') => None,
            Token::Long(Long::Assign(operation)) => Some(operation),
            _ => return Ok(left),
        };
        if self.last != Token::Name {
            return Err(self.wrong("attempted assignment to non-variable"));
        }
        let (name, key) = (self.name, self.key.take());
        self.next()?;
        let mut value = self.assignment()?;
        if let Some(operation) = operation {
            if value == 0 && matches!(operation, b'/' | b'%') {
                if self.skipping == 0 {
                    return Err(self.wrong("division by 0"));
                }
                value = 1;
            }
            value = applied(operation, left, value);
        }
        self.assign(name, key, value)?;
        self.last = Token::Number;
        Ok(value)
    }

    fn condition(&mut self) -> Value {
        let condition = self.either()?;
        if self.current != Token::Op(b'?') {
            return Ok(condition);
        }
        self.skipping += u32::from(condition == 0);
        self.next()?;
        if matches!(self.current, Token::End | Token::Op(b':')) {
            return Err(self.wrong("expression expected"));
        }
        let first = self.comma()?;
        self.skipping -= u32::from(condition == 0);
        if self.current != Token::Op(b':') {
            return Err(self.wrong("`:' expected for conditional expression"));
        }
        self.skipping += u32::from(condition != 0);
        self.next()?;
        if self.current == Token::End {
            return Err(self.wrong("expression expected"));
        }
        let second = self.condition()?;
        self.skipping -= u32::from(condition != 0);
        self.last = Token::Long(Long::Condition);
        Ok(if condition != 0 { first } else { second })
    }

    fn either(&mut self) -> Value {
        let mut value = self.both()?;
        while self.current == Token::Long(Long::Or) {
            let decided = value != 0;
            self.skipping += u32::from(decided);
            self.next()?;
            let right = self.both()?;
            self.skipping -= u32::from(decided);
            value = i64::from(value != 0 || right != 0);
            self.last = Token::Number;
        }
        Ok(value)
    }

    fn both(&mut self) -> Value {
        let mut value = self.binary(0)?;
        while self.current == Token::Long(Long::And) {
            let decided = value == 0;
            self.skipping += u32::from(decided);
            self.next()?;
            let right = self.binary(0)?;
            self.skipping -= u32::from(decided);
            value = i64::from(value != 0 && right != 0);
            self.last = Token::Number;
        }
        Ok(value)
    }

    /// The operators that associate to the left, by level.
    fn binary(&mut self, level: u8) -> Value {
        if level > TIGHTEST_LEVEL {
            return self.power();
        }
        let mut value = self.binary(level + 1)?;
        while let Some((operator, of_level)) = operator(self.current)
            && of_level == level
        {
            let after_operator = self.at;
            self.next()?;
            let mut right = self.binary(level + 1)?;
            if matches!(operator, b'/' | b'%') && right == 0 {
                if self.skipping == 0 {
                    let rest = &self.text[after_operator..];
                    self.token_start = self.text.len() - rest.trim_start_matches([' ', '\t', '\n']).len();
                    return Err(self.wrong("division by 0"));
                }
                right = 1;
            }
            value = applied(operator, value, right);
            self.last = Token::Number;
        }
        Ok(value)
    }

    fn power(&mut self) -> Value {
        let base = self.unary()?;
        if self.current != Token::Long(Long::Power) {
            return Ok(base);
        }
        self.next()?;
        let exponent = self.power()?;
        self.last = Token::Number;
        if exponent < 0 {
            return Err(self.wrong("exponent less than 0"));
        }
        Ok(raised(base, exponent))
    }

    fn unary(&mut self) -> Value {
        let Token::Op(operator @ (b'!' | b'~' | b'-' | b'+')) = self.current else {
            return self.primary();
        };
        self.next()?;
        let value = self.unary()?;
        self.last = Token::Number;
        Ok(match operator {
            b'!' => i64::from(value == 0),
            b'~' => !value,
            b'-' => value.wrapping_neg(),
            _ => value,
        })
    }

    fn primary(&mut self) -> Value {
        match self.current {
            Token::Long(step @ (Long::PreIncrement | Long::PreDecrement)) => {
                self.last = self.current;
                self.next()?;
                if self.current != Token::Name {
                    return Err(self.wrong("identifier expected after pre-increment or pre-decrement"));
                }
                let value = self.value.wrapping_add(if step == Long::PreIncrement { 1 } else { -1 });
                let key = self.key.take();
                self.assign(self.name, key, value)?;
                self.current = Token::Number;
                self.next()?;
                Ok(value)
            }
            Token::Op(b'(') => {
                self.next()?;
                let value = self.comma()?;
                if self.current != Token::Op(b')') {
                    return Err(self.wrong("missing `)'"));
                }
                self.next()?;
                Ok(value)
            }
            Token::Number => {
                let value = self.value;
                self.next()?;
                Ok(value)
            }
            Token::Name => {
                let (value, name, key) = (self.value, self.name, self.key.take());
                self.next()?;
                if let Token::Long(step @ (Long::PostIncrement | Long::PostDecrement)) = self.current {
                    let changed = value.wrapping_add(if step == Long::PostIncrement { 1 } else { -1 });
                    self.assign(name, key, changed)?;
                    self.current = Token::Number;
                    self.next()?;
                } else if self.current != Token::Name {
                    (self.name, self.key) = (name, key);
                }
                Ok(value)
            }
            _ => Err(self.wrong("syntax error: operand expected")),
        }
    }
}
