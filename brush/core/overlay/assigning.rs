//! Assignments: of a command line, before a command, and to whole arrays.
//!
//! Takes the place of what upstream's `interp.rs` does with an assignment. Single variables and elements are left to
//! [`crate::binding`]. Builtins that declare variables get their words expanded here, and assign themselves.
#![warn(warnings, clippy::all, clippy::pedantic)]

use brush_parser::ast::{Assignment, AssignmentName, AssignmentValue, Word};

use crate::associative::AssociativeArray;
use crate::binding::{self, complaint, read_only};
use crate::env::EnvironmentScope;
use crate::error::Error;
use crate::extensions::ShellExtensions;
use crate::interp::ExecutionParameters;
use crate::shell::Shell;
use crate::variables::{ShellValue, ShellValueLiteral, ShellVariable};
use crate::word::scan;
use crate::{arithmetic, expansion, quoting};

/// An element of an array's literal.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    /// As it was written.
    text: String,
    /// The subscript's text.
    pub key: Option<String>,
    /// The value, expanded.
    pub value: String,
    /// Whether it is added to what is there.
    pub append: bool,
}

/// Assigns as a command line says; in the scope of a command only where `for_command`.
pub(crate) async fn apply(
    assignment: &Assignment,
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    for_command: bool,
) -> Result<(), Error> {
    let result = assign_as_told(assignment, shell, params, for_command).await;
    // The standard has a shell end with an assignment that fails; a subscript that is no expression ends its line only.
    match result {
        Err(error) if !for_command && shell.options().posix_mode && !arithmetic::is_syntax(&error.to_string()) => {
            Err(error.into_fatal())
        }
        other => other,
    }
}

async fn assign_as_told(
    assignment: &Assignment,
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    for_command: bool,
) -> Result<(), Error> {
    let (name, subscript) = match &assignment.name {
        AssignmentName::VariableName(name) => (name.as_str(), None),
        AssignmentName::ArrayElementName(name, subscript) => (name.as_str(), Some(subscript.as_str())),
    };
    match &assignment.value {
        AssignmentValue::Scalar(word) => {
            let value = expansion::basic_expand_assignment_word(shell, params, word).await?;
            if shell.options().print_commands_and_arguments {
                let op = if assignment.append { "+=" } else { "=" };
                let text = format!("{}{op}{}", assignment.name, quoting::assigned(&value));
                shell.trace_command(params, text).await;
            }
            if for_command {
                if let Some(subscript) = subscript {
                    let error = complaint(format!("`{name}[{subscript}]': not a valid identifier"));
                    return shell.display_error(&mut params.stderr(shell), &error);
                }
                return assign_for_command(shell, params, name, value, assignment.append);
            }
            binding::assign(shell, params, name, subscript, value, assignment.append)
        }
        AssignmentValue::Array(words) => {
            if shell.options().print_commands_and_arguments {
                shell.trace_command(params, assignment.to_string()).await;
            }
            if for_command && subscript.is_none() {
                // A command can't be given an array: it gets the text.
                let text = assignment.value.to_string();
                let value = expansion::basic_expand_assignment_word(shell, params, &text).await?;
                return assign_for_command(shell, params, name, value, assignment.append);
            }
            if let Some(subscript) = subscript {
                return Err(complaint(format!("{name}[{subscript}]: cannot assign list to array member")));
            }
            if let (target, Some(subscript)) = binding::resolved(shell, name) {
                return Err(complaint(format!("`{target}[{subscript}]': not a valid identifier")));
            }
            binding::warn_of_circle(shell, params, name);
            let name = binding::resolved(shell, name).0.to_owned();
            let associative = binding::is_associative(shell, &name);
            let elements = expanded(shell, params, words, associative).await?;
            assign_array(shell, params, &name, elements, assignment.append)
        }
    }
}

