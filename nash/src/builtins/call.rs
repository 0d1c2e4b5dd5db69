//! One call of a builtin: its words, what it has printed so far, and how it complains.
//!
//! Output is gathered and leaves in one write. What a builtin does is not here, nor is any builtin's usage.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::Write as _;

use brush_core::builtins::{BoxFuture, CommandExecuteFunc, ContentOptions, ContentType, Registration};
use brush_core::openfiles::OpenFiles;
use brush_core::{CommandArg, Error, ExecutionContext, ExecutionControlFlow, ExecutionResult, bytes};

use super::options::Refusal;
use super::{synopsis, text};
use crate::dash;
use crate::interpreter::{Extensions, message_prefix};

/// The status of a builtin that was called in a way it doesn't know.
pub(crate) const USAGE: u8 = 2;

/// Output beyond this many bytes is written before the builtin has ended, so that it never fills the memory.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// A call of a builtin.
pub(crate) struct Call<'a> {
    pub(crate) context: ExecutionContext<'a, Extensions>,
    /// The words after the builtin's name.
    pub(crate) words: Vec<String>,
    /// Those of them whose subscripts have been expanded.
    references: Vec<String>,
    /// What has to happen after it, beside its status.
    pub(crate) flow: ExecutionControlFlow,
    /// An error that ends more than this call.
    pub(crate) raised: Option<Error>,
    /// Whether `command` runs it, so that it ends no shell.
    pub(crate) shielded: bool,
    out: Vec<u8>,
    lost: Option<std::io::Error>,
}

thread_local! {
    /// Whether `command` runs the builtin that comes next. The shell has one thread.
    static SHIELD: Cell<bool> = const { Cell::new(false) };
}

/// Says that what is run next doesn't end a POSIX shell by being called wrongly.
pub(crate) fn raise_shield() {
    SHIELD.set(true);
}

/// Whether that was said of what runs now.
pub(crate) fn take_shield() -> bool {
    SHIELD.take()
}

impl<'a> Call<'a> {
    /// Takes a call as the interpreter makes it.
    pub(crate) fn new(context: ExecutionContext<'a, Extensions>, args: Vec<CommandArg>) -> Self {
        let mut references = Vec::new();
        let words = args
            .into_iter()
            .skip(1)
            .map(|arg| match arg {
                CommandArg::String(word) => word,
                CommandArg::Reference(word) => {
                    references.push(word.clone());
                    word
                }
                CommandArg::Assignment(assignment) => assignment.to_string(),
            })
            .collect();
        let shielded = take_shield();
        let flow = ExecutionControlFlow::Normal;
        Self { context, words, references, flow, raised: None, shielded, out: Vec::new(), lost: None }
    }

    /// Runs the builtin and writes what it printed.
    pub(crate) fn complete(mut self, run: impl FnOnce(&mut Self) -> u8) -> Result<ExecutionResult, Error> {
        let status = run(&mut self);
        self.end(status)
    }

    /// Writes what is left and gives the result.
    pub(crate) fn end(mut self, status: u8) -> Result<ExecutionResult, Error> {
        let status = if self.flush() { status } else { 1 };
        let is_sh = self.context.shell.options().sh_mode;
        let status = if is_sh { dash::status(self.name(), status) } else { status };
        match self.raised {
            Some(error) => Err(error),
            None => Ok(ExecutionResult { next_control_flow: self.flow, exit_code: status.into() }),
        }
    }

    /// Whether a word named an element before it was expanded.
    pub(crate) fn is_reference(&self, word: &str) -> bool {
        self.references.iter().any(|reference| reference == word)
    }

    /// The name that it was called by.
    pub(crate) fn name(&self) -> &str {
        &self.context.command_name
    }

    /// Prints text of the interpreter's, as the bytes that it stands for.
    pub(crate) fn print(&mut self, text: &str) {
        self.print_bytes(&text::to_bytes(text));
    }

