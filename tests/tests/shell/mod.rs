//! What a script can see of the shell that runs it: nash must look like bash, observed or not.
//!
//! bash is the oracle. A behaviour that nash doesn't have yet stands nowhere here, neither as right nor as wrong.

mod dash;
mod declarations;
mod descriptors;
mod invocations;
mod jobs;
mod options;
mod pipelines;
mod reading;
mod signals;
mod startup;
mod stdin;
mod subshells;
mod tables;
mod words;
