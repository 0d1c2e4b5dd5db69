//! The shell as a program.
//!
//! Takes the arguments and leaves with a status; what happens in between is the library's.

use std::process::ExitCode;

fn main() -> ExitCode {
    let argv: Vec<_> = std::env::args_os().collect();
    ExitCode::from(nash::run(argv))
}
