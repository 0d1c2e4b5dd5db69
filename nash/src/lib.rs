//! nash: a bash-compatible shell that tells what it does.
//!
//! `run` takes a command line and returns an exit status. What happens in between is spread over the modules below; none of
//! them but `observe` and `delivery` knows that anybody watches.

pub mod config;
pub mod invocation;
pub mod persona;
pub mod real_shell;
pub mod version;

mod builtins;
mod dash;
mod deep_stack;
mod delivery;
mod fallback;
mod input;
mod interpreter;
mod observe;
mod run;
mod signals;
mod tap;
mod unsupported;

pub use run::run;
