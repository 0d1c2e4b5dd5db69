//! Taps without a shell.
//!
//! What commands make of a tapped pipe is tested with the shell.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nash_events::limits::HASHED_BYTES_MAX;
use sha2::{Digest as _, Sha256};

use super::region::Region;
use super::{Taps, keeper};

#[cfg(test)]
mod loans;

fn wait_until(mut what: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_mins(1));
        std::thread::yield_now();
    }
}

/// Kills the process that copies, and waits until another one has taken its place.
fn kill_worker(taps: &Arc<Taps>) {
    wait_until(|| taps.worker() > 0);
    let worker = taps.worker();
    kill(worker);
    wait_until(|| taps.worker() != worker);
}

fn kill(pid: i32) {
    // SAFETY: the call takes numbers. The process is a tap of this test's, which was not waited for.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

/// The process that waits for the worker: its parent.
fn keeper_of(taps: &Arc<Taps>) -> Option<i32> {
    wait_until(|| taps.worker() > 0);
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", taps.worker())).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn bytes_pass_and_are_known_when_the_pipe_ends() {
    let (tap, (mut reader, mut writer)) = Taps::start().unwrap().open().unwrap();
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
fn many_links_at_once_keep_their_data_apart_and_their_places_serve_again() {
    let taps = Taps::start().unwrap();
    for round in 0..3 {
        let mut links = Vec::new();
        // Places become free a moment after their links have ended.
        wait_until(|| {
            links.extend(taps.open());
            links.len() == 64
        });
        assert!(taps.open().is_err(), "there is a bound");
        for (number, (_, (_, writer))) in links.iter_mut().enumerate() {
            writer.write_all(format!("{round} {number}").as_bytes()).unwrap();
        }
        for (number, (tap, (mut reader, writer))) in links.into_iter().enumerate() {
            drop(writer);
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            assert_eq!(text, format!("{round} {number}"));
            assert_eq!(tap.crossing().head, text.as_bytes());
        }
    }
}

#[test]
fn a_reader_that_goes_breaks_the_pipe_for_the_writer() {
    let (tap, (reader, mut writer)) = Taps::start().unwrap().open().unwrap();
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
fn a_backlog_is_kept_until_its_reader_comes_and_records_stay_whole() {
    let (tap, (mut reader, mut writer)) = Taps::start().unwrap().open().unwrap();
    let record = [b'r'; 4000];
    for _ in 0..16 {
        writer.write_all(&record).unwrap();
    }
    drop(writer);
    wait_until(|| tap.has_ended());
    let mut read = [0; 4096];
    for _ in 0..16 {
        // A plain pipe too gives a record from each page.
        reader.read_exact(&mut read[..4000]).unwrap();
        assert_eq!(read[..4000], record);
    }
    assert_eq!(reader.read(&mut read).unwrap(), 0);
    assert_eq!(tap.crossing().hashed, 64_000);
}

#[test]
fn beyond_what_is_hashed_the_last_byte_comes_without_another_and_none_is_lost() {
    const CHUNK: usize = 8 << 10;
    let streamed = usize::try_from(HASHED_BYTES_MAX).unwrap() + (8 << 20);
    let (tap, (mut reader, mut writer)) = Taps::start().unwrap().open().unwrap();
    let (go, may_go) = std::sync::mpsc::channel();
    let writing = std::thread::spawn(move || {
        let zeros = [0; CHUNK];
        (0..streamed / CHUNK).for_each(|_| writer.write_all(&zeros).unwrap());
        // Now that nothing is on its way: single bytes, each of which must arrive before the next is written.
        for byte in 1..=100_u8 {
            may_go.recv().unwrap();
            writer.write_all(&[byte]).unwrap();
        }
    });
    let mut read = vec![0; CHUNK];
    for number in 0..streamed / CHUNK {
        reader.read_exact(&mut read).unwrap();
        assert!(read.iter().all(|byte| *byte == 0));
        if number % 512 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    for byte in 1..=100_u8 {
        go.send(()).unwrap();
        reader.read_exact(&mut read[..1]).unwrap();
        assert_eq!(read[0], byte);
    }
    writing.join().unwrap();
    assert_eq!(reader.read(&mut read).unwrap(), 0);
    assert_eq!(tap.crossing().bytes, streamed as u64 + 100);
}

#[test]
fn whoever_sleeps_until_the_end_is_woken_by_it() {
    let (tap, (_reader, writer)) = Taps::start().unwrap().open().unwrap();
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            while !tap.has_ended() {
                // The test would take as long as this is, if nobody woke the sleeper.
                tap.wait_for_end(Duration::from_hours(1));
            }
        });
        drop(writer);
        sleeper.join().unwrap();
    });
    // What has ended is waited for no more.
    tap.wait_for_end(Duration::from_hours(1));
}

