//! `mapfile` and `readarray`: lines into an array.
//!
//! Reading is shared with `read`; what a callback does is the interpreter's.

use std::os::fd::AsRawFd as _;

use brush_core::builtins::BoxFuture;
use brush_core::env::{EnvironmentLookup, EnvironmentScope, valid_variable_name};
use brush_core::variables::{ArrayLiteral, ShellValueLiteral};
use brush_core::{CommandArg, Error, ExecutionContext, ExecutionResult, SourceInfo};

use super::call::Call;
use super::control::number;
use super::options::{Options, Refusal};
use super::read::input::Input;
use super::{quoting, sys, text, values};
use crate::interpreter::Extensions;

/// How many lines there are between two calls of the callback where nothing is said.
const QUANTUM: usize = 5000;
/// How much is read at once where everything will be read, in bytes.
const PIECE_BYTES: usize = 1 << 16;

/// What `mapfile` was asked for.
#[derive(Debug)]
struct Request {
    delimiter: u8,
    count: usize,
    origin: Option<u64>,
    skipped: usize,
    strips: bool,
    fd: i32,
    callback: Option<String>,
    quantum: usize,
    array: String,
}

/// Why a command line of `mapfile` is refused.
enum Mistake {
    Options(Refusal),
    Value(String),
}

/// Runs the builtin.
pub(crate) fn execute(
    context: ExecutionContext<'_, Extensions>,
    args: Vec<CommandArg>,
) -> BoxFuture<'_, Result<ExecutionResult, Error>> {
    Box::pin(async move {
        let mut call = Call::new(context, args);
        let status = run(&mut call).await;
        call.end(status)
    })
}

async fn run(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let request = match Request::parse(&words) {
        Ok(request) => request,
        Err(Mistake::Options(refusal)) => return call.refuse(&refusal),
        Err(Mistake::Value(complaint)) => {
            call.complain(&complaint);
            return 1;
        }
    };
    let file = call.context.try_fd(request.fd);
    let number = file.as_ref().and_then(|file| Some(file.try_borrow_as_fd().ok()?.as_raw_fd()));
    if number.is_none() && request.fd != 0 {
        call.complain(&format!("{}: invalid file descriptor: Bad file descriptor", request.fd));
        return 1;
    }
    // What is there before is gone, unless lines go behind a place of their own.
    if request.origin.is_none() && !values::assign_array(call, &request.array, vec![]) {
        return 1;
    }
    let Some(number) = number else { return 0 };
    let takes_all = request.count == usize::MAX && request.callback.is_none();
    let mut input = Input::new(number, None);
    if takes_all || sys::position(number).is_some() {
        input = input.in_pieces(PIECE_BYTES);
    }
    let lines = request.lines(call, &mut input).await;
    input.give_back();
    u8::from(!request.store(call, lines))
}

impl Request {
    fn parse(words: &[String]) -> Result<Self, Mistake> {
        let mut request = Self {
            delimiter: b'\n',
            count: usize::MAX,
            origin: None,
            skipped: 0,
            strips: false,
            fd: 0,
            callback: None,
            quantum: QUANTUM,
            array: "MAPFILE".to_owned(),
        };
        let mut options = Options::new("d:u:n:O:tC:c:s:", words);
        while let Some(found) = options.next().map_err(Mistake::Options)? {
            let argument = found.argument;
            let count = number(argument).and_then(|count| usize::try_from(count).ok());
            let wrong = |what: &str| Mistake::Value(format!("{argument}: invalid {what}"));
            match found.letter {
                'd' => request.delimiter = text::to_bytes(argument).first().copied().unwrap_or(0),
                'u' => {
                    let fd = count.and_then(|fd| i32::try_from(fd).ok());
                    request.fd = fd.ok_or_else(|| wrong("file descriptor specification"))?;
                }
                'n' => {
                    request.count = match count.ok_or_else(|| wrong("line count"))? {
                        0 => usize::MAX,
                        count => count,
                    }
                }
                's' => request.skipped = count.ok_or_else(|| wrong("line count"))?,
                'O' => request.origin = Some(count.ok_or_else(|| wrong("array origin"))? as u64),
                't' => request.strips = true,
                'C' => request.callback = Some(argument.to_owned()),
                _ => {
                    let quantum = count.filter(|quantum| *quantum > 0);
                    request.quantum = quantum.ok_or_else(|| wrong("callback quantum"))?;
                }
            }
        }
        if let Some(array) = words.get(options.used()) {
            if array.is_empty() {
                return Err(Mistake::Value("empty array variable name".to_owned()));
            }
            if !valid_variable_name(array) {
                return Err(Mistake::Value(format!("`{array}': not a valid identifier")));
            }
            request.array.clone_from(array);
        }
        Ok(request)
    }

