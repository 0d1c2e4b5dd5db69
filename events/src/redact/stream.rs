//! Redaction of data that arrives in pieces.
//!
//! Holds back what may still turn out to be a secret, so that the result doesn't depend on where the pieces were cut.
//! Memory is bounded by the longest look-ahead of any rule; a secret that goes on longer is swallowed as it comes. It does
//! not bound how much is redacted in all.

use super::bytes::{End, LOOK_BEHIND_LEN, Set, Text};
use super::rule::Hit;
use super::rules_seen::RulesSeen;
use super::{MASK, scan};

/// Below this many bytes held back, every push looks again: it costs little, and data flows at once.
const EAGER_LEN: usize = 256;

/// Masks secrets in a stream of bytes.
///
/// The concatenation of all that [`push`](Self::push) and [`finish`](Self::finish) return is what
/// [`redact`](super::redact) returns for the concatenation of the input.
#[derive(Debug, Default)]
pub struct StreamRedactor {
    /// Up to `LOOK_BEHIND_LEN` bytes already handed out, then the bytes held back.
    buffer: Vec<u8>,
    /// Where the bytes held back start.
    held_from: usize,
    /// Length of the buffer from which on it is worth looking again. Doubling it keeps the work linear in the input.
    look_at_len: usize,
    /// What still belongs to the last secret found.
    swallow: Option<Set>,
    rules: RulesSeen,
    /// Bytes read by all searches so far: the measure of the work.
    #[cfg(test)]
    examined_len: usize,
}

impl StreamRedactor {
    /// Makes a redactor at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece and returns what is safe to show by now, possibly nothing.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let chunk = self.swallowed(chunk);
        self.buffer.extend_from_slice(chunk);
        if self.buffer.len() < self.look_at_len {
            return Vec::new();
        }
        self.advance(End::Open)
    }

    /// Ends the stream where the data ended, and returns the rest.
    pub fn finish(&mut self) -> Vec<u8> {
        self.advance(End::Data)
    }

    /// Ends the stream in the middle of the data, and returns the rest. What was cut off might have completed a secret, so a
    /// beginning of one is masked.
    pub fn finish_truncated(&mut self) -> Vec<u8> {
        self.advance(End::Cut)
    }

    /// Returns the names of the rules that masked something so far, sorted, each once.
    pub fn rules(&self) -> &[&'static str] {
        self.rules.names()
    }

    /// Returns how many bytes are held back.
    pub fn held_len(&self) -> usize {
        self.buffer.len() - self.held_from
    }

    #[cfg(test)]
    pub(super) fn examined_len(&self) -> usize {
        self.examined_len
    }

    fn swallowed<'a>(&mut self, chunk: &'a [u8]) -> &'a [u8] {
        let Some(set) = self.swallow else { return chunk };
        let len = chunk.iter().take_while(|byte| set.has(**byte)).count();
        if len < chunk.len() {
            self.swallow = None;
        }
        // What was swallowed is what stood before the rest: a name or a boundary there is judged by it.
        self.buffer.extend_from_slice(&chunk[..len]);
        self.held_from = self.buffer.len();
        self.forget();
        &chunk[len..]
    }

    fn advance(&mut self, end: End) -> Vec<u8> {
        #[cfg(test)]
        {
            self.examined_len += self.held_len();
        }
        let text = Text { bytes: &self.buffer, end };
        let mut out = Vec::new();
        let mut copied = self.held_from;
        let mut last: Option<Hit> = None;
        let settled = scan::scan(&text, self.held_from, |hit| {
            out.extend_from_slice(&self.buffer[copied..hit.start]);
            out.extend_from_slice(MASK);
            copied = hit.end;
            self.rules.add(hit.rule);
            last = Some(hit);
        });
        if copied < settled {
            out.extend_from_slice(&self.buffer[copied..settled]);
        }
        if let Some(hit) = last {
            let set = scan::swallow_after(&hit, self.buffer.len());
            self.swallow = (set != Set::NONE).then_some(set);
        }
        self.held_from = settled.max(copied);
        let held = self.held_len();
        self.forget();
        self.look_at_len = self.held_from + if held < EAGER_LEN { 0 } else { 2 * held };
        out
    }

    /// Drops what was handed out and is out of any rule's sight.
    fn forget(&mut self) {
        let gone = self.held_from.saturating_sub(LOOK_BEHIND_LEN);
        if gone > 0 {
            self.buffer.drain(..gone);
            self.held_from -= gone;
        }
    }
}
