//! What `complete` and `compgen` are told: actions, word lists, functions, filters.
//!
//! Reads it from a builtin's words and lists it again; what it generates is elsewhere.

use super::super::options::{Options, Refusal};
use super::super::quoting;
use super::table;

/// The options that change how candidates are used.
pub(super) const OPTIONS: [&str; 8] =
    ["bashdefault", "default", "dirnames", "filenames", "noquote", "nosort", "nospace", "plusdirs"];

/// The actions, and the letters of those that have one.
pub(super) const ACTIONS: [(&str, Option<char>); 24] = [
    ("alias", Some('a')),
    ("arrayvar", None),
    ("binding", None),
    ("builtin", Some('b')),
    ("command", Some('c')),
    ("directory", Some('d')),
    ("disabled", None),
    ("enabled", None),
    ("export", Some('e')),
    ("file", Some('f')),
    ("function", None),
    ("group", Some('g')),
    ("helptopic", None),
    ("hostname", None),
    ("job", Some('j')),
    ("keyword", Some('k')),
    ("running", None),
    ("service", Some('s')),
    ("setopt", None),
    ("shopt", None),
    ("signal", None),
    ("stopped", None),
    ("user", Some('u')),
    ("variable", Some('v')),
];

/// How candidates are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Specification {
    pub(super) options: Vec<&'static str>,
    pub(super) actions: Vec<&'static str>,
    pub(super) pattern: Option<String>,
    pub(super) words: Option<String>,
    pub(super) prefix: Option<String>,
    pub(super) suffix: Option<String>,
    pub(super) filter: Option<String>,
    pub(super) command: Option<String>,
    pub(super) function: Option<String>,
}

/// A specification as a builtin was told it.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) specification: Specification,
    pub(super) prints: bool,
    pub(super) removes: bool,
    /// What it holds for, beside commands.
    pub(super) special: Option<&'static str>,
    /// How many words were options.
    pub(super) used: usize,
}

/// Why a command line is refused.
#[derive(Debug)]
pub(super) enum Mistake {
    Options(Refusal),
    Value(String),
}

impl Specification {
    /// Reads a builtin's words.
    pub(super) fn parse(letters: &str, words: &[String]) -> Result<Request, Mistake> {
        let mut request = Request::default();
        let mut options = Options::new(letters, words);
        while let Some(found) = options.next().map_err(Mistake::Options)? {
            let argument = Some(found.argument.to_owned());
            let own = &mut request.specification;
            match found.letter {
                'p' => request.prints = true,
                'r' => request.removes = true,
                // What comes first in bash's order counts.
                'D' => request.special = table::special("D"),
                'E' if request.special != table::special("D") => request.special = table::special("E"),
                'I' if request.special.is_none() => request.special = table::special("I"),
                'E' | 'I' => {}
                'o' => {
                    let known = OPTIONS.iter().find(|option| **option == found.argument);
                    let option =
                        known.ok_or_else(|| Mistake::Value(format!("{}: invalid option name", found.argument)))?;
                    own.set_option(option, true);
                }
                'A' => {
                    let known = ACTIONS.iter().find(|(action, _)| *action == found.argument);
                    let (action, _) =
                        known.ok_or_else(|| Mistake::Value(format!("{}: invalid action name", found.argument)))?;
                    own.actions.push(action);
                }
                'G' => own.pattern = argument,
                'W' => own.words = argument,
                'P' => own.prefix = argument,
                'S' => own.suffix = argument,
                'X' => own.filter = argument,
                'C' => own.command = argument,
                'F' => {
                    if found.argument.contains(|letter: char| " \t\n\\'\"|&;()<>$`*?[]{}".contains(letter)) {
                        return Err(Mistake::Value(format!("`{}': not a valid identifier", found.argument)));
                    }
                    own.function = argument;
                }
                letter => {
                    own.actions
                        .extend(ACTIONS.iter().filter(|(_, known)| *known == Some(letter)).map(|(action, _)| *action));
                }
            }
        }
        request.used = options.used();
        Ok(request)
    }

    /// Turns an option on or off.
    pub(super) fn set_option(&mut self, option: &str, is_on: bool) {
        self.options.retain(|known| *known != option);
        if is_on {
            self.options.extend(OPTIONS.iter().filter(|known| **known == option));
        }
    }

    /// The command that would tell `complete` the same.
    pub(super) fn listed(&self, name: &str) -> String {
        let mut words = vec!["complete".to_owned()];
        words
            .extend(OPTIONS.iter().filter(|option| self.options.contains(option)).map(|option| format!("-o {option}")));
        let chosen = || ACTIONS.iter().filter(|(action, _)| self.actions.contains(action));
        words.extend(chosen().filter_map(|(_, letter)| Some(format!("-{}", (*letter)?))));
        words.extend(chosen().filter(|(_, letter)| letter.is_none()).map(|(action, _)| format!("-A {action}")));
        let quoted = [
            ('G', &self.pattern),
            ('W', &self.words),
            ('P', &self.prefix),
            ('S', &self.suffix),
            ('X', &self.filter),
            ('C', &self.command),
        ];
        for (letter, value) in quoted {
            words.extend(value.as_ref().map(|value| format!("-{letter} {}", quoting::in_single_quotes(value))));
        }
        words.extend(self.function.as_ref().map(|function| format!("-F {function}")));
        words.push(table::shown(name).to_owned());
        words.join(" ") + "\n"
    }

    /// All options with their states, as `compopt` lists them.
    pub(super) fn listed_options(&self, name: &str) -> String {
        let state = |option: &&str| if self.options.contains(option) { '-' } else { '+' };
        let options: Vec<String> = OPTIONS.iter().map(|option| format!("{}o {option}", state(option))).collect();
        format!("compopt {} {}\n", options.join(" "), table::shown(name))
    }
}