/// A variable that only a command sees.
fn assign_for_command<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    name: &str,
    mut value: String,
    append: bool,
) -> Result<(), Error> {
    let name = binding::resolved(shell, name).0.to_owned();
    let mut integer = false;
    if let Some(variable) = binding::variable(shell, &name) {
        if variable.is_readonly() {
            let error = read_only(shell, &name);
            if error.is_fatal() {
                return Err(error);
            }
            shell.display_error(&mut params.stderr(shell), &error)?;
            // The standard has the command not run.
            return if shell.options().posix_mode { Err(Error::told()) } else { Ok(()) };
        }
        integer = variable.is_treated_as_integer();
        if append && !integer {
            value.insert_str(0, &binding::value_at(shell, &name, None).unwrap_or_default());
        }
    }
    if integer {
        let mut number = arithmetic::evaluate(shell, params, &value).map_err(|error| error.told_by(""))?;
        if append {
            let old = binding::value_at(shell, &name, None).unwrap_or_default().into_owned();
            number = number.wrapping_add(arithmetic::evaluate(shell, params, &old).map_err(|error| error.told_by(""))?);
        }
        value = number.to_string();
    }
    let mut variable = ShellVariable::new(ShellValue::String(value));
    variable.export();
    if integer {
        variable.treat_as_integer();
    }
    shell.env_mut().add(name, variable, EnvironmentScope::Command)
}

/// The words of an array's literal, expanded.
pub(crate) async fn expanded(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    words: &[(Option<Word>, Word)],
    associative: bool,
) -> Result<Vec<Element>, Error> {
    let mut elements = Vec::with_capacity(words.len());
    for (key_word, word) in words {
        let keyed = match key_word {
            Some(key) => Some((key.value.as_str(), word.value.as_str(), false)),
            None => keyed(&word.value),
        };
        if let Some((key, value, append)) = keyed {
            let value = if associative {
                expansion::subscript_text(shell, params, value)?
            } else {
                expansion::basic_expand_assignment_word(shell, params, value).await?
            };
            let text = word_text(key_word.as_ref(), word);
            elements.push(Element { text, key: Some(key.to_owned()), value, append });
        } else if associative {
            let value = expansion::subscript_text(shell, params, &word.value)?;
            elements.push(Element { text: word.value.clone(), key: None, value, append: false });
        } else {
            let values = expansion::expand_element(shell, params, &word.value)?;
            elements.extend(values.into_iter().map(|value| Element {
                text: String::new(),
                key: None,
                value,
                append: false,
            }));
        }
    }
    Ok(elements)
}

/// An element as it was written.
fn word_text(key: Option<&Word>, word: &Word) -> String {
    key.map_or_else(|| word.value.clone(), |key| format!("[{}]={}", key.value, word.value))
}

/// The parts of `[key]=value` and `[key]+=value`.
fn keyed(text: &str) -> Option<(&str, &str, bool)> {
    if !text.starts_with('[') {
        return None;
    }
    let end = scan::brackets(text.as_bytes(), 1)?;
    let (append, value) = match text[end..].strip_prefix("+=") {
        Some(value) => (true, value),
        None => (false, text[end..].strip_prefix('=')?),
    };
    Some((&text[1..end - 1], value, append))
}

/// Assigns all of an array.
pub(crate) fn assign_array<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    name: &str,
    elements: Vec<Element>,
    append: bool,
) -> Result<(), Error> {
    if let Some(variable) = binding::variable(shell, name) {
        if variable.is_readonly() {
            return Err(read_only(shell, name));
        }
        if matches!(variable.value(), ShellValue::Dynamic { .. }) {
            return Ok(());
        }
    }
    if binding::is_associative(shell, name) {
        return assign_associative(shell, params, name, elements, append);
    }
    let grows = append
        && binding::variable(shell, name)
            .is_some_and(|variable| matches!(variable.value(), ShellValue::IndexedArray(_)));
    if !grows {
        let first = binding::value_at(shell, name, None).filter(|_| append).map(|text| (0, text.into_owned()));
        store(shell, name, ShellValue::IndexedArray(first.into_iter().collect()))?;
    }
    let mut next = last_index(shell, name);
    for element in elements {
        if let Some(key) = &element.key {
            let wrong = match key.as_str() {
                "" => "bad array subscript",
                "@" | "*" => "cannot assign to non-numeric index",
                _ => "",
            };
            if !wrong.is_empty() {
                let error = complaint(format!("[{key}]={}: {wrong}", element.value));
                let _ = shell.display_error(&mut params.stderr(shell), &error);
                continue;
            }
            let index = binding::number_of(shell, params, key)?;
            let from_end =
                if index < 0 { last_index(shell, name).checked_add_signed(index) } else { u64::try_from(index).ok() };
            let Some(index) = from_end else {
                let error = complaint(format!("[{key}]={}: bad array subscript", element.value));
                let _ = shell.display_error(&mut params.stderr(shell), &error);
                continue;
            };
            next = index;
        }
        let subscript = next.to_string();
        binding::assign(shell, params, name, Some(&subscript), element.value, element.append)?;
        next += 1;
    }
    Ok(())
}

