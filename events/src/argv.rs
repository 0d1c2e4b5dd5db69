//! Bounding an argument list, so that one command can't fill a batch.
//!
//! Pure: bytes in, bytes out. Redaction comes first, since a cut secret might no longer be recognised as one.

use crate::bytes::ByteString;
use crate::limits::{ARG_BYTES_MAX, ARGS_MAX, ARGV_BYTES_MAX};

/// What is reported of an argument list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundedArgv {
    /// The reported arguments: a head of the list, each of them whole or a head of itself.
    pub argv: Vec<ByteString>,
    /// How many arguments there were.
    pub argc: u64,
    /// Whether anything is missing.
    pub truncated: bool,
}

/// Bounds an argument list: 4 KiB an argument, 64 arguments, 32 KiB in all.
///
/// The argument that would exceed the last bound is cut there, and nothing follows it. A cut never leaves half a UTF-8
/// character at the end, so that text stays text.
pub fn bound_argv<A: AsRef<[u8]>>(arguments: &[A]) -> BoundedArgv {
    let mut bounded = BoundedArgv {
        argv: Vec::with_capacity(arguments.len().min(ARGS_MAX)),
        argc: arguments.len() as u64,
        truncated: arguments.len() > ARGS_MAX,
    };
    let mut left = ARGV_BYTES_MAX;
    for argument in arguments.iter().take(ARGS_MAX) {
        let whole = argument.as_ref();
        let room = left.min(ARG_BYTES_MAX);
        let head = head(whole, room);
        let cut = head.len() < whole.len();
        bounded.truncated |= cut;
        if cut && head.is_empty() {
            break;
        }
        left -= head.len();
        bounded.argv.push(head.into());
        if cut && room < ARG_BYTES_MAX {
            break;
        }
    }
    bounded
}

/// The first `len_max` bytes, less the bytes of a character that the cut would split.
pub fn head(bytes: &[u8], len_max: usize) -> &[u8] {
    if bytes.len() <= len_max {
        return bytes;
    }
    let is_continuation = |at: usize| bytes[at] & 0xc0 == 0x80;
    // A character has at most three continuation bytes; a longer run of them is no text, and is cut where it must be.
    let start = (len_max.saturating_sub(3)..=len_max).rev().find(|at| !is_continuation(*at)).unwrap_or(len_max);
    &bytes[..start]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(arguments: &[Vec<u8>]) -> (Vec<usize>, u64, bool) {
        let bounded = bound_argv(arguments);
        (bounded.argv.iter().map(|argument| argument.as_bytes().len()).collect(), bounded.argc, bounded.truncated)
    }

    #[test]
    fn a_list_within_the_bounds_is_whole() {
        let bounded = bound_argv(&["git", "push", ""]);
        assert_eq!(bounded.argv, ["git", "push", ""]);
        assert!(!bounded.truncated);
        assert_eq!(lengths(&vec![vec![b'a'; ARG_BYTES_MAX]; 8]), (vec![ARG_BYTES_MAX; 8], 8, false));
    }

    #[test]
    fn a_long_argument_is_cut_and_the_next_ones_stay() {
        assert_eq!(lengths(&[vec![b'a'; 5000], vec![b'b'; 2]]), (vec![4096, 2], 2, true));
    }

    #[test]
    fn arguments_beyond_the_64th_are_counted() {
        assert_eq!(lengths(&vec![vec![b'a']; 65]), (vec![1; 64], 65, true));
    }

    #[test]
    fn all_arguments_together_stay_within_32_kib() {
        let (lengths, argc, truncated) = lengths(&vec![vec![b'a'; 3000]; 20]);
        assert_eq!((lengths.iter().sum::<usize>(), argc, truncated), (ARGV_BYTES_MAX, 20, true));
        assert_eq!(lengths, [vec![3000; 10], vec![2768]].concat());
    }

    #[test]
    fn a_cut_does_not_split_a_character() {
        assert_eq!(head("aé".as_bytes(), 2), b"a");
        assert_eq!(head("aé!".as_bytes(), 3), "aé".as_bytes());
        assert_eq!(head("a😀".as_bytes(), 4), b"a");
        assert_eq!(head(&[0x80; 9], 5), &[0x80; 5]);
        assert_eq!(head("é".as_bytes(), 1), b"");
        assert_eq!(head("é".as_bytes(), 0), b"");
    }
}
