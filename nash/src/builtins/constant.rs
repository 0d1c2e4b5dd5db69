//! `true`, `:` and `false`.
//!
//! They look at nothing.

use super::call::Call;

/// Succeeds.
pub(crate) fn success(_: &mut Call<'_>) -> u8 {
    0
}

/// Fails.
pub(crate) fn failure(_: &mut Call<'_>) -> u8 {
    1
}
