//! The process that copies: takes links in, waits until something can be done for one of them, and lets go of those that ended.
//!
//! Everything that it knows lies in the region, so that a successor can go on where it was killed. The rules of `copier` hold here
//! too.

use std::io::IoSliceMut;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{BorrowedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, close, fcntl_getfd};
use rustix::net::{RecvAncillaryBuffer, RecvFlags, recvmsg};
use rustix::thread::{nanosleep, sched_yield};

use super::copier::{Link, Step};
use super::loan;
use super::region::{LINKS_MAX, Message, View, WaitsFor};

/// How often the process looks whether there is more before it sleeps: at most 3 times, a few microseconds in all. Who answers at
/// once finds it awake; whoever else wants the processor gets it in between.
const GLANCES_MAX: u32 = 3;

/// How often links are looked at where the system doesn't tell when: every millisecond.
const NOW_AND_THEN: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// How many steps are done for a link before others are looked at: 8, so that none waits for long.
const STEPS_AT_ONCE: u32 = 8;

/// Waiting: how much longer it is worth to stay awake.
struct Patience {
    /// How often to look before sleeping. Halved where that was for nothing.
    limit: u32,
    glances: u32,
}

/// What came of waiting.
enum Heard {
    /// There is something to do.
    News,
    /// It has waited as long as it was to.
    TimeIsUp,
    /// It only looked.
    Nothing,
}

/// What there is to do.
#[derive(Default)]
struct News {
    /// A bit for each link that can go on.
    links: u64,
    /// Whether a link was announced, or nobody is left to do that.
    has_message: bool,
}

/// Copies until no more links can come and all have ended.
pub(super) fn run(view: &mut View<'_>) {
    go_on(view);
    let mut patience = Patience { limit: GLANCES_MAX, glances: 0 };
    while !(view.own.is_last && view.own.active == 0) {
        let news = wait(view, &mut patience);
        if news.has_message {
            take_in(view);
        }
        for place in places(news.links) {
            serve(view, place);
        }
    }
}

/// Takes up what a predecessor was killed at.
fn go_on(view: &mut View<'_>) {
    let side = lent(view.own.side[0]);
    loan::go_on(view, side);
    take_message(view);
    for place in 0..LINKS_MAX {
        if view.own.active & (1 << place) != 0 && view.counters[place].has_ended() {
            let_go(view, place);
        }
    }
}