    async fn lines(&self, call: &mut Call<'_>, input: &mut Input<'_>) -> Vec<String> {
        for _ in 0..self.skipped {
            if self.line(input).is_none() {
                return vec![];
            }
        }
        let mut lines = Vec::new();
        while lines.len() < self.count {
            let Some(mut line) = self.line(input) else { break };
            if self.strips && line.last() == Some(&self.delimiter) {
                line.pop();
            }
            // An element ends where a zero byte is.
            line.truncate(line.iter().position(|byte| *byte == 0).unwrap_or(line.len()));
            let line = text::from_bytes(line);
            if let Some(callback) = self.callback.as_ref().filter(|_| (lines.len() + 1) % self.quantum == 0) {
                let index = self.origin.unwrap_or(0) + lines.len() as u64;
                // What came before is there when the callback runs.
                self.store(call, std::mem::take(&mut lines.clone()));
                self.call_back(call, callback, index, &line).await;
            }
            lines.push(line);
        }
        lines
    }

    /// The next line with its end.
    fn line(&self, input: &mut Input<'_>) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        while let Ok(bytes) = input.available() {
            let end = bytes.iter().position(|byte| *byte == self.delimiter);
            let count = end.map_or(bytes.len(), |end| end + 1);
            line.extend_from_slice(&bytes[..count]);
            input.take(count);
            if end.is_some() {
                return Some(line);
            }
        }
        (!line.is_empty()).then_some(line)
    }

    async fn call_back(&self, call: &mut Call<'_>, callback: &str, index: u64, line: &str) {
        let command = format!("{callback} {index} {}", quoting::in_single_quotes(line));
        let place: SourceInfo = call.context.shell.call_stack().current_pos_as_source_info();
        // Its status doesn't matter.
        let _ = call.context.shell.run_string(command, &place, &call.context.params).await;
    }

    fn store(&self, call: &mut Call<'_>, lines: Vec<String>) -> bool {
        let Some(origin) = self.origin else { return values::assign_array(call, &self.array, lines) };
        let name = values::resolved(call.context.shell, &self.array).into_owned();
        if values::is_associative(call.context.shell, &name) {
            call.complain(&format!("{name}: not an indexed array"));
            return false;
        }
        let elements = lines.into_iter().zip(origin..).map(|(line, index)| (Some(index.to_string()), line)).collect();
        let literal = ShellValueLiteral::Array(ArrayLiteral(elements));
        let shell = &mut *call.context.shell;
        let result = if let Some((_, variable)) = shell.env_mut().get_mut(&name) {
            variable.assign(literal, true)
        } else {
            let (anywhere, global) = (EnvironmentLookup::Anywhere, EnvironmentScope::Global);
            shell.env_mut().update_or_add(name.as_str(), literal, |_| Ok(()), anywhere, global)
        };
        match result {
            Ok(()) => true,
            Err(error) => {
                let complaint = values::assignment_words(&error, &name);
                call.complain_for_shell(&complaint);
                false
            }
        }
    }
}
