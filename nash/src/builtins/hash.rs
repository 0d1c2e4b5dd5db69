//! `hash`: where programs were found.
//!
//! The table is the interpreter's; it is shown and changed here.

use std::path::PathBuf;

use brush_core::bytes;

use super::call::Call;
use super::lookup;
use super::options::{Options, Refusal};

/// What `hash` was asked for.
#[derive(Default)]
struct Request {
    forgets: bool,
    reusable: bool,
    path: Option<String>,
    forgets_all: bool,
    tells: bool,
    names: Vec<String>,
}

/// Runs the builtin.
pub(crate) fn run(call: &mut Call<'_>) -> u8 {
    if !call.context.shell.options().remember_command_locations {
        call.complain("hashing disabled");
        return 1;
    }
    let words = std::mem::take(&mut call.words);
    let request = match Request::parse(&words) {
        Ok(request) => request,
        Err(refusal) => return call.refuse(&refusal),
    };
    if request.names.is_empty() && (request.tells || request.forgets) {
        let letter = if request.tells { 't' } else { 'd' };
        call.complain(&format!("-{letter}: option requires an argument"));
        return 1;
    }
    if request.names.is_empty() && !request.forgets_all {
        list(call, request.reusable);
        return 0;
    }
    if request.forgets_all {
        call.context.shell.program_location_cache_mut().reset();
    }
    let mut status = 0;
    for name in &request.names {
        if !request.tells && name.contains('/') {
            continue;
        }
        if !request.one(call, name) {
            status = 1;
        }
    }
    status
}

impl Request {
    fn parse(words: &[String]) -> Result<Self, Refusal> {
        let mut request = Self::default();
        let mut options = Options::new("dlp:rt", words);
        while let Some(found) = options.next()? {
            match found.letter {
                'd' => request.forgets = true,
                'l' => request.reusable = true,
                'p' => request.path = Some(found.argument.to_owned()),
                'r' => request.forgets_all = true,
                _ => request.tells = true,
            }
        }
        request.names = words[options.used()..].to_vec();
        Ok(request)
    }

    /// Does to one name what was asked for; says whether that went well.
    fn one(&self, call: &mut Call<'_>, name: &str) -> bool {
        if self.tells {
            let Some(path) = call.context.shell.program_location_cache().get(name) else {
                return not_found(call, name);
            };
            let path = bytes::encode_os(path.as_os_str());
            let line = match (self.reusable, self.names.len() > 1) {
                (true, _) => format!("builtin hash -p {path} {name}\n"),
                (false, true) => format!("{name}\t{path}\n"),
                (false, false) => format!("{path}\n"),
            };
            call.print(&line);
            return true;
        }
        if let Some(path) = &self.path {
            if bytes::path(path).is_dir() {
                call.complain(&format!("{path}: Is a directory"));
                return false;
            }
            return remember(call, name, path);
        }
        if self.forgets {
            return call.context.shell.program_location_cache_mut().unset(name) || not_found(call, name);
        }
        let shell = &*call.context.shell;
        if shell.funcs().get(name).is_some() || shell.builtins().get(name).is_some_and(|builtin| !builtin.disabled) {
            return true;
        }
        call.context.shell.program_location_cache_mut().unset(name);
        match lookup::find(&lookup::paths(call.context.shell), name).filter(|path| lookup::is_program(path)) {
            Some(path) => remember(call, name, &path),
            None => not_found(call, name),
        }
    }
}

fn remember(call: &mut Call<'_>, name: &str, path: &str) -> bool {
    let path = PathBuf::from(bytes::os(path).into_owned());
    let search_path = call.context.shell.env_str("PATH").unwrap_or_default().into_owned();
    let cache = call.context.shell.program_location_cache_mut();
    cache.follow(&search_path);
    cache.remember(name, path);
    true
}

fn not_found(call: &mut Call<'_>, name: &str) -> bool {
    call.complain(&format!("{name}: not found"));
    false
}

fn list(call: &mut Call<'_>, reusable: bool) {
    let entries = call.context.shell.program_location_cache().entries();
    let told = |(name, path, hits): (&str, &PathBuf, u32)| {
        let path = bytes::encode_os(path.as_os_str());
        if reusable { format!("builtin hash -p {path} {name}\n") } else { format!("{hits:4}\t{path}\n") }
    };
    let mut lines: Vec<String> = entries.map(told).collect();
    if lines.is_empty() && !call.context.shell.options().posix_mode {
        lines.push(format!("{}: hash table empty\n", call.name()));
    } else if !reusable && !lines.is_empty() {
        lines.insert(0, "hits\tcommand\n".to_owned());
    }
    call.print(&lines.concat());
}
