//! Builtins: which calls of them dash and the interpreter answer alike.
//!
//! Only words that are known before anything runs are judged; where the answer hangs on others, the call is not allowed.

use brush_core::env::valid_variable_name;

use super::words::literal;
use super::{Check, Doubt};

/// Builtins whose failure ends a POSIX shell.
const SPECIAL: &[&str] = &[
    ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "times",
    "trap", "unset",
];

/// Builtins of dash's that are not allowed at all: their answers have words of their own.
const NOT_ALIKE: &[&str] = &[
    ".", "alias", "bg", "eval", "fg", "hash", "jobs", "readonly", "times", "trap", "type", "ulimit", "unalias", "chdir",
];

/// Operators of dash's `test`.
const TESTS: &[&str] = &[
    "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-n", "-p", "-r", "-s", "-S", "-t", "-u", "-w", "-x", "-z",
    "-O", "-G", "-ef", "=", "!=", "-eq", "-ne", "-gt", "-lt", "-ge", "-le", "!",
];

/// Whether a name is that of a special builtin.
pub(super) fn is_special(name: &str) -> bool {
    SPECIAL.contains(&name)
}

impl Check<'_> {
    /// A call of whatever a name stands for, with its words as typed; `assigns` for one with assignments before it.
    pub(super) fn call(self, name: &str, words: &[&str], assigns: bool) -> Result<(), Doubt> {
        let name = if name == "[" { Some(name.to_owned()) } else { literal(name) };
        let Some(name) = name else { return Ok(()) };
        if NOT_ALIKE.contains(&name.as_str()) || (assigns && is_special(&name)) {
            return Err("builtin");
        }
        let literals: Vec<Option<String>> = words.iter().map(|word| literal(word)).collect();
        let all: Option<Vec<&str>> = literals.iter().map(Option::as_deref).collect();
        let first = literals.first().and_then(Option::as_deref);
        let is_allowed = match name.as_str() {
            "[" => words.last() == Some(&"]") && is_plain_test(&words[..words.len() - 1], &literals),
            "test" => is_plain_test(words, &literals),
            "printf" => first.is_some_and(is_plain_format),
            "cd" => words.len() <= 1 && first.is_none_or(|word| word == "-" || !word.starts_with('-')),
            "pwd" => all.is_some_and(|all| all.is_empty()),
            "return" if !self.in_function => false,
            "break" | "continue" if !self.in_loop => false,
            "exit" | "return" | "break" | "continue" | "shift" => {
                words.len() <= 1 && first.is_none_or(|word| word.parse::<u8>().is_ok())
            }
            "umask" => words.len() == 1 && first.is_some_and(|word| word.len() < 5 && word.bytes().all(is_octal)),
            "set" => is_plain_set(&literals),
            "export" => !words.is_empty() && words.iter().all(|word| is_plain_assignment(word, true)),
            "local" => !words.is_empty() && words.iter().all(|word| is_plain_assignment(word, false)),
            "unset" => all.is_some_and(|all| !all.is_empty() && is_names(&all, &["-v", "-f"])),
            "read" => all.is_some_and(|all| is_names(&all, &["-r"]) && all.last().is_some_and(|last| *last != "-r")),
            "getopts" => first.is_some_and(|word| word.starts_with(':')) && words.len() >= 2,
            "command" => matches!(all.as_deref(), Some(["-v", name]) if !name.starts_with('-')),
            "exec" => first.is_none_or(|word| !word.starts_with('-')),
            "kill" => is_plain_kill(&literals),
            "wait" => first.is_none_or(|word| !word.starts_with(['-', '%'])),
            _ => true,
        };
        if is_allowed { Ok(()) } else { Err("builtin") }
    }
}

/// A test without another shell's operators, where every operator has something on both sides.
fn is_plain_test(words: &[&str], literals: &[Option<String>]) -> bool {
    let is_operator = |index: usize| {
        let word = literals.get(index).and_then(Option::as_deref);
        word.is_some_and(|word| {
            matches!(word, "=" | "!=") || (word.starts_with('-') && word.len() > 2 && TESTS.contains(&word))
        })
    };
    // What may vanish leaves an operator alone; dash has other words for that.
    let may_vanish = |index: usize| words.get(index).is_none_or(|word| word.starts_with('$'));
    let is_complete = (0..words.len()).all(|index| !is_operator(index) || !may_vanish(index + 1));
    let names_three = words.len() == 3 && literals[..3].iter().all(Option::is_some);
    let is_known = !names_three || is_operator(1) || literals[0].as_deref() == Some("!");
    is_complete && is_known && literals.iter().flatten().all(|word| is_test_word(word))
}

