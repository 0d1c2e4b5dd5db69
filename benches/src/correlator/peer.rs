//! The peer: lines of JSON, each read into a tree of values and dropped.
//!
//! It understands nothing and keeps nothing.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;

/// Bytes that are read at once: 256 KiB, as the correlator does.
const BUFFER_BYTES: usize = 256 << 10;

/// Reads a file of JSON lines; gives how many there were.
pub(crate) fn parse_lines(path: &Path) -> anyhow::Result<u64> {
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    let (mut line, mut count) = (Vec::new(), 0);
    while reader.read_until(b'\n', &mut line)? > 0 {
        let value: serde_json::Value =
            serde_json::from_slice(&line).with_context(|| format!("{}:{}", path.display(), count + 1))?;
        drop(value);
        line.clear();
        count += 1;
    }
    Ok(count)
}
