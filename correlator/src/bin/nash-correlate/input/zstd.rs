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

/// A frame's last block, without data, and as much as a checksum takes: what makes the decoder give what it holds back.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

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
    /// Why the frame goes on no further, while what it held is given out.
    trouble: Option<io::Error>,
}

impl<R: BufRead> Decoder<R> {
    /// A decoder at the beginning of a frame.
    pub(super) fn new(source: R) -> Self {
        Self { source, frames: FrameDecoder::new(), within: false, trouble: None }
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

    /// What stands at the beginning: so many bytes, or a block more. A window that a frame keeps to refer to, often of megabytes, is
    /// not waited for.
    pub(super) fn beginning(mut self, wanted: u64) -> io::Result<Vec<u8>> {
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let mut unpacked = Vec::new();
        while unpacked.len() < wanted {
            match self.begin() {
                Ok(true) => {}
                Err(error) if unpacked.is_empty() => return Err(error),
                _ => break,
            }
            let decoded = self.decode(wanted - unpacked.len());
            let is_whole = decoded.is_ok() && self.frames.is_finished();
            self.let_go();
            self.frames.read_to_end(&mut unpacked)?;
            match decoded {
                Err(error) if unpacked.is_empty() => return Err(error),
                _ if !is_whole => break,
                _ => {}
            }
        }
        Ok(unpacked)
    }

    fn decode(&mut self, bytes: usize) -> io::Result<()> {
        let decoded = self.frames.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBytes(bytes));
        decoded.map(drop).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("zstd: {error}")))
    }

    /// Ends the frame where it stands, so that all that was decoded can be read.
    fn let_go(&mut self) {
        if !self.frames.is_finished() {
            // What can't be had even so is lost with the frame.
            let _ = self.frames.decode_blocks(&LAST_BLOCK[..], BlockDecodingStrategy::All);
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
            while self.frames.can_collect() == 0 && !self.frames.is_finished() && self.trouble.is_none() {
                if let Err(error) = self.decode(DECODED_AT_ONCE_BYTES) {
                    self.trouble = Some(error);
                    self.let_go();
                }
            }
            let count = self.frames.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            if let Some(error) = self.trouble.take() {
                return Err(error);
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

    /// Text in one frame with a window of a megabyte, as the usual compressor leaves it: blocks as they are, and a checksum.
    fn wide_frame(text: &[u8]) -> Vec<u8> {
        let window_of_a_mebibyte = 10 << 3;
        let mut frame = [&FRAME_MAGIC[..], &[0b100, window_of_a_mebibyte]].concat();
        let blocks = text.chunks(100_000).count();
        for (index, block) in text.chunks(100_000).enumerate() {
            let header = (u32::try_from(block.len()).unwrap() << 3) | u32::from(index + 1 == blocks);
            frame.extend(&header.to_le_bytes()[..3]);
            frame.extend(block);
        }
        // The decoder compares no checksum where it computes none; the tests' does.
        frame.extend([0; 4]);
        frame
    }

    #[test]
    fn the_beginning_of_a_frame_is_known_before_its_window_is_full() {
        let text = b"a line of text\n".repeat(50_000);
        let frame = wide_frame(&text);
        let head = Decoder::new(frame.as_slice()).beginning(64 << 10).unwrap();
        assert!(head.len() >= 64 << 10 && text.starts_with(&head), "{}", head.len());
        assert_eq!(Decoder::new(frame.as_slice()).beginning(u64::MAX).unwrap(), text);
        let two = [compress_to_vec(&b"first\n"[..], CompressionLevel::Fastest), frame].concat();
        assert!(Decoder::new(two.as_slice()).beginning(1000).unwrap().starts_with(b"first\na line"));
    }

    #[test]
    fn what_stands_before_a_cut_is_given_whatever_the_window() {
        let text = b"a line of text\n".repeat(50_000);
        let frame = wide_frame(&text);
        let mut out = Vec::new();
        let ended = Decoder::new(&frame[..frame.len() - 20_000]).read_to_end(&mut out);
        assert!(ended.is_err());
        assert_eq!(out.len(), 700_000);
        assert!(text.starts_with(&out));
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
