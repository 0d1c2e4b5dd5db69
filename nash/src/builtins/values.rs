//! Variables as builtins see them: giving them values, reading them, and arithmetic.
//!
//! Names and subscripts are understood by the interpreter; here its errors get bash's words.

use std::borrow::Cow;

use brush_core::env::{EnvironmentLookup, EnvironmentScope, valid_variable_name};
use brush_core::variables::{ArrayLiteral, ShellValue, ShellValueLiteral, ShellValueUnsetType};
use brush_core::{Error, ErrorKind, ExecutionControlFlow, arithmetic, binding};

use super::call::Call;
use crate::interpreter::Shell;

/// Whether a word names a variable or an element of one.
pub(crate) fn is_assignable(call: &Call<'_>, word: &str) -> bool {
    valid_variable_name(word) || is_literal(call, word).unwrap_or_else(|| element(word).is_some())
}

/// Whether a word names an element by the very key that stands in it, where `assoc_expand_once` has keys be taken so.
fn is_literal(call: &Call<'_>, word: &str) -> Option<bool> {
    let (name, rest) = word.split_once('[')?;
    if !call.context.shell.options().assoc_expand_once || !binding::is_associative(call.context.shell, name) {
        return None;
    }
    let key = rest.strip_suffix(']').filter(|key| !key.is_empty());
    Some(key.is_some_and(|key| call.is_reference(word) || !key.contains(']')))
}

/// The variable and the subscript in `name[subscript]`.
pub(crate) fn element(word: &str) -> Option<(&str, &str)> {
    let (name, rest) = word.split_once('[')?;
    let subscript = rest.strip_suffix(']').filter(|subscript| !subscript.is_empty())?;
    let ends = binding::ends_with_bracket(rest);
    (ends && valid_variable_name(name)).then_some((name, subscript))
}

/// Gives a variable or an element a value; says what is wrong where that can't be done.
pub(crate) fn assign(call: &mut Call<'_>, word: &str, value: String) -> bool {
    if binding::refuses_target(call.context.shell, word, &value) {
        call.complain(&format!("`{value}': not a valid identifier"));
        return false;
    }
    match set(call, word, value) {
        Ok(()) => true,
        Err(error) => {
            let name = word.split('[').next().unwrap_or(word);
            let complaint = assignment_words(&error, name);
            call.complain_for_shell(&complaint);
            if arithmetic::is_syntax(&complaint) {
                call.give_up();
            }
            false
        }
    }
}

/// The same for a word that may not name a variable at all.
pub(crate) fn assign_checked(call: &mut Call<'_>, word: &str, value: String) -> bool {
    if !is_assignable(call, word) {
        call.complain(&format!("`{word}': not a valid identifier"));
        return false;
    }
    assign(call, word, value)
}

/// Gives an indexed array all its elements; says what is wrong where that can't be done.
pub(crate) fn assign_array(call: &mut Call<'_>, name: &str, elements: Vec<String>) -> bool {
    if !valid_variable_name(name) {
        call.complain(&format!("`{name}': not a valid identifier"));
        return false;
    }
    let shell = &mut *call.context.shell;
    let name = resolved(shell, name);
    if is_associative(shell, &name) {
        call.complain(&format!("{name}: not an indexed array"));
        return false;
    }
    let literal = ShellValueLiteral::Array(ArrayLiteral(elements.into_iter().map(|element| (None, element)).collect()));
    let (anywhere, global) = (EnvironmentLookup::Anywhere, EnvironmentScope::Global);
    match shell.env_mut().update_or_add(name.as_ref(), literal, |_| Ok(()), anywhere, global) {
        Ok(()) => true,
        Err(error) => {
            let complaint = assignment_words(&error, &name);
            call.complain_for_shell(&complaint);
            false
        }
    }
}

