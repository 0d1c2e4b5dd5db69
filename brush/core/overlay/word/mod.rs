//! A word's text as pieces: what is quoted, and what is to be expanded.
//!
//! Takes the place of upstream's grammar for words in expansion: one pass by hand, kept by text so that no word is parsed
//! twice. It doesn't expand anything, and knows nothing of a shell but two options.
#![warn(warnings, clippy::all, clippy::pedantic)]

mod parameter;
mod parse;
pub(crate) mod scan;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// How many parsed words are kept; a script with more of them begins anew.
const CACHE_WORDS_MAX: usize = 4096;
/// Longer texts are parsed again instead of kept, in bytes.
const CACHE_TEXT_MAX: usize = 4096;

/// A parsed word.
#[derive(Debug, Default)]
pub(crate) struct Word {
    /// Its pieces in their order.
    pub pieces: Vec<Piece>,
}

/// A piece of a word.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Unquoted text.
    Text(String),
    /// Text between quotes or after a backslash.
    Quoted(String),
    /// What stands in double quotes.
    Double(Vec<Piece>),
    /// What follows a tilde, up to the slash.
    Tilde(String),
    /// A parameter expansion.
    Parameter(Box<Parameter>),
    /// A command substitution.
    Command(String),
    /// An arithmetic expansion.
    Arithmetic(Word),
    /// A subscript in an expression, or in the name of what is tested.
    Subscript(Word),
    /// A process substitution, with its first character.
    Process(char, String),
}

/// `$name` or `${…}`.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// What is expanded.
    pub name: Name,
    /// Whether its value names what is expanded.
    pub indirect: bool,
    /// What is done with the value.
    pub operation: Operation,
    /// The whole text, for messages.
    pub text: String,
}

/// What a parameter is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// A variable.
    Variable(String),
    /// `$1` and on, and `$0`.
    Positional(usize),
    /// One of `@*#?-$!`.
    Special(char),
    /// An element of an array, with the subscript's text.
    Element(String, String),
    /// All of an array: `@` or `*`.
    All(String, char),
}

/// What is done with a parameter's value.
#[derive(Debug)]
pub(crate) enum Operation {
    /// Nothing.
    None,
    /// `${#x}`.
    Length,
    /// `${x:-word}` and its like.
    Test {
        /// One of `-=?+`.
        kind: char,
        /// Whether an empty value counts as none.
        empty_too: bool,
        /// The word.
        word: Word,
    },
    /// `${x#pattern}` and its like.
    Remove {
        /// Whether from the end.
        suffix: bool,
        /// Whether as much as possible.
        longest: bool,
        /// What is removed.
        pattern: Word,
    },
    /// `${x/pattern/with}`.
    Replace {
        /// One of `/#%`, or a space for the first match.
        which: char,
        /// What is replaced.
        pattern: Word,
        /// By what.
        with: Word,
    },
    /// `${x:offset:length}`.
    Substring {
        /// Where it begins.
        offset: Word,
        /// How much, with its text.
        length: Option<(Word, String)>,
    },
    /// `${x^pattern}` and its like.
    Case {
        /// One of `^,~`.
        to: char,
        /// Whether every character.
        all: bool,
        /// Which characters.
        pattern: Word,
    },
    /// `${x@Q}`.
    Transform(char),
    /// `${!prefix*}`, with how it ends.
    Names(char),
    /// `${!array[@]}`.
    Keys(char),
    /// What can't be done, which is told when it is reached.
    Bad,
}

/// Where a word stands, which decides about its quotes and tildes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// A word of a command, where a tilde may follow what looks like the beginning of an assignment.
    Plain,
    /// An element of an array.
    Element,
    /// What is assigned: a tilde may follow every colon.
    Assigned,
    /// A pattern or regular expression, or text without tildes.
    Untilded,
    /// The inside of double quotes.
    Double,
    /// The body of a here-document.
    Here,
    /// Arithmetic: like double quotes, but the quotes vanish.
    Arithmetic,
    /// An operand that names an element, or is an expression, without being in quotes.
    Operand,
}

/// Words by their texts.
type Words = HashMap<String, Arc<Word>>;

thread_local! {
    static CACHE: RefCell<HashMap<(Mode, bool), Words>> = RefCell::default();
}

/// The pieces of a word; `strict` where the standard says what single quotes mean in `"${…}"`: nothing.
pub(crate) fn parsed(text: &str, mode: Mode, strict: bool) -> Arc<Word> {
    if text.len() > CACHE_TEXT_MAX {
        return Arc::new(parse::word(text, mode, strict));
    }
    CACHE.with_borrow_mut(|caches| {
        let cache = caches.entry((mode, strict)).or_default();
        if let Some(word) = cache.get(text) {
            return Arc::clone(word);
        }
        let word = Arc::new(parse::word(text, mode, strict));
        if cache.len() >= CACHE_WORDS_MAX {
            cache.clear();
        }
        cache.insert(text.to_owned(), Arc::clone(&word));
        word
    })
}

/// Parses what names a parameter, as an indirect expansion or a builtin is given it.
pub(crate) fn parsed_name(text: &str) -> Option<Name> {
    parse::whole_name(text)
}

/// Whether the text is a valid name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}
