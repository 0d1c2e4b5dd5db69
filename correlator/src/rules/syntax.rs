//! Regular expressions as gitleaks' engine writes them, rewritten for ours where the two differ.
//!
//! Both are automata with nearly one syntax. There `{` that begins no repetition is a brace, `\Q…\E` quotes, and a class knows
//! no sets in sets. What is wrong in both is left as it is, for the compiler to say.

use std::iter::Peekable;
use std::str::Chars;

/// Rewrites a regular expression.
pub(super) fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => escape(&mut rest, &mut out),
            '[' => class(&mut rest, &mut out),
            '{' if !begins_repetition(rest.clone()) => out.push_str("\\{"),
            _ => out.push(letter),
        }
    }
    out
}

/// Takes over what follows a backslash.
fn escape(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    let Some(letter) = rest.next() else {
        out.push('\\');
        return;
    };
    if letter == 'Q' {
        return quote(rest, out);
    }
    out.push('\\');
    out.push(letter);
    // The braces of `\x{41}` and `\p{Greek}` are no repetition.
    if matches!(letter, 'x' | 'p' | 'P') && rest.peek() == Some(&'{') {
        through('}', rest, out);
    }
}

/// Takes over a literal up to `\E` or the end.
fn quote(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    while let Some(letter) = rest.next() {
        if letter == '\\' && rest.peek() == Some(&'E') {
            rest.next();
            return;
        }
        if letter.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(letter);
    }
}

/// Takes over a class after its opening bracket.
fn class(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    if rest.peek() == Some(&'^') {
        out.extend(rest.next());
    }
    if rest.peek() == Some(&']') {
        rest.next();
        out.push_str("\\]");
    }
    let mut before = None;
    while let Some(letter) = rest.next() {
        match letter {
            ']' => {
                out.push(']');
                return;
            }
            '\\' => escape(rest, out),
            '[' if rest.peek() == Some(&':') => {
                out.push('[');
                through(']', rest, out);
            }
            '[' => out.push_str("\\["),
            // Twice in a row these would mean intersection or difference.
            '&' | '~' if before == Some(letter) => out.extend(['\\', letter]),
            '-' if before == Some('-') => out.push_str("\\-"),
            _ => out.push(letter),
        }
        before = (letter != '\\').then_some(letter);
    }
}

/// Whether the text after `{` is `2}`, `2,}` or `2,3}`.
fn begins_repetition(mut rest: Peekable<Chars<'_>>) -> bool {
    let digits = |rest: &mut Peekable<Chars<'_>>| {
        let mut count = 0;
        while rest.next_if(char::is_ascii_digit).is_some() {
            count += 1;
        }
        count
    };
    if digits(&mut rest) == 0 {
        return false;
    }
    if rest.next_if_eq(&',').is_some() {
        digits(&mut rest);
    }
    rest.next() == Some('}')
}

/// Takes letters over up to one, with that one.
fn through(last: char, rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    for letter in rest {
        out.push(letter);
        if letter == last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::translated;

    #[test]
    fn what_both_engines_write_alike_stays() {
        for same in
            [r"acme_[a-z0-9]{32}", r"(?i)\b([[:alnum:]]{2,}|\x{41}\pL\p{Greek}{2,3}?)\z", r"[^\]\w.-]", r"a{2}}"]
        {
            assert_eq!(translated(same), same);
        }
    }

    #[test]
    fn what_only_the_other_engine_takes_is_rewritten() {
        for (theirs, ours) in [
            (r"\$?{{[^}]+}}", r"\$?\{\{[^}]+}}"),
            ("a{,3}{x}", r"a\{,3}\{x}"),
            (r"\Qa.b*\E+", r"a\.b\*+"),
            ("[a[b&&c--d~~]", r"[a\[b&\&c-\-d~\~]"),
            ("[]a][^]a]", r"[\]a][^\]a]"),
            ("a\\", "a\\"),
        ] {
            assert_eq!(translated(theirs), ours);
        }
    }
}
