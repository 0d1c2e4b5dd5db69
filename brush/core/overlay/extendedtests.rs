//! The tests of `[[ … ]]`, and those that `test` shares with it.
//!
//! Replaces upstream's `extendedtests.rs`, which expands patterns anew for each trace and knows no subscripts. What a failing
//! expression prints is printed here; how `[[` ends with it is the caller's business.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::path::PathBuf;

use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, UnaryPredicate, Word};

use crate::arithmetic;
use crate::binding::{self, Key};
use crate::error::Error;
use crate::extensions::ShellExtensions;
use crate::interp::ExecutionParameters;
use crate::namedoptions;
use crate::shell::Shell;
use crate::sys::fs::{MetadataExt as _, PathExt as _};
use crate::sys::users;
use crate::variables::{ShellValue, ShellVariable};
use crate::{ShellFd, bytes, expansion, locale, patterns};

/// Evaluates an expression.
#[async_recursion::async_recursion]
pub(crate) async fn eval_extended_test_expr(
    expression: &ExtendedTestExpr,
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
) -> Result<bool, Error> {
    match expression {
        ExtendedTestExpr::UnaryTest(op, operand) => unary(op, operand, shell, params, "").await,
        ExtendedTestExpr::BinaryTest(op, left, right) => binary(op, (left, right), shell, params, "").await,
        ExtendedTestExpr::And(left, right) => Ok(eval_extended_test_expr(left, shell, params).await?
            && eval_extended_test_expr(right, shell, params).await?),
        ExtendedTestExpr::Or(left, right) => Ok(eval_extended_test_expr(left, shell, params).await?
            || eval_extended_test_expr(right, shell, params).await?),
        ExtendedTestExpr::Not(expression) => match &**expression {
            ExtendedTestExpr::UnaryTest(op, operand) => Ok(!unary(op, operand, shell, params, "! ").await?),
            ExtendedTestExpr::BinaryTest(op, left, right) => Ok(!binary(op, (left, right), shell, params, "! ").await?),
            expression => Ok(!eval_extended_test_expr(expression, shell, params).await?),
        },
        ExtendedTestExpr::Parenthesized(expression) => eval_extended_test_expr(expression, shell, params).await,
    }
}

/// Whether a value matches a pattern of `case`, or one of `[[ == ]]`, which knows groups in any case.
pub(crate) fn pattern_matches(
    shell: &Shell<impl ShellExtensions>,
    pattern: &str,
    value: &str,
    knows_groups: bool,
) -> bool {
    let options = shell.options();
    let (extended, fold) = (knows_groups || options.extended_globbing, options.case_insensitive_conditionals);
    if (value.is_ascii() && pattern.is_ascii()) || locale::multibyte(shell) {
        return patterns::compiled(pattern, extended, fold).matches(value);
    }
    patterns::compiled(&bytes::singles(pattern), extended, fold).matches(&bytes::singles(value))
}

/// An operand in a trace.
fn shown(text: &str) -> &str {
    if text.is_empty() { "''" } else { text }
}

async fn unary(
    op: &UnaryPredicate,
    operand: &Word,
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    not: &str,
) -> Result<bool, Error> {
    let value = if matches!(op, UnaryPredicate::ShellVariableIsSetAndAssigned) {
        expansion::operand_text(shell, params, &operand.value)?
    } else {
        expansion::basic_expand_word(shell, params, operand).await?
    };
    if shell.options().print_commands_and_arguments {
        shell.trace_command(params, format!("[[ {not}{op} {} ]]", shown(&value))).await;
    }
    if matches!(op, UnaryPredicate::ShellVariableIsSetAndAssigned) {
        return is_set(shell, params, &value);
    }
    apply_unary_predicate_to_str(op, &value, shell, params)
}

/// Whether a variable or element is set.
///
/// # Errors
/// Where a subscript is no expression.
pub fn is_set<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &str,
) -> Result<bool, Error> {
    let (name, subscript) = binding::split_subscript(text);
    let (resolved, referred) = binding::resolved(shell, name);
    if referred.is_some() {
        return Ok(false);
    }
    let (resolved, subscript) = (resolved.to_owned(), subscript.map(str::to_owned));
    if resolved.bytes().all(|byte| byte.is_ascii_digit()) && !resolved.is_empty() {
        let number: usize = resolved.parse().unwrap_or(usize::MAX);
        return Ok(number == 0 || number <= shell.current_shell_args().len());
    }
    match subscript.as_deref() {
        None => Ok(binding::value_at(shell, &resolved, None).is_some()),
        Some("@" | "*") if !binding::is_associative(shell, &resolved) => {
            let value = binding::variable(shell, &resolved).map(ShellVariable::value);
            Ok(match value {
                Some(ShellValue::IndexedArray(values)) => !values.is_empty(),
                other => other.is_some_and(ShellValue::is_set),
            })
        }
        Some(subscript) => {
            let key: Key = binding::key(shell, params, &resolved, subscript)?;
            Ok(binding::value_at(shell, &resolved, Some(&key)).is_some())
        }
    }
}

