//! What nash parses and doesn't do as bash does: the honest list of what is left.
//!
//! Each entry comes with a script that shows the difference; when nash does it alike, the entry goes. Nothing is looked for
//! here.

use std::borrow::Cow;

/// A word of a command as the shell will see it; nothing where that isn't known before the script runs.
pub(super) type Literal<'a> = Option<Cow<'a, str>>;

/// Something that goes to the real shell.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its name, as the event has it.
    pub name: &'static str,
    /// What nash does otherwise.
    pub reason: &'static str,
    /// A script that bash and nash run differently.
    pub shown_by: &'static str,
    /// The commands that a script must have, all of them.
    pub signs: &'static [Sign],
}

/// A command that tells.
#[derive(Debug)]
pub(crate) struct Sign {
    /// The command's name.
    pub command: &'static str,
    /// Whether these arguments of it are meant.
    pub is_meant: fn(&[Literal<'_>]) -> bool,
}

/// All that is known. Names are in no order; the first that a script has is told.
pub(crate) const TABLE: &[Entry] = &[
    Entry {
        name: "help",
        reason: "the texts of help are bash's own",
        shown_by: "help cd",
        signs: &[Sign { command: "help", is_meant: |_| true }],
    },
    Entry {
        name: "bind",
        reason: "nash has no line editor whose keys it could list",
        shown_by: "bind -p",
        signs: &[Sign { command: "bind", is_meant: |words| has_letter(words, "lpPqvV") }],
    },
    Entry {
        name: "fc",
        reason: "fc edits commands only where there is a history",
        shown_by: "fc -e true",
        signs: &[Sign { command: "fc", is_meant: |words| !has_letter(words, "ls") }],
    },
    Entry {
        name: "history: script",
        reason: "with -o history a script's own lines are not recorded",
        shown_by: "set -o history\necho a\nhistory",
        signs: &[
            Sign { command: "set", is_meant: |words| has_option(words, "history") },
            Sign { command: "history", is_meant: |_| true },
        ],
    },
    Entry {
        name: "history: fc",
        reason: "with -o history a script's own lines are not recorded",
        shown_by: "set -o history\necho a\nfc -l",
        signs: &[
            Sign { command: "set", is_meant: |words| has_option(words, "history") },
            Sign { command: "fc", is_meant: |_| true },
        ],
    },
    Entry {
        name: "history: expansion",
        reason: "history -p doesn't expand",
        shown_by: "history -s foo\nhistory -p '!!'",
        signs: &[Sign { command: "history", is_meant: |words| has_letter(words, "p") && has_text(words, "!") }],
    },
    Entry {
        name: "set: restricted",
        reason: "a shell can't be restricted once it runs",
        shown_by: "set -r; cd /",
        signs: &[Sign { command: "set", is_meant: |words| sets_letter(words, 'r') }],
    },
    Entry {
        name: "compgen: binding",
        reason: "nash has no line editor whose functions it could list",
        shown_by: "compgen -A binding",
        signs: &[Sign { command: "compgen", is_meant: |words| follows(words, "-A", "binding") }],
    },
    Entry {
        name: "compgen: signal",
        reason: "signals without names are not listed",
        shown_by: "compgen -A signal",
        signs: &[Sign { command: "compgen", is_meant: |words| follows(words, "-A", "signal") }],
    },
];

/// Whether an option word has one of these letters.
fn has_letter(words: &[Literal<'_>], letters: &str) -> bool {
    words.iter().flatten().any(|word| word.strip_prefix('-').is_some_and(|word| word.contains(|c| letters.contains(c))))
}

/// Whether a word contains this text.
fn has_text(words: &[Literal<'_>], text: &str) -> bool {
    words.iter().flatten().any(|word| word.contains(text))
}

/// Whether `set` is told to switch on the option of that name.
fn has_option(words: &[Literal<'_>], name: &str) -> bool {
    words.windows(2).any(|pair| {
        let letters = pair[0].as_deref().and_then(|word| word.strip_prefix('-'));
        letters.is_some_and(|letters| letters.ends_with('o')) && pair[1].as_deref() == Some(name)
    })
}

/// Whether `set` is told to switch on the option of that letter.
fn sets_letter(words: &[Literal<'_>], letter: char) -> bool {
    let options = words.iter().map_while(|word| word.as_deref().and_then(|word| word.strip_prefix('-')));
    let mut options = options.take_while(|letters| *letters != "-" && !letters.is_empty());
    options.any(|letters| letters.contains(letter))
}

/// Whether two words follow each other.
fn follows(words: &[Literal<'_>], first: &str, second: &str) -> bool {
    words.windows(2).any(|pair| pair[0].as_deref() == Some(first) && pair[1].as_deref() == Some(second))
}

#[cfg(test)]
mod tests {
    use super::{Literal, has_letter, has_option, sets_letter};

    fn words(text: &str) -> Vec<Literal<'_>> {
        text.split(' ').map(|word| (word != "?").then(|| word.into())).collect()
    }

    #[test]
    fn letters_are_looked_for_in_options_only() {
        assert!(has_letter(&words("-m vi -p"), "pP"));
        assert!(!has_letter(&words("p ? -x"), "pP"));
    }

    #[test]
    fn an_option_is_switched_on_by_its_name_behind_a_minus() {
        assert!(has_option(&words("-eo history"), "history"));
        assert!(!has_option(&words("+o history"), "history"));
        assert!(!has_option(&words("-o ?"), "history"));
    }

    #[test]
    fn what_follows_the_options_of_set_is_text() {
        assert!(sets_letter(&words("-e -ur"), 'r'));
        assert!(!sets_letter(&words("-- -r"), 'r'));
        assert!(!sets_letter(&words("? -r"), 'r'));
    }
}
