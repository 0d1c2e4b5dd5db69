//! What is done with a parameter's value.
//!
//! Patterns and words inside are only expanded where they count. Substrings and `@` have files of their own.
//! Part of what replaces upstream's expansion.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::lookup::{Value, name_text};
use super::pieces::Expander;
use super::sinks::{Replacement, Sink, joiner};
use crate::binding::{self, complaint};
use crate::error::{Error, ErrorKind};
use crate::extensions::ShellExtensions;
use crate::patterns::{self, Anchor};
use crate::shell::Shell;
use crate::variables::ShellValue;
use crate::word::{Name, Operation, Parameter, Word};
use crate::{bytes, locale};

impl<SE: ShellExtensions> Expander<'_, SE> {
    /// Expands a parameter.
    pub(super) fn parameter(&mut self, parameter: &Parameter, sink: &mut dyn Sink, quoted: bool) -> Result<(), Error> {
        match (&parameter.operation, &parameter.name) {
            (Operation::None, Name::Variable(name)) if !parameter.indirect => {
                if let Some((_, variable)) = self.shell.env().get(name)
                    && let ShellValue::String(text) = variable.value()
                    && !variable.is_treated_as_nameref()
                {
                    sink.value(text, quoted);
                    return Ok(());
                }
            }
            (Operation::None, Name::Positional(number @ 1..)) if !parameter.indirect => {
                if let Some(text) = self.shell.current_shell_args().get(number - 1) {
                    sink.value(text, quoted);
                    return Ok(());
                }
            }
            _ => {}
        }
        let value = match &parameter.operation {
            Operation::Bad => return Err(ending(self.shell, bad(parameter))),
            Operation::Test { kind, empty_too, word } => {
                return self.test(parameter, (*kind, *empty_too, word), sink, quoted);
            }
            Operation::Names(kind) => self.names(&parameter.name, *kind),
            Operation::Keys(kind) => Value::Many(self.keys(&name_text(&parameter.name)), *kind == '*'),
            Operation::Length => self.length(&parameter.name)?,
            Operation::Transform(kind) => self.transform(parameter, *kind)?,
            _ => self.changed(parameter)?,
        };
        self.emit(&value, sink, quoted);
        Ok(())
    }

    fn emit(&self, value: &Value, sink: &mut dyn Sink, quoted: bool) {
        match value {
            Value::Unset => sink.value("", quoted),
            Value::One(text) => sink.value(text, quoted),
            Value::Many(items, true) if quoted => sink.value(&items.join(&joiner(self.shell)), true),
            Value::Many(items, false) if quoted && items.is_empty() => sink.none(),
            Value::Many(items, star) => {
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        sink.between(*star, quoted);
                    }
                    sink.value(item, quoted);
                }
            }
        }
    }

    /// The value, or the complaint about one that isn't set.
    pub(super) fn required(&mut self, name: &Name, in_braces: bool) -> Result<Value, Error> {
        let value = self.get(name)?;
        if matches!(value, Value::Unset) && self.shell.options().treat_unset_variables_as_error {
            let is_plain = !in_braces && matches!(name, Name::Positional(_) | Name::Special(_));
            let dollar = if is_plain { "$" } else { "" };
            let error: Error = ErrorKind::ExpandingUnsetVariable(format!("{dollar}{}", name_text(name))).into();
            return Err(error.into_fatal());
        }
        Ok(value)
    }

    fn test(
        &mut self,
        parameter: &Parameter,
        (kind, empty_too, word): (char, bool, &Word),
        sink: &mut dyn Sink,
        quoted: bool,
    ) -> Result<(), Error> {
        let (name, value) = match &parameter.name {
            // `${!array[@]-word}` asks for the array's keys.
            Name::All(array, star) if parameter.indirect && self.elements(array).is_empty() => {
                (parameter.name.clone(), Value::Many(Vec::new(), *star == '*'))
            }
            _ => {
                let name = self.meant(parameter)?;
                let value = self.get(&name)?;
                (name, value)
            }
        };
        let is_null = match &value {
            Value::Many(items, true) if quoted => items.join(&joiner(self.shell)).is_empty(),
            value => value.is_null(),
        };
        let missing = value.is_unset() || (empty_too && is_null);
        match (kind, missing) {
            ('+', false) | ('-', true) => {
                if quoted {
                    // Between quotes there is a field, even if the word comes to none.
                    sink.value("", true);
                }
                self.operand(word, sink)
            }
            ('+', true) => {
                let is_no_field = matches!(&value, Value::Many(items, false) if items.is_empty());
                if quoted && !is_no_field {
                    sink.value("", true);
                }
                Ok(())
            }
            (_, false) => {
                self.emit(&value, sink, quoted);
                Ok(())
            }
            ('=', true) => {
                let text = self.string(word)?;
                let value = self.assigned(&name, text)?;
                self.emit(&value, sink, quoted);
                Ok(())
            }
            _ => {
                let mut text = self.string(word)?;
                if word.pieces.is_empty() || text.is_empty() {
                    let what = if empty_too { "parameter null or not set" } else { "parameter not set" };
                    what.clone_into(&mut text);
                }
                Err(complaint(format!("{}: {text}", name_text(&name))).into_fatal())
            }
        }
    }

    /// The value of a parameter after a text was assigned to it.
    fn assigned(&mut self, name: &Name, text: String) -> Result<Value, Error> {
        let element = match name {
            Name::Variable(variable) => {
                let assigned = binding::assign(self.shell, self.params, variable, None, text, false);
                assigned.map_err(|error| ending(self.shell, error))?;
                return self.get(name);
            }
            Name::Element(array, subscript) => {
                binding::assign_element(self.shell, self.params, array, (subscript, false), text)
            }
            Name::All(array, kind) => {
                binding::assign_element(self.shell, self.params, array, (&kind.to_string(), true), text)
            }
            other => return Err(complaint(format!("${}: cannot assign in this way", name_text(other)))),
        };
        Ok(Value::One(element.map_err(|error| ending(self.shell, error))?))
    }

    fn names(&self, prefix: &Name, kind: char) -> Value {
        let prefix = name_text(prefix);
        let env = self.shell.env();
        let set = env.iter().filter(|(name, variable)| name.starts_with(&prefix) && variable.value().is_set());
        let mut names: Vec<String> = set.map(|(name, _)| name.clone()).collect();
        locale::sort(self.shell, &mut names);
        Value::Many(names, kind == '*')
    }

    fn length(&mut self, name: &Name) -> Result<Value, Error> {
        let count = match name {
            Name::Variable(variable) if binding::resolved(self.shell, variable).1.is_some() => 0,
            Name::Element(array, _) => match self.get(name)? {
                Value::One(text) => self.characters(&text),
                _ if self.shell.options().treat_unset_variables_as_error
                    && !binding::has_elements(self.shell, array) =>
                {
                    let error: Error = ErrorKind::ExpandingUnsetVariable(array.clone()).into();
                    return Err(error.into_fatal());
                }
                _ => 0,
            },
            _ => match self.required(name, true)? {
                Value::Unset => 0,
                Value::One(text) => self.characters(&text),
                Value::Many(items, _) => {
                    if let (Name::All(array, _), true) = (name, self.shell.options().treat_unset_variables_as_error)
                        && items.is_empty()
                        && !binding::variable(self.shell, array).is_some_and(|variable| variable.value().is_set())
                    {
                        return Err(complaint(format!("{array}: unbound variable")));
                    }
                    items.len()
                }
            },
        };
        Ok(Value::One(count.to_string()))
    }

    /// How many characters the text has in this locale.
    pub(super) fn characters(&self, text: &str) -> usize {
        if text.is_ascii() { text.len() } else { bytes::length(text, locale::multibyte(self.shell)) }
    }

    fn changed(&mut self, parameter: &Parameter) -> Result<Value, Error> {
        if let (Operation::None, Some(target)) = (&parameter.operation, self.referred(parameter)) {
            return Ok(Value::One(target));
        }
        let name = self.meant(parameter)?;
        if let Operation::Substring { offset, length } = &parameter.operation {
            return self.substring(&name, offset, length.as_ref());
        }
        let value = self.required(&name, parameter.text.starts_with("${"))?;
        match &parameter.operation {
            Operation::Remove { suffix, longest, pattern } => {
                let pattern = self.pattern(pattern)?;
                Ok(self.each(value, &pattern, |pattern, text| {
                    let rest = if *suffix {
                        pattern.without_suffix(text, *longest)
                    } else {
                        pattern.without_prefix(text, *longest)
                    };
                    rest.to_owned()
                }))
            }
            // Nothing is replaced where nothing is, not even the empty text.
            Operation::Replace { .. } if matches!(value, Value::Unset) => Ok(value),
            Operation::Replace { which, pattern, with } => self.replaced(value, *which, pattern, with),
            Operation::Case { to, all, pattern } => {
                let pattern = self.pattern(pattern)?;
                let everything = pattern.is_empty();
                Ok(self.each(value, &pattern, |pattern, text| {
                    recased(text, *to, *all, |c| everything || pattern.matches(c))
                }))
            }
            _ => Ok(value),
        }
    }

    /// Changes every value with a pattern, byte by byte where the locale has no larger characters.
    fn each(&self, value: Value, pattern: &str, change: impl Fn(&patterns::Compiled, &str) -> String) -> Value {
        let options = self.shell.options();
        let by_byte = |text: &str| !text.is_ascii() && !locale::multibyte(self.shell);
        let compiled = patterns::compiled(pattern, options.extended_globbing, false);
        value.map(|text| {
            if by_byte(&text) {
                let compiled = patterns::compiled(&bytes::singles(pattern), options.extended_globbing, false);
                return bytes::rejoin(change(&compiled, &bytes::singles(&text)));
            }
            change(&compiled, &text)
        })
    }

    fn replaced(&mut self, value: Value, which: char, pattern: &Word, with: &Word) -> Result<Value, Error> {
        let pattern = self.pattern(pattern)?;
        let mut sink = Replacement::default();
        self.pieces(&with.pieces, &mut sink)?;
        let replacement = sink.finish(self.shell.options().patsub_replacement);
        if pattern.is_empty() && !matches!(which, '#' | '%') {
            return Ok(value);
        }
        let options = self.shell.options();
        let compiled = patterns::compiled(&pattern, options.extended_globbing, options.case_insensitive_conditionals);
        let anchor = match which {
            '#' => Anchor::Start,
            '%' => Anchor::End,
            _ => Anchor::Anywhere,
        };
        let all = which == '/';
        Ok(value.map(|text| {
            let text = if text.is_ascii() || locale::multibyte(self.shell) {
                text
            } else {
                bytes::singles(&text).into_owned()
            };
            let mut result = String::with_capacity(text.len());
            let mut from = 0;
            if text.is_empty() && compiled.matches("") {
                replacement.append("", &mut result);
            }
            while let Some((start, end)) = compiled.find(&text, from, anchor) {
                if text.is_empty() {
                    break;
                }
                result.push_str(&text[from..start]);
                replacement.append(&text[start..end], &mut result);
                from = end;
                if !all || from >= text.len() {
                    break;
                }
            }
            result.push_str(&text[from..]);
            bytes::rejoin(result)
        }))
    }
}

/// The error of an expansion, which the standard has a shell end with.
pub(super) fn ending(shell: &Shell<impl ShellExtensions>, error: Error) -> Error {
    if shell.options().posix_mode { error.into_fatal() } else { error }
}

/// The message about a form that there isn't.
pub(super) fn bad(parameter: &Parameter) -> Error {
    complaint(format!("{}: bad substitution", parameter.text))
}

/// Changes the case of the characters that count.
fn recased(text: &str, to: char, all: bool, counts: impl Fn(&str) -> bool) -> String {
    let mut result = String::with_capacity(text.len());
    for (index, c) in text.chars().enumerate() {
        if (index > 0 && !all) || !counts(c.encode_utf8(&mut [0; 4])) {
            result.push(c);
            continue;
        }
        let upper = match to {
            '^' => true,
            ',' => false,
            _ => c.is_lowercase(),
        };
        result.push(in_case(c, upper));
    }
    result
}

/// The character in upper or lower case, where that is one character.
pub(super) fn in_case(c: char, upper: bool) -> char {
    if c.is_ascii() {
        return if upper { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    }
    let changed: Vec<char> = if upper { c.to_uppercase().collect() } else { c.to_lowercase().collect() };
    if let [one] = changed.as_slice() { *one } else { c }
}
