//! Walks the outline and lays its lines out.
//!
//! One walk makes the lines, one pass aligns what stands on their right. What the lines say comes from `words`.

use std::rc::Rc;

use nash_events::ByteString;
use nash_events::EventKind;
use nash_events::event::{NestingKind, Pipe};

use super::Options;
use super::figures;
use super::grove;
use super::outcome::{self, Outcome};
use super::outline::{Node, Outline, What};
use super::words;
use crate::paint::{Style, Text};
use crate::story::{Command, ShellStory, shares_its_process};

/// Levels that are indented: 24; what is deeper stands below each other.
const INDENTED_LEVELS_MAX: usize = 24;

/// Columns to which the right column is aligned where no width is given: 96; longer lines push it further.
const ALIGNED_COLUMNS_MAX: usize = 96;

/// Columns between a line's text and what stands on its right.
const GAP_COLUMNS: usize = 2;

/// Columns of a duration with the space before it: 8, for `59m59s` and `999.9ms`.
const DURATION_COLUMNS: usize = 8;

/// Draws every node.
pub(super) fn draw(outline: &Outline<'_>, options: &Options) -> String {
    let mut walk = Walk { outline, options, lines: Vec::with_capacity(outline.nodes.len()), scopes: Vec::new() };
    for (position, root) in outline.roots.iter().enumerate() {
        if position > 0 {
            walk.lines.push(Line::default());
        }
        walk.tree(*root);
    }
    lay_out(walk.lines, options)
}

/// A line with what stands on its right.
#[derive(Default)]
struct Line {
    left: Text,
    /// How it ended, in words.
    outcome: Option<(Style, String)>,
    took_us: Option<u64>,
    /// Whether it may run past the right column, since nothing of its own stands there.
    aside: bool,
}

struct Walk<'a> {
    outline: &'a Outline<'a>,
    options: &'a Options,
    lines: Vec<Line>,
    /// The working directory that was shown last, for each process that has its own.
    scopes: Vec<Option<&'a ByteString>>,
}

/// A node that is still to be drawn.
#[derive(Clone)]
struct Pending {
    node: usize,
    /// The lines that run past this one on its left.
    rails: Rc<str>,
    /// Whether it is the last of its siblings, or a root.
    place: Place,
    /// Signs of levels that share its line.
    label: Text,
    /// What stands behind its text.
    suffix: Text,
    scope: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    Inner,
    Last,
}

impl<'a> Walk<'a> {
    fn node(&self, index: usize) -> &'a Node<'a> {
        &self.outline.nodes[index]
    }

    fn tree(&mut self, root: usize) {
        let scope = self.new_scope(None);
        let start = Pending {
            node: root,
            rails: Rc::from(""),
            place: Place::Root,
            label: Text::new(),
            suffix: Text::new(),
            scope,
        };
        let mut pending = vec![start];
        while let Some(next) = pending.pop() {
            self.visit(next, &mut pending);
        }
    }

    fn new_scope(&mut self, copied: Option<usize>) -> usize {
        self.scopes.push(copied.and_then(|scope| self.scopes[scope]));
        self.scopes.len() - 1
    }