    /// Prints bytes.
    pub(crate) fn print_bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        if self.out.len() > OUTPUT_BYTES_MAX {
            self.write(self.out.len());
        }
    }

    /// Says what is wrong, in bash's form. Whole lines that were printed before come before it.
    pub(crate) fn complain(&mut self, complaint: &str) {
        let is_sh = self.context.shell.options().sh_mode;
        let words =
            if is_sh { dash::complaint(self.name(), complaint, &self.words) } else { Some(complaint.to_owned()) };
        if let Some(words) = words {
            let line = format!("{}: {words}", self.name());
            self.complain_for_shell(&line);
        }
    }

    /// Says what is wrong, without the builtin's name.
    pub(crate) fn complain_for_shell(&mut self, complaint: &str) {
        let whole_lines = self.out.iter().rposition(|byte| *byte == b'\n').map_or(0, |index| index + 1);
        self.write(whole_lines);
        let line = format!("{}{complaint}\n", message_prefix(self.context.shell));
        // A complaint that can't be written has nowhere to go.
        let _ = self.context.stderr().write_all(&text::to_bytes(&line));
    }

    /// The usage line, on standard error; gives the status of a wrong call.
    pub(crate) fn usage(&mut self) -> u8 {
        let line = format!("{0}: usage: {1}\n", self.name(), synopsis::of(self.name()));
        let _ = self.context.stderr().write_all(line.as_bytes());
        self.fail_special(USAGE)
    }

    /// Says why its options can't be read, and gives the status.
    pub(crate) fn refuse(&mut self, refusal: &Refusal) -> u8 {
        match refusal {
            Refusal::Help => {
                let help = synopsis::help(self.name());
                self.print(&help);
                return USAGE;
            }
            Refusal::Unknown(letter) => self.complain(&format!("{letter}: invalid option")),
            Refusal::NoArgument(letter) => self.complain(&format!("{letter}: option requires an argument")),
        }
        self.usage()
    }

    /// A special builtin that is called wrongly ends a POSIX shell.
    pub(crate) fn fail_special(&mut self, status: u8) -> u8 {
        let name = self.name();
        let is_special = self.context.shell.builtins().get(name).is_some_and(|builtin| builtin.special_builtin);
        let options = self.context.shell.options();
        if is_special && options.posix_mode && !options.interactive && !self.shielded {
            self.flow = ExecutionControlFlow::ExitShell;
        }
        status
    }

    /// Writes what has been printed; says what went wrong, and whether nothing did.
    pub(crate) fn flush(&mut self) -> bool {
        self.write(self.out.len());
        match self.lost.take() {
            None => true,
            Some(error) => {
                let complaint = format!("write error: {}", system_words(&error));
                self.complain(&complaint);
                false
            }
        }
    }

    fn write(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        let result = match self.context.try_fd(OpenFiles::STDOUT_FD) {
            Some(mut stdout) => {
                let bytes = &self.out[..length];
                // Files take what looks like a carried byte for one, so bytes that only look so are carried too.
                if bytes::has_carrier_bytes(bytes) {
                    stdout.write_all(bytes::encode(bytes).as_bytes())
                } else {
                    stdout.write_all(bytes)
                }
            }
            None => Err(std::io::Error::from_raw_os_error(libc::EBADF)),
        };
        self.out.drain(..length);
        if let Err(error) = result {
            self.lost.get_or_insert(error);
        }
    }
}

/// The system's words for an error, without the number that Rust adds.
pub(crate) fn system_words(error: &std::io::Error) -> Cow<'static, str> {
    let text = error.to_string();
    Cow::Owned(text.split(" (os error").next().unwrap_or(&text).to_owned())
}

/// Registers a builtin that runs commands of its own.
pub(crate) fn registration(execute_func: CommandExecuteFunc<Extensions>) -> Registration<Extensions> {
    Registration {
        execute_func,
        content_func: content,
        disabled: false,
        special_builtin: false,
        declaration_builtin: false,
    }
}

/// A result that is there already, as the interpreter wants it.
pub(crate) fn ready<'a>(result: Result<ExecutionResult, Error>) -> BoxFuture<'a, Result<ExecutionResult, Error>> {
    Box::pin(std::future::ready(result))
}

#[expect(clippy::needless_pass_by_value, clippy::unnecessary_wraps, reason = "the registration fixes the signature")]
fn content(name: &str, content: ContentType, _: &ContentOptions) -> Result<String, Error> {
    Ok(match content {
        ContentType::ShortUsage => format!("{name}: {}\n", synopsis::of(name)),
        ContentType::ShortDescription => format!("{name} - {}\n", synopsis::purpose(name)),
        _ => synopsis::help(name),
    })
}

/// Registers a function from a call to a status as a builtin.
macro_rules! direct {
    ($run:path) => {{
        fn execute(
            context: brush_core::ExecutionContext<'_, $crate::interpreter::Extensions>,
            args: Vec<brush_core::CommandArg>,
        ) -> brush_core::builtins::BoxFuture<'_, Result<brush_core::ExecutionResult, brush_core::Error>> {
            $crate::builtins::call::ready($crate::builtins::call::Call::new(context, args).complete($run))
        }
        $crate::builtins::call::registration(execute)
    }};
}
pub(crate) use direct;
