//! Declaring one variable: where it lives, which attributes it gets, and what is refused.
//!
//! Its value is assigned beside this file; listings are not made here.

use brush_core::env::{EnvironmentLookup, EnvironmentScope, valid_variable_name};
use brush_core::variables::{ShellValue, ShellValueUnsetType, ShellVariable};
use brush_core::{Error, ErrorKind, ExecutionContext, binding};

use super::super::listing::OPTIONS_VARIABLE;
use super::super::{complain, complain_plainly, names};
use super::attributes::{emptied, retype, set_attributes};
use super::operand::{Operand, Value};
use super::value::{self, Place};
use super::{Kind, Outcome, Request};
use crate::interpreter::Extensions;

/// Declares what one operand names.
pub(super) async fn apply(
    context: &mut ExecutionContext<'_, Extensions>,
    request: &Request,
    mut operand: Operand,
) -> Result<Outcome, Error> {
    if request.kind == Kind::Local && operand.text == OPTIONS_VARIABLE {
        return keep_options(context);
    }
    if let Some(complaint) = refusal(context, request, &operand) {
        complain(context, request.name, &complaint, 1);
        return Ok(Outcome::Failed);
    }
    if request.turns_on('n') && matches!(&operand.value, Some(Value::Text(named)) if *named == operand.name) {
        let warning = format!("warning: {}: circular name reference", operand.name);
        complain(context, request.name, &warning, 1);
        complain_plainly(context, &warning);
    }
    if !expand_subscript(context, request, &mut operand).await? {
        return Ok(Outcome::Done);
    }
    let is_local = request.makes_local(context);
    let lookup = match (is_local, request.has('g')) {
        (true, _) => EnvironmentLookup::OnlyInCurrentLocal,
        (false, true) => EnvironmentLookup::OnlyInGlobal,
        _ => EnvironmentLookup::Anywhere,
    };
    follow_reference(context, request, &mut operand, lookup);
    if operand.subscript.is_some() && matches!(request.kind, Kind::Export | Kind::Readonly) {
        complain(context, request.name, &format!("`{}': not a valid identifier", operand.target()), 1);
        return Ok(Outcome::Done);
    }
    if is_read_only(context, request, &operand, lookup, is_local) {
        // An array is assigned before the builtin gets its words; that it fails ends the shell.
        let is_early = matches!(operand.value, Some(Value::Elements(_)));
        let complaint = format!("{}: readonly variable", operand.name);
        let is_plain = matches!(request.kind, Kind::Export | Kind::Readonly) && !request.has('a') && !request.has('A');
        if is_early || is_plain {
            complain_plainly(context, &complaint);
        } else {
            complain(context, request.name, &complaint, 1);
        }
        let ends = is_early || (context.shell.options().posix_mode && request.kind != Kind::Declare);
        return Ok(if ends { Outcome::Fatal } else { Outcome::Failed });
    }
    if let (Kind::Export | Kind::Readonly, Some(Value::Text(value))) = (request.kind, &operand.value) {
        let params = context.params.clone();
        binding::trace_assignment(context.shell, &params, &operand.name, value, operand.append).await;
    }
    let is_new = !is_local && context.shell.env().get_using_policy(&operand.name, lookup).is_none();
    create_if_missing(context, request, &operand, lookup, is_local)?;
    let Some(variable) = context.shell.env_mut().get_mut_using_policy(&operand.name, lookup) else {
        return Ok(Outcome::Failed);
    };
    if let Err(complaint) = shape(request, &operand, variable) {
        complain(context, request.name, &complaint, 1);
        return Ok(Outcome::Failed);
    }
    set_attributes(request, variable);
    let is_array = variable.value().is_array();
    let exports = context.shell.options().export_variables_on_modification && operand.value.is_some() && !is_array;
    let outcome = match operand.value.take() {
        Some(new) => {
            // Only declarations take a text for a list; an element never gets one.
            let takes_lists =
                matches!(request.kind, Kind::Declare | Kind::Local) || request.has('a') || request.has('A');
            let makes_array = request.turns_on('a') || request.turns_on('A');
            let new = match &operand.subscript {
                None if takes_lists => compound(context, new, is_array).await?,
                // An array that is declared is meant as a whole, whatever its subscript.
                Some(_) if makes_array && takes_lists => {
                    let new = compound(context, new, is_array).await?;
                    operand.subscript = operand.subscript.take().filter(|_| matches!(new, Value::Text(_)));
                    new
                }
                Some(subscript) if is_new && is_compound(&new) => {
                    let Value::Text(text) = &new else { return Ok(Outcome::Failed) };
                    let element = format!("{}[{subscript}]={text}", operand.name);
                    complain_plainly(
                        context,
                        &format!("warning: {element}: quoted compound array assignment deprecated"),
                    );
                    new
                }
                _ => new,
            };
            let name = operand.name.as_str();
            let operand_has_subscript = operand.subscript.is_some() || matches!(new, Value::Elements(_));
            let place = Place { name, subscript: operand.subscript.as_deref(), lookup, append: operand.append };
            match value::assign(context, &place, new) {
                Ok(outcome) => outcome,
                Err(error) => match error.kind() {
                    // A subscript is evaluated by the shell, a value by the builtin.
                    ErrorKind::CheckedExpansionError(words) if operand_has_subscript => {
                        complain_plainly(context, words);
                        return Ok(Outcome::Fatal);
                    }
                    ErrorKind::CheckedExpansionError(words) => {
                        complain(context, request.name, words, 1);
                        return Ok(Outcome::Fatal);
                    }
                    _ => return Err(error),
                },
            }
        }
        None => Outcome::Done,
    };
    if let Some(variable) = context.shell.env_mut().get_mut_using_policy(&operand.name, lookup) {
        if request.turns_on('r') {
            variable.set_readonly();
        }
        if exports {
            variable.export();
        }
    }
    if !request.has('g') && (request.turns_on('x') || request.turns_on('r')) {
        context.shell.env_mut().keep(&operand.name);
    }
    Ok(outcome)
}

