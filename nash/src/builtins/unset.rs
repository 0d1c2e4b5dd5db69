//! `unset`: removes variables, elements of arrays, and functions.
//!
//! In which scope a variable is found is the interpreter's business.

use brush_core::builtins::BoxFuture;
use brush_core::env::valid_variable_name;
use brush_core::variables::{ShellValue, ShellValueUnsetType};
use brush_core::{CommandArg, Error, ErrorKind, ExecutionContext, ExecutionResult, binding};

use super::call::Call;
use super::control::given_up;
use super::names::{self, Target};
use super::options::Options;
use super::{complain, complain_plainly};
use crate::interpreter::{Extensions, Shell};

/// What is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// A variable, or else a function.
    Any,
    Variable,
    /// The reference itself, not what it names.
    Reference,
    Function,
}

/// Runs the builtin.
pub(crate) fn execute(
    mut context: ExecutionContext<'_, Extensions>,
    args: Vec<CommandArg>,
) -> BoxFuture<'_, Result<ExecutionResult, Error>> {
    Box::pin(async move {
        let words: Vec<String> = args.iter().skip(1).map(ToString::to_string).collect();
        let mut options = Options::new("fvn", &words);
        let mut letters = String::new();
        loop {
            match options.next() {
                Ok(Some(found)) => letters.push(found.letter),
                Ok(None) => break,
                Err(refusal) => {
                    let mut call = Call::new(context, Vec::new());
                    let status = call.refuse(&refusal);
                    return call.end(status);
                }
            }
        }
        let has = |letter| letters.contains(letter);
        let what = match (has('f'), has('v'), has('n')) {
            (true, true, _) => {
                return Ok(complain(&context, "unset", "cannot simultaneously unset a function and a variable", 1));
            }
            (true, ..) => What::Function,
            (_, _, true) => What::Reference,
            (_, true, _) => What::Variable,
            _ => What::Any,
        };
        let mut status = 0;
        let first = options.used() + 1;
        for arg in args.iter().skip(first) {
            match remove(&mut context, what, &arg.to_string(), matches!(arg, CommandArg::Reference(_))) {
                Ok(true) => {}
                Ok(false) => status = 1,
                Err(error) => match error.kind() {
                    ErrorKind::CheckedExpansionError(words) => {
                        complain_plainly(&context, words);
                        return Err(given_up(context.shell));
                    }
                    _ => return Err(error),
                },
            }
        }
        Ok(ExecutionResult::new(status))
    })
}

/// Removes what a word names; says why it can't, and whether it could.
fn remove(
    context: &mut ExecutionContext<'_, Extensions>,
    what: What,
    word: &str,
    is_expanded: bool,
) -> Result<bool, Error> {
    if what == What::Function {
        return Ok(remove_function(context, word));
    }
    let keeps = is_expanded || context.shell.options().assoc_expand_once;
    let parsed = if is_expanded { expanded(context.shell, word) } else { None };
    let target = match parsed.or_else(|| names::parse(word)) {
        Some(target) if what == What::Reference || valid_variable_name(target.name) => target,
        _ if what == What::Variable => {
            complain(context, "unset", &format!("`{word}': not a valid identifier"), 1);
            return Ok(false);
        }
        _ => return Ok(remove_function(context, word)),
    };
    let followed = if what == What::Reference { None } else { names::follow(context.shell, target.name) };
    let followed = followed.unwrap_or_else(|| target.name.to_owned());
    let found = names::parse(&followed).unwrap_or(Target { name: &followed, subscript: None });
    let name = found.name.to_owned();
    let subscript = target.subscript.or(found.subscript);
    let Some((_, variable)) = context.shell.env().get_raw(&name) else {
        return Ok(what != What::Any || subscript.is_some() || remove_function(context, word));
    };
    if what == What::Reference && !variable.is_treated_as_nameref() {
        return Ok(true);
    }
    if variable.is_readonly() {
        complain(context, "unset", &format!("{name}: cannot unset: readonly variable"), 1);
        return Ok(false);
    }
    if brush_core::special::has_meaning(&name) {
        brush_core::special::notice(context.shell, &context.params, &name, None);
    }
    match subscript {
        Some(subscript) if what != What::Reference => remove_element(context, &name, subscript, keeps),
        _ if context.shell.options().localvar_unset => Ok(context.shell.env_mut().unset_value(&name).map(|_| true)?),
        _ => Ok(context.shell.env_mut().unset(&name).map(|_| true)?),
    }
}

