//! What a name would run: aliases, keywords, functions, builtins, programs, in bash's order.
//!
//! Serves `type` and `command -v`; nothing is run here.

use std::os::unix::fs::PermissionsExt as _;

use brush_core::bytes;

use super::call::Call;
use super::options::{Options, Refusal};
use super::{quoting, values};
use crate::interpreter::Shell;

/// Where programs are looked for by `command -p`.
const STANDARD_PATH: &str = "/bin:/usr/bin";

/// What is told of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// A sentence.
    Sentence,
    /// One word.
    Kind,
    /// What could be typed to run it.
    Reusable,
    /// The path of a program.
    Path,
}

/// What to look for, and how to tell it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup {
    pub(crate) telling: Telling,
    pub(crate) all: bool,
    pub(crate) no_functions: bool,
    pub(crate) only_programs: bool,
    pub(crate) standard_path: bool,
}

/// Runs `type`.
pub(crate) fn run(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    // The long names of former times.
    let words: Vec<String> = words
        .into_iter()
        .map(|word| match word.as_str() {
            "-type" | "--type" => "-t".to_owned(),
            "-path" | "--path" => "-p".to_owned(),
            "-all" | "--all" => "-a".to_owned(),
            _ => word,
        })
        .collect();
    let (lookup, used) = match Lookup::for_type(&words) {
        Ok(lookup) => lookup,
        Err(refusal) => return call.refuse(&refusal),
    };
    let mut status = 0;
    for name in &words[used..] {
        if !lookup.describe(call, name) {
            status = 1;
            if lookup.telling == Telling::Sentence {
                call.complain(&format!("{name}: not found"));
            }
        }
    }
    status
}

impl Lookup {
    /// As `command -v` and `-V` look.
    pub(crate) fn for_command(telling: Telling, standard_path: bool) -> Self {
        Self { telling, all: false, no_functions: false, only_programs: false, standard_path }
    }

    fn for_type(words: &[String]) -> Result<(Self, usize), Refusal> {
        let mut lookup = Self::for_command(Telling::Sentence, false);
        let mut options = Options::new("afptP", words);
        while let Some(found) = options.next()? {
            match found.letter {
                'a' => lookup.all = true,
                'f' => lookup.no_functions = true,
                'p' => lookup.telling = Telling::Path,
                't' => lookup.telling = Telling::Kind,
                _ => {
                    lookup.telling = Telling::Path;
                    lookup.only_programs = true;
                }
            }
        }
        Ok((lookup, options.used()))
    }

    /// Tells what a name would run; says whether it is anything.
    pub(crate) fn describe(self, call: &mut Call<'_>, name: &str) -> bool {
        let mut is_found = false;
        if !self.only_programs {
            for tell in [Self::alias, Self::keyword, Self::function, Self::builtin] {
                if tell(self, call, name) {
                    if !self.all {
                        return true;
                    }
                    is_found = true;
                }
            }
        }
        self.program(call, name) || is_found
    }

    fn alias(self, call: &mut Call<'_>, name: &str) -> bool {
        let shell = &*call.context.shell;
        if !shell.options().expand_aliases {
            return false;
        }
        let Some(value) = shell.aliases().get(name) else { return false };
        let sentence = format!("{name} is aliased to `{value}'");
        let reusable = format!("alias {name}={}", quoting::in_single_quotes(value));
        self.tell(call, "alias", &sentence, &reusable);
        true
    }

    fn keyword(self, call: &mut Call<'_>, name: &str) -> bool {
        let is_one = call.context.shell.is_keyword(name);
        if is_one {
            self.tell(call, "keyword", &format!("{name} is a shell keyword"), name);
        }
        is_one
    }

    fn function(self, call: &mut Call<'_>, name: &str) -> bool {
        if self.no_functions {
            return false;
        }
        let Some(function) = call.context.shell.funcs().get(name) else { return false };
        let sentence = if self.telling == Telling::Sentence {
            format!("{name} is a function\n{}", function.definition())
        } else {
            String::new()
        };
        self.tell(call, "function", &sentence, name);
        true
    }

