//! Puts processes into the outline, and says what their lines say.
//!
//! Which are drawn stands in `processes`, what they did in `doings`. Foreign text is made safe here before it leaves.

use std::collections::BTreeMap;

use nash_events::kernel::Exec;
use nash_events::{ByteString, KernelEventKind};

use super::Options;
use super::doings::{pack, phrases};
use super::figures::signal_name;
use super::outline::{Outline, What};
use super::processes::Grove;
use crate::attribution::file_name;
use crate::paint::{Style, Text};
use crate::story::{Command, Effect, Executed, Process, ShellStory};
use crate::terminal_text::{quote, quote_all, visible};

/// Columns of a process's words: 72; a compiler's go on for hundreds.
const WORDS_COLUMNS: usize = 72;

/// Programs that one process ran before its last that are named: 2; others are counted.
const EARLIER_MAX: usize = 2;

/// Durations of processes below 10 ms are not told: nearly all are, and a person looks for the long ones.
const SHORTEST_TOLD_US: u64 = 10_000;

/// What a process did, and the directory from which its paths are seen.
#[derive(Debug)]
pub(super) struct Doings<'a> {
    effects: Vec<&'a Effect>,
    cwd: Option<&'a [u8]>,
    /// Processes that have no line of their own, by name; none where these are the doings of one process.
    folded: BTreeMap<String, u64>,
    /// Whether the words of the process name what it read.
    read_is_named: bool,
}

impl Doings<'_> {
    /// Whether nothing but reading was done.
    pub(super) fn only_reads(&self) -> bool {
        self.folded.is_empty() && self.effects.iter().all(|effect| is_reading(effect))
    }

    fn says_nothing(&self) -> bool {
        self.only_reads() && (self.read_is_named || self.effects.iter().all(|effect| effect.background))
    }
}

impl<'a> Outline<'a> {
    /// Adds what a grove holds below a node.
    pub(super) fn add_grove(&mut self, below: usize, grove: Grove<'a>, cwd: Option<&'a [u8]>) {
        let words = match self.nodes[below].what {
            What::Command(command) => command.exec.as_ref().map_or(&[][..], |exec| &exec.argv),
            _ => &[],
        };
        let own = Doings::of(grove.effects, cwd, words);
        self.add_doings(below, own, true);
        if let Some((last, between)) = grove.went_on_as.split_last() {
            self.add(What::WentOn(last, between.len()), Some(below));
        }
        let mut nodes: Vec<usize> = vec![below; grove.all.len()];
        let mut parents: Vec<Option<usize>> = vec![None; grove.all.len()];
        for (index, drawn) in grove.all.iter().enumerate() {
            for child in &drawn.children {
                parents[*child] = Some(index);
            }
        }
        for (index, drawn) in grove.all.into_iter().enumerate() {
            let above = parents[index].map_or(below, |parent| nodes[parent]);
            let node = self.add(What::Process(drawn.process), Some(above));
            nodes[index] = node;
            let program = drawn.process.last_program().map(|executed| &executed.what);
            let seen_from = program.and_then(|exec| exec.cwd.as_ref()).map(ByteString::as_bytes).or(cwd);
            let own = Doings::of(drawn.effects, seen_from, program.map_or(&[][..], |exec| &exec.argv));
            self.add_doings(node, own, true);
            self.add_doings(
                node,
                Doings { folded: drawn.folded, ..Doings::of(drawn.folded_effects, seen_from, &[]) },
                false,
            );
        }
        self.add_doings(below, Doings { folded: grove.folded, ..Doings::of(grove.folded_effects, cwd, &[]) }, false);
    }

    fn add_doings(&mut self, below: usize, doings: Doings<'a>, first: bool) {
        if doings.says_nothing() {
            return;
        }
        let place = self.doings.len();
        self.doings.push(doings);
        let node = self.add(What::Doings(place), Some(below));
        if first {
            self.nodes[below].children.retain(|child| *child != node);
            self.nodes[below].children.insert(0, node);
        }
    }
}

impl<'a> Doings<'a> {
    fn of(effects: Vec<&'a Effect>, cwd: Option<&'a [u8]>, words: &[ByteString]) -> Self {
        let is_named = |effect: &&&Effect| match &effect.what {
            KernelEventKind::Open(open) => open.path.as_ref().is_some_and(|path| {
                let name = file_name(path.as_bytes());
                words.iter().any(|word| file_name(word.as_bytes()) == name)
            }),
            _ => false,
        };
        let counts = |effect: &&&Effect| !effect.background && !has_failed(effect);
        let read_is_named = effects.iter().filter(counts).all(|effect| is_named(&effect));
        Self { effects, cwd, folded: BTreeMap::new(), read_is_named }
    }
}

fn has_failed(effect: &Effect) -> bool {
    matches!(&effect.what, KernelEventKind::Open(open) if open.result.is_some_and(|result| result < 0))
}

/// Whether an effect is reading, or a search that found nothing.
fn is_reading(effect: &Effect) -> bool {
    match &effect.what {
        KernelEventKind::Open(open) => {
            // A refusal is more than reading: it says what somebody wanted.
            let refused = matches!(open.result, Some(-1 | -13));
            !refused && (effect.background || !crate::kernel::effects::writes(open.flags) || has_failed(effect))
        }
        _ => effect.background,
    }
}

