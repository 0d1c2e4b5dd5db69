//! Giving a variable its value: texts, numbers, elements, whole arrays.
//!
//! The variable is there already, with the attributes that decide how a value is read. Which variable it is, and whether it
//! may change, is not decided here.

use brush_core::env::EnvironmentLookup;
use brush_core::variables::{ArrayLiteral, ShellValue, ShellValueLiteral, ShellValueUnsetType, ShellVariable};
use brush_core::{Error, ExecutionContext};

use super::super::complain_plainly;
use super::super::names;
use super::Outcome;
use super::operand::Value;
use crate::interpreter::Extensions;

/// Where a value goes.
pub(super) struct Place<'a> {
    pub name: &'a str,
    pub subscript: Option<&'a str>,
    pub lookup: EnvironmentLookup,
    pub append: bool,
}

/// Assigns a value.
pub(super) fn assign(
    context: &mut ExecutionContext<'_, Extensions>,
    place: &Place<'_>,
    value: Value,
) -> Result<Outcome, Error> {
    let is_integer = variable(context, place)?.is_treated_as_integer();
    match (value, place.subscript) {
        (Value::Text(text), None) => {
            let text = number_where(context, is_integer, text)?;
            variable(context, place)?.assign(ShellValueLiteral::Scalar(text), place.append)?;
            Ok(Outcome::Done)
        }
        (Value::Text(text), Some(subscript)) => {
            let text = number_where(context, is_integer, text)?;
            let Some(key) = key(context, place, subscript)? else {
                complain_plainly(context, &format!("{}[{subscript}]: bad array subscript", place.name));
                return Ok(Outcome::Failed);
            };
            variable(context, place)?.assign_at_index(key, text, place.append)?;
            Ok(Outcome::Done)
        }
        (Value::Elements(elements), _) => assign_elements(context, place, elements, is_integer),
    }
}

/// Whether a variable's value is an array, or will be one.
pub(super) fn is_associative(variable: &ShellVariable) -> bool {
    matches!(
        variable.value(),
        ShellValue::AssociativeArray(_) | ShellValue::Unset(ShellValueUnsetType::AssociativeArray)
    )
}

/// Assigns the elements of an array, in their order.
fn assign_elements(
    context: &mut ExecutionContext<'_, Extensions>,
    place: &Place<'_>,
    elements: Vec<(Option<String>, String)>,
    is_integer: bool,
) -> Result<Outcome, Error> {
    let is_associative = is_associative(variable(context, place)?);
    if !place.append {
        clear(variable(context, place)?, is_associative)?;
    } else if matches!(variable(context, place)?.value(), ShellValue::String(_)) {
        variable(context, place)?.convert_to_indexed_array()?;
    }
    if is_associative && elements.first().is_some_and(|(key, _)| key.is_none()) {
        return assign_pairs(context, place, elements, is_integer);
    }
    let mut next = end(variable(context, place)?);
    for (key_text, text) in elements {
        let key = match (&key_text, is_associative) {
            (None, true) => {
                let complaint =
                    format!("{}: '{text}': must use subscript when assigning associative array", place.name);
                complain_plainly(context, &complaint);
                continue;
            }
            (None, false) => Some(next.to_string()),
            (Some(key_text), true) => Some(key_text.clone()).filter(|key| !key.is_empty()),
            (Some(key_text), false) => key(context, place, key_text)?,
        };
        let Some(key) = key else {
            let shown = if is_associative {
                format!("['']='{text}'")
            } else {
                format!("[{}]={text}", key_text.unwrap_or_default())
            };
            complain_plainly(context, &format!("{shown}: bad array subscript"));
            continue;
        };
        if !is_associative {
            next = key.parse::<u64>().map_or(next, |index| index + 1);
        }
        let text = number_where(context, is_integer, text)?;
        variable(context, place)?.assign_at_index(key, text, false)?;
    }
    Ok(Outcome::Done)
}

/// Assigns keys and values that alternate.
fn assign_pairs(
    context: &mut ExecutionContext<'_, Extensions>,
    place: &Place<'_>,
    elements: Vec<(Option<String>, String)>,
    is_integer: bool,
) -> Result<Outcome, Error> {
    let mut words = elements.into_iter().map(|(key, word)| key.map_or(word.clone(), |key| format!("[{key}]={word}")));
    while let Some(key) = words.next() {
        let text = number_where(context, is_integer, words.next().unwrap_or_default())?;
        if key.is_empty() {
            complain_plainly(context, "'': bad array subscript");
            continue;
        }
        variable(context, place)?.assign_at_index(key, text, false)?;
    }
    Ok(Outcome::Done)
}

/// Leaves an array without elements.
fn clear(variable: &mut ShellVariable, is_associative: bool) -> Result<(), Error> {
    if !is_associative && matches!(variable.value(), ShellValue::String(_)) {
        variable.convert_to_indexed_array()?;
    }
    variable.assign(ShellValueLiteral::Array(ArrayLiteral(Vec::new())), false)
}

/// The index behind the last one.
fn end(variable: &ShellVariable) -> u64 {
    match variable.value() {
        ShellValue::IndexedArray(elements) => elements.last_key_value().map_or(0, |(last, _)| *last + 1),
        _ => 0,
    }
}

/// The key that a subscript stands for; nothing if there is no such place.
fn key(
    context: &mut ExecutionContext<'_, Extensions>,
    place: &Place<'_>,
    subscript: &str,
) -> Result<Option<String>, Error> {
    if is_associative(variable(context, place)?) {
        return Ok(Some(subscript.to_owned()));
    }
    let number = names::evaluate(context.shell, &context.params, subscript)?;
    let end = end(variable(context, place)?);
    Ok(names::index(number, end).map(|index| index.to_string()))
}

/// The value of an expression, where the variable holds numbers.
fn number_where(
    context: &mut ExecutionContext<'_, Extensions>,
    is_integer: bool,
    text: String,
) -> Result<String, Error> {
    if is_integer { Ok(names::evaluate(context.shell, &context.params, &text)?.to_string()) } else { Ok(text) }
}

fn variable<'a>(
    context: &'a mut ExecutionContext<'_, Extensions>,
    place: &Place<'_>,
) -> Result<&'a mut ShellVariable, Error> {
    let found = context.shell.env_mut().get_mut_using_policy(place.name, place.lookup);
    found.ok_or_else(|| brush_core::ErrorKind::InternalError("a declared variable is gone".to_owned()).into())
}
