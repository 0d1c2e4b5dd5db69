//! Here-documents: reading their texts behind the line that asked for them, and putting them into the tree.
//!
//! Upstream makes tokens of them; here the tree keeps a number until the command is whole. What a text expands to is not
//! looked at.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::{Parser, SyntaxWarning};
use crate::ast::{self, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand as Compound};
use crate::unquote_str;

/// A here-document whose text is still to come.
#[derive(Debug)]
pub(super) struct Pending {
    number: usize,
    end: String,
    remove_tabs: bool,
    /// Whether escaped newlines join lines, as everywhere but in quoted text.
    joins_lines: bool,
    at: usize,
}

impl Parser<'_> {
    /// Takes note of a here-document; the number stands for its text until that is read.
    pub(super) fn expect_document(&mut self, here_end: ast::Word, remove_tabs: bool, at: usize) -> ast::IoHereDocument {
        let requires_expansion = !here_end.value.contains(['\'', '"', '\\']);
        let number = self.bodies.len();
        self.bodies.push(String::new());
        let end = if requires_expansion { here_end.value.clone() } else { unquote_delimiter(&here_end.value) };
        self.pending.push(Pending { number, end, remove_tabs, joins_lines: requires_expansion, at });
        let doc = ast::Word { value: number.to_string(), loc: here_end.loc.clone() };
        ast::IoHereDocument { remove_tabs, requires_expansion, here_end, doc }
    }

    /// Reads the texts that begin here, behind a newline.
    pub(super) fn read_documents(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.read_document(&pending);
            if let Some(body) = self.bodies.get_mut(pending.number) {
                *body = text;
            }
        }
    }

    fn read_document(&mut self, pending: &Pending) -> String {
        let mut text = String::new();
        loop {
            let Some(mut line) = self.read_line(pending.joins_lines) else {
                self.warn_of_end(pending);
                return text;
            };
            if pending.remove_tabs {
                let tabs = line.bytes().take_while(|byte| *byte == b'\t').count();
                line.drain(..tabs);
            }
            if line.strip_suffix('\n').unwrap_or(&line) == pending.end {
                return text;
            }
            if self.substitutions > 0 && line.strip_prefix(&pending.end).is_some_and(|rest| rest.contains(')')) {
                // The substitution ends on this line; what follows the document's end is part of it again.
                self.cursor.at -= line.len() - pending.end.len();
                self.warn_of_end(pending);
                return text;
            }
            text.push_str(&line);
        }
    }

    fn warn_of_end(&mut self, pending: &Pending) {
        let opened = self.cursor.line_at(pending.at);
        let line = self.cursor.line_at(self.cursor.at.saturating_sub(1));
        let end = &pending.end;
        let words = format!("here-document at line {opened} delimited by end-of-file (wanted `{end}')");
        self.warnings.push(SyntaxWarning { line, words });
    }

    /// The next line with its newline, and what an escaped newline joins to it.
    fn read_line(&mut self, joins_lines: bool) -> Option<String> {
        let mut line = String::new();
        loop {
            let start = self.cursor.at;
            let mut escapes = false;
            while let Some(byte) = self.byte() {
                self.cursor.at += 1;
                if byte == b'\n' {
                    break;
                }
                escapes = byte == b'\\' && !escapes;
            }
            let piece = self.cursor.slice(start, self.cursor.at);
            if joins_lines && escapes && piece.ends_with('\n') {
                line.push_str(&piece[..piece.len() - 2]);
                continue;
            }
            line.push_str(piece);
            return (!line.is_empty()).then_some(line);
        }
    }
}

/// The text that ends a document whose delimiter is quoted.
fn unquote_delimiter(raw: &str) -> String {
    unquote_str(raw)
}