/// Waits for something to do.
fn wait(view: &mut View<'_>, patience: &mut Patience) -> News {
    let mut news = News::default();
    let control = lent(view.own.control);
    let watched = if view.own.is_last { PollFlags::empty() } else { PollFlags::IN };
    let mut asked: [PollFd<'_>; 1 + 2 * LINKS_MAX] =
        std::array::from_fn(|_| PollFd::from_borrowed_fd(control, PollFlags::empty()));
    asked[0] = PollFd::from_borrowed_fd(control, watched);
    let mut count = 1;
    let mut later = 0;
    let mut pause = i64::MAX;
    for place in places(view.own.active) {
        let link = &mut view.links[place];
        let [from, to] = link.ends.map(lent);
        if let WaitsFor::Moment(moment) = link.waits_for {
            later |= 1 << place;
            pause = pause.min(moment);
        }
        // An end that is known to be gone would be told again and again.
        asked[count] = match (link.waits_for, link.writer_gone) {
            (WaitsFor::More, _) | (WaitsFor::Moment(_), true) => PollFd::from_borrowed_fd(from, PollFlags::IN),
            (WaitsFor::Moment(_) | WaitsFor::Room, false) => PollFd::from_borrowed_fd(from, PollFlags::empty()),
            (WaitsFor::Room, true) => PollFd::from_borrowed_fd(to, PollFlags::OUT),
        };
        let tells = matches!(link.waits_for, WaitsFor::Moment(_)) && link.is_full;
        let room = if link.waits_for == WaitsFor::Room || tells { PollFlags::OUT } else { PollFlags::empty() };
        asked[count + 1] = PollFd::from_borrowed_fd(to, room);
        count += 2;
    }
    // Without the control socket, where it would only say that it is gone.
    let first = usize::from(view.own.is_last);
    let Some(asked) = asked.get_mut(first..count) else { return news };
    let pause = (later != 0).then_some(Timespec { tv_sec: 0, tv_nsec: pause });
    match patience.poll(asked, pause.as_ref()) {
        Ok(Heard::Nothing) => return news,
        // Who has waited is looked at, whatever else there is.
        Ok(Heard::TimeIsUp | Heard::News) => news.links = later,
        // Whoever is forbidden to ask looks at everything, now and then.
        Err(_) => {
            let _ = nanosleep(&NOW_AND_THEN);
            places(view.own.active).for_each(|place| view.links[place].is_unwatched = true);
            return News { links: view.own.active, has_message: first == 0 };
        }
    }
    news.has_message = first == 0 && !asked[0].revents().is_empty();
    for (place, pair) in places(view.own.active).zip(asked[1 - first..].chunks_exact(2)) {
        let [one, to] = [pair[0].revents(), pair[1].revents()];
        if !one.is_empty() || !to.is_empty() {
            news.links |= 1 << place;
            let link = &mut view.links[place];
            link.writer_gone |= one.contains(PollFlags::HUP);
            link.reader_gone |= to.intersects(PollFlags::ERR.union(PollFlags::NVAL));
        }
    }
    news
}

impl Patience {
    /// Waits, so long at most once it sleeps.
    fn poll(&mut self, asked: &mut [PollFd<'_>], at_most: Option<&Timespec>) -> Result<Heard, Errno> {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_awake = self.glances < self.limit;
        match poll(asked, if is_awake { Some(&at_once) } else { at_most }) {
            Ok(0) if is_awake => {
                self.glances = self.glances.saturating_add(1);
                sched_yield();
                Ok(Heard::Nothing)
            }
            Ok(0) => Ok(Heard::TimeIsUp),
            Ok(_) => {
                self.limit = if is_awake { GLANCES_MAX } else { (self.limit / 2).max(1) };
                self.glances = 0;
                Ok(Heard::News)
            }
            Err(Errno::INTR) => Ok(Heard::Nothing),
            Err(error) => Err(error),
        }
    }
}

/// Does for a link what can be done at once.
fn serve(view: &mut View<'_>, place: usize) {
    for _ in 0..STEPS_AT_ONCE {
        let (Some(state), Some(counters), Some(head)) =
            (view.links.get_mut(place), view.counters.get(place), view.heads.get_mut(place))
        else {
            return;
        };
        let [from, to] = state.ends.map(lent);
        let side = view.own.side.map(lent);
        let errand = &view.own.errand;
        let mut link = Link { from, to, place, errand, state, counters, head, side, piece: view.piece };
        if link.state.reader_gone {
            return let_go(view, place);
        }
        let step = link.step();
        link.state.waits_for = match step {
            Step::Moved | Step::Empty | Step::Ended => WaitsFor::More,
            Step::Full => WaitsFor::Room,
            Step::Later(pause) => WaitsFor::Moment(pause),
        };
        match step {
            Step::Moved => {}
            Step::Ended => return let_go(view, place),
            Step::Empty | Step::Full | Step::Later(_) => return,
        }
    }
}

/// Receives what was announced.
fn take_in(view: &mut View<'_>) {
    let Message { place, descriptors } = &mut view.own.message;
    let mut ancillary = RecvAncillaryBuffer::new(descriptors);
    let result = recvmsg(
        lent(view.own.control),
        &mut [IoSliceMut::new(place)],
        &mut ancillary,
        RecvFlags::DONTWAIT.union(RecvFlags::CMSG_CLOEXEC),
    );
    // It would close what was received.
    std::mem::forget(ancillary);
    match result {
        Ok(received) if received.bytes == 0 => view.own.is_last = true,
        Ok(_) => take_message(view),
        Err(Errno::AGAIN | Errno::INTR) => {}
        Err(_) => view.own.is_last = true,
    }
}

/// Whether announcements can be received at all: it is asked where none is.
pub(super) fn can_take_in(control: BorrowedFd<'_>) -> bool {
    let result = recvmsg(control, &mut [], &mut RecvAncillaryBuffer::default(), RecvFlags::DONTWAIT);
    matches!(result, Err(Errno::AGAIN))
}

/// Enters the link of a message that was received, also if that was done before.
fn take_message(view: &mut View<'_>) {
    let Message { place, descriptors } = &mut view.own.message;
    // SAFETY: the region began as zeros, and only the kernel and this function write here.
    let text = descriptors.map(|byte| unsafe { byte.assume_init() });
    descriptors.fill(MaybeUninit::new(0));
    let place = u32::from_ne_bytes(*place) as usize;
    // Zeros are no message, and a shorter one had no room for its descriptors: its link is broken.
    let header = size_of::<libc::cmsghdr>();
    let length = text.first_chunk().map_or(0, |length| usize::from_ne_bytes(*length));
    if length != header + 2 * size_of::<RawFd>() {
        return;
    }
    let number =
        |from: usize| text.get(from..).and_then(<[u8]>::first_chunk).map_or(-1, |bytes| i32::from_ne_bytes(*bytes));
    if let Some(link) = view.links.get_mut(place) {
        link.ends = [number(header), number(header + size_of::<RawFd>())];
        view.own.active |= 1 << place;
    }
}

/// Says that a link has ended, and closes its ends: whoever waits for that then knows.
fn let_go(view: &mut View<'_>, place: usize) {
    let (Some(link), Some(counters)) = (view.links.get_mut(place), view.counters.get(place)) else { return };
    counters.end();
    for end in link.ends {
        // A predecessor may have been killed when it had closed the end.
        if fcntl_getfd(lent(end)).is_ok() {
            // SAFETY: the number is the link's, and nobody uses it after this.
            unsafe { close(end) };
        }
    }
    view.own.active &= !(1 << place);
    counters.close();
}

/// The places whose bits are set.
fn places(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (place < LINKS_MAX).then_some(place)
    })
}

/// A descriptor of the taps' table.
fn lent<'a>(number: RawFd) -> BorrowedFd<'a> {
    debug_assert!(number >= 0);
    // SAFETY: nobody but this process closes descriptors of the table, and it uses none that it has closed.
    unsafe { BorrowedFd::borrow_raw(number) }
}
