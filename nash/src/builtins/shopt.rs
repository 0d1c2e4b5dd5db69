//! `shopt`: shows and switches the shell's options, its own and with `-o` those of `set`.
//!
//! What the options do is the interpreter's.

use super::call::Call;
use super::named_options::Family;
use super::options::{Options, Refusal};

/// What `shopt` was asked for.
struct Request {
    family: Family,
    as_commands: bool,
    quiet: bool,
    turns_on: bool,
    turns_off: bool,
    names: Vec<String>,
}

/// Runs the builtin.
pub(crate) fn shopt(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let request = match Request::read(&words) {
        Ok(request) => request,
        Err(refusal) => return call.refuse(&refusal),
    };
    if request.turns_on && request.turns_off {
        call.complain("cannot set and unset shell options simultaneously");
        return 1;
    }
    if request.names.is_empty() {
        list_all(call, &request);
        0
    } else if request.turns_on || request.turns_off {
        switch(call, &request)
    } else {
        show(call, &request)
    }
}

impl Request {
    fn read(words: &[String]) -> Result<Self, Refusal> {
        let mut request = Self {
            family: Family::Shopt,
            as_commands: false,
            quiet: false,
            turns_on: false,
            turns_off: false,
            names: Vec::new(),
        };
        let mut options = Options::new("psuoq", words);
        while let Some(found) = options.next()? {
            match found.letter {
                'p' => request.as_commands = true,
                's' => request.turns_on = true,
                'u' => request.turns_off = true,
                'o' => request.family = Family::Set,
                _ => request.quiet = true,
            }
        }
        request.names = words[options.used()..].to_vec();
        Ok(request)
    }
}

/// Lists the options, or with `-s` and `-u` those that are on or off.
fn list_all(call: &mut Call<'_>, request: &Request) {
    for name in request.family.names(call.context.shell) {
        let on = request.family.is_on(call.context.shell, name);
        let is_wanted = if on { !request.turns_off } else { !request.turns_on };
        if is_wanted && !request.quiet {
            call.print(&request.family.line(name, on, request.as_commands));
        }
    }
}

/// Shows those that are named; fails where one is off.
fn show(call: &mut Call<'_>, request: &Request) -> u8 {
    let mut status = 0;
    for name in &request.names {
        if !request.family.knows(call.context.shell, name) {
            complain_of(call, request.family, name);
            status = 1;
            continue;
        }
        let on = request.family.is_on(call.context.shell, name);
        status = if on { status } else { 1 };
        if !request.quiet {
            call.print(&request.family.line(name, on, request.as_commands));
        }
    }
    status
}

fn switch(call: &mut Call<'_>, request: &Request) -> u8 {
    let mut status = 0;
    for name in &request.names {
        if request.family.knows(call.context.shell, name) {
            request.family.switch(call.context.shell, name, request.turns_on);
        } else {
            complain_of(call, request.family, name);
            // An unknown option of `set` is told, but does not count.
            status = if request.family == Family::Shopt { 1 } else { status };
        }
    }
    status
}

fn complain_of(call: &mut Call<'_>, family: Family, name: &str) {
    let what = if family == Family::Set { "invalid option name" } else { "invalid shell option name" };
    call.complain(&format!("{name}: {what}"));
}
