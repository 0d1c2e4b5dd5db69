//! Beginnings of secrets at the end of a text that was cut.
//!
//! A regular expression that wants 40 letters doesn't match the first 20. Its automaton knows whether a match could still
//! come: where it is alive at the end of the text, what it has read so far is masked. This is not used for whole texts.

use std::ops::Range;

use regex_automata::hybrid::dfa::DFA;
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

/// How far before the end a secret may begin, in bytes: 1 KiB, longer than any key that is written on one line.
const BEGINNING_LEN_MAX: usize = 1024;

/// Fewest bytes that are masked: 6, as for the built-in rules. Fewer tell nothing, and are often a word.
const BEGINNING_LEN_MIN: usize = 6;

/// Bytes that the automaton's states may take before they are thrown away and made anew: 1 MiB.
const CACHE_BYTES_MAX: usize = 1 << 20;

/// Makes the automaton of a regular expression, unless it has none.
pub(super) fn compile(pattern: &str) -> Option<DFA> {
    let pattern = super::syntax::translated(pattern);
    let config =
        DFA::config().cache_capacity(CACHE_BYTES_MAX).skip_cache_capacity_check(true).unicode_word_boundary(true);
    let build = |syntax| {
        let limits = thompson::Config::new().nfa_size_limit(Some(super::file::REGEX_BYTES_MAX));
        DFA::builder().configure(config.clone()).thompson(limits).syntax(syntax).build(&pattern).ok()
    };
    let bytes = syntax::Config::new().unicode(false).utf8(false);
    build(bytes).or_else(|| build(bytes.unicode(true)))
}

/// Where the text from which a secret may go on begins; nothing where nothing at the end looks like one. `matched` are the
/// ranges that were judged already.
pub(super) fn beginning(dfa: &DFA, text: &[u8], keywords: &[String], matched: &[Range<usize>]) -> Option<usize> {
    let from = text.len().saturating_sub(BEGINNING_LEN_MAX);
    let to = text.len().saturating_sub(BEGINNING_LEN_MIN);
    let mut cache = dfa.create_cache();
    let judged = |start: &usize| matched.iter().any(|range| range.contains(start));
    (from..=to).filter(|start| !judged(start)).find(|start| {
        is_alive_at_the_end(dfa, &mut cache, text, *start).unwrap_or(false) && has_keyword(&text[*start..], keywords)
    })
}

fn has_keyword(text: &[u8], keywords: &[String]) -> bool {
    let holds = |word: &String| text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()));
    keywords.is_empty() || keywords.iter().any(holds)
}

/// Runs the automaton from a position to the end; nothing where it gives up.
fn is_alive_at_the_end(
    dfa: &DFA,
    cache: &mut regex_automata::hybrid::dfa::Cache,
    text: &[u8],
    start: usize,
) -> Option<bool> {
    let input = Input::new(text).range(start..).anchored(Anchored::Yes);
    let mut state = dfa.start_state_forward(cache, &input).ok()?;
    for byte in &text[start..] {
        state = dfa.next_state(cache, state, *byte).ok()?;
        if state.is_dead() {
            return Some(false);
        }
        if state.is_quit() {
            return None;
        }
    }
    Some(true)
}
