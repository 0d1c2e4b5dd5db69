//! A story as one page that a person can mail: everything in one file, nothing fetched.
//!
//! The data stand in the page as JSON, and a script of ours draws them; a policy in the page lets no other script run. For
//! viewers without scripts the tree stands there as text. What the page looks like is in the files beside this.

use std::io::{self, Write};

use nash_events::bytes::{from_base64, to_base64};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::story::{ShellStory, Story};
use crate::tree::{self, Options};

/// Bytes of one preview in a page: 8 KiB, some screens; the story as JSON has all of it.
pub const PREVIEW_BYTES_MAX: usize = 8 << 10;

/// Bytes of all previews in a page: 16 MiB, what mail still carries; the others are left out.
pub const PREVIEWS_BYTES_MAX: usize = 16 << 20;

/// Bytes of the tree for viewers without scripts: 1 MiB, about ten thousand lines.
const TREE_BYTES_MAX: usize = 1 << 20;

/// Commands and processes of a story whose tree is drawn for those viewers: 20,000. That of more would be cut to a small part of it.
const TREE_NODES_MAX: usize = 20_000;

/// Lists of a shell, which are written item by item.
const LISTS_OF_SHELL: [&str; 3] = ["commands", "pipes", "events"];

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: [&str; 3] = [include_str!("model.js"), include_str!("view.js"), include_str!("panel.js")];

/// Writes the page.
///
/// `previews` says whether the beginnings of files and pipes go into it.
pub fn write(story: &Story, previews: bool, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let script = SCRIPT.concat();
    let mut rest = PAGE;
    // The page is walked once, so that a mark in a stranger's text is never taken for one of ours.
    while let Some((before, after)) = rest.split_once('@') {
        out.write_all(before.as_bytes())?;
        let (mark, after) = after.split_once('@').unwrap_or((after, ""));
        match mark {
            "STYLE" => out.write_all(STYLE.as_bytes())?,
            "SCRIPT" => out.write_all(script.as_bytes())?,
            "STYLE_HASH" => out.write_all(hash(STYLE).as_bytes())?,
            "SCRIPT_HASH" => out.write_all(hash(&script).as_bytes())?,
            "TREE" => out.write_all(text(&tree_of(story, previews)).as_bytes())?,
            "STORY" => write_story(story, previews, &mut Inside(&mut *out))?,
            _ => return Err(io::Error::other(format!("the page has no place called {mark}"))),
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// What a policy names a script or a style by.
fn hash(text: &str) -> String {
    to_base64(&Sha256::digest(text.as_bytes()))
}

/// The tree, cut to its bound at the end of a line.
fn tree_of(story: &Story, previews: bool) -> String {
    let commands: usize = story.shells.iter().map(|shell| shell.commands.len()).sum();
    if commands + story.processes.len() > TREE_NODES_MAX {
        return format!(
            "{} commands and {} processes are too many for a page without scripts; nash-correlate analyze tells them.\n",
            story.coverage.commands, story.coverage.processes
        );
    }
    let mut tree = tree::render(story, &Options { previews, ..Options::plain() });
    if tree.len() > TREE_BYTES_MAX {
        let end = tree.as_bytes()[..TREE_BYTES_MAX].iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        tree.truncate(end);
        tree.push_str("\n… the rest is left out here\n");
    }
    tree
}

/// Text for between two tags.
fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The story as JSON, with what is missing of it in words; process by process and shell by shell, so that it is
/// never in memory twice.
fn write_story(story: &Story, previews: bool, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut left = if previews { PREVIEWS_BYTES_MAX } else { 0 };
    let mut head = serde_json::to_value(story.without_lists())?;
    head["warnings"] = Value::from(tree::warnings(story));
    if let Value::Object(head) = &mut head {
        head.remove("shells");
        head.remove("processes");
    }
    let head = serde_json::to_string(&head)?;
    write!(out, "{},\"processes\":[", head.strip_suffix('}').unwrap_or(&head))?;
    for (index, process) in story.processes.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        serde_json::to_writer(&mut *out, process)?;
    }
    out.write_all(b"],\"shells\":[")?;
    for (index, shell) in story.shells.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        write_shell(shell, &mut left, out)?;
    }
    out.write_all(b"]}")
}

/// One shell as JSON, item by item.
fn write_shell(shell: &ShellStory, left: &mut usize, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut head = serde_json::to_value(shell.without_lists())?;
    if let Value::Object(head) = &mut head {
        for list in LISTS_OF_SHELL {
            head.remove(list);
        }
    }
    bound_previews(&mut head, left);
    let head = head.to_string();
    out.write_all(head.strip_suffix('}').unwrap_or(&head).as_bytes())?;
    let [commands, pipes, events] = LISTS_OF_SHELL;
    write_list(commands, &shell.commands, left, out)?;
    write_list(pipes, &shell.pipes, left, out)?;
    write_list(events, &shell.events, left, out)?;
    out.write_all(b"}")
}

fn write_list(
    name: &str,
    items: &[impl Serialize],
    left: &mut usize,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    write!(out, ",\"{name}\":[")?;
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        let mut item = serde_json::to_value(item)?;
        bound_previews(&mut item, left);
        serde_json::to_writer(&mut *out, &item)?;
    }
    out.write_all(b"]")
}

/// Cuts the previews in a value to what a page carries.
fn bound_previews(value: &mut Value, left: &mut usize) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| bound_previews(item, left)),
        Value::Object(fields) => {
            if let Some(preview) = fields.remove("previewB64") {
                let bytes = preview.as_str().and_then(|preview| from_base64(preview).ok()).unwrap_or_default();
                let kept = bytes.len().min(PREVIEW_BYTES_MAX).min(*left);
                *left -= kept;
                if kept < bytes.len() {
                    fields.insert("truncated".to_owned(), Value::from(true));
                }
                if kept > 0 || bytes.is_empty() {
                    fields.insert("previewB64".to_owned(), Value::from(to_base64(&bytes[..kept])));
                }
            }
            fields.values_mut().for_each(|field| bound_previews(field, left));
        }
        _ => {}
    }
}

/// JSON within a script element: without a less-than sign no text can end the element or begin a comment in it.
struct Inside<W>(W);

impl<W: Write> Write for Inside<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'<') {
            match piece.strip_suffix(b"<") {
                Some(before) => {
                    self.0.write_all(before)?;
                    self.0.write_all(b"\\u003c")?;
                }
                None => self.0.write_all(piece)?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
