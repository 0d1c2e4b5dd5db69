//! What the end of a builtin says about the shell's state: directory, variables, traps, and hands laid on nash's own
//! variables.
//!
//! Reads the builtin's words after expansion, as the builtin did. Values are never looked at, names only.

use std::path::Path;

use brush_core::gate::{ExecEnd, RedirectEvent, RedirectTarget};
use nash_events::CmdId;
use nash_events::event::{Cd, CdVia, EventKind, Export, ExportOp, Tamper, Trap, TrapOp};

use super::spans::BuiltinCall;
use super::watch::Stream;
use super::words;

/// How nash's own variables begin.
const OWN_PREFIX: &str = "NUCLEIC_";

/// Reports what a builtin that ended has changed.
pub(super) fn report(stream: &Stream, command: CmdId, call: &BuiltinCall, end: &ExecEnd) {
    let Some((name, args)) = call.argv.split_first() else { return };
    if let (Some(via), Some(cwd)) = (directory_builtin(name), &end.cwd)
        && *cwd != call.cwd
    {
        stream.record(Some(command), &EventKind::Cd(Box::new(changed_directory(&call.cwd, cwd, via))));
    }
    if end.status != Some(0) {
        return;
    }
    if let Some(export) = changed_variables(name, args) {
        let own = export.names.iter().filter(|name| name.starts_with(OWN_PREFIX));
        let own: Vec<String> = own.map(|variable| format!("{name} {variable}")).collect();
        if !export.names.is_empty() {
            stream.record(Some(command), &EventKind::Export(export));
        }
        for what in own {
            stream.record(Some(command), &EventKind::Tamper(Tamper { what }));
        }
    }
    if name == "trap"
        && let Some(trap) = changed_trap(args)
    {
        stream.record(Some(command), &EventKind::Trap(Box::new(trap)));
    }
}

/// Reports an assignment to one of nash's own variables, whether on its own or before a command.
pub(super) fn report_assignment(stream: &Stream, command: Option<CmdId>, variable: &str) {
    if variable.starts_with(OWN_PREFIX) {
        let what = words::masked(&format!("assigned {variable}"));
        stream.record(command, &EventKind::Tamper(Tamper { what }));
    }
}

/// Reports `env` changing or removing one of nash's own variables for the program that it starts.
pub(super) fn report_environment(stream: &Stream, command: CmdId, argv: &[String]) {
    let is_env = argv.first().is_some_and(|name| name.rsplit('/').next() == Some("env"));
    if !is_env {
        return;
    }
    for word in argv.iter().skip(1) {
        let word = word.strip_prefix("--unset=").or_else(|| word.strip_prefix("-u")).unwrap_or(word);
        if word.starts_with(OWN_PREFIX) {
            let what = words::masked(&format!("env {}", variable_name(word)));
            stream.record(Some(command), &EventKind::Tamper(Tamper { what }));
        }
    }
}

/// Reports a redirection that writes into the spool.
pub(super) fn report_redirection(
    stream: &Stream,
    command: Option<CmdId>,
    redirect: &RedirectEvent<'_>,
    spool: Option<&Path>,
) {
    let RedirectTarget::Path(path) = redirect.target else { return };
    let writes = !redirect.operator.ends_with('<');
    if writes && spool.is_some_and(|spool| path.starts_with(spool)) {
        let what = words::masked(&format!("wrote {}", path.display()));
        stream.record(command, &EventKind::Tamper(Tamper { what }));
    }
}

fn directory_builtin(name: &str) -> Option<CdVia> {
    match name {
        "cd" => Some(CdVia::Cd),
        "pushd" => Some(CdVia::Pushd),
        "popd" => Some(CdVia::Popd),
        _ => None,
    }
}

fn changed_directory(from: &Path, to: &Path, via: CdVia) -> Cd {
    use std::os::unix::ffi::OsStrExt as _;
    let mut redacted = Vec::new();
    let from = words::text_into(from.as_os_str().as_bytes(), &mut redacted);
    let to = words::text_into(to.as_os_str().as_bytes(), &mut redacted);
    Cd { from: Some(from), to, via: Some(via), redacted }
}

