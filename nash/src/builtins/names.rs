//! Names of variables as builtins are given them: with a subscript, behind a reference.
//!
//! How values are looked up in expansions is the interpreter's.

use brush_core::env::valid_variable_name;
use brush_core::variables::ShellValue;
use brush_core::{Error, ErrorKind, ExecutionParameters, Shell, ShellExtensions, arithmetic, binding};

/// How many references are followed before they are taken for a circle, as in bash.
const REFERENCE_DEPTH_MAX: usize = 8;

/// A variable, or one element of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    /// The variable's name.
    pub name: &'a str,
    /// What stands between the brackets.
    pub subscript: Option<&'a str>,
}

/// Reads `NAME` or `NAME[SUBSCRIPT]`; the name need not be valid. Nothing where brackets stand wrong.
pub(crate) fn parse(word: &str) -> Option<Target<'_>> {
    let Some(open) = word.find('[') else { return Some(Target { name: word, subscript: None }) };
    let rest = &word[open + 1..];
    let subscript =
        rest.strip_suffix(']').filter(|subscript| !subscript.is_empty() && binding::ends_with_bracket(rest))?;
    Some(Target { name: &word[..open], subscript: Some(subscript) })
}

/// The name that a reference leads to in the end; nothing for a variable that is no reference, or one that leads nowhere.
pub(crate) fn follow<SE: ShellExtensions>(shell: &Shell<SE>, name: &str) -> Option<String> {
    let mut at = name.to_owned();
    for _ in 0..REFERENCE_DEPTH_MAX {
        let next = match shell.env().get_raw(&at) {
            Some((_, variable)) if variable.is_treated_as_nameref() => match variable.value() {
                ShellValue::String(next) if !next.is_empty() => next.clone(),
                _ => break,
            },
            _ => break,
        };
        at = next;
    }
    (at != name).then_some(at)
}

/// Evaluates a subscript, or the value of an integer variable.
///
/// # Errors
/// What is wrong with the expression, in bash's words; it ends the shell.
pub(crate) fn evaluate<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    expression: &str,
) -> Result<i64, Error> {
    arithmetic::evaluate(shell, params, expression)
        .map_err(|error| Error::from(ErrorKind::CheckedExpansionError(error.to_string())))
}

/// The index that a number names in an array whose last index is right before `end`; negative ones count from there.
pub(crate) fn index(number: i64, end: u64) -> Option<u64> {
    match u64::try_from(number) {
        Ok(index) => Some(index),
        Err(_) => end.checked_sub(number.unsigned_abs()),
    }
}

/// Whether a reference may name this: a variable, or one element.
pub(crate) fn can_be_referred_to(word: &str) -> bool {
    parse(word).is_some_and(|target| valid_variable_name(target.name))
}

#[cfg(test)]
mod tests {
    use super::{index, parse};

    #[test]
    fn a_subscript_stands_in_brackets_that_close_the_word() {
        let target = parse("a[i+b[1]]").unwrap();
        assert_eq!((target.name, target.subscript), ("a", Some("i+b[1]")));
        assert_eq!(parse("a[").as_ref(), None);
        assert_eq!(parse("a[]").as_ref(), None);
        assert_eq!(parse("a").unwrap().subscript, None);
    }

    #[test]
    fn a_negative_index_counts_from_the_end() {
        assert_eq!(index(-1, 3), Some(2));
        assert_eq!(index(-4, 3), None);
        assert_eq!(index(7, 3), Some(7));
    }
}
