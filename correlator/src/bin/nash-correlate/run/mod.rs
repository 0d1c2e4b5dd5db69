//! `run`: a script under nash, with a collector of its own, and its story at the end.
//!
//! The script keeps its standard streams, its directory and its exit status. Which program runs it stands in `program`, the
//! collector in `collector`, the kernel's observer in `observer`, and what is printed comes from the library.

mod collector;
mod observer;
mod program;

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::Context;
use nash_correlator::Story;
use nash_correlator::tree::{self, Options};

use crate::cli::{Color, RunArgs};
use crate::rules::Rules;
use crate::terminal::{complain, options_for_stdout};
use collector::Collector;
use observer::Observer;
pub(crate) use program::find as find_shell;

/// Exit status where the script could not be run, as `env` and `timeout` have it.
pub(crate) const EXIT_NOT_RUN: u8 = 125;

/// Columns of the line between the script's output and the story.
const SEPARATOR_COLUMNS: usize = 24;

/// Runs the script; gives its exit status.
pub(crate) fn run(inputs: &RunArgs, rules: Rules) -> anyhow::Result<u8> {
    let shell = program::find(inputs.shell.as_deref())?;
    let words = program::arguments(inputs.command_line.clone(), inputs.words.clone());
    let story_alone = inputs.json && inputs.output.is_none();
    let collector = Collector::start(inputs.keep.as_deref(), rules)?;

    let mut command = Command::new(&shell);
    command.args(words);
    collector.lead_to(&mut command);
    if story_alone {
        let stderr = std::io::stderr().as_fd().try_clone_to_owned().context("duplicating standard error")?;
        command.stdout(Stdio::from(stderr));
    }
    let signals = collector.catch_signals()?;
    let observer = Observer::start(inputs.observer, &shell, &collector)?;
    if observer.is_some() {
        command.env("NUCLEIC_SHELL_KERNEL", "ebpf");
    }
    let mut child = command.spawn().with_context(|| format!("starting the shell {}", shell.display()))?;
    signals.to(child.id());
    let ended = child.wait().context("waiting for the shell")?;
    drop(signals);
    if let Some(observer) = observer {
        observer.stop();
    }

    let story = collector.finish();
    if story.coverage.events == 0 {
        complain(&format!("warning: {} reported nothing; is it nash?", shell.display()));
    }
    print(&story, inputs).context("printing the story")?;
    Ok(exit_status(ended))
}

fn print(story: &Story, inputs: &RunArgs) -> anyhow::Result<()> {
    if let Some(path) = &inputs.output {
        let options =
            Options { color: inputs.color == Color::Always, previews: !inputs.no_previews, ..Options::plain() };
        return std::fs::write(path, told(story, inputs.json, &options)?)
            .with_context(|| format!("writing {}", path.display()));
    }
    let options = options_for_stdout(inputs.color, !inputs.no_previews);
    let line = if options.unicode { "─" } else { "-" }.repeat(SEPARATOR_COLUMNS);
    let head = if inputs.json { String::new() } else { format!("\n{line}\n") };
    let text = head + &told(story, inputs.json, &options)?;
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // The reader had enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

fn told(story: &Story, json: bool, options: &Options) -> anyhow::Result<String> {
    if json { Ok(serde_json::to_string(story)? + "\n") } else { Ok(tree::render(story, options)) }
}

/// The status as a shell would report it.
fn exit_status(ended: ExitStatus) -> u8 {
    let code = ended.code().or_else(|| ended.signal().map(|signal| 128 + signal)).unwrap_or_default();
    u8::try_from(code & 0xff).unwrap_or(u8::MAX)
}
