//! Classes of bytes, and a view of the input that knows whether it has ended.
//!
//! Every matcher reads forward through [`Text`], which answers `Undecided` where the answer lies in bytes that have not
//! arrived yet. It does not know any rule.

/// How far to the left of a keyword a matcher may look, in bytes. A stream keeps this much of what it has already handed
/// out, so that a name or a boundary is judged alike whether or not the input was cut there.
pub(crate) const LOOK_BEHIND_LEN: usize = 80;

/// A set of byte classes. A byte belongs to the set if it belongs to one of the classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Set(u32);

impl Set {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const DIGIT: Self = Self(1);
    const LOWER_HEX: Self = Self(1 << 1);
    const LOWER_REST: Self = Self(1 << 2);
    const UPPER_HEX: Self = Self(1 << 3);
    const UPPER_REST: Self = Self(1 << 4);
    pub(crate) const UNDERSCORE: Self = Self(1 << 5);
    pub(crate) const DASH: Self = Self(1 << 6);
    pub(crate) const DOT: Self = Self(1 << 7);
    pub(crate) const PLUS: Self = Self(1 << 8);
    pub(crate) const SLASH: Self = Self(1 << 9);
    pub(crate) const EQUALS: Self = Self(1 << 10);
    pub(crate) const TILDE: Self = Self(1 << 11);
    pub(crate) const PERCENT: Self = Self(1 << 12);
    pub(crate) const BLANK: Self = Self(1 << 13);
    pub(crate) const NEWLINE: Self = Self(1 << 14);
    pub(crate) const BACKSLASH: Self = Self(1 << 15);
    pub(crate) const QUOTE: Self = Self(1 << 16);
    pub(crate) const COLON: Self = Self(1 << 17);
    pub(crate) const COMMA: Self = Self(1 << 18);
    pub(crate) const CONTROL: Self = Self(1 << 19);
    pub(crate) const AT: Self = Self(1 << 20);
    pub(crate) const DOLLAR: Self = Self(1 << 21);
    /// `!`, `#`, `&`, `(`, `*`, brackets and all bytes above 127.
    const OTHER: Self = Self(1 << 31);

    pub(crate) const LOWER: Self = Self::LOWER_HEX.or(Self::LOWER_REST);
    pub(crate) const UPPER: Self = Self::UPPER_HEX.or(Self::UPPER_REST);
    pub(crate) const ALPHA: Self = Self::LOWER.or(Self::UPPER);
    pub(crate) const ALNUM: Self = Self::ALPHA.or(Self::DIGIT);
    pub(crate) const WORD: Self = Self::ALNUM.or(Self::UNDERSCORE);
    pub(crate) const HEX: Self = Self::DIGIT.or(Self::LOWER_HEX);
    pub(crate) const HEX_ANY: Self = Self::HEX.or(Self::UPPER_HEX);
    pub(crate) const UPPER_DIGIT: Self = Self::UPPER.or(Self::DIGIT);
    pub(crate) const BASE64: Self = Self::ALNUM.or(Self::PLUS).or(Self::SLASH).or(Self::EQUALS);
    pub(crate) const BASE64URL: Self = Self::WORD.or(Self::DASH);
    pub(crate) const BASE64_BOTH: Self = Self::BASE64.or(Self::BASE64URL);
    /// What may stand in the name of a variable, a key, a header or a flag.
    pub(crate) const NAME: Self = Self::WORD.or(Self::DASH).or(Self::DOT);
    pub(crate) const SPACE: Self = Self::BLANK.or(Self::NEWLINE);
    /// Everything that can be inside one unquoted word.
    pub(crate) const UNSPACED: Self = Self(!(Self::SPACE.0 | Self::CONTROL.0 | Self::QUOTE.0));
    /// Everything up to a quote or the end of the line.
    pub(crate) const UNQUOTED: Self = Self(!(Self::NEWLINE.0 | Self::CONTROL.0 | Self::QUOTE.0));
    /// What can stand in an address before its path.
    pub(crate) const AUTHORITY: Self = Self(Self::UNSPACED.0 & !(Self::SLASH.0 | Self::BACKSLASH.0));
    /// Everything up to the end of the line, colours included.
    pub(crate) const IN_LINE: Self = Self(!Self::NEWLINE.0);
    /// Everything up to the end of the line.
    pub(crate) const LINE: Self = Self(!(Self::NEWLINE.0 | Self::CONTROL.0));

    /// Joins two sets.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Tells whether the byte is in the set.
    pub(crate) const fn has(self, byte: u8) -> bool {
        CLASS_OF[byte as usize] & self.0 != 0
    }

    /// Tells whether some byte is in the set.
    pub(crate) fn has_any(self, bytes: &[u8]) -> bool {
        bytes.iter().any(|byte| self.has(*byte))
    }

    /// Tells whether every byte is in the set.
    pub(crate) fn has_all(self, bytes: &[u8]) -> bool {
        bytes.iter().all(|byte| self.has(*byte))
    }
}

