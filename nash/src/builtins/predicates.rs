//! The operators of `test`: what each finds out about its operands.
//!
//! Which words are operators is decided next door.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use brush_core::namedoptions::{ShellOptionKind, options};

use super::call::Call;
use super::condition::Mistake;
use super::control::number;
use super::sys::{self, Access};
use super::{text, values};

/// Evaluates `-X operand`.
pub(crate) fn unary(call: &mut Call<'_>, operator: &str, operand: &str) -> bool {
    let letter = operator.as_bytes().get(1).copied().unwrap_or(0);
    match letter {
        b'n' => !operand.is_empty(),
        b'z' => operand.is_empty(),
        b't' => number(operand).and_then(|fd| i32::try_from(fd).ok()).is_some_and(|fd| is_terminal(call, fd)),
        b'o' => {
            options(ShellOptionKind::SetO).get(operand).is_some_and(|option| option.get(call.context.shell.options()))
        }
        b'v' => values::is_set(call, operand),
        b'R' => call
            .context
            .shell
            .env()
            .get_raw(operand)
            .is_some_and(|(_, variable)| variable.is_treated_as_nameref() && variable.value().is_set()),
        _ => file(call, letter, operand),
    }
}

/// Evaluates `left operator right`.
pub(crate) fn binary(call: &mut Call<'_>, left: &str, operator: &str, right: &str) -> Result<bool, Mistake> {
    Ok(match operator {
        "=" | "==" => left == right,
        "!=" => left != right,
        "<" => text::to_bytes(left) < text::to_bytes(right),
        ">" => text::to_bytes(left) > text::to_bytes(right),
        "-ef" => {
            let identity = |word| metadata(call, word).map(|metadata| (metadata.dev(), metadata.ino()));
            identity(left).is_some_and(|left| identity(right) == Some(left))
        }
        "-nt" => newer(call, left, right),
        "-ot" => newer(call, right, left),
        _ => {
            let order = integer(left)?.cmp(&integer(right)?);
            match operator {
                "-eq" => order == Ordering::Equal,
                "-ne" => order != Ordering::Equal,
                "-lt" => order == Ordering::Less,
                "-le" => order != Ordering::Greater,
                "-gt" => order == Ordering::Greater,
                _ => order != Ordering::Less,
            }
        }
    })
}

fn integer(word: &str) -> Result<i64, Mistake> {
    number(word).ok_or_else(|| format!("{word}: integer expression expected"))
}

fn is_terminal(call: &Call<'_>, fd: i32) -> bool {
    let Some(file) = call.context.try_fd(fd) else { return false };
    file.try_borrow_as_fd().is_ok_and(|fd| sys::is_terminal(fd.as_raw_fd()))
}

fn file(call: &Call<'_>, letter: u8, operand: &str) -> bool {
    if operand.is_empty() {
        return false;
    }
    let access = match letter {
        b'r' => Some(Access::Read),
        b'w' => Some(Access::Write),
        b'x' => Some(Access::Execute),
        _ => None,
    };
    let path = path(call, operand);
    if let Some(access) = access {
        return sys::may_access(&path, access);
    }
    if matches!(letter, b'h' | b'L') {
        return std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink());
    }
    std::fs::metadata(&path).is_ok_and(|metadata| fits(&metadata, letter))
}

fn fits(metadata: &Metadata, letter: u8) -> bool {
    let kind = metadata.file_type();
    match letter {
        b'f' => kind.is_file(),
        b'd' => kind.is_dir(),
        b's' => metadata.len() > 0,
        b'p' => kind.is_fifo(),
        b'S' => kind.is_socket(),
        b'b' => kind.is_block_device(),
        b'c' => kind.is_char_device(),
        b'u' => metadata.mode() & libc::S_ISUID != 0,
        b'g' => metadata.mode() & libc::S_ISGID != 0,
        b'k' => metadata.mode() & libc::S_ISVTX != 0,
        b'O' => metadata.uid() == sys::effective_ids().0,
        b'G' => metadata.gid() == sys::effective_ids().1,
        b'N' => modified(metadata) > (metadata.atime(), metadata.atime_nsec()),
        _ => true,
    }
}

fn modified(metadata: &Metadata) -> (i64, i64) {
    (metadata.mtime(), metadata.mtime_nsec())
}

fn newer(call: &Call<'_>, left: &str, right: &str) -> bool {
    match (metadata(call, left), metadata(call, right)) {
        (Some(left), Some(right)) => modified(&left) > modified(&right),
        (left, right) => left.is_some() && right.is_none(),
    }
}

fn metadata(call: &Call<'_>, word: &str) -> Option<Metadata> {
    std::fs::metadata(path(call, word)).ok()
}

/// Where a word leads; names of descriptors mean what commands would find there.
fn path<'w>(call: &Call<'_>, word: &'w str) -> Cow<'w, Path> {
    let fd = match word {
        "/dev/stdin" => Some(0),
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        _ => word.strip_prefix("/dev/fd/").and_then(|number| number.parse().ok()),
    };
    if let Some(fd) = fd {
        let number = call.context.try_fd(fd).and_then(|file| Some(file.try_borrow_as_fd().ok()?.as_raw_fd()));
        return Cow::Owned(number.map_or_else(PathBuf::new, |number| format!("/proc/self/fd/{number}").into()));
    }
    match text::to_bytes(word) {
        Cow::Borrowed(bytes) => Cow::Borrowed(Path::new(OsStr::from_bytes(bytes))),
        Cow::Owned(bytes) => Cow::Owned(std::ffi::OsString::from_vec(bytes).into()),
    }
}
