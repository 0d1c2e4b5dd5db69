//! Taps without a shell.
//!
//! What commands make of a tapped pipe is tested with the shell.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::Tap;

fn wait_until(what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() && begun.elapsed() < Duration::from_mins(1) {
        std::thread::yield_now();
    }
    assert!(what());
}

#[test]
fn bytes_pass_and_are_known_when_the_pipe_ends() {
    let (tap, (mut reader, mut writer)) = Tap::open().unwrap();
    writer.write_all(b"hello").unwrap();
    let mut read = [0; 5];
    reader.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"hello");
    wait_until(|| tap.crossing().bytes == 5);
    assert!(!tap.has_ended() && tap.crossing().sha256.is_none());
    drop(writer);
    assert_eq!(reader.read(&mut read).unwrap(), 0);
    assert!(tap.has_ended(), "its end is known before the reader sees it");
    let crossing = tap.crossing();
    assert_eq!((crossing.head.as_slice(), crossing.hashed), (&b"hello"[..], 5));
    assert_eq!(crossing.sha256, Some(Sha256::digest(b"hello").into()));
}

#[test]
fn a_reader_that_goes_breaks_the_pipe_for_the_writer() {
    let (tap, (reader, mut writer)) = Tap::open().unwrap();
    drop(reader);
    wait_until(|| tap.has_ended());
    let begun = Instant::now();
    // The tap says that it has ended a moment before it closes its ends.
    let error = loop {
        match writer.write_all(b"x") {
            Err(error) => break error,
            Ok(()) => assert!(begun.elapsed() < Duration::from_mins(1)),
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
}

#[test]
fn a_writer_gets_rid_of_what_a_plain_pipe_holds_however_it_is_cut() {
    for piece in [1, 7, 50, 4096, 64 << 10] {
        let (tap, (reader, mut writer)) = Tap::open().unwrap();
        for _ in 0..(64 << 10) / piece {
            writer.write_all(&vec![b'x'; piece]).unwrap();
        }
        drop((reader, writer));
        wait_until(|| tap.has_ended());
    }
}

#[test]
fn a_tap_that_was_killed_is_known_to_have_failed() {
    let (mut tap, (mut reader, writer)) = Tap::open().unwrap();
    assert!(!tap.has_failed());
    tap.kill();
    assert_eq!(reader.read(&mut [0]).unwrap(), 0, "the pipe is broken");
    let begun = Instant::now();
    while !tap.has_failed() && begun.elapsed() < Duration::from_mins(1) {
        std::thread::yield_now();
    }
    assert!(tap.has_failed() && !tap.has_ended());
    drop(writer);
}