/// Puts the texts into a command.
pub(super) fn fill(list: &mut ast::CompoundList, bodies: &[String]) {
    for ast::CompoundListItem(and_or, _) in &mut list.0 {
        fill_pipeline(&mut and_or.first, bodies);
        for ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) in &mut and_or.additional {
            fill_pipeline(pipeline, bodies);
        }
    }
}

fn fill_pipeline(pipeline: &mut ast::Pipeline, bodies: &[String]) {
    for command in &mut pipeline.seq {
        fill_command(command, bodies);
    }
}

fn fill_command(command: &mut Command, bodies: &[String]) {
    match command {
        Command::Simple(simple) => {
            let prefix = simple.prefix.iter_mut().flat_map(|prefix| &mut prefix.0);
            let suffix = simple.suffix.iter_mut().flat_map(|suffix| &mut suffix.0);
            for item in prefix.chain(suffix) {
                match item {
                    Item::IoRedirect(redirect) => fill_redirect(redirect, bodies),
                    Item::ProcessSubstitution(_, shell) => fill(&mut shell.list, bodies),
                    Item::Word(_) | Item::AssignmentWord(..) => {}
                }
            }
        }
        Command::Compound(compound, redirects) => {
            fill_compound(compound, bodies);
            fill_redirects(redirects.as_mut(), bodies);
        }
        Command::Function(function) => fill_body(&mut function.body, bodies),
        Command::ExtendedTest(_, redirects) => fill_redirects(redirects.as_mut(), bodies),
    }
}

/// Puts the texts into a function.
pub(super) fn fill_body(body: &mut ast::FunctionBody, bodies: &[String]) {
    fill_compound(&mut body.0, bodies);
    fill_redirects(body.1.as_mut(), bodies);
}

fn fill_compound(compound: &mut Compound, bodies: &[String]) {
    match compound {
        Compound::Arithmetic(_) | Compound::ExtendedTest(_) => {}
        Compound::ArithmeticForClause(clause) => fill(&mut clause.body.list, bodies),
        Compound::BraceGroup(group) => fill(&mut group.list, bodies),
        Compound::Subshell(shell) => fill(&mut shell.list, bodies),
        Compound::ForClause(clause) | Compound::SelectClause(clause) => fill(&mut clause.body.list, bodies),
        Compound::CaseClause(clause) => {
            for list in clause.cases.iter_mut().filter_map(|case| case.cmd.as_mut()) {
                fill(list, bodies);
            }
        }
        Compound::IfClause(clause) => {
            fill(&mut clause.condition, bodies);
            fill(&mut clause.then, bodies);
            for part in clause.elses.iter_mut().flatten() {
                if let Some(condition) = &mut part.condition {
                    fill(condition, bodies);
                }
                fill(&mut part.body, bodies);
            }
        }
        Compound::WhileClause(clause) | Compound::UntilClause(clause) => {
            fill(&mut clause.0, bodies);
            fill(&mut clause.1.list, bodies);
        }
        Compound::Coprocess(process) => fill_command(&mut process.body, bodies),
    }
}

fn fill_redirects(redirects: Option<&mut ast::RedirectList>, bodies: &[String]) {
    for redirect in redirects.into_iter().flat_map(|list| &mut list.0) {
        fill_redirect(redirect, bodies);
    }
}

fn fill_redirect(redirect: &mut ast::IoRedirect, bodies: &[String]) {
    match redirect {
        ast::IoRedirect::HereDocument(_, document) => {
            let number = document.doc.value.parse::<usize>().ok();
            let body = number.and_then(|number| bodies.get(number));
            document.doc.value = body.cloned().unwrap_or_default();
        }
        ast::IoRedirect::File(_, _, ast::IoFileRedirectTarget::ProcessSubstitution(_, shell)) => {
            fill(&mut shell.list, bodies);
        }
        ast::IoRedirect::Named(_, redirect) => fill_redirect(redirect, bodies),
        ast::IoRedirect::File(..) | ast::IoRedirect::HereString(..) | ast::IoRedirect::OutputAndError(..) => {}
    }
}
