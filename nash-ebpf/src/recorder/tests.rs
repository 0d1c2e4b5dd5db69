//! The recorder before rings that behave like the kernel's: nothing twice, nothing lost without a word.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use super::*;
use crate::abi;
use crate::abi::draft::Draft;

/// Two rings with room for so many records each.
#[derive(Debug, Default)]
struct Rings {
    written: [Vec<Vec<u8>>; 2],
    handed_out: [usize; 2],
    released: [usize; 2],
    room: usize,
    counts: Counts,
    now: u64,
    /// Written as soon as the ring of lives was read, a moment later than now.
    late: Option<[Vec<u8>; 2]>,
}

fn at(ring: RingId) -> usize {
    match ring {
        RingId::Life => 0,
        RingId::File => 1,
    }
}

impl Rings {
    fn with_room(room: usize) -> Self {
        Self { room, now: u64::MAX, ..Self::default() }
    }

    /// Something happens: it is seen, and goes into its ring if there is room.
    fn happen(&mut self, ring: RingId, kind: Kind) {
        *self.counts.get_mut(kind, Count::Seen) += 1;
        if self.written[at(ring)].len() - self.released[at(ring)] >= self.room {
            *self.counts.get_mut(kind, Count::RingFull) += 1;
            return;
        }
        self.written[at(ring)].push(Draft::new(kind, abi::File::default()).bytes());
    }

    /// What the kernel keeps when the reader is killed.
    fn after_kill(mut self) -> Self {
        self.handed_out = self.released;
        self
    }
}

impl Source for Rings {
    fn wait(&self, _: Duration) -> io::Result<()> {
        Ok(())
    }

    fn now(&self) -> u64 {
        self.now
    }

    fn read(&mut self, ring: RingId, each: &mut dyn FnMut(u64, &[u8]) -> Go) {
        let next = &mut self.handed_out[at(ring)];
        while let Some(record) = self.written[at(ring)].get(*next) {
            let go = each(*next as u64 + 1, record);
            *next += usize::from(go != Go::Later);
            if go != Go::On {
                break;
            }
        }
        for (ring, record) in self.late.take().into_iter().flatten().enumerate() {
            self.written[ring].push(record);
            self.now = u64::MAX;
        }
    }

    fn release(&mut self, ring: RingId, position: u64) {
        self.released[at(ring)] = usize::try_from(position).unwrap();
    }

    fn resume_at(&mut self, ring: RingId, position: u64) {
        self.handed_out[at(ring)] = usize::try_from(position).unwrap();
    }

    fn released_to(&self, ring: RingId) -> u64 {
        self.released[at(ring)] as u64
    }

    fn counts(&self) -> io::Result<Counts> {
        Ok(self.counts)
    }
}

/// Lines in memory, and a disk that can be full.
#[derive(Clone, Debug, Default)]
struct Memory {
    lines: Vec<Vec<u8>>,
    is_full: Rc<Cell<bool>>,
}

impl Sink for Memory {
    fn append(&mut self, line: &[u8], _: &Tally) -> io::Result<()> {
        if self.is_full.get() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.lines.push(line.to_vec());
        Ok(())
    }
}

fn identity() -> Identity {
    Identity { host_id: "h".into(), boot_id: "b".into(), observer_id: "o".into() }
}

fn recorder(sink: Memory) -> Recorder<Memory> {
    Recorder::new(&identity(), sink, Progress::default())
}

/// The events of all lines, after checking that their numbers rise by one.
fn events(sink: &Memory) -> Vec<KernelEvent> {
    let mut events = Vec::new();
    for line in &sink.lines {
        match nash_events::decode_batch(line).unwrap() {
            nash_events::Batch::Kernel(batch) => events.extend(batch.events),
            nash_events::Batch::Shell(_) => panic!("a batch of a shell"),
        }
    }
    let numbers: Vec<u64> = events.iter().map(|event| event.seq.0).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    events
}

fn losses(events: &[KernelEvent]) -> Vec<(String, u64)> {
    let lost = events.iter().filter_map(|event| match &event.kind {
        KernelEventKind::Lost(lost) => Some((lost.reason.clone(), lost.count)),
        _ => None,
    });
    lost.collect()
}

#[test]
fn a_flood_of_opens_is_counted_and_never_hides_an_exec() {
    let mut rings = Rings::with_room(100);
    let mut recorder = recorder(Memory::default());
    for _ in 0..5000 {
        rings.happen(RingId::File, Kind::Open);
    }
    (0..90).for_each(|_| rings.happen(RingId::Life, Kind::Exec));
    recorder.drain(&mut rings).unwrap();
    recorder.finish(&mut rings).unwrap();
    let delivered = recorder.progress().delivered;
    assert_eq!((delivered.of(Kind::Exec), delivered.of(Kind::Open)), (90, 100));
    assert!(comes_out_even(&rings.counts, recorder.progress()));
    assert_eq!(losses(&events(recorder.sink())), [("ring-full".to_owned(), 4900)]);
}

