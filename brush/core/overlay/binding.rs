//! What names stand for: reading and assigning variables and elements, through references.
//!
//! Upstream assigns without evaluating: here subscripts, integers and references are followed as bash does, in one place for
//! assignments, arithmetic, `read` and the like. Which scope a new variable belongs to is decided by the environment.
#![warn(warnings, clippy::all, clippy::pedantic)]

mod elements;

use std::borrow::Cow;

use crate::arithmetic::{self, EvalError};
use crate::env::{EnvironmentLookup, EnvironmentScope};
use crate::error::{Error, ErrorKind};
use crate::extensions::ShellExtensions;
use crate::interp::ExecutionParameters;
use crate::shell::Shell;
use crate::variables::{ShellValue, ShellValueLiteral, ShellValueUnsetType, ShellVariable};
pub use crate::xtrace::trace_assignment;
use crate::{expansion, special, word};

pub(crate) use elements::{arithmetic_value, assign_element, has_elements, names_element};

/// An element's place in its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// In an indexed array.
    Index(u64),
    /// In an associative one.
    Text(String),
}

impl Key {
    /// The key as text.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Index(index) => index.to_string().into(),
            Self::Text(text) => text.into(),
        }
    }
}

/// A message of bash's, which ends the command line it came from.
pub(crate) fn complaint(text: impl Into<String>) -> Error {
    ErrorKind::CheckedExpansionError(text.into()).into()
}

/// The error of an assignment to a variable that keeps its value. With `set -e` the shell ends, whatever the command is part of.
pub(crate) fn read_only(shell: &Shell<impl ShellExtensions>, name: &str) -> Error {
    let error = complaint(format!("{name}: readonly variable"));
    if shell.options().exit_on_nonzero_command_exit { error.into_fatal() } else { error }
}

/// A name and its subscript.
#[must_use]
pub fn split_subscript(text: &str) -> (&str, Option<&str>) {
    match text.split_once('[') {
        Some((name, rest)) if word::is_name(name) && ends_with_bracket(rest) => (name, Some(&rest[..rest.len() - 1])),
        _ => (text, None),
    }
}

/// Whether the bracket that closes a subscript is the last character of what follows the opening one.
#[must_use]
pub fn ends_with_bracket(rest: &str) -> bool {
    let is_plain = |text: &str| !text.contains(['[', ']', '\\', '\'', '"', '`', '$']);
    match rest.strip_suffix(']') {
        Some(subscript) => is_plain(subscript) || word::scan::brackets(rest.as_bytes(), 0) == Some(rest.len()),
        None => false,
    }
}

/// The name that a name refers to in the end, and its subscript where it refers to an element.
pub fn resolved<'a>(shell: &'a Shell<impl ShellExtensions>, name: &'a str) -> (&'a str, Option<&'a str>) {
    split_subscript(shell.env().resolve_name(name))
}

/// The variable of this name, through references to whole variables.
pub(crate) fn variable<'a, SE: ShellExtensions>(shell: &'a Shell<SE>, name: &str) -> Option<&'a ShellVariable> {
    shell.env().get(name).map(|(_, variable)| variable)
}

/// Whether the variable is an associative array.
pub fn is_associative(shell: &Shell<impl ShellExtensions>, name: &str) -> bool {
    variable(shell, name).is_some_and(|variable| {
        let associative = |value: &ShellValue| {
            matches!(value, ShellValue::AssociativeArray(_) | ShellValue::Unset(ShellValueUnsetType::AssociativeArray))
        };
        match variable.value() {
            ShellValue::Dynamic { getter, .. } => associative(&getter(shell)),
            value => associative(value),
        }
    })
}

/// What a subscript means for the array of this name.
///
/// # Errors
/// Where the subscript is no expression, or lies before the array.
pub fn key<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    name: &str,
    subscript: &str,
) -> Result<Key, Error> {
    if is_associative(shell, name) {
        return Ok(Key::Text(expansion::subscript_text(shell, params, subscript)?));
    }
    let index = number_of(shell, params, subscript)?;
    index_from_end(shell, name, index).map(Key::Index).ok_or_else(|| complaint(format!("{name}: bad array subscript")))
}

/// The number that a subscript gives. One that gives none ends more than the command line: all that is being run.
pub(crate) fn number_of<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    subscript: &str,
) -> Result<i64, Error> {
    arithmetic::expanded_value(shell, params, subscript).map_err(|error| {
        let error = error.told_by("").into_ending_all();
        if shell.options().command_string_mode { error.into_fatal() } else { error }
    })
}

