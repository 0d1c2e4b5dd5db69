//! `test` and `[`: by the number of words where POSIX says so, else by bash's little grammar.
//!
//! What a single operator finds out is next door.

use super::call::{Call, USAGE};
use super::predicates;

/// Why a condition can't be tested; in bash's words.
pub(crate) type Mistake = String;

/// Runs `test`.
pub(crate) fn test(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    finish(call, words, None)
}

/// Runs `[`.
pub(crate) fn bracket(call: &mut Call<'_>) -> u8 {
    let mut words = std::mem::take(&mut call.words);
    if words.pop().as_deref() != Some("]") {
        call.complain("missing `]'");
        return USAGE;
    }
    finish(call, words, Some("]"))
}

fn finish(call: &mut Call<'_>, words: Vec<String>, closing: Option<&'static str>) -> u8 {
    match (Condition { call, words: &words, at: 0, closing }).by_count() {
        Ok(holds) => u8::from(!holds),
        Err(mistake) => {
            // dash's complaint hangs on them.
            call.words = words;
            call.complain(&mistake);
            USAGE
        }
    }
}

struct Condition<'p, 'c> {
    call: &'p mut Call<'c>,
    words: &'p [String],
    at: usize,
    /// What bash sees behind the last word.
    closing: Option<&'static str>,
}

impl<'p> Condition<'p, '_> {
    /// Up to four words mean what their number says.
    fn by_count(mut self) -> Result<bool, Mistake> {
        match self.words {
            [] => Ok(false),
            [word] => Ok(!word.is_empty()),
            [_, _] => self.two(self.words),
            [_, _, _] => self.three(self.words),
            [not, rest @ ..] if rest.len() == 3 && not == "!" => self.three(rest).map(|holds| !holds),
            [open, first, second, close] if open == "(" && close == ")" => {
                let inner = [first.clone(), second.clone()];
                self.two(&inner)
            }
            _ => self.whole(),
        }
    }

    fn two(&mut self, words: &[String]) -> Result<bool, Mistake> {
        if words[0] == "!" {
            return Ok(words[1].is_empty());
        }
        if !is_unary(&words[0]) {
            return Err(format!("{}: unary operator expected", words[0]));
        }
        Ok(predicates::unary(self.call, &words[0], &words[1]))
    }

    fn three(&mut self, words: &[String]) -> Result<bool, Mistake> {
        let [first, operator, last] = words else { return Ok(false) };
        match operator.as_str() {
            operator if is_binary(operator) => predicates::binary(self.call, first, operator, last),
            "-a" => Ok(!first.is_empty() && !last.is_empty()),
            "-o" => Ok(!first.is_empty() || !last.is_empty()),
            _ if first == "!" => self.two(&words[1..]).map(|holds| !holds),
            _ if first == "(" && last == ")" => Ok(!operator.is_empty()),
            _ => Err(format!("{operator}: binary operator expected")),
        }
    }

    fn whole(&mut self) -> Result<bool, Mistake> {
        let holds = self.either()?;
        match self.current() {
            None => Ok(holds),
            Some(word) if word.starts_with('-') => Err(format!("syntax error: `{word}' unexpected")),
            Some(_) => Err("too many arguments".to_owned()),
        }
    }

    fn either(&mut self) -> Result<bool, Mistake> {
        let mut holds = self.both()?;
        if self.current() == Some("-o") {
            self.at += 1;
            holds |= self.either()?;
        }
        Ok(holds)
    }

    fn both(&mut self) -> Result<bool, Mistake> {
        let mut holds = self.term()?;
        if self.current() == Some("-a") {
            self.at += 1;
            holds &= self.both()?;
        }
        Ok(holds)
    }

    fn term(&mut self) -> Result<bool, Mistake> {
        let first = self.needed()?;
        if first == "!" {
            self.at += 1;
            self.needed()?;
            return self.term().map(|holds| !holds);
        }
        if first == "(" {
            self.at += 1;
            self.needed()?;
            let holds = self.either()?;
            match self.current().or(self.closing) {
                Some(")") => self.at += 1,
                Some(word) => return Err(format!("`)' expected, found {word}")),
                None => return Err("`)' expected".to_owned()),
            }
            return Ok(holds);
        }
        let rest = &self.words[self.at..];
        if let [left, operator, right, ..] = rest
            && is_binary(operator)
        {
            self.at += 3;
            return predicates::binary(self.call, left, operator, right);
        }
        if let [operator, operand, ..] = rest
            && is_unary(operator)
        {
            self.at += 2;
            return Ok(predicates::unary(self.call, operator, operand));
        }
        self.at += 1;
        Ok(!first.is_empty())
    }

    fn current(&self) -> Option<&'p str> {
        self.words.get(self.at).map(String::as_str)
    }

    fn needed(&self) -> Result<&'p str, Mistake> {
        self.current().ok_or_else(|| "argument expected".to_owned())
    }
}

fn is_unary(word: &str) -> bool {
    matches!(word.as_bytes(), [b'-', letter] if b"abcdefghknoprstuvwxzGLNORS".contains(letter))
}

fn is_binary(word: &str) -> bool {
    matches!(
        word,
        "=" | "==" | "!=" | "<" | ">" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-nt" | "-ot" | "-ef"
    )
}
