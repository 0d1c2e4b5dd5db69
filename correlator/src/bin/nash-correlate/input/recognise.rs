//! What a file holds, by its content.
//!
//! Looks at the lines of its beginning, and the first that says something decides: a damaged first line costs nothing. Names
//! mean nothing here.

/// Bytes of a file's beginning that are looked at: 64 KiB, so that a damaged first record does not hide the others.
pub(super) const HEAD_BYTES: u64 = 64 << 10;

/// What files of ours are, for people.
pub(crate) const EXPECTED: &str =
    "batches, one a line (a spool file or a receiver's journal), a shell's journal, or a reply of `drain`";

/// What says when something happened.
const TIME_KEY: &[u8] = b"\"ts\":";

/// What the beginning of some content says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Beginning {
    /// The format.
    pub(super) form: Form,
    /// The earliest time in it, in Unix milliseconds.
    pub(super) at_ms: Option<f64>,
    /// Whether it holds batches of kernel observers.
    pub(super) is_kernel: bool,
}

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Batches of shells or observers, one a line.
    Batches,
    /// A shell's journal.
    Journal,
    /// What `drain` prints.
    Reply,
    /// Nothing, or nothing but space and holes.
    Empty,
    /// Something else.
    Foreign,
}

/// What the beginning of a file says: its form, the earliest time that stands in it, and whether it holds observers' words.
pub(super) fn beginning(head: &[u8]) -> Beginning {
    let is_kernel = has(head, b"\"kernel-batch\"");
    Beginning { form: form(head), at_ms: first_time(head), is_kernel }
}

/// The earliest time that stands somewhere in a text, in Unix milliseconds: when a file begins, so far as that can be told
/// without reading it. What stands in a string has a backslash before its quotation mark.
fn first_time(head: &[u8]) -> Option<f64> {
    let mut first: Option<f64> = None;
    let mut rest = head;
    while let Some(at) = rest.windows(TIME_KEY.len()).position(|window| window == TIME_KEY) {
        let is_a_key = at == 0 || rest[at - 1] != b'\\';
        rest = &rest[at + TIME_KEY.len()..];
        let number = rest.trim_ascii_start();
        let digits = number.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        // A number that the head's end cuts is another number.
        let told = std::str::from_utf8(&number[..digits]).ok().filter(|_| is_a_key && digits < number.len());
        if let Some(ts) = told.and_then(|digits| digits.parse::<f64>().ok()) {
            first = Some(first.map_or(ts, |known| known.min(ts)));
        }
    }
    first
}

fn has(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// Recognises a file by its beginning.
pub(super) fn form(head: &[u8]) -> Form {
    let mut form = Form::Empty;
    for line in head.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        // A hole in a journal reads as NUL bytes.
        let hole = line.iter().take_while(|byte| **byte == 0).count();
        match form_of_line(&line[hole..]) {
            Form::Empty => {}
            Form::Foreign => form = Form::Foreign,
            found => return found,
        }
    }
    form
}

fn form_of_line(line: &[u8]) -> Form {
    if line.is_empty() {
        return Form::Empty;
    }
    if !line.starts_with(b"{") {
        return Form::Foreign;
    }
    // A journal's records and notes begin with what tells them apart, and may speak of anything further on.
    let begins = |keys: &[&str]| keys.iter().any(|key| line.starts_with(key.as_bytes()));
    if begins(&["{\"kind\":", "{\"end\":", "{\"note\":", "{\"carry\":", "{\"pid\":", "{\"type\":\"shell-journal\""]) {
        return Form::Journal;
    }
    if begins(&["{\"op\":\"shell-events\""]) {
        return Form::Reply;
    }
    let says = |text: &str| has(line, text.as_bytes());
    if says("\"shell-batch\"") || says("\"kernel-batch\"") || says("\"events\":[") {
        Form::Batches
    } else {
        Form::Foreign
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_begins_at_the_earliest_time_that_is_no_text() {
        let head = br#"{"events":[{"ts":30.5,"argv":["\"ts\":1,"]},{"ts": 20,"seq":1},{"ts":1"#;
        assert_eq!(first_time(head), Some(20.0));
        assert_eq!(first_time(b"{\"tst\":1}"), None);
    }

    #[test]
    fn the_first_line_that_says_something_decides() {
        let cases: [(&[u8], Form); 10] = [
            (b"{\"type\":\"shell-batch\",\"version\":1", Form::Batches),
            (b"{ \"version\": 1, \"type\": \"kernel-batch\"}", Form::Batches),
            (b"{\"events\":[{\"kind\":\"exec\",\"argv\":[\"a", Form::Batches),
            (b"garbage\n\n{\"type\":\"kernel-batch\"}\n", Form::Batches),
            (b"\0\0\0\n\0\0{\"kind\":\"cd\"}\n", Form::Journal),
            (b"{\"type\":\"shell-jour\n\n{\"note\":\"delivered\"}\n", Form::Journal),
            (b"{\"op\":\"shell-events\",\"files\":0}", Form::Reply),
            (b" \n\n\0\0", Form::Empty),
            (b"{\n \"a\": 1\n}\n", Form::Foreign),
            (b"\x7fELF\x02\x01", Form::Foreign),
        ];
        for (head, expected) in cases {
            assert_eq!(form(head), expected, "{}", head.escape_ascii());
        }
    }
}