    fn visit(&mut self, mut at: Pending, pending: &mut Vec<Pending>) {
        let node = self.node(at.node);
        if self.share_line(node, &mut at) {
            pending.push(at);
            return;
        }
        let mut children = node.children.as_slice();
        let mut line = Line::default();
        line.left.push_parts(Style::Dim, &[&at.rails, self.branch(&at)]).append(std::mem::take(&mut at.label));
        match node.what {
            What::Shell(shell) => {
                at.scope = self.new_scope(None);
                self.scopes[at.scope] = shell.start.as_ref().and_then(|start| start.cwd.as_ref());
                line.left.append(words::shell(shell));
                (line.outcome, line.took_us) = (outcome::shell_outcome(shell), shell_duration(shell));
            }
            What::Command(command) => self.command_line(command, &at, &mut line),
            What::Pipeline(len) => {
                if let Some(commands) = self.simple_elements(node, len) {
                    self.pipeline_line(&commands, &node.links, &at, &mut line);
                    children = &[];
                } else {
                    line.left.push(Style::Dim, format!("pipeline of {len}"));
                }
            }
            What::Element(index, link) => {
                line.left.push(Style::Dim, words::link_to(index, link, self.options));
                line.left.push(Style::Plain, format!("{{ {} }}", self.options.ellipsis()));
            }
            What::Level(kind, came) => {
                line.left
                    .push(Style::Dim, words::level(kind, came.text.map(|text| text.what), came.pipe, self.options));
                if let Some(text) = came.text {
                    line.left.append(words::substituted(text.what, self.options));
                }
                at.scope = self.scope_in(kind, at.scope);
            }
            What::Compound(command, is_subshell) => {
                line.left.append(words::compound(command, is_subshell, self.options));
                if is_subshell {
                    at.scope = self.new_scope(Some(at.scope));
                }
            }
            What::CompoundRedirect(redirect) => {
                line.left.append(words::compound_redirect(redirect, self.options));
            }
            What::Cmdsub(text) => {
                line.left.append(words::cmdsub(text.what, self.options));
            }
            What::Process(process) => {
                line.left.append(grove::process(process, self.options));
                (line.outcome, line.took_us) = (grove::outcome(process), grove::took_us(process));
            }
            What::WentOn(executed, between) => {
                line.left.append(grove::went_on(executed, between, self.options));
            }
            What::Strangers(count) => {
                let processes = match count {
                    0 => "processes",
                    1 => "1 process",
                    _ => &format!("{count} processes"),
                };
                line.left.push(Style::Warn, format!("! {processes} of no known shell"));
            }
            What::Doings(place) => return self.doings(place, &at),
            What::Event(event) => {
                let warns = matches!(event.kind, EventKind::Fallback(_) | EventKind::Tamper(_) | EventKind::Denied(_));
                line.left.push(Style::Warn, if warns { "! " } else { "" }).append(words::event(event, self.options));
                if let EventKind::Cd(cd) = &event.kind {
                    self.scopes[at.scope] = Some(&cd.to);
                }
            }
        }
        line.left.append(std::mem::take(&mut at.suffix));
        self.lines.push(line);
        self.push_children(&at, children, pending);
    }

    /// What a process did has no branch of its own: it goes on below the process's line.
    fn doings(&mut self, place: usize, at: &Pending) {
        let below = match (at.place, self.options.unicode) {
            (Place::Inner, true) => "│    ",
            (Place::Inner, false) => "|    ",
            _ => "     ",
        };
        let columns = at.rails.chars().chain(below.chars()).count();
        let room = self.options.width.unwrap_or(ALIGNED_COLUMNS_MAX).saturating_sub(columns);
        for doings in grove::lines(&self.outline.doings[place], room, self.options) {
            let mut line = Line { aside: true, ..Line::default() };
            line.left.push_parts(Style::Dim, &[&at.rails, below]).append(doings);
            self.lines.push(line);
        }
    }

    /// A level or an element around one command shares the command's line.
    fn share_line(&mut self, node: &Node<'a>, at: &mut Pending) -> bool {
        let [only] = node.children.as_slice() else { return false };
        let only_one = self.node(*only).what;
        let fits = matches!(only_one, What::Command(_) | What::Compound(..) | What::Level(..) | What::Pipeline(_));
        match node.what {
            What::Level(kind, came) if fits => {
                at.label.push(
                    Style::Dim,
                    format!("{} ", words::level(kind, came.text.map(|text| text.what), came.pipe, self.options)),
                );
                if let Some(text) = came.text {
                    at.suffix.append(words::substituted(text.what, self.options));
                }
                at.scope = self.scope_in(kind, at.scope);
            }
            What::Element(index, link) if fits => {
                at.label.push(Style::Dim, words::link_to(index, link, self.options));
                at.scope = self.new_scope(Some(at.scope));
            }
            _ => return false,
        }
        at.node = *only;
        true
    }

