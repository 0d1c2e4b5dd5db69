//! What a journal keeps, cuts off, lets give way, and hands to a reader.

use std::os::unix::fs::PermissionsExt;

use nash_events::KernelBatch;
use nash_events::batch::KernelSource;

use super::*;
use crate::abi::Kind;

fn batch(observer_id: &str) -> KernelBatch {
    KernelBatch {
        source: KernelSource::Ebpf,
        host_id: "h".into(),
        boot_id: "b".into(),
        observer_id: observer_id.into(),
        events: Vec::new(),
        ended: None,
    }
}

/// Appends a line with one event, the `number`th of its stream.
fn append(journal: &mut Journal, number: u64) {
    let progress = progress_at(number);
    let event = format!(r#"{{"kind":"exit","seq":{number}}}"#);
    let line = encode(&batch("o"), event.as_bytes(), &progress).unwrap();
    journal.append(&line, &progress.delivered).unwrap();
}

fn progress_at(number: u64) -> Progress {
    let mut delivered = Tally::default();
    (0..number).for_each(|_| delivered.add(Some(Kind::Exit)));
    Progress { last_seq: number, life: number * 8, delivered, ..Progress::default() }
}

fn open(dir: &Path, bounds: Bounds) -> (Journal, Option<Left>) {
    let (mut journal, left) = Journal::open(dir, bounds, 0).unwrap();
    journal.write_as("o");
    (journal, left)
}

fn read_all(lines: &mut Lines) -> Vec<u64> {
    let mut found = Vec::new();
    while let Some(line) = lines.read().unwrap() {
        found.push(progress::decode(&line.bytes).unwrap().progress.last_seq);
        lines.done(&line);
    }
    found
}

fn given_way(journal: &mut Journal) -> Tally {
    journal.take_lost().remove(&Reason::JournalFull).unwrap_or_default()
}

/// A directory that does not exist yet, in one that does.
fn fresh() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("journal");
    (parent, dir)
}

#[test]
fn nobody_else_can_read_a_journal_and_no_two_write_it() {
    let (_parent, dir) = fresh();
    let (mut journal, left) = open(&dir, Bounds::default());
    append(&mut journal, 1);
    assert_eq!(left, None);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&dir), mode(&dir.join("kernel-o-1.ndjson"))), (0o700, 0o600));
    assert!(matches!(Journal::open(&dir, Bounds::default(), 0), Err(JournalError::InUse(_))));
    drop(journal);
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(Journal::open(&dir, Bounds::default(), 0), Err(JournalError::Exposed { mode: 0o755, .. })));
}

#[test]
fn a_line_that_was_cut_anywhere_never_was() {
    let (_parent, dir) = fresh();
    let (mut journal, _) = open(&dir, Bounds::default());
    append(&mut journal, 1);
    append(&mut journal, 2);
    drop(journal);
    let path = dir.join("kernel-o-1.ndjson");
    let whole = std::fs::read(&path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in 0..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let (journal, left) = open(&dir, Bounds::default());
        let expected = u64::from(cut >= first) + u64::from(cut == whole.len());
        assert_eq!(left.map_or(0, |left| left.progress.last_seq), expected, "cut at {cut}");
        assert_eq!(read_all(&mut journal.lines(None)), (1..=expected).collect::<Vec<_>>(), "cut at {cut}");
    }
}

#[test]
fn the_oldest_gives_way_and_only_what_nobody_read_is_lost() {
    for read_before in 0..4 {
        let (_parent, dir) = fresh();
        let bounds = Bounds { file_bytes: 1000, total_bytes: 3000 };
        let (mut journal, _) = open(&dir, bounds);
        append(&mut journal, 1);
        let mut lines = journal.lines(None);
        let mut sequence = 2;
        // The first file is full when the second one begins.
        while journal.inside().shelf.files.len() < 2 {
            append(&mut journal, sequence);
            sequence += 1;
        }
        let in_first = sequence - 2;
        for _ in 0..read_before {
            let line = lines.read().unwrap().unwrap();
            lines.done(&line);
        }
        while journal.inside().shelf.files.contains_key(&1) {
            append(&mut journal, sequence);
            sequence += 1;
        }
        assert_eq!(given_way(&mut journal).of(Kind::Exit), in_first - read_before.min(in_first));
        assert!(journal.take_lost().is_empty());
        let kept: u64 = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
        assert!(kept <= bounds.total_bytes, "{kept} bytes are kept");
    }
}

