//! Reads files of batches, one a line, without holding them in memory.
//!
//! Serves the journal, the spool and what is analysed later alike. It does not say what a bad line means to either.

use std::io::{self, Read};

use nash_events::{SpoolLine, SpoolReader};

/// Bytes that are read at once: 64 KiB.
const CHUNK_BYTES: usize = 64 << 10;

/// Gives every line from where the file stands to `take`; tells whether the file ends in the middle of a line.
pub(crate) fn each_line<E: From<io::Error>>(
    file: &mut (impl Read + ?Sized),
    mut take: impl FnMut(SpoolLine) -> Result<(), E>,
) -> Result<bool, E> {
    let mut reader = SpoolReader::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut torn = false;
    loop {
        let count = file.read(&mut chunk)?;
        let Some(last) = chunk[..count].last() else { break };
        torn = *last != b'\n';
        for line in reader.push(&chunk[..count]) {
            take(line)?;
        }
    }
    if let Some(line) = reader.finish() {
        take(line)?;
    }
    Ok(torn)
}
