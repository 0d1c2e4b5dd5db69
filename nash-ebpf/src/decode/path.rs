//! Paths from what the probes saw of them: walks turned round, names put behind the place that they start from.
//!
//! Names are the kernel's bytes and stay bytes. Nothing is looked up: `.`, `..` and symbolic links in a name that a process
//! asked for stay what they are.

use nash_events::ByteString;
use nash_events::argv::head;
use nash_events::kernel::PathSource;
use nash_events::redact;

use crate::abi::{Form, Piece};

/// Most bytes of a path that are reported: Linux takes no longer ones, but a name behind its directory may be.
const PATH_BYTES_MAX: usize = 4096;

/// A path that was put together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether its beginning is missing.
    pub is_cut: bool,
    /// Whether it rests on what stood in the process's memory.
    pub is_from_user: bool,
}

impl Named {
    /// Who vouches for the path.
    pub(super) fn source(&self) -> PathSource {
        if self.is_from_user { PathSource::User } else { PathSource::Kernel }
    }
}

/// Collects the rules that masked something in an event's texts.
#[derive(Debug, Default)]
pub(super) struct Masks(Vec<String>);

impl Masks {
    /// Masks and bounds a text: redacted first, since a cut secret might not be recognised as one.
    pub(super) fn text(&mut self, bytes: &[u8]) -> ByteString {
        let masked = redact::redact(bytes);
        self.add(&masked.rules);
        head(&masked.bytes, PATH_BYTES_MAX).into()
    }

    /// Notes rules.
    pub(super) fn add(&mut self, rules: &[&'static str]) {
        for rule in rules {
            if !self.0.iter().any(|known| known == rule) {
                self.0.push((*rule).to_owned());
            }
        }
    }

    /// The rules, each once.
    pub(super) fn into_rules(self) -> Vec<String> {
        self.0
    }
}

/// Turns a walk into a path; a text is taken as it is. `None` where the piece is not there.
pub(super) fn path(piece: Piece<'_>) -> Option<Named> {
    match piece.form? {
        Form::Walk => Some(Named { bytes: turn(piece), is_cut: piece.is_cut, is_from_user: false }),
        // What is missing of a text is its end, and PATH_MAX says so too.
        Form::Text => Some(Named { bytes: piece.bytes.to_vec(), is_cut: false, is_from_user: true }),
        Form::None => None,
    }
}

/// Puts the name that was asked for behind the place that it starts from.
///
/// Without a name it is the place itself, as for calls on a descriptor. For a name from the root the place is the process's
/// root, which is not the machine's after `chroot`.
pub(super) fn named(place: Piece<'_>, name: Piece<'_>) -> Option<Named> {
    let Some(name) = path(name) else { return path(place) };
    let Some(mut whole) = path(place) else { return Some(name) };
    if !name.bytes.is_empty() {
        if whole.bytes.last() == Some(&b'/') {
            whole.bytes.pop();
        }
        if name.bytes.first() != Some(&b'/') {
            whole.bytes.push(b'/');
        }
        whole.bytes.extend_from_slice(&name.bytes);
    }
    Some(Named { is_from_user: true, ..whole })
}

/// The last name of a walk: the file's own.
pub(super) fn own_name(piece: Piece<'_>) -> &[u8] {
    piece.bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Reverses the names of a walk, which stand from the file to the root with a NUL after each.
fn turn(piece: Piece<'_>) -> Vec<u8> {
    // The roots of mounts are called "/"; no other name holds a slash.
    let is_name = |name: &&[u8]| !name.is_empty() && *name != b"/";
    let mut out = Vec::with_capacity(piece.bytes.len() + 1);
    for name in piece.bytes.rsplit(|byte| *byte == 0).filter(is_name) {
        // Where the beginning is missing, the first name that is there does not stand in the root.
        if !(out.is_empty() && piece.is_cut) {
            out.push(b'/');
        }
        out.extend_from_slice(name);
    }
    if out.is_empty() {
        out.push(b'/');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(bytes: &[u8]) -> Piece<'_> {
        Piece { bytes, form: Some(Form::Walk), is_cut: false }
    }

    fn text(bytes: &[u8]) -> Piece<'_> {
        Piece { bytes, form: Some(Form::Text), is_cut: false }
    }

    fn bytes(named: Option<Named>) -> Vec<u8> {
        named.unwrap().bytes
    }

    #[test]
    fn a_walk_is_turned_round() {
        let cases: [(&[u8], &[u8]); 8] = [
            (b"passwd\0etc\0", b"/etc/passwd"),
            (b"", b"/"),
            (b"/\0", b"/"),
            (b"c\0/\0b\0/\0", b"/b/c"),
            (b"\xff\n\x1b[2J\0d\0", b"/d/\xff\n\x1b[2J"),
            (b"memfd:payload\0", b"/memfd:payload"),
            (b"no-nul", b"/no-nul"),
            (b"..\0.\0", b"/./.."),
        ];
        for (given, expected) in cases {
            assert_eq!(bytes(path(walk(given))), expected, "{}", given.escape_ascii());
        }
    }

    #[test]
    fn a_walk_without_its_beginning_does_not_start_at_the_root() {
        let cut = path(Piece { is_cut: true, ..walk(b"c\0b\0") }).unwrap();
        assert_eq!((cut.bytes.as_slice(), cut.is_cut), (&b"b/c"[..], true));
    }

    #[test]
    fn a_name_stands_behind_its_place_unless_it_starts_at_the_root() {
        let cases: [(&[u8], &[u8], &[u8]); 8] = [
            (b"w\0", b"a/b", b"/w/a/b"),
            (b"", b"a", b"/a"),
            (b"", b"/etc/x", b"/etc/x"),
            (b"new\0", b"/etc/x", b"/new/etc/x"),
            (b"", b"/", b"/"),
            (b"w\0", b"../x", b"/w/../x"),
            (b"w\0", b"", b"/w"),
            (b"w\0", b"a/", b"/w/a/"),
        ];
        for (place, name, expected) in cases {
            let named = named(walk(place), text(name)).unwrap();
            assert_eq!(named.bytes, expected);
            assert_eq!(named.source(), PathSource::User);
        }
        assert_eq!(bytes(named(Piece::default(), text(b"a"))), b"a");
        assert_eq!(named(walk(b"f\0"), Piece::default()).unwrap().source(), PathSource::Kernel);
        assert_eq!(named(Piece::default(), Piece::default()), None);
    }
}
