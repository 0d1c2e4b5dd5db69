//! Operations on repositories, as commands of `git` and `gh` say them: for locks, feeds and whoever waits for a push.
//!
//! Reads one command's words, and asks no repository: what a word means there, such as an alias or a default remote, is not
//! known here.

use nash_events::ByteString;
use nash_events::event::{CommandType, Exec};
use serde::Serialize;

use crate::terminal_text::visible;

/// Options of git itself, before its command, that take a value of their own.
const GIT_OPTIONS_WITH_VALUE: [&[u8]; 7] =
    [b"-C", b"-c", b"--git-dir", b"--work-tree", b"--namespace", b"--config-env", b"--super-prefix"];

/// Options of git's commands that take a value of their own.
const OPTIONS_WITH_VALUE: [&[u8]; 22] = [
    b"-o",
    b"--push-option",
    b"--receive-pack",
    b"--exec",
    b"--upload-pack",
    b"--depth",
    b"--deepen",
    b"--shallow-since",
    b"--server-option",
    b"--reference",
    b"--origin",
    b"--template",
    b"-m",
    b"--message",
    b"-F",
    b"--file",
    b"--author",
    b"--date",
    b"-s",
    b"--strategy",
    b"-X",
    b"--onto",
];

/// One operation.
///
/// ```json
/// {"program":"git","op":"push","remote":"origin","branch":"main","force":true,"cwd":"/workspace","exitCode":0,"durationMs":812}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// `git` or `gh`.
    pub program: &'static str,
    /// Its command: `push`; for `gh` with the group, `pr create`.
    pub op: String,
    /// The remote or the repository, where the words name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The branch that it is about, where the words name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether history may be overwritten.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Whether nothing is done in earnest.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Where it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The exit status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Whole milliseconds from start to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// The operation that a command is; nothing for other commands, and for `git --version` and its like.
pub fn operation(exec: &Exec) -> Option<Operation> {
    if exec.command_type != CommandType::External {
        return None;
    }
    let (name, words) = exec.argv.split_first()?;
    let name = exec.resolved_path.as_ref().unwrap_or(name);
    let mut operation = match name.as_bytes().rsplit(|byte| *byte == b'/').next()? {
        b"git" => git(words)?,
        b"gh" => gh(words)?,
        _ => return None,
    };
    operation.cwd = exec.cwd.as_ref().map(text);
    operation.exit_code = exec.exit_code;
    operation.signal = exec.signal;
    operation.duration_ms = exec.duration_ms;
    Some(operation)
}

fn git(words: &[ByteString]) -> Option<Operation> {
    let command = position_of_word(words, &GIT_OPTIONS_WITH_VALUE)?;
    let op = text(&words[command]);
    let words = &words[command + 1..];
    let has = |names: &[&[u8]]| words.iter().any(|word| names.contains(&word.as_bytes()));
    let leases = words.iter().any(|word| word.as_bytes().starts_with(b"--force-with-lease"));
    let plain = plain_words(words, if op == "clone" { &[b"-b", b"--branch"] } else { &[] });
    let mut operation = Operation {
        program: "git",
        dry_run: has(&[b"--dry-run"]) || (op == "push" && has(&[b"-n"])),
        force: has(&[b"--force", b"-f", b"--mirror"]) || leases,
        ..Operation::default()
    };
    match op.as_str() {
        "push" | "fetch" | "pull" => {
            operation.remote = value_of(words, &[b"--repo"]).or_else(|| plain.first().map(|word| text(word)));
            operation.branch = plain.get(1).map(|refspec| branch_of(refspec));
            operation.force |= plain.iter().skip(1).any(|refspec| refspec.as_bytes().starts_with(b"+"));
        }
        "clone" | "ls-remote" => {
            operation.remote = plain.first().map(|word| text(word));
            operation.branch = value_of(words, &[b"-b", b"--branch"]);
        }
        "checkout" | "switch" => {
            let made = value_of(words, &[b"-b", b"-B", b"-c", b"-C", b"--orphan"]);
            operation.branch = made.or_else(|| plain.first().map(|word| text(word)));
        }
        "merge" | "rebase" | "branch" | "tag" => operation.branch = plain.first().map(|word| text(word)),
        _ => {}
    }
    operation.op = op;
    Some(operation)
}

