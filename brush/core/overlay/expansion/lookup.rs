//! What the name in a parameter expansion stands for.
//!
//! Gives values; what is done with them, and what an unset one means, is decided elsewhere.
//! Part of what replaces upstream's expansion.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::pieces::Expander;
use crate::binding::{self, complaint};
use crate::error::Error;
use crate::extensions::ShellExtensions;
use crate::special;
use crate::variables::ShellValue;
use crate::word::{self, Name, Parameter};

/// A parameter's value.
#[derive(Debug)]
pub(super) enum Value {
    /// None.
    Unset,
    /// One.
    One(String),
    /// Any number, with whether they are joined in quotes.
    Many(Vec<String>, bool),
}

impl Value {
    /// Whether there is no value.
    pub fn is_unset(&self) -> bool {
        match self {
            Self::Unset => true,
            Self::One(_) => false,
            Self::Many(items, _) => items.is_empty(),
        }
    }

    /// Whether the value is empty.
    pub fn is_null(&self) -> bool {
        match self {
            Self::Unset => true,
            Self::One(text) => text.is_empty(),
            Self::Many(items, _) => {
                matches!(items.as_slice(), []) || matches!(items.as_slice(), [one] if one.is_empty())
            }
        }
    }

    /// Changes every value.
    pub fn map(self, mut change: impl FnMut(String) -> String) -> Self {
        match self {
            Self::Unset => Self::One(change(String::new())),
            Self::One(text) => Self::One(change(text)),
            Self::Many(items, star) => Self::Many(items.into_iter().map(change).collect(), star),
        }
    }
}

