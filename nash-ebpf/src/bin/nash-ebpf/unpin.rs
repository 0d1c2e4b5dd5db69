//! `unpin`: takes away what an observer that was killed left in the kernel.
//!
//! An observer that still runs keeps its programs: they stay with its descriptors, and only it can't be taken over any more.

use anyhow::Context;
use nash_ebpf::{bpffs, kernel};

use crate::cli::UnpinArgs;

/// Takes pins away, with the place that was made for them.
pub(crate) fn unpin(inputs: &UnpinArgs) -> anyhow::Result<()> {
    let pins = &inputs.pin;
    let there = kernel::unpin(pins).with_context(|| format!("removing the pins in {}", pins.display()))?;
    if pins.exists() {
        bpffs::remove(pins).with_context(|| format!("removing {}", pins.display()))?;
    }
    if there {
        println!("The pins in {} are gone.", pins.display());
    } else {
        println!("Nothing is pinned in {}.", pins.display());
    }
    Ok(())
}
