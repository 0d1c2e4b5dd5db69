//! `enable`: turns builtins on and off, and lists them.
//!
//! Builtins from libraries are not loaded.

use super::call::Call;
use super::options::Options;

/// Runs the builtin.
pub(crate) fn run(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut options = Options::new("adnpsf:", &words);
    let (mut all, mut off, mut special, mut unloads, mut library) = (false, false, false, false, None);
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                'a' => all = true,
                'd' => unloads = true,
                'n' => off = true,
                's' => special = true,
                'f' => library = Some(found.argument),
                _ => {}
            },
            Err(refusal) => return call.refuse(&refusal),
        }
    }
    let names = &words[options.used()..];
    if names.is_empty() {
        if library.is_some() {
            return call.usage();
        }
        list(call, |is_off, is_special| (all || is_off == off) && (!special || is_special));
        return 0;
    }
    if let Some(library) = library {
        let reason = "cannot open shared object file: No such file or directory";
        call.complain(&format!("cannot open shared object {library}: {library}: {reason}"));
        return 1;
    }
    let mut status = 0;
    for name in names {
        match call.context.shell.builtin_mut(name) {
            Some(_) if unloads => {
                call.complain(&format!("{name}: not dynamically loaded"));
                status = 1;
            }
            Some(builtin) => builtin.disabled = off,
            None => {
                call.complain(&format!("{name}: not a shell builtin"));
                status = 1;
            }
        }
    }
    status
}

fn list(call: &mut Call<'_>, is_wanted: impl Fn(bool, bool) -> bool) {
    let builtins = call.context.shell.builtins().iter();
    let mut lines: Vec<(String, bool)> = builtins
        .filter(|(_, builtin)| is_wanted(builtin.disabled, builtin.special_builtin))
        .map(|(name, builtin)| (name.clone(), builtin.disabled))
        .collect();
    lines.sort();
    for (name, is_off) in lines {
        call.print(&format!("enable {}{name}\n", if is_off { "-n " } else { "" }));
    }
}