/// The variable that a name leads to through references.
pub(crate) fn resolved<'n>(shell: &Shell, name: &'n str) -> Cow<'n, str> {
    let mut name = Cow::Borrowed(name);
    // A chain of references this long goes round in a circle.
    for _ in 0..8 {
        let Some((_, variable)) = shell.env().get_raw(&name) else { break };
        if !variable.is_treated_as_nameref() {
            break;
        }
        let target = variable.value().to_cow_str(shell).into_owned();
        if !valid_variable_name(&target) {
            break;
        }
        name = Cow::Owned(target);
    }
    name
}

fn set(call: &mut Call<'_>, word: &str, value: String) -> Result<(), Error> {
    if is_literal(call, word) == Some(true)
        && let Some((name, rest)) = word.split_once('[')
    {
        let key = binding::Key::Text(rest[..rest.len() - 1].to_owned());
        return binding::assign_keyed(call.context.shell, &call.context.params, name, key, value, false);
    }
    binding::assign(call.context.shell, &call.context.params, word, None, value, false)
}

/// Why an assignment failed, in bash's words.
pub(crate) fn assignment_words(error: &Error, name: &str) -> String {
    match error.kind() {
        ErrorKind::ReadonlyVariable => format!("{name}: readonly variable"),
        other => other.to_string(),
    }
}

/// Whether a variable holds, or was declared to hold, an associative array.
pub(crate) fn is_associative(shell: &Shell, name: &str) -> bool {
    shell.env().get(name).is_some_and(|(_, variable)| {
        matches!(
            variable.value(),
            ShellValue::AssociativeArray(_) | ShellValue::Unset(ShellValueUnsetType::AssociativeArray)
        )
    })
}

/// What arithmetic makes of a text; where it makes nothing of it, why.
pub(crate) fn evaluate(call: &mut Call<'_>, text: &str) -> Result<i64, String> {
    arithmetic::evaluate_expanded(call.context.shell, &call.context.params, text).map_err(|error| {
        if error.is_fatal() && !error.ends_all() {
            call.flow = ExecutionControlFlow::ExitShell;
        } else if error.ends_line() {
            call.give_up();
        }
        error.to_string()
    })
}

/// A variable's value as text, if it has one.
pub(crate) fn text(shell: &Shell, name: &str) -> Option<String> {
    let (_, variable) = shell.env().get(name)?;
    variable.value().is_set().then(|| variable.value().to_cow_str(shell).into_owned())
}

/// Whether a variable, element or parameter is set, as `-v` asks.
pub(crate) fn is_set(call: &mut Call<'_>, word: &str) -> bool {
    if is_literal(call, word) == Some(true)
        && let Some((name, rest)) = word.split_once('[')
    {
        let shell = &*call.context.shell;
        let Some((_, variable)) = shell.env().get(name) else { return false };
        return variable.value().get_at(&rest[..rest.len() - 1], shell).ok().flatten().is_some();
    }
    if let Some((name, subscript)) = element(word) {
        return element_is_set(call, name, subscript);
    }
    let shell = &*call.context.shell;
    if let Ok(number) = word.parse::<usize>() {
        return number <= shell.current_shell_args().len();
    }
    let Some((_, variable)) = shell.env().get(word) else { return false };
    match variable.value() {
        ShellValue::IndexedArray(_) | ShellValue::AssociativeArray(_) => {
            variable.value().get_at("0", shell).ok().flatten().is_some()
        }
        value => value.is_set(),
    }
}

fn element_is_set(call: &mut Call<'_>, name: &str, subscript: &str) -> bool {
    let shell = &mut *call.context.shell;
    if matches!(subscript, "@" | "*") && !is_associative(shell, name) {
        return shell.env().get(name).is_some_and(|(_, variable)| !variable.value().element_keys(shell).is_empty());
    }
    let key = match binding::key(shell, &call.context.params, name, subscript) {
        Ok(key) => key,
        Err(error) => {
            call.complain_for_shell(&error.to_string());
            call.give_up();
            return false;
        }
    };
    let shell = &*call.context.shell;
    let Some((_, variable)) = shell.env().get(name) else { return false };
    variable.value().get_at(&key.text(), shell).ok().flatten().is_some()
}
