//! The same script under bash and under nash, in the same fresh folder.
//!
//! nash runs twice: as a plain shell, and observed, since neither may show. What bash does is right by definition; what a
//! test expects beside that only makes sure that the script did what it was written for.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::process::{Ended, Input, clean_command, run};
use super::programs::{BASH, DASH, nash};
use super::snapshot::{self, Snapshot};

/// A script and everything around it.
#[derive(Default)]
pub(crate) struct Duel {
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    files: Vec<(String, String)>,
    input: Option<String>,
    input_is_a_file: bool,
    with_stderr: bool,
    called: Option<String>,
    reference: Option<&'static str>,
    wrapper: Option<String>,
}

/// What a shell made of it.
pub(crate) struct Answer {
    pub(crate) ended: Ended,
    pub(crate) files: Snapshot,
}

impl Duel {
    /// `-c SCRIPT`, as an agent calls it.
    pub(crate) fn command(script: &str) -> Self {
        Self::arguments(&["-c", script])
    }

    /// Any command line.
    pub(crate) fn arguments(arguments: &[&str]) -> Self {
        Self { arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(), ..Self::default() }
    }

    /// The script on standard input, through a pipe.
    pub(crate) fn piped(script: &str) -> Self {
        Self { input: Some(script.to_owned()), ..Self::default() }
    }

    /// The script on standard input, from a file.
    pub(crate) fn from_file(script: &str) -> Self {
        Self { input_is_a_file: true, ..Self::piped(script) }
    }

    /// Standard input for a script that comes from elsewhere.
    pub(crate) fn input(self, text: &str) -> Self {
        Self { input: Some(text.to_owned()), ..self }
    }

    /// A variable in the shell's environment.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A file in the folder where the shell starts, which is also its home.
    pub(crate) fn file(mut self, name: &str, contents: &str) -> Self {
        self.files.push((name.to_owned(), contents.to_owned()));
        self
    }

    /// Standard error must be the same too.
    pub(crate) fn with_stderr(self) -> Self {
        Self { with_stderr: true, ..self }
    }

    /// The name that the shell is called by.
    pub(crate) fn called(self, name: &str) -> Self {
        Self { called: Some(name.to_owned()), ..self }
    }

    /// The `sh` persona, against the shell that it stands in for.
    pub(crate) fn against_dash(self) -> Self {
        Self { reference: Some(DASH), ..self.called("sh") }
    }

    /// A line of `sh` that starts the shell, which is `"$@"`.
    pub(crate) fn started_by(self, line: &str) -> Self {
        Self { wrapper: Some(line.to_owned()), ..self }
    }

    /// Runs both shells and gives what bash did.
    ///
    /// # Panics
    /// nash did something else.
    pub(crate) fn agree(self) -> Answer {
        let place = TempDir::new().unwrap();
        let bash = self.fight(Path::new(self.reference.unwrap_or(BASH)), place.path(), &[]);
        let plain = self.fight(nash(), place.path(), &[]);
        self.compare(&bash, &plain, "a plain shell");
        let spool = place.path().join("spool").display().to_string();
        let observed =
            self.fight(nash(), place.path(), &[("NUCLEIC_SHELL_SPOOL", &spool), ("NUCLEIC_SHELL_SOCKET", "")]);
        self.compare(&bash, &observed, "observed");
        bash
    }

    /// The same, and makes sure of what bash wrote.
    pub(crate) fn agree_on(self, stdout: &str) -> Answer {
        let answer = self.agree();
        assert_eq!(answer.ended.out(), stdout, "bash wrote something else; {}", answer.ended.err());
        answer
    }

    fn fight(&self, shell: &Path, place: &Path, more: &[(&str, &str)]) -> Answer {
        let home = place.join("home");
        let _ = fs::remove_dir_all(&home);
        fs::create_dir(&home).unwrap();
        for (name, contents) in &self.files {
            let path = home.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, contents).unwrap();
        }
        let input = self.input_from(place);
        let called = self.called.as_deref().unwrap_or("bash");
        let mut command = match &self.wrapper {
            // The system's `sh` is who is executed by that name; bash under it is another thing.
            None if called == "sh" => clean_command(&link_named(called, shell, place), called, &home),
            None => clean_command(shell, called, &home),
            Some(line) => {
                let mut command = clean_command(Path::new("/bin/sh"), "sh", &home);
                command.args(["-c", line, "sh"]).arg(link_named(called, shell, place));
                command
            }
        };
        command.args(&self.arguments).envs(self.variables.iter().cloned()).envs(more.iter().copied());
        let ended = run(command, &input);
        Answer { ended, files: snapshot::take(&home) }
    }

    fn input_from(&self, place: &Path) -> Input {
        let Some(text) = &self.input else { return Input::Null };
        if !self.input_is_a_file {
            return Input::Pipe(text.clone().into_bytes());
        }
        let path = place.join("input");
        fs::write(&path, text).unwrap();
        Input::File(path)
    }

    fn compare(&self, bash: &Answer, nash: &Answer, how: &str) {
        let script = self.arguments.last().or(self.input.as_ref());
        let script = script.map_or("", String::as_str);
        let head: String = script.chars().take(2000).collect();
        let told =
            format!("{how}, of\n{head}\nstderr of bash: {}\nstderr of nash: {}", bash.ended.err(), nash.ended.err());
        assert_eq!(bash.ended.out(), nash.ended.out(), "standard output of bash and nash as {told}");
        assert_eq!(bash.ended.status, nash.ended.status, "status of bash and nash as {told}");
        let differences = snapshot::differences(&bash.files, &nash.files);
        assert!(differences.is_empty(), "files of bash and nash as {told}\n{}", differences.join("\n"));
        if self.with_stderr {
            let (bash, nash) = (without_pids(&bash.ended.err()), without_pids(&nash.ended.err()));
            assert_eq!(bash, nash, "standard error of bash and nash as {told}");
        }
    }
}

/// Puts a word in the place of the process in a notice such as `bash: line 1: 4711 Terminated`, which is never the same.
/// It stands in five columns.
fn without_pids(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let notice = line.split_once(": line ").and_then(|(_, rest)| rest.split_once(": "));
        let pid = notice.map(|(_, rest)| rest.trim_start()).and_then(|rest| rest.split_once(' ')).map(|(pid, _)| pid);
        match pid.filter(|pid| !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit())) {
            Some(pid) => masked.push_str(&line.replacen(&format!("{pid:>5}"), "PID", 1)),
            None => masked.push_str(line),
        }
    }
    masked
}

/// Makes a link to a shell under the name that it is to be called by.
pub(crate) fn link_named(called: &str, shell: &Path, place: &Path) -> PathBuf {
    let folder = place.join("bin");
    fs::create_dir_all(&folder).unwrap();
    let link = folder.join(called);
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(shell, &link).unwrap();
    link
}