    fn builtin(self, call: &mut Call<'_>, name: &str) -> bool {
        let shell = &*call.context.shell;
        let Some(builtin) = shell.builtins().get(name).filter(|builtin| !builtin.disabled) else { return false };
        let kind = if builtin.special_builtin && shell.options().posix_mode { "special shell" } else { "shell" };
        self.tell(call, "builtin", &format!("{name} is a {kind} builtin"), name);
        true
    }

    fn program(self, call: &mut Call<'_>, name: &str) -> bool {
        if name.contains('/') {
            let is_one = is_program(name);
            if is_one {
                self.tell_program(call, name, name);
            }
            return is_one;
        }
        if !self.all
            && let Some(path) = call.context.shell.program_location_cache().get(name)
        {
            let path = bytes::encode_os(path.as_os_str());
            self.tell(call, "file", &format!("{name} is hashed ({path})"), &path);
            if self.telling == Telling::Path {
                call.print(&format!("{path}\n"));
            }
            return true;
        }
        let paths = if self.standard_path {
            STANDARD_PATH.to_owned()
        } else {
            values::text(call.context.shell, "PATH").unwrap_or_default()
        };
        if !self.all {
            let Some(path) = find(&paths, name) else { return false };
            self.tell_program(call, name, &path);
            return true;
        }
        let found: Vec<String> = candidates(&paths, name).filter(|path| is_program(path)).collect();
        for path in &found {
            self.tell_program(call, name, path);
        }
        !found.is_empty()
    }

    fn tell_program(self, call: &mut Call<'_>, name: &str, path: &str) {
        self.tell(call, "file", &format!("{name} is {path}"), path);
        if self.telling == Telling::Path {
            call.print(&format!("{path}\n"));
        }
    }

    fn tell(self, call: &mut Call<'_>, kind: &str, sentence: &str, reusable: &str) {
        let line = match self.telling {
            Telling::Sentence => sentence,
            Telling::Kind => kind,
            Telling::Reusable => reusable,
            Telling::Path => return,
        };
        call.print(&format!("{line}\n"));
    }
}

/// The program that a name means: the first that can be run, else the first file that there is.
pub(crate) fn find(paths: &str, name: &str) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    let mut second_best = None;
    for path in candidates(paths, name) {
        let Ok(metadata) = std::fs::metadata(bytes::path(&path)) else { continue };
        if metadata.is_dir() {
            continue;
        }
        if is_program(&path) {
            return Some(path);
        }
        second_best.get_or_insert(path);
    }
    second_best
}

/// The first file of a name that can be read, along a search path.
pub(crate) fn files(paths: &str, name: &str) -> Option<String> {
    candidates(paths, name).find(|path| {
        let path = bytes::path(path);
        std::fs::metadata(&path).is_ok_and(|metadata| !metadata.is_dir())
            && super::sys::may_access(&path, super::sys::Access::Read)
    })
}

/// Where a shell looks for programs.
pub(crate) fn paths(shell: &Shell) -> String {
    values::text(shell, "PATH").unwrap_or_default()
}

fn candidates<'p>(paths: &'p str, name: &'p str) -> impl Iterator<Item = String> + 'p {
    let paths = if name.is_empty() { "" } else { paths };
    paths.split(':').filter(move |_| !name.is_empty()).map(move |folder| match folder {
        "" => format!("./{name}"),
        folder if folder.ends_with('/') => format!("{folder}{name}"),
        folder => format!("{folder}/{name}"),
    })
}

/// Whether a file can be run.
pub(crate) fn is_program(path: &str) -> bool {
    let path = bytes::path(path);
    std::fs::metadata(&path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
        && super::sys::may_access(&path, super::sys::Access::Execute)
}