/// A word of a test that is no operator of another shell's.
fn is_test_word(word: &str) -> bool {
    match word.as_bytes() {
        [b'-', _, ..] => TESTS.contains(&word) || word.parse::<i64>().is_ok(),
        _ => !matches!(word, "==" | "=~" | "<" | ">" | "(" | ")"),
    }
}

/// A format with dash's escapes and conversions only.
fn is_plain_format(format: &str) -> bool {
    if format.starts_with('-') || !format.is_ascii() {
        return false;
    }
    let mut characters = format.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if !matches!(characters.next(), Some('n' | 't' | 'r' | 'a' | 'b' | 'f' | 'v' | '\\' | '0'..='7')) => {
                return false;
            }
            '%' => {
                while characters.next_if(|character| matches!(character, '-' | '0'..='9' | '.')).is_some() {}
                // Numbers are refused in other words.
                if !matches!(characters.next(), Some('s' | '%' | 'c')) {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

/// Options that mean the same to both shells, or parameters.
fn is_plain_set(literals: &[Option<String>]) -> bool {
    let mut words = literals.iter();
    let Some(Some(first)) = words.next() else { return false };
    let mut word = first.as_str();
    loop {
        let letters = match word.as_bytes() {
            b"--" => return true,
            [b'-' | b'+', _, ..] => &word[1..],
            _ => return !word.starts_with(['-', '+']),
        };
        if !letters.bytes().all(|letter| b"eufCa".contains(&letter)) {
            return false;
        }
        match words.next() {
            Some(Some(next)) => word = next,
            // What is not known might be an option.
            Some(None) => return false,
            None => return true,
        }
    }
}

/// `NAME=VALUE` where the value is not split, or with `alone` a name by itself.
fn is_plain_assignment(word: &str, alone: bool) -> bool {
    let Some((name, value)) = word.split_once('=') else { return alone && valid_variable_name(word) };
    let is_quoted = value.len() >= 2
        && value.starts_with('"')
        && value.ends_with('"')
        && !value[1..value.len() - 1].contains(['"', '\\', '`'])
        && !value.contains("$(");
    valid_variable_name(name) && (is_quoted || literal(value).is_some_and(|value| !value.contains('~')))
}

/// Names of variables behind known options.
fn is_names(words: &[&str], options: &[&str]) -> bool {
    let from = usize::from(words.first().is_some_and(|word| options.contains(word)));
    words[from..].iter().all(|word| valid_variable_name(word))
}

/// A signal by number or name, and processes.
fn is_plain_kill(literals: &[Option<String>]) -> bool {
    let is_signal = |word: &str| {
        let name = word.trim_start_matches('-');
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    let from = match literals.first() {
        Some(Some(first)) if first == "-s" => 2,
        Some(Some(first)) if first.starts_with('-') && !is_signal(first) => return false,
        Some(Some(first)) if first.starts_with('-') => 1,
        _ => 0,
    };
    literals.len() > from && literals[from..].iter().flatten().all(|word| word.parse::<i32>().is_ok())
}

fn is_octal(byte: u8) -> bool {
    (b'0'..=b'7').contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::{is_plain_assignment, is_plain_format, is_plain_kill, is_plain_set, is_test_word};

    fn literals(words: &[Option<&str>]) -> Vec<Option<String>> {
        words.iter().map(|word| word.map(str::to_owned)).collect()
    }

    #[test]
    fn formats_have_dash_s_escapes_and_conversions() {
        assert!(is_plain_format("a\\n%s\\t%-5s%%\\0101"));
        assert!(!is_plain_format("\\x41"));
        assert!(!is_plain_format("%d"));
        assert!(!is_plain_format("-v"));
    }

    #[test]
    fn a_set_with_words_that_are_not_known_is_not_plain() {
        assert!(is_plain_set(&literals(&[Some("-e")])));
        assert!(is_plain_set(&literals(&[Some("--"), None])));
        assert!(is_plain_set(&literals(&[Some("-eu"), Some("a"), None])));
        assert!(!is_plain_set(&literals(&[Some("-e"), None])));
        assert!(!is_plain_set(&literals(&[Some("-x")])));
        assert!(!is_plain_set(&literals(&[])));
    }

    #[test]
    fn values_that_dash_splits_are_not_plain() {
        assert!(is_plain_assignment("x=\"$y\"", true));
        assert!(is_plain_assignment("x='a b'", true));
        assert!(is_plain_assignment("x", true));
        assert!(!is_plain_assignment("x", false));
        assert!(!is_plain_assignment("x=$y", true));
    }

    #[test]
    fn other_shells_operators_are_known() {
        assert!(is_test_word("-eq") && is_test_word("x") && is_test_word("-1"));
        assert!(!is_test_word("==") && !is_test_word("-v") && !is_test_word("-a"));
        assert!(is_plain_kill(&literals(&[Some("-9"), None])));
        assert!(!is_plain_kill(&literals(&[Some("-l")])));
    }
}
