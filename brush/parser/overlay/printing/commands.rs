//! Lists, pipelines, simple commands and functions as text.
//!
//! Part of what replaces upstream's printing.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::Printer;
use crate::ast::{self, CommandPrefixOrSuffixItem as Item, SeparatorOperator as Separator};

impl Printer {
    pub(super) fn program(&mut self, program: &ast::Program) {
        for (index, list) in program.complete_commands.iter().enumerate() {
            if index > 0 {
                self.push("\n");
            }
            self.list(list);
        }
    }

    pub(super) fn list(&mut self, list: &ast::CompoundList) {
        let connects = list.0.len() > 1 || matches!(list.0.first(), Some(ast::CompoundListItem(_, Separator::Async)));
        self.connected += usize::from(connects);
        for (index, ast::CompoundListItem(and_or, separator)) in list.0.iter().enumerate() {
            self.and_or(and_or);
            self.separate(separator, index + 1 < list.0.len());
        }
        self.connected -= usize::from(connects);
    }

    fn separate(&mut self, separator: &Separator, more: bool) {
        match separator {
            Separator::Async => {
                let wrote = self.end_of_line(" &");
                if more {
                    self.push(if wrote { "  " } else { " " });
                    self.stays_on_line += 1;
                }
            }
            Separator::Sequence | Separator::Newline if !more => {}
            Separator::Sequence | Separator::Newline => {
                let breaks = matches!(separator, Separator::Newline) && self.functions == 0;
                if !self.documents.is_empty() {
                    let text = if self.functions > 0 { "" } else { ";" };
                    self.end_of_line(text);
                } else if self.wrote_documents {
                    self.wrote_documents = false;
                } else if !breaks {
                    self.push(";");
                }
                if self.functions > 0 || breaks {
                    self.push("\n");
                } else {
                    self.push(" ");
                }
                if self.functions == 0 {
                    self.stays_on_line += 1;
                }
            }
        }
    }

    pub(super) fn list_item(&mut self, item: &ast::CompoundListItem) {
        self.and_or(&item.0);
        self.separate(&item.1, false);
    }

    pub(super) fn and_or(&mut self, and_or: &ast::AndOrList) {
        let connects = !and_or.additional.is_empty();
        self.connected += usize::from(connects);
        self.pipeline(&and_or.first);
        for part in &and_or.additional {
            self.joined(part);
        }
        self.connected -= usize::from(connects);
    }

    pub(super) fn joined(&mut self, part: &ast::AndOr) {
        let (operator, pipeline) = match part {
            ast::AndOr::And(pipeline) => (" && ", pipeline),
            ast::AndOr::Or(pipeline) => (" || ", pipeline),
        };
        if self.end_of_line(operator) {
            self.push(" ");
        }
        self.stays_on_line += 1;
        self.pipeline(pipeline);
    }

    pub(super) fn pipeline(&mut self, pipeline: &ast::Pipeline) {
        self.begin_command();
        match &pipeline.timed {
            Some(timed) if timed.is_posix_output() => self.push("time -p "),
            Some(_) => self.push("time "),
            None => {}
        }
        if pipeline.bang {
            self.push("! ");
        }
        let connects = pipeline.seq.len() > 1;
        self.connected += usize::from(connects);
        for (index, command) in pipeline.seq.iter().enumerate() {
            if index > 0 {
                let wrote = self.end_of_line(" |");
                self.push(if wrote { "  " } else { " " });
            }
            self.stays_on_line += 1;
            self.command(command);
        }
        self.connected -= usize::from(connects);
    }

    /// Indents, unless the command follows on the same line.
    fn begin_command(&mut self) {
        if self.stays_on_line > 0 {
            self.stays_on_line -= 1;
        } else {
            self.indentation();
        }
    }

    pub(super) fn command(&mut self, command: &ast::Command) {
        self.stays_on_line = self.stays_on_line.saturating_sub(1);
        match command {
            ast::Command::Simple(simple) => self.simple(simple),
            ast::Command::Compound(compound, redirects) => {
                self.compound(compound);
                self.redirects_behind(redirects.as_ref());
            }
            ast::Command::Function(function) => {
                self.push("function ");
                self.definition(function);
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.test(test);
                self.redirects_behind(redirects.as_ref());
            }
        }
    }

    fn redirects_behind(&mut self, redirects: Option<&ast::RedirectList>) {
        if let Some(redirects) = redirects {
            self.push(" ");
            self.redirects(redirects);
        }
    }

    pub(super) fn simple(&mut self, simple: &ast::SimpleCommand) {
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let mut redirects = Vec::new();
        let mut first = true;
        let mut separate = |printer: &mut Self| {
            if !std::mem::take(&mut first) {
                printer.push(" ");
            }
        };
        for item in prefix {
            match item {
                Item::IoRedirect(redirect) => redirects.push(redirect),
                item => {
                    separate(self);
                    self.item(item);
                }
            }
        }
        if let Some(word) = &simple.word_or_name {
            separate(self);
            self.word(&word.value);
        }
        for item in suffix {
            match item {
                Item::IoRedirect(redirect) => redirects.push(redirect),
                item => {
                    separate(self);
                    self.item(item);
                }
            }
        }
        if !redirects.is_empty() {
            separate(self);
            self.each_redirect(&redirects);
        }
    }

    pub(super) fn prefix(&mut self, prefix: &ast::CommandPrefix) {
        self.items(&prefix.0);
    }

    pub(super) fn suffix(&mut self, suffix: &ast::CommandSuffix) {
        self.items(&suffix.0);
    }

    fn items(&mut self, items: &[Item]) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.push(" ");
            }
            self.item(item);
        }
    }

    pub(super) fn item(&mut self, item: &Item) {
        match item {
            Item::IoRedirect(redirect) => self.redirect(redirect),
            Item::Word(word) | Item::AssignmentWord(_, word) => self.word(&word.value),
            Item::ProcessSubstitution(kind, shell) => self.process(kind, &shell.list),
        }
    }

    pub(super) fn definition(&mut self, function: &ast::FunctionDefinition) {
        self.push(&function.fname.value);
        self.push(" () \n");
        self.indentation();
        self.push("{ \n");
        self.function_body(&function.body);
    }

    pub(super) fn bare_body(&mut self, body: &ast::FunctionBody) {
        self.push("{ \n");
        self.function_body(body);
    }

    /// The commands of a function and what closes it.
    pub(super) fn function_body(&mut self, body: &ast::FunctionBody) {
        self.functions += 1;
        self.enter();
        let redirects = if let ast::CompoundCommand::BraceGroup(group) = &body.0 {
            self.list(&group.list);
            body.1.as_ref()
        } else {
            self.indentation();
            self.compound(&body.0);
            self.redirects_behind(body.1.as_ref());
            None
        };
        self.end_of_line("");
        self.leave();
        self.functions -= 1;
        let closing_indent = if self.step == 0 { std::mem::take(&mut self.indent) } else { self.indent };
        self.newline("}");
        self.indent = closing_indent;
        if let Some(redirects) = redirects {
            self.push(" ");
            self.redirects(redirects);
            self.end_of_line("");
        }
    }
}
