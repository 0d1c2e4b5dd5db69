//! `read`: one line, or so many characters, into variables.
//!
//! Where bytes come from and how a line is split are the modules' below; line editing is not done.

mod fields;
pub(crate) mod input;

use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::time::Duration;

use brush_core::openfiles::OpenFile;
use brush_core::terminal::{AutoModeGuard, Settings};
use fields::{Line, Separators};
use input::{End, Input};

use super::call::{Call, system_words};
use super::control::number;
use super::options::{Options, Refusal};
use super::{sys, text, values};
use crate::interpreter::block_on;

/// The status when time is up: as if SIGALRM had ended it.
const TIMED_OUT: u8 = 142;

/// What `read` was asked for.
#[derive(Debug, Default)]
struct Request {
    raw: bool,
    silent: bool,
    array: Option<String>,
    delimiter: Option<u8>,
    /// So many characters, and whether delimiters count among them.
    characters: Option<(usize, bool)>,
    prompt: Option<String>,
    timeout: Option<Duration>,
    fd: i32,
    names: Vec<String>,
}

/// Runs the builtin.
pub(crate) fn run(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut request = match Request::parse(&words) {
        Ok(request) => request,
        Err(Mistake::Options(refusal)) => return call.refuse(&refusal),
        Err(Mistake::Value(complaint)) => {
            call.complain(&complaint);
            return 1;
        }
    };
    if let Some(first) = request.names.first()
        && !values::is_assignable(call, first)
    {
        call.complain(&format!("`{first}': not a valid identifier"));
        return 1;
    }
    if request.timeout.is_none() {
        request.timeout =
            call.context.shell.env_str("TMOUT").and_then(|value| seconds(&value)).filter(|time| !time.is_zero());
    }
    let file = call.context.try_fd(request.fd);
    let number = file.as_ref().and_then(|file| Some(file.try_borrow_as_fd().ok()?.as_raw_fd()));
    let Some((file, number)) = file.zip(number) else {
        let closed = if request.fd == 0 { "read error: 0" } else { "invalid file descriptor" };
        let complaint = if request.fd == 0 {
            format!("{closed}: Bad file descriptor")
        } else {
            format!("{}: {closed}: Bad file descriptor", request.fd)
        };
        call.complain(&complaint);
        return 1;
    };
    if request.timeout.is_some_and(|timeout| timeout.is_zero()) {
        return u8::from(!sys::wait_readable(number, 0).unwrap_or(false));
    }
    let is_utf8 = request.characters.is_some() && text::locale_is_utf8(call.context.shell);
    let restored = prepare_terminal(call, &request, &file);
    let mut wanted = None;
    let mut run_traps = || {
        wanted = block_on(call.context.shell.run_pending_traps(&call.context.params)).unwrap_or_default();
        wanted.is_none()
    };
    let mut input = Input::new(number, request.timeout).told_of_signals(&mut run_traps);
    let (line, end) = request.read(&mut input, is_utf8);
    input.give_back();
    drop(input);
    drop(restored);
    if let Some(result) = wanted {
        call.flow = result.next_control_flow;
        return result.exit_code.into();
    }
    let status = match end {
        None => 0,
        Some(End::Over) => 1,
        Some(End::TimedOut) => TIMED_OUT,
        Some(End::Failed(error)) => {
            call.complain(&format!("read error: {}: {}", request.fd, system_words(&error)));
            return 1;
        }
    };
    if request.store(call, line) { status } else { 1 }
}

/// Shows the prompt, and lets the terminal give single characters or hide them where that is asked for.
fn prepare_terminal(call: &Call<'_>, request: &Request, file: &OpenFile) -> Option<AutoModeGuard> {
    if !file.is_terminal() {
        return None;
    }
    if let Some(prompt) = &request.prompt {
        // A prompt that can't be shown keeps nobody from answering.
        let _ = call.context.stderr().write_all(prompt.as_bytes());
    }
    let by_character = request.characters.is_some() || request.delimiter.is_some();
    if !request.silent && !by_character {
        return None;
    }
    let guard = AutoModeGuard::new(file.clone()).ok()?;
    let settings = Settings::builder().line_input(!by_character).echo_input(!request.silent).build();
    guard.apply_settings(&settings).ok()?;
    Some(guard)
}

/// Why a command line of `read` is refused.
enum Mistake {
    Options(Refusal),
    Value(String),
}

