//! Prompts: what `PS4` and `${x@P}` become.
//!
//! Replaces upstream's `prompt.rs`, which expanded what an escape had given as if it had been typed. Escapes are replaced in
//! one pass, as bash does; what could mean something to the expansion that follows is protected. Nothing is shown here.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::fmt::Write as _;
use std::iter::Peekable;
use std::path::Path;
use std::str::Chars;

use crate::error::Error;
use crate::extensions::ShellExtensions;
use crate::interp::ExecutionParameters;
use crate::shell::Shell;
use crate::sys::{network, terminal, users};
use crate::{bytes, expansion};

/// What `\v` stands for; the shell that nash speaks for says this.
const VERSION: &str = "5.2";
/// What `\V` stands for.
const RELEASE: &str = "5.2.15";

/// Expands a prompt. What can't be expanded is told, and stays as it is.
pub(crate) async fn expand_prompt(
    shell: &mut Shell<impl ShellExtensions>,
    params: &ExecutionParameters,
    spec: String,
) -> Result<String, Error> {
    let protects = shell.options().expand_prompt_strings || shell.options().posix_mode;
    let text = bytes::rejoin(Decoder { shell, protects }.decoded(&spec));
    if !protects {
        return Ok(text);
    }
    // As in double quotes.
    let options = expansion::ExpanderOptions { tilde_expand: false, ..expansion::ExpanderOptions::default() };
    match expansion::basic_expand_word_with_options(shell, params, &text, &options).await {
        Ok(expanded) => Ok(expanded),
        Err(error) => {
            shell.display_error(&mut params.stderr(shell), &error)?;
            Ok(text)
        }
    }
}

/// Replaces the escapes of a prompt.
struct Decoder<'a, SE: ShellExtensions> {
    shell: &'a Shell<SE>,
    /// Whether the result is expanded afterwards.
    protects: bool,
}

