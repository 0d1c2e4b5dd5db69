//! Commands as text: what `declare -f`, `type` and `jobs` show.
//!
//! Instead of upstream's, which reads well but is not what bash prints; scripts store this text and run it again. The layout
//! depends on whether a function is being printed and on here-documents that wait for the end of their line, so one printer
//! carries that along. Nothing is parsed here but what stands inside words.
#![warn(warnings, clippy::all, clippy::pedantic)]

mod commands;
mod compound;
mod redirects;
mod words;

use std::fmt::{self, Display};

use crate::ast;

/// How far a level is indented, in blanks.
const STEP: usize = 4;

/// Text being made, and the state that layout depends on.
#[derive(Default)]
struct Printer {
    text: String,
    indent: usize,
    step: usize,
    /// How many of the next commands follow on the same line.
    stays_on_line: usize,
    /// How many functions are around.
    functions: usize,
    /// How many connected commands are around.
    connected: usize,
    /// The bodies of here-documents that wait for the end of the line.
    documents: Vec<String>,
    /// Whether such bodies were written since the last separator.
    wrote_documents: bool,
    /// How deep the printer is in words inside words.
    depth: usize,
}

impl Printer {
    fn new() -> Self {
        Self { step: STEP, ..Self::default() }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn indentation(&mut self) {
        let blanks = self.indent;
        self.text.extend(std::iter::repeat_n(' ', blanks));
    }

    /// Begins a line with some text.
    fn newline(&mut self, text: &str) {
        self.push("\n");
        self.indentation();
        self.push(text);
    }

    /// Ends a list before a reserved word.
    fn semicolon(&mut self) {
        if !self.text.ends_with(['&', '\n']) {
            self.push(";");
        }
    }

    fn enter(&mut self) {
        self.indent += self.step;
    }

    fn leave(&mut self) {
        self.indent = self.indent.saturating_sub(self.step);
    }

    /// Writes the bodies that wait, behind the text that ends their line.
    fn end_of_line(&mut self, text: &str) -> bool {
        self.push(text);
        if self.documents.is_empty() {
            return false;
        }
        self.push("\n");
        for body in std::mem::take(&mut self.documents) {
            self.push(&body);
            self.push("\n");
        }
        self.wrote_documents = true;
        true
    }
}

/// A function as it is handed to other shells in the environment: `() { …`.
#[must_use]
pub fn exported_function(body: &ast::FunctionBody) -> String {
    let mut printer = Printer { indent: 1, ..Printer::default() };
    printer.push("() { ");
    printer.function_body(body);
    printer.text
}

macro_rules! shown_by {
    ($($type:ident $method:ident),* $(,)?) => {$(
        impl Display for ast::$type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut printer = Printer::new();
                printer.$method(self);
                printer.end_of_line("");
                f.write_str(&printer.text)
            }
        }
    )*};
}

shown_by! {
    Program program, AndOrList and_or, Pipeline pipeline, Command command, CompoundCommand compound,
    ArithmeticCommand arithmetic, SubshellCommand subshell, ForClauseCommand for_clause,
    ArithmeticForClauseCommand arithmetic_for, CaseClauseCommand case, CompoundList list, IfClauseCommand if_clause,
    CoprocessCommand coprocess, FunctionDefinition definition, FunctionBody bare_body, BraceGroupCommand group,
    SimpleCommand simple, RedirectList redirects, IoRedirect redirect, ExtendedTestExprCommand test,
    ExtendedTestExpr expression, CommandPrefixOrSuffixItem item, IoHereDocument here_document,
    IoFileRedirectTarget target, CompoundListItem list_item, AndOr joined, CommandPrefix prefix, CommandSuffix suffix,
    CaseItem case_item, WhileOrUntilClauseCommand loop_rest,
}
