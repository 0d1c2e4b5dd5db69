//! What the locale variables say about text: whether characters have several bytes, and how names are ordered.
//!
//! Upstream has no such file: it takes every locale for UTF-8 and orders by code point. Asked for only where a string isn't
//! ASCII or names are sorted, so the variables are read at that time and nothing is kept in step with them. Messages are
//! not translated here, or anywhere.
#![warn(warnings, clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks)]

use std::cmp::Ordering;
use std::ffi::CString;
use std::sync::Mutex;

use crate::bytes;
use crate::extensions::ShellExtensions;
use crate::shell::Shell;

/// The locale that was last asked about, opened; asking again is then free.
static LAST: Mutex<Option<(String, usize)>> = Mutex::new(None);

/// Whether characters may have several bytes.
pub fn multibyte(shell: &Shell<impl ShellExtensions>) -> bool {
    with_name(shell, "LC_CTYPE", |name| {
        let codeset = name.split_once('.').map_or("", |(_, codeset)| codeset);
        let codeset = codeset.split('@').next().unwrap_or_default();
        (codeset.eq_ignore_ascii_case("utf-8") || codeset.eq_ignore_ascii_case("utf8"))
            && (name.starts_with("C.") || opened(name).is_some())
    })
}

/// Sorts as the locale orders text.
pub fn sort(shell: &Shell<impl ShellExtensions>, names: &mut [String]) {
    let locale = with_name(shell, "LC_COLLATE", collating);
    match locale {
        None => names.sort_unstable_by(|a, b| bytes::decode(a).cmp(&bytes::decode(b))),
        Some(locale) => names.sort_by(|a, b| collate(locale, a, b)),
    }
}

/// How the locale orders two strings.
pub fn compare(shell: &Shell<impl ShellExtensions>, a: &str, b: &str) -> Ordering {
    match with_name(shell, "LC_COLLATE", collating) {
        None => bytes::decode(a).cmp(&bytes::decode(b)),
        Some(locale) => collate(locale, a, b),
    }
}

/// Gives `f` the locale's name for a category.
fn with_name<T>(shell: &Shell<impl ShellExtensions>, category: &str, f: impl FnOnce(&str) -> T) -> T {
    for variable in ["LC_ALL", category, "LANG"] {
        if let Some(value) = shell.env_str(variable)
            && !value.is_empty()
        {
            return f(&value);
        }
    }
    f("C")
}

/// The opened locale, where its order isn't that of the bytes.
fn collating(name: &str) -> Option<usize> {
    if matches!(name, "C" | "POSIX") || name.starts_with("C.") { None } else { opened(name) }
}

/// The system's handle of a locale, `None` if there is no such locale.
fn opened(name: &str) -> Option<usize> {
    let mut last = LAST.lock().ok()?;
    if let Some((known, handle)) = &*last
        && known == name
    {
        return (*handle != 0).then_some(*handle);
    }
    let c_name = CString::new(name).ok()?;
    // SAFETY: the name is a string that ends with NUL, and no base is given; the handle is never freed, since scripts name few.
    let handle = unsafe { libc::newlocale(libc::LC_ALL_MASK, c_name.as_ptr(), std::ptr::null_mut()) } as usize;
    *last = Some((name.to_owned(), handle));
    (handle != 0).then_some(handle)
}

/// Compares by the locale's rules, and by bytes what those hold for equal.
fn collate(locale: usize, a: &str, b: &str) -> Ordering {
    unsafe extern "C" {
        fn strcoll_l(a: *const libc::c_char, b: *const libc::c_char, locale: libc::locale_t) -> libc::c_int;
    }
    let (Ok(left), Ok(right)) = (CString::new(&*bytes::decode(a)), CString::new(&*bytes::decode(b))) else {
        return a.cmp(b);
    };
    // SAFETY: both strings end with NUL, and the handle came from `newlocale`.
    let order = unsafe { strcoll_l(left.as_ptr(), right.as_ptr(), locale as libc::locale_t) };
    order.cmp(&0).then_with(|| a.cmp(b))
}
