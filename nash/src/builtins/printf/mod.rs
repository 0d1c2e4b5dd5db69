//! `printf`: walks the format as often as there are arguments.
//!
//! What a value looks like is the conversion's; where the output goes, to the terminal or a variable, is decided here.

mod big;
mod conversion;
mod floats;
mod numbers;
mod time;
mod wide_float;

use conversion::Conversion;
use numbers::{Number, Trouble};

use super::call::{Call, USAGE};
use super::escapes::{self, Dialect, Escape};
use super::options::Options;
use super::{quoting, text, values};

/// Runs the builtin.
pub(crate) fn run(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut options = Options::new("v:", &words);
    let mut variable = None;
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(found)) if values::is_assignable(call, found.argument) => variable = Some(found.argument),
            Ok(Some(found)) => {
                call.complain(&format!("`{}': not a valid identifier", found.argument));
                return USAGE;
            }
            Err(refusal) => return call.refuse(&refusal),
        }
    }
    let Some((format, arguments)) = words[options.used()..].split_first() else { return call.usage() };
    let mut printing = Printing {
        arguments,
        next: 0,
        out: Vec::new(),
        status: 0,
        is_utf8: None,
        total: 0,
        printed: 0,
        to_variable: variable.is_some(),
        call,
    };
    printing.run(&text::to_bytes(format));
    let (out, status) = (printing.out, printing.status);
    match variable {
        None => {
            call.print_bytes(&out);
            status
        }
        Some(variable) => {
            let end = out.iter().position(|byte| *byte == 0).unwrap_or(out.len());
            let value = text::from_bytes(out[..end].to_vec());
            if values::assign(call, variable, value) { status } else { 1 }
        }
    }
}

/// A walk over the format.
struct Printing<'p, 'c> {
    call: &'p mut Call<'c>,
    arguments: &'p [String],
    next: usize,
    out: Vec<u8>,
    status: u8,
    is_utf8: Option<bool>,
    /// Where in `out` this round begins, and how much of the round has left it.
    total: usize,
    printed: usize,
    to_variable: bool,
}

/// Whether the walk goes on.
#[derive(PartialEq, Eq)]
enum Walk {
    On,
    Over,
}

