//! Driving the interpreter's futures.
//!
//! They never wait for anything but system calls that block, so one poll finishes them; there is no runtime, and a fork in
//! the middle of a poll continues in both processes. A future that did wait would be a defect of the interpreter.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a future of the interpreter to its end.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        debug_assert!(false, "the interpreter waited on a reactor that isn't there");
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::block_on;

    #[test]
    fn a_future_that_needs_no_reactor_ends_with_its_value() {
        assert_eq!(block_on(async { std::future::ready(20).await + 1 }), 21);
    }
}
