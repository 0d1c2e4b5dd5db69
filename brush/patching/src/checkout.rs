//! The series as a git checkout, and back.
//!
//! Not yet here.
