//! `nash-ebpf`: the observer that watches from the kernel.
//!
//! Parses the command line and reports how a command ended; what the commands do stands in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::SUCCESS
}
