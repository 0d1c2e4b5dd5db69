//! The links of pipelines and process substitutions that are tapped: made here, told when they have ended.
//!
//! A pipe's event comes when all that crossed it is known. Who reads or writes it is not known here.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use brush_core::gate::PipeEnds;
use nash_events::event::Pipe;

use super::data;
use super::handed::{Handed, Left};
use crate::tap::{Tap, TapName, Taps};

/// How long the end of a shell waits for what is on its way in pipes that nobody writes or reads any more: 5 ms. A tap needs
/// some microseconds to notice; one whose ends are held by something in the background doesn't end at all.
const ENDING: Duration = Duration::from_millis(5);

/// How often it looks before it sleeps: 16 times, some microseconds in all. On a busy machine a tap gets the processor sooner from
/// one who sleeps than from one who looks.
const GLANCES: u32 = 16;

/// How long it sleeps before it looks whether the taps are still there: 1 ms.
const NAP: Duration = Duration::from_millis(1);

/// The links that are not told yet.
pub(super) struct Links {
    /// The main shell, whose taps all forks know.
    shell: u32,
    list: Mutex<Vec<Link>>,
    /// Started with the first link; forks go on with them.
    taps: Mutex<Option<Arc<Taps>>>,
}

struct Link {
    pipe: Pipe,
    tap: Tap,
}

impl Links {
    /// Makes an empty list, for this process and its forks.
    pub(super) fn new() -> Self {
        Self { shell: std::process::id(), list: Mutex::default(), taps: Mutex::default() }
    }

    /// Makes the pipe of a link, and a tap on it.
    pub(super) fn open(&self, pipe: Pipe) -> io::Result<PipeEnds> {
        let (tap, ends) = match self.taps()?.open() {
            // Somebody killed them.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.start()?.open()?,
            result => result?,
        };
        self.list().push(Link { pipe, tap });
        Ok(ends)
    }

    /// Whether the taps were started.
    pub(super) fn has_taps(&self) -> bool {
        self.taps.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Starts the taps, if there are none.
    pub(super) fn prepare(&self) {
        // Where that fails, it fails again with the first link, which tells it.
        let _ = self.taps();
    }

    fn taps(&self) -> io::Result<Arc<Taps>> {
        let taps = self.taps.lock().unwrap_or_else(PoisonError::into_inner).clone();
        taps.map_or_else(|| self.start(), Ok)
    }

    fn start(&self) -> io::Result<Arc<Taps>> {
        let taps = Taps::start()?;
        *self.taps.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&taps));
        Ok(taps)
    }

    /// Takes those that have ended.
    pub(super) fn ended(&self) -> Vec<Pipe> {
        let mut list = self.list();
        if list.is_empty() {
            return Vec::new();
        }
        let (ended, open) = std::mem::take(&mut *list).into_iter().partition::<Vec<_>, _>(Link::is_over);
        *list = open;
        ended.into_iter().map(Link::told).collect()
    }

    /// Takes all: those that don't end by now are told as far as they are known.
    pub(super) fn rest(&self) -> Vec<Pipe> {
        self.settle();
        let links = std::mem::take(&mut *self.list());
        let begun = Instant::now();
        for link in &links {
            link.wait_until(begun + ENDING);
        }
        links.into_iter().map(Link::told).collect()
    }

    /// Leaves what hasn't ended to whoever waits for this process, if the taps are the main shell's; takes the others.
    pub(super) fn hand_over(&self, handed: Option<&Handed>, pid: u32) -> Vec<Pipe> {
        self.settle();
        let mut told = self.ended();
        let is_left = |link: &Link| {
            let name = link.tap.name();
            name.starter() == self.shell
                && handed.is_some_and(|handed| handed.put(pid, &Left::Link(link.pipe.clone(), name)))
        };
        let (left, kept) = std::mem::take(&mut *self.list()).into_iter().partition::<Vec<_>, _>(is_left);
        left.into_iter().for_each(std::mem::forget);
        *self.list() = kept;
        told.extend(self.rest());
        told
    }

    /// Takes over a link that a process left. One of other taps can't be asked: it is told as it is.
    pub(super) fn take_over(&self, pipe: Pipe, name: TapName) -> Option<Pipe> {
        let taps = self.taps.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match taps.and_then(|taps| taps.named(name)) {
            Some(tap) => {
                self.list().push(Link { pipe, tap });
                None
            }
            None => Some(Pipe { still_open: true, ..pipe }),
        }
    }

    /// Waits for what is left of the start of taps.
    pub(super) fn settle(&self) {
        if let Some(taps) = &*self.taps.lock().unwrap_or_else(PoisonError::into_inner) {
            taps.settle();
        }
    }

    /// Leaves them to the shell that this one was forked from.
    pub(super) fn forget(&self) {
        if let Some(taps) = &*self.taps.lock().unwrap_or_else(PoisonError::into_inner) {
            taps.forked();
        }
        std::mem::take(&mut *self.list()).into_iter().for_each(std::mem::forget);
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<Link>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    /// Whether nothing more will be known of it.
    fn is_over(&self) -> bool {
        self.tap.has_ended() || self.tap.is_broken()
    }

    /// Waits until it is over.
    fn wait_until(&self, then: Instant) {
        for glance in 0.. {
            let left = then.saturating_duration_since(Instant::now());
            if self.is_over() || left.is_zero() {
                return;
            }
            if glance < GLANCES {
                std::thread::yield_now();
            } else {
                // Taps that are killed meanwhile say nothing.
                self.tap.wait_for_end(left.min(NAP));
            }
        }
    }

    fn told(self) -> Pipe {
        let Self { mut pipe, tap } = self;
        pipe.tap_failed = tap.has_failed();
        pipe.still_open = !tap.has_ended() && !tap.is_broken();
        let crossing = tap.crossing();
        pipe.data = Some(data::crossed(&crossing, crossing.sha256.is_none(), &mut pipe.redacted));
        pipe
    }
}