/// An index that may count from the end.
fn index_from_end(shell: &Shell<impl ShellExtensions>, name: &str, index: i64) -> Option<u64> {
    if index >= 0 {
        return u64::try_from(index).ok();
    }
    let next = variable(shell, name).map_or(0, |variable| match variable.value() {
        ShellValue::IndexedArray(values) => values.last_key_value().map_or(0, |(last, _)| last + 1),
        ShellValue::String(_) => 1,
        ShellValue::Dynamic { getter, .. } => match getter(shell) {
            ShellValue::IndexedArray(values) => values.len() as u64,
            _ => 1,
        },
        _ => 0,
    });
    next.checked_add_signed(index)
}

/// The value of an element, or of a variable where there is no key.
pub(crate) fn value_at<'a, SE: ShellExtensions>(
    shell: &'a Shell<SE>,
    name: &str,
    key: Option<&Key>,
) -> Option<Cow<'a, str>> {
    let variable = variable(shell, name)?;
    match variable.value() {
        ShellValue::Dynamic { getter, .. } => {
            element(&special::value(name).unwrap_or_else(|| getter(shell)), key).map(|text| Cow::Owned(text.to_owned()))
        }
        value => element(value, key).map(Cow::Borrowed),
    }
}

fn element<'a>(value: &'a ShellValue, key: Option<&Key>) -> Option<&'a str> {
    match (value, key) {
        (ShellValue::String(text), None | Some(Key::Index(0))) => Some(text),
        (ShellValue::IndexedArray(values), None) => values.get(&0).map(String::as_str),
        (ShellValue::IndexedArray(values), Some(Key::Index(index))) => values.get(index).map(String::as_str),
        (ShellValue::AssociativeArray(values), None) => values.get("0").map(String::as_str),
        (ShellValue::AssociativeArray(values), Some(Key::Text(key))) => values.get(key).map(String::as_str),
        _ => None,
    }
}

/// The number that a variable holds, where it holds a plain number.
pub(crate) fn plain_number(shell: &Shell<impl ShellExtensions>, name: &str) -> Option<i64> {
    match variable(shell, name)?.value() {
        ShellValue::String(text) => arithmetic::plain_number(text),
        _ => None,
    }
}

/// Assigns a number to a name or element in an expression.
pub(crate) fn assign_number<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &str,
    key: Option<Key>,
    value: i64,
) -> Result<(), EvalError> {
    if let Some(key) = key {
        let array = text.split('[').next().unwrap_or(text);
        let name = owned_target(shell, array).0;
        return assign_keyed(shell, params, &name, key, value.to_string(), false).map_err(EvalError::from);
    }
    let (name, subscript) = split_subscript(text);
    assign(shell, params, name, subscript, value.to_string(), false).map_err(EvalError::from)
}

/// As [`resolved`], for a text that may have a subscript of its own.
fn owned_target(shell: &Shell<impl ShellExtensions>, text: &str) -> (String, Option<String>) {
    let (name, own) = split_subscript(text);
    let (name, referred) = resolved(shell, name);
    (name.to_owned(), own.or(referred).map(str::to_owned))
}

/// Assigns to a variable or element: through references, with the attributes of the variable.
///
/// # Errors
/// Where the variable is readonly, or the subscript or number isn't one.
pub fn assign<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    name: &str,
    subscript: Option<&str>,
    value: String,
    append: bool,
) -> Result<(), Error> {
    if shell.env().get_reference(name).is_some() {
        let is_own = shell
            .env()
            .get_reference(name)
            .is_some_and(|reference| matches!(reference.value(), ShellValue::String(target) if target == name));
        if !is_own && shell.env().is_circular(name) {
            return Err(complaint(format!("warning: {name}: circular name reference")));
        }
        warn_of_circle(shell, params, name);
    }
    let (name, subscript) = match subscript {
        Some(subscript) => (resolved(shell, name).0.to_owned(), Some(subscript.to_owned())),
        None => owned_target(shell, name),
    };
    let key = match subscript.as_deref() {
        None => None,
        Some(subscript) => Some(assigned_key(shell, params, &name, subscript)?),
    };
    assign_to(shell, params, &name, key, value, append)
}

/// Whether the variable is a reference to nothing yet, and can't become one to this.
pub fn refuses_target(shell: &Shell<impl ShellExtensions>, name: &str, target: &str) -> bool {
    let is_open = shell.env().get_reference(name).is_some_and(|reference| !reference.value().is_set());
    is_open && !is_target(target)
}

/// Whether a reference can refer to this.
pub(crate) fn is_target(text: &str) -> bool {
    word::is_name(text) || split_subscript(text).1.is_some_and(|subscript| !subscript.is_empty())
}

/// Assigns to an element whose key is known.
///
/// # Errors
/// Where the variable is readonly, or the number isn't one.
pub fn assign_keyed<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    name: &str,
    key: Key,
    value: String,
    append: bool,
) -> Result<(), Error> {
    assign_to(shell, params, name, Some(key), value, append)
}