#[test]
fn what_an_earlier_observer_lost_is_known_after_a_restart_too() {
    let (_parent, dir) = fresh();
    let bounds = Bounds { file_bytes: 1000, total_bytes: 2000 };
    let (mut journal, _) = open(&dir, bounds);
    (1..=3).for_each(|number| append(&mut journal, number));
    drop(journal);
    let (mut journal, left) = open(&dir, bounds);
    assert_eq!(left.unwrap().progress.delivered.of(Kind::Exit), 3);
    let mut sequence = 4;
    let mut lost = Tally::default();
    while lost.is_empty() {
        append(&mut journal, sequence);
        sequence += 1;
        lost = lost.and(&given_way(&mut journal));
    }
    assert_eq!(lost.of(Kind::Exit), 3);
}

#[test]
fn a_reader_goes_through_all_files_and_on_where_it_was() {
    let (_parent, dir) = fresh();
    let (mut journal, _) = open(&dir, Bounds { file_bytes: 600, total_bytes: 1 << 20 });
    let mut lines = journal.lines(None);
    assert_eq!(read_all(&mut lines), Vec::<u64>::new());
    (1..=7).for_each(|number| append(&mut journal, number));
    let line = lines.read().unwrap().unwrap();
    let cursor = lines.done(&line);
    assert_eq!(read_all(&mut lines), [2, 3, 4, 5, 6, 7]);
    drop((journal, lines));
    let (mut journal, _) = open(&dir, Bounds::default());
    append(&mut journal, 8);
    assert_eq!(read_all(&mut journal.lines(Some(cursor.clone()))), [2, 3, 4, 5, 6, 7, 8]);
    // Another journal in the same place.
    drop(journal);
    std::fs::remove_dir_all(&dir).unwrap();
    let (mut journal, _) = Journal::open(&dir, Bounds::default(), 0).unwrap();
    journal.write_as("another");
    (1..=3).for_each(|number| append(&mut journal, number));
    assert_eq!(read_all(&mut journal.lines(Some(cursor.clone()))), [1, 2, 3]);
    assert_eq!(read_all(&mut journal.lines(Some(Cursor { number: 9, ..cursor }))), [1, 2, 3]);
}

#[test]
fn a_full_disk_leaves_no_half_a_line() {
    // A limit on the size of files acts like a full disk; it is this process's, so another one is asked to have it.
    let (_parent, dir) = fresh();
    let (mut journal, _) = open(&dir, Bounds::default());
    append(&mut journal, 1);
    let (number, _) = journal.current.take().unwrap();
    // What can't be written to fails like what is full.
    let path = dir.join("kernel-o-1.ndjson");
    journal.current = Some((number, File::open(&path).unwrap()));
    let line = encode(&batch("o"), b"", &progress_at(2)).unwrap();
    journal.append(&line, &Tally::default()).unwrap_err();
    assert_eq!(read_all(&mut journal.lines(None)), [1]);
}

#[test]
fn what_is_taken_away_is_counted_and_what_comes_after_is_kept() {
    for takes_directory in [false, true] {
        for read_before in 0..3 {
            let (_parent, dir) = fresh();
            let (mut journal, _) = open(&dir, Bounds::default());
            let mut lines = journal.lines(None);
            append(&mut journal, 1);
            append(&mut journal, 2);
            for _ in 0..read_before {
                let line = lines.read().unwrap().unwrap();
                lines.done(&line);
            }
            std::fs::remove_file(dir.join("kernel-o-1.ndjson")).unwrap();
            if takes_directory {
                std::fs::remove_dir(&dir).unwrap();
            }
            let lost = journal.take_lost().remove(&Reason::JournalRemoved).unwrap_or_default();
            assert_eq!(lost.of(Kind::Exit), 2 - read_before);
            assert!(journal.take_lost().is_empty());
            append(&mut journal, 3);
            std::fs::remove_file(dir.join("kernel-o-2.ndjson")).unwrap();
            assert_eq!(journal.take_lost().remove(&Reason::JournalRemoved).unwrap_or_default().of(Kind::Exit), 1);
            append(&mut journal, 4);
            assert_eq!(read_all(&mut lines), [4]);
            assert!(matches!(Journal::open(&dir, Bounds::default(), 0), Err(JournalError::InUse(_))));
        }
    }
}
