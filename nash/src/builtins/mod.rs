//! Builtins of our own, registered over upstream's.
//!
//! Only what has to know processes or the gate better than upstream's does stands here.

mod exec;

use brush_core::builtins::{Registration, simple_builtin};

use crate::interpreter::Extensions;

/// The builtins to register over upstream's, by name.
pub(crate) fn of_ours() -> impl Iterator<Item = (String, Registration<Extensions>)> {
    [("exec".to_owned(), simple_builtin::<exec::Exec, Extensions>().special())].into_iter()
}
