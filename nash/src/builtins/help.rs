//! `help`: how builtins and keywords are used.
//!
//! Says little about each: the manual of the real shell has the rest.

use brush_core::patterns::Pattern;

use super::call::Call;
use super::options::Options;
use super::synopsis::{ENTRIES, Entry};

/// How many columns a line of the list has where nothing says otherwise.
const COLUMNS: usize = 80;

/// How much is told of a topic.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    All,
    Usage,
    Purpose,
    Page,
}

/// Runs the builtin.
pub(crate) fn run(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut options = Options::new("dms", &words);
    let mut telling = Telling::All;
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(found)) => {
                telling = match found.letter {
                    'd' => Telling::Purpose,
                    'm' => Telling::Page,
                    _ => Telling::Usage,
                }
            }
            Err(refusal) => return call.refuse(&refusal),
        }
    }
    let patterns = &words[options.used()..];
    if patterns.is_empty() {
        list(call);
        return 0;
    }
    if let Some(pattern) =
        patterns.iter().find(|pattern| pattern.contains(['*', '?', '['])).filter(|_| patterns[0].contains(['*', '?']))
    {
        let plural = if patterns.len() > 1 { "keywords" } else { "keyword" };
        let all = if patterns.len() > 1 { patterns.join(", ") } else { pattern.clone() };
        call.print(&format!("Shell commands matching {plural} `{all}'\n\n"));
    }
    let mut is_found = false;
    for pattern in patterns {
        for topic in topics(pattern) {
            is_found = true;
            let text = told(topic, telling);
            call.print(&text);
        }
    }
    if is_found {
        return 0;
    }
    if let Some(last) = patterns.last() {
        call.complain(&format!("no help topics match `{last}'.  Try `help help' or `man -k {last}' or `info {last}'."));
    }
    1
}

/// The topics that a pattern matches; else those that begin with it.
fn topics(pattern: &str) -> Vec<&'static Entry> {
    let matcher = Pattern::from(pattern);
    let matches = |entry: &&Entry| entry.name == pattern || matcher.exactly_matches(entry.name).unwrap_or(false);
    let found: Vec<_> = ENTRIES.iter().filter(matches).collect();
    if found.is_empty() { ENTRIES.iter().filter(|entry| entry.name.starts_with(pattern)).collect() } else { found }
}

fn told(entry: &Entry, telling: Telling) -> String {
    let Entry { name, usage, purpose } = entry;
    match telling {
        Telling::Usage => format!("{name}: {usage}\n"),
        Telling::Purpose => format!("{name} - {purpose}\n"),
        Telling::All => format!("{name}: {usage}\n    {purpose}\n"),
        Telling::Page => {
            format!("NAME\n    {name} - {purpose}\n\nSYNOPSIS\n    {usage}\n\nDESCRIPTION\n    {purpose}\n\n")
        }
    }
}

/// Lists all topics in two columns.
fn list(call: &mut Call<'_>) {
    let width = call.context.shell.env_str("COLUMNS").and_then(|columns| columns.parse().ok()).unwrap_or(COLUMNS) / 2;
    let width = width.clamp(4, 127);
    let cell = |entry: &Entry| {
        let is_off = call.context.shell.builtins().get(entry.name).is_some_and(|builtin| builtin.disabled);
        let mut cell = format!("{}{}", if is_off { '*' } else { ' ' }, entry.usage);
        if cell.len() > width - 1 {
            cell.truncate(width - 2);
            cell.push('>');
        }
        cell
    };
    let height = ENTRIES.len().div_ceil(2);
    let head = format!(
        "nash, a shell that stands in for GNU bash, version {}\nThese commands are part of it; `help NAME' tells a little about one, `man bash' everything.\nA star (*) marks those that are disabled.\n\n",
        crate::version::BASH_VERSION
    );
    let (left, right) = ENTRIES.split_at(height);
    let line = |(row, entry): (usize, &Entry)| match right.get(row) {
        Some(beside) => format!("{:width$}{}\n", cell(entry), cell(beside)),
        None => format!("{}\n", cell(entry)),
    };
    let lines: Vec<String> = left.iter().enumerate().map(line).collect();
    let text = head + &lines.concat();
    call.print(&text);
}
