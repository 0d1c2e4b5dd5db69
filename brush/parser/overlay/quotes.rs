//! Quotes taken off a text without expanding anything in it.
//!
//! Upstream keeps this in its tokenizer, which is gone. It is meant for delimiters of here-documents and for completion; words
//! are unquoted where they are expanded.
#![warn(warnings, clippy::all, clippy::pedantic)]

/// Removes quotes and backslashes.
#[must_use]
pub fn unquote_str(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut quote = None;
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', None) => plain.extend(characters.next()),
            ('\\', Some('"')) => {
                if !characters.peek().is_some_and(|next| "$`\"\\".contains(*next)) {
                    plain.push('\\');
                }
                plain.extend(characters.next());
            }
            ('$', None) if matches!(characters.peek(), Some('\'' | '"')) => {}
            (_, Some(open)) if character == open => quote = None,
            ('\'' | '"', None) => quote = Some(character),
            _ => plain.push(character),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::unquote_str;

    #[test]
    fn quotes_and_backslashes_go() {
        assert_eq!(unquote_str(r#"'a'"b"\c$'d'"#), "abcd");
        assert_eq!(unquote_str(r#""\$\x""#), r"$\x");
    }
}
