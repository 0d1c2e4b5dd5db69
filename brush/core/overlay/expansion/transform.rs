//! `${x@Q}` and its like.
//!
//! How values are quoted is the business of [`crate::quoting`]. Part of what replaces upstream's expansion.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::fmt::Write as _;

use super::lookup::{Value, name_text};
use super::now;
use super::operations::{bad, in_case};
use super::pieces::Expander;
use crate::binding;
use crate::error::Error;
use crate::escapes;
use crate::extensions::ShellExtensions;
use crate::variables::ShellValue;
use crate::word::{Name, Parameter};
use crate::{bytes, locale, prompt, quoting};

impl<SE: ShellExtensions> Expander<'_, SE> {
    pub(super) fn transform(&mut self, parameter: &Parameter, kind: char) -> Result<Value, Error> {
        let name = self.meant(parameter)?;
        let value = self.get(&name)?;
        if matches!(value, Value::Unset) && !self.shell.options().treat_unset_variables_as_error {
            if !matches!(kind, 'A' | 'a') {
                return Ok(Value::Unset);
            }
        } else if !matches!(kind, 'Q' | 'E' | 'P' | 'A' | 'a' | 'K' | 'k' | 'U' | 'u' | 'L') {
            return Err(bad(parameter).into_fatal());
        }
        if matches!(value, Value::Unset) && self.shell.options().treat_unset_variables_as_error {
            self.required(&name, true)?;
        }
        if matches!(kind, 'A' | 'a' | 'K' | 'k')
            && let Some(value) = self.described(&name, kind)
        {
            return Ok(value);
        }
        let value = if matches!(value, Value::Unset) { self.required(&name, true)? } else { value };
        if matches!(value, Value::Unset) {
            return Ok(value);
        }
        Ok(match kind {
            'Q' | 'K' | 'k' => value.map(|text| {
                if text.is_ascii() || locale::multibyte(self.shell) {
                    quoting::reusable(&text)
                } else {
                    // Each byte is a character here, and not one that can be printed.
                    quoting::reusable(&bytes::singles(&text))
                }
            }),
            'E' => value.map(|text| escapes::unquoted(&text)),
            'U' => value.map(|text| text.chars().map(|c| in_case(c, true)).collect()),
            'L' => value.map(|text| text.chars().map(|c| in_case(c, false)).collect()),
            'u' => value.map(|text| {
                let mut chars = text.chars();
                chars.next().map(|first| in_case(first, true)).into_iter().chain(chars).collect()
            }),
            'A' => assignments(&name, value),
            'P' => {
                let mut failure = None;
                let value = value.map(|text| {
                    now(prompt::expand_prompt(self.shell, self.params, text)).unwrap_or_else(|error| {
                        failure = Some(error);
                        String::new()
                    })
                });
                match failure {
                    Some(error) => return Err(error),
                    None => value,
                }
            }
            _ => Value::One(String::new()),
        })
    }

    /// What is said about a variable as a whole.
    fn described(&mut self, name: &Name, kind: char) -> Option<Value> {
        let (variable_name, whole) = match name {
            Name::Variable(name) | Name::Element(name, _) => (name, false),
            Name::All(name, _) => (name, true),
            _ => return None,
        };
        let resolved = binding::resolved(self.shell, variable_name).0.to_owned();
        let variable_name = &resolved;
        let Some(variable) = binding::variable(self.shell, &resolved) else {
            return (kind == 'a').then(|| Value::One(String::new()));
        };
        let flags = variable.attribute_flags(self.shell);
        let value = variable.resolve_value(self.shell);
        match kind {
            'a' if whole => {
                let count = self.elements(&resolved).len().max(1);
                Some(Value::Many(vec![flags; count], star(name)))
            }
            'a' => Some(Value::One(flags)),
            'A' if whole => Some(Value::One(declaration(variable_name, &flags, &value))),
            'A' => match (self.get(name).ok()?, &value) {
                (Value::One(text), ShellValue::String(_)) if flags.is_empty() => {
                    Some(Value::One(format!("{variable_name}={}", quoting::reusable(&text))))
                }
                (Value::One(text), _) => {
                    Some(Value::One(format!("declare -{flags} {variable_name}={}", quoting::reusable(&text))))
                }
                _ if flags.is_empty() => Some(Value::One(String::new())),
                _ => Some(Value::One(format!("declare -{flags} {variable_name}"))),
            },
            'K' | 'k' if whole => {
                let pairs: Vec<(String, String)> = match &value {
                    ShellValue::IndexedArray(values) => {
                        values.iter().map(|(key, text)| (key.to_string(), text.clone())).collect()
                    }
                    ShellValue::AssociativeArray(values) => {
                        values.iter().map(|(key, text)| (key.clone(), text.clone())).collect()
                    }
                    _ => return None,
                };
                let associative = matches!(value, ShellValue::AssociativeArray(_));
                Some(pairs_value(&pairs, kind, associative, star(name)))
            }
            _ => None,
        }
    }
}

/// `${@@A}`, and what is no variable.
fn assignments(name: &Name, value: Value) -> Value {
    match name {
        Name::Special('@' | '*') => {
            let Value::Many(items, _) = value else { return value };
            let quoted: Vec<String> = items.iter().map(|text| quoting::reusable(text)).collect();
            Value::One(format!("set -- {}", quoted.join(" ")))
        }
        _ => value.map(|text| format!("{}={}", name_text(name), quoting::reusable(&text))),
    }
}

fn star(name: &Name) -> bool {
    matches!(name, Name::All(_, '*') | Name::Special('*'))
}

fn pairs_value(pairs: &[(String, String)], kind: char, associative: bool, star: bool) -> Value {
    if kind == 'k' {
        let words = pairs.iter().flat_map(|(key, text)| [key.clone(), text.clone()]);
        return Value::Many(words.collect(), star);
    }
    let mut text = String::new();
    for (key, value) in pairs {
        if !text.is_empty() && !associative {
            text.push(' ');
        }
        let key = if associative { quoting::key(key) } else { key.clone() };
        // Writing to a string can't fail.
        let _ = write!(text, "{key} {}", quoting::declared(value));
        if associative {
            text.push(' ');
        }
    }
    Value::One(text)
}

/// The declaration of a whole array.
fn declaration(name: &str, flags: &str, value: &ShellValue) -> String {
    match value {
        ShellValue::String(text) if flags.is_empty() => format!("{name}={}", quoting::reusable(text)),
        ShellValue::String(text) => format!("declare -{flags} {name}={}", quoting::reusable(text)),
        ShellValue::IndexedArray(_) | ShellValue::AssociativeArray(_) => {
            format!("declare -{flags} {name}={}", quoting::array(value))
        }
        _ if flags.is_empty() => String::new(),
        _ => format!("declare -{flags} {name}"),
    }
}
