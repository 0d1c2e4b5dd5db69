//! Tests of the library through its public face, and of the program through its sockets, files and exit statuses.
//!
//! Nothing here leaves a process behind or listens beyond the loopback.

mod durability;
mod events;
mod invariance;
mod process;
mod receiving;
mod running;
mod spooling;
mod trees;