/// Says that a reference refers to its own name, and so to the global variable.
pub(crate) fn warn_of_circle<SE: ShellExtensions>(shell: &mut Shell<SE>, params: &ExecutionParameters, name: &str) {
    if shell.env().get_reference(name).is_some() && shell.env().is_circular(name) {
        let warning = complaint(format!("warning: {name}: circular name reference"));
        let _ = shell.display_error(&mut params.stderr(shell), &warning);
    }
}

fn assign_to<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    name: &str,
    key: Option<Key>,
    value: String,
    append: bool,
) -> Result<(), Error> {
    if key.is_none() && refuses_target(shell, name, &value) {
        return Err(complaint(format!("`{value}': not a valid identifier")));
    }
    let Some((integer, dynamic)) = check_assignable(shell, name)? else {
        let key = key.map(|key| key.text().into_owned());
        return add(shell, name, key, value);
    };
    if let (true, "DIRSTACK", Some(Key::Index(place))) = (dynamic, name, &key) {
        special::assign_directory(shell, *place, &value);
        return Ok(());
    }
    if let (true, Some(Key::Text(key))) = (dynamic, &key)
        && special::assign_entry(shell, name, key, &value)
    {
        return Ok(());
    }
    if dynamic && special::assign(shell, name, &value, append) {
        return Ok(());
    }
    if special::has_meaning(name) {
        special::notice(shell, params, name, Some(&value));
    }
    let (value, append) =
        if integer { (number(shell, params, name, key.as_ref(), &value, append)?, false) } else { (value, append) };
    let auto_export = shell.options().export_variables_on_modification;
    if let Some((_, variable)) = shell.env_mut().get_mut(name) {
        match key {
            Some(key) => variable.assign_at_index(key.text().into_owned(), value, append)?,
            None => variable.assign(ShellValueLiteral::Scalar(value), append)?,
        }
        if auto_export && !variable.value().is_array() {
            variable.export();
        }
    }
    Ok(())
}

/// What an existing variable asks for: whether it is an integer, and whether its value is made when it is read.
fn check_assignable(shell: &Shell<impl ShellExtensions>, name: &str) -> Result<Option<(bool, bool)>, Error> {
    let Some(variable) = variable(shell, name) else { return Ok(None) };
    if variable.is_treated_as_nameref() && shell.env().is_circular(name) {
        // There is no global variable yet that it could mean.
        return Ok(None);
    }
    if variable.is_readonly() {
        return Err(read_only(shell, name));
    }
    Ok(Some((variable.is_treated_as_integer(), matches!(variable.value(), ShellValue::Dynamic { .. }))))
}

fn assigned_key<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    name: &str,
    subscript: &str,
) -> Result<Key, Error> {
    let bad = || complaint(format!("{name}[{subscript}]: bad array subscript"));
    if is_associative(shell, name) {
        let text = expansion::subscript_text(shell, params, subscript)?;
        return if text.is_empty() { Err(bad()) } else { Ok(Key::Text(text)) };
    }
    if matches!(subscript, "@" | "*" | "") {
        return Err(bad());
    }
    let index = number_of(shell, params, subscript)?;
    index_from_end(shell, name, index).map(Key::Index).ok_or_else(bad)
}

/// What an integer becomes.
fn number<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    name: &str,
    key: Option<&Key>,
    value: &str,
    append: bool,
) -> Result<String, Error> {
    let evaluated = |shell: &mut Shell<SE>, text: &str| {
        arithmetic::evaluate(shell, params, text).map_err(|error| error.told_by(""))
    };
    let mut number = evaluated(shell, value)?;
    if append {
        let old = value_at(shell, name, key).map(Cow::into_owned).unwrap_or_default();
        number = number.wrapping_add(evaluated(shell, &old)?);
    }
    Ok(number.to_string())
}

fn add<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    name: &str,
    key: Option<String>,
    value: String,
) -> Result<(), Error> {
    if !word::is_name(name) {
        return Err(complaint(format!("`{name}': not a valid identifier")));
    }
    if special::has_meaning(name) {
        let params = shell.default_exec_params();
        special::notice(shell, &params, name, Some(&value));
    }
    let auto_export = shell.options().export_variables_on_modification;
    if shell.env().get_reference(name).is_some() && shell.env().is_circular(name) {
        let value = match key {
            None => ShellValue::String(value),
            Some(key) => ShellValue::IndexedArray([(key.parse().unwrap_or(0), value)].into()),
        };
        return shell.env_mut().add(name, ShellVariable::new(value), EnvironmentScope::Global);
    }
    let env = shell.env_mut();
    let (anywhere, global) = (EnvironmentLookup::Anywhere, EnvironmentScope::Global);
    if let Some(key) = key {
        return env.update_or_add_array_element(name, key, value, |_| Ok(()), anywhere, global);
    }
    let export = |variable: &mut ShellVariable| {
        if auto_export {
            variable.export();
        }
        Ok(())
    };
    env.update_or_add(name, ShellValueLiteral::Scalar(value), export, anywhere, global)
}
