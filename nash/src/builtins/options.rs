//! Reading a builtin's options as bash's builtins do.
//!
//! Clusters, arguments beside or after their letter, `--`, `--help`. Which letters there are is the builtin's to say.

/// Reads the options at the head of a builtin's words.
///
/// A specification is a string of letters; a colon behind one means that it takes an argument, and a leading plus that letters
/// may stand behind `+` too.
pub(crate) struct Options<'a> {
    specification: &'a str,
    words: &'a [String],
    next: usize,
    /// Where in the current word the next letter stands.
    at: usize,
    /// What the current word begins with.
    sign: char,
}

/// An option.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub(crate) letter: char,
    /// Its argument; empty where it takes none.
    pub(crate) argument: &'a str,
}

/// Why a builtin's options can't be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// `--help`.
    Help,
    /// An option that isn't one, with its dash.
    Unknown(String),
    /// An option without the argument that it needs.
    NoArgument(String),
}

impl<'a> Options<'a> {
    /// Begins before the first word.
    pub(crate) fn new(specification: &'a str, words: &'a [String]) -> Self {
        Self { specification, words, next: 0, at: 0, sign: '-' }
    }

    /// The next option, if there is one.
    pub(crate) fn next(&mut self) -> Result<Option<Found<'a>>, Refusal> {
        if self.at == 0 && !self.enter_word()? {
            return Ok(None);
        }
        let word = self.words[self.next].as_str();
        let Some(letter) = word[self.at..].chars().next() else { return Ok(None) };
        self.at += letter.len_utf8();
        let rest = &word[self.at..];
        let known = self
            .specification
            .char_indices()
            .find(|(_, candidate)| *candidate == letter && !matches!(letter, ':' | '+'));
        let Some((index, _)) = known else { return Err(Refusal::Unknown(format!("{}{letter}", self.sign))) };
        let takes_argument = self.specification[index + letter.len_utf8()..].starts_with(':');
        if !takes_argument {
            if rest.is_empty() {
                self.leave_word();
            }
            return Ok(Some(Found { letter, argument: "" }));
        }
        self.leave_word();
        if !rest.is_empty() {
            return Ok(Some(Found { letter, argument: rest }));
        }
        let Some(argument) = self.words.get(self.next) else { return Err(Refusal::NoArgument(format!("-{letter}"))) };
        self.next += 1;
        Ok(Some(Found { letter, argument }))
    }

    /// Whether the option that came last stood behind `-`, rather than `+`.
    pub(crate) fn is_on(&self) -> bool {
        self.sign == '-'
    }

    /// How many words were options.
    pub(crate) fn used(&self) -> usize {
        self.next
    }

    /// Whether the next word holds options.
    fn enter_word(&mut self) -> Result<bool, Refusal> {
        match self.words.get(self.next).map(String::as_str) {
            Some("--") => {
                self.next += 1;
                Ok(false)
            }
            Some("--help") => Err(Refusal::Help),
            Some(word) if word.len() > 1 && word.starts_with('-') => {
                (self.at, self.sign) = (1, '-');
                Ok(true)
            }
            Some(word) if word.len() > 1 && word.starts_with('+') && self.specification.starts_with('+') => {
                (self.at, self.sign) = (1, '+');
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn leave_word(&mut self) {
        self.next += 1;
        self.at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::{Options, Refusal};

    fn read(specification: &str, words: &[&str]) -> Result<(String, usize), Refusal> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let mut options = Options::new(specification, &words);
        let mut told = String::new();
        while let Some(found) = options.next()? {
            told.push(found.letter);
            told.push_str(found.argument);
            told.push(' ');
        }
        Ok((told, options.used()))
    }

    #[test]
    fn clusters_and_arguments() {
        assert_eq!(read("rd:n:", &["-rd", ",", "-n5", "x", "-r"]).unwrap(), ("r d, n5 ".into(), 3));
        assert_eq!(read("rd:", &["-r", "--", "-d"]).unwrap(), ("r ".into(), 2));
        assert_eq!(read("rd:", &["-", "-r"]).unwrap(), (String::new(), 0));
    }

    #[test]
    fn letters_behind_a_plus() {
        assert_eq!(read("+ab", &["-a", "+b", "+"]).unwrap(), ("a b ".into(), 2));
        assert_eq!(read("+ab", &["+z"]).unwrap_err(), Refusal::Unknown("+z".into()));
        assert_eq!(read("ab", &["+a"]).unwrap(), (String::new(), 0));
    }

    #[test]
    fn mistakes() {
        assert_eq!(read("r", &["-rz"]).unwrap_err(), Refusal::Unknown("-z".into()));
        assert_eq!(read("d:", &["-d"]).unwrap_err(), Refusal::NoArgument("-d".into()));
        assert_eq!(read("d:", &["--foo"]).unwrap_err(), Refusal::Unknown("--".into()));
        assert_eq!(read("d:", &["--help"]).unwrap_err(), Refusal::Help);
    }
}