impl<SE: ShellExtensions> Decoder<'_, SE> {
    fn decoded(&self, spec: &str) -> String {
        let mut text = String::with_capacity(spec.len());
        let mut chars = spec.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' => self.escape(&mut chars, &mut text),
                c => text.push(c),
            }
        }
        text
    }

    /// What a backslash and the characters after it stand for.
    fn escape(&self, chars: &mut Peekable<Chars>, text: &mut String) {
        let Some(c) = chars.next() else { return text.push('\\') };
        match c {
            '0'..='7' => octal(c, chars, text),
            'a' => text.push('\x07'),
            'e' => text.push('\x1b'),
            'r' => text.push('\r'),
            'n' => text.push('\n'),
            '\\' => text.push('\\'),
            // They tell an editor of lines what takes no room; there is none.
            '[' | ']' => {}
            't' => moment("%H:%M:%S", text),
            'T' => moment("%I:%M:%S", text),
            'A' => moment("%H:%M", text),
            '@' => moment("%I:%M %p", text),
            'd' => moment("%a %b %d", text),
            'D' if chars.next_if_eq(&'{').is_some() => {
                let mut format = String::new();
                while let Some(c) = chars.next().filter(|c| *c != '}') {
                    format.push(c);
                }
                moment(if format.is_empty() { "%H:%M:%S" } else { &format }, text);
            }
            's' => text.push_str(&self.protected(&self.shell_name())),
            'v' => text.push_str(VERSION),
            'V' => text.push_str(RELEASE),
            'w' => text.push_str(&self.protected(&self.directory())),
            'W' => text.push_str(&self.protected(&self.directory_name())),
            'u' => text.push_str(&users::get_current_username().unwrap_or_default()),
            'h' | 'H' => {
                let name = network::get_hostname().unwrap_or_default().to_string_lossy().into_owned();
                let end = if c == 'h' { name.find('.') } else { None };
                text.push_str(&name[..end.unwrap_or(name.len())]);
            }
            'j' => text.push_str(&self.shell.jobs().jobs.len().to_string()),
            'l' => match terminal::try_get_terminal_device_path() {
                Some(path) => text.push_str(&file_name(&path.to_string_lossy())),
                None => text.push_str("tty"),
            },
            // Nothing is remembered.
            '!' => text.push('1'),
            '#' => text.push_str(&self.shell.place().commands_read.to_string()),
            '$' => text.push_str(match (users::is_root(), self.protects) {
                (true, _) => "#",
                (false, true) => "\\$",
                (false, false) => "$",
            }),
            other => text.extend(['\\', other]),
        }
    }

    /// The text as it has to stand between double quotes, if it is going to.
    fn protected(&self, text: &str) -> String {
        if !self.protects {
            return text.to_owned();
        }
        text.chars()
            .flat_map(|c| matches!(c, '$' | '`' | '"' | '\\').then_some('\\').into_iter().chain(Some(c)))
            .collect()
    }

    /// What the shell was called, whatever the script is.
    fn shell_name(&self) -> String {
        let name = self.shell.current_shell_name().unwrap_or_default();
        let mut frames = self.shell.call_stack().iter();
        let is_script = frames.any(|frame| frame.frame_type.is_run_script() && frame.frame_type.name() == name);
        let started_as = std::env::args_os().next().filter(|_| is_script);
        started_as.map_or_else(|| file_name(&name), |first| file_name(&bytes::encode_os(&first)))
    }

    /// The working directory, with a tilde for where the user is at home, and shortened as `PROMPT_DIRTRIM` says.
    fn directory(&self) -> String {
        let path = bytes::encode_os(self.shell.working_dir().as_os_str());
        let home = self.shell.env_str("HOME").filter(|home| home.len() > 1);
        let below = home.as_deref().and_then(|home| path.strip_prefix(home));
        let told = match below.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            Some(rest) => format!("~{rest}"),
            None => path,
        };
        let kept = self.shell.env_str("PROMPT_DIRTRIM").and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        if kept == 0 { told } else { shortened(&told, kept) }
    }

    fn directory_name(&self) -> String {
        let path = bytes::encode_os(self.shell.working_dir().as_os_str());
        if self.shell.env_str("HOME").is_some_and(|home| home == path) { "~".to_owned() } else { file_name(&path) }
    }
}

/// A path's last parts, with dots for what came before them.
fn shortened(path: &str, kept: usize) -> String {
    let start = usize::from(path.starts_with('~'));
    let cut = path.rmatch_indices('/').nth(kept - 1).map_or(0, |(at, _)| at);
    // Where the dots take the place of nothing, or would be longer than that, all of it stays.
    if cut <= start || cut - start < "...".len() {
        return path.to_owned();
    }
    let head = if start == 1 { "~/" } else { "" };
    format!("{head}...{}", &path[cut..])
}

/// The last part of a path.
fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    name.unwrap_or(path).to_owned()
}

/// The character of an octal number; three characters are looked at, and anything else among them makes it none.
fn octal(first: char, chars: &mut Peekable<Chars>, text: &mut String) {
    let rest: Vec<char> = chars.clone().take(2).collect();
    let number = rest.iter().try_fold(first.to_digit(8), |sum, c| {
        let digit = c.to_digit(8)?;
        Some(sum.map(|sum| sum * 8 + digit))
    });
    match number.flatten() {
        // As a character of the system's has eight bits, the ninth is lost.
        Some(number) => {
            chars.nth(rest.len().wrapping_sub(1)).filter(|_| !rest.is_empty());
            // A zero byte would end the text.
            let byte = number.to_le_bytes()[0];
            text.push_str(&bytes::encode(if byte == 0 { &[] } else { std::slice::from_ref(&byte) }));
        }
        None => text.extend(['\\', first]),
    }
}

/// The time, by a format; one that isn't known stays as it is.
fn moment(format: &str, text: &mut String) {
    let items = chrono::format::StrftimeItems::new(format);
    let length = text.len();
    if write!(text, "{}", chrono::Local::now().format_with_items(items)).is_err() {
        text.truncate(length);
        text.push_str(format);
    }
}
