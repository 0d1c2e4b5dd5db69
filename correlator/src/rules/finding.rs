//! Findings, and the mask in their place.
//!
//! Ranges in, bytes out. Which rule finds what is not known here.

use std::ops::Range;

use nash_events::redact::MASK;

/// A secret that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<'r> {
    /// What is to be masked.
    pub range: Range<usize>,
    /// The ids of the rules that found it, sorted, each once.
    pub rules: Vec<&'r str>,
}

/// Puts the mask in the place of every finding; these are in order and don't overlap.
pub fn mask(text: &[u8], findings: &[Finding<'_>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut copied = 0;
    for finding in findings {
        out.extend_from_slice(&text[copied..finding.range.start]);
        out.extend_from_slice(MASK);
        copied = finding.range.end;
    }
    out.extend_from_slice(&text[copied..]);
    out
}

/// Joins findings that overlap, and sorts them.
pub(super) fn without_overlap(mut found: Vec<Finding<'_>>) -> Vec<Finding<'_>> {
    found.sort_by_key(|finding| (finding.range.start, finding.range.end));
    let mut joined: Vec<Finding<'_>> = Vec::with_capacity(found.len());
    for finding in found {
        match joined.last_mut() {
            Some(last) if finding.range.start < last.range.end => {
                last.range.end = last.range.end.max(finding.range.end);
                last.rules.extend(finding.rules);
                last.rules.sort_unstable();
                last.rules.dedup();
            }
            _ => joined.push(finding),
        }
    }
    joined
}