fn gh(words: &[ByteString]) -> Option<Operation> {
    let plain = plain_words(
        words,
        &[b"-R", b"--repo", b"-H", b"--head", b"-B", b"--base", b"-t", b"--title", b"-b", b"--body"],
    );
    let group = text(plain.first()?);
    let op = match plain.get(1) {
        Some(command) if group != "api" => format!("{group} {}", text(command)),
        _ => group,
    };
    Some(Operation {
        program: "gh",
        op,
        remote: value_of(words, &[b"-R", b"--repo"]),
        branch: value_of(words, &[b"-H", b"--head"]),
        ..Operation::default()
    })
}

/// Where the first word stands that is neither an option nor the value of one.
fn position_of_word(words: &[ByteString], with_value: &[&[u8]]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if !word.as_bytes().starts_with(b"-") {
            return Some(at);
        }
        at += if with_value.contains(&word.as_bytes()) { 2 } else { 1 };
    }
    None
}

/// The words that are neither options nor values of options.
fn plain_words<'a>(mut words: &'a [ByteString], more: &[&[u8]]) -> Vec<&'a ByteString> {
    let with_value = [&OPTIONS_WITH_VALUE[..], more].concat();
    let mut plain = Vec::new();
    while let Some(at) = position_of_word(words, &with_value) {
        plain.push(&words[at]);
        words = &words[at + 1..];
    }
    plain
}

/// The value of an option, as a word of its own or behind an equals sign.
fn value_of(words: &[ByteString], names: &[&[u8]]) -> Option<String> {
    for (at, word) in words.iter().enumerate() {
        let word = word.as_bytes();
        if names.contains(&word) {
            return words.get(at + 1).map(text);
        }
        let behind = names
            .iter()
            .filter(|name| name.starts_with(b"--"))
            .find_map(|name| word.strip_prefix(*name)?.strip_prefix(b"="));
        if let Some(value) = behind {
            return Some(visible(value));
        }
    }
    None
}

/// The branch at the far end of a refspec.
fn branch_of(refspec: &ByteString) -> String {
    let refspec = refspec.as_bytes();
    let refspec = refspec.strip_prefix(b"+").unwrap_or(refspec);
    let far = refspec.rsplit(|byte| *byte == b':').next().unwrap_or_default();
    visible(far.strip_prefix(b"refs/heads/").unwrap_or(far))
}

fn text(word: &ByteString) -> String {
    visible(word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: Option<(&str, Option<&str>, Option<&str>, bool)>) {
        let exec = Exec { argv: line.split(' ').map(ByteString::from).collect(), ..Exec::default() };
        let found = operation(&exec);
        let seen = found
            .as_ref()
            .map(|found| (found.op.as_str(), found.remote.as_deref(), found.branch.as_deref(), found.force));
        assert_eq!(seen, expect, "{line}");
    }

    #[test]
    fn the_words_name_operation_remote_and_branch() {
        check("git push", Some(("push", None, None, false)));
        check("git push origin main", Some(("push", Some("origin"), Some("main"), false)));
        check(
            "/usr/bin/git -C /w -c a=b push --force -o ci.skip up HEAD:refs/heads/x",
            Some(("push", Some("up"), Some("x"), true)),
        );
        check("git push -u origin +a:b", Some(("push", Some("origin"), Some("b"), true)));
        check("git push --force-with-lease=x origin x", Some(("push", Some("origin"), Some("x"), true)));
        check(
            "git clone --depth 1 -b v2 https://e.org/r.git",
            Some(("clone", Some("https://e.org/r.git"), Some("v2"), false)),
        );
        check("git checkout -b topic", Some(("checkout", None, Some("topic"), false)));
        check("git --no-pager log", Some(("log", None, None, false)));
        check("gh pr create --repo o/r --head=topic", Some(("pr create", Some("o/r"), Some("topic"), false)));
        check("gh api repos/o/r", Some(("api", None, None, false)));
    }

    #[test]
    fn what_is_no_operation_is_none() {
        for line in ["git", "git --version", "git -C", "gh", "make git", "gitk push", "git-lfs push"] {
            check(line, None);
        }
    }
}
