//! The candidates of each action: names of things that the shell or the system knows.
//!
//! They come in bash's order, which for many is not sorted.

use brush_core::bytes;
use brush_core::namedoptions::{ShellOptionKind, options};
use brush_core::traps::TrapSignal;

use super::super::synopsis;
use crate::interpreter::Shell;

/// The keywords, in bash's order.
const KEYWORDS: [&str; 22] = [
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in",
    "function", "time", "{", "}", "!", "[[", "]]", "coproc",
];

/// The order in which bash asks for candidates.
pub(super) const ORDER: [&str; 24] = [
    "alias",
    "arrayvar",
    "binding",
    "builtin",
    "disabled",
    "enabled",
    "export",
    "function",
    "helptopic",
    "hostname",
    "job",
    "keyword",
    "running",
    "setopt",
    "shopt",
    "signal",
    "stopped",
    "variable",
    "command",
    "file",
    "user",
    "group",
    "service",
    "directory",
];

/// The candidates of an action for what has been typed of a word.
pub(super) fn candidates(shell: &Shell, action: &str, word: &str) -> Vec<String> {
    let all = match action {
        "alias" => shell.aliases().keys().cloned().collect(),
        "arrayvar" => variables(shell, |variable| variable.value().is_array()),
        "export" => variables(shell, |variable| variable.is_exported() && variable.value().is_set()),
        "variable" => variables(shell, |variable| variable.value().is_set()),
        "builtin" => builtins(shell, |_| true),
        "enabled" => builtins(shell, |is_off| !is_off),
        "disabled" => builtins(shell, |is_off| is_off),
        "function" => sorted(shell.funcs().iter().map(|(name, _)| name.clone()).collect()),
        "helptopic" => synopsis::ENTRIES.iter().map(|entry| entry.name.to_owned()).collect(),
        "keyword" => KEYWORDS.map(str::to_owned).to_vec(),
        "setopt" => named_options(ShellOptionKind::SetO),
        "shopt" => named_options(ShellOptionKind::Shopt),
        "signal" => signals(),
        "command" => commands(shell, word),
        "file" => return files(shell, word, false),
        "directory" => return files(shell, word, true),
        "user" => first_fields("/etc/passwd", ':'),
        "group" => first_fields("/etc/group", ':'),
        "service" => services(),
        "hostname" => host_names(),
        _ => vec![],
    };
    all.into_iter().filter(|name| name.starts_with(word)).collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

fn variables(shell: &Shell, is_wanted: fn(&brush_core::ShellVariable) -> bool) -> Vec<String> {
    let wanted = shell.env().iter().filter(|(_, variable)| is_wanted(variable));
    sorted(wanted.map(|(name, _)| name.clone()).collect())
}

fn builtins(shell: &Shell, is_wanted: fn(bool) -> bool) -> Vec<String> {
    let wanted = shell.builtins().iter().filter(|(_, builtin)| is_wanted(builtin.disabled));
    sorted(wanted.map(|(name, _)| name.clone()).collect())
}

fn named_options(kind: ShellOptionKind) -> Vec<String> {
    let mut names = sorted(options(kind).iter().map(|option| option.name.to_owned()).collect());
    // In bash's table these two have changed places.
    if let [first, second, ..] = names.as_mut_slice()
        && first == "assoc_expand_once"
    {
        std::mem::swap(first, second);
    }
    names
}

fn signals() -> Vec<String> {
    let all: Vec<String> = TrapSignal::iterator().map(|signal| signal.to_string()).collect();
    // The system's signals stand between the shell's first and its others.
    let (of_system, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|name| name.starts_with("SIG"));
    let (first, last): (Vec<_>, Vec<_>) = others.into_iter().partition(|name| name == "EXIT");
    [first, of_system, last].concat()
}

fn commands(shell: &Shell, word: &str) -> Vec<String> {
    if word.contains('/') {
        return files(shell, word, false).into_iter().filter(|path| super::super::lookup::is_program(path)).collect();
    }
    let mut names: Vec<String> =
        ["alias", "keyword", "function", "enabled"].iter().flat_map(|action| candidates(shell, action, word)).collect();
    for folder in super::super::lookup::paths(shell).split(':') {
        let programs = entries(folder)
            .into_iter()
            .filter(|name| name.starts_with(word) && super::super::lookup::is_program(&format!("{folder}/{name}")));
        names.extend(programs);
    }
    names
}

/// The names in a folder, in the order in which the system gives them.
fn entries(folder: &str) -> Vec<String> {
    let folder = if folder.is_empty() { "." } else { folder };
    let Ok(entries) = std::fs::read_dir(bytes::path(folder)) else { return vec![] };
    entries.flatten().map(|entry| bytes::encode_os(&entry.file_name())).collect()
}

fn files(shell: &Shell, word: &str, only_folders: bool) -> Vec<String> {
    let (folder, begin) = word.rfind('/').map_or(("", word), |index| word.split_at(index + 1));
    let home = || shell.env_str("HOME").unwrap_or_default().into_owned();
    let real =
        |path: &str| path.strip_prefix("~/").map_or_else(|| path.to_owned(), |rest| format!("{}/{rest}", home()));
    entries(&real(folder))
        .into_iter()
        .filter(|name| name.starts_with(begin))
        .map(|name| format!("{folder}{name}"))
        .filter(|path| !only_folders || bytes::path(&real(path)).is_dir())
        .collect()
}

fn lines(file: &str) -> Vec<String> {
    let text = std::fs::read(file).unwrap_or_default();
    bytes::encode_vec(text).lines().map(str::to_owned).collect()
}

fn first_fields(file: &str, separator: char) -> Vec<String> {
    lines(file).iter().filter_map(|line| line.split(separator).next().map(str::to_owned)).collect()
}

fn services() -> Vec<String> {
    let named = |line: &String| line.split('#').next()?.split_whitespace().next().map(str::to_owned);
    lines("/etc/services").iter().filter_map(named).collect()
}

fn host_names() -> Vec<String> {
    let named = |line: &String| {
        let line = line.split('#').next().unwrap_or_default().to_owned();
        line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    lines("/etc/hosts").iter().flat_map(named).collect()
}
