//! Writes a story in the form that was asked for, to a file or to standard output, whole or part by part.
//!
//! The forms themselves are the library's. A reader who had enough is no error.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use anyhow::Context;
use nash_correlator::tree::{self, Options};
use nash_correlator::{Story, html, perfetto, story_lines};

use crate::cli::{Color, Format, Shape};
use crate::terminal::options_for_stdout;

/// Where a story goes. Nothing is opened before there is something to write.
pub(crate) struct Out<'a> {
    shape: &'a Shape,
    format: Format,
    options: Options,
    writer: Option<Box<dyn Write>>,
    /// Whether nobody reads any more.
    is_closed: bool,
}

impl<'a> Out<'a> {
    /// In this form, to where the command line says.
    pub(crate) fn new(shape: &'a Shape, format: Format) -> Self {
        let previews = !shape.no_previews;
        let options = match Self::file(shape) {
            Some(_) => Options { color: shape.color == Color::Always, previews, ..Options::plain() },
            None => options_for_stdout(shape.color, previews),
        };
        Self { shape, format, options, writer: None, is_closed: false }
    }

    /// Writes a story, or a part of one.
    pub(crate) fn write(&mut self, story: &Story) -> anyhow::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let written = self.open().and_then(|()| match &mut self.writer {
            Some(writer) => form(story, self.format, &self.options, writer),
            None => Ok(()),
        });
        self.judge(written)
    }

    /// Sees to it that everything is written.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        let flushed = self.writer.as_mut().map_or(Ok(()), Write::flush);
        self.judge(flushed)
    }

    fn open(&mut self) -> io::Result<()> {
        if self.writer.is_none() {
            self.writer = Some(match Self::file(self.shape) {
                Some(path) => Box::new(BufWriter::new(File::create(path)?)),
                None => Box::new(BufWriter::new(io::stdout())),
            });
        }
        Ok(())
    }

    fn judge(&mut self, written: io::Result<()>) -> anyhow::Result<()> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(())
            }
            written => written.with_context(|| match Self::file(self.shape) {
                Some(path) => format!("writing {}", path.display()),
                None => "writing standard output".to_owned(),
            }),
        }
    }

    fn file(shape: &Shape) -> Option<&std::path::Path> {
        shape.output.as_deref().filter(|path| path.as_os_str() != "-")
    }
}

fn form(story: &Story, format: Format, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Tree if story.coverage.part => {
            out.write_all(without_last_line(&tree::render(story, options)).as_bytes())
        }
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

/// A part's tree without its coverage: the last part tells everything's.
fn without_last_line(tree: &str) -> &str {
    let end = tree.trim_end_matches('\n').rfind('\n').map_or(0, |end| end + 1);
    &tree[..end]
}