/// A subscript is expanded here once more than the words of the command were. Whether something is left of it.
async fn expand_subscript(
    context: &mut ExecutionContext<'_, Extensions>,
    request: &Request,
    operand: &mut Operand,
) -> Result<bool, Error> {
    let is_associative = request.has('A') || binding::is_associative(context.shell, &operand.name);
    let is_expanded = |c| matches!(c, '$' | '`') || (is_associative && matches!(c, '\\' | '\'' | '"'));
    let Some(subscript) = operand.subscript.as_mut().filter(|subscript| subscript.contains(is_expanded)) else {
        return Ok(true);
    };
    let params = context.params.clone();
    let key = context.shell.basic_expand_string(&params, subscript.as_str()).await?;
    if key.is_empty() && is_associative {
        complain_plainly(context, &format!("{}: bad array subscript", operand.target()));
        return Ok(false);
    }
    operand.subscript = Some(key);
    Ok(true)
}

/// `local -`: the shell's options get their values back when the function returns.
fn keep_options(context: &mut ExecutionContext<'_, Extensions>) -> Result<Outcome, Error> {
    let lookup = EnvironmentLookup::OnlyInCurrentLocal;
    if context.shell.env().get_using_policy(OPTIONS_VARIABLE, lookup).is_none() {
        let on = context.shell.options().seto_optstr();
        context.shell.env_mut().add(OPTIONS_VARIABLE, ShellVariable::new(on), EnvironmentScope::Local)?;
    }
    Ok(Outcome::Done)
}

/// Why a name can't be declared at all.
fn refusal(context: &ExecutionContext<'_, Extensions>, request: &Request, operand: &Operand) -> Option<String> {
    let invalid = |text: &str| Some(format!("`{text}': not a valid identifier"));
    if !valid_variable_name(&operand.name) {
        return invalid(&operand.text);
    }
    if operand.subscript.is_some() && matches!(request.kind, Kind::Export | Kind::Readonly) {
        return invalid(&operand.target());
    }
    if !request.turns_on('n') {
        return None;
    }
    if operand.subscript.is_some() {
        return Some(format!("{}: reference variable cannot be an array", operand.target()));
    }
    match &operand.value {
        Some(Value::Text(named)) if *named == operand.name && !request.makes_local(context) => {
            Some(format!("{named}: nameref variable self references not allowed"))
        }
        Some(Value::Text(named)) if named.is_empty() => invalid(""),
        Some(Value::Text(named)) if !names::can_be_referred_to(named) => {
            Some(format!("`{named}': invalid variable name for name reference"))
        }
        _ => None,
    }
}

/// Declares what a reference names, unless the reference itself is meant.
fn follow_reference(
    context: &ExecutionContext<'_, Extensions>,
    request: &Request,
    operand: &mut Operand,
    lookup: EnvironmentLookup,
) {
    if request.turns_on('n') || request.turns_off('n') {
        return;
    }
    if context.shell.env().get_using_policy(&operand.name, lookup).is_none_or(|found| !found.is_treated_as_nameref()) {
        return;
    }
    let Some(followed) = names::follow(context.shell, &operand.name) else { return };
    if let Some(target) = names::parse(&followed) {
        target.name.clone_into(&mut operand.name);
        operand.subscript = operand.subscript.take().or(target.subscript.map(str::to_owned));
    }
}

