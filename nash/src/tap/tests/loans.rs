//! What a reader gets at once and what a writer gets rid of, compared with a plain pipe. Taps without a shell.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use sha2::{Digest as _, Sha256};

use super::super::Taps;
use super::{kill_worker, wait_until};

/// How much a pipe takes in pieces before its writer would have to wait.
fn taken(writer: &mut PipeWriter, piece: usize) -> usize {
    fcntl_setfl(&*writer, fcntl_getfl(&*writer).unwrap() | OFlags::NONBLOCK).unwrap();
    let mut taken = 0;
    // Whoever stands between the ends gets time to do what it does.
    for _ in 0..20 {
        loop {
            match writer.write(&vec![b'x'; piece]) {
                Ok(count) => taken += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    taken
}

/// Bytes that tell where in a stream they stand.
fn numbers(count: u32) -> Vec<u8> {
    (0..count).flat_map(u32::to_le_bytes).collect()
}

/// Reads in pieces of so many bytes, to the end.
fn read_in_pieces(mut reader: PipeReader, piece: usize) -> Vec<u8> {
    let (mut all, mut read) = (Vec::new(), vec![0; piece]);
    loop {
        match reader.read(&mut read).unwrap() {
            0 => return all,
            count => all.extend_from_slice(&read[..count]),
        }
    }
}

#[test]
fn what_is_written_at_once_is_there_at_once() {
    let taps = Taps::start().unwrap();
    for size in [1, 1024, 1025, 4096, 4097, 9000, 30_000, 50_000, 64 << 10] {
        let (tap, (mut reader, mut writer)) = taps.open().unwrap();
        let (written, mut read) = (vec![b'x'; size], vec![0; 64 << 10]);
        for round in 1..=3 {
            writer.write_all(&written).unwrap();
            assert_eq!(reader.read(&mut read).unwrap(), size);
            // Room for another one of the largest comes a moment after the reader has taken it.
            wait_until(|| rustix::io::ioctl_fionread(&writer).unwrap() == 0);
            assert_eq!(tap.crossing().bytes, round * size as u64);
        }
        // The last that a writer writes, which is gone when its reader comes.
        writer.write_all(&written).unwrap();
        drop(writer);
        wait_until(|| tap.has_ended());
        assert_eq!(reader.read(&mut read).unwrap(), size);
        assert_eq!(tap.crossing().bytes, 4 * size as u64);
    }
}

#[test]
fn a_writer_has_the_room_of_a_plain_pipe_until_its_reader_takes_something() {
    for piece in [65_536, 8192, 4096, 3000, 1025, 100, 50, 7, 1] {
        let plain = taken(&mut io::pipe().unwrap().1, piece);
        let (_tap, (mut reader, mut writer)) = Taps::start().unwrap().open().unwrap();
        let tapped = taken(&mut writer, piece);
        assert_eq!(tapped, plain, "in pieces of {piece}");
        let mut all = vec![0; tapped];
        reader.read_exact(&mut all).unwrap();
        let mut more = 0;
        wait_until(|| {
            more += taken(&mut writer, piece);
            more >= plain
        });
    }
}

#[test]
fn a_reader_that_comes_late_finds_all_that_was_written_at_once() {
    for (piece, pieces) in [(1, 100), (100, 3), (100, 600), (1000, 64), (3000, 5), (4096, 16), (30_000, 2)] {
        let (_tap, (mut reader, mut writer)) = Taps::start().unwrap().open().unwrap();
        for _ in 0..pieces {
            writer.write_all(&vec![b'x'; piece]).unwrap();
            std::thread::sleep(Duration::from_micros(300));
        }
        std::thread::sleep(Duration::from_millis(300));
        let there = rustix::io::ioctl_fionread(&reader).unwrap();
        assert_eq!(there, (piece * pieces) as u64, "{pieces} pieces of {piece}");
        assert_eq!(reader.read(&mut vec![0; 64 << 10]).unwrap(), piece * pieces);
    }
}

#[test]
fn a_reader_whose_writer_is_gone_can_write_to_what_it_reads_from() {
    let (tap, (mut reader, mut writer)) = Taps::start().unwrap().open().unwrap();
    writer.write_all(b"one ").unwrap();
    wait_until(|| tap.crossing().bytes == 4);
    drop(writer);
    wait_until(|| tap.has_ended());
    let own = format!("/proc/self/fd/{}", reader.as_raw_fd());
    std::fs::OpenOptions::new().write(true).open(own).unwrap().write_all(b"two").unwrap();
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "one two");
}

#[test]
fn a_stream_that_is_not_looked_at_any_more_gives_its_writer_no_more_room() {
    let taps = Taps::start().unwrap();
    let (tap, (mut reader, mut writer)) = taps.open().unwrap();
    writer.write_all(b"x").unwrap();
    reader.read_exact(&mut [0]).unwrap();
    wait_until(|| tap.crossing().bytes == 1);
    kill_worker(&taps);
    let plain = taken(&mut io::pipe().unwrap().1, 4096);
    let tapped = taken(&mut writer, 4096);
    assert!(tapped <= plain + 4096, "{tapped} bytes, in a plain pipe {plain}");
}

#[test]
fn a_reader_of_small_pieces_makes_room_for_what_it_takes_and_no_more() {
    let (_tap, (mut reader, mut writer)) = Taps::start().unwrap().open().unwrap();
    let mut on_its_way = taken(&mut writer, 8192);
    for _ in 0..50 {
        reader.read_exact(&mut [0; 8192]).unwrap();
        on_its_way -= 8192;
        wait_until(|| {
            on_its_way += taken(&mut writer, 8192);
            on_its_way >= 64 << 10
        });
        assert!(on_its_way <= 64 << 10, "{on_its_way}");
    }
}

#[test]
fn however_it_is_written_and_read_the_bytes_and_their_hash_are_right() {
    let all = numbers(150_000);
    for (written, read) in [(100, 7), (1000, 100_000), (3000, 100), (5000, 4096), (70_000, 1), (300_000, 65_536)] {
        let (tap, (reader, mut writer)) = Taps::start().unwrap().open().unwrap();
        let expected = all.clone();
        let writing = std::thread::spawn(move || all_in_pieces(&expected, written, &mut writer));
        assert!(read_in_pieces(reader, read) == all, "written {written} and read {read} at once");
        writing.join().unwrap();
        wait_until(|| tap.has_ended());
        assert_eq!(tap.crossing().sha256, Some(Sha256::digest(&all).into()));
    }
}

#[test]
fn what_a_reader_left_behind_is_told_and_its_writer_hears_that_it_went() {
    let (tap, (mut reader, mut writer)) = Taps::start().unwrap().open().unwrap();
    writer.write_all(&vec![b'x'; 30_000]).unwrap();
    reader.read_exact(&mut [0; 100]).unwrap();
    drop(reader);
    wait_until(|| tap.has_ended());
    assert_eq!((tap.crossing().bytes, tap.has_failed()), (30_000, false));
    wait_until(|| writer.write_all(b"x").is_err());
}

#[test]
fn a_worker_that_is_killed_at_a_loan_loses_and_doubles_no_byte() {
    let all = Arc::new(numbers(100_000));
    for _ in 0..8 {
        let taps = Taps::start().unwrap();
        for (round, (written, read)) in
            [(20_000, 65_536), (2000, 3000), (65_536, 500)].into_iter().cycle().take(24).enumerate()
        {
            let (_tap, (reader, mut writer)) = taps.open().unwrap();
            let expected = Arc::clone(&all);
            let writing = std::thread::spawn(move || all_in_pieces(&expected, written, &mut writer));
            let reading = std::thread::spawn(move || read_in_pieces(reader, read));
            std::thread::sleep(Duration::from_micros(37 * round as u64));
            kill_worker(&taps);
            writing.join().unwrap();
            assert!(reading.join().unwrap() == *all, "written {written} and read {read} at once");
        }
    }
}

fn all_in_pieces(all: &[u8], piece: usize, writer: &mut PipeWriter) {
    all.chunks(piece).for_each(|piece| writer.write_all(piece).unwrap());
}
