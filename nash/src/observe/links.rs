//! The links of pipelines and process substitutions that are tapped: made here, told when they have ended.
//!
//! A pipe's event comes when all that crossed it is known. Who reads or writes it is not known here.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use brush_core::gate::PipeEnds;
use nash_events::event::Pipe;

use super::data;
use crate::tap::Tap;

/// How long the end of a shell waits for what is on its way in pipes that nobody writes or reads any more: 5 ms. A tap needs
/// some microseconds to notice; one whose ends are held by something in the background doesn't end at all.
const ENDING: Duration = Duration::from_millis(5);

/// The links that are not told yet.
#[derive(Default)]
pub(super) struct Links(Mutex<Vec<Link>>);

struct Link {
    pipe: Pipe,
    tap: Tap,
}

impl Links {
    /// Makes the pipe of a link, and a tap on it.
    pub(super) fn open(&self, pipe: Pipe) -> io::Result<PipeEnds> {
        let (tap, ends) = Tap::open()?;
        self.list().push(Link { pipe, tap });
        Ok(ends)
    }

    /// Takes those that have ended.
    pub(super) fn ended(&self) -> Vec<Pipe> {
        let mut list = self.list();
        if list.is_empty() {
            return Vec::new();
        }
        let is_over = |link: &mut Link| link.tap.has_ended() || link.tap.has_failed();
        let (mut ended, mut open) = (Vec::new(), Vec::new());
        for mut link in std::mem::take(&mut *list) {
            if is_over(&mut link) { ended.push(link) } else { open.push(link) }
        }
        *list = open;
        ended.into_iter().map(Link::told).collect()
    }

    /// Takes all: those that don't end by now are told as far as they are known.
    pub(super) fn rest(&self) -> Vec<Pipe> {
        let until = Instant::now() + ENDING;
        let is_open = |link: &mut Link| !link.tap.has_ended() && !link.tap.has_failed();
        while self.list().iter_mut().any(is_open) && Instant::now() < until {
            std::thread::yield_now();
        }
        std::mem::take(&mut *self.list()).into_iter().map(Link::told).collect()
    }

    /// Leaves them to the shell that this one was forked from.
    pub(super) fn forget(&self) {
        std::mem::take(&mut *self.list()).into_iter().for_each(std::mem::forget);
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<Link>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    fn told(self) -> Pipe {
        let Self { mut pipe, mut tap } = self;
        pipe.tap_failed = tap.has_failed();
        pipe.still_open = !pipe.tap_failed && !tap.has_ended();
        let crossing = tap.crossing();
        pipe.data = Some(data::crossed(&crossing, crossing.sha256.is_none(), &mut pipe.redacted));
        pipe
    }
}
