//! `set`: switches options, sets the positional parameters, and lists variables and functions.
//!
//! What the options do is the interpreter's.

use super::call::{Call, USAGE};
use super::listing;
use super::named_options::Family;
use super::options::Refusal;
use crate::invocation::set_option_name;
use crate::persona::Persona;

/// One thing that `set` was asked for, in order.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Letter(char, bool),
    Named(String, bool),
    List(bool),
}

/// What `set` was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    steps: Vec<Step>,
    /// A lone `-`, which turns tracing off.
    ends_tracing: bool,
    /// The new positional parameters, if they change.
    parameters: Option<Vec<String>>,
}

/// Runs the builtin.
pub(crate) fn set(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    if words.is_empty() {
        let mut text = listing::all_variables(call.context.shell);
        if !call.context.shell.options().posix_mode {
            text.push_str(&listing::all_functions(call.context.shell));
        }
        call.print(&text);
        return 0;
    }
    let request = match Request::parse(&words) {
        Ok(request) => request,
        Err(refusal) => return call.refuse(&refusal),
    };
    for step in &request.steps {
        let shell = &mut *call.context.shell;
        match step {
            Step::Letter(letter, on) => {
                if let Some(name) = set_option_name(Persona::Bash, *letter) {
                    Family::Set.switch(shell, name, *on);
                }
            }
            Step::Named(name, on) if Family::Set.knows(shell, name) => Family::Set.switch(shell, name, *on),
            Step::Named(name, _) => {
                call.complain(&format!("{name}: invalid option name"));
                return call.fail_special(USAGE);
            }
            Step::List(as_table) => list(call, *as_table),
        }
    }
    if request.ends_tracing {
        Family::Set.switch(call.context.shell, "xtrace", false);
        Family::Set.switch(call.context.shell, "verbose", false);
    }
    if let Some(parameters) = request.parameters {
        call.context.shell.replace_shell_args(parameters);
    }
    0
}

/// Lists the options as a table, or as the commands that bring them back.
fn list(call: &mut Call<'_>, as_table: bool) {
    for name in Family::Set.names(call.context.shell) {
        let on = Family::Set.is_on(call.context.shell, name);
        call.print(&Family::Set.line(name, on, !as_table));
    }
}

impl Request {
    fn parse(words: &[String]) -> Result<Self, Refusal> {
        let mut request = Self::default();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let (on, cluster) = match word.as_bytes() {
                b"--help" => return Err(Refusal::Help),
                b"--" => {
                    request.parameters = Some(words.cloned().collect());
                    return Ok(request);
                }
                b"-" => {
                    request.ends_tracing = true;
                    request.parameters = Some(words.cloned().collect()).filter(|words: &Vec<String>| !words.is_empty());
                    return Ok(request);
                }
                [b'-', ..] => (true, &word[1..]),
                [b'+', ..] => (false, &word[1..]),
                _ => {
                    request.parameters = Some(std::iter::once(word).chain(words).cloned().collect());
                    return Ok(request);
                }
            };
            for letter in cluster.chars() {
                let step = if letter == 'o' {
                    let is_name = |word: &&String| !word.is_empty() && !word.starts_with(['-', '+']);
                    words.next_if(is_name).map_or(Step::List(on), |name| Step::Named(name.clone(), on))
                } else if set_option_name(Persona::Bash, letter).is_some() {
                    Step::Letter(letter, on)
                } else {
                    return Err(Refusal::Unknown(format!("{}{letter}", if on { '-' } else { '+' })));
                };
                request.steps.push(step);
            }
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::{Refusal, Request, Step};

    fn parse(words: &[&str]) -> Result<Request, Refusal> {
        Request::parse(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn options_end_at_the_first_parameter() {
        let request = parse(&["-e", "a", "-f"]).unwrap();
        assert_eq!(request.steps, [Step::Letter('e', true)]);
        assert_eq!(request.parameters.unwrap(), ["a", "-f"]);
    }

    #[test]
    fn a_name_follows_its_cluster_and_a_list_has_none() {
        let request = parse(&["-eo", "pipefail", "+o"]).unwrap();
        let expect = [Step::Letter('e', true), Step::Named("pipefail".into(), true), Step::List(false)];
        assert_eq!(request.steps, expect);
    }

    #[test]
    fn one_dash_keeps_the_parameters_and_two_drop_them() {
        assert_eq!(parse(&["-"]).unwrap(), Request { ends_tracing: true, ..Request::default() });
        assert_eq!(parse(&["--"]).unwrap().parameters, Some(vec![]));
        assert_eq!(parse(&["+"]).unwrap(), Request::default());
    }

    #[test]
    fn an_unknown_letter_refuses_the_whole() {
        assert_eq!(parse(&["-e", "+ez"]).unwrap_err(), Refusal::Unknown("+z".into()));
    }
}