    /// Levels that are processes of their own have a working directory of their own.
    fn scope_in(&mut self, kind: &NestingKind, scope: usize) -> usize {
        if shares_its_process(kind) { scope } else { self.new_scope(Some(scope)) }
    }

    fn command_line(&mut self, command: &'a Command, at: &Pending, line: &mut Line) {
        let (style, glyph) = Outcome::of(command).glyph(self.options);
        line.left.push_parts(style, &[glyph, " "]);
        words::command_onto(command, self.options, &mut line.left);
        if let Some(elsewhere) = self.moved_to(command, at.scope) {
            line.left.push(Style::Dim, format!("  in {}", crate::terminal_text::visible(elsewhere.as_bytes())));
        }
        (line.outcome, line.took_us) = (outcome::outcome(command), words::took_us(command));
    }

    /// The command's working directory, where that is another than the reader knows of.
    fn moved_to(&mut self, command: &'a Command, scope: usize) -> Option<&'a ByteString> {
        let cwd = command.exec.as_ref().and_then(|exec| exec.cwd.as_ref());
        let moved = cwd.filter(|cwd| self.scopes[scope] != Some(*cwd));
        self.scopes[scope] = moved.or(self.scopes[scope]);
        for event in &command.events {
            if let EventKind::Cd(cd) = &event.kind {
                self.scopes[scope] = Some(&cd.to);
            }
        }
        moved
    }

    /// The commands of a pipeline of which every element is one command with nothing below it.
    fn simple_elements(&self, node: &Node<'a>, len: u32) -> Option<Vec<&'a Command>> {
        let simple = |element: &usize| match self.node(*element).children.as_slice() {
            [only] if self.node(*only).children.iter().all(|child| self.says_little(*child)) => {
                match self.node(*only).what {
                    What::Command(command) => Some(command),
                    _ => None,
                }
            }
            _ => None,
        };
        let commands: Vec<&Command> = node.children.iter().map_while(simple).collect();
        let fits = |width: usize| {
            commands.iter().map(|command| words::command(command, self.options).width() + 5).sum::<usize>() < width
        };
        let whole = commands.len() == node.children.len() && commands.len() as u64 == u64::from(len);
        (whole && fits(self.options.width.unwrap_or(ALIGNED_COLUMNS_MAX).saturating_sub(20))).then_some(commands)
    }

    /// Whether a pipeline may stay on one line without it.
    fn says_little(&self, node: usize) -> bool {
        matches!(self.node(node).what, What::Doings(place) if self.outline.doings[place].only_reads())
    }

    fn pipeline_line(&mut self, commands: &[&'a Command], links: &[&Pipe], at: &Pending, line: &mut Line) {
        let worst = commands.iter().map(|command| Outcome::of(command)).max().unwrap_or(Outcome::Unknown);
        let uniform = commands.iter().all(|command| Outcome::of(command) == worst);
        let mut states = Vec::new();
        for (position, command) in commands.iter().enumerate() {
            if position > 0 {
                let index = u32::try_from(position).unwrap_or(u32::MAX);
                let link = links.iter().find(|link| link.to_index == Some(index));
                line.left.push(Style::Dim, format!(" {}", words::link_to(index, link.copied(), self.options)));
            }
            if position == 0 || !uniform {
                let (style, glyph) = Outcome::of(command).glyph(self.options);
                line.left.push_parts(style, &[glyph, " "]);
            }
            words::command_onto(command, self.options, &mut line.left);
            let scope = self.new_scope(Some(at.scope));
            if let Some(elsewhere) = self.moved_to(command, scope) {
                line.left.push(Style::Dim, format!("  in {}", crate::terminal_text::visible(elsewhere.as_bytes())));
            }
            states.extend(outcome::outcome(command));
        }
        let took = commands.iter().filter_map(|command| words::took_us(command)).max();
        let style = states.iter().map(|(style, _)| *style).find(|style| *style == Style::Bad);
        let said: Vec<String> = states.iter().map(|(_, words)| words.clone()).collect();
        let outcome = (!said.is_empty()).then(|| (style.unwrap_or(Style::Warn), said.join(", ")));
        (line.outcome, line.took_us) = (outcome, took);
    }

    /// What leads from the lines on the left to the text.
    fn branch(&self, at: &Pending) -> &'static str {
        match (at.place, self.options.unicode) {
            (Place::Root, _) => "",
            (Place::Inner, true) => "├─ ",
            (Place::Last, true) => "└─ ",
            (Place::Inner, false) => "|- ",
            (Place::Last, false) => "`- ",
        }
    }

    fn push_children(&mut self, at: &Pending, children: &[usize], pending: &mut Vec<Pending>) {
        if children.is_empty() {
            return;
        }
        let more = match (at.place, self.options.unicode) {
            (Place::Root, _) => "",
            (Place::Inner, true) => "│  ",
            (Place::Inner, false) => "|  ",
            (Place::Last, _) => "   ",
        };
        let is_deep = at.rails.chars().count() >= 3 * INDENTED_LEVELS_MAX;
        let rails = if is_deep || more.is_empty() { Rc::clone(&at.rails) } else { [&at.rails, more].concat().into() };
        for (position, child) in children.iter().enumerate().rev() {
            let place = if position + 1 == children.len() { Place::Last } else { Place::Inner };
            pending.push(Pending {
                node: *child,
                rails: Rc::clone(&rails),
                place,
                label: Text::new(),
                suffix: Text::new(),
                scope: at.scope,
            });
        }
    }
}

fn shell_duration(shell: &ShellStory) -> Option<u64> {
    let ms = shell.ended_at_ms? - shell.started_at_ms?;
    let us = (ms * 1000.0).round();
    // A clock that was set back makes no duration; 2^53 is where floating point stops counting.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    (0.0..9_007_199_254_740_992.0).contains(&us).then_some(us as u64)
}

/// Puts what stands on the right into two columns, as near to the text as they can be.
fn lay_out(lines: Vec<Line>, options: &Options) -> String {
    let outcome_width = lines.iter().map(Line::outcome_width).max().unwrap_or(0);
    let took_width = if lines.iter().any(|line| line.took_us.is_some()) { DURATION_COLUMNS } else { 0 };
    let right_width = outcome_width + took_width;
    let limit = options.width.unwrap_or(ALIGNED_COLUMNS_MAX);
    let room = limit.saturating_sub(right_width + GAP_COLUMNS).max(limit / 2);
    let widths: Vec<usize> = lines.iter().map(|line| line.left.width()).collect();
    let aligned = lines.iter().zip(&widths).filter(|(line, _)| !line.aside);
    let column = aligned.map(|(_, width)| (*width).min(room)).max().unwrap_or(0);
    let mut out = String::with_capacity(lines.iter().map(|line| line.left.len() + right_width + GAP_COLUMNS).sum());
    for (mut line, mut width) in lines.into_iter().zip(widths) {
        let has_right = line.outcome.is_some() || line.took_us.is_some();
        let limit = if has_right { room } else { limit };
        if options.width.is_some() && width > limit {
            line.left.cut(limit, if options.unicode { "…" } else { "~" });
            width = line.left.width();
        }
        if has_right {
            line.pad_and_append(width, column + GAP_COLUMNS, outcome_width);
        }
        line.left.write(options.color, &mut out);
        out.push('\n');
    }
    out
}

impl Line {
    fn outcome_width(&self) -> usize {
        self.outcome.as_ref().map_or(0, |(_, words)| words.chars().count())
    }

    /// A line that is too long pushes its own right side on, not that of the others.
    fn pad_and_append(&mut self, width: usize, column: usize, outcome_width: usize) {
        let end_of_outcome = column + outcome_width;
        let padding = end_of_outcome.saturating_sub(width + self.outcome_width()).max(GAP_COLUMNS);
        self.left.pad(padding);
        if let Some((style, words)) = self.outcome.take() {
            self.left.push(style, words);
        }
        if let Some(us) = self.took_us {
            self.left.push(Style::Dim, format!("{:>DURATION_COLUMNS$}", figures::duration(us)));
        }
    }
}
