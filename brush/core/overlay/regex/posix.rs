//! The system's regular expressions.
//!
//! The only place that calls them. What an expression means is the system's; text with NUL has no match.
//! Part of what replaces upstream's regular expressions.
#![warn(warnings, clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks)]

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// A compiled expression.
pub(super) struct Compiled {
    expression: Box<libc::regex_t>,
    multibyte: bool,
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiled").finish_non_exhaustive()
    }
}

impl Compiled {
    /// Compiles an expression; none if it isn't one.
    pub fn new(text: &[u8], case_insensitive: bool, multibyte: bool) -> Option<Self> {
        let text = CString::new(text).ok()?;
        let flags = libc::REG_EXTENDED | if case_insensitive { libc::REG_ICASE } else { 0 };
        let mut expression = Box::new(MaybeUninit::<libc::regex_t>::zeroed());
        // SAFETY: the memory is large enough for an expression, and the text ends with NUL; on success it is initialized.
        let failure = in_locale(multibyte, || unsafe { libc::regcomp(expression.as_mut_ptr(), text.as_ptr(), flags) });
        if failure != 0 {
            return None;
        }
        // SAFETY: `regcomp` has succeeded.
        let expression = unsafe { expression.assume_init() };
        Some(Self { expression, multibyte })
    }

    /// Where the expression and its groups match.
    pub fn find(&self, value: &[u8]) -> Option<Vec<Option<(usize, usize)>>> {
        let text = CString::new(value).ok()?;
        let mut places = vec![libc::regmatch_t { rm_so: -1, rm_eo: -1 }; self.groups() + 1];
        // SAFETY: the expression is compiled, the text ends with NUL, and as many places are given as there are.
        let failure = in_locale(self.multibyte, || unsafe {
            libc::regexec(&raw const *self.expression, text.as_ptr(), places.len(), places.as_mut_ptr(), 0)
        });
        if failure != 0 {
            return None;
        }
        let place =
            |place: &libc::regmatch_t| Some((usize::try_from(place.rm_so).ok()?, usize::try_from(place.rm_eo).ok()?));
        Some(places.iter().map(place).collect())
    }

    /// How many groups the expression has: the field `re_nsub`, which `libc` keeps to itself.
    fn groups(&self) -> usize {
        let start: *const libc::regex_t = &raw const *self.expression;
        // SAFETY: `regex_t` of glibc and musl holds `re_nsub`, a `size_t`, at this place, and `regcomp` has filled it in.
        unsafe { start.cast::<u8>().add(GROUP_COUNT_OFFSET).cast::<usize>().read_unaligned() }
    }
}

/// Where `re_nsub` stands in a `regex_t`: glibc has a pointer, two lengths, a word of syntax bits and two pointers before it.
#[cfg(target_env = "musl")]
const GROUP_COUNT_OFFSET: usize = 0;
#[cfg(not(target_env = "musl"))]
const GROUP_COUNT_OFFSET: usize = 6 * size_of::<usize>();

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: the expression was compiled and is freed once.
        unsafe { libc::regfree(&raw mut *self.expression) };
    }
}

/// Runs `f` where characters may have several bytes, or don't.
fn in_locale<T>(multibyte: bool, f: impl FnOnce() -> T) -> T {
    static UTF8: OnceLock<usize> = OnceLock::new();
    if !multibyte {
        return f();
    }
    let locale = *UTF8.get_or_init(|| {
        // SAFETY: the name ends with NUL and no base is given; the handle is kept for good.
        unsafe { libc::newlocale(libc::LC_CTYPE_MASK, c"C.UTF-8".as_ptr(), std::ptr::null_mut()) as usize }
    });
    if locale == 0 {
        return f();
    }
    // SAFETY: the handle came from `newlocale`, and what was in use before is in use again afterwards.
    let before = unsafe { libc::uselocale(locale as libc::locale_t) };
    let result = f();
    // SAFETY: as above.
    unsafe { libc::uselocale(before) };
    result
}