#[test]
fn a_worker_that_is_killed_again_and_again_loses_and_doubles_no_byte() {
    let taps = Taps::start().unwrap();
    let (tap, (mut reader, mut writer)) = taps.open().unwrap();
    let numbers: Vec<u8> = (0..2_000_000).flat_map(u32::to_le_bytes).collect();
    let written = numbers.clone();
    let writing = std::thread::spawn(move || written.chunks(4).for_each(|number| writer.write_all(number).unwrap()));
    let reading = std::thread::spawn(move || {
        let mut all = Vec::new();
        reader.read_to_end(&mut all).map(|_| all)
    });
    for _ in 0..20 {
        kill_worker(&taps);
    }
    writing.join().unwrap();
    let all = reading.join().unwrap().unwrap();
    assert!(all == numbers, "{} of {} bytes", all.len(), numbers.len());
    wait_until(|| tap.has_ended());
    assert_eq!(tap.crossing().sha256.is_none(), tap.has_failed());
}

#[test]
fn a_tap_whose_worker_was_killed_says_so_and_the_next_one_is_whole() {
    let taps = Taps::start().unwrap();
    let (tap, (mut reader, mut writer)) = taps.open().unwrap();
    writer.write_all(b"before ").unwrap();
    wait_until(|| tap.crossing().bytes == 7);
    kill_worker(&taps);
    writer.write_all(b"after").unwrap();
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "before after");
    wait_until(|| tap.has_ended());
    assert!(tap.has_failed() && tap.crossing().sha256.is_none());
    assert_eq!(tap.crossing().head, b"before ");
    let (tap, (_, writer)) = taps.open().unwrap();
    drop(writer);
    wait_until(|| tap.has_ended());
    assert!(!tap.has_failed());
}

#[test]
fn without_its_keeper_a_worker_goes_on_and_without_both_the_pipe_is_broken_and_known_to_be() {
    let taps = Taps::start().unwrap();
    let (tap, (mut reader, mut writer)) = taps.open().unwrap();
    kill(keeper_of(&taps).unwrap());
    writer.write_all(b"x").unwrap();
    reader.read_exact(&mut [0]).unwrap();
    kill(taps.worker());
    assert_eq!(reader.read(&mut [0]).unwrap(), 0, "the pipe is broken");
    wait_until(|| tap.is_broken());
    assert!(tap.has_failed() && !tap.has_ended());
    assert!(taps.open().is_err());
}

#[test]
fn what_started_the_taps_is_waited_for_once_and_not_where_it_was_killed() {
    let taps = Taps::start().unwrap();
    let launch = taps.launch();
    assert!(launch > 0);
    taps.settle();
    let mut status = 0;
    // SAFETY: the call writes one number.
    let waited = unsafe { libc::waitpid(launch, &raw mut status, libc::__WALL | libc::WNOHANG) };
    assert_eq!(waited, -1, "it is no child any more");
    taps.settle();
    // Nobody says anything in this region, and no child has this number.
    let silent = Region::new(-1, [-1, -1]).unwrap();
    keeper::settle(silent, i32::MAX);
    silent.unmap();
}

#[test]
fn taps_end_with_whoever_may_ask_for_links() {
    let taps = Taps::start().unwrap();
    let keeper = keeper_of(&taps).unwrap();
    drop(taps);
    // Whoever takes orphans in may be slow to notice: it may be a zombie.
    let command_line = format!("/proc/{keeper}/cmdline");
    wait_until(|| {
        std::fs::read(&command_line).is_ok_and(|line| line.is_empty()) || !std::fs::exists(&command_line).unwrap()
    });
}
