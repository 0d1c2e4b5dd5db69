//! `echo`, bash's and dash's.
//!
//! Goes from the words to one write without anything in between; escapes are decoded elsewhere.

use brush_core::builtins::BoxFuture;
use brush_core::{CommandArg, Error, ExecutionContext, ExecutionResult};

use super::call::{Call, ready};
use super::escapes::{self, Dialect};
use super::text;
use crate::interpreter::Extensions;

/// Runs the builtin.
pub(crate) fn execute(
    context: ExecutionContext<'_, Extensions>,
    args: Vec<CommandArg>,
) -> BoxFuture<'_, Result<ExecutionResult, Error>> {
    ready(Call::new(context, args).complete(run))
}

fn run(call: &mut Call<'_>) -> u8 {
    let options = call.context.shell.options();
    let is_dash = options.sh_mode;
    let mut style = Style { decodes: is_dash || options.echo_builtin_expands_escape_sequences, ..Style::default() };
    let words = std::mem::take(&mut call.words);
    let takes_options = !(options.posix_mode && style.decodes);
    let used = if is_dash {
        style.no_newline = words.first().is_some_and(|word| word == "-n");
        usize::from(style.no_newline)
    } else if takes_options {
        words.iter().take_while(|word| style.takes(word)).count()
    } else {
        0
    };
    let dialect = if is_dash { Dialect::Dash } else { Dialect::Echo };
    let is_utf8 = style.decodes && !is_dash && text::locale_is_utf8(call.context.shell);
    let mut line = Vec::new();
    for (index, word) in words[used..].iter().enumerate() {
        if index > 0 {
            line.push(b' ');
        }
        let bytes = text::to_bytes(word);
        if !style.decodes {
            line.extend_from_slice(&bytes);
        } else if escapes::decode_all(&bytes, dialect, is_utf8, &mut line).0 {
            style.no_newline = true;
            break;
        }
    }
    if !style.no_newline {
        line.push(b'\n');
    }
    call.print_bytes(&line);
    0
}

/// How `echo` writes its words.
#[derive(Default)]
struct Style {
    no_newline: bool,
    decodes: bool,
}

impl Style {
    /// Takes a word as options, if all its letters are some.
    fn takes(&mut self, word: &str) -> bool {
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else { return false };
        if !letters.bytes().all(|letter| matches!(letter, b'n' | b'e' | b'E')) {
            return false;
        }
        for letter in letters.bytes() {
            match letter {
                b'n' => self.no_newline = true,
                b'e' => self.decodes = true,
                _ => self.decodes = false,
            }
        }
        true
    }
}
