//! `features`: what this kernel gives to an observer.
//!
//! Only shows what was found out; how that is done stands in the library.

use nash_ebpf::kernel::{self, Feature, Features, LoadError};
use nash_ebpf::privileges;
use serde_json::json;

use crate::EXIT_CAN_T_OBSERVE;
use crate::cli::FeaturesArgs;

/// Prints the features; the status says whether they are enough.
pub(crate) fn features(inputs: &FeaturesArgs) -> anyhow::Result<u8> {
    if !privileges::may_observe() {
        return Err(LoadError::NotPermitted.into());
    }
    let found = kernel::features();
    if inputs.json {
        println!("{}", as_json(&found));
    } else {
        print!("{}", as_text(&found));
    }
    Ok(if found.enough() { 0 } else { EXIT_CAN_T_OBSERVE })
}

fn as_json(found: &Features) -> serde_json::Value {
    let one = |feature: &Feature| {
        let Feature { name, there, needed, meaning, reason } = feature;
        json!({"name": name, "there": there, "needed": needed, "meaning": meaning, "reason": reason})
    };
    let features: Vec<_> = found.features.iter().map(one).collect();
    json!({"release": found.release, "enough": found.enough(), "features": features})
}

fn as_text(found: &Features) -> String {
    let width = found.features.iter().map(|feature| feature.name.len()).max().unwrap_or_default();
    let lines = found.features.iter().map(|feature| {
        let answer = match (feature.there, feature.needed) {
            (true, _) => "yes",
            (false, true) => "NO ",
            (false, false) => "no ",
        };
        let line = format!("  {answer}  {:width$}  {}", feature.name, feature.meaning);
        // What the kernel said stands below what it means.
        let reason = feature.reason.as_ref().map(|reason| format!("\n       {:width$}  ({reason})", ""));
        line + &reason.unwrap_or_default()
    });
    let lines: Vec<_> = lines.collect();
    let verdict = if found.enough() { "The probes work here." } else { "The probes don't work here." };
    format!("Linux {}\n\n{}\n\n{verdict}\n", found.release, lines.join("\n"))
}
