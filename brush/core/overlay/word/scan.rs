//! Where quoted and nested text ends.
//!
//! Every function takes the position after what opened the text, and gives that after what closes it, or none where nothing
//! does. Nothing is interpreted. Part of what replaces upstream's parser of words.
#![warn(warnings, clippy::all, clippy::pedantic)]

/// After the closing single quote.
pub(crate) fn single_quotes(text: &[u8], from: usize) -> Option<usize> {
    text.get(from..)?.iter().position(|byte| *byte == b'\'').map(|at| from + at + 1)
}

/// After the closing quote of `$'…'`.
pub(crate) fn ansi_quotes(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'\'' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// After the closing double quote.
pub(crate) fn double_quotes(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            b'`' => at = backquotes(text, at + 1)?,
            b'$' => at = dollar(text, at, true)?,
            _ => at += 1,
        }
    }
}

/// After the closing backquote.
pub(crate) fn backquotes(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'`' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// After the expansion that a dollar opens, or after the dollar alone.
pub(crate) fn dollar(text: &[u8], at: usize, quoted: bool) -> Option<usize> {
    match text.get(at + 1) {
        Some(b'{') => braces(text, at + 2, quoted),
        Some(b'(') => match arithmetic(text, at + 1) {
            Some((_, end)) => Some(end),
            None => command(text, at + 2),
        },
        Some(b'[') => brackets(text, at + 2),
        Some(b'\'') if !quoted => ansi_quotes(text, at + 2),
        _ => Some(at + 1),
    }
}

/// After the brace that closes `${`.
pub(crate) fn braces(text: &[u8], mut at: usize, quoted: bool) -> Option<usize> {
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'}' => return Some(at + 1),
            b'"' => at = double_quotes(text, at + 1)?,
            b'\'' if !quoted => at = single_quotes(text, at + 1)?,
            b'`' => at = backquotes(text, at + 1)?,
            b'$' if text.get(at + 1) == Some(&b'\'') => at = ansi_quotes(text, at + 2)?,
            b'$' => at = dollar(text, at, quoted)?,
            _ => at += 1,
        }
    }
}

/// After the bracket that closes a subscript or `$[`.
pub(crate) fn brackets(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b']' => return Some(at + 1),
            b'[' => at = brackets(text, at + 1)?,
            b'"' => at = double_quotes(text, at + 1)?,
            b'\'' => at = single_quotes(text, at + 1)?,
            b'`' => at = backquotes(text, at + 1)?,
            b'$' => at = dollar(text, at, false)?,
            _ => at += 1,
        }
    }
}

/// Where the expression of `((…))` ends and where the whole does, given the first of the two parentheses; none if this is
/// a command in parentheses.
pub(crate) fn arithmetic(text: &[u8], open: usize) -> Option<(usize, usize)> {
    if text.get(open + 1) != Some(&b'(') {
        return None;
    }
    let mut depth = 0_usize;
    let mut at = open + 2;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'(' => {
                depth += 1;
                at += 1;
            }
            b')' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            b')' => return (text.get(at + 1) == Some(&b')')).then_some((at, at + 2)),
            b'"' => at = double_quotes(text, at + 1)?,
            b'\'' => at = single_quotes(text, at + 1)?,
            b'`' => at = backquotes(text, at + 1)?,
            b'$' => at = dollar(text, at, true)?,
            _ => at += 1,
        }
    }
}

/// After the parenthesis that closes a command: where the commands end, or, if they are none, where the text looks like it.
pub(crate) fn command(text: &[u8], from: usize) -> Option<usize> {
    read_command(text, from).or_else(|| Command { text, at: from, cases: Vec::new(), depth: 0, here: Vec::new() }.end())
}

fn read_command(text: &[u8], from: usize) -> Option<usize> {
    let text = std::str::from_utf8(text.get(from..)?).ok()?;
    let end = brush_parser::syntax::command_substitution_end(text, 0, &brush_parser::ParserOptions::default())?;
    Some(from + end + 1)
}

