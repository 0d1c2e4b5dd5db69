//! What declarations list when they are asked, or have no operands.
//!
//! The words of a listing stand with the listings; here it is chosen what is listed, and as what.

use std::io::Write as _;

use brush_core::env::EnvironmentLookup;
use brush_core::variables::{ShellValue, ShellValueUnsetType, ShellVariable, ShellVariableUpdateTransform};
use brush_core::{Error, ExecutionContext, ExecutionResult, locale};

use super::super::complain;
use super::super::listing::{self, OPTIONS_VARIABLE};
use super::{Kind, Outcome, Request, function_attributes};
use crate::interpreter::Extensions;

/// The attributes that a listing can be limited to.
const FILTERS: [char; 10] = ['a', 'A', 'i', 'l', 'n', 'r', 't', 'u', 'x', 'c'];

/// Lists everything that was asked for.
pub(super) fn list(context: &ExecutionContext<'_, Extensions>, request: &Request) -> Result<ExecutionResult, Error> {
    if request.is_about_functions() {
        function_attributes::list(context, request)?;
        return Ok(ExecutionResult::success());
    }
    let is_filtered = FILTERS.iter().any(|letter| request.turns_on(*letter));
    let is_plain = request.kind == Kind::Declare && !request.has('p') && !is_filtered;
    if is_plain {
        write!(context.stdout(), "{}", listing::all_variables(context.shell))?;
        write!(context.stdout(), "{}", listing::all_functions(context.shell))?;
        return Ok(ExecutionResult::success());
    }
    let lookup = match request.kind {
        Kind::Local => EnvironmentLookup::OnlyInCurrentLocal,
        _ => EnvironmentLookup::Anywhere,
    };
    let is_utf8 = locale::multibyte(context.shell);
    let mut text = String::new();
    for (name, variable, value) in listing::variables(context.shell, lookup) {
        if name == OPTIONS_VARIABLE {
            if request.kind == Kind::Local {
                text.push_str("local -\n");
            }
        } else if is_wanted(context, request, variable) {
            text.push_str(&line(context, request, name, variable, value.as_ref(), is_utf8));
        }
    }
    write!(context.stdout(), "{text}")?;
    Ok(ExecutionResult::success())
}

/// Shows one variable, or says that there is none.
pub(super) fn named(
    context: &ExecutionContext<'_, Extensions>,
    request: &Request,
    name: &str,
) -> Result<Outcome, Error> {
    let lookup = match request.kind {
        Kind::Local => EnvironmentLookup::OnlyInCurrentLocal,
        _ => EnvironmentLookup::Anywhere,
    };
    let found = context.shell.env().get_using_policy(name, lookup).filter(|_| name != OPTIONS_VARIABLE);
    let Some(variable) = found else {
        complain(context, request.name, &format!("{name}: not found"), 1);
        return Ok(Outcome::Failed);
    };
    let value = variable.resolve_value(context.shell);
    let mut flags = listing::flags(context.shell, variable);
    if name == "SECONDS" && matches!(variable.value(), ShellValue::Dynamic { .. }) {
        // It becomes a number when it is asked for.
        "i".clone_into(&mut flags);
    }
    let line = listing::declaration("declare", &flags, name, Some(&value), locale::multibyte(context.shell));
    write!(context.stdout(), "{line}")?;
    Ok(Outcome::Done)
}

/// One variable's line; POSIX mode names the builtin that would bring it back.
fn line(
    context: &ExecutionContext<'_, Extensions>,
    request: &Request,
    name: &str,
    variable: &ShellVariable,
    value: Option<&ShellValue>,
    is_utf8: bool,
) -> String {
    let flags = listing::flags(context.shell, variable);
    if !context.shell.options().posix_mode || matches!(request.kind, Kind::Declare | Kind::Local) {
        return listing::declaration("declare", &flags, name, value, is_utf8);
    }
    let arrays: String = flags.chars().filter(|letter| matches!(letter, 'a' | 'A')).collect();
    let flags = if arrays.is_empty() { String::new() } else { format!(" -{arrays}") };
    match value.and_then(|value| listing::quoted_value(value, is_utf8)) {
        Some(value) => format!("{}{flags} {name}={value}\n", request.name),
        None => format!("{}{flags} {name}\n", request.name),
    }
}

/// Whether a variable has one of the attributes asked for.
fn is_wanted(context: &ExecutionContext<'_, Extensions>, request: &Request, variable: &ShellVariable) -> bool {
    if request.kind == Kind::Export {
        return variable.is_exported();
    }
    let value = match variable.value() {
        ShellValue::Dynamic { .. } => &variable.resolve_value(context.shell),
        value => value,
    };
    let transform = variable.get_update_transform();
    let has = |letter: char| match letter {
        'a' => matches!(value, ShellValue::IndexedArray(_) | ShellValue::Unset(ShellValueUnsetType::IndexedArray)),
        'A' => {
            matches!(value, ShellValue::AssociativeArray(_) | ShellValue::Unset(ShellValueUnsetType::AssociativeArray))
        }
        'i' => variable.is_treated_as_integer(),
        'n' => variable.is_treated_as_nameref(),
        'r' => variable.is_readonly(),
        't' => variable.is_trace_enabled(),
        'x' => variable.is_exported(),
        'c' => matches!(transform, ShellVariableUpdateTransform::Capitalize),
        'l' => matches!(transform, ShellVariableUpdateTransform::Lowercase),
        _ => matches!(transform, ShellVariableUpdateTransform::Uppercase),
    };
    // An array has to be of the kind asked for; of the other attributes one is enough.
    let (arrays, others): (Vec<char>, Vec<char>) =
        FILTERS.into_iter().filter(|letter| request.turns_on(*letter)).partition(|letter| matches!(letter, 'a' | 'A'));
    arrays.into_iter().all(has) && (others.is_empty() || others.into_iter().any(has))
}
