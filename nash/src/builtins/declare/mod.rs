//! `declare`, `typeset`, `local`, `export` and `readonly`: one engine that gives variables values and attributes.
//!
//! Reads what was asked for, and goes through the operands. How one variable is changed, what is listed, and what happens to
//! functions stands beside this file.

mod apply;
mod attributes;
mod function_attributes;
mod operand;
mod show;
mod value;

use brush_core::builtins::BoxFuture;
use brush_core::{CommandArg, Error, ExecutionContext, ExecutionControlFlow, ExecutionResult};

use super::call::{Call, take_shield};
use super::complain;
use super::control::given_up;
use super::options::Options;
use crate::interpreter::Extensions;
use operand::Operand;

/// Which of the builtins runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Declare,
    Local,
    Export,
    Readonly,
}

/// One option as given.
struct Given {
    /// Behind `-`, rather than `+`.
    on: bool,
    letter: char,
}

/// What the builtin was asked for.
struct Request {
    kind: Kind,
    /// The name that messages begin with.
    name: &'static str,
    given: Vec<Given>,
}

/// How one operand ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    /// Told, and the next one's turn.
    Failed,
    /// Told, and the end of the shell.
    Fatal,
}

impl Kind {
    fn of(name: &str) -> (Self, &'static str) {
        match name {
            "local" => (Self::Local, "local"),
            "export" => (Self::Export, "export"),
            "readonly" => (Self::Readonly, "readonly"),
            "typeset" => (Self::Declare, "typeset"),
            _ => (Self::Declare, "declare"),
        }
    }

    fn letters(self) -> &'static str {
        match self {
            Self::Declare => "+acfgilnprtuxAFI",
            Self::Local => "+acgilnprtuxAI",
            Self::Export | Self::Readonly => "aAfnp",
        }
    }
}

impl Request {
    /// Whether a letter was given behind `-`.
    fn has(&self, letter: char) -> bool {
        self.given.iter().any(|option| option.on && option.letter == letter)
    }

    /// Whether a letter was given behind `+`.
    fn has_off(&self, letter: char) -> bool {
        self.given.iter().any(|option| !option.on && option.letter == letter)
    }

    fn is_about_functions(&self) -> bool {
        self.has('f') || self.has('F')
    }

    /// Whether variables become local to the running function.
    fn makes_local(&self, context: &ExecutionContext<'_, Extensions>) -> bool {
        matches!(self.kind, Kind::Declare | Kind::Local) && !self.has('g') && context.shell.in_function()
    }

    /// The letters that turn attributes on, the builtin's own included.
    fn turns_on(&self, letter: char) -> bool {
        match (self.kind, letter) {
            // What is readonly stays so.
            (Kind::Export, 'x') | (Kind::Readonly, 'r') => !self.has('n'),
            (Kind::Export | Kind::Readonly, 'n') => false,
            // An array is no reference.
            (_, 'n') if self.has('a') || self.has('A') => false,
            _ => self.has(letter),
        }
    }

    /// The letters that turn attributes off.
    fn turns_off(&self, letter: char) -> bool {
        match (self.kind, letter) {
            (Kind::Export, 'x') => self.has('n'),
            _ => self.has_off(letter),
        }
    }
}

/// Runs the builtin.
pub(crate) fn execute(
    mut context: ExecutionContext<'_, Extensions>,
    args: Vec<CommandArg>,
) -> BoxFuture<'_, Result<ExecutionResult, Error>> {
    Box::pin(async move {
        let shielded = take_shield();
        let (kind, name) = Kind::of(&context.command_name);
        if kind == Kind::Local && !context.shell.in_function() {
            if context.shell.options().sh_mode {
                let mut result = complain(&context, name, "not in a function", 2);
                result.next_control_flow = ExecutionControlFlow::ExitShell;
                return Ok(result);
            }
            return Ok(complain(&context, name, "can only be used in a function", 1));
        }
        let words: Vec<String> = args.iter().skip(1).map_while(leading_word).collect();
        let mut options = Options::new(kind.letters(), &words);
        let mut given = Vec::new();
        loop {
            match options.next() {
                Ok(Some(found)) => given.push(Given { on: options.is_on(), letter: found.letter }),
                Ok(None) => break,
                Err(refusal) => {
                    let mut call = Call::new(context, Vec::new());
                    let status = call.refuse(&refusal);
                    return call.end(status);
                }
            }
        }
        let request = Request { kind, name, given };
        let operands = args.get(options.used() + 1..).unwrap_or_default();
        // No function is an array or a number.
        if kind == Kind::Declare
            && request.is_about_functions()
            && !operands.is_empty()
            && let Some(letter) = ['a', 'A', 'i', 'n'].into_iter().find(|letter| request.has(*letter))
        {
            return Ok(complain(&context, name, &format!("-{letter}: invalid option"), 1));
        }
        match run(&mut context, &request, operands).await {
            Err(error) if shielded && error.is_told() => Ok(ExecutionResult::new(1)),
            result => result,
        }
    })
}

/// A word that may be an option; assignments and what follows them are none.
fn leading_word(arg: &CommandArg) -> Option<String> {
    match arg {
        CommandArg::String(word) | CommandArg::Reference(word) => Some(word.clone()),
        CommandArg::Assignment(_) => None,
    }
}

async fn run(
    context: &mut ExecutionContext<'_, Extensions>,
    request: &Request,
    operands: &[CommandArg],
) -> Result<ExecutionResult, Error> {
    if operands.is_empty() {
        return show::list(context, request);
    }
    let only_shows = request.has('p') && matches!(request.kind, Kind::Declare | Kind::Local);
    let mut status = 0;
    for operand in operands {
        let outcome = if request.is_about_functions() {
            function_attributes::change_or_show(context, request, &operand.to_string())?
        } else if only_shows {
            show::named(context, request, &operand.to_string())?
        } else {
            apply::apply(context, request, Operand::read(operand)).await?
        };
        match outcome {
            Outcome::Done => {}
            Outcome::Failed => status = 1,
            Outcome::Fatal => {
                let error = given_up(context.shell);
                return Err(if context.shell.options().posix_mode { error.into_fatal() } else { error });
            }
        }
    }
    Ok(ExecutionResult::new(status))
}
