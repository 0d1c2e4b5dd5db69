//! The expansion of words.
//!
//! Replaces upstream's `expansion.rs`. A word is parsed once (`word`), then expanded into a *sink* that knows what becomes of
//! quoted and unquoted text: fields, one string, a pattern, a regular expression. Nothing here waits: a command substitution is
//! run to its end where it stands. What a command's words mean to the command is not decided here.
#![warn(warnings, clippy::all, clippy::pedantic)]
// The interpreter awaits what is here, as it did what was here before.
#![allow(clippy::unused_async)]

mod braces;
mod fields;
mod lookup;
mod operations;
mod pieces;
mod sinks;
mod substring;
mod tilde;
mod transform;

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::arithmetic::EvalError;
use crate::error::Error;
use crate::extensions::ShellExtensions;
use crate::interp::ExecutionParameters;
use crate::shell::Shell;
use crate::word::{self, Mode};
use crate::{binding, locale, regex};

use pieces::Expander;
use sinks::{Joined, PatternText, RegexText};

/// What is expanded.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct ExpanderOptions {
    /// Whether tildes are.
    pub tilde_expand: bool,
    /// Whether braces are.
    pub brace_expand: bool,
    /// Whether commands are; without, they leave nothing.
    pub execute_command_substitutions: bool,
    /// Whether names of files are.
    pub pathname_expand: bool,
    /// Whether it is an element of an array.
    pub is_element: bool,
}

impl Default for ExpanderOptions {
    fn default() -> Self {
        Self {
            tilde_expand: true,
            brace_expand: true,
            execute_command_substitutions: true,
            pathname_expand: true,
            is_element: false,
        }
    }
}

/// Characters without which a word is nothing but its text.
const SPECIAL: [char; 14] = ['$', '`', '\\', '\'', '"', '~', '{', '*', '?', '[', '(', '<', '>', ']'];

/// A pattern's text after expansion, with what was quoted protected.
pub(crate) fn pattern_text<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &str,
) -> Result<String, Error> {
    if !text.contains(['$', '`', '\'', '"', '~', '<', '>']) {
        return Ok(text.to_owned());
    }
    let word = parsed(shell, text, Mode::Plain);
    let mut sink = PatternText::new(shell);
    Expander { shell, params, commands: true }.pieces(&word.pieces, &mut sink)?;
    Ok(sink.text)
}

/// A pattern as a trace shows it: every quoted character has its backslash.
pub(crate) fn traced_pattern<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &str,
) -> Result<String, Error> {
    let word = parsed(shell, text, Mode::Plain);
    let mut sink = PatternText::new(shell);
    sink.protects_all = true;
    Expander { shell, params, commands: false }.pieces(&word.pieces, &mut sink)?;
    Ok(sink.text)
}

/// Expands a regular expression.
pub(crate) async fn basic_expand_regex(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    text: impl AsRef<str>,
) -> Result<regex::Regex, Error> {
    let word = parsed(shell, text.as_ref(), Mode::Plain);
    let mut sink = RegexText::new(shell);
    Expander { shell, params, commands: true }.pieces(&word.pieces, &mut sink)?;
    Ok(regex::Regex::new(sink.text, shell.options().case_insensitive_conditionals, locale::multibyte(shell)))
}

/// Expands a word to one string.
pub(crate) async fn basic_expand_word(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    text: impl AsRef<str>,
) -> Result<String, Error> {
    joined(shell, params, text.as_ref(), Mode::Plain)
}

/// Expands the body of a here-document.
pub(crate) async fn basic_expand_heredoc_word(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    text: impl AsRef<str>,
) -> Result<String, Error> {
    joined(shell, params, text.as_ref(), Mode::Here)
}

/// Expands a word to one string, as far as the options say.
pub(crate) async fn basic_expand_word_with_options(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    text: impl AsRef<str>,
    options: &ExpanderOptions,
) -> Result<String, Error> {
    let mode = if options.tilde_expand { Mode::Plain } else { Mode::Double };
    let word = parsed(shell, text.as_ref(), mode);
    let mut sink = Joined::new(shell);
    Expander { shell, params, commands: options.execute_command_substitutions }.pieces(&word.pieces, &mut sink)?;
    Ok(sink.finish())
}

/// Expands what is assigned.
pub(crate) async fn basic_expand_assignment_word(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    text: impl AsRef<str>,
) -> Result<String, Error> {
    joined(shell, params, text.as_ref(), Mode::Assigned)
}

/// Expands a word of a command to any number of fields.
pub(crate) async fn full_expand_and_split_word(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    text: impl AsRef<str>,
) -> Result<Vec<String>, Error> {
    split(shell, params, text.as_ref(), &ExpanderOptions::default(), false)
}

