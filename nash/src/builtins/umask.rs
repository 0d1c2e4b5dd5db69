//! `umask`: shows or sets the file mode mask, in octal or in symbols.
//!
//! The mask is the process's; only its notation is known here.

use super::call::Call;
use super::options::Options;
use super::sys;

/// What a mask can hold.
const MASK_MAX: u32 = 0o777;
/// The largest number that is taken for a mode.
const MODE_MAX: u32 = 0o7777;

/// Runs the builtin.
pub(crate) fn run(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut options = Options::new("Sp", &words);
    let (mut symbolic, mut reusable) = (false, false);
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(found)) if found.letter == 'S' => symbolic = true,
            Ok(Some(_)) => reusable = true,
            Err(refusal) => return call.refuse(&refusal),
        }
    }
    let Some(mode) = words.get(options.used()) else {
        let mask = sys::mode_mask();
        let head = match (reusable, symbolic) {
            (false, _) => "",
            (true, false) => "umask ",
            (true, true) => "umask -S ",
        };
        let told = if symbolic { in_symbols(mask) } else { format!("{mask:04o}") };
        call.print(&format!("{head}{told}\n"));
        return 0;
    };
    let mask = if mode.starts_with(|letter: char| letter.is_ascii_digit()) {
        u32::from_str_radix(mode, 8)
            .ok()
            .filter(|mode| *mode <= MODE_MAX)
            .map(|mode| mode & MASK_MAX)
            .ok_or_else(|| format!("{mode}: octal number out of range"))
    } else {
        changed(sys::mode_mask(), mode)
    };
    match mask {
        Ok(mask) => {
            sys::set_mode_mask(mask);
            if symbolic {
                call.print(&format!("{}\n", in_symbols(mask)));
            }
            0
        }
        Err(complaint) => {
            call.complain(&complaint);
            1
        }
    }
}

fn in_symbols(mask: u32) -> String {
    let allowed = |shift: u32| {
        let bits = !mask >> shift;
        [(4, 'r'), (2, 'w'), (1, 'x')]
            .iter()
            .filter(|(bit, _)| bits & bit != 0)
            .map(|(_, letter)| *letter)
            .collect::<String>()
    };
    format!("u={},g={},o={}", allowed(6), allowed(3), allowed(0))
}

/// The mask that clauses such as `u=rw,g-w` make of another.
fn changed(mask: u32, clauses: &str) -> Result<u32, String> {
    // The clauses speak of what is allowed.
    let mut allowed = !mask & MASK_MAX;
    let mut rest = clauses.bytes().peekable();
    loop {
        let mut whom = 0;
        while let Some(bits) = rest.peek().and_then(|letter| class(*letter)) {
            whom |= bits;
            rest.next();
        }
        if whom == 0 {
            whom = MASK_MAX;
        }
        let operator = rest.next();
        let Some(operator @ (b'+' | b'-' | b'=')) = operator else {
            return Err(format!("`{}': invalid symbolic mode operator", shown(operator)));
        };
        let mut what = 0;
        while let Some(bits) = rest.peek().and_then(|letter| permission(*letter)) {
            what |= bits;
            rest.next();
        }
        match operator {
            b'+' => allowed |= what & whom,
            b'-' => allowed &= !(what & whom),
            _ => allowed = (allowed & !whom) | (what & whom),
        }
        match rest.next() {
            None => return Ok(!allowed & MASK_MAX),
            Some(b',') => {}
            other => return Err(format!("`{}': invalid symbolic mode character", shown(other))),
        }
    }
}

fn shown(byte: Option<u8>) -> char {
    byte.map_or('\0', char::from)
}

fn class(letter: u8) -> Option<u32> {
    match letter {
        b'u' => Some(0o700),
        b'g' => Some(0o070),
        b'o' => Some(0o007),
        b'a' => Some(0o777),
        _ => None,
    }
}

fn permission(letter: u8) -> Option<u32> {
    match letter {
        b'r' => Some(0o444),
        b'w' => Some(0o222),
        b'x' => Some(0o111),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{changed, in_symbols};

    #[test]
    fn clauses_change_what_is_allowed() {
        assert_eq!(changed(0o022, "u=rwx,g=rx,o="), Ok(0o027));
        assert_eq!(changed(0o022, "a-w"), Ok(0o222));
        assert_eq!(changed(0o022, "="), Ok(0o777));
        assert!(changed(0o022, "u+q").is_err());
        assert_eq!(in_symbols(0o027), "u=rwx,g=rx,o=");
    }
}
