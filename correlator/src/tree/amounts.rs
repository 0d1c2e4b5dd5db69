//! What a line of the tree says of data: how much there was, how it begins, what was masked in it.
//!
//! Only beginnings that can be read are shown. Where the data belongs is for others to say.

use nash_events::event::{Data, Pipe};

use super::Options;
use super::figures::bytes;
use crate::paint::{Style, Text};
use crate::terminal_text::visible;

/// Columns of a preview: 32, enough to recognise a text by.
const PREVIEW_COLUMNS: usize = 32;

/// How much data there was, how it begins where that is asked for and can be read, and what was masked in it.
pub(super) fn amount(data: &Data, preview_wanted: bool, masked: &[String], options: &Options) -> String {
    let mut told = bytes(data.bytes);
    let wanted = preview_wanted || options.previews;
    match data.preview.as_deref().filter(|preview| wanted && !preview.is_empty()) {
        Some(preview) if is_text(preview) => {
            told.push_str(": ");
            told.push_str(&shortened(preview, data.truncated, options));
        }
        Some(_) => told.push_str(", binary"),
        None => {}
    }
    if !masked.is_empty() {
        told = format!("{told}, masked: {}", visible(masked.join(", ").as_bytes()));
    }
    told
}

/// Whether a beginning is one of text: there is nothing to recognise in other data.
fn is_text(preview: &[u8]) -> bool {
    let head = &preview[..preview.len().min(4 * PREVIEW_COLUMNS)];
    // A letter may be cut at the end.
    let is_cut = |error: std::str::Utf8Error| error.error_len().is_none();
    !head.contains(&0) && std::str::from_utf8(head).map_or_else(is_cut, |_| true)
}

fn shortened(preview: &[u8], truncated: bool, options: &Options) -> String {
    let text = preview.strip_suffix(b"\n").unwrap_or(preview);
    let mut shown = Text::new();
    shown.push(Style::Plain, visible(&text[..text.len().min(4 * PREVIEW_COLUMNS)]));
    let whole = shown.width() <= PREVIEW_COLUMNS && !truncated;
    shown.cut(PREVIEW_COLUMNS, "");
    let mut out = String::from("\"");
    shown.write(false, &mut out);
    out.push_str(if whole { "" } else { options.ellipsis() });
    out.push('"');
    out
}

/// What crossed a pipe, between parentheses; nothing where that isn't known.
pub(super) fn crossed(pipe: &Pipe, options: &Options) -> String {
    let open = if pipe.still_open { ", still open" } else { "" };
    match &pipe.data {
        Some(data) => format!("({}{open})", amount(data, false, &pipe.redacted, options)),
        None => String::new(),
    }
}