/// A walk through a command's text.
struct Command<'a> {
    text: &'a [u8],
    at: usize,
    /// For each `case` that is open: how deep it stands, and whether a pattern is next.
    cases: Vec<(usize, bool)>,
    depth: usize,
    /// The here-documents whose bodies follow the line.
    here: Vec<(Vec<u8>, bool)>,
}

impl Command<'_> {
    fn end(&mut self) -> Option<usize> {
        let mut word_starts = true;
        loop {
            let byte = *self.text.get(self.at)?;
            let starts = std::mem::replace(&mut word_starts, false);
            match byte {
                b'\\' => self.at += 2,
                b'\'' => self.at = single_quotes(self.text, self.at + 1)?,
                b'"' => self.at = double_quotes(self.text, self.at + 1)?,
                b'`' => self.at = backquotes(self.text, self.at + 1)?,
                b'$' => self.at = dollar(self.text, self.at, false)?,
                b'#' if starts => self.skip_to_line_end(),
                b'<' if self.text[self.at..].starts_with(b"<<") && !self.text[self.at..].starts_with(b"<<<") => {
                    self.here_document();
                }
                b'(' => {
                    self.open();
                    word_starts = true;
                }
                b')' => {
                    if self.close() {
                        return Some(self.at);
                    }
                    word_starts = true;
                }
                b'\n' => {
                    self.at += 1;
                    self.skip_bodies();
                    word_starts = true;
                }
                b' ' | b'\t' | b';' | b'&' | b'|' | b'<' | b'>' => {
                    if self.text[self.at..].starts_with(b";;") {
                        self.expect_pattern();
                        self.at += 1;
                    }
                    self.at += 1;
                    word_starts = true;
                }
                _ if starts => self.word(),
                _ => self.at += 1,
            }
        }
    }

    fn open(&mut self) {
        let pattern_next = self.cases.last().is_some_and(|(depth, next)| *next && *depth == self.depth);
        self.at += 1;
        if !pattern_next {
            self.depth += 1;
        }
    }

    /// Takes a closing parenthesis; whether it is the last.
    fn close(&mut self) -> bool {
        self.at += 1;
        if let Some((depth, next)) = self.cases.last_mut()
            && *depth == self.depth
            && *next
        {
            *next = false;
            return false;
        }
        if self.depth == 0 {
            return true;
        }
        self.depth -= 1;
        false
    }

    fn expect_pattern(&mut self) {
        let current = self.depth;
        if let Some((depth, next)) = self.cases.last_mut()
            && *depth == current
        {
            *next = true;
        }
    }

    /// Takes a word's plain beginning, and notes `case` and `esac`.
    fn word(&mut self) {
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        match &rest[..length] {
            b"case" if rest.get(length).is_none_or(u8::is_ascii_whitespace) => self.cases.push((self.depth, false)),
            b"in" if self.cases.last().is_some_and(|(depth, _)| *depth == self.depth) => self.expect_pattern(),
            b"esac" => {
                self.cases.pop();
            }
            _ => {}
        }
        self.at += length.max(1);
    }

    fn skip_to_line_end(&mut self) {
        while self.text.get(self.at).is_some_and(|byte| *byte != b'\n') {
            self.at += 1;
        }
    }

    /// Notes the here-document that `<<` announces.
    fn here_document(&mut self) {
        self.at += 2;
        let stripped = self.text.get(self.at) == Some(&b'-');
        self.at += usize::from(stripped);
        while matches!(self.text.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let mut delimiter = Vec::new();
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'\'' | b'"' => {}
                b'\\' => {
                    self.at += 1;
                    delimiter.extend(self.text.get(self.at));
                }
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => break,
                other => delimiter.push(*other),
            }
            self.at += 1;
        }
        self.here.push((delimiter, stripped));
    }

    fn skip_bodies(&mut self) {
        for (delimiter, stripped) in std::mem::take(&mut self.here) {
            while self.at < self.text.len() {
                let rest = &self.text[self.at..];
                let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let mut line = &rest[..length];
                while let (true, Some((b'\t', tail))) = (stripped, line.split_first()) {
                    line = tail;
                }
                self.at = (self.at + length + 1).min(self.text.len());
                if line == delimiter.as_slice() {
                    break;
                }
            }
        }
    }
}