impl Request {
    fn parse(words: &[String]) -> Result<Self, Mistake> {
        let mut request = Self::default();
        let mut options = Options::new("ersa:d:i:n:p:t:u:N:", words);
        while let Some(found) = options.next().map_err(Mistake::Options)? {
            let argument = found.argument;
            match found.letter {
                'r' => request.raw = true,
                's' => request.silent = true,
                'a' => request.array = Some(argument.to_owned()),
                'd' => request.delimiter = Some(text::to_bytes(argument).first().copied().unwrap_or(0)),
                'n' | 'N' => {
                    let count = number(argument).and_then(|count| i32::try_from(count).ok());
                    let count = count.and_then(|count| usize::try_from(count).ok());
                    let count = count.ok_or_else(|| Mistake::Value(format!("{argument}: invalid number")))?;
                    request.characters = Some((count, found.letter == 'N'));
                }
                'p' => request.prompt = Some(argument.to_owned()),
                't' => {
                    let timeout = seconds(argument);
                    let complaint = || Mistake::Value(format!("{argument}: invalid timeout specification"));
                    request.timeout = Some(timeout.ok_or_else(complaint)?);
                }
                'u' => {
                    let fd = number(argument).and_then(|fd| i32::try_from(fd).ok()).filter(|fd| *fd >= 0);
                    let complaint = || Mistake::Value(format!("{argument}: invalid file descriptor specification"));
                    request.fd = fd.ok_or_else(complaint)?;
                }
                // Lines are edited on terminals by an interactive shell only.
                _ => {}
            }
        }
        request.names = words[options.used()..].to_vec();
        Ok(request)
    }

    /// Reads; says what ended it early.
    fn read(&self, input: &mut Input<'_>, is_utf8: bool) -> (Line, Option<End>) {
        let mut line = Line::default();
        let (count_max, ignores_delimiter) = self.characters.unwrap_or((usize::MAX, false));
        if count_max == 0 {
            return (line, None);
        }
        let delimiter = self.delimiter.unwrap_or(b'\n');
        let mut count = 0;
        let mut after_backslash = false;
        loop {
            if !after_backslash && self.characters.is_none() {
                self.read_plain(input, delimiter, &mut line);
            }
            let byte = match input.next() {
                Ok(byte) => byte,
                Err(end) => return (line, Some(end)),
            };
            if after_backslash {
                after_backslash = false;
                if byte == b'\n' {
                    continue;
                }
                line.push_protected(byte);
            } else if byte == b'\\' && !self.raw {
                after_backslash = true;
                continue;
            } else if byte == delimiter && !ignores_delimiter {
                return (line, None);
            } else if byte == 0 {
                continue;
            } else {
                line.bytes.push(byte);
                if !line.is_protected.is_empty() {
                    line.is_protected.push(false);
                }
            }
            if is_utf8 && !complete_character(input, byte, &mut line) {
                return (line, Some(End::Over));
            }
            count += 1;
            if count >= count_max {
                return (line, None);
            }
        }
    }

    /// Takes what is there up to the next byte that means something.
    fn read_plain(&self, input: &mut Input<'_>, delimiter: u8, line: &mut Line) {
        let Ok(bytes) = input.available() else { return };
        let means_nothing = |byte: &&u8| **byte != delimiter && **byte != 0 && (self.raw || **byte != b'\\');
        let count = bytes.iter().take_while(means_nothing).count();
        line.bytes.extend_from_slice(&bytes[..count]);
        if !line.is_protected.is_empty() {
            line.is_protected.resize(line.bytes.len(), false);
        }
        input.take(count);
    }

    /// Gives the variables their values.
    fn store(&self, call: &mut Call<'_>, line: Line) -> bool {
        let ifs = call
            .context
            .shell
            .env_str("IFS")
            .map_or_else(|| b" \t\n".to_vec(), |ifs| text::to_bytes(&ifs).into_owned());
        let is_utf8 = !ifs.is_ascii() && text::locale_is_utf8(call.context.shell);
        if let Some(array) = &self.array {
            let is_whole = self.characters.is_some_and(|(_, ignores_delimiter)| ignores_delimiter);
            let fields = if is_whole { vec![line.bytes] } else { fields::all(&line, &Separators::new(&ifs, is_utf8)) };
            return values::assign_array(call, array, fields.into_iter().map(text::from_bytes).collect());
        }
        if self.names.is_empty() {
            return values::assign(call, "REPLY", text::from_bytes(line.bytes));
        }
        let is_whole = self.characters.is_some_and(|(_, ignores_delimiter)| ignores_delimiter);
        let mut fields = if is_whole {
            vec![line.bytes]
        } else {
            fields::spread(&line, &Separators::new(&ifs, is_utf8), self.names.len())
        };
        fields.resize(self.names.len(), Vec::new());
        self.names.iter().zip(fields).all(|(name, field)| values::assign_checked(call, name, text::from_bytes(field)))
    }
}

/// Reads the rest of a character whose first byte is there; a byte that doesn't belong to it ends it and goes with it.
fn complete_character(input: &mut Input<'_>, first: u8, line: &mut Line) -> bool {
    let mut character = vec![first];
    while std::str::from_utf8(&character).is_err_and(|error| error.error_len().is_none()) {
        let Ok(byte) = input.next() else { return false };
        character.push(byte);
        line.bytes.push(byte);
        if !line.is_protected.is_empty() {
            line.is_protected.push(false);
        }
    }
    true
}

/// A time in seconds, with a fraction.
fn seconds(text: &str) -> Option<Duration> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = !(whole.is_empty() && fraction.is_empty()) && is_digits(whole) && is_digits(fraction);
    let micros = format!("{fraction:0<6}").get(..6)?.parse::<u64>().ok().filter(|_| is_number)?;
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    Some(Duration::from_secs(whole) + Duration::from_micros(micros))
}