/// The variables that a builtin declared, exported or removed; nothing where it only printed.
fn changed_variables(name: &str, args: &[String]) -> Option<Export> {
    let op = match name {
        "export" => ExportOp::Export,
        "declare" | "typeset" => ExportOp::Declare,
        "unset" => ExportOp::Unset,
        "readonly" => ExportOp::Readonly,
        "local" => ExportOp::Local,
        _ => return None,
    };
    let is_option = |arg: &&String| arg.len() > 1 && (arg.starts_with('-') || arg.starts_with('+'));
    let options: String = args.iter().take_while(is_option).map(String::as_str).collect();
    let about_functions = options.contains(['f', 'F']);
    if options.contains('p') || about_functions {
        return None;
    }
    // `export $TOKEN` makes a name of what was meant as a value.
    let mut redacted = Vec::new();
    let names = args
        .iter()
        .skip_while(is_option)
        .map(|arg| words::text_into(variable_name(arg), &mut redacted).to_text().into_owned());
    Some(Export { names: names.collect(), op, redacted })
}

/// The name in `NAME`, `NAME=value`, `NAME+=value` and `NAME[i]=value`.
fn variable_name(word: &str) -> &str {
    let name = word.split(['=', '[']).next().unwrap_or(word);
    name.strip_suffix('+').unwrap_or(name)
}

/// What `trap` changed; nothing where it only printed.
fn changed_trap(args: &[String]) -> Option<Trap> {
    let args = match args.split_first() {
        Some((first, _)) if matches!(first.as_str(), "-p" | "-l" | "-P") => return None,
        Some((first, rest)) if first == "--" => rest,
        _ => args,
    };
    let (action, signals) = args.split_first()?;
    let names = |signals: &[String]| signals.iter().map(|signal| signal_name(signal)).collect::<Vec<_>>();
    // A single word, or a number first, means that these signals go back to their default.
    if signals.is_empty() || action.bytes().all(|byte| byte.is_ascii_digit()) && !action.is_empty() {
        return Some(Trap { signals: names(args), op: TrapOp::Reset, action: None, redacted: Vec::new() });
    }
    let signals = names(signals);
    Some(match action.as_str() {
        "-" => Trap { signals, op: TrapOp::Reset, action: None, redacted: Vec::new() },
        "" => Trap { signals, op: TrapOp::Ignore, action: None, redacted: Vec::new() },
        handler => {
            let (text, redacted) = words::text(handler);
            Trap { signals, op: TrapOp::Set, action: Some(text), redacted }
        }
    })
}

fn signal_name(word: &str) -> String {
    let upper = word.to_ascii_uppercase();
    match upper.as_str() {
        "0" => "EXIT".to_owned(),
        name => name.strip_prefix("SIG").unwrap_or(name).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(words: &str) -> Option<Export> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        changed_variables(&words[0], &words[1..])
    }

    #[test]
    fn names_are_reported_without_their_values() {
        let export = variables("export A=secret B C+=x D[3]=y").unwrap();
        assert_eq!((export.names, export.op), (["A", "B", "C", "D"].map(str::to_owned).to_vec(), ExportOp::Export));
    }

    #[test]
    fn a_token_that_was_taken_for_a_name_is_masked() {
        let export = variables(&format!("export ghp_{}", "a1B2c3D4".repeat(5))).unwrap();
        assert_eq!((export.names, export.redacted), (vec!["ghp_****".to_owned()], vec!["github-token".to_owned()]));
    }

    #[test]
    fn printing_and_functions_change_no_variable() {
        for words in ["export -p", "declare -p PATH", "declare -f f", "unset -f f", "echo A=1"] {
            assert_eq!(variables(words), None, "{words}");
        }
    }

    fn trap(words: &[&str]) -> Option<Trap> {
        changed_trap(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn a_trap_is_set_reset_or_ignored() {
        let set = trap(&["rm -f x", "EXIT", "sigint"]).unwrap();
        assert_eq!((set.signals, set.op), (vec!["EXIT".to_owned(), "INT".to_owned()], TrapOp::Set));
        assert_eq!(trap(&["", "TERM"]).unwrap().op, TrapOp::Ignore);
        assert_eq!(trap(&["-", "TERM"]).unwrap().op, TrapOp::Reset);
        assert_eq!(trap(&["TERM"]).unwrap().op, TrapOp::Reset);
        assert_eq!(trap(&["0"]).unwrap().signals, ["EXIT"]);
        assert_eq!(trap(&["-p"]), None);
        assert_eq!(trap(&[]), None);
    }
}
