//! Takes the inner attributes off the head of a crate's root file.
//!
//! `include!` refuses a file that begins with `#![…]` or `//!`. Line ends stay, so that the compiler's messages keep
//! upstream's line numbers. Inner attributes further down, inside of modules, are none of this module's business.

/// Returns `source` with the inner attributes and inner doc comments at its head blanked out.
pub(crate) fn strip(source: &str) -> String {
    let mut stripped = String::with_capacity(source.len());
    let mut rest = source;
    loop {
        let trimmed = rest.trim_start();
        stripped.push_str(&rest[..rest.len() - trimmed.len()]);
        rest = trimmed;
        let Some((len, keep)) = head_item(rest) else { break };
        let (item, after) = rest.split_at(len);
        if keep {
            stripped.push_str(item);
        } else {
            stripped.extend(item.chars().filter(|&character| character == '\n'));
        }
        rest = after;
    }
    stripped.push_str(rest);
    stripped
}

/// Measures the comment or inner attribute at the start of `text` and says whether it stays; None where an item begins.
fn head_item(text: &str) -> Option<(usize, bool)> {
    let line_len = || text.find('\n').unwrap_or(text.len());
    let outer_doc = |mark: &str, more: &str| text.starts_with(mark) && !text.starts_with(more);
    if text.starts_with("//!") {
        Some((line_len(), false))
    } else if text.starts_with("//") && !outer_doc("///", "////") {
        Some((line_len(), true))
    } else if text.starts_with("/*!") {
        Some((block_comment_len(text), false))
    } else if text.starts_with("/*") && !outer_doc("/**", "/***") {
        Some((block_comment_len(text), true))
    } else if text.starts_with("#![") {
        Some((attribute_len(text), false))
    } else {
        None
    }
}

/// Measures a block comment; they nest.
fn block_comment_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*/") => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Measures `#![…]` with brackets inside, be they code or text in quotes.
fn attribute_len(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::strip;

    fn check(input: &str, expect: &str) {
        assert_eq!(strip(input), expect);
    }

    #[test]
    fn docs_and_attributes_at_the_head_become_empty_lines() {
        check("//! Docs.\n\n#![allow(dead_code)]\nmod a;\n", "\n\n\nmod a;\n");
    }

    #[test]
    fn an_attribute_may_span_lines_and_hold_brackets() {
        check("#![doc(html_root = \"x]\\\"]\")]\n#![cfg_attr(\n  all([a]),\n  b\n)]\nmod a;", "\n\n\n\n\nmod a;");
    }

    #[test]
    fn ordinary_comments_stay_and_do_not_end_the_head() {
        check("// Licence.\n/* a /* b */ c */\n/*! d */\n#![e]\nmod a;", "// Licence.\n/* a /* b */ c */\n\n\nmod a;");
    }

    #[test]
    fn the_first_item_and_its_outer_docs_end_the_head() {
        check(
            "/// Doc.\n#[cfg(unix)]\nmod a {\n    #![allow(x)]\n}\n",
            "/// Doc.\n#[cfg(unix)]\nmod a {\n    #![allow(x)]\n}\n",
        );
    }

    #[test]
    fn a_file_of_nothing_but_docs_is_blanked() {
        check("//! Docs.", "");
    }
}
