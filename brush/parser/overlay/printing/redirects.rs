//! Redirections as text.
//!
//! Part of what replaces upstream's printing. The bodies of here-documents follow when their line is at its end.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::Printer;
use crate::ast::{self, IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, IoRedirect};
use crate::unquote_str;

impl Printer {
    pub(super) fn redirects(&mut self, redirects: &ast::RedirectList) {
        let redirects: Vec<&IoRedirect> = redirects.0.iter().collect();
        self.each_redirect(&redirects);
    }

    pub(super) fn each_redirect(&mut self, redirects: &[&IoRedirect]) {
        for (index, redirect) in redirects.iter().enumerate() {
            if index > 0 {
                self.push(" ");
            }
            self.redirect(redirect);
        }
        if self.connected == 0 {
            self.end_of_line("");
        }
    }

    pub(super) fn redirect(&mut self, redirect: &IoRedirect) {
        if let IoRedirect::Named(name, redirect) = redirect {
            self.push(&format!("{{{name}}}"));
            self.redirect_of(redirect, true);
        } else {
            self.redirect_of(redirect, false);
        }
    }

    fn redirect_of(&mut self, redirect: &IoRedirect, is_named: bool) {
        match redirect {
            IoRedirect::File(fd, kind, target) => {
                let number = if is_named { Some(String::new()) } else { fd.map(|fd| fd.to_string()) };
                // A descriptor that is closed by the name that holds it is shown as one for output.
                let closes = matches!(target, Target::Duplicate(word) if word.value == "-");
                let kind = if is_named && closes { &Kind::DuplicateOutput } else { kind };
                self.file(number.as_deref(), kind, target);
            }
            IoRedirect::OutputAndError(word, append) => {
                self.push(if *append { "&>> " } else { "&> " });
                self.word(&word.value);
            }
            IoRedirect::HereString(fd, word) => {
                self.number(*fd, 0);
                self.push("<<< ");
                self.word(&word.value);
            }
            IoRedirect::HereDocument(fd, document) => {
                self.number(*fd, 0);
                self.here_document(document);
            }
            IoRedirect::Named(..) => {}
        }
    }

    fn number(&mut self, fd: Option<ast::IoFd>, usual: ast::IoFd) {
        if let Some(fd) = fd.filter(|fd| *fd != usual) {
            self.push(&fd.to_string());
        }
    }

    fn file(&mut self, number: Option<&str>, kind: &Kind, target: &Target) {
        // A number is shown unless it is the operator's own; duplicates always show theirs.
        let (operator, own, shows_own) = match kind {
            Kind::Read => ("< ", "0", false),
            Kind::Write => ("> ", "1", false),
            Kind::Append => (">> ", "1", false),
            Kind::Clobber => (">| ", "1", false),
            Kind::ReadAndWrite => ("<> ", "0", true),
            Kind::DuplicateInput => ("<&", "0", true),
            Kind::DuplicateOutput => (">&", "1", true),
        };
        if let (Kind::DuplicateOutput, None | Some("1"), Target::Duplicate(word)) = (kind, number, target)
            && !word.value.starts_with(|first: char| first.is_ascii_digit() || "-$`\"'<>".contains(first))
        {
            self.push("&> ");
            self.word(&word.value);
            return;
        }
        match number {
            Some(number) if number != own || shows_own => self.push(number),
            None if shows_own => self.push(own),
            _ => {}
        }
        self.push(operator);
        self.target(target);
    }

    pub(super) fn target(&mut self, target: &Target) {
        match target {
            Target::Filename(word) | Target::Duplicate(word) => self.word(&word.value),
            Target::Fd(fd) => self.push(&fd.to_string()),
            Target::ProcessSubstitution(kind, shell) => self.process(kind, &shell.list),
        }
    }

    pub(super) fn here_document(&mut self, document: &ast::IoHereDocument) {
        let end = unquote_str(&document.here_end.value);
        self.push(if document.remove_tabs { "<<-" } else { "<<" });
        if document.requires_expansion {
            self.push(&end);
        } else {
            self.push(&format!("'{}'", end.replace('\'', r"'\''")));
        }
        self.documents.push(format!("{}{end}", document.doc.value));
    }
}
