//! Whether what runs in the background reads the shell's input: where a compound around it was given one, or a pipe leads to it.
//!
//! Upstream has no such file; it leaves background lists their input. The rules are bash's, in which what a compound was given
//! counts for what follows it as well. Descriptors are set up elsewhere.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::cell::Cell;

use brush_parser::ast::{Command, CompoundCommand, IoFileRedirectKind as Kind, IoRedirect, RedirectList};

thread_local! {
    /// Whether the last compound with redirections was given input. A fork begins with its parent's.
    static GIVEN: Cell<bool> = const { Cell::new(false) };
    /// Whether this process is a compound in a pipeline whose own redirections are still to come: they don't count.
    static IS_NEW_ELEMENT: Cell<bool> = const { Cell::new(false) };
}

/// Whether a background list keeps the input that there is; in dash it never does.
pub(crate) fn is_given(sh_mode: bool) -> bool {
    GIVEN.get() && !sh_mode
}

/// Notes the redirections of a compound command that runs here.
pub(crate) fn note(redirects: Option<&RedirectList>) {
    if IS_NEW_ELEMENT.take() {
        return;
    }
    if let Some(redirects) = redirects.filter(|redirects| !redirects.0.is_empty()) {
        GIVEN.set(has_input(redirects));
    }
}

/// Begins a shell that is an element of a pipeline.
pub(crate) fn enter_element(command: &Command, is_piped: bool) {
    if let Command::Compound(CompoundCommand::Subshell(_), redirects) = command {
        GIVEN.set(redirects.as_ref().is_some_and(has_input));
    }
    if is_piped {
        GIVEN.set(true);
    }
    IS_NEW_ELEMENT.set(matches!(command, Command::Compound(..)));
}

/// Begins a shell that reads from a pipe.
pub(crate) fn enter_piped() {
    GIVEN.set(true);
}

/// What counted before a subshell, and counts again after it.
pub(crate) struct Outer(Option<bool>);

impl Outer {
    /// Keeps it; in a subshell only its own redirections count.
    pub(crate) fn before(compound: &CompoundCommand, redirects: Option<&RedirectList>) -> Self {
        if !matches!(compound, CompoundCommand::Subshell(_)) {
            return Self(None);
        }
        Self(Some(GIVEN.replace(redirects.is_some_and(has_input))))
    }
}

impl Drop for Outer {
    fn drop(&mut self) {
        if let Some(given) = self.0 {
            GIVEN.set(given);
        }
    }
}

fn has_input(redirects: &RedirectList) -> bool {
    redirects.0.iter().any(gives_input)
}

fn gives_input(redirect: &IoRedirect) -> bool {
    match redirect {
        IoRedirect::File(_, Kind::Read | Kind::ReadAndWrite, _)
        | IoRedirect::HereDocument(..)
        | IoRedirect::HereString(..) => true,
        IoRedirect::File(fd, Kind::DuplicateInput, _) => fd.unwrap_or(0) == 0,
        IoRedirect::Named(_, redirect) => gives_input(redirect),
        IoRedirect::File(..) | IoRedirect::OutputAndError(..) => false,
    }
}
