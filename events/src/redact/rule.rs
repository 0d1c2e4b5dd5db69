//! What a rule is: a name, the keywords that wake it, and the shape of the secret that follows.
//!
//! Rules are data in `rules/`, one file a family. Shapes are read forward only and never back up, which is what makes the
//! search linear and lets a stream say at any byte whether a match is still possible. A rule does not write the mask.

use super::bytes::{Look, Set, Text};
use super::value;

/// Fewest bytes of a secret cut off by the end of a preview that are masked. Fewer tell nothing, and are often a word.
pub(crate) const CUT_SECRET_LEN_MIN: usize = 6;

/// One rule.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    /// The name that events report, such as `github-token`.
    pub(crate) name: &'static str,
    /// Literals of two bytes or more, one of which stands in every match.
    pub(crate) keywords: &'static [&'static str],
    /// Whether keywords are compared without regard to ASCII case.
    pub(crate) ignore_case: bool,
    /// Bytes that may not stand directly before the keyword.
    pub(crate) not_after: Set,
    pub(crate) shape: Shape,
    /// A last look at the bytes to be masked.
    pub(crate) accept: fn(&[u8]) -> bool,
}

/// How a match goes on after its keyword.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// Parts one after the other.
    Parts(&'static [Part]),
    /// A grammar of its own.
    Grammar(fn(&Text<'_>, Keyword) -> Look<Option<Hit>>),
}

/// A piece of a token.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    /// A literal that is shown.
    Literal(&'static str),
    /// A run of `min..=max` bytes that is shown.
    Shown(Set, usize, usize),
    /// A run of `min..=max` bytes that is masked. Where it is the last part and goes on past `max`, the rest of the run is
    /// masked too: leaving it would show the end of a long secret.
    Secret(Set, usize, usize),
    /// No byte of the set follows.
    End(Set),
}

/// Where a keyword was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keyword {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) rule: &'static str,
}

/// A secret: the range to be masked, and the rule that found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) rule: &'static str,
    /// Bytes that go on belonging to the secret after `end`, however many there are.
    pub(crate) swallow: Set,
}

impl Rule {
    /// Makes a rule for tokens with a distinctive prefix, which is the keyword.
    pub(crate) const fn token(name: &'static str, keywords: &'static [&'static str], parts: &'static [Part]) -> Self {
        let shape = Shape::Parts(parts);
        Self { name, keywords, ignore_case: false, not_after: Set::WORD, shape, accept: any }
    }

    /// Makes a rule with a grammar of its own, whose keywords are found in any case.
    pub(crate) const fn grammar(
        name: &'static str,
        keywords: &'static [&'static str],
        read: fn(&Text<'_>, Keyword) -> Look<Option<Hit>>,
    ) -> Self {
        let shape = Shape::Grammar(read);
        Self { name, keywords, ignore_case: true, not_after: Set::NONE, shape, accept: any }
    }

    /// Lets the keyword stand in the middle of a word: for prefixes that occur nowhere else.
    pub(crate) const fn anywhere(mut self) -> Self {
        self.not_after = Set::NONE;
        self
    }

    /// Says what may not stand directly before the keyword.
    pub(crate) const fn not_after(mut self, joined: Set) -> Self {
        self.not_after = joined;
        self
    }

    /// Compares keywords without regard to case.
    pub(crate) const fn any_case(mut self) -> Self {
        self.ignore_case = true;
        self
    }

    /// Adds a last look at the bytes to be masked.
    pub(crate) const fn only_if(mut self, accept: fn(&[u8]) -> bool) -> Self {
        self.accept = accept;
        self
    }

    /// Reads on from one of the rule's keywords.
    pub(crate) fn read(&self, text: &Text<'_>, start: usize, keyword: &str) -> Look<Option<Hit>> {
        if !text.has(start, keyword.as_bytes(), self.ignore_case)? || !text.starts_token(start, self.not_after) {
            return Ok(None);
        }
        let found = Keyword { start, end: start + keyword.len(), rule: self.name };
        let hit = match self.shape {
            Shape::Parts(parts) => read_parts(text, found, parts)?,
            Shape::Grammar(read) => read(text, found)?,
        };
        let parts = matches!(self.shape, Shape::Parts(_));
        Ok(hit.filter(|hit| {
            let secret = text.slice(hit.start, hit.end);
            text.is_cut_at(hit.end) || !(parts && value::is_filler(secret)) && (self.accept)(secret)
        }))
    }
}

fn read_parts(text: &Text<'_>, keyword: Keyword, parts: &[Part]) -> Look<Option<Hit>> {
    let mut position = keyword.end;
    let mut secret: Option<(usize, usize)> = None;
    let mut swallow = Set::NONE;
    for part in parts {
        swallow = Set::NONE;
        match *part {
            Part::Literal(literal) => {
                if !text.has(position, literal.as_bytes(), false)? {
                    return Ok(None);
                }
                position += literal.len();
            }
            Part::Shown(set, len_min, len_max) => {
                let end = text.run(position, set, len_max)?;
                if end - position < len_min {
                    return Ok(None);
                }
                position = end;
            }
            Part::Secret(set, len_min, len_max) => {
                let end = text.run(position, set, len_max)?;
                let start = secret.map_or(position, |(start, _)| start);
                if text.is_cut_at(end) && end - start >= CUT_SECRET_LEN_MIN {
                    return Ok(Some(Hit { start, end, rule: keyword.rule, swallow: Set::NONE }));
                }
                if end - position < len_min {
                    return Ok(None);
                }
                secret = Some((start, end));
                position = end;
                swallow = set;
            }
            Part::End(set) => {
                if text.is(position, set)? {
                    return Ok(None);
                }
            }
        }
    }
    Ok(secret.map(|(start, end)| Hit { start, end, rule: keyword.rule, swallow }))
}

fn any(_secret: &[u8]) -> bool {
    true
}
