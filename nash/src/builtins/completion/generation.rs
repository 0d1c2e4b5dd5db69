//! `compgen`: prints the candidates of a specification.
//!
//! Word lists are expanded and functions are run by the interpreter.

use brush_core::builtins::BoxFuture;
use brush_core::patterns::Pattern;
use brush_core::{CommandArg, Error, ExecutionContext, ExecutionResult, SourceInfo};

use super::super::call::Call;
use super::super::{quoting, values};
use super::specification::Specification;
use super::{actions, refuse};
use crate::interpreter::Extensions;

/// Runs the builtin.
pub(crate) fn execute(
    context: ExecutionContext<'_, Extensions>,
    args: Vec<CommandArg>,
) -> BoxFuture<'_, Result<ExecutionResult, Error>> {
    Box::pin(async move {
        let mut call = Call::new(context, args);
        let status = run(&mut call).await;
        call.end(status)
    })
}

async fn run(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    if words.is_empty() || words == ["--"] {
        return 0;
    }
    let request = match Specification::parse("abcdefgjko:suvA:G:W:P:S:X:F:C:", &words) {
        Ok(request) => request,
        Err(mistake) => return refuse(call, mistake),
    };
    let word = words.get(request.used).cloned().unwrap_or_default();
    let specification = request.specification;
    if specification.function.is_some() {
        call.complain("warning: -F option may not work as you expect");
    }
    if specification.command.is_some() {
        call.complain("warning: -C option may not work as you expect");
    }
    let mut found = specification.candidates(call, &word).await;
    if let Some(filter) = &specification.filter {
        found = filtered(filter, &word, found, call.context.shell.options().extended_globbing);
    }
    let prefix = specification.prefix.as_deref().unwrap_or_default();
    let suffix = specification.suffix.as_deref().unwrap_or_default();
    for candidate in &found {
        call.print(&format!("{prefix}{candidate}{suffix}\n"));
    }
    u8::from(found.is_empty())
}

/// Without what a pattern matches; with `!` before it, without what it doesn't match. `&` is what has been typed.
fn filtered(filter: &str, word: &str, found: Vec<String>, is_extended: bool) -> Vec<String> {
    let (filter, keeps) = match filter.strip_prefix('!') {
        Some(rest) if !(is_extended && rest.starts_with('(')) => (rest, true),
        _ => (filter, false),
    };
    let pattern = Pattern::from(with_word(filter, word)).set_extended_globbing(is_extended);
    found.into_iter().filter(|candidate| pattern.exactly_matches(candidate).unwrap_or(false) == keeps).collect()
}

/// A filter with what has been typed in the place of `&`, unless a backslash protects that.
fn with_word(filter: &str, word: &str) -> String {
    let mut text = String::new();
    let mut letters = filter.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next_if_eq(&'&').is_some() => text.push('&'),
            '&' => text.push_str(word),
            other => text.push(other),
        }
    }
    text
}

impl Specification {
    async fn candidates(&self, call: &mut Call<'_>, word: &str) -> Vec<String> {
        let mut found = Vec::new();
        for action in actions::ORDER.iter().filter(|action| self.actions.contains(action)) {
            found.extend(actions::candidates(call.context.shell, action, word));
        }
        if let Some(pattern) = &self.pattern {
            found.extend(matches(call, pattern).await);
        }
        if let Some(words) = &self.words {
            let all = expanded(call, words).await;
            found.extend(all.into_iter().filter(|candidate| candidate.starts_with(word)));
        }
        if let Some(function) = &self.function {
            found.extend(by_function(call, function, word).await);
        }
        if let Some(command) = &self.command {
            found.extend(by_command(call, command, word).await);
        }
        if found.is_empty() && self.options.contains(&"default") {
            found.extend(actions::candidates(call.context.shell, "file", word));
        }
        let adds_folders =
            self.options.contains(&"plusdirs") || (found.is_empty() && self.options.contains(&"dirnames"));
        if adds_folders {
            found.extend(actions::candidates(call.context.shell, "directory", word));
        }
        found
    }
}

/// The files that a pattern matches.
async fn matches(call: &mut Call<'_>, pattern: &str) -> Vec<String> {
    let context = &mut call.context;
    let words = context.shell.full_expand_and_split_string(&context.params, escaped_blanks(pattern)).await;
    words.unwrap_or_default().into_iter().filter(|word| brush_core::bytes::path(word).exists()).collect()
}

fn escaped_blanks(pattern: &str) -> String {
    pattern.replace(' ', "\\ ")
}

/// A word list: split by `IFS` where it isn't quoted, each word expanded.
async fn expanded(call: &mut Call<'_>, words: &str) -> Vec<String> {
    let ifs = values::text(call.context.shell, "IFS").unwrap_or_else(|| " \t\n".to_owned());
    let mut found = Vec::new();
    for piece in split(words, &ifs) {
        let context = &mut call.context;
        if let Ok(word) = context.shell.basic_expand_string(&context.params, &piece).await {
            found.push(word);
        }
    }
    found
}

/// Splits where a separator is neither quoted nor in a substitution.
fn split(words: &str, ifs: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut quote = None;
    let mut depth = 0_usize;
    let mut letters = words.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if quote != Some('\'') => {
                piece.push(letter);
                piece.extend(letters.next());
                continue;
            }
            '\'' | '"' if quote.is_none() => quote = Some(letter),
            _ if quote == Some(letter) => quote = None,
            '(' | '{' if piece.ends_with('$') || depth > 0 => depth += 1,
            ')' | '}' if depth > 0 => depth -= 1,
            _ if quote.is_none() && depth == 0 && ifs.contains(letter) => {
                if !piece.is_empty() {
                    pieces.push(std::mem::take(&mut piece));
                }
                continue;
            }
            _ => {}
        }
        piece.push(letter);
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// What a function leaves in `COMPREPLY`.
async fn by_function(call: &mut Call<'_>, function: &str, word: &str) -> Vec<String> {
    if call.context.shell.funcs().get(function).is_none() {
        call.complain_for_shell(&format!("completion: function `{function}' not found"));
        return vec![];
    }
    call.flush();
    let context = &mut call.context;
    // One that is read-only stays as it is.
    let _ = context.shell.env_mut().unset("COMPREPLY");
    for (name, value) in [("COMP_KEY", "0"), ("COMP_TYPE", "0")] {
        let value = brush_core::ShellVariable::new(value);
        // One that is read-only stays as it is.
        let _ = context.shell.env_mut().set_global(name, value);
    }
    let arguments = ["compgen", word, ""];
    if context.shell.invoke_function(function, arguments, &context.params).await.is_err() {
        return vec![];
    }
    let shell = &*context.shell;
    let found = shell.env().get("COMPREPLY").map(|(_, variable)| variable.value().element_values(shell));
    let _ = call.context.shell.env_mut().unset("COMPREPLY");
    found.unwrap_or_default()
}

/// The lines that a command prints.
async fn by_command(call: &mut Call<'_>, command: &str, word: &str) -> Vec<String> {
    call.flush();
    let quoted = [word, ""].map(quoting::in_single_quotes).join(" ");
    let name = "COMPREPLY_LINES";
    let text = format!("mapfile -t {name} < <({command} compgen {quoted})");
    let place: SourceInfo = call.context.shell.call_stack().current_pos_as_source_info();
    if call.context.shell.run_string(text, &place, &call.context.params).await.is_err() {
        return vec![];
    }
    let shell = &*call.context.shell;
    let found = shell.env().get(name).map(|(_, variable)| variable.value().element_values(shell));
    let _ = call.context.shell.env_mut().unset(name);
    found.unwrap_or_default()
}