#[test]
fn a_kill_between_write_and_release_repeats_nothing_and_loses_nothing() {
    // Killed after each number of kept lines, the last of them not released.
    for kept in 0..=5 {
        let mut rings = Rings::with_room(10_000);
        (0..1800).for_each(|_| rings.happen(RingId::File, Kind::Open));
        (0..10).for_each(|_| rings.happen(RingId::Life, Kind::Exec));
        let mut first = recorder(Memory::default());
        first.drain(&mut rings).unwrap();
        assert_eq!(first.sink().lines.len(), 5);
        let lines = first.sink().lines[..kept].to_vec();
        let progress = lines.last().map_or_else(Progress::default, |line| {
            let object: serde_json::Value = serde_json::from_slice(line).unwrap();
            serde_json::from_value(object["progress"].clone()).unwrap()
        });
        // The kernel knows at most of the line before.
        rings.released = [0, 0];
        let mut rings = rings.after_kill();
        let left = Left { observer_id: "o".into(), boot_id: "b".into(), progress: progress.clone() };
        assert!(Recorder::<Memory>::can_resume(&left, "b", &rings));
        assert!(!Recorder::<Memory>::can_resume(&left, "another boot", &rings));
        let mut second = Recorder::new(&identity(), Memory { lines, ..Memory::default() }, progress);
        second.catch_up(&mut rings);
        second.drain(&mut rings).unwrap();
        second.finish(&mut rings).unwrap();
        let events = events(second.sink());
        assert_eq!((events.len(), losses(&events)), (1810, Vec::new()), "after {kept} lines");
        assert!(comes_out_even(&rings.counts, second.progress()));
    }
}

#[test]
fn who_opens_a_file_was_forked_before() {
    let [mut fork, mut open] = [Kind::Fork, Kind::Open].map(|kind| Draft::new(kind, abi::File::default()));
    let mut rings = Rings::with_room(10);
    rings.happen(RingId::File, Kind::Open);
    rings.now = open.head.boot_ns;
    fork.head.boot_ns += 1;
    open.head.boot_ns += 2;
    rings.late = Some([fork.bytes(), open.bytes()]);
    let mut recorder = recorder(Memory::default());
    recorder.drain(&mut rings).unwrap();
    let told = events(recorder.sink());
    let told: Vec<_> = told.iter().map(|event| event.kind.name()).collect();
    assert_eq!(told, ["open", "fork", "open"]);
    assert_eq!(recorder.sink().lines.len(), 2);
}

#[test]
fn a_full_disk_leaves_everything_in_the_rings() {
    let mut rings = Rings::with_room(50);
    let mut recorder = recorder(Memory::default());
    recorder.sink().is_full.set(true);
    (0..40).for_each(|_| rings.happen(RingId::File, Kind::Open));
    recorder.drain(&mut rings).unwrap_err();
    // Nothing is given back, so the probes drop and count what comes now.
    (0..40).for_each(|_| rings.happen(RingId::File, Kind::Open));
    recorder.drain(&mut rings).unwrap_err();
    recorder.sink().is_full.set(false);
    recorder.finish(&mut rings).unwrap();
    assert_eq!(recorder.progress().delivered.of(Kind::Open), 50);
    assert_eq!(losses(&events(recorder.sink())), [("ring-full".to_owned(), 30)]);
    assert!(comes_out_even(&rings.counts, recorder.progress()));
}

#[test]
fn what_can_t_be_read_or_found_is_told() {
    let mut rings = Rings::with_room(50);
    let mut recorder = recorder(Memory::default());
    rings.happen(RingId::File, Kind::Open);
    let mut broken = Draft::new(Kind::Connect, abi::File::default()).bytes();
    broken[..4].copy_from_slice(&9999_u32.to_ne_bytes());
    *rings.counts.get_mut(Kind::Connect, Count::Seen) += 1;
    rings.written[1].push(broken);
    // Seen, and nowhere.
    *rings.counts.get_mut(Kind::Exec, Count::Seen) += 2;
    recorder.drain(&mut rings).unwrap();
    recorder.finish(&mut rings).unwrap();
    let told = losses(&events(recorder.sink()));
    assert_eq!(told, [("undecodable".to_owned(), 1), ("unaccounted".to_owned(), 2)]);
    assert!(comes_out_even(&rings.counts, recorder.progress()));
}

#[test]
fn a_loss_is_told_once_and_more_of_it_again() {
    let mut rings = Rings::with_room(0);
    let mut recorder = recorder(Memory::default());
    for more in [3, 0, 4] {
        (0..more).for_each(|_| rings.happen(RingId::File, Kind::Open));
        let counts = rings.counts;
        recorder.count(&counts);
        recorder.drain(&mut rings).unwrap();
    }
    let told = losses(&events(recorder.sink()));
    assert_eq!(told, [("ring-full".to_owned(), 3), ("ring-full".to_owned(), 4)]);
}

#[test]
fn the_longest_records_make_no_line_that_a_receiver_refuses() {
    let mut rings = Rings::with_room(1000);
    let mut recorder = recorder(Memory::default());
    // Control characters take six bytes of JSON each, and bytes that are no text a second form.
    for fill in [1_u8, 0xff] {
        for _ in 0..20 {
            let mut text = vec![fill; 16_000];
            text[8_000] = 0;
            let draft =
                Draft::new(Kind::Exec, abi::File::default()).piece(abi::span::SECOND_NAME, abi::Form::Text, &text);
            rings.written[0].push(draft.bytes());
        }
    }
    recorder.drain(&mut rings).unwrap();
    let longest = recorder.sink().lines.iter().map(Vec::len).max().unwrap();
    assert!(longest < nash_events::limits::BATCH_BYTES_MAX, "{longest} bytes");
    assert_eq!(events(recorder.sink()).len(), 40);
}
