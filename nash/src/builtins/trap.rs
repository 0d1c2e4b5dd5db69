//! `trap`: sets, removes and lists traps.
//!
//! What a trap does to the process, and when it runs, is the interpreter's.

use std::io::Write as _;

use brush_core::builtins::{ContentOptions, ContentType, SimpleCommand};
use brush_core::sys::trapping;
use brush_core::traps::{TrapSignal, format_signals};
use brush_core::{Error, ExecutionContext, ExecutionResult, ShellExtensions};

use super::{complain, help};

const USAGE: &str = "trap: usage: trap [-lp] [[arg] signal_spec ...]";

/// The builtin.
pub(crate) struct Trap;

impl SimpleCommand for Trap {
    fn get_content(_: &str, content: ContentType, _: &ContentOptions) -> Result<String, Error> {
        Ok(help(&content, "trap: trap [-lp] [[arg] signal_spec ...]", "Trap signals and other events."))
    }

    fn execute<SE: ShellExtensions, I: Iterator<Item = S>, S: AsRef<str>>(
        mut context: ExecutionContext<'_, SE>,
        args: I,
    ) -> Result<ExecutionResult, Error> {
        let mut words: Vec<String> = args.skip(1).map(|arg| arg.as_ref().to_owned()).collect();
        let (mut lists_signals, mut prints) = (false, false);
        while let Some(letters) = words.first().and_then(|word| word.strip_prefix('-')).map(str::to_owned) {
            if letters.is_empty() {
                break;
            }
            words.remove(0);
            if letters == "-" {
                break;
            }
            for letter in letters.chars() {
                match letter {
                    'l' => lists_signals = true,
                    'p' => prints = true,
                    other => {
                        complain(&context, "trap", &format!("-{other}: invalid option"), 2);
                        return usage(&context);
                    }
                }
            }
        }
        if lists_signals {
            format_signals(context.stdout(), TrapSignal::signals())?;
            return Ok(ExecutionResult::success());
        }
        if prints || words.is_empty() {
            return print(&context, &words);
        }
        set(&mut context, words)
    }
}

fn usage<SE: ShellExtensions>(context: &ExecutionContext<'_, SE>) -> Result<ExecutionResult, Error> {
    writeln!(context.stderr(), "{USAGE}")?;
    Ok(ExecutionResult::new(2))
}

fn set<SE: ShellExtensions>(
    context: &mut ExecutionContext<'_, SE>,
    mut words: Vec<String>,
) -> Result<ExecutionResult, Error> {
    // A number in the first place is a signal, not a command; and a single word is, too.
    let first_is_signal =
        words.len() == 1 || words[0].bytes().all(|byte| byte.is_ascii_digit()) && !words[0].is_empty();
    if words.len() == 1 && words[0] == "-" {
        return usage(context);
    }
    if words.len() == 1 && parse(&words[0]).is_none() {
        return usage(context);
    }
    let command = if first_is_signal && parse(&words[0]).is_some() { "-".to_owned() } else { words.remove(0) };
    let mut status = 0;
    let source = context.shell.call_stack().current_pos_as_source_info();
    for word in &words {
        let Some(signal) = parse(word) else {
            complain_of(context, word);
            status = 1;
            continue;
        };
        if command == "-" {
            context.shell.traps_mut().remove_handlers(signal);
        } else {
            context.shell.traps_mut().register_handler(signal, command.clone(), source.clone());
        }
    }
    Ok(ExecutionResult::new(status))
}

fn parse(word: &str) -> Option<TrapSignal> {
    word.parse().ok()
}

fn complain_of<SE: ShellExtensions>(context: &ExecutionContext<'_, SE>, word: &str) {
    complain(context, "trap", &format!("{word}: invalid signal specification"), 1);
}

fn print<SE: ShellExtensions>(context: &ExecutionContext<'_, SE>, words: &[String]) -> Result<ExecutionResult, Error> {
    let mut text = String::new();
    let mut status = 0;
    if words.is_empty() {
        let traps = context.shell.traps();
        text.extend(traps.listed(TrapSignal::Exit).map(|trap| line(context, &trap.command, TrapSignal::Exit)));
        for signal in TrapSignal::signals() {
            text.extend(shown(context, signal));
        }
        for event in [TrapSignal::Debug, TrapSignal::Err, TrapSignal::Return] {
            text.extend(traps.listed(event).map(|trap| line(context, &trap.command, event)));
        }
    }
    for word in words {
        if let Some(signal) = parse(word) {
            text.extend(shown(context, signal));
        } else {
            complain_of(context, word);
            status = 1;
        }
    }
    context.stdout().write_all(text.as_bytes())?;
    Ok(ExecutionResult::new(status))
}

/// The line for a signal that has a trap, or that nothing can be done about.
fn shown<SE: ShellExtensions>(context: &ExecutionContext<'_, SE>, signal: TrapSignal) -> Option<String> {
    if let Some(trap) = context.shell.traps().listed(signal) {
        return Some(line(context, &trap.command, signal));
    }
    let is_ignored = signal.signal_number().is_some_and(trapping::was_ignored_at_start);
    is_ignored.then(|| line(context, "", signal))
}

/// The line that sets a trap; the standard's names have no `SIG`.
fn line<SE: ShellExtensions>(context: &ExecutionContext<'_, SE>, command: &str, signal: TrapSignal) -> String {
    let name = signal.to_string();
    let name = if context.shell.options().posix_mode { name.trim_start_matches("SIG") } else { &name };
    format!("trap -- '{}' {name}\n", command.replace('\'', "'\\''"))
}
