//! Arithmetic: `$((…))`, `((…))`, subscripts, integers.
//!
//! Replaces upstream's `arithmetic.rs`, which builds a tree with a grammar and tells errors in words of its own. Here a text
//! is evaluated while it is read, as bash does, so that what is evaluated before an error, and what the error says, is the
//! same. Division by zero and its like are errors of the expression; whether they end a command is the caller's business.
#![warn(warnings, clippy::all, clippy::pedantic)]

mod evaluate;
mod operators;
mod tokens;

use brush_parser::ast;

use crate::expansion;
use crate::extensions::ShellExtensions;
use crate::interp::ExecutionParameters;
use crate::shell::Shell;

/// How deep variables may name expressions that name variables.
const NESTING_MAX: u32 = 1024;

/// What is wrong with an expression, in bash's words and without its prefix.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
#[allow(clippy::struct_excessive_bools)]
pub struct EvalError {
    message: String,
    fatal: bool,
    /// Whether no name of a command stands before it.
    bare: bool,
    /// Whether the command line ends with it.
    aborts: bool,
    /// Whether all that is being run does.
    ends_all: bool,
}

impl EvalError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), fatal: false, bare: false, aborts: false, ends_all: false }
    }

    /// An error that ends the shell: an unset variable where that is refused.
    pub(crate) fn fatal(message: impl Into<String>) -> Self {
        Self { message: message.into(), fatal: true, bare: true, aborts: true, ends_all: false }
    }

    /// Whether the shell ends with it.
    #[must_use]
    pub const fn is_fatal(&self) -> bool {
        self.fatal
    }

    /// Whether the command line ends with it: what is wrong stands in a subscript or an expansion.
    #[must_use]
    pub const fn ends_line(&self) -> bool {
        self.aborts
    }

    /// Whether all that is being run ends with it: what is wrong is a subscript.
    #[must_use]
    pub const fn ends_all(&self) -> bool {
        self.ends_all
    }

    /// The error as one of the shell, with a command's name before it.
    pub(crate) fn told_by(&self, name: &str) -> crate::error::Error {
        let text = if self.bare { self.message.clone() } else { format!("{name}{}", self.message) };
        let error = crate::error::Error::from(crate::error::ErrorKind::CheckedExpansionError(text));
        let error = if self.ends_all { error.into_ending_all() } else { error };
        if self.fatal { error.into_fatal() } else { error }
    }
}

impl From<crate::error::Error> for EvalError {
    fn from(error: crate::error::Error) -> Self {
        let message = error.to_string();
        let aborts = !message.ends_with(": readonly variable");
        Self { message, fatal: error.is_fatal(), bare: true, aborts, ends_all: error.ends_all() }
    }
}

/// Whether a message is that of an expression which is wrong.
#[must_use]
pub fn is_syntax(message: &str) -> bool {
    message.contains("(error token is \"")
}

/// An expression that is expanded before it is evaluated.
pub(crate) trait ExpandAndEvaluate {
    /// Expands and evaluates.
    async fn eval(
        &self,
        shell: &mut Shell<impl ShellExtensions>,
        params: &ExecutionParameters,
        trace_if_needed: bool,
    ) -> Result<i64, EvalError>;
}

impl ExpandAndEvaluate for ast::UnexpandedArithmeticExpr {
    async fn eval(
        &self,
        shell: &mut Shell<impl ShellExtensions>,
        params: &ExecutionParameters,
        trace_if_needed: bool,
    ) -> Result<i64, EvalError> {
        expand_and_eval(shell, params, &self.value, trace_if_needed).await
    }
}

/// One of the expressions of `for ((…))`; none where it is wrong, which is told.
pub(crate) async fn for_part(
    expression: &ast::UnexpandedArithmeticExpr,
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
) -> Result<Option<i64>, crate::error::Error> {
    match expression.eval(shell, params, true).await {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.ends_line() => Err(error.told_by("")),
        Err(error) => {
            let _ = shell.display_error(&mut params.stderr(shell), &error.told_by("((: "));
            Ok(None)
        }
    }
}

/// Expands an expression and evaluates it.
pub(crate) async fn expand_and_eval(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    expression: &str,
    trace_if_needed: bool,
) -> Result<i64, EvalError> {
    if trace_if_needed && shell.options().print_commands_and_arguments {
        let expanded = expansion::arithmetic_text(shell, params, expression)?.into_owned();
        shell.trace_command(params, format!("(( {expanded} ))")).await;
        return evaluate(shell, params, &expanded);
    }
    expanded_value(shell, params, expression)
}

/// As [`expand_and_eval`], for code that waits for nothing.
pub(crate) fn expanded_value(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    expression: &str,
) -> Result<i64, EvalError> {
    let expanded = expansion::arithmetic_text(shell, params, expression)?;
    evaluate(shell, params, &expanded)
}

/// Evaluates an expression as it is.
///
/// # Errors
/// What bash would say about the expression.
pub fn evaluate(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    expression: &str,
) -> Result<i64, EvalError> {
    nested(shell, params, expression, 0, false)
}

/// As [`evaluate`], for an expression whose subscripts have been expanded: with `assoc_expand_once` they are keys as they are.
///
/// # Errors
/// What bash would say about the expression.
pub fn evaluate_expanded(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    expression: &str,
) -> Result<i64, EvalError> {
    let keeps_keys = shell.options().assoc_expand_once;
    nested(shell, params, expression, 0, keeps_keys)
}

/// Evaluates the text of a value that stands in an expression at this depth.
fn nested<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    expression: &str,
    depth: u32,
    keeps_keys: bool,
) -> Result<i64, EvalError> {
    if let Some(number) = plain_number(expression) {
        return Ok(number);
    }
    let text = expression.trim_start_matches([' ', '\t', '\n']);
    if depth > NESTING_MAX {
        let token = expression.trim();
        return Err(EvalError::new(format!(
            "{text}: expression recursion level exceeded (error token is \"{token}\")"
        )));
    }
    if text.is_empty() {
        return Ok(0);
    }
    evaluate::Evaluation::new(shell, params, expression, (depth, keeps_keys)).value()
}

/// A number that needs no reading as an expression.
pub(crate) fn plain_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty()
        // No more than fit for sure.
        && digits.len() <= 18
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

/// An expression as upstream's builtins hold it.
pub trait Evaluatable {
    /// Evaluates the expression.
    ///
    /// # Errors
    /// What bash would say about it.
    fn eval(&self, shell: &mut Shell<impl ShellExtensions>) -> Result<i64, EvalError>;
}

impl Evaluatable for ast::ArithmeticExpr {
    fn eval(&self, shell: &mut Shell<impl ShellExtensions>) -> Result<i64, EvalError> {
        let params = shell.default_exec_params();
        evaluate(shell, &params, &self.to_string())
    }
}
