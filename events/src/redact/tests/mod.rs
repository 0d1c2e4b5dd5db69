//! Tests of the redactor.
//!
//! Secrets are made up and put together from pieces, so that no scanner takes this file for a leak.
