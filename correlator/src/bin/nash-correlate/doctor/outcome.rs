//! Asking another program: what it prints, within bounds.
//!
//! A program that hangs, floods or can't be started is an answer too. It judges none of them.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take: 5 s.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of its output that are read: 256 KiB.
const OUTPUT_BYTES_MAX: u64 = 256 << 10;

/// Time between two looks whether it has ended: 10 ms.
const TICK: Duration = Duration::from_millis(10);

/// What a program printed on standard output, if it ended in time, whatever its status.
pub(super) fn printed(program: &Path, args: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // What is asked here is no part of any session.
    for name in ["NUCLEIC_SHELL_SOCKET", "NUCLEIC_SHELL_HOOK_URL", "NUCLEIC_SHELL_SPOOL", "NUCLEIC_NASH_DISABLE"] {
        command.env_remove(name);
    }
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let reading = std::thread::spawn(move || {
        let mut text = Vec::new();
        stdout.take(OUTPUT_BYTES_MAX).read_to_end(&mut text).map(|_| text)
    });
    let deadline = Instant::now() + PATIENCE;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > deadline {
            // Whether it still could be killed changes nothing about the answer.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(TICK);
    }
    // What it left behind may hold the pipe open; what it printed itself is there by now.
    while !reading.is_finished() && Instant::now() < deadline {
        std::thread::sleep(TICK);
    }
    let text = reading.is_finished().then(|| reading.join().ok()).flatten()?.ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}
