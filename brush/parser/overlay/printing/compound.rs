//! Compound commands as text.
//!
//! Part of what replaces upstream's printing.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::Printer;
use crate::ast::{self, CaseItemPostAction as Action, CompoundCommand as Compound, ExtendedTestExpr as Expr};

impl Printer {
    pub(super) fn compound(&mut self, compound: &Compound) {
        match compound {
            Compound::Arithmetic(command) => self.arithmetic(command),
            Compound::ArithmeticForClause(clause) => self.arithmetic_for(clause),
            Compound::BraceGroup(group) => self.group(group),
            Compound::Subshell(shell) => self.subshell(shell),
            Compound::ForClause(clause) => self.for_clause(clause),
            Compound::SelectClause(clause) => self.words_loop("select", clause),
            Compound::CaseClause(clause) => self.case(clause),
            Compound::IfClause(clause) => self.if_clause(clause),
            Compound::WhileClause(clause) => {
                self.push("while ");
                self.loop_rest(clause);
            }
            Compound::UntilClause(clause) => {
                self.push("until ");
                self.loop_rest(clause);
            }
            Compound::Coprocess(process) => self.coprocess(process),
            Compound::ExtendedTest(test) => self.test(test),
        }
    }

    pub(super) fn arithmetic(&mut self, command: &ast::ArithmeticCommand) {
        self.push("((");
        self.push(&command.expr.value);
        self.push("))");
    }

    pub(super) fn subshell(&mut self, shell: &ast::SubshellCommand) {
        self.push("( ");
        self.stays_on_line += 1;
        self.list(&shell.list);
        self.end_of_line("");
        self.push(" )");
    }

    pub(super) fn group(&mut self, group: &ast::BraceGroupCommand) {
        self.push("{ ");
        if self.functions == 0 {
            self.stays_on_line += 1;
        } else {
            self.push("\n");
            self.enter();
        }
        self.list(&group.list);
        self.end_of_line("");
        if self.functions == 0 {
            self.semicolon();
            self.push(" ");
        } else {
            self.push("\n");
            self.leave();
            self.indentation();
        }
        self.push("}");
    }

    pub(super) fn for_clause(&mut self, clause: &ast::ForClauseCommand) {
        self.words_loop("for", clause);
    }

    fn words_loop(&mut self, keyword: &str, clause: &ast::ForClauseCommand) {
        self.push(keyword);
        self.push(" ");
        self.push(&clause.variable_name);
        self.push(" in ");
        match &clause.values {
            None => self.push("\"$@\""),
            Some(values) => {
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        self.push(" ");
                    }
                    self.word(&value.value);
                }
            }
        }
        self.push(";");
        self.do_group(&clause.body.list);
    }

    fn do_group(&mut self, list: &ast::CompoundList) {
        self.newline("do\n");
        self.enter();
        self.list(list);
        self.end_of_line("");
        self.semicolon();
        self.leave();
        self.newline("done");
    }

    pub(super) fn arithmetic_for(&mut self, clause: &ast::ArithmeticForClauseCommand) {
        self.push("for ((");
        for (index, part) in [&clause.initializer, &clause.condition, &clause.updater].into_iter().enumerate() {
            if index > 0 {
                self.push("; ");
            }
            let value = part.as_ref().map(|part| part.value.as_str()).filter(|value| !value.is_empty());
            // bash shows what it evaluates instead of nothing.
            self.push(value.unwrap_or("1"));
        }
        self.push("))");
        self.do_group(&clause.body.list);
    }

    pub(super) fn loop_rest(&mut self, clause: &ast::WhileOrUntilClauseCommand) {
        self.stays_on_line += 1;
        self.list(&clause.0);
        self.semicolon();
        self.push(" do\n");
        self.enter();
        self.list(&clause.1.list);
        self.end_of_line("");
        self.leave();
        self.semicolon();
        self.newline("done");
    }

    pub(super) fn if_clause(&mut self, clause: &ast::IfClauseCommand) {
        let elses = clause.elses.as_deref().unwrap_or_default();
        self.if_with(&clause.condition, &clause.then, elses);
    }

    fn if_with(&mut self, condition: &ast::CompoundList, then: &ast::CompoundList, elses: &[ast::ElseClause]) {
        self.push("if ");
        self.stays_on_line += 1;
        self.list(condition);
        self.semicolon();
        self.push(" then\n");
        self.enter();
        self.list(then);
        self.end_of_line("");
        self.leave();
        if let Some((first, rest)) = elses.split_first() {
            self.semicolon();
            self.newline("else\n");
            self.enter();
            match &first.condition {
                Some(condition) => {
                    self.indentation();
                    self.if_with(condition, &first.body, rest);
                }
                None => self.list(&first.body),
            }
            self.end_of_line("");
            self.leave();
        }
        self.semicolon();
        self.newline("fi");
    }

    pub(super) fn case(&mut self, clause: &ast::CaseClauseCommand) {
        self.push("case ");
        self.word(&clause.value.value);
        self.push(" in ");
        self.enter();
        for case in &clause.cases {
            self.case_item(case);
        }
        self.leave();
        self.newline("esac");
    }

    pub(super) fn case_item(&mut self, case: &ast::CaseItem) {
        self.newline("");
        for (index, pattern) in case.patterns.iter().enumerate() {
            if index > 0 {
                self.push(" | ");
            }
            self.word(&pattern.value);
        }
        self.push(")\n");
        self.enter();
        if let Some(list) = &case.cmd {
            self.list(list);
        }
        self.leave();
        self.end_of_line("");
        self.newline(match case.post_action {
            Action::ExitCase => ";;",
            Action::UnconditionallyExecuteNextCaseItem => ";&",
            Action::ContinueEvaluatingCases => ";;&",
        });
    }

    pub(super) fn coprocess(&mut self, process: &ast::CoprocessCommand) {
        self.push("coproc ");
        self.push(process.name.as_ref().map_or("COPROC", |name| name.value.as_str()));
        self.push(" ");
        self.stays_on_line += 1;
        self.command(&process.body);
    }

    pub(super) fn test(&mut self, test: &ast::ExtendedTestExprCommand) {
        self.push("[[ ");
        self.expression(&test.expr);
        self.push(" ]]");
    }

    pub(super) fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::And(left, right) => self.operator(left, " && ", right),
            Expr::Or(left, right) => self.operator(left, " || ", right),
            Expr::Not(inner) => {
                self.push("! ");
                self.expression(inner);
            }
            Expr::Parenthesized(inner) => {
                self.push("( ");
                self.expression(inner);
                self.push(" )");
            }
            Expr::UnaryTest(predicate, operand) => {
                self.push(&format!("{predicate} "));
                self.word(&operand.value);
            }
            Expr::BinaryTest(predicate, left, right) => {
                self.word(&left.value);
                self.push(&format!(" {predicate} "));
                self.word(&right.value);
            }
        }
    }

    fn operator(&mut self, left: &Expr, operator: &str, right: &Expr) {
        self.expression(left);
        self.push(operator);
        self.expression(right);
    }
}
