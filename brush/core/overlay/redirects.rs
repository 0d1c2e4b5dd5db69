//! What the gate is told of redirections.
//!
//! While the interpreter sets one up it notes here what its words came to. A file is told before it is opened, and again if
//! that fails; everything else is told once, when it has worked or not. This module sets nothing up itself. Upstream has no
//! such file.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use brush_parser::ast;

use crate::extensions::ShellExtensions;
use crate::gate::{Gate as _, RedirectEvent, RedirectTarget};
use crate::interp::ExecutionParameters;
use crate::openfiles::OpenFileEntry;
use crate::{ErrorKind, Shell, ShellFd, error};

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
            return;
        }
        let number = numbers(redirect)[0].unwrap_or_default();
        let opened = params.open_files().fd_entry(number);
        if let OpenFileEntry::Open(file) = opened
            && let Ok(file) = file.try_borrow_as_fd()
        {
            self.describe(shell, params, redirect, None, |event| shell.gate().on_opened(event, file));
        }
    }

    fn tell<SE: ShellExtensions>(
        &self,
        shell: &Shell<SE>,
        params: &ExecutionParameters,
        redirect: &ast::IoRedirect,
        failure: Option<&error::Error>,
    ) {
        self.describe(shell, params, redirect, failure, |event| shell.gate().on_redirect(event));
    }

    fn describe<SE: ShellExtensions>(
        &self,
        shell: &Shell<SE>,
        params: &ExecutionParameters,
        redirect: &ast::IoRedirect,
        failure: Option<&error::Error>,
        give: impl FnOnce(&RedirectEvent<'_>),
    ) {
        let (fd, base) = operator(redirect);
        // What the source of a duplication is, in this process.
        let at = |source| params.try_fd(shell, source)?.try_borrow_as_fd().ok().map(|fd| fd.as_raw_fd());
        let target = match self {
            Self::Path(path) => RedirectTarget::Path(path),
            Self::Text(text) => RedirectTarget::Text(text),
            Self::Duplicate(word) => match word.trim_end_matches('-').parse::<ShellFd>() {
                Ok(source) => RedirectTarget::Fd(source, at(source)),
                Err(_) if word == "-" => RedirectTarget::Close,
                Err(_) => RedirectTarget::Path(Path::new(word)),
            },
            Self::Nothing => match redirect {
                ast::IoRedirect::File(_, _, ast::IoFileRedirectTarget::Fd(source)) => {
                    RedirectTarget::Fd(*source, at(*source))
                }
                ast::IoRedirect::File(_, _, ast::IoFileRedirectTarget::ProcessSubstitution(..)) => {
                    RedirectTarget::ProcessSubstitution(shell.place().substitution)
                }
                _ => RedirectTarget::Path(Path::new("")),
            },
        };
        let number = fd.filter(|fd| *fd >= 0).map(|fd| fd.to_string()).unwrap_or_default();
        let closing = if matches!(target, RedirectTarget::Close) { "-" } else { "" };
        let place = shell.place();
        let error = failure.map(|error| match error.kind() {
            ErrorKind::RedirectionFailure(_, reason) => reason.clone(),
            _ => error.to_string(),
        });
        give(&RedirectEvent {
            command: if params.compound_redirects { place.parent } else { place.command },
            parent: params.compound_parent.unwrap_or_default(),
            compound: params.compound_redirects.then_some(params.compound_construct),
            operator: &std::format!("{number}{base}{closing}"),
            fd: fd.unwrap_or_else(|| default_fd(base)),
            target,
            error: error.as_deref(),
            place,
        });
    }
}

/// What a command is called by the words around it.
pub(crate) fn construct(command: &ast::Command) -> &'static str {
    use ast::CompoundCommand as Compound;
    match command {
        ast::Command::Compound(compound, _) => match compound {
            Compound::Subshell(_) => "( )",
            Compound::ForClause(_) | Compound::ArithmeticForClause(_) => "for",
            Compound::SelectClause(_) => "select",
            Compound::CaseClause(_) => "case",
            Compound::IfClause(_) => "if",
            Compound::WhileClause(_) => "while",
            Compound::UntilClause(_) => "until",
            Compound::Arithmetic(_) => "(( ))",
            Compound::ExtendedTest(_) => "[[ ]]",
            Compound::Coprocess(_) => "coproc",
            Compound::BraceGroup(_) => "{ }",
        },
        ast::Command::ExtendedTest(..) => "[[ ]]",
        ast::Command::Function(_) | ast::Command::Simple(_) => "",
    }
}

/// The numbers that a redirection sets, as far as they stand in it.
pub(crate) fn numbers(redirect: &ast::IoRedirect) -> [Option<ShellFd>; 2] {
    if matches!(redirect, ast::IoRedirect::Named(..)) {
        return [None, None];
    }
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
