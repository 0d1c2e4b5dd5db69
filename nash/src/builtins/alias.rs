//! `alias` and `unalias`: define, show and remove aliases.
//!
//! Where aliases are replaced is the interpreter's business.

use super::call::Call;
use super::listing_quotes;
use super::options::Options;

/// Runs `alias`.
pub(crate) fn alias(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut options = Options::new("p", &words);
    let mut wants_all = false;
    loop {
        match options.next() {
            Ok(Some(_)) => wants_all = true,
            Ok(None) => break,
            Err(refusal) => return call.refuse(&refusal),
        }
    }
    let words = &words[options.used()..];
    // `-p` also brings the commands back in POSIX mode.
    let with_command = wants_all || !call.context.shell.options().posix_mode;
    if words.is_empty() || wants_all {
        let aliases = call.context.shell.aliases();
        let text: String = aliases.iter().map(|(name, value)| line(name, value, with_command)).collect();
        call.print(&text);
    }
    let failed = words.iter().filter(|word| !define_or_show(call, word, with_command)).count();
    u8::from(failed > 0)
}

/// Runs `unalias`.
pub(crate) fn unalias(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut options = Options::new("a", &words);
    match options.next() {
        Ok(Some(_)) => {
            call.context.shell.aliases_mut().clear();
            return 0;
        }
        Ok(None) => {}
        Err(refusal) => return call.refuse(&refusal),
    }
    let words = &words[options.used()..];
    if words.is_empty() {
        return call.usage();
    }
    let mut status = 0;
    for word in words {
        if call.context.shell.aliases_mut().remove(word).is_none() {
            call.complain(&format!("{word}: not found"));
            status = 1;
        }
    }
    status
}

/// Defines the alias that a word gives a value, or shows the one that it names; tells whether that could be done.
fn define_or_show(call: &mut Call<'_>, word: &str, with_command: bool) -> bool {
    if let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) {
        if !is_name(name) {
            call.complain(&format!("`{name}': invalid alias name"));
            return false;
        }
        call.context.shell.aliases_mut().insert(name.to_owned(), value.to_owned());
        return true;
    }
    if let Some(value) = call.context.shell.aliases().get(word) {
        let line = line(word, value, with_command);
        call.print(&line);
        return true;
    }
    call.complain(&format!("{word}: not found"));
    false
}

/// Whether an alias can be called so: nothing that ends a word, quotes or expands.
fn is_name(name: &str) -> bool {
    !name.contains([' ', '\t', '\n', '|', '&', ';', '(', ')', '<', '>', '\'', '"', '\\', '`', '$', '/'])
}

/// One alias as it is listed.
fn line(name: &str, value: &str, with_command: bool) -> String {
    let command = match (with_command, name.starts_with('-')) {
        (false, _) => "",
        (true, false) => "alias ",
        // A name that looks like an option has to come back as a name.
        (true, true) => "alias -- ",
    };
    format!("{command}{name}={}\n", listing_quotes::single(value))
}
