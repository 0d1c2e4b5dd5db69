//! zstd: frames one after the other, decompressed as they are read.
//!
//! Memory is bounded by the decoder's limit for a frame's window, 128 MiB; a frame that wants more is refused. It does not
//! compress.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The first bytes of a frame.
const FRAME_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The first bytes of a frame that holds no data, but for the low half of the first.
const SKIPPABLE_MAGIC: [u8; 3] = [0x2a, 0x4d, 0x18];

/// Bytes that are decompressed before any is handed on: 128 KiB, one block.
const DECODED_AT_ONCE_BYTES: usize = 128 << 10;

/// Whether these are the first bytes of something compressed.
pub(super) fn is_frame(head: &[u8]) -> bool {
    let is_skippable = |head: &[u8]| head.len() >= 4 && head[0] & 0xf0 == 0x50 && head[1..4] == SKIPPABLE_MAGIC;
    head.starts_with(&FRAME_MAGIC) || is_skippable(head)
}

/// Reads what is in all frames.
pub(super) struct Decoder<R> {
    source: R,
    frames: FrameDecoder,
    within: bool,
}

impl<R: BufRead> Decoder<R> {
    /// A decoder at the beginning of a frame.
    pub(super) fn new(source: R) -> Self {
        Self { source, frames: FrameDecoder::new(), within: false }
    }

    /// Begins the next frame that holds data; `false` at the end.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.frames.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, format!("zstd: {error}"))),
            }
        }
    }

    /// Whether a frame that has ended holds what its writer put in.
    fn check(&self) -> io::Result<()> {
        match (self.frames.get_checksum_from_data(), self.frames.get_calculated_checksum()) {
            (Some(told), Some(found)) if told != found => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "zstd: the checksum does not fit the content"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.within {
                if !self.begin()? {
                    return Ok(0);
                }
                self.within = true;
            }
            while self.frames.can_collect() == 0 && !self.frames.is_finished() {
                let decoded = self
                    .frames
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBytes(DECODED_AT_ONCE_BYTES));
                decoded.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("zstd: {error}")))?;
            }
            let count = self.frames.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.within = false;
            self.check()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn decoded(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Decoder::new(bytes).read_to_end(&mut out).map(|_| out)
    }

    #[test]
    fn frames_follow_each_other_and_those_without_data_are_passed_over() {
        let frame = |text: &[u8]| compress_to_vec(text, CompressionLevel::Fastest);
        let skippable = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let big = b"line\n".repeat(100_000);
        let all = [skippable.clone(), frame(b"one\n"), skippable, frame(&big), frame(b"")].concat();
        assert!(is_frame(&all));
        assert_eq!(decoded(&all).unwrap(), [b"one\n", big.as_slice()].concat());
    }

    #[test]
    fn a_frame_that_is_cut_or_changed_is_an_error_and_never_ends_in_silence() {
        let whole = compress_to_vec(&b"some text that is long enough\n".repeat(50)[..], CompressionLevel::Fastest);
        for cut in 1..whole.len() {
            assert!(decoded(&whole[..cut]).is_err(), "cut at {cut}");
        }
        assert!(decoded(&[0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff, 0xff, 0xff]).is_err());
    }
}
