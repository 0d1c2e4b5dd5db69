//! Writes a story in the form that was asked for, to a file or to standard output.
//!
//! The forms themselves are the library's. A reader who had enough is no error.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use anyhow::Context;
use nash_correlator::tree::{self, Options};
use nash_correlator::{Story, html, perfetto, story_lines};

use crate::cli::{Color, Format, Shape};
use crate::terminal::options_for_stdout;

/// Writes a story.
pub(crate) fn write(story: &Story, shape: &Shape, format: Format) -> anyhow::Result<()> {
    if let Some(path) = shape.output.as_deref().filter(|path| path.as_os_str() != "-") {
        let options = Options { color: shape.color == Color::Always, previews: !shape.no_previews, ..Options::plain() };
        let about = || format!("writing {}", path.display());
        let mut out = BufWriter::new(File::create(path).with_context(about)?);
        return form(story, format, &options, &mut out).and_then(|()| out.flush()).with_context(about);
    }
    let options = options_for_stdout(shape.color, !shape.no_previews);
    let mut out = BufWriter::new(io::stdout().lock());
    match form(story, format, &options, &mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("writing standard output"),
    }
}

fn form(story: &Story, format: Format, options: &Options, out: &mut impl Write) -> io::Result<()> {
    match format {
        Format::Tree => out.write_all(tree::render(story, options).as_bytes()),
        Format::Json => {
            serde_json::to_writer(&mut *out, story)?;
            out.write_all(b"\n")
        }
        Format::Ndjson => story_lines::write(story, out),
        Format::Html => html::write(story, options.previews, out),
        Format::Perfetto => perfetto::write(story, out),
    }
}
