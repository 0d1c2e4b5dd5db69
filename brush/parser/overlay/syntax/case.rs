//! `case`.
//!
//! Part of what replaces upstream's grammar. What a pattern matches is not looked at.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::{Kind, Operator};
use super::{Assignments, Parser, Result};
use crate::ast::{self, CaseItemPostAction as Action};

impl Parser<'_> {
    /// `case word in …esac`.
    pub(super) fn case_clause(&mut self) -> Result<ast::CaseClauseCommand> {
        let token = self.take()?;
        let loc = self.cursor.span_at(token.start);
        let value = self.plain_word()?;
        let value = self.word_of(&value);
        self.assignments = Assignments::None;
        self.skip_newlines()?;
        if self.peek()? != Kind::Word || self.peeked_word() != Some("in") {
            return self.unexpected();
        }
        self.token = None;
        let mut cases = Vec::new();
        loop {
            self.assignments = Assignments::None;
            self.skip_newlines()?;
            if self.peek()? == Kind::Word && self.peeked_word() == Some("esac") {
                break;
            }
            let (case, goes_on) = self.case_item()?;
            cases.push(case);
            if !goes_on {
                break;
            }
        }
        self.assignments = Assignments::Leading;
        self.keyword("esac")?;
        Ok(ast::CaseClauseCommand { value, cases, loc })
    }

    /// One branch, and whether another may follow.
    fn case_item(&mut self) -> Result<(ast::CaseItem, bool)> {
        self.take_operator(Operator::Open)?;
        let mut patterns = Vec::new();
        loop {
            if self.peek()? != Kind::Word {
                return self.unexpected();
            }
            let token = self.take()?;
            patterns.push(self.word_of(&token));
            if !self.take_operator(Operator::Pipe)? {
                break;
            }
        }
        if !self.take_operator(Operator::Close)? {
            return self.unexpected();
        }
        self.assignments = Assignments::Leading;
        self.skip_newlines()?;
        let loc = patterns.first().and_then(|pattern| pattern.loc.clone());
        let mut cmd = None;
        if self.case_action()?.is_none() && !self.at_esac()? {
            cmd = Some(self.compound_list()?);
        }
        let action = self.case_action()?;
        if action.is_some() {
            self.token = None;
        }
        let post_action = action.clone().unwrap_or(Action::ExitCase);
        Ok((ast::CaseItem { patterns, cmd, post_action, loc }, action.is_some()))
    }

    fn at_esac(&mut self) -> Result<bool> {
        Ok(self.peek_command()? == Kind::Word && self.peeked_word() == Some("esac"))
    }

    /// What the next token, if it ends a branch, says about the branches that follow.
    fn case_action(&mut self) -> Result<Option<Action>> {
        Ok(match self.peek()? {
            Kind::Operator(Operator::CaseEnd) => Some(Action::ExitCase),
            Kind::Operator(Operator::CaseFall) => Some(Action::UnconditionallyExecuteNextCaseItem),
            Kind::Operator(Operator::CaseTest) => Some(Action::ContinueEvaluatingCases),
            _ => None,
        })
    }
}
