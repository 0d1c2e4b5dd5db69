//! Words: quotes and expansions that dash has, and expands alike.
//!
//! Words come as they were typed. Commands in them are looked through as scripts of their own.

use super::{Check, Doubt};

/// Variables that a shell computes, and that mean something else or nothing to dash.
const COMPUTED: &[&str] = &["LINENO", "-", "_", "!"];

impl Check<'_> {
    /// One word of a command, of a list, or of a redirection.
    pub(super) fn word(self, text: &str) -> Result<(), Doubt> {
        // Lengths and patterns count bytes in dash, and characters elsewhere.
        if !text.is_ascii() && text.contains(['?', '[', '{']) {
            return Err("text");
        }
        self.scan(&mut Cursor { text, at: 0 }, Stop::Never, false)
    }

    /// The text of a here-document.
    pub(super) fn document(self, text: &str) -> Result<(), Doubt> {
        self.scan(&mut Cursor { text, at: 0 }, Stop::Never, true)
    }

    /// Goes on to where the text stops; `in_quotes` as between double quotes.
    fn scan(self, cursor: &mut Cursor<'_>, stop: Stop, in_quotes: bool) -> Result<(), Doubt> {
        while let Some(character) = cursor.next() {
            match character {
                '"' if stop == Stop::Quote => return Ok(()),
                '}' if stop == Stop::Brace => return Ok(()),
                '\\' => {
                    cursor.next();
                }
                '\'' if !in_quotes => cursor.skip_past('\'')?,
                '"' if !in_quotes => self.scan(cursor, Stop::Quote, true)?,
                // Quotes inside of an expansion that is quoted itself are read in different ways.
                '"' | '\'' if stop == Stop::Brace => return Err("quotes"),
                '`' => self.backquoted(cursor)?,
                '$' => self.dollar(cursor, in_quotes)?,
                '(' | ')' | '<' | '>' if !in_quotes => return Err("word"),
                '[' if !in_quotes && cursor.peek() == Some('^') => return Err("pattern"),
                _ => {}
            }
        }
        if stop == Stop::Never { Ok(()) } else { Err("syntax") }
    }

    fn dollar(self, cursor: &mut Cursor<'_>, in_quotes: bool) -> Result<(), Doubt> {
        match cursor.peek() {
            Some('\'' | '"') if !in_quotes => Err("dollar quote"),
            Some('[') => Err("arithmetic"),
            Some('(') => {
                cursor.next();
                let inside = cursor.take_parenthesized()?;
                match inside.strip_prefix('(').and_then(|inside| inside.strip_suffix(')')) {
                    Some(expression) => arithmetic(expression),
                    None => self.nested(inside),
                }
            }
            Some('{') => {
                cursor.next();
                self.parameter(cursor, in_quotes)
            }
            Some('-') => Err("parameter"),
            _ => {
                let name = cursor.take_while(|character| character.is_ascii_alphanumeric() || character == '_');
                if COMPUTED.contains(&name) { Err("parameter") } else { Ok(()) }
            }
        }
    }

    /// What stands behind `${`.
    fn parameter(self, cursor: &mut Cursor<'_>, in_quotes: bool) -> Result<(), Doubt> {
        let mut name = cursor.take_while(|character| character.is_ascii_alphanumeric() || character == '_');
        if name.is_empty() {
            let start = cursor.at;
            if !matches!(cursor.next(), Some('@' | '*' | '#' | '?' | '$' | '!')) {
                return Err("parameter");
            }
            name = &cursor.text[start..cursor.at];
            if cursor.peek() != Some('}') {
                return Err("parameter");
            }
        }
        if COMPUTED.contains(&name) && name != "!" {
            return Err("parameter");
        }
        match cursor.next() {
            Some('}') => return Ok(()),
            Some(':') if matches!(cursor.peek(), Some('-' | '=' | '+')) => {
                cursor.next();
            }
            // `?` ends the shell with words that are not dash's.
            Some('-' | '=' | '+') => {}
            Some(operator @ ('#' | '%')) => {
                if cursor.peek() == Some(operator) {
                    cursor.next();
                }
                // A pattern between double quotes has quotes of its own.
                return self.scan(cursor, Stop::Brace, false);
            }
            _ => return Err("parameter"),
        }
        self.scan(cursor, Stop::Brace, in_quotes)
    }

    fn backquoted(self, cursor: &mut Cursor<'_>) -> Result<(), Doubt> {
        let mut inside = String::new();
        loop {
            match cursor.next() {
                None => return Err("syntax"),
                Some('`') => return self.nested(&inside),
                Some('\\') => match cursor.next() {
                    Some(character @ ('`' | '$' | '\\')) => inside.push(character),
                    Some('"') => return Err("quotes"),
                    Some(character) => inside.extend(['\\', character]),
                    None => return Err("syntax"),
                },
                Some(character) => inside.push(character),
            }
        }
    }
}