/// Applies a test of one operand.
pub(crate) fn apply_unary_predicate_to_str(
    op: &UnaryPredicate,
    operand: &str,
    shell: &Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
) -> Result<bool, Error> {
    let path = || -> PathBuf { shell.absolute_path(bytes::path(operand)) };
    let metadata = || if operand.is_empty() { None } else { path().metadata().ok() };
    Ok(match op {
        UnaryPredicate::StringHasNonZeroLength => !operand.is_empty(),
        UnaryPredicate::StringHasZeroLength => operand.is_empty(),
        UnaryPredicate::FileExists => metadata().is_some(),
        UnaryPredicate::FileExistsAndIsBlockSpecialFile => path().exists_and_is_block_device(),
        UnaryPredicate::FileExistsAndIsCharSpecialFile => path().exists_and_is_char_device(),
        UnaryPredicate::FileExistsAndIsDir => metadata().is_some_and(|metadata| metadata.is_dir()),
        UnaryPredicate::FileExistsAndIsRegularFile => metadata().is_some_and(|metadata| metadata.is_file()),
        UnaryPredicate::FileExistsAndIsSetgid => path().exists_and_is_setgid(),
        UnaryPredicate::FileExistsAndIsSymlink => !operand.is_empty() && path().is_symlink(),
        UnaryPredicate::FileExistsAndHasStickyBit => path().exists_and_is_sticky_bit(),
        UnaryPredicate::FileExistsAndIsFifo => path().exists_and_is_fifo(),
        UnaryPredicate::FileExistsAndIsReadable => !operand.is_empty() && path().readable(),
        UnaryPredicate::FileExistsAndIsNotZeroLength => metadata().is_some_and(|metadata| metadata.len() > 0),
        UnaryPredicate::FdIsOpenTerminal => {
            let fd = operand.trim().parse::<ShellFd>().ok();
            fd.and_then(|fd| params.try_fd(shell, fd)).is_some_and(|file| file.is_terminal())
        }
        UnaryPredicate::FileExistsAndIsSetuid => path().exists_and_is_setuid(),
        UnaryPredicate::FileExistsAndIsWritable => !operand.is_empty() && path().writable(),
        UnaryPredicate::FileExistsAndIsExecutable => !operand.is_empty() && path().executable(),
        UnaryPredicate::FileExistsAndOwnedByEffectiveGroupId => {
            let group = users::get_effective_gid()?;
            metadata().is_some_and(|metadata| metadata.gid() == group)
        }
        UnaryPredicate::FileExistsAndModifiedSinceLastRead => metadata().is_some_and(|metadata| {
            let times = (metadata.modified(), metadata.accessed());
            matches!(times, (Ok(modified), Ok(accessed)) if modified > accessed)
        }),
        UnaryPredicate::FileExistsAndOwnedByEffectiveUserId => {
            let user = users::get_effective_uid()?;
            metadata().is_some_and(|metadata| metadata.uid() == user)
        }
        UnaryPredicate::FileExistsAndIsSocket => path().exists_and_is_socket(),
        UnaryPredicate::ShellOptionEnabled => namedoptions::options(namedoptions::ShellOptionKind::SetO)
            .get(operand)
            .is_some_and(|option| option.get(shell.options())),
        UnaryPredicate::ShellVariableIsSetAndAssigned => {
            let (name, subscript) = binding::split_subscript(operand);
            let key = subscript.map(|subscript| {
                subscript.parse().map_or_else(
                    |_| Key::Text(subscript.to_owned()),
                    |index| {
                        if binding::is_associative(shell, name) {
                            Key::Text(subscript.to_owned())
                        } else {
                            Key::Index(index)
                        }
                    },
                )
            });
            binding::value_at(shell, name, key.as_ref()).is_some()
        }
        UnaryPredicate::ShellVariableIsSetAndNameRef => {
            shell.env().get_reference(operand).is_some_and(|reference| reference.value().is_set())
        }
    })
}