fn last_index(shell: &Shell<impl ShellExtensions>, name: &str) -> u64 {
    match binding::variable(shell, name).map(ShellVariable::value) {
        Some(ShellValue::IndexedArray(values)) => values.last_key_value().map_or(0, |(last, _)| last + 1),
        _ => 0,
    }
}

fn assign_associative<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    name: &str,
    elements: Vec<Element>,
    append: bool,
) -> Result<(), Error> {
    let grows = append
        && binding::variable(shell, name)
            .is_some_and(|variable| matches!(variable.value(), ShellValue::AssociativeArray(_)));
    let in_pairs = elements.first().is_some_and(|element| element.key.is_none());
    if !grows {
        store(shell, name, ShellValue::AssociativeArray(AssociativeArray::new()))?;
    }
    let mut elements = elements.into_iter();
    while let Some(element) = elements.next() {
        let text = element.text;
        let (key, value, append) = match element.key {
            Some(key) => (expansion::subscript_text(shell, params, &key)?, element.value, element.append),
            None if in_pairs => (element.value, elements.next().map(|next| next.value).unwrap_or_default(), false),
            None => {
                let text = format!("{name}: {}: must use subscript when assigning associative array", element.value);
                let _ = shell.display_error(&mut params.stderr(shell), &complaint(text));
                continue;
            }
        };
        if key.is_empty() {
            let _ = shell.display_error(&mut params.stderr(shell), &complaint(format!("{text}: bad array subscript")));
            continue;
        }
        binding::assign_keyed(shell, params, name, binding::Key::Text(key), value, append)?;
    }
    Ok(())
}

/// Makes a value that of a variable, which keeps its attributes.
fn store<SE: ShellExtensions>(shell: &mut Shell<SE>, name: &str, value: ShellValue) -> Result<(), Error> {
    if let Some((_, variable)) = shell.env_mut().get_mut(name) {
        variable.set_value(value);
        return Ok(());
    }
    shell.env_mut().add(name, ShellVariable::new(value), EnvironmentScope::Global)
}

/// The words of a declaration, expanded, for the builtin that declares.
pub(crate) async fn declared(
    assignment: &Assignment,
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    associative: bool,
) -> Result<Assignment, Error> {
    let associative = associative
        || matches!(&assignment.name, AssignmentName::VariableName(name) if binding::is_associative(shell, name));
    let name = match &assignment.name {
        AssignmentName::VariableName(name) => AssignmentName::VariableName(name.clone()),
        AssignmentName::ArrayElementName(name, subscript) => {
            AssignmentName::ArrayElementName(name.clone(), expansion::subscript_text(shell, params, subscript)?)
        }
    };
    let value = match &assignment.value {
        AssignmentValue::Scalar(word) => {
            // Braces make several assignments of it, of which the last one holds.
            let last = expansion::last_of_braces(shell, &word.value).map(Word::from);
            let word = last.as_ref().unwrap_or(word);
            AssignmentValue::Scalar(Word::from(expansion::basic_expand_assignment_word(shell, params, word).await?))
        }
        AssignmentValue::Array(_) if matches!(name, AssignmentName::ArrayElementName(..)) => {
            return Err(complaint(format!("{name}: cannot assign list to array member")));
        }
        AssignmentValue::Array(words) => {
            let mut values = Vec::new();
            for element in expanded(shell, params, words, associative).await? {
                let key = match element.key {
                    Some(key) => Some(Word::from(expansion::subscript_text(shell, params, &key)?)),
                    None => None,
                };
                values.push((key, Word::from(element.value)));
            }
            AssignmentValue::Array(values)
        }
    };
    Ok(Assignment { name, value, append: assignment.append, loc: assignment.loc.clone() })
}

/// The next value of a loop's variable; a reference then refers to what the value names.
pub(crate) fn assign_loop_variable<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    name: &str,
    value: String,
) -> Result<(), Error> {
    if shell.env().get_reference(name).is_some()
        && let Some(variable) = shell.env_mut().get_reference_mut(name)
    {
        if !binding::is_target(&value) {
            return Err(binding::complaint(format!("`{value}': not a valid identifier")));
        }
        return variable.assign(ShellValueLiteral::Scalar(value), false);
    }
    binding::assign(shell, params, name, None, value, false)
}