/// As [`full_expand_and_split_word`], for the word of a redirection: in POSIX mode patterns mean themselves.
pub(crate) async fn expand_redirect_word(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    text: impl AsRef<str>,
) -> Result<Vec<String>, Error> {
    let options = ExpanderOptions { pathname_expand: !shell.options().posix_mode, ..ExpanderOptions::default() };
    split(shell, params, text.as_ref(), &options, false)
}

/// As [`full_expand_and_split_word`], as far as the options say; a whole list of words, which is split too.
pub(crate) async fn full_expand_and_split_word_with_options(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    text: impl AsRef<str>,
    options: &ExpanderOptions,
) -> Result<Vec<String>, Error> {
    split(shell, params, text.as_ref(), options, true)
}

/// Expands an element of an array to any number of them.
pub(crate) fn expand_element<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &str,
) -> Result<Vec<String>, Error> {
    split(shell, params, text, &ExpanderOptions { is_element: true, ..ExpanderOptions::default() }, false)
}

/// Assigns to a parameter by its name, which may have a subscript.
///
/// # Errors
/// Where it can't be assigned.
#[allow(clippy::unused_async)]
pub async fn assign_to_named_parameter(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    name: &str,
    value: String,
) -> Result<(), Error> {
    let (name, subscript) = binding::split_subscript(name);
    binding::assign(shell, params, name, subscript, value, false)
}

/// An expression after expansion.
pub(crate) fn arithmetic_text<'a, SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &'a str,
) -> Result<Cow<'a, str>, EvalError> {
    if !text.contains(['$', '`', '\\', '"']) {
        return Ok(Cow::Borrowed(text));
    }
    let word = parsed(shell, text, Mode::Arithmetic);
    let mut expander = Expander { shell, params, commands: true };
    expander.string(&word).map(Cow::Owned).map_err(EvalError::from)
}

/// The key that a subscript of an associative array means.
pub(crate) fn subscript_text<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &str,
) -> Result<String, Error> {
    joined(shell, params, text, Mode::Untilded)
}

/// A word that names a variable to test, or is an expression; what is expanded in a subscript stays one key.
pub(crate) fn operand_text<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &str,
) -> Result<String, Error> {
    let word = parsed(shell, text, Mode::Operand);
    Expander { shell, params, commands: true }.string(&word)
}

/// The pieces of a word, as the shell reads it.
fn parsed(shell: &Shell<impl ShellExtensions>, text: &str, mode: Mode) -> Arc<word::Word> {
    word::parsed(text, mode, shell.options().posix_mode || shell.options().sh_mode)
}

fn joined<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &str,
    mode: Mode,
) -> Result<String, Error> {
    if !text.contains(['$', '`', '\\', '\'', '"', '~', '<', '>']) {
        return Ok(text.to_owned());
    }
    let word = parsed(shell, text, mode);
    let mut sink = if matches!(mode, Mode::Here) { Joined::with_blanks() } else { Joined::new(shell) };
    Expander { shell, params, commands: true }.pieces(&word.pieces, &mut sink)?;
    Ok(sink.finish())
}

/// The last of the words that a word's braces make of it, if it has any.
pub(crate) fn last_of_braces<SE: ShellExtensions>(shell: &Shell<SE>, text: &str) -> Option<String> {
    let words = if shell.options().perform_brace_expansion { braces::expanded(text) } else { None };
    words?.pop()
}

fn split<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &str,
    options: &ExpanderOptions,
    is_list: bool,
) -> Result<Vec<String>, Error> {
    if !is_list && !text.contains(SPECIAL) {
        return Ok(if text.is_empty() { Vec::new() } else { vec![text.to_owned()] });
    }
    let mut fields = fields::Fields::new(shell, options.pathname_expand);
    if options.brace_expand
        && shell.options().perform_brace_expansion
        && let Some(words) = braces::expanded(text)
    {
        for word in words {
            split_one(shell, params, &word, (options, is_list), &mut fields)?;
        }
    } else {
        split_one(shell, params, text, (options, is_list), &mut fields)?;
    }
    fields.into_strings(shell)
}

fn split_one<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &str,
    (options, is_list): (&ExpanderOptions, bool),
    fields: &mut fields::Fields,
) -> Result<(), Error> {
    let mode = match (options.tilde_expand, options.is_element) {
        (false, _) => Mode::Untilded,
        // The standard knows assignments before a command only.
        (true, false) if shell.options().posix_mode => Mode::Element,
        (true, false) => Mode::Plain,
        (true, true) => Mode::Element,
    };
    let word = parsed(shell, text, mode);
    let mut expander = Expander { shell, params, commands: options.execute_command_substitutions };
    if is_list {
        expander.operand(&word, fields)?;
    } else {
        expander.pieces(&word.pieces, fields)?;
    }
    fields.end_word();
    Ok(())
}

/// Runs a future that waits for nothing but the system to its end.
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}
