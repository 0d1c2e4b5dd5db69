//! Compound commands: which one it is, and those that only group.
//!
//! Part of what replaces upstream's grammar. Loops, `case`, `[[ ]]` and functions stand elsewhere.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::{Kind, Operator, Token};
use super::{Assignments, Parser, Result};
use crate::ast::{self, Command, CompoundCommand as Compound};

/// Words that begin a compound command.
#[derive(Clone, Copy)]
enum Opening {
    If,
    For,
    While,
    Until,
    Case,
    Group,
    Select,
    Test,
    Function,
    Coprocess,
    /// A word that only stands inside or at the end of one.
    Misplaced,
}

impl Opening {
    fn of(word: &str, sh: bool) -> Option<Self> {
        Some(match word {
            "if" => Self::If,
            "for" => Self::For,
            "while" => Self::While,
            "until" => Self::Until,
            "case" => Self::Case,
            "{" => Self::Group,
            "select" if !sh => Self::Select,
            "[[" if !sh => Self::Test,
            "function" if !sh => Self::Function,
            "coproc" if !sh => Self::Coprocess,
            "in" | "then" | "do" | "done" | "fi" | "elif" | "else" | "esac" | "}" | "!" => Self::Misplaced,
            "]]" if !sh => Self::Misplaced,
            _ => return None,
        })
    }
}

impl Parser<'_> {
    /// Reads one command.
    pub(super) fn command(&mut self) -> Result<Command> {
        match self.peek_command()? {
            Kind::Operator(Operator::Open) => self.deeper(Self::compound_with_redirects),
            Kind::Operator(operator) if operator.redirects() => self.simple_command(),
            Kind::Word => {
                let opening = self.peeked_word().and_then(|word| Opening::of(word, self.options.sh_mode));
                match opening {
                    None => self.simple_command(),
                    Some(Opening::Misplaced) => self.unexpected(),
                    Some(Opening::Function) => self.deeper(Self::function_by_keyword),
                    Some(Opening::Test) => self.test_command(),
                    Some(_) => self.deeper(Self::compound_with_redirects),
                }
            }
            Kind::Number | Kind::Variable | Kind::Array => self.simple_command(),
            Kind::Operator(_) | Kind::Newline | Kind::End => self.unexpected(),
        }
    }

    fn compound_with_redirects(&mut self) -> Result<Command> {
        let Some(compound) = self.compound()? else {
            return self.unexpected();
        };
        if matches!(compound, Compound::Coprocess(_)) {
            return Ok(Command::Compound(compound, None));
        }
        let redirects = self.redirect_list()?;
        Ok(Command::Compound(compound, redirects))
    }

    /// Reads a compound command without its redirections; `None` where none begins.
    pub(super) fn compound(&mut self) -> Result<Option<Compound>> {
        let opening = match self.peek_command()? {
            Kind::Operator(Operator::Open) => return self.parenthesis().map(Some),
            Kind::Word => self.peeked_word().and_then(|word| Opening::of(word, self.options.sh_mode)),
            _ => None,
        };
        Ok(Some(match opening {
            Some(Opening::If) => Compound::IfClause(self.if_clause()?),
            Some(Opening::For) => self.for_clause()?,
            Some(Opening::Select) => self.select_clause()?,
            Some(Opening::While) => Compound::WhileClause(self.while_clause()?),
            Some(Opening::Until) => Compound::UntilClause(self.while_clause()?),
            Some(Opening::Case) => Compound::CaseClause(self.case_clause()?),
            Some(Opening::Group) => Compound::BraceGroup(self.brace_group()?),
            Some(Opening::Test) => Compound::ExtendedTest(self.extended_test()?),
            Some(Opening::Coprocess) => Compound::Coprocess(self.coprocess()?),
            Some(Opening::Function | Opening::Misplaced) | None => return Ok(None),
        }))
    }

    fn test_command(&mut self) -> Result<Command> {
        let test = self.extended_test()?;
        let redirects = self.redirect_list()?;
        Ok(Command::ExtendedTest(test, redirects))
    }

    fn parenthesis(&mut self) -> Result<Compound> {
        let token = self.take()?;
        if !self.options.sh_mode
            && self.byte() == Some(b'(')
            && let Some(arithmetic) = self.arithmetic_command(&token)?
        {
            return Ok(Compound::Arithmetic(arithmetic));
        }
        let list = self.compound_list()?;
        if !self.take_operator(Operator::Close)? {
            return self.unexpected();
        }
        let loc = self.cursor.span_at(token.start);
        Ok(Compound::Subshell(ast::SubshellCommand { list, loc }))
    }

    /// `{ …; }`.
    pub(super) fn brace_group(&mut self) -> Result<ast::BraceGroupCommand> {
        let token = self.take()?;
        let list = self.compound_list()?;
        self.keyword("}")?;
        let loc = self.cursor.span_at(token.start);
        Ok(ast::BraceGroupCommand { list, loc })
    }

    fn if_clause(&mut self) -> Result<ast::IfClauseCommand> {
        let token = self.take()?;
        let condition = self.compound_list()?;
        self.keyword("then")?;
        let then = self.compound_list()?;
        let mut elses = Vec::new();
        loop {
            if self.take_keyword("elif")? {
                let condition = Some(self.compound_list()?);
                self.keyword("then")?;
                let body = self.compound_list()?;
                elses.push(ast::ElseClause { condition, body });
                continue;
            }
            if self.take_keyword("else")? {
                let body = self.compound_list()?;
                elses.push(ast::ElseClause { condition: None, body });
            }
            break;
        }
        self.keyword("fi")?;
        let loc = self.cursor.span_at(token.start);
        let elses = Some(elses).filter(|elses| !elses.is_empty());
        Ok(ast::IfClauseCommand { condition, then, elses, loc })
    }

    fn coprocess(&mut self) -> Result<ast::CoprocessCommand> {
        let token = self.take()?;
        let loc = self.cursor.span_at(token.start);
        let coprocess = |name, body| ast::CoprocessCommand { name, body: Box::new(body), loc };
        if let Some(compound) = self.compound()? {
            let redirects = self.redirect_list()?;
            return Ok(coprocess(None, Command::Compound(compound, redirects)));
        }
        if self.peek()? != Kind::Word {
            return Ok(coprocess(None, self.simple_command()?));
        }
        let first = self.take()?;
        if let Some(compound) = self.compound()? {
            let redirects = self.redirect_list()?;
            let name = self.word_of(&first);
            return Ok(coprocess(Some(name), Command::Compound(compound, redirects)));
        }
        Ok(coprocess(None, self.simple_command_from(first)?))
    }

    /// Takes the word that must follow.
    pub(super) fn keyword(&mut self, word: &str) -> Result<()> {
        if self.take_keyword(word)? { Ok(()) } else { self.unexpected() }
    }

    /// Takes the next word if it is this one.
    pub(super) fn take_keyword(&mut self, word: &str) -> Result<bool> {
        let found = self.peek_command()? == Kind::Word && self.peeked_word() == Some(word);
        if found {
            self.token = None;
        }
        Ok(found)
    }

    /// Takes a word that is neither a command nor an assignment.
    pub(super) fn plain_word(&mut self) -> Result<Token> {
        self.assignments = Assignments::None;
        let kind = self.peek_argument();
        self.assignments = Assignments::Leading;
        match kind? {
            Kind::Word => self.take(),
            // A number touches the redirection that no word may be followed by here.
            _ => self.unexpected(),
        }
    }
}
