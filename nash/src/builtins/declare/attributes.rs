//! The attributes of a variable: given, taken back, and carried over to another value.
//!
//! Whether a declaration may change them is not decided here.

use brush_core::variables::{ShellValue, ShellValueUnsetType, ShellVariable, ShellVariableUpdateTransform};

use super::Request;

/// Turns one attribute on or off.
type Change = fn(&mut ShellVariable) -> &mut ShellVariable;

/// A variable that was given to a command, as a local one begins: an array keeps nothing of the text.
pub(super) fn emptied(request: &Request, variable: ShellVariable) -> ShellVariable {
    let value = if request.has('A') {
        ShellValue::AssociativeArray(std::iter::empty::<(String, String)>().collect())
    } else if request.has('a') {
        ShellValue::IndexedArray(std::collections::BTreeMap::new())
    } else {
        return variable;
    };
    let mut array = ShellVariable::new(value);
    copy_attributes(&variable, &mut array);
    array
}

/// Gives a variable without a value the kind of value that it will have, and keeps its attributes.
pub(super) fn retype(variable: &mut ShellVariable, kind: ShellValueUnsetType) {
    let mut fresh = ShellVariable::new(ShellValue::Unset(kind));
    copy_attributes(variable, &mut fresh);
    *variable = fresh;
}

fn copy_attributes(from: &ShellVariable, to: &mut ShellVariable) {
    to.set_update_transform(from.get_update_transform());
    let pairs: [(bool, Change); 5] = [
        (from.is_exported(), ShellVariable::export),
        (from.is_readonly(), ShellVariable::set_readonly),
        (from.is_trace_enabled(), ShellVariable::enable_trace),
        (from.is_treated_as_integer(), ShellVariable::treat_as_integer),
        (from.is_treated_as_nameref(), ShellVariable::treat_as_nameref),
    ];
    for (has, set) in pairs {
        if has {
            set(to);
        }
    }
}

/// Turns attributes on and off; one that must not change comes last, elsewhere.
pub(super) fn set_attributes(request: &Request, variable: &mut ShellVariable) {
    let changes: [(char, Change, Change); 4] = [
        ('i', ShellVariable::treat_as_integer, ShellVariable::unset_treat_as_integer),
        ('n', ShellVariable::treat_as_nameref, ShellVariable::unset_treat_as_nameref),
        ('t', ShellVariable::enable_trace, ShellVariable::disable_trace),
        ('x', ShellVariable::export, ShellVariable::unexport),
    ];
    for (letter, on, off) in changes {
        if request.turns_on(letter) {
            on(variable);
        }
        if request.turns_off(letter) {
            off(variable);
        }
    }
    let transforms = [
        ('c', ShellVariableUpdateTransform::Capitalize),
        ('l', ShellVariableUpdateTransform::Lowercase),
        ('u', ShellVariableUpdateTransform::Uppercase),
    ];
    let asked: Vec<_> = transforms.iter().filter(|(letter, _)| request.turns_on(*letter)).collect();
    match asked.as_slice() {
        [] => {}
        [(_, transform)] => variable.set_update_transform(*transform),
        // Two of them cancel each other.
        _ => variable.set_update_transform(ShellVariableUpdateTransform::None),
    }
    let current = std::mem::discriminant(&variable.get_update_transform());
    let is_taken_back = |(letter, transform): &(char, ShellVariableUpdateTransform)| {
        request.turns_off(*letter) && std::mem::discriminant(transform) == current
    };
    if transforms.iter().any(is_taken_back) {
        variable.set_update_transform(ShellVariableUpdateTransform::None);
    }
}
