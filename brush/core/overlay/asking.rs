//! Whether a command asks what it is itself called: `$BASH_COMMAND` outside of traps.
//!
//! Upstream writes that variable before every command, which costs more than many commands do; it has no such file. Only
//! the words that were written are looked at; what an expansion comes to is not.

#![warn(warnings, clippy::all, clippy::pedantic)]

use brush_parser::ast::{CommandPrefixOrSuffixItem, SimpleCommand, Word};

/// The variable.
const NAME: &str = "BASH_COMMAND";
/// Commands that list all variables.
const LISTING: [&str; 4] = ["set", "declare", "typeset", "compgen"];

/// Whether the command's words name the variable, or list all there are.
pub(crate) fn asks_for_itself(command: &SimpleCommand) -> bool {
    let names = |word: &Word| word.value.contains(NAME);
    let item_names = |item: &CommandPrefixOrSuffixItem| match item {
        CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => names(word),
        _ => false,
    };
    let lists = |word: &Word| names(word) || LISTING.contains(&word.value.as_str());
    command.word_or_name.as_ref().is_some_and(lists)
        || command.prefix.as_ref().is_some_and(|items| items.0.iter().any(item_names))
        || command.suffix.as_ref().is_some_and(|items| items.0.iter().any(item_names))
}
