//! Which command encloses which.
//!
//! Where the shell does not name the enclosing command, the levels of nesting and the order of starts tell functions and
//! sourced files; substitutions and subshells then stand on their own. Nothing here draws anything.

use nash_events::CmdId;
use nash_events::event::{CommandType, Exec, NestingKind};

use super::{Command, Parent, ParentRule};
use crate::graph::break_circles;

/// Names the parent of every command that has one. The commands stand in the order of their starts.
pub(super) fn find_parents(commands: &mut [Command]) {
    let by_cmd = ByCmd::of(commands);
    let mut path = Path::default();
    let mut parents: Vec<Option<(usize, ParentRule)>> = Vec::with_capacity(commands.len());
    for (index, command) in commands.iter().enumerate() {
        let is_told = command.exec.is_some() || command.surroundings.is_some();
        let inferred =
            is_told.then(|| path.enter(index, commands)).flatten().map(|parent| (parent, ParentRule::Nesting));
        let named = named_parent(command, commands, &by_cmd);
        parents.push(named.map(|parent| (parent, ParentRule::ParentCmd)).or(inferred));
    }
    let mut links: Vec<Option<usize>> = parents.iter().map(|parent| parent.map(|(index, _)| index)).collect();
    break_circles(&mut links);
    for (index, link) in links.into_iter().enumerate() {
        let rule = parents[index].map(|(_, rule)| rule);
        commands[index].parent =
            link.and_then(|parent| commands[parent].cmd).zip(rule).map(|(cmd, rule)| Parent { cmd, rule });
    }
}

/// Steps up from a named parent that can't be one: 8; a list of background jobs needs one.
const STEPS_UP_MAX: usize = 8;

/// The command that the shell names, or the one around it where it is merely what ran before: a background list and a trap
/// have no owner but what encloses both.
fn named_parent(command: &Command, commands: &[Command], by_cmd: &ByCmd) -> Option<usize> {
    let mut named = command.named_parent()?;
    for _ in 0..STEPS_UP_MAX {
        let index = by_cmd.get(named)?;
        let parent = &commands[index];
        if can_enclose(parent, command) {
            return Some(index);
        }
        named = parent.named_parent()?;
    }
    None
}

/// Whether commands of another can run inside a command at all.
fn can_enclose(parent: &Command, command: &Command) -> bool {
    let Some(exec) = &parent.exec else { return true };
    let first_level = levels_below(command, parent).first();
    let owns_words = matches!(first_level, Some(NestingKind::Cmdsub | NestingKind::Procsub) | None);
    owns_words || runs_commands(exec)
}

/// Whether a command is one that runs others: a function, or a builtin for that purpose.
pub(crate) fn runs_commands(exec: &Exec) -> bool {
    let name = exec.argv.first().map_or(&b""[..], |name| name.as_bytes());
    exec.command_type == CommandType::Function || matches!(name, b"eval" | b"." | b"source" | b"command" | b"builtin")
}

/// Whether what runs at a level runs in the process around it, and may change that one's working directory.
pub(crate) fn shares_its_process(level: &NestingKind) -> bool {
    matches!(level, NestingKind::Top | NestingKind::Function(_) | NestingKind::Source(_) | NestingKind::Trap(_))
}

/// The levels of a command that are not its parent's as well.
fn levels_below<'a>(command: &'a Command, parent: &Command) -> &'a [NestingKind] {
    let stack = command.stack();
    let shared = parent.stack().iter().zip(stack).take_while(|(above, level)| above == level).count();
    &stack[shared..]
}

/// The levels that are open at a point of the script, and the newest command at each of them.
#[derive(Default)]
struct Path {
    /// Each level with the command that opened it, where it is known.
    levels: Vec<(NestingKind, Option<usize>)>,
    /// The newest command at each depth; the first is the script's own.
    newest: Vec<Option<usize>>,
}

