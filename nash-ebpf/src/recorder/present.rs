//! Processes that were there before the probes, as events: coverage of each starts with it.
//!
//! What they did before is not known and not guessed.

use nash_events::kernel::{Actor, KernelEventKind, Present, Root};
use nash_events::redact;
use nash_events::{ByteString, bound_argv};

use crate::kernel::{Seed, stat_device};

/// The event of a process that was found.
pub(super) fn event(seed: Seed) -> (Actor, KernelEventKind) {
    let mut redacted: Vec<String> = Vec::new();
    let mut text = |bytes: &[u8]| {
        let masked = redact::redact(bytes);
        for rule in &masked.rules {
            if !redacted.iter().any(|known| known == rule) {
                redacted.push((*rule).to_owned());
            }
        }
        ByteString::from(masked.bytes.into_owned())
    };
    let path = seed.path.as_deref().map(&mut text);
    let cwd = seed.cwd.as_deref().map(&mut text);
    let masked = redact::redact_argv(&seed.argv);
    let argv = bound_argv(&masked.argv).argv;
    for rule in masked.rules {
        if !redacted.iter().any(|known| known == rule) {
            redacted.push(rule.to_owned());
        }
    }
    let actor = Actor {
        pid: Some(seed.pid),
        tid: Some(seed.pid),
        start_ticks: Some(seed.start_ticks),
        ns_pid: Some(seed.ns_pid),
        pid_ns: Some(u64::from(seed.pid_ns)),
        ppid: Some(seed.ppid),
        uid: Some(seed.uid),
        comm: Some(seed.comm.into()),
        root: seed.root.map(|(pid, start_ticks)| Root { pid, start_ticks }),
        ..Actor::default()
    };
    let (ino, dev) = seed.image.map_or((None, None), |(ino, dev)| (Some(ino), Some(stat_device(dev))));
    (actor, KernelEventKind::Present(Box::new(Present { path, dev, ino, argv, cwd, redacted })))
}