impl<'p> Printing<'p, '_> {
    fn run(&mut self, format: &[u8]) {
        loop {
            let before = self.next;
            if self.round(format) == Walk::Over || self.next >= self.arguments.len() || self.next == before {
                return;
            }
        }
    }

    fn round(&mut self, format: &[u8]) -> Walk {
        (self.total, self.printed) = (self.out.len(), 0);
        let mut rest = format;
        while let Some(index) = rest.iter().position(|byte| matches!(byte, b'\\' | b'%')) {
            self.out.extend_from_slice(&rest[..index]);
            let tail = &rest[index + 1..];
            if rest[index] == b'\\' {
                rest = self.escape(tail);
                continue;
            }
            if tail.first() == Some(&b'%') {
                self.out.push(b'%');
                rest = &tail[1..];
                continue;
            }
            match self.convert(tail) {
                Ok(used) => rest = &tail[used..],
                Err(Walk::On) => {}
                Err(Walk::Over) => return Walk::Over,
            }
        }
        self.out.extend_from_slice(rest);
        Walk::On
    }

    fn escape<'f>(&mut self, tail: &'f [u8]) -> &'f [u8] {
        let is_utf8 = matches!(tail.first(), Some(b'u' | b'U')) && self.is_utf8();
        match escapes::decode(tail, Dialect::Format, is_utf8, &mut self.out) {
            Escape::Used(count) => &tail[count..],
            Escape::NoDigits { letter, used } => {
                self.no_digits(letter);
                &tail[used..]
            }
            Escape::Stop => tail,
        }
    }

    fn no_digits(&mut self, letter: u8) {
        let kind = if letter == b'x' { "hex" } else { "unicode" };
        let letter = char::from(letter);
        self.complain(&format!("missing {kind} digit for \\{letter}"));
    }

    /// Does one conversion; gives how many bytes of the format it takes.
    fn convert(&mut self, format: &[u8]) -> Result<usize, Walk> {
        let mut conversion = Conversion::default();
        let mut at = format.iter().take_while(|flag| conversion.take_flag(**flag)).count();
        if format.get(at) == Some(&b'*') {
            at += 1;
            let width = self.signed();
            conversion.take_width(width);
        } else {
            conversion.width = number(format, &mut at);
        }
        if format.get(at) == Some(&b'.') {
            at += 1;
            if format.get(at) == Some(&b'*') {
                at += 1;
                conversion.precision = usize::try_from(self.signed()).ok();
            } else {
                conversion.precision = Some(number(format, &mut at));
            }
        }
        at += format[at..].iter().take_while(|byte| b"hjlLtz".contains(byte)).count();
        let Some(&letter) = format.get(at) else {
            let shown = String::from_utf8_lossy(format).into_owned();
            self.fail(&format!("`%{shown}': missing format character"));
            return Err(Walk::Over);
        };
        if letter == b'(' {
            return Ok(self.time(&conversion, format, at + 1));
        }
        self.value(&conversion, letter)?;
        Ok(at + 1)
    }

    fn value(&mut self, conversion: &Conversion, letter: u8) -> Result<(), Walk> {
        match letter {
            b's' => {
                let argument = self.argument().unwrap_or_default();
                conversion.bytes(&text::to_bytes(argument), &mut self.out);
            }
            b'c' => {
                let argument = text::to_bytes(self.argument().unwrap_or_default());
                let one = Conversion { precision: None, ..conversion.clone() };
                one.padded(&[argument.first().copied().unwrap_or(0)], &mut self.out);
            }
            b'd' | b'i' => {
                let value = self.signed();
                conversion.signed(value, &mut self.out);
            }
            b'u' | b'o' | b'x' | b'X' => {
                let number = self.number(numbers::unsigned, 0);
                conversion.unsigned(number, letter, &mut self.out);
            }
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
                let zero = wide_float::parse(b"0").value;
                let number = self.number(numbers::float, zero);
                conversion.float(number, letter, &mut self.out);
            }
            b'b' => return self.decoded(conversion),
            b'q' | b'Q' => {
                let is_utf8 = self.is_utf8();
                let mut argument = text::to_bytes(self.argument().unwrap_or_default());
                if let Some(precision) =
                    conversion.precision.filter(|precision| letter == b'Q' && *precision < argument.len())
                {
                    argument = argument[..precision].to_vec().into();
                }
                let quoted = quoting::for_reuse(&argument, is_utf8);
                let precision = conversion.precision.filter(|_| letter == b'q');
                Conversion { precision, ..conversion.clone() }.bytes(&quoted, &mut self.out);
            }
            b'n' => {
                let count = self.out.len() - self.total + self.printed;
                let variable = self.argument().unwrap_or_default();
                if !variable.is_empty() && !values::assign_checked(self.call, variable, count.to_string()) {
                    self.status = 1;
                }
            }
            other => {
                self.fail(&format!("`{}': invalid format character", char::from(other)));
                return Err(Walk::Over);
            }
        }
        Ok(())
    }

    /// `%b`; its `\c` ends everything.
    fn decoded(&mut self, conversion: &Conversion) -> Result<(), Walk> {
        let argument = self.argument().unwrap_or_default();
        let dialect = if self.call.context.shell.options().sh_mode { Dialect::Dash } else { Dialect::Argument };
        let is_utf8 = argument.contains('\\') && self.is_utf8();
        let mut decoded = Vec::new();
        let (is_over, lacking) = escapes::decode_all(&text::to_bytes(argument), dialect, is_utf8, &mut decoded);
        for letter in lacking {
            self.no_digits(letter);
        }
        conversion.bytes(&decoded, &mut self.out);
        if is_over {
            // What was printed stays; arguments that are left have no further round.
            self.next = self.arguments.len();
            return Err(Walk::Over);
        }
        Ok(())
    }

    /// `%(…)T`.
    fn time(&mut self, conversion: &Conversion, format: &[u8], start: usize) -> usize {
        let mut depth = 1;
        let length = format[start..]
            .iter()
            .take_while(|byte| {
                depth += i32::from(**byte == b'(') - i32::from(**byte == b')');
                depth > 0
            })
            .count();
        let end = start + length;
        if format.get(end + 1) != Some(&b'T') {
            let shown = format.get(end + 1).map_or(String::new(), |byte| char::from(*byte).to_string());
            self.complain(&format!("warning: `{shown}': invalid time format specification"));
            // The percent sign then stands for itself.
            self.out.push(b'%');
            return 0;
        }
        let moment = if self.next < self.arguments.len() { self.signed() } else { -1 };
        let told = time::formatted(self.call.context.shell, &format[start..end], moment);
        conversion.bytes(&told, &mut self.out);
        end + 2
    }

    fn argument(&mut self) -> Option<&'p str> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        Some(argument)
    }

    fn signed(&mut self) -> i64 {
        self.number(numbers::signed, 0)
    }

    fn number<T>(&mut self, read: fn(&[u8], bool) -> Number<T>, none: T) -> T {
        let Some(argument) = self.argument() else { return none };
        let is_utf8 = !argument.is_ascii() && self.is_utf8();
        let number = read(&text::to_bytes(argument), is_utf8);
        if let Some(trouble) = number.trouble {
            self.complain(&numbers::complaint(argument, trouble));
            if trouble == Trouble::Invalid {
                self.status = 1;
            }
        }
        number.value
    }

    fn is_utf8(&mut self) -> bool {
        *self.is_utf8.get_or_insert_with(|| text::locale_is_utf8(self.call.context.shell))
    }

    fn fail(&mut self, complaint: &str) {
        self.status = 1;
        self.complain(complaint);
    }

    /// Says what is wrong; what was printed before and is whole comes first, as on a terminal.
    fn complain(&mut self, complaint: &str) {
        if !self.to_variable {
            let out = std::mem::take(&mut self.out);
            let count = out.len() - self.total;
            self.call.print_bytes(&out);
            self.printed += count;
            self.total = 0;
        }
        self.call.complain(complaint);
    }
}

/// A number in the format.
fn number(format: &[u8], at: &mut usize) -> usize {
    let mut value = 0_usize;
    while let Some(digit) = format.get(*at).filter(|byte| byte.is_ascii_digit()) {
        value = value.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
        *at += 1;
    }
    value
}
