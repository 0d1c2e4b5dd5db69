//! Names and letters of the options that the two shells know.
//!
//! Tables only, in the order in which the shells list them. What an option does is the interpreter's business.

use crate::persona::Persona;

/// Asks for one change of an option, or for a list of them, at its place in the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOption {
    /// `-x`, `+x`, `-o NAME`, `+o NAME`, `--verbose`.
    Set {
        /// The option's full name (`errexit` for `-e`).
        name: &'static str,
        /// Turned on, rather than off.
        on: bool,
    },
    /// `-o` or `+o` as the last argument: the options of `set` are listed as they are at that point.
    ListSet(ListFormat),
    /// `-O` or `+O` as the last argument: the options of `shopt` are listed as they are before any `-O NAME` takes effect.
    ListShopt(ListFormat),
}

/// Says in which of the two forms options are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListFormat {
    /// `-o`, `-O`: a table of names and states.
    Table,
    /// `+o`, `+O`: commands that would bring the state back.
    Commands,
}

impl ListFormat {
    /// Returns the form that goes with the sign in front of the option letter.
    pub(super) fn from_sign(on: bool) -> Self {
        if on { Self::Table } else { Self::Commands }
    }
}

/// An option of `set`: its letter, where it has one, and its name.
type SetEntry = (Option<u8>, &'static str);

/// bash's options of `set`, in the order of `set -o`. Source: the table printed by bash 5.2.
const BASH_SET_OPTIONS: [SetEntry; 27] = [
    (Some(b'a'), "allexport"),
    (Some(b'B'), "braceexpand"),
    (None, "emacs"),
    (Some(b'e'), "errexit"),
    (Some(b'E'), "errtrace"),
    (Some(b'T'), "functrace"),
    (Some(b'h'), "hashall"),
    (Some(b'H'), "histexpand"),
    (None, "history"),
    (None, "ignoreeof"),
    (None, "interactive-comments"),
    (Some(b'k'), "keyword"),
    (Some(b'm'), "monitor"),
    (Some(b'C'), "noclobber"),
    (Some(b'n'), "noexec"),
    (Some(b'f'), "noglob"),
    (None, "nolog"),
    (Some(b'b'), "notify"),
    (Some(b'u'), "nounset"),
    (Some(b't'), "onecmd"),
    (Some(b'P'), "physical"),
    (None, "pipefail"),
    (None, "posix"),
    (Some(b'p'), "privileged"),
    (Some(b'v'), "verbose"),
    (None, "vi"),
    (Some(b'x'), "xtrace"),
];

/// dash's options of `set`, in the order of `set -o`. Source: the table printed by dash 0.5.12.
const DASH_SET_OPTIONS: [SetEntry; 18] = [
    (Some(b'e'), "errexit"),
    (Some(b'f'), "noglob"),
    (Some(b'I'), "ignoreeof"),
    (Some(b'i'), "interactive"),
    (Some(b'm'), "monitor"),
    (Some(b'n'), "noexec"),
    (Some(b's'), "stdin"),
    (Some(b'x'), "xtrace"),
    (Some(b'v'), "verbose"),
    (Some(b'V'), "vi"),
    (Some(b'E'), "emacs"),
    (Some(b'C'), "noclobber"),
    (Some(b'a'), "allexport"),
    (Some(b'b'), "notify"),
    (Some(b'u'), "nounset"),
    (Some(b'p'), "privileged"),
    (None, "nolog"),
    (None, "debug"),
];

/// bash's options of `shopt`, in the order of `shopt`. Source: the table printed by bash 5.2 as built by Debian.
pub const SHOPT_NAMES: [&str; 57] = [
    "autocd",
    "assoc_expand_once",
    "cdable_vars",
    "cdspell",
    "checkhash",
    "checkjobs",
    "checkwinsize",
    "cmdhist",
    "compat31",
    "compat32",
    "compat40",
    "compat41",
    "compat42",
    "compat43",
    "compat44",
    "complete_fullquote",
    "direxpand",
    "dirspell",
    "dotglob",
    "execfail",
    "expand_aliases",
    "extdebug",
    "extglob",
    "extquote",
    "failglob",
    "force_fignore",
    "globasciiranges",
    "globskipdots",
    "globstar",
    "gnu_errfmt",
    "histappend",
    "histreedit",
    "histverify",
    "hostcomplete",
    "huponexit",
    "inherit_errexit",
    "interactive_comments",
    "lastpipe",
    "lithist",
    "localvar_inherit",
    "localvar_unset",
    "login_shell",
    "mailwarn",
    "no_empty_cmd_completion",
    "nocaseglob",
    "nocasematch",
    "noexpand_translation",
    "nullglob",
    "patsub_replacement",
    "progcomp",
    "progcomp_alias",
    "promptvars",
    "restricted_shell",
    "shift_verbose",
    "sourcepath",
    "varredir_close",
    "xpg_echo",
];

/// Returns the table of a persona.
fn table(persona: Persona) -> &'static [SetEntry] {
    match persona {
        Persona::Sh => &DASH_SET_OPTIONS,
        Persona::Bash | Persona::RestrictedBash => &BASH_SET_OPTIONS,
    }
}

/// Returns the names of a persona's options of `set`, in the order in which `set -o` lists them.
pub fn set_option_names(persona: Persona) -> impl Iterator<Item = &'static str> {
    table(persona).iter().map(|(_, name)| *name)
}

/// Returns the letter of an option of `set`, where it has one; it is also the letter in `$-`.
pub fn set_option_letter(persona: Persona, name: &str) -> Option<char> {
    let (letter, _) = table(persona).iter().find(|(_, known)| *known == name)?;
    letter.map(char::from)
}

/// Returns the full name of the option of `set` with a letter.
pub fn set_option_name(persona: Persona, letter: char) -> Option<&'static str> {
    u8::try_from(letter).ok().and_then(|letter| name_of_letter(persona, letter))
}

/// Returns the full name of an option letter.
pub(super) fn name_of_letter(persona: Persona, letter: u8) -> Option<&'static str> {
    table(persona).iter().find(|(known, _)| *known == Some(letter)).map(|(_, name)| *name)
}

/// Returns the table's copy of an option name that was typed after `-o`.
pub(super) fn known_name(persona: Persona, typed: &[u8]) -> Option<&'static str> {
    set_option_names(persona).find(|name| name.as_bytes() == typed)
}

/// Returns the table's copy of an option name that was typed after `-O`.
pub(super) fn known_shopt(typed: &[u8]) -> Option<&'static str> {
    SHOPT_NAMES.into_iter().find(|name| name.as_bytes() == typed)
}
