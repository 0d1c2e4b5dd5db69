//! One operand of a declaration, taken apart: name, subscript, and what is assigned.
//!
//! Operands come as the parser's assignments, or as words that only turn out to be assignments after expansion. Nothing is
//! evaluated here.

use brush_core::parser::ast::{AssignmentName, AssignmentValue, Word};
use brush_core::{CommandArg, binding};

/// One operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    /// As it was typed, for messages.
    pub text: String,
    pub name: String,
    pub subscript: Option<String>,
    pub append: bool,
    pub value: Option<Value>,
}

/// What is assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    /// The elements of an array, with their keys where they have some.
    Elements(Vec<(Option<String>, String)>),
}

impl Operand {
    /// Takes an operand apart.
    pub(super) fn read(arg: &CommandArg) -> Self {
        let assignment = match arg {
            CommandArg::String(word) | CommandArg::Reference(word) => return Self::from_word(word),
            CommandArg::Assignment(assignment) => assignment,
        };
        let (name, subscript) = match &assignment.name {
            AssignmentName::VariableName(name) => (name.clone(), None),
            AssignmentName::ArrayElementName(name, subscript)
                if binding::ends_with_bracket(&format!("{subscript}]")) =>
            {
                (name.clone(), Some(subscript.clone()))
            }
            // What was expanded in the subscript has made it no subscript any more.
            AssignmentName::ArrayElementName(name, subscript) => (format!("{name}[{subscript}]"), None),
        };
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => Value::Text(word.flatten()),
            AssignmentValue::Array(elements) => Value::Elements(
                elements.iter().map(|(key, word)| (key.as_ref().map(Word::flatten), word.flatten())).collect(),
            ),
        };
        Self { text: arg.to_string(), name, subscript, append: assignment.append, value: Some(value) }
    }

    /// Takes a plain word apart: `NAME`, `NAME[SUBSCRIPT]`, either with `=VALUE` or `+=VALUE`.
    fn from_word(word: &str) -> Self {
        let (target, append, value) = match assignment_sign(word) {
            Some(sign) => {
                let before = &word[..sign];
                let (target, append) = before.strip_suffix('+').map_or((before, false), |target| (target, true));
                (target, append, Some(Value::Text(word[sign + 1..].to_owned())))
            }
            None => (word, false, None),
        };
        let (name, subscript) = match target.split_once('[') {
            Some((name, rest)) if rest.len() > 1 && binding::ends_with_bracket(rest) => {
                (name, Some(rest[..rest.len() - 1].to_owned()))
            }
            _ => (target, None),
        };
        Self { text: word.to_owned(), name: name.to_owned(), subscript, append, value }
    }

    /// The name with its subscript.
    pub(super) fn target(&self) -> String {
        match &self.subscript {
            Some(subscript) => format!("{}[{subscript}]", self.name),
            None => self.name.clone(),
        }
    }
}

/// Where the `=` of an assignment stands, which is not inside of brackets.
fn assignment_sign(word: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, character) in word.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '=' if depth == 0 => return Some(index),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Operand, Value};

    fn check(word: &str, target: &str, append: bool, value: Option<&str>) {
        let operand = Operand::from_word(word);
        assert_eq!(operand.target(), target, "{word}");
        assert_eq!(operand.append, append, "{word}");
        assert_eq!(operand.value, value.map(|value| Value::Text(value.to_owned())), "{word}");
    }

    #[test]
    fn words_are_taken_apart_as_assignments_are() {
        check("x", "x", false, None);
        check("x=1=2", "x", false, Some("1=2"));
        check("x+=1", "x", true, Some("1"));
        check("a[i==1]+=z", "a[i==1]", true, Some("z"));
        check("a[3]", "a[3]", false, None);
        check("a b=3", "a b", false, Some("3"));
    }
}
