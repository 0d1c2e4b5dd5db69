//! Listings of variables and functions, in forms that read back.
//!
//! `set`, `declare`, `export` and `readonly` show the same things in slightly different words; all of the words stand here.
//! What is listed is chosen by the builtins.

use brush_core::env::EnvironmentLookup;
use brush_core::functions::Registration;
use brush_core::variables::{ShellValue, ShellValueUnsetType, ShellVariable, ShellVariableUpdateTransform};
use brush_core::{Shell, ShellExtensions, locale};

use super::listing_quotes;

/// The name under which a function's own copy of the shell's options is kept among its variables.
pub(crate) const OPTIONS_VARIABLE: &str = "-";

/// Arrays that bash fills only when they are asked for, so that a listing shows them empty.
const FILLED_WHEN_ASKED: [&str; 4] = ["BASH_ALIASES", "BASH_CMDS", "DIRSTACK", "GROUPS"];

/// Texts that bash computes only when they are asked for.
const COMPUTED_LATE: [&str; 2] = ["BASH_COMMAND", "COMP_WORDBREAKS"];

/// Arrays that are computed, and listed with what they hold.
const LISTED_WITH_VALUE: [&str; 8] =
    ["BASHOPTS", "BASH_ARGC", "BASH_ARGV", "BASH_LINENO", "BASH_SOURCE", "FUNCNAME", "PIPESTATUS", "SHELLOPTS"];

/// Everything that is visible, by name; computed values stand as a listing shows them.
pub(crate) fn variables<SE: ShellExtensions>(
    shell: &Shell<SE>,
    lookup: EnvironmentLookup,
) -> Vec<(&String, &ShellVariable, Option<ShellValue>)> {
    // There is no such array before the first pipeline has ended.
    let is_absent = |name: &str| name == "PIPESTATUS" && shell.last_pipeline_statuses().is_empty();
    let all = shell.env().iter_using_policy(lookup);
    let visible = all.filter(|(name, variable)| variable.is_enumerable() && !is_absent(name));
    let mut all: Vec<_> =
        visible.map(|(name, variable)| (name, variable, listed_value(shell, name, variable))).collect();
    all.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
    all
}

/// The value that a listing shows; none for one that bash has not computed yet.
fn listed_value<SE: ShellExtensions>(shell: &Shell<SE>, name: &str, variable: &ShellVariable) -> Option<ShellValue> {
    if COMPUTED_LATE.contains(&name) {
        return None;
    }
    match variable.value() {
        ShellValue::Dynamic { .. } if FILLED_WHEN_ASKED.contains(&name) => {
            Some(ShellValue::IndexedArray(std::collections::BTreeMap::default()))
        }
        ShellValue::Dynamic { .. } if !LISTED_WITH_VALUE.contains(&name) => None,
        _ => Some(variable.resolve_value(shell)).filter(ShellValue::is_set),
    }
}

/// All variables that have a value, as `set` shows them.
pub(crate) fn all_variables<SE: ShellExtensions>(shell: &Shell<SE>) -> String {
    let is_utf8 = locale::multibyte(shell);
    let posix = shell.options().posix_mode;
    let mut text = String::new();
    for (name, _, value) in variables(shell, EnvironmentLookup::Anywhere) {
        if let Some(value) = value.filter(|_| name != OPTIONS_VARIABLE) {
            text.extend([name.as_str(), "=", &plain_value(&value, is_utf8, posix), "\n"]);
        }
    }
    text
}

/// All functions, as `set` and `declare` show them.
pub(crate) fn all_functions<SE: ShellExtensions>(shell: &Shell<SE>) -> String {
    let mut text = String::new();
    for (_, function) in functions(shell) {
        text.extend([function.definition().to_string().as_str(), "\n"]);
    }
    text
}

/// All functions by name.
pub(crate) fn functions<SE: ShellExtensions>(shell: &Shell<SE>) -> Vec<(&String, &Registration)> {
    let mut all: Vec<_> = shell.funcs().iter().collect();
    all.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
    all
}

/// A variable as the command that declares it: `declare -ir x="1"`.
pub(crate) fn declaration(command: &str, flags: &str, name: &str, value: Option<&ShellValue>, is_utf8: bool) -> String {
    let flags = if flags.is_empty() { "--".to_owned() } else { format!("-{flags}") };
    match value.and_then(|value| quoted_value(value, is_utf8)) {
        Some(value) => format!("{command} {flags} {name}={value}\n"),
        None => format!("{command} {flags} {name}\n"),
    }
}

/// The letters of a variable's attributes, in bash's order.
pub(crate) fn flags<SE: ShellExtensions>(shell: &Shell<SE>, variable: &ShellVariable) -> String {
    let value = match variable.value() {
        dynamic @ ShellValue::Dynamic { .. } => &dynamic_kind(shell, dynamic),
        value => value,
    };
    let transform = variable.get_update_transform();
    let is_indexed =
        matches!(value, ShellValue::IndexedArray(_) | ShellValue::Unset(ShellValueUnsetType::IndexedArray));
    let is_associative =
        matches!(value, ShellValue::AssociativeArray(_) | ShellValue::Unset(ShellValueUnsetType::AssociativeArray));
    [
        (is_indexed, 'a'),
        (is_associative, 'A'),
        (variable.is_treated_as_integer(), 'i'),
        (variable.is_treated_as_nameref(), 'n'),
        (variable.is_readonly(), 'r'),
        (variable.is_trace_enabled(), 't'),
        (variable.is_exported(), 'x'),
        (matches!(transform, ShellVariableUpdateTransform::Capitalize), 'c'),
        (matches!(transform, ShellVariableUpdateTransform::Lowercase), 'l'),
        (matches!(transform, ShellVariableUpdateTransform::Uppercase), 'u'),
    ]
    .into_iter()
    .filter_map(|(has, letter)| has.then_some(letter))
    .collect()
}

/// What kind of value a computed variable has.
fn dynamic_kind<SE: ShellExtensions>(shell: &Shell<SE>, value: &ShellValue) -> ShellValue {
    match value {
        ShellValue::Dynamic { getter, .. } => getter(shell),
        other => other.clone(),
    }
}

/// A value with only those quotes that it needs.
fn plain_value(value: &ShellValue, is_utf8: bool, posix: bool) -> String {
    match value {
        ShellValue::String(text) if posix => listing_quotes::single_as_needed(text),
        ShellValue::String(text) => listing_quotes::as_needed(text, is_utf8),
        other => quoted_value(other, is_utf8).unwrap_or_default(),
    }
}

/// A value in quotes; nothing for one that isn't set.
pub(crate) fn quoted_value(value: &ShellValue, is_utf8: bool) -> Option<String> {
    match value {
        ShellValue::Unset(_) | ShellValue::Dynamic { .. } => None,
        ShellValue::String(text) => Some(listing_quotes::always(text, is_utf8)),
        ShellValue::IndexedArray(elements) => {
            let shown =
                elements.iter().map(|(key, value)| format!("[{key}]={}", listing_quotes::always(value, is_utf8)));
            Some(format!("({})", shown.collect::<Vec<_>>().join(" ")))
        }
        ShellValue::AssociativeArray(elements) => {
            let shown = elements.iter().map(|(key, value)| {
                format!("[{}]={} ", listing_quotes::key(key, is_utf8), listing_quotes::always(value, is_utf8))
            });
            Some(format!("({})", shown.collect::<String>()))
        }
    }
}
