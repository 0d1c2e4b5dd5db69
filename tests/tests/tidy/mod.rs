//! The repository's own rules, as far as a program can check them.
//!
//! Each test names every place that breaks a rule. What is good prose or good code is not decided here.

mod documents;
mod files;
mod patches;
mod words;