/// An element of an associative array whose subscript has been expanded: all that stands in the brackets is the key.
fn expanded<'w>(shell: &Shell, word: &'w str) -> Option<Target<'w>> {
    let (name, rest) = word.split_once('[')?;
    let subscript = rest.strip_suffix(']').filter(|subscript| !subscript.is_empty())?;
    binding::is_associative(shell, name).then_some(Target { name, subscript: Some(subscript) })
}

fn remove_function(context: &mut ExecutionContext<'_, Extensions>, name: &str) -> bool {
    if context.shell.funcs().get(name).is_some_and(brush_core::functions::Registration::is_readonly) {
        complain(context, "unset", &format!("{name}: cannot unset: readonly function"), 1);
        return false;
    }
    context.shell.undefine_func(name);
    true
}

/// Whether `BASH_COMPAT` asks for what bash 5.1 or one before it did.
fn is_compatible_with_51(shell: &Shell) -> bool {
    let level = shell.env_str("BASH_COMPAT").map(|level| level.replace('.', ""));
    level.and_then(|level| level.parse::<u32>().ok()).is_some_and(|level| (31..=51).contains(&level))
}

/// Removes one element, or all of them from an indexed array.
fn remove_element(
    context: &mut ExecutionContext<'_, Extensions>,
    name: &str,
    subscript: &str,
    keeps: bool,
) -> Result<bool, Error> {
    let Some((_, variable)) = context.shell.env().get(name) else { return Ok(true) };
    let means_all = matches!(subscript, "@" | "*");
    match variable.value() {
        ShellValue::AssociativeArray(_) | ShellValue::IndexedArray(_)
            if means_all && is_compatible_with_51(context.shell) =>
        {
            context.shell.env_mut().unset(name)?;
        }
        ShellValue::AssociativeArray(_) => {
            let key = if keeps || means_all {
                subscript.to_owned()
            } else {
                binding::key(context.shell, &context.params, name, subscript)?.text().into_owned()
            };
            if key.is_empty() {
                complain(context, "unset", &format!("[{subscript}]: bad array subscript"), 1);
                return Ok(false);
            }
            context.shell.env_mut().unset_index(name, &key)?;
        }
        ShellValue::IndexedArray(_) if means_all => {
            if let Some((_, variable)) = context.shell.env_mut().get_mut(name) {
                variable.assign(
                    brush_core::variables::ShellValueLiteral::Array(brush_core::variables::ArrayLiteral(Vec::new())),
                    false,
                )?;
            }
        }
        ShellValue::IndexedArray(elements) => {
            let end = elements.last_key_value().map_or(0, |(last, _)| *last + 1);
            let index = names::evaluate(context.shell, &context.params, subscript)?;
            let Some(index) = names::index(index, end) else {
                complain(context, "unset", &format!("[{subscript}]: bad array subscript"), 1);
                return Ok(false);
            };
            context.shell.env_mut().unset_index(name, &index.to_string())?;
        }
        ShellValue::Unset(ShellValueUnsetType::IndexedArray) if !means_all => {
            let index = names::evaluate(context.shell, &context.params, subscript)?;
            if names::index(index, 0).is_none() {
                complain(context, "unset", &format!("[{subscript}]: bad array subscript"), 1);
                return Ok(false);
            }
        }
        ShellValue::Unset(ShellValueUnsetType::IndexedArray | ShellValueUnsetType::AssociativeArray)
        | ShellValue::Dynamic { .. } => {}
        ShellValue::String(_) | ShellValue::Unset(ShellValueUnsetType::Untyped) => {
            if !means_all && names::evaluate(context.shell, &context.params, subscript)? == 0 {
                context.shell.env_mut().unset(name)?;
                return Ok(true);
            }
            complain(context, "unset", &format!("{name}: not an array variable"), 1);
            return Ok(false);
        }
    }
    Ok(true)
}
