//! The regular expressions of `[[ =~ ]]`.
//!
//! Replaces upstream's `regex.rs`, which uses a library whose expressions are Perl's. bash uses the system's extended regular
//! expressions, and so does this: leftmost and longest, with the system's classes. An expression is compiled once and kept.
#![warn(warnings, clippy::all, clippy::pedantic)]

mod posix;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::bytes;
use crate::error::{Error, ErrorKind};

/// How many compiled expressions are kept; more begin anew.
const CACHE_EXPRESSIONS_MAX: usize = 128;

type Cached = Option<Rc<posix::Compiled>>;

thread_local! {
    static CACHE: RefCell<HashMap<(String, bool, bool), Cached>> = RefCell::default();
}

/// A regular expression.
#[derive(Clone, Debug)]
pub struct Regex {
    text: String,
    case_insensitive: bool,
    multibyte: bool,
}

impl Regex {
    /// An expression, of characters or of bytes.
    pub(crate) const fn new(text: String, case_insensitive: bool, multibyte: bool) -> Self {
        Self { text, case_insensitive, multibyte }
    }

    /// What matched, whole and by groups.
    ///
    /// # Errors
    /// Where the text is no expression.
    pub fn matches(&self, value: &str) -> Result<Option<Vec<Option<String>>>, Error> {
        let Some(compiled) = self.compiled() else {
            return Err(ErrorKind::InvalidPattern(self.text.clone()).into());
        };
        let value = bytes::decode(value);
        let Some(groups) = compiled.find(&value) else { return Ok(None) };
        let text = |(start, end): (usize, usize)| bytes::encode(&value[start..end]).into_owned();
        Ok(Some(groups.into_iter().map(|group| group.map(text)).collect()))
    }

    fn compiled(&self) -> Cached {
        CACHE.with_borrow_mut(|cache| {
            let key = (self.text.clone(), self.case_insensitive, self.multibyte);
            if let Some(found) = cache.get(&key) {
                return found.clone();
            }
            if cache.len() >= CACHE_EXPRESSIONS_MAX {
                cache.clear();
            }
            let made =
                posix::Compiled::new(&bytes::decode(&self.text), self.case_insensitive, self.multibyte).map(Rc::new);
            cache.insert(key, made.clone());
            made
        })
    }
}
