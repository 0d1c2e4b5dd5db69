//! Comparison of our reading of command lines with that of the shells themselves.
