//! How values are quoted where variables, aliases and options are listed.
//!
//! Each listing has its own kind of quotes; all of them read back as the same value. Quoting for tracing is the interpreter's.

use super::{quoting, text};

/// As `set` shows a value: only what has to be quoted is.
pub(crate) fn as_needed(value: &str, is_utf8: bool) -> String {
    hidden(value, is_utf8).unwrap_or_else(|| single_as_needed(value))
}

/// As `declare -p` shows a value: always quoted.
pub(crate) fn always(value: &str, is_utf8: bool) -> String {
    hidden(value, is_utf8).unwrap_or_else(|| double(value))
}

/// As the keys of associative arrays are shown.
pub(crate) fn key(value: &str, is_utf8: bool) -> String {
    let plain = || if has_special(value) || value == "@" { double(value) } else { value.to_owned() };
    hidden(value, is_utf8).unwrap_or_else(plain)
}

/// In single quotes, whatever it is.
pub(crate) fn single(value: &str) -> String {
    if value == "'" {
        return "\\'".to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// In single quotes where it has to be, as in POSIX mode.
pub(crate) fn single_as_needed(value: &str) -> String {
    if has_special(value) { single(value) } else { value.to_owned() }
}

/// In double quotes.
fn double(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len() + 2);
    quoted.push('"');
    for character in value.chars() {
        if matches!(character, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

/// A value with something that can't be shown, as `$'…'`; nothing for others.
fn hidden(value: &str, is_utf8: bool) -> Option<String> {
    if value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return None;
    }
    let bytes = text::to_bytes(value);
    let is_hidden = !quoting::is_printable(&bytes, is_utf8);
    is_hidden.then(|| text::from_bytes(quoting::dollar_quoted(&bytes, is_utf8)))
}

/// Whether the shell would read the value as more than a plain word.
fn has_special(value: &str) -> bool {
    let mut before = None;
    value.chars().any(|character| {
        let special = match character {
            '~' => matches!(before, None | Some('=' | ':')),
            '#' => before.is_none(),
            other => " \t\n'\"\\|&;()<>!{}*[?]^$`".contains(other),
        };
        before = Some(character);
        special
    })
}

#[cfg(test)]
mod tests {
    use super::{always, as_needed, key, single};

    #[test]
    fn only_what_the_shell_would_read_is_quoted_in_a_listing() {
        for (text, expect) in [("a#b", "a#b"), ("#a", "'#a'"), ("a=~b", "'a=~b'"), ("a~", "a~"), ("", ""), ("'", "\\'")]
        {
            assert_eq!(as_needed(text, true), expect);
        }
    }

    #[test]
    fn what_cant_be_shown_is_escaped() {
        assert_eq!(always("é\t'", true), r"$'é\t\''");
        assert_eq!(always("é", false), r"$'\303\251'");
        assert_eq!(always("a$`\"\\", true), r#""a\$\`\"\\""#);
    }

    #[test]
    fn a_key_that_means_all_keys_is_quoted() {
        assert_eq!(key("@", true), "\"@\"");
        assert_eq!(key("a=b", true), "a=b");
        assert_eq!(single("it's"), r"'it'\''s'");
    }
}