/// The class of each byte, worked out by the compiler, so that it costs nothing when a shell starts.
static CLASS_OF: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the loop ends at 256")]
        let class = class_of(byte as u8);
        table[byte] = class.0;
        byte += 1;
    }
    table
};

const fn class_of(byte: u8) -> Set {
    match byte {
        b'0'..=b'9' => Set::DIGIT,
        b'a'..=b'f' => Set::LOWER_HEX,
        b'g'..=b'z' => Set::LOWER_REST,
        b'A'..=b'F' => Set::UPPER_HEX,
        b'G'..=b'Z' => Set::UPPER_REST,
        b'_' => Set::UNDERSCORE,
        b'-' => Set::DASH,
        b'.' => Set::DOT,
        b'+' => Set::PLUS,
        b'/' => Set::SLASH,
        b'=' => Set::EQUALS,
        b'~' => Set::TILDE,
        b'%' => Set::PERCENT,
        b' ' | b'\t' => Set::BLANK,
        b'\n' | b'\r' => Set::NEWLINE,
        b'\\' => Set::BACKSLASH,
        b'"' | b'\'' | b'`' => Set::QUOTE,
        b':' => Set::COLON,
        b',' => Set::COMMA,
        b'@' => Set::AT,
        b'$' => Set::DOLLAR,
        0..=31 | 127 => Set::CONTROL,
        _ => Set::OTHER,
    }
}

/// The answer depends on bytes that have not arrived yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undecided;

/// What a matcher learns by looking ahead.
pub(crate) type Look<T> = Result<T, Undecided>;

/// What comes after the bytes that are here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// More bytes may follow.
    Open,
    /// The data ends here.
    Data,
    /// The data went on, but the rest will never be seen.
    Cut,
}

/// Input to be searched: the bytes so far, and what comes after them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) end: End,
}

impl<'a> Text<'a> {
    /// Tells whether no more bytes will follow.
    pub(crate) fn is_complete(&self) -> bool {
        self.end != End::Open
    }

    /// Tells whether the data was cut at this position, so that a secret that reaches it may be the beginning of one.
    pub(crate) fn is_cut_at(&self, position: usize) -> bool {
        self.end == End::Cut && position == self.bytes.len()
    }

    /// Returns the byte at a position, or `None` past the end.
    pub(crate) fn at(&self, position: usize) -> Look<Option<u8>> {
        match self.bytes.get(position) {
            Some(byte) => Ok(Some(*byte)),
            None if self.is_complete() => Ok(None),
            None => Err(Undecided),
        }
    }

    /// Tells whether the byte at a position exists and is in the set.
    pub(crate) fn is(&self, position: usize, set: Set) -> Look<bool> {
        Ok(self.at(position)?.is_some_and(|byte| set.has(byte)))
    }

    /// Returns the byte before a position.
    pub(crate) fn before(&self, position: usize) -> Option<u8> {
        position.checked_sub(1).and_then(|before| self.bytes.get(before)).copied()
    }

    /// Returns where the run of bytes of a set that starts at `from` ends, at most `len_max` bytes on.
    pub(crate) fn run(&self, from: usize, set: Set, len_max: usize) -> Look<usize> {
        let rest = self.slice(from, from.saturating_add(len_max));
        match rest.iter().position(|byte| !set.has(*byte)) {
            Some(len) => Ok(from + len),
            None if rest.len() == len_max || self.is_complete() => Ok(from + rest.len()),
            None => Err(Undecided),
        }
    }

    /// Tells whether a literal stands at a position.
    pub(crate) fn has(&self, position: usize, literal: &[u8], ignore_case: bool) -> Look<bool> {
        let there = self.slice(position, position + literal.len());
        let same = if ignore_case {
            there.eq_ignore_ascii_case(&literal[..there.len()])
        } else {
            *there == literal[..there.len()]
        };
        match same {
            false => Ok(false),
            true if there.len() == literal.len() => Ok(true),
            true if self.is_complete() => Ok(false),
            true => Err(Undecided),
        }
    }

    /// Returns the bytes of a range, cut to what there is.
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        let to = to.min(self.bytes.len());
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Tells whether a token may start here: nothing of `joined` stands directly before it. The letter of an escape
    /// (`\n`, `%3D`, a colour sequence) doesn't belong to the token, so it does not count.
    pub(crate) fn starts_token(&self, position: usize, joined: Set) -> bool {
        let Some(before) = self.before(position) else { return true };
        if !joined.has(before) {
            return true;
        }
        let back = self.slice(position.saturating_sub(8), position);
        match back {
            [.., b'\\', b'n' | b'r' | b't'] => true,
            [.., b'%', high, low] => Set::HEX_ANY.has(*high) && Set::HEX_ANY.has(*low),
            [.., b'm'] => back.windows(2).any(|pair| pair == b"\x1b["),
            _ => false,
        }
    }
}
