//! Commands: what dash knows of the grammar, and does alike.
//!
//! What stands in words is looked at elsewhere, and so is what a builtin is told.

use brush_core::env::valid_variable_name;
use brush_core::parser::ast::{
    AndOr, AssignmentName, AssignmentValue, CaseItemPostAction, Command, CommandPrefixOrSuffixItem, CompoundCommand,
    CompoundList, FunctionDefinition, IoFileRedirectTarget, IoRedirect, Pipeline, RedirectList, SimpleCommand, Word,
};

use super::{Check, Doubt, builtins};

/// The highest descriptor that dash reads in front of a redirection.
const DESCRIPTOR_MAX: i32 = 9;

impl Check<'_> {
    /// Commands that follow each other.
    pub(super) fn list(self, list: &CompoundList) -> Result<(), Doubt> {
        list.0.iter().try_for_each(|item| {
            self.pipeline(&item.0.first)?;
            item.0.additional.iter().try_for_each(|next| match next {
                AndOr::And(pipeline) | AndOr::Or(pipeline) => self.pipeline(pipeline),
            })
        })
    }

    fn pipeline(self, pipeline: &Pipeline) -> Result<(), Doubt> {
        if pipeline.timed.is_some() {
            return Err("time");
        }
        pipeline.seq.iter().try_for_each(|command| match command {
            Command::Simple(command) => self.simple(command),
            Command::Compound(command, redirects) => {
                self.redirects(redirects.as_ref())?;
                self.compound(command)
            }
            Command::Function(function) => self.function(function),
            Command::ExtendedTest(..) => Err("command"),
        })
    }

    fn function(self, function: &FunctionDefinition) -> Result<(), Doubt> {
        let name = function.fname.value.as_str();
        if !valid_variable_name(name) || builtins::is_special(name) {
            return Err("function name");
        }
        self.redirects(function.body.1.as_ref())?;
        Self { in_function: true, in_loop: false, ..self }.compound(&function.body.0)
    }

    fn compound(self, command: &CompoundCommand) -> Result<(), Doubt> {
        match command {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => Self { in_loop: false, ..self }.list(&subshell.list),
            CompoundCommand::ForClause(clause) => {
                if !valid_variable_name(&clause.variable_name) {
                    return Err("for");
                }
                self.words(clause.values.iter().flatten())?;
                Self { in_loop: true, ..self }.list(&clause.body.list)
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value)?;
                clause.cases.iter().try_for_each(|item| {
                    if !matches!(item.post_action, CaseItemPostAction::ExitCase) {
                        return Err("case");
                    }
                    self.words(item.patterns.iter())?;
                    item.cmd.iter().try_for_each(|list| self.list(list))
                })
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition)?;
                self.list(&clause.then)?;
                clause.elses.iter().flatten().try_for_each(|branch| {
                    branch.condition.iter().try_for_each(|list| self.list(list))?;
                    self.list(&branch.body)
                })
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0)?;
                Self { in_loop: true, ..self }.list(&clause.1.list)
            }
            _ => Err("compound command"),
        }
    }

    fn simple(self, command: &SimpleCommand) -> Result<(), Doubt> {
        let mut assigns = false;
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect)?,
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    assigns = true;
                    let is_plain = matches!(assignment.name, AssignmentName::VariableName(_)) && !assignment.append;
                    match &assignment.value {
                        AssignmentValue::Scalar(value) if is_plain => self.word(&value.value)?,
                        _ => return Err("assignment"),
                    }
                }
                _ => return Err("prefix"),
            }
        }
        let Some(name) = &command.word_or_name else { return Ok(()) };
        self.word(&name.value)?;
        let mut words = Vec::new();
        for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect)?,
                CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                    self.word(&word.value)?;
                    words.push(word.value.as_str());
                }
                CommandPrefixOrSuffixItem::ProcessSubstitution(..) => return Err("process substitution"),
            }
        }
        self.call(&name.value, &words, assigns)
    }

    fn redirects(self, redirects: Option<&RedirectList>) -> Result<(), Doubt> {
        redirects.iter().flat_map(|list| &list.0).try_for_each(|redirect| self.redirect(redirect))
    }

    fn redirect(self, redirect: &IoRedirect) -> Result<(), Doubt> {
        let is_known = |fd: &Option<i32>| fd.is_none_or(|fd| fd <= DESCRIPTOR_MAX);
        match redirect {
            IoRedirect::File(fd, _, target) if is_known(fd) => match target {
                IoFileRedirectTarget::Filename(word) => self.word(&word.value),
                IoFileRedirectTarget::Fd(fd) if *fd <= DESCRIPTOR_MAX => Ok(()),
                IoFileRedirectTarget::Duplicate(word) if is_descriptor(&word.value) => Ok(()),
                _ => Err("redirection"),
            },
            IoRedirect::HereDocument(fd, document) if is_known(fd) => {
                if document.requires_expansion {
                    self.document(&document.doc.value)
                } else {
                    Ok(())
                }
            }
            _ => Err("redirection"),
        }
    }

    fn words<'w>(self, mut words: impl Iterator<Item = &'w Word>) -> Result<(), Doubt> {
        words.try_for_each(|word| self.word(&word.value))
    }
}

/// Whether a word is one digit, or the dash that closes.
fn is_descriptor(word: &str) -> bool {
    matches!(word.as_bytes(), [b'-' | b'0'..=b'9'])
}
