//! The figures that nash is held to, as far as one machine can measure them with one command.
//!
//! Names, scripts, scenes and bars. Nothing runs here.

use std::path::Path;

use crate::corpus;
use crate::scene::Scene;
use crate::scripts;

/// What a ratio is held to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bar {
    /// Nothing: the figure is for information.
    None,
    /// The ratio is to be at most this.
    AtMost(f64),
    /// The ratio of speeds is to be at least this.
    AtLeast(f64),
}

/// What is measured of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Time from start to end.
    Time,
    /// The largest resident memory.
    Memory,
}

/// The other side of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Baseline {
    /// bash with the same script.
    Bash,
    /// nash with the same script, reporting to nobody.
    PlainNash,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// What it says.
    pub(crate) name: &'static str,
    /// What runs, one after the other, by a shell each.
    pub(crate) scripts: Vec<String>,
    /// Where nash runs it.
    pub(crate) scene: Scene,
    /// What nash is compared with.
    pub(crate) baseline: Baseline,
    /// What is compared.
    pub(crate) quantity: Quantity,
    /// What the ratio is held to.
    pub(crate) bar: Bar,
    /// Runs of each side in a round: many, where one is over in a millisecond.
    pub(crate) runs: u32,
}

/// Every figure, in the order of the table.
pub(crate) fn all(directory: &Path) -> Vec<Figure> {
    // Written once, read by every sample; a directory that can't be written shows when the script is tried.
    let _ = std::fs::write(directory.join("lines"), scripts::lines());
    let start = |name, scene, bar| Figure { scene, runs: 20, ..figure(name, scripts::NOTHING, bar) };
    let work = |name, script, bar| figure(name, script, bar);
    let against_plain =
        |name, script, bar| Figure { scene: Scene::Tap, baseline: Baseline::PlainNash, ..figure(name, script, bar) };
    let wrapper = scripts::wrapper();
    vec![
        Figure {
            quantity: Quantity::Memory,
            runs: 1,
            ..start("resident memory of -c :", Scene::Plain, Bar::AtMost(3.0))
        },
        start("-c :, off", Scene::Plain, Bar::AtMost(1.3)),
        start("-c :, meta, collector", Scene::Meta, Bar::AtMost(1.5)),
        start("-c :, tap, collector", Scene::Tap, Bar::AtMost(1.5)),
        start("-c :, tap, spool only", Scene::Spool, Bar::None),
        start("-c :, tap, hanging collector", Scene::Hanging, Bar::None),
        Figure { runs: 5, ..work("38 KB wrapper, off", &wrapper, Bar::None) },
        Figure { runs: 5, scene: Scene::Tap, ..work("38 KB wrapper, tap, collector", &wrapper, Bar::None) },
        work("arithmetic loop", scripts::ARITHMETIC, Bar::AtMost(1.5)),
        work("string loop", scripts::STRINGS, Bar::AtMost(1.5)),
        work("function calls", scripts::FUNCTIONS, Bar::AtMost(1.5)),
        work("command substitutions", scripts::SUBSTITUTIONS, Bar::AtMost(0.5)),
        work("pipelines of builtins", scripts::PIPELINES, Bar::AtMost(0.5)),
        work("programs spawned", scripts::PROGRAMS, Bar::AtMost(1.05)),
        work("while read over a file", scripts::READ_LINES, Bar::None),
        against_plain("programs spawned, tap against off", scripts::PROGRAMS, Bar::None),
        Figure {
            scripts: corpus::session(),
            ..against_plain("agent commands, tap against off", "", Bar::AtMost(1.03))
        },
        Figure { scripts: corpus::short(), ..against_plain("short agent commands, tap against off", "", Bar::None) },
        against_plain("dense pipelines, tap against off", scripts::DENSE_PIPELINES, Bar::None),
        against_plain("ping-pong, tap against off", scripts::PING_PONG, Bar::AtMost(1.5)),
        against_plain("pipe throughput, tap against off", scripts::THROUGHPUT, Bar::AtLeast(0.8)),
    ]
}

fn figure(name: &'static str, script: &str, bar: Bar) -> Figure {
    Figure {
        name,
        scripts: vec![script.to_owned()],
        scene: Scene::Plain,
        baseline: Baseline::Bash,
        quantity: Quantity::Time,
        bar,
        runs: 1,
    }
}
