//! The shell's word against the system's: every program that a shell starts is told, and none that it didn't start.
//!
//! The system is heard through strace. What else an event says is checked where it is made.

mod configure;
mod nesting;
mod witness;
