//! What the gate is told of redirections.
//!
//! While the interpreter sets one up it notes here what its words came to. A file is told before it is opened, and again if
//! that fails; everything else is told once, when it has worked or not. This module sets nothing up itself. Upstream has no
//! such file.

use std::path::{Path, PathBuf};

use brush_parser::ast;

use crate::extensions::ShellExtensions;
use crate::gate::{Gate as _, RedirectEvent, RedirectTarget};
use crate::interp::ExecutionParameters;
use crate::{Shell, ShellFd, error};

/// What a redirection's words came to, as far as it was set up.
#[derive(Default)]
pub(crate) enum Seen {
    /// Nobody observes, or it failed before its words were known.
    #[default]
    Nothing,
    /// A file.
    Path(PathBuf),
    /// The text of a here-document or here-string.
    Text(String),
    /// The word of `>&` or `<&`.
    Duplicate(String),
}

impl Seen {
    /// Notes the file that a redirection names, and tells the gate: it is about to be opened.
    pub(crate) fn path<SE: ShellExtensions>(
        &mut self,
        shell: &Shell<SE>,
        params: &ExecutionParameters,
        redirect: &ast::IoRedirect,
        path: impl AsRef<Path>,
    ) {
        if shell.gate().is_active() {
            *self = Self::Path(shell.absolute_path(path));
            self.tell(shell, params, redirect, None);
        }
    }

    /// Notes the text that a redirection delivers.
    pub(crate) fn text<SE: ShellExtensions>(&mut self, shell: &Shell<SE>, text: &str) {
        if shell.gate().is_active() {
            *self = Self::Text(text.to_owned());
        }
    }

    /// Notes the word after `>&` or `<&`.
    pub(crate) fn duplicate<SE: ShellExtensions>(&mut self, shell: &Shell<SE>, word: &str) {
        if shell.gate().is_active() {
            *self = Self::Duplicate(word.to_owned());
        }
    }

    /// Tells the gate how it went, unless it was told all there is.
    pub(crate) fn report<SE: ShellExtensions>(
        &self,
        shell: &Shell<SE>,
        params: &ExecutionParameters,
        redirect: &ast::IoRedirect,
        failure: Option<&error::Error>,
    ) {
        if failure.is_some() || !matches!(self, Self::Path(_)) {
            self.tell(shell, params, redirect, failure);
        }
    }

    fn tell<SE: ShellExtensions>(
        &self,
        shell: &Shell<SE>,
        params: &ExecutionParameters,
        redirect: &ast::IoRedirect,
        failure: Option<&error::Error>,
    ) {
        let (fd, base) = operator(redirect);
        let target = match self {
            Self::Path(path) => RedirectTarget::Path(path),
            Self::Text(text) => RedirectTarget::Text(text),
            Self::Duplicate(word) => match word.trim_end_matches('-').parse::<ShellFd>() {
                Ok(source) => RedirectTarget::Fd(source),
                Err(_) if word == "-" => RedirectTarget::Close,
                Err(_) => RedirectTarget::Path(Path::new(word)),
            },
            Self::Nothing => match redirect {
                ast::IoRedirect::File(_, _, ast::IoFileRedirectTarget::Fd(source)) => RedirectTarget::Fd(*source),
                ast::IoRedirect::File(_, _, ast::IoFileRedirectTarget::ProcessSubstitution(..)) => {
                    RedirectTarget::ProcessSubstitution(shell.place().substitution)
                }
                _ => RedirectTarget::Path(Path::new("")),
            },
        };
        let number = fd.map(|fd| fd.to_string()).unwrap_or_default();
        let closing = if matches!(target, RedirectTarget::Close) { "-" } else { "" };
        let place = shell.place();
        let error = failure.map(ToString::to_string);
        shell.gate().on_redirect(&RedirectEvent {
            command: if params.compound_redirects { place.parent } else { place.command },
            parent: params.compound_parent.unwrap_or_default(),
            compound: params.compound_redirects,
            operator: &std::format!("{number}{base}{closing}"),
            fd: fd.unwrap_or_else(|| default_fd(base)),
            target,
            error: error.as_deref(),
            place,
        });
    }
}

/// The numbers that a redirection sets.
pub(crate) fn numbers(redirect: &ast::IoRedirect) -> [Option<ShellFd>; 2] {
    match operator(redirect) {
        (None, "&>" | "&>>") => [Some(1), Some(2)],
        (fd, operator) => [Some(fd.unwrap_or_else(|| default_fd(operator))), None],
    }
}

/// A redirection's descriptor, if one was written, and its operator.
fn operator(redirect: &ast::IoRedirect) -> (Option<ShellFd>, &'static str) {
    match redirect {
        ast::IoRedirect::Named(_, redirect) => operator(redirect),
        ast::IoRedirect::OutputAndError(_, false) => (None, "&>"),
        ast::IoRedirect::OutputAndError(_, true) => (None, "&>>"),
        ast::IoRedirect::HereDocument(fd, here) => (*fd, if here.remove_tabs { "<<-" } else { "<<" }),
        ast::IoRedirect::HereString(fd, _) => (*fd, "<<<"),
        ast::IoRedirect::File(fd, kind, _) => (
            *fd,
            match kind {
                ast::IoFileRedirectKind::Read => "<",
                ast::IoFileRedirectKind::Write => ">",
                ast::IoFileRedirectKind::Append => ">>",
                ast::IoFileRedirectKind::ReadAndWrite => "<>",
                ast::IoFileRedirectKind::Clobber => ">|",
                ast::IoFileRedirectKind::DuplicateInput => "<&",
                ast::IoFileRedirectKind::DuplicateOutput => ">&",
            },
        ),
    }
}

/// The descriptor that an operator means when none is written.
fn default_fd(operator: &str) -> ShellFd {
    ShellFd::from(!operator.starts_with('<'))
}