async fn binary(
    op: &BinaryPredicate,
    (left, right): (&Word, &Word),
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    not: &str,
) -> Result<bool, Error> {
    let value = operand(op, left, shell, params).await?;
    let traces = shell.options().print_commands_and_arguments;
    match op {
        BinaryPredicate::StringMatchesRegex | BinaryPredicate::StringContainsSubstring => {
            let regex = expansion::basic_expand_regex(shell, params, right).await?;
            if traces {
                let right = expansion::basic_expand_word(shell, params, right).await?;
                shell.trace_command(params, format!("[[ {not}{} =~ {} ]]", shown(&value), shown(&right))).await;
            }
            let groups = regex.matches(&value)?;
            let found = groups.is_some();
            let groups = groups.unwrap_or_default().into_iter().map(Option::unwrap_or_default);
            let value = ShellValue::indexed_array_from_strings(groups);
            shell.env_mut().set_global("BASH_REMATCH", ShellVariable::new(value))?;
            Ok(found)
        }
        BinaryPredicate::StringExactlyMatchesPattern
        | BinaryPredicate::StringExactlyMatchesString
        | BinaryPredicate::StringDoesNotExactlyMatchPattern => {
            let pattern = expansion::pattern_text(shell, params, &right.value)?;
            if traces {
                let told = expansion::traced_pattern(shell, params, &right.value)?;
                shell.trace_command(params, format!("[[ {not}{} {op} {} ]]", shown(&value), shown(&told))).await;
            }
            let matches = pattern_matches(shell, &pattern, &value, true);
            Ok(matches != matches!(op, BinaryPredicate::StringDoesNotExactlyMatchPattern))
        }
        _ => {
            let right = operand(op, right, shell, params).await?;
            if traces {
                shell.trace_command(params, format!("[[ {not}{} {op} {} ]]", shown(&value), shown(&right))).await;
            }
            match compares(op) {
                Some(holds) => {
                    let (Some(left), Some(right)) = (number(shell, params, &value)?, number(shell, params, &right)?)
                    else {
                        return Ok(false);
                    };
                    Ok(holds(left, right))
                }
                None => apply_binary_predicate_to_strs(op, &value, &right, shell),
            }
        }
    }
}

/// An operand that is no pattern, expanded.
async fn operand(
    op: &BinaryPredicate,
    word: &Word,
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
) -> Result<String, Error> {
    if compares(op).is_some() {
        return expansion::operand_text(shell, params, &word.value);
    }
    expansion::basic_expand_word(shell, params, word).await
}

/// An operand's number. What is no expression is told of.
fn number<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    text: &str,
) -> Result<Option<i64>, Error> {
    match arithmetic::evaluate(shell, params, text) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_fatal() || error.ends_line() => Err(error.told_by("")),
        Err(error) => {
            let _ = shell.display_error(&mut params.stderr(shell), &error.told_by("[[: "));
            Ok(None)
        }
    }
}

fn compares(op: &BinaryPredicate) -> Option<fn(i64, i64) -> bool> {
    Some(match op {
        BinaryPredicate::ArithmeticEqualTo => |left, right| left == right,
        BinaryPredicate::ArithmeticNotEqualTo => |left, right| left != right,
        BinaryPredicate::ArithmeticLessThan => |left, right| left < right,
        BinaryPredicate::ArithmeticLessThanOrEqualTo => |left, right| left <= right,
        BinaryPredicate::ArithmeticGreaterThan => |left, right| left > right,
        BinaryPredicate::ArithmeticGreaterThanOrEqualTo => |left, right| left >= right,
        _ => return None,
    })
}

#[allow(clippy::unnecessary_wraps)]
/// Applies a test of two operands, as `test` does: numbers are plain numbers.
pub(crate) fn apply_binary_predicate_to_strs(
    op: &BinaryPredicate,
    left: &str,
    right: &str,
    shell: &Shell<impl ShellExtensions>,
) -> Result<bool, Error> {
    if let Some(holds) = compares(op) {
        return Ok(match (left.trim().parse::<i64>(), right.trim().parse::<i64>()) {
            (Ok(left), Ok(right)) => holds(left, right),
            _ => false,
        });
    }
    let metadata = |name: &str| shell.absolute_path(bytes::path(name)).metadata().ok();
    let modified = |name: &str| metadata(name).and_then(|metadata| metadata.modified().ok());
    Ok(match op {
        BinaryPredicate::FilesReferToSameDeviceAndInodeNumbers => {
            use std::os::unix::fs::MetadataExt as _;
            let identity = |name: &str| metadata(name).map(|metadata| (metadata.dev(), metadata.ino()));
            identity(left).is_some() && identity(left) == identity(right)
        }
        BinaryPredicate::LeftFileIsNewerOrExistsWhenRightDoesNot => modified(left) > modified(right),
        BinaryPredicate::LeftFileIsOlderOrDoesNotExistWhenRightDoes => modified(left) < modified(right),
        BinaryPredicate::LeftSortsBeforeRight => locale::compare(shell, left, right).is_lt(),
        BinaryPredicate::LeftSortsAfterRight => locale::compare(shell, left, right).is_gt(),
        BinaryPredicate::StringExactlyMatchesPattern => pattern_matches(shell, right, left, true),
        BinaryPredicate::StringDoesNotExactlyMatchPattern => !pattern_matches(shell, right, left, true),
        BinaryPredicate::StringExactlyMatchesString => left == right,
        BinaryPredicate::StringDoesNotExactlyMatchString => left != right,
        _ => left.contains(right),
    })
}
