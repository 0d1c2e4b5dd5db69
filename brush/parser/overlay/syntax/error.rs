//! What is wrong with a script's text, and where.
//!
//! Upstream knows positions only; bash's messages name the token and quote the line, so that is kept here. Which program's
//! name stands before a message is the shell's business.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::fmt;

/// An error in a script's text, in the shell's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub kind: SyntaxErrorKind,
    /// The line it was noticed at, counted from one.
    pub line: usize,
    /// The text of that line, where the shell quotes it.
    pub text: Option<String>,
    /// Whether it is inside a command substitution.
    pub is_substituted: bool,
}

/// The ways in which a text is no script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// A token stands where the grammar allows none such.
    Unexpected(String),
    /// The text ended inside a compound command.
    EndOfFile,
    /// The text ended inside `[[ ]]`.
    UnclosedTest,
    /// The text ended inside an array.
    UnclosedArray,
    /// The text ended before this character closed what was opened.
    Unclosed(char),
    /// A `[[ ]]` that is none; the text says how.
    Conditional(String),
    /// A word between the parentheses of an array that is none.
    InArray(String),
    /// The head of an arithmetic `for`; the lines say how.
    ArithmeticFor(Vec<String>),
    /// Nothing that keeps a command from running; the text says what.
    Warning(String),
    /// Something that another shell may understand.
    Unsupported(&'static str),
}

impl SyntaxError {
    /// Whether any shell of this kind refuses the text too.
    #[must_use]
    pub const fn is_certain(&self) -> bool {
        !matches!(self.kind, SyntaxErrorKind::Unsupported(_))
    }

    /// Whether more text could mend it.
    #[must_use]
    pub const fn is_incomplete(&self) -> bool {
        use SyntaxErrorKind::{EndOfFile, Unclosed, UnclosedArray, UnclosedTest};
        matches!(self.kind, EndOfFile | Unclosed(_) | UnclosedArray | UnclosedTest)
    }

    /// The lines of the message.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        let mut lines = match &self.kind {
            SyntaxErrorKind::Unexpected(token) | SyntaxErrorKind::InArray(token) => {
                vec![format!("syntax error near unexpected token `{token}'")]
            }
            SyntaxErrorKind::EndOfFile => vec!["syntax error: unexpected end of file".to_owned()],
            SyntaxErrorKind::UnclosedTest => vec!["unexpected EOF while looking for `]]'".to_owned()],
            SyntaxErrorKind::UnclosedArray => vec!["unexpected EOF while looking for matching `)'".to_owned()],
            SyntaxErrorKind::Unclosed(closing) => {
                vec![format!("unexpected EOF while looking for matching `{closing}'")]
            }
            SyntaxErrorKind::Conditional(words) if words.is_empty() => Vec::new(),
            SyntaxErrorKind::Conditional(words) => words.lines().map(str::to_owned).collect(),
            SyntaxErrorKind::ArithmeticFor(lines) => lines.clone(),
            SyntaxErrorKind::Warning(words) => vec![format!("warning: {words}")],
            SyntaxErrorKind::Unsupported(what) => vec![format!("syntax error: {what}")],
        };
        lines.extend(self.text.as_ref().map(|text| format!("`{text}'")));
        lines
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.messages().join("\n"))
    }
}

impl std::error::Error for SyntaxError {}

/// A remark that does not keep a command from running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxWarning {
    /// The line it was noticed at.
    pub line: usize,
    /// The shell's words.
    pub words: String,
}