/// Where a piece of a word ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Never,
    Quote,
    Brace,
}

/// A word and how far it has been read.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let start = self.at;
        while self.peek().is_some_and(&belongs) {
            self.next();
        }
        &self.text[start..self.at]
    }

    fn skip_past(&mut self, end: char) -> Result<(), Doubt> {
        while let Some(character) = self.next() {
            if character == end {
                return Ok(());
            }
        }
        Err("syntax")
    }

    /// What stands up to the parenthesis that closes the one just read.
    fn take_parenthesized(&mut self) -> Result<&'t str, Doubt> {
        let start = self.at;
        let mut depth = 1;
        while let Some(character) = self.next() {
            match character {
                '\\' => {
                    self.next();
                }
                '\'' => self.skip_past('\'')?,
                '"' => {
                    while let Some(character) = self.next() {
                        match character {
                            '"' => break,
                            '\\' => {
                                self.next();
                            }
                            // Quotes that stand in an expansion inside of quotes are not told apart here.
                            '`' => return Err("quotes"),
                            '$' if self.peek() == Some('(') => {
                                self.next();
                                self.take_parenthesized()?;
                            }
                            _ => {}
                        }
                    }
                }
                '#' => return Err("comment"),
                '(' => depth += 1,
                ')' => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(&self.text[start..self.at - 1]);
                    }
                }
                _ => {}
            }
        }
        Err("syntax")
    }
}

/// Arithmetic without anything that can fail, and with dash's operators only.
fn arithmetic(expression: &str) -> Result<(), Doubt> {
    let is_known = |character: char| {
        character.is_ascii_alphanumeric()
            || matches!(character, '_' | '$' | ' ' | '+' | '-' | '*' | '(' | ')' | '<' | '>')
    };
    let has_doubtful_pair = ["++", "--", "**", "<<", ">>", "$("].iter().any(|pair| expression.contains(pair));
    let mut number = String::new();
    for character in expression.chars().chain([' ']) {
        if character.is_ascii_alphanumeric() || character == '_' {
            number.push(character);
            continue;
        }
        let is_octal = number.len() > 1 && number.starts_with('0');
        let is_mixed = number.starts_with(|first: char| first.is_ascii_digit()) && number.parse::<i32>().is_err();
        if is_octal || is_mixed {
            return Err("number");
        }
        number.clear();
    }
    if brush_parser::arithmetic::parse(&expression.replace('$', "")).is_err() {
        return Err("arithmetic");
    }
    if expression.trim().is_empty() || !expression.chars().all(is_known) || has_doubtful_pair {
        return Err("arithmetic");
    }
    Ok(())
}

/// The text of a word that holds no expansion, without its quotes; nothing for others.
pub(super) fn literal(word: &str) -> Option<String> {
    let mut text = String::new();
    let mut characters = word.chars();
    let mut quote = None;
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\'', None) => quote = Some('\''),
            ('\'', Some('\'')) | ('"', Some('"')) => quote = None,
            ('"', None) => quote = Some('"'),
            ('\\', None) => text.push(characters.next()?),
            ('\\', Some('"')) => match characters.next()? {
                character @ ('$' | '`' | '"' | '\\') => text.push(character),
                character => text.extend(['\\', character]),
            },
            ('$' | '`', None | Some('"')) | ('*' | '?' | '[' | '~', None) => return None,
            (character, _) => text.push(character),
        }
    }
    quote.is_none().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::{arithmetic, literal};

    #[test]
    fn a_literal_is_what_has_no_expansion() {
        assert_eq!(literal("a'b c'\"d\\\"\"\\ e").as_deref(), Some("ab cd\" e"));
        assert_eq!(literal("a$b"), None);
        assert_eq!(literal("'a$b'").as_deref(), Some("a$b"));
        assert_eq!(literal("*.c"), None);
    }

    #[test]
    fn arithmetic_that_can_fail_is_left_to_dash() {
        for good in ["x+1", "$x * (2 - y)", "1 < 2"] {
            assert!(arithmetic(good).is_ok(), "{good}");
        }
        for bad in ["1+", "x++", "1/0", "08", "1z", "", "x=5", "1?2:3", "x**2"] {
            assert!(arithmetic(bad).is_err(), "{bad}");
        }
    }
}
