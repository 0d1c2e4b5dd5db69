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
const NOT_ALIKE: &[&str] =
    &["alias", "bg", "eval", "fg", "hash", "jobs", "readonly", "times", "type", "ulimit", "unalias", "chdir"];

/// Operators of dash's `test`.
const TESTS: &[&str] = &[
    "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-n", "-p", "-r", "-s", "-S", "-t", "-u", "-w", "-x", "-z",
    "-O", "-G", "-ef", "=", "!=", "-eq", "-ne", "-gt", "-lt", "-ge", "-le", "!",
];

/// Builtins of which only some calls are allowed.
const ALIKE_IN_PART: &[&str] =
    &["[", "test", "printf", "cd", "pwd", "umask", "local", "read", "getopts", "command", "kill", "wait"];

/// What `trap` is told of.
const CONDITIONS: &[&str] = &[
    "EXIT", "HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "ALRM", "PIPE", "0", "1", "2", "3", "10", "12", "13", "14",
    "15",
];

/// The name of the builtin whose call may not be alike.
fn doubt_about(name: &str) -> Doubt {
    let known = [NOT_ALIKE, ALIKE_IN_PART, SPECIAL].into_iter().flatten();
    known.copied().find(|known| *known == name).unwrap_or("builtin")
}

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
            return Err(doubt_about(&name));
        }
        let literals: Vec<Option<String>> = words.iter().map(|word| literal(word)).collect();
        let all: Option<Vec<&str>> = literals.iter().map(Option::as_deref).collect();
        let first = literals.first().and_then(Option::as_deref);
        let is_allowed = match name.as_str() {
            "." => return self.sourced(first.filter(|_| words.len() == 1)),
            "[" => words.last() == Some(&"]") && is_test(&words[..words.len() - 1], &literals[..words.len() - 1]),
            "test" => is_test(words, &literals),
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
            "local" => !words.is_empty() && words.iter().all(|word| is_plain_assignment(word, true)),
            "unset" => all.is_some_and(|all| !all.is_empty() && is_names(&all, &["-v", "-f"])),
            "read" => all.is_some_and(|all| is_names(&all, &["-r"]) && all.last().is_some_and(|last| *last != "-r")),
            // Each function has a place of its own in its words.
            "getopts" => words.len() >= 2 && !self.in_function,
            "command" => return self.called_by_command(words, &literals),
            "trap" => return self.trap(&literals),
            "exec" => first.is_none_or(|word| !word.starts_with('-')),
            "kill" => is_plain_kill(&literals),
            "wait" => first.is_none_or(|word| !word.starts_with(['-', '%'])),
            _ => true,
        };
        if is_allowed { Ok(()) } else { Err(doubt_about(&name)) }
    }
}

impl Check<'_> {
    /// `trap`: a text that is known, for conditions that both shells name so.
    fn trap(self, literals: &[Option<String>]) -> Result<(), Doubt> {
        let Some((Some(text), conditions)) = literals.split_first() else { return Err("trap") };
        let is_known = |condition: &Option<String>| condition.as_deref().is_some_and(|name| CONDITIONS.contains(&name));
        if conditions.is_empty() || !conditions.iter().all(is_known) || (text.starts_with('-') && text != "-") {
            return Err("trap");
        }
        let at_end = conditions.iter().flatten().any(|name| name == "EXIT" || name == "0");
        // At dash's end functions that were not left still have their variables.
        if at_end && self.has_locals {
            return Err("trap");
        }
        if text == "-" { Ok(()) } else { self.nested(text) }
    }

    /// `command`: the program or builtin of that name, or what a name stands for.
    fn called_by_command(self, words: &[&str], literals: &[Option<String>]) -> Result<(), Doubt> {
        let is_allowed = match literals.first().and_then(Option::as_deref) {
            Some("-v") => {
                let is_quoted = |word: &&str| word.starts_with("\"$") && is_one_field(word);
                words.len() == 2 && literals[1].as_ref().map_or(is_quoted(&words[1]), |name| !name.starts_with('-'))
            }
            Some(name) if !name.starts_with('-') && !is_special(name) => return self.call(name, &words[1..], false),
            _ => false,
        };
        if is_allowed { Ok(()) } else { Err("command") }
    }
}

/// An operator of a test in front of one word.
pub(super) fn is_unary_test(word: &str) -> bool {
    word.len() == 2 && word.starts_with('-') && TESTS.contains(&word)
}

/// An operator of a test between two words.
pub(super) fn is_binary_test(word: &str) -> bool {
    matches!(word, "=" | "!=") || (word.starts_with('-') && word.len() == 3 && TESTS.contains(&word))
}

/// One test, or several complete ones that are joined.
fn is_test(words: &[&str], literals: &[Option<String>]) -> bool {
    let is_joint = |word: &Option<String>| matches!(word.as_deref(), Some("-a" | "-o"));
    if !literals.iter().any(is_joint) {
        return is_plain_test(words, literals);
    }
    let mut start = 0;
    literals.split(is_joint).all(|piece| {
        let words = &words[start..start + piece.len()];
        start += piece.len() + 1;
        let negations = usize::from(piece.first().is_some_and(|word| word.as_deref() == Some("!")));
        let (words, piece) = (&words[negations..], &piece[negations..]);
        let is_operand = |index: usize| match piece[index].as_deref() {
            Some(literal) => !literal.is_empty() && !literal.starts_with(['-', '(', ')', '!']),
            None => is_one_field(words[index]),
        };
        match piece.len() {
            2 => piece[0].as_deref().is_some_and(is_unary_test) && is_operand(1),
            3 => piece[1].as_deref().is_some_and(is_binary_test) && is_operand(0) && is_operand(2),
            _ => false,
        }
    })
}

/// A test without another shell's operators, where every operator has something on both sides.
fn is_plain_test(words: &[&str], literals: &[Option<String>]) -> bool {
    let is_operator = |index: usize| {
        let word = literals.get(index).and_then(Option::as_deref);
        word.is_some_and(|word| {
            matches!(word, "=" | "!=") || (word.starts_with('-') && word.len() > 2 && TESTS.contains(&word))
        })
    };
    let is_complete = (0..words.len()).all(|index| !is_operator(index) || index + 1 < words.len());
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

/// `NAME=VALUE`, or with `alone` a name by itself. Home directories in values are found in different places.
fn is_plain_assignment(word: &str, alone: bool) -> bool {
    let Some((name, value)) = word.split_once('=') else { return alone && valid_variable_name(word) };
    valid_variable_name(name) && !value.contains('~')
}

/// A word between double quotes, with nothing but variables in it.
fn is_one_field(word: &str) -> bool {
    let inside = word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.is_some_and(|inside| !inside.contains(['"', '\\', '`']) && !inside.contains("$(") && !inside.contains('@'))
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
    fn assignments_of_declarations_have_a_name_and_no_tilde() {
        assert!(is_plain_assignment("x=\"$y\"", true));
        assert!(is_plain_assignment("x='a b'", true));
        assert!(is_plain_assignment("x", true));
        assert!(!is_plain_assignment("x", false));
        assert!(is_plain_assignment("x=$y", true));
        assert!(!is_plain_assignment("x=~", true));
        assert!(!is_plain_assignment("\"x\"=$y", true));
    }

    #[test]
    fn other_shells_operators_are_known() {
        assert!(is_test_word("-eq") && is_test_word("x") && is_test_word("-1"));
        assert!(!is_test_word("==") && !is_test_word("-v") && !is_test_word("-a"));
        assert!(is_plain_kill(&literals(&[Some("-9"), None])));
        assert!(!is_plain_kill(&literals(&[Some("-l")])));
    }
}