/// The directory from which a command's paths are seen.
pub(super) fn cwd_of<'a>(shell: &'a ShellStory, command: Option<&'a Command>) -> Option<&'a [u8]> {
    let own = command.and_then(|command| command.exec.as_ref()?.cwd.as_ref());
    own.or(shell.start.as_ref()?.cwd.as_ref()).map(ByteString::as_bytes)
}

/// The lines that say what was done.
pub(super) fn lines(doings: &Doings<'_>, columns: usize, options: &Options) -> Vec<Text> {
    let mut said = phrases(doings.effects.iter().copied(), doings.cwd, options);
    if !doings.folded.is_empty() {
        let count: u64 = doings.folded.values().sum();
        let mut by_count: Vec<(&String, &u64)> = doings.folded.iter().collect();
        by_count.sort_by(|(a_name, a), (b_name, b)| b.cmp(a).then_with(|| a_name.cmp(b_name)));
        let times = if options.unicode { "×" } else { "x" };
        let names: Vec<String> =
            by_count.iter().take(5).map(|(name, count)| format!("{name} {times}{count}")).collect();
        let others = if by_count.len() > 5 { ", …" } else { "" };
        let processes = if count == 1 { "process" } else { "processes" };
        let heading = format!("{} {count} more {processes}: {}{others}", options.ellipsis(), names.join(", "));
        said.insert(0, (Style::Dim, heading));
    }
    pack(said, columns)
}

/// A process's line.
pub(super) fn process(process: &Process, options: &Options) -> Text {
    let mut text = Text::new();
    let ran: Vec<&Executed> = process.execs.iter().filter(|executed| executed.succeeded()).collect();
    let Some((last, earlier)) = ran.split_last() else {
        let comm = process.comm.as_deref().unwrap_or("?");
        text.push(Style::Plain, visible(comm.as_bytes()));
        return text;
    };
    let became = if options.unicode { " ⇒ " } else { " => " };
    if earlier.len() > EARLIER_MAX {
        text.push(Style::Dim, format!("{} programs{became}", earlier.len()));
    }
    for executed in earlier.iter().filter(|_| earlier.len() <= EARLIER_MAX) {
        let name = executed.what.argv.first().or(executed.what.path.as_ref());
        let name = name.map_or_else(|| "?".to_owned(), |name| quote(file_name(name.as_bytes())));
        text.push(Style::Dim, name + became);
    }
    text.append(words(&last.what, options));
    text
}

/// The line of a program that took the place of its command's first.
pub(super) fn went_on(executed: &Executed, between: usize, options: &Options) -> Text {
    let mut text = Text::new();
    let became = if options.unicode { "⇒ " } else { "=> " };
    if between > 0 {
        let programs = if between == 1 { "program" } else { "programs" };
        text.push(Style::Dim, format!("{became}{between} {programs} "));
    }
    text.push(Style::Dim, became).append(words(&executed.what, options));
    text
}

fn words(exec: &Exec, options: &Options) -> Text {
    let mut text = Text::new();
    let name = exec.argv.first().or(exec.path.as_ref());
    text.push(Style::Plain, name.map_or_else(|| "?".to_owned(), |name| quote(shown_name(name.as_bytes()))));
    if exec.argv.len() > 1 {
        text.push(Style::Dim, format!(" {}", quote_all(&exec.argv[1..])));
    }
    if exec.argv_truncated {
        text.push(Style::Dim, format!(" {}", options.ellipsis()));
    }
    text.cut(WORDS_COLUMNS, if options.unicode { "…" } else { "~" });
    if let Some(really) = disguise(exec) {
        text.push(Style::Warn, format!("  ({really})"));
    }
    text
}

/// The last part of a long path that a compiler or package manager calls a program by.
fn shown_name(name: &[u8]) -> &[u8] {
    /// Columns of a program's path that are shown whole: 24, so that what is asked for by a short path stays recognisable.
    const WHOLE: usize = 24;
    if name.len() > WHOLE { file_name(name) } else { name }
}

/// What a program really is, where its words say otherwise.
fn disguise(exec: &Exec) -> Option<String> {
    if exec.memfd {
        return Some("a file in memory".to_owned());
    }
    let path = exec.path.as_ref().map(ByteString::as_bytes)?;
    if exec.deleted {
        return Some(format!("the deleted file {}", quote(path)));
    }
    let claimed = exec.argv.first()?.as_bytes();
    let claimed = file_name(claimed.strip_prefix(b"-").unwrap_or(claimed));
    let asked = exec.requested.as_ref().map_or(path, |requested| requested.as_bytes());
    let is_said = file_name(path) == claimed || file_name(asked) == claimed || !exec.chain.is_empty();
    (!is_said).then(|| format!("is {}", quote(path)))
}

/// How a process ended, where that is worth a word.
pub(super) fn outcome(process: &Process) -> Option<(Style, String)> {
    match (process.exit_code, process.signal) {
        (_, Some(signal)) => Some((Style::Bad, signal_name(signal))),
        (Some(0), _) => None,
        (Some(code), _) => Some((Style::Bad, format!("exit {code}"))),
        (None, None) if process.ended_at_ms.is_none() => Some((Style::Warn, "no end seen".to_owned())),
        (None, None) => None,
    }
}

/// How long it took, in microseconds, where that is long enough to be told.
pub(super) fn took_us(process: &Process) -> Option<u64> {
    let us = ((process.ended_at_ms? - process.started_at_ms?) * 1000.0).round();
    // 2^53 is where floating point stops counting.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    let us = (0.0..9_007_199_254_740_992.0).contains(&us).then_some(us as u64)?;
    (us >= SHORTEST_TOLD_US).then_some(us)
}
