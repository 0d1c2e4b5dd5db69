//! `${x:offset:length}`, of a value, the positional parameters or an array.
//!
//! Offsets and lengths are expressions; negative ones count from the end. Part of what replaces upstream's expansion.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::lookup::{Value, name_text};
use super::operations;
use super::pieces::Expander;
use crate::binding::{self, complaint};
use crate::error::Error;
use crate::extensions::ShellExtensions;
use crate::variables::{ShellValue, ShellVariable};
use crate::word::{Name, Word};
use crate::{arithmetic, bytes, locale};

impl<SE: ShellExtensions> Expander<'_, SE> {
    pub(super) fn substring(
        &mut self,
        name: &Name,
        offset: &Word,
        length: Option<&(Word, String)>,
    ) -> Result<Value, Error> {
        match name {
            Name::Special(kind @ ('@' | '*')) => {
                let zero = self.shell.current_shell_name().map(std::borrow::Cow::into_owned).unwrap_or_default();
                let items: Vec<_> =
                    std::iter::once(zero).chain(self.shell.current_shell_args().iter().cloned()).collect();
                let numbered: Vec<(u64, String)> = (0..).zip(items).collect();
                let end = numbered.len() as u64;
                self.items(name, (numbered, end), *kind == '*', offset, length)
            }
            Name::All(array, kind) => {
                let array = binding::resolved(self.shell, array).0.to_owned();
                if let Some(ShellValue::String(text)) = binding::variable(self.shell, &array).map(ShellVariable::value)
                {
                    let text = text.clone();
                    return self.part(name, &text, offset, length).map(Value::One);
                }
                let numbered: Vec<(u64, String)> = match binding::variable(self.shell, &array).map(ShellVariable::value)
                {
                    Some(ShellValue::IndexedArray(values)) => {
                        values.iter().map(|(index, text)| (*index, text.clone())).collect()
                    }
                    _ => (0..).zip(self.elements(&array)).collect(),
                };
                let end = numbered.last().map_or(0, |(index, _)| index + 1);
                self.items(name, (numbered, end), *kind == '*', offset, length)
            }
            _ => {
                let value = self.required(name, true)?;
                let Value::One(text) = value else {
                    self.number(name, offset)?;
                    return Ok(Value::One(String::new()));
                };
                self.part(name, &text, offset, length).map(Value::One)
            }
        }
    }

    fn number(&mut self, name: &Name, word: &Word) -> Result<i64, Error> {
        let text = self.string(word)?;
        match arithmetic::evaluate(self.shell, self.params, &text) {
            Ok(value) => Ok(value),
            Err(error) => {
                let error = error.told_by(&format!("{}: ", name_text(name)));
                Err(operations::ending(self.shell, error))
            }
        }
    }

    fn part(
        &mut self,
        name: &Name,
        text: &str,
        offset: &Word,
        length: Option<&(Word, String)>,
    ) -> Result<String, Error> {
        let count = i64::try_from(self.characters(text)).unwrap_or(i64::MAX);
        let mut start = self.number(name, offset)?;
        if start < 0 {
            start += count;
        }
        if start < 0 || start > count {
            return Ok(String::new());
        }
        let mut end = count;
        if let Some(length) = length {
            let (length, told) = (self.number(name, &length.0)?, &length.1);
            end = if length < 0 { count + length } else { start.saturating_add(length).min(count) };
            if end < start {
                return Err(complaint(format!("{told}: substring expression < 0")));
            }
        }
        let (start, end) = (usize::try_from(start).unwrap_or(0), usize::try_from(end).unwrap_or(0));
        if text.is_ascii() {
            return Ok(text[start..end].to_owned());
        }
        let characters = |text: &str| text.chars().skip(start).take(end - start).collect::<String>();
        Ok(if locale::multibyte(self.shell) {
            characters(text)
        } else {
            bytes::rejoin(characters(&bytes::singles(text)))
        })
    }

    /// The items from an index on; a length counts items.
    fn items(
        &mut self,
        name: &Name,
        (numbered, end): (Vec<(u64, String)>, u64),
        star: bool,
        offset: &Word,
        length: Option<&(Word, String)>,
    ) -> Result<Value, Error> {
        let none = || Value::Many(Vec::new(), star);
        let offset = self.number(name, offset)?;
        let start = if offset < 0 { end.checked_add_signed(offset) } else { u64::try_from(offset).ok() };
        let Some(start) = start else { return Ok(none()) };
        let count = match length {
            None => usize::MAX,
            Some(length) => {
                let (length, told) = (self.number(name, &length.0)?, &length.1);
                let Ok(count) = usize::try_from(length) else {
                    return Err(complaint(format!("{told}: substring expression < 0")));
                };
                count
            }
        };
        let items = numbered.into_iter().filter(|(index, _)| *index >= start).take(count).map(|(_, text)| text);
        Ok(Value::Many(items.collect(), star))
    }
}
