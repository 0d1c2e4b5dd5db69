//! The rule tables, one file a family.
//!
//! Order matters twice: where two rules share a keyword's first bytes the earlier one wins, and a token with a provider's
//! prefix wins over the grammars at the end. The tables hold no code beyond the last look at a candidate.

mod ai;
mod chat;
mod cloud;
mod code_hosting;
mod packages;
mod services;
mod structures;

use super::rule::Rule;

/// All rules.
pub(crate) const FAMILIES: &[&[Rule]] =
    &[code_hosting::RULES, cloud::RULES, ai::RULES, chat::RULES, packages::RULES, services::RULES, structures::RULES];

/// Longest tail of a token that is read before the rest is swallowed unseen, in bytes. No provider issues longer ones.
const TOKEN_LEN_MAX: usize = 512;
