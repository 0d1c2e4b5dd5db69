//! The administrators' rules on the way of every batch: what is kept, printed or told has been searched.
//!
//! The types see to it: only a search makes what the intake takes. What a rule is, and what it does to a batch, stands in the
//! library.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use nash_correlator::rules::mask_batch;
use nash_events::limits::RECEIVER_BODY_BYTES_MAX;
use nash_events::{Batch, BatchError, decode_batch_leniently};

use crate::terminal::complain;

/// Rules of all files, or none. Cloning gives another handle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(Arc<Vec<nash_correlator::rules::Rules>>);

/// A batch as it may go on record: rules have been applied to it.
#[derive(Debug)]
pub(crate) struct Searched {
    batch: Batch,
    /// The batch as one line of JSON.
    line: Vec<u8>,
}

/// A batch that rules can't be applied to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotSearched {
    /// It is no JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// It is no batch once it has been masked.
    #[error("{0}")]
    Batch(#[from] BatchError),
    /// It is longer than a batch may be once it has been masked.
    #[error("with what the rules mask, longer than {RECEIVER_BODY_BYTES_MAX} bytes")]
    TooLong,
}

impl Rules {
    /// Reads the files, and says what in them has no effect.
    pub(crate) fn load(files: &[PathBuf]) -> anyhow::Result<Self> {
        let mut all = Vec::with_capacity(files.len());
        for path in files {
            let file = path.display();
            let text = std::fs::read_to_string(path).with_context(|| format!("reading the rules file {file}"))?;
            let (rules, warnings) = nash_correlator::rules::Rules::parse(&text)
                .map_err(|error| anyhow!("the rules file {file}:{}: {}", error.line, error.reason))?;
            for warning in warnings {
                complain(&format!("warning: the rules file {file}: {warning}"));
            }
            if rules.is_empty() {
                complain(&format!("warning: the rules file {file} has no rules"));
            }
            all.push(rules);
        }
        Ok(Self(Arc::new(all)))
    }

    /// Applies the rules to a batch; `line` is the batch as one line of JSON.
    ///
    /// Where there are rules, the line is written anew from what was searched: what a reader of JSON passes over, such as the
    /// first of two equal keys, is not kept.
    pub(crate) fn search(&self, batch: Batch, line: Vec<u8>) -> Result<Searched, NotSearched> {
        if self.0.is_empty() {
            return Ok(Searched { batch, line });
        }
        let mut value = serde_json::from_slice(&line)?;
        mask_batch(&self.0, &mut value);
        let line = serde_json::to_vec(&value)?;
        if line.len() > RECEIVER_BODY_BYTES_MAX {
            return Err(NotSearched::TooLong);
        }
        // What could not be read as what it says it is was told of when the batch came.
        let batch = decode_batch_leniently(&line, &mut Vec::new())?;
        Ok(Searched { batch, line })
    }

    /// Applies the rules to a batch that is not kept.
    pub(crate) fn mask(&self, batch: Batch) -> Result<Batch, NotSearched> {
        if self.0.is_empty() {
            return Ok(batch);
        }
        let line = batch.to_json()?;
        Ok(self.search(batch, line)?.into_batch())
    }
}

impl Searched {
    /// The batch.
    pub(crate) fn batch(&self) -> &Batch {
        &self.batch
    }

    /// The batch as one line of JSON.
    pub(crate) fn line(&self) -> &[u8] {
        &self.line
    }

    /// The batch, without its line.
    pub(crate) fn into_batch(self) -> Batch {
        self.batch
    }
}