impl Path {
    /// Goes to where a command stands; tells the innermost known command around it.
    fn enter(&mut self, index: usize, commands: &[Command]) -> Option<usize> {
        let stack = commands[index].stack();
        let shared = self.levels.iter().zip(stack).take_while(|((open, _), level)| open == *level).count();
        self.levels.truncate(shared);
        self.newest.resize(shared + 1, None);
        for level in &stack[shared..] {
            let opener = self.newest.last().copied().flatten();
            let opener = opener.filter(|opener| commands[*opener].exec.as_ref().is_some_and(|exec| opens(exec, level)));
            self.levels.push((level.clone(), opener));
            self.newest.push(None);
        }
        // What was not reported opens no level, so what ran before it may still be the opener.
        if commands[index].exec.is_some()
            && let Some(newest) = self.newest.last_mut()
        {
            *newest = Some(index);
        }
        self.levels.iter().rev().find_map(|(_, opener)| *opener)
    }
}

/// Whether a command is one whose commands run at such a level.
pub(crate) fn opens(exec: &Exec, level: &NestingKind) -> bool {
    let name = exec.argv.first().map_or(&b""[..], |name| name.as_bytes());
    match level {
        NestingKind::Function(function) => exec.command_type == CommandType::Function && name == function.as_bytes(),
        NestingKind::Source(_) => matches!(name, b"." | b"source"),
        _ => false,
    }
}

/// The levels of a command that its parent does not explain, outermost first.
pub(crate) fn levels_below_parent<'a>(command: &'a Command, parent: Option<&Command>) -> &'a [NestingKind] {
    let Some(parent) = parent else { return command.stack() };
    let below = levels_below(command, parent);
    // A function that runs as an element of a pipeline has its own level inside the process's.
    let opened = |level| parent.exec.as_ref().is_some_and(|exec| opens(exec, level));
    let explained = below.iter().position(opened).map_or(0, |position| position + 1);
    &below[explained..]
}

/// The places of a shell's commands by their numbers, which are given one after the other.
#[derive(Debug, Default)]
pub(crate) struct ByCmd(Vec<(CmdId, usize)>);

impl ByCmd {
    /// Of commands in any order.
    pub(crate) fn of(commands: &[Command]) -> Self {
        let numbered = commands.iter().enumerate().filter_map(|(index, command)| Some((command.cmd?, index)));
        let mut places: Vec<(CmdId, usize)> = numbered.collect();
        if !places.is_sorted() {
            places.sort_unstable();
        }
        Self(places)
    }

    /// The place of the command with a number.
    pub(crate) fn get(&self, cmd: CmdId) -> Option<usize> {
        // Where no command is missing, it stands as far from the first as its number says.
        let first = self.0.first()?.0.0;
        let guess = cmd.0.checked_sub(first).and_then(|after| usize::try_from(after).ok());
        let guessed = guess.and_then(|guess| self.0.get(guess)).filter(|(known, _)| *known == cmd);
        let found = || self.0.binary_search_by_key(&cmd, |(known, _)| *known).ok().map(|place| &self.0[place]);
        guessed.or_else(found).map(|(_, index)| *index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_by_number_in_any_order_and_with_numbers_missing() {
        let command = |cmd: Option<u64>| Command { cmd: cmd.map(CmdId), ..Command::default() };
        for numbers in [vec![3, 4, 5, 6], vec![6, 1, 9, 3], vec![1, 2, 4, 5, 9], vec![0, u64::MAX], vec![]] {
            let mut commands: Vec<Command> = numbers.iter().map(|cmd| command(Some(*cmd))).collect();
            commands.insert(0, command(None));
            let by_cmd = ByCmd::of(&commands);
            for cmd in (0..12).chain([u64::MAX]).map(CmdId) {
                assert_eq!(
                    by_cmd.get(cmd),
                    commands.iter().position(|known| known.cmd == Some(cmd)),
                    "{cmd} {numbers:?}"
                );
            }
        }
    }
}
