//! Administrators' own redaction rules, read from a file in gitleaks' format and applied to what is received.
//!
//! Shells mask with built-in rules before anything leaves them; these come on top, where regular expressions cost no shell
//! its start. Text in, text out: this module reads no file, and knows what a batch looks like only in `batch`.
//!
//! ```text
//! text ─ keywords (one pass for all rules) ─ rules whose keyword is there ─ regex ─ entropy ─ allowlists ─ mask
//! ```

mod allow;
mod batch;
mod cut;
mod file;
mod finding;
mod rule;
mod syntax;

pub use batch::mask_batch;
pub use file::RulesError;
pub use finding::{Finding, mask};

use aho_corasick::AhoCorasick;
use allow::Allowlist;
use finding::without_overlap;
use rule::Rule;

/// The rules of one file.
#[derive(Debug)]
pub struct Rules {
    in_order: Vec<Rule>,
    allowlists: Vec<Allowlist>,
    /// Finds the keywords of all rules in one pass.
    keywords: AhoCorasick,
    /// For each keyword, the rule that it wakes.
    woken: Vec<usize>,
}

/// A text to be searched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Piece<'a> {
    /// The text, in whatever encoding.
    pub text: &'a [u8],
    /// The file whose content it is, where it is one's.
    pub path: Option<&'a [u8]>,
    /// Whether there was more of it than is here.
    pub cut: bool,
}

impl Rules {
    /// Reads a file's text. The second value says what in it has no effect.
    ///
    /// ```
    /// use nash_correlator::rules::{Rules, Piece, mask};
    ///
    /// let (rules, _) = Rules::parse("[[rules]]\nid = 'acme'\nregex = '''acme_[a-z]{8}'''\nkeywords = ['acme_']").unwrap();
    /// let text = b"key: acme_abcdefgh";
    /// let found = rules.find(&Piece { text, ..Piece::default() });
    /// assert_eq!(mask(text, &found), b"key: acme_****");
    /// ```
    pub fn parse(text: &str) -> Result<(Self, Vec<String>), RulesError> {
        file::read(text)
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.in_order.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.in_order.is_empty()
    }

    /// Finds the secrets of a text, in order and without overlap.
    pub fn find(&self, piece: &Piece<'_>) -> Vec<Finding<'_>> {
        let mut found = Vec::new();
        for rule in self.woken_by(piece.text) {
            rule.find(piece, &self.allowlists, &mut found);
        }
        without_overlap(found)
    }

    fn new(rules: Vec<Rule>, allowlists: Vec<Allowlist>) -> Result<Self, aho_corasick::BuildError> {
        let pairs =
            rules.iter().enumerate().flat_map(|(index, rule)| rule.keywords().iter().map(move |word| (index, word)));
        let (woken, words): (Vec<usize>, Vec<&String>) = pairs.unzip();
        let keywords = AhoCorasick::builder().ascii_case_insensitive(true).build(words)?;
        Ok(Self { in_order: rules, allowlists, keywords, woken })
    }

    /// The rules of which a keyword is in the text, and those that need none.
    fn woken_by(&self, text: &[u8]) -> impl Iterator<Item = &Rule> {
        let mut awake: Vec<bool> = self.in_order.iter().map(|rule| rule.keywords().is_empty()).collect();
        for keyword in self.keywords.find_overlapping_iter(text) {
            awake[self.woken[keyword.pattern().as_usize()]] = true;
        }
        self.in_order.iter().zip(awake).filter_map(|(rule, awake)| awake.then_some(rule))
    }
}
