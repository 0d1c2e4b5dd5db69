//! What rules are to leave alone.
//!
//! A list judges one finding; it searches nothing itself.

use regex_automata::meta::Regex;

/// One allowlist, of a rule or of the whole file.
#[derive(Debug, Default)]
pub(super) struct Allowlist {
    /// Whether everything that is listed must hold, not only something.
    pub(super) all: bool,
    /// What `regexes` are tried on.
    pub(super) target: Target,
    pub(super) regexes: Vec<Regex>,
    pub(super) paths: Vec<Regex>,
    /// Lower case.
    pub(super) stopwords: Vec<String>,
    /// Whether commits are listed: nothing that is received belongs to one.
    pub(super) has_commits: bool,
}

/// What an allowlist's regular expressions are tried on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Target {
    /// The secret.
    #[default]
    Secret,
    /// All that the rule matched.
    Match,
    /// The line or lines in which it stands.
    Line,
}

/// A finding, as allowlists look at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) secret: &'a [u8],
    pub(super) whole: &'a [u8],
    pub(super) line: &'a [u8],
    pub(super) path: Option<&'a [u8]>,
}

impl Allowlist {
    /// Whether the finding is to be left alone.
    pub(super) fn allows(&self, candidate: &Candidate<'_>) -> bool {
        let target = match self.target {
            Target::Secret => candidate.secret,
            Target::Match => candidate.whole,
            Target::Line => candidate.line,
        };
        let by_regex = || self.regexes.iter().any(|regex| regex.is_match(target));
        let by_path = || candidate.path.is_some_and(|path| self.paths.iter().any(|regex| regex.is_match(path)));
        let by_word = || {
            let secret = String::from_utf8_lossy(candidate.secret).to_lowercase();
            self.stopwords.iter().any(|word| secret.contains(word))
        };
        if self.all {
            let listed = !self.regexes.is_empty() || !self.paths.is_empty() || !self.stopwords.is_empty();
            return listed
                && !self.has_commits
                && (self.regexes.is_empty() || by_regex())
                && (self.paths.is_empty() || by_path())
                && (self.stopwords.is_empty() || by_word());
        }
        by_path() || by_regex() || by_word()
    }
}
