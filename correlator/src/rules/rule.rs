//! One rule: a regular expression, and the conditions under which what it matches is a secret.
//!
//! It masks nothing: it says which range is secret. How it is written down stands in `file`.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::hybrid::dfa::DFA;
use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;

use super::Piece;
use super::allow::{Allowlist, Candidate};
use super::cut;
use super::finding::Finding;

/// Bytes of a secret after one of its rule's keywords from which on the keyword is shown: 8; with fewer, the keyword may be
/// most of the secret.
const HIDDEN_LEN_MIN: usize = 8;

/// A rule that can be applied.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: String,
    /// What it searches for, as written and compiled; nothing where only the file's path counts.
    pub(super) regex: Option<(String, Regex)>,
    /// The group that is the secret; 0 for the first that took part.
    pub(super) secret_group: usize,
    /// Bits a byte that a secret must exceed; 0 for any.
    pub(super) entropy: f64,
    /// The files to whose content it applies; nothing for every text.
    pub(super) path: Option<Regex>,
    /// Lower case.
    pub(super) keywords: Vec<String>,
    pub(super) allowlists: Vec<Allowlist>,
    /// Made when a text is cut for the first time.
    pub(super) beginnings: OnceLock<Option<DFA>>,
}

impl Rule {
    pub(super) fn keywords(&self) -> &[String] {
        &self.keywords
    }

    /// Adds what it finds in a text.
    pub(super) fn find<'r>(&'r self, piece: &Piece<'_>, everywhere: &[Allowlist], found: &mut Vec<Finding<'r>>) {
        let applies = self.path.as_ref().is_none_or(|path| piece.path.is_some_and(|of| path.is_match(of)));
        if !applies {
            return;
        }
        let mut add = |range| found.push(Finding { range, rules: vec![&self.id] });
        let Some((pattern, regex)) = &self.regex else {
            // The file itself is the secret.
            let whole = 0..piece.text.len();
            if !is_masked(piece.text) && !self.is_allowed(piece, whole.clone(), whole.clone(), everywhere) {
                add(whole);
            }
            return;
        };
        let mut matched = Vec::new();
        for captures in regex.captures_iter(piece.text) {
            let Some(whole) = captures.get_match() else { continue };
            let secret = self.secret(&captures, whole.range());
            let bytes = &piece.text[secret.clone()];
            let is_secret = !is_masked(bytes) && (self.entropy == 0.0 || entropy(bytes) > self.entropy);
            if is_secret && !self.is_allowed(piece, secret.clone(), whole.range(), everywhere) {
                add(self.hidden(piece.text, secret));
            }
            matched.push(whole.range());
        }
        if piece.cut {
            let dfa = self.beginnings.get_or_init(|| cut::compile(pattern)).as_ref();
            if let Some(start) = dfa.and_then(|dfa| cut::beginning(dfa, piece.text, &self.keywords, &matched)) {
                add(self.hidden(piece.text, start..piece.text.len()));
            }
        }
    }

    fn secret(&self, captures: &Captures, whole: Range<usize>) -> Range<usize> {
        let group = |index| captures.get_group(index).map(|span| span.range()).filter(|range| !range.is_empty());
        let secret = match self.secret_group {
            0 => (1..captures.group_len()).find_map(group),
            index => group(index),
        };
        secret.unwrap_or(whole)
    }

    /// Leaves a keyword at a secret's beginning visible, as in `acme_****`.
    fn hidden(&self, text: &[u8], secret: Range<usize>) -> Range<usize> {
        let bytes = &text[secret.clone()];
        let shown = self.keywords.iter().map(String::len).filter(|len| bytes.len() >= len + HIDDEN_LEN_MIN);
        let begins = |len: &usize| {
            self.keywords.iter().any(|word| word.len() == *len && bytes[..*len].eq_ignore_ascii_case(word.as_bytes()))
        };
        secret.start + shown.filter(begins).max().unwrap_or(0)..secret.end
    }

    fn is_allowed(
        &self,
        piece: &Piece<'_>,
        secret: Range<usize>,
        whole: Range<usize>,
        everywhere: &[Allowlist],
    ) -> bool {
        let candidate = Candidate {
            secret: &piece.text[secret],
            whole: &piece.text[whole.clone()],
            line: line_around(piece.text, whole),
            path: piece.path,
        };
        self.allowlists.iter().chain(everywhere).any(|list| list.allows(&candidate))
    }
}

/// Whether nothing is left to be masked: what was masked once is not reported again.
fn is_masked(secret: &[u8]) -> bool {
    secret.iter().all(|byte| *byte == b'*')
}

/// The line or lines in which a range stands, without the newline at the end.
fn line_around(text: &[u8], range: Range<usize>) -> &[u8] {
    let start = text[..range.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let end = text[range.end..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |len| range.end + len);
    &text[start..end]
}

/// Shannon entropy in bits a byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let len = f64::from(u32::try_from(bytes.len().max(1)).unwrap_or(u32::MAX));
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / len);
    -shares.map(|share| share * share.log2()).sum::<f64>()
}
