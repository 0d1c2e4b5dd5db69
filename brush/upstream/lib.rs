//! The target that Cargo requires of the manifest beside it.
//!
//! The manifest exists to pin sources; this crate holds no code and is never built.
