//! How much memory events take, roughly: for limits that shall hold whatever the events are like.
//!
//! An event weighs one, and one more for each KiB of text in it. Nothing is kept here.

use std::io::{self, Write};

use nash_events::{Batch, ByteString, Event, EventKind, KernelEvent, KernelEventKind};
use serde::Serialize;

/// Bytes of text that weigh as much as an event: 1 KiB, what an event without long texts takes.
const BYTES_PER_UNIT: u64 = 1 << 10;

/// Bytes that a text takes beside its own: 48, its place in a list and the allocator's share.
const BYTES_PER_TEXT: u64 = 48;

/// What a batch weighs.
pub(crate) fn of_batch(batch: &Batch) -> u64 {
    match batch {
        Batch::Shell(batch) => batch.events.iter().map(of_event).sum(),
        Batch::Kernel(batch) => batch.events.iter().map(of_kernel_event).sum(),
    }
}

/// What an event of a shell weighs.
pub(crate) fn of_event(event: &Event) -> u64 {
    let bytes = match &event.kind {
        EventKind::Exec(exec) | EventKind::ExecStart(exec) => of_texts(&exec.argv),
        EventKind::Redirect(redirect) => preview(redirect.data.as_ref()),
        EventKind::Pipe(pipe) => preview(pipe.data.as_ref()),
        EventKind::Cmdsub(cmdsub) => preview(Some(&cmdsub.data)),
        kind => json_bytes(kind),
    };
    1 + bytes / BYTES_PER_UNIT
}

/// What texts of one event weigh beside the event.
pub(crate) fn of_arguments(argv: &[ByteString]) -> u64 {
    of_texts(argv) / BYTES_PER_UNIT
}

/// How long something is as JSON.
pub(crate) fn json_bytes(what: &impl Serialize) -> u64 {
    struct Counted(u64);
    impl Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted(0);
    // Counting does not fail; what can't be written as JSON is not written either.
    let _ = serde_json::to_writer(&mut counted, what);
    counted.0
}

fn of_kernel_event(event: &KernelEvent) -> u64 {
    match &event.kind {
        KernelEventKind::Exec(exec) => 1 + of_arguments(&exec.argv),
        KernelEventKind::Present(present) => 1 + of_arguments(&present.argv),
        _ => 1,
    }
}

fn of_texts(texts: &[ByteString]) -> u64 {
    texts.iter().map(|text| text.as_bytes().len() as u64 + BYTES_PER_TEXT).sum()
}

fn preview(data: Option<&nash_events::event::Data>) -> u64 {
    data.and_then(|data| data.preview.as_ref()).map_or(0, |preview| preview.len() as u64)
}
