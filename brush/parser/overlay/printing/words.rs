//! Words as text: as they were written, but for what bash has read by then.
//!
//! bash prints command substitutions anew and has translated `$'…'` already. Upstream prints words as they are. Nothing is
//! expanded.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::Printer;
use crate::ast::{self, ProcessSubstitutionKind as Kind};
use crate::{ParserOptions, syntax};

/// How deep substitutions are printed anew; what is deeper stays as it was written.
const DEPTH_MAX: usize = 100;

impl Printer {
    pub(super) fn word(&mut self, word: &str) {
        let may_change = ["$(", "$'", "$\"", "<(", ">("].iter().any(|opening| word.contains(opening));
        if may_change && self.depth < DEPTH_MAX {
            let text = self.changed(word);
            self.push(&text);
        } else {
            self.push(word);
        }
    }

    pub(super) fn process(&mut self, kind: &Kind, list: &ast::CompoundList) {
        self.push(match kind {
            Kind::Read => "<(",
            Kind::Write => ">(",
        });
        let text = self.substitution(list);
        self.push(&text);
        self.push(")");
    }

    /// The commands of a substitution, printed by themselves.
    fn substitution(&self, list: &ast::CompoundList) -> String {
        let mut printer = Self { depth: self.depth + 1, ..Self::new() };
        printer.stays_on_line += 1;
        printer.list(list);
        printer.end_of_line("");
        let blank = if printer.text.starts_with('(') { " " } else { "" };
        format!("{blank}{}", printer.text)
    }

    fn changed(&self, word: &str) -> String {
        let mut text = String::with_capacity(word.len());
        let mut rest = word;
        let mut quoted = false;
        while let Some(first) = rest.chars().next() {
            let mut length = first.len_utf8();
            match first {
                '\\' => length += rest[length..].chars().next().map_or(0, char::len_utf8),
                '"' => quoted = !quoted,
                '\'' if !quoted => length = closing(rest, 1, '\'', false),
                '`' => length = closing(rest, 1, '`', true),
                '$' if rest.starts_with("$((") => length = syntax::pair_end(rest, 2, '(').unwrap_or(length),
                '$' if rest.starts_with("$(") => {
                    if let Some((printed, end)) = self.substituted(rest) {
                        text.push_str("$(");
                        text.push_str(&printed);
                        text.push(')');
                        rest = &rest[end..];
                        continue;
                    }
                }
                '$' if rest.starts_with("$'") && !quoted => {
                    let end = closing(rest, 2, '\'', true);
                    text.push_str(&translated(&rest[2..end.saturating_sub(1).max(2)]));
                    rest = &rest[end..];
                    continue;
                }
                '$' if rest.starts_with("$\"") && !quoted => {
                    rest = &rest[1..];
                    continue;
                }
                '<' | '>' if rest[1..].starts_with('(') && !quoted => {
                    if let Some((printed, end)) = self.substituted(rest) {
                        text.push(first);
                        text.push('(');
                        text.push_str(&printed);
                        text.push(')');
                        rest = &rest[end..];
                        continue;
                    }
                }
                _ => {}
            }
            text.push_str(&rest[..length]);
            rest = &rest[length..];
        }
        text
    }

    /// The commands of the substitution that the text begins with, and where the text goes on behind it.
    fn substituted(&self, text: &str) -> Option<(String, usize)> {
        let (list, end) = syntax::command_substitution(text, 2, &ParserOptions::default())?;
        let printed = list.map(|list| self.substitution(&list)).unwrap_or_default();
        Some((printed, end + 1))
    }
}

/// Where a quote that ends with this character ends.
fn closing(text: &str, start: usize, close: char, has_escapes: bool) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip_while(|(at, _)| *at < start) {
        if escaped {
            escaped = false;
        } else if has_escapes && character == '\\' {
            escaped = true;
        } else if character == close {
            return at + 1;
        }
    }
    text.len()
}

/// The inside of `$'…'`, single-quoted.
fn translated(inside: &str) -> String {
    let mut plain = String::new();
    let mut rest = inside;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        if first != '\\' {
            plain.push(first);
            continue;
        }
        let Some(escape) = rest.chars().next() else {
            plain.push('\\');
            break;
        };
        if escape.is_digit(8) {
            rest = number(rest, 8, 3, &mut plain);
            continue;
        }
        rest = &rest[escape.len_utf8()..];
        match escape {
            'n' => plain.push('\n'),
            't' => plain.push('\t'),
            'r' => plain.push('\r'),
            'a' => plain.push('\x07'),
            'b' => plain.push('\x08'),
            'f' => plain.push('\x0c'),
            'v' => plain.push('\x0b'),
            'e' | 'E' => plain.push('\x1b'),
            'x' => rest = number(rest, 16, 2, &mut plain),
            'u' => rest = number(rest, 16, 4, &mut plain),
            'U' => rest = number(rest, 16, 8, &mut plain),
            '\\' | '\'' | '"' | '?' => plain.push(escape),
            other => plain.extend(['\\', other]),
        }
    }
    format!("'{}'", plain.replace('\'', r"'\''"))
}

/// Reads the number of a character; what follows it.
fn number<'t>(text: &'t str, radix: u32, digits_max: usize, plain: &mut String) -> &'t str {
    let digits = text.chars().take(digits_max).take_while(|digit| digit.is_digit(radix)).count();
    let (number, rest) = text.split_at(digits);
    plain.extend(u32::from_str_radix(number, radix).ok().and_then(char::from_u32));
    rest
}