impl<SE: ShellExtensions> Expander<'_, SE> {
    /// The name that is expanded: the one in the text, or the one that its value names.
    pub(super) fn meant(&mut self, parameter: &Parameter) -> Result<Name, Error> {
        if !parameter.indirect {
            return Ok(parameter.name.clone());
        }
        let told = name_text(&parameter.name);
        let text = match self.get(&parameter.name)? {
            // A positional parameter that isn't there names none.
            Value::Unset if matches!(parameter.name, Name::Positional(_)) => {
                return Ok(Name::Variable(format!("!{told}")));
            }
            Value::Unset => return Err(complaint(format!("{told}: invalid indirect expansion"))),
            Value::One(text) => text,
            // No positional parameters name nothing: no field, or an empty one between quotes.
            Value::Many(items, _) if items.is_empty() => return Ok(Name::Special('*')),
            Value::Many(items, _) => items.join(" "),
        };
        word::parsed_name(&text).ok_or_else(|| complaint(format!("{text}: invalid variable name")))
    }

    /// The name that a reference refers to, where `${!name}` asks for that.
    pub(super) fn referred(&self, parameter: &Parameter) -> Option<String> {
        match &parameter.name {
            Name::Variable(name) if parameter.indirect => {
                self.shell.env().get_reference(name)?;
                Some(self.shell.env().resolve_name(name).to_owned())
            }
            _ => None,
        }
    }

    /// The value of a name.
    pub(super) fn get(&mut self, name: &Name) -> Result<Value, Error> {
        Ok(match name {
            Name::Variable(name) => return self.variable(name),
            Name::Positional(0) => one(self.shell.current_shell_name().map(std::borrow::Cow::into_owned)),
            Name::Positional(number) => one(self.shell.current_shell_args().get(number - 1).cloned()),
            Name::Special(kind @ ('@' | '*')) => Value::Many(self.shell.current_shell_args().to_vec(), *kind == '*'),
            Name::Special(kind) => one(self.special(*kind)),
            // What refers to an element has no elements of its own.
            Name::Element(name, _) if binding::resolved(self.shell, name).1.is_some() => Value::Unset,
            Name::All(name, kind) if binding::resolved(self.shell, name).1.is_some() => {
                Value::Many(Vec::new(), *kind == '*')
            }
            Name::Element(name, subscript) => {
                let name = binding::resolved(self.shell, name).0.to_owned();
                let key = self.key(&name, subscript)?;
                match key {
                    Some(key) => {
                        one(binding::value_at(self.shell, &name, Some(&key)).map(std::borrow::Cow::into_owned))
                    }
                    None => Value::Unset,
                }
            }
            Name::All(name, kind) => {
                let name = binding::resolved(self.shell, name).0.to_owned();
                Value::Many(self.elements(&name), *kind == '*')
            }
        })
    }

    fn variable(&mut self, name: &str) -> Result<Value, Error> {
        if self.shell.env().get_reference(name).is_some() {
            binding::warn_of_circle(self.shell, self.params, name);
        }
        let Some((_, variable)) = self.shell.env().get(name) else { return Ok(Value::Unset) };
        if variable.is_treated_as_nameref() {
            let (target, subscript) = binding::resolved(self.shell, name);
            let Some(subscript) = subscript else { return Ok(Value::Unset) };
            let name = match subscript {
                "@" => Name::All(target.to_owned(), '@'),
                "*" => Name::All(target.to_owned(), '*'),
                _ => Name::Element(target.to_owned(), subscript.to_owned()),
            };
            // An element that isn't there is no unset variable.
            return Ok(match self.get(&name)? {
                Value::Unset => Value::One(String::new()),
                value => value,
            });
        }
        Ok(one(binding::value_at(self.shell, name, None).map(std::borrow::Cow::into_owned)))
    }

    /// An element's key. One before the array is told of, and stands for nothing.
    fn key(&mut self, name: &str, subscript: &str) -> Result<Option<binding::Key>, Error> {
        match binding::key(self.shell, self.params, name, subscript) {
            Ok(key) => Ok(Some(key)),
            Err(error) if error.to_string().ends_with(": bad array subscript") => {
                let _ = self.shell.display_error(&mut self.params.stderr(self.shell), &error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// All elements of an array, or the value of what is no array.
    pub(super) fn elements(&self, name: &str) -> Vec<String> {
        let Some(variable) = binding::variable(self.shell, name) else { return Vec::new() };
        let of = |value: &ShellValue| match value {
            ShellValue::String(text) => vec![text.clone()],
            ShellValue::IndexedArray(values) => values.values().cloned().collect(),
            ShellValue::AssociativeArray(values) => values.values().cloned().collect(),
            _ => Vec::new(),
        };
        match variable.value() {
            ShellValue::Dynamic { getter, .. } => of(&special::value(name).unwrap_or_else(|| getter(self.shell))),
            value => of(value),
        }
    }

    /// The keys of an array; what is no array has one element.
    pub(super) fn keys(&self, name: &str) -> Vec<String> {
        let (name, referred) = binding::resolved(self.shell, name);
        if referred.is_some() {
            return Vec::new();
        }
        binding::variable(self.shell, name).map_or_else(Vec::new, |variable| variable.value().element_keys(self.shell))
    }

    fn special(&self, kind: char) -> Option<String> {
        let shell = &self.shell;
        Some(match kind {
            '#' => shell.current_shell_args().len().to_string(),
            '?' => shell.last_exit_status().to_string(),
            '-' => shell.options().option_flags(),
            '$' => crate::sys::process::shell_pid().to_string(),
            _ => return shell.jobs().last_background_pid().map(|pid| pid.to_string()),
        })
    }
}

fn one(value: Option<String>) -> Value {
    value.map_or(Value::Unset, Value::One)
}

/// A name as messages say it.
pub(super) fn name_text(name: &Name) -> String {
    match name {
        Name::Variable(name) => name.clone(),
        Name::Positional(number) => number.to_string(),
        Name::Special(kind) => kind.to_string(),
        Name::Element(name, subscript) => format!("{name}[{subscript}]"),
        Name::All(name, kind) => format!("{name}[{kind}]"),
    }
}