/// Whether the variable must not be changed so, or not be hidden by a local one.
fn is_read_only(
    context: &ExecutionContext<'_, Extensions>,
    request: &Request,
    operand: &Operand,
    lookup: EnvironmentLookup,
    is_local: bool,
) -> bool {
    let env = context.shell.env();
    match env.get_using_policy(&operand.name, lookup) {
        Some(variable) => variable.is_readonly() && (operand.value.is_some() || request.turns_off('r')),
        None if is_local => {
            env.get_using_policy(&operand.name, EnvironmentLookup::OnlyInGlobal).is_some_and(ShellVariable::is_readonly)
        }
        None => false,
    }
}

/// Makes the variable where it is not there yet; a local one may begin as what it hides.
fn create_if_missing(
    context: &mut ExecutionContext<'_, Extensions>,
    request: &Request,
    operand: &Operand,
    lookup: EnvironmentLookup,
    is_local: bool,
) -> Result<(), Error> {
    let shell = &mut *context.shell;
    if shell.env().get_using_policy(&operand.name, lookup).is_some() {
        return Ok(());
    }
    let inherits = request.has('I') || shell.options().local_vars_inherit_value_and_attrs;
    let hidden = match is_local {
        true if inherits => shell.env().get(&operand.name).map(|(_, variable)| variable.clone()),
        true => shell.env_mut().take_passed_to_command(&operand.name).map(|variable| emptied(request, variable)),
        false => None,
    };
    let kind = match operand.value {
        Some(Value::Elements(_)) => ShellValueUnsetType::IndexedArray,
        _ if operand.subscript.is_some() => ShellValueUnsetType::IndexedArray,
        _ => ShellValueUnsetType::Untyped,
    };
    let kind = if request.has('A') { ShellValueUnsetType::AssociativeArray } else { kind };
    let variable = hidden.unwrap_or_else(|| ShellVariable::new(ShellValue::Unset(kind)));
    let scope = if is_local { EnvironmentScope::Local } else { EnvironmentScope::Global };
    shell.env_mut().add(operand.name.clone(), variable, scope)
}

/// Makes the variable an array where one is asked for, or says why that can't be.
fn shape(request: &Request, operand: &Operand, variable: &mut ShellVariable) -> Result<(), String> {
    let name = &operand.name;
    let is_associative = value::is_associative(variable);
    let is_indexed = variable.value().is_array() && !is_associative;
    if request.has('a') && is_associative {
        return Err(format!("{name}: cannot convert associative to indexed array"));
    }
    if request.has('A') && is_indexed {
        return Err(format!("{name}: cannot convert indexed to associative array"));
    }
    if (request.has_off('a') && is_indexed) || (request.has_off('A') && is_associative) {
        return Err(format!("{name}: cannot destroy array variables in this way"));
    }
    if request.turns_on('n') {
        if variable.value().is_array() {
            return Err(format!("{name}: reference variable cannot be an array"));
        }
        if operand.value.is_none()
            && let ShellValue::String(named) = variable.value()
            && !names::can_be_referred_to(named)
        {
            return Err(format!("`{named}': invalid variable name for name reference"));
        }
    }
    let becomes_indexed =
        request.has('a') || operand.subscript.is_some() || matches!(operand.value, Some(Value::Elements(_)));
    let result = match variable.value() {
        ShellValue::Unset(ShellValueUnsetType::Untyped) if request.has('A') || becomes_indexed => {
            let kind = if request.has('A') {
                ShellValueUnsetType::AssociativeArray
            } else {
                ShellValueUnsetType::IndexedArray
            };
            retype(variable, kind);
            Ok(())
        }
        ShellValue::String(_) if request.has('A') => variable.convert_to_associative_array(),
        ShellValue::String(_) if becomes_indexed => variable.convert_to_indexed_array(),
        _ => Ok(()),
    };
    result.map_err(|error| error.to_string())
}

/// Whether a text looks like a list.
fn is_compound(value: &Value) -> bool {
    matches!(value, Value::Text(text) if text.starts_with('(') && text.ends_with(')'))
}

/// A text in parentheses is a list where an array gets it.
async fn compound(
    context: &mut ExecutionContext<'_, Extensions>,
    value: Value,
    is_array: bool,
) -> Result<Value, Error> {
    match value {
        Value::Text(text) if is_array && text.starts_with('(') && text.ends_with(')') => {
            let params = context.params.clone();
            match context.shell.expand_array_literal(&params, &text).await? {
                Some(elements) => Ok(Value::Elements(elements)),
                None => Ok(Value::Text(text)),
            }
        }
        value => Ok(value),
    }
}
