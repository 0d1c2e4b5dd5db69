//! Elements of arrays: which words name one, and what one holds after it was assigned.
//!
//! How names are resolved and values stored is the business of [`super`]. Upstream has no such file.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::borrow::Cow;

use super::{
    Key, assign_to, assigned_key, complaint, is_associative, key, owned_target, resolved, split_subscript, value_at,
    variable, warn_of_circle,
};
use crate::arithmetic::EvalError;
use crate::commands::CommandArg;
use crate::error::Error;
use crate::extensions::ShellExtensions;
use crate::interp::ExecutionParameters;
use crate::shell::Shell;
use crate::variables::ShellValue;

/// Builtins that take the names of elements.
const TAKING_ELEMENTS: [&str; 4] = ["unset", "read", "printf", "wait"];

/// Whether a word, not yet expanded, names an element to a builtin that takes such names.
pub(crate) fn names_element(before: &[CommandArg], word: &str) -> bool {
    let takes_names =
        |arg: &CommandArg| matches!(arg, CommandArg::String(name) if TAKING_ELEMENTS.contains(&name.as_str()));
    word.ends_with(']')
        && before
            .iter()
            .find(|arg| !matches!(arg, CommandArg::String(name) if name == "command"))
            .is_some_and(takes_names)
        && split_subscript(word).1.is_some_and(|subscript| !subscript.is_empty())
}

/// Assigns to an element and gives its value; the subscript comes with whether it is a key as it stands.
pub(crate) fn assign_element<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    name: &str,
    (subscript, is_key): (&str, bool),
    value: String,
) -> Result<String, Error> {
    warn_of_circle(shell, params, name);
    let name = resolved(shell, name).0.to_owned();
    let key = if is_key && is_associative(shell, &name) {
        Key::Text(subscript.to_owned())
    } else {
        assigned_key(shell, params, &name, subscript)?
    };
    assign_to(shell, params, &name, Some(key.clone()), value, false)?;
    Ok(value_at(shell, &name, Some(&key)).map(Cow::into_owned).unwrap_or_default())
}

/// Whether the variable is an array that has been given a value.
pub(crate) fn has_elements(shell: &Shell<impl ShellExtensions>, name: &str) -> bool {
    let (name, _) = resolved(shell, name);
    variable(shell, name).is_some_and(|variable| {
        variable.value().is_array() && variable.value().is_set()
            || matches!(variable.value(), ShellValue::Dynamic { .. })
    })
}

/// The text that stands for a name in an expression, with the key of an element.
pub(crate) fn arithmetic_value<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &str,
    keeps_keys: bool,
) -> Result<(Option<Key>, Option<String>), EvalError> {
    if let (true, Some((name, rest))) = (keeps_keys, text.split_once('['))
        && is_associative(shell, name)
    {
        let key = Key::Text(rest[..rest.len() - 1].to_owned());
        let value = value_at(shell, name, Some(&key)).map(Cow::into_owned);
        return Ok((Some(key), value));
    }
    let (name, subscript) = owned_target(shell, text);
    if subscript.as_deref() == Some("") {
        let error = complaint(format!("{name}[]: bad array subscript"));
        let _ = shell.display_error(&mut params.stderr(shell), &error);
        let _ = shell.display_error(&mut params.stderr(shell), &error);
        return Ok((None, None));
    }
    let key = match subscript.as_deref() {
        Some(subscript) => Some(key(shell, params, &name, subscript).map_err(EvalError::from)?),
        None => None,
    };
    let value = value_at(shell, &name, key.as_ref()).map(Cow::into_owned);
    Ok((key, value))
}
