//! The story of what shells did, put together from the events that they sent.
//!
//! Events in, plain data and text out, in whatever order the events come. This library reads no clock, opens no file and
//! no socket, and never fails on bad input: what is missing or contradictory becomes part of the story.

#![forbid(unsafe_code)]

mod attribution;
pub mod engine;
pub mod feed;
pub mod findings;
mod graph;
pub mod html;
mod kernel;
pub mod live;
pub mod operations;
pub mod paint;
pub mod perfetto;
pub mod rules;
pub mod seen;
pub mod story;
pub mod story_lines;
pub mod stream;
pub mod terminal_text;
pub mod tree;
mod weight;

pub use engine::{Changes, Engine};
pub use findings::{Finding, FindingRules, FindingRulesError};
pub use kernel::{Moment, PROCESSES_KEPT_MAX};
pub use seen::{Range, SeqSet};
pub use story::Story;
pub use stream::Stream;
