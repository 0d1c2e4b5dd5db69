//! What declarations do to functions: show them, export them, make them read-only.
//!
//! How a definition reads is the parser's; defining functions is the interpreter's.

use std::io::Write as _;

use brush_core::functions::Registration;
use brush_core::{Error, ExecutionContext};

use super::super::{complain, listing};
use super::{Kind, Outcome, Request};
use crate::interpreter::Extensions;

/// Changes one function's attributes, or shows it.
pub(super) fn change_or_show(
    context: &mut ExecutionContext<'_, Extensions>,
    request: &Request,
    name: &str,
) -> Result<Outcome, Error> {
    if context.shell.funcs().get(name).is_none() {
        return Ok(missing(context, request, name));
    }
    let exports = request.turns_on('x');
    let changes = exports || request.turns_off('x') || request.turns_on('r') || request.turns_off('r');
    if !changes && !request.has('t') && !request.has_off('t') {
        show(context, request, name)?;
        return Ok(Outcome::Done);
    }
    if exports && name.contains(['=', '/']) {
        complain(context, request.name, &format!("{name}: cannot export"), 1);
        return Ok(Outcome::Failed);
    }
    let Some(function) = context.shell.func_mut(name) else { return Ok(Outcome::Failed) };
    if request.turns_off('r') && function.is_readonly() {
        complain(context, request.name, &format!("{name}: readonly function"), 1);
        return Ok(Outcome::Failed);
    }
    if exports {
        function.export();
    }
    if request.turns_off('x') {
        function.unexport();
    }
    if request.turns_on('r') {
        function.set_readonly();
    }
    if request.has('t') || request.has_off('t') {
        function.set_traced(request.has('t'));
    }
    Ok(Outcome::Done)
}

/// No such function: an error of its own for some, a mere status for others.
fn missing(context: &ExecutionContext<'_, Extensions>, request: &Request, name: &str) -> Outcome {
    let complaint = match request.kind {
        Kind::Export | Kind::Readonly => format!("{name}: not a function"),
        _ if name.contains('=') => "cannot use `-f' to make functions".to_owned(),
        _ if request.has('p') => format!("{name}: not found"),
        _ => return Outcome::Failed,
    };
    complain(context, request.name, &complaint, 1);
    Outcome::Failed
}

fn show(context: &ExecutionContext<'_, Extensions>, request: &Request, name: &str) -> Result<(), Error> {
    let Some(function) = context.shell.funcs().get(name) else { return Ok(()) };
    let mut out = context.stdout();
    if !request.has('F') {
        writeln!(out, "{}", function.definition())?;
        if request.has('p') {
            write_flags(&mut out, name, function)?;
        }
        return Ok(());
    }
    if request.has('p') {
        writeln!(out, "declare -f{} {name}", flags(function))?;
    } else if context.shell.options().enable_debugger {
        let source = function.source();
        let line = source.start.as_ref().map_or(1, |start| start.line);
        writeln!(out, "{name} {line} {}", source.source)?;
    } else {
        writeln!(out, "{name}")?;
    }
    Ok(())
}

/// The line that brings attributes back, for a function that has some.
fn write_flags(out: &mut impl std::io::Write, name: &str, function: &Registration) -> Result<(), Error> {
    let flags = flags(function);
    if !flags.is_empty() {
        writeln!(out, "declare -f{flags} {name}")?;
    }
    Ok(())
}

/// The letters of a function's attributes.
fn flags(function: &Registration) -> String {
    [(function.is_readonly(), 'r'), (function.is_traced(), 't'), (function.is_exported(), 'x')]
        .into_iter()
        .filter_map(|(has, letter)| has.then_some(letter))
        .collect()
}

/// Lists all functions that have the attributes asked for.
pub(super) fn list(context: &ExecutionContext<'_, Extensions>, request: &Request) -> Result<(), Error> {
    let mut out = context.stdout();
    for (name, function) in listing::functions(context.shell) {
        let is_wanted = (!request.turns_on('x') || function.is_exported())
            && (!request.turns_on('r') || function.is_readonly())
            && (!request.has('t') || function.is_traced());
        if !is_wanted {
            continue;
        }
        if request.has('F') {
            writeln!(out, "declare -f{} {name}", flags(function))?;
        } else {
            writeln!(out, "{}", function.definition())?;
            write_flags(&mut out, name, function)?;
        }
    }
    Ok(())
}
