//! Builds upstream's pinned crates with this repository's changes.
//!
//! Finds the pristine source, applies a series of patches and our whole-file overlay, and lays the result out for the
//! compiler; also turns a series into a git checkout and back. It does not know what the patches are about.

pub mod build_script;
pub mod checkout;
pub mod error;
mod git;
mod inner_attributes;
pub mod layout;
pub mod patch;
mod patch_parser;
mod placing;
pub mod pristine;
pub mod series;
pub mod tree;

pub use error::PatchingError;
