//! What this kernel gives to an observer, and what each lack costs.
//!
//! Everything is found out by trying it, since distributions take features back and forth. Nothing stays loaded.

use aya::{Btf, EbpfLoader};

use super::load::{OBJECT, OPEN_HOOK, OPEN_HOOKED, attach_one, chain, is_too_old, release};
use super::proc;

/// One thing that a kernel may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// A short name.
    pub name: &'static str,
    /// Whether it is there.
    pub there: bool,
    /// Whether nothing works without it.
    pub needed: bool,
    /// What it is for, or where it is missing what is not seen then.
    pub meaning: &'static str,
    /// What the kernel said where it is missing.
    pub reason: Option<String>,
}

/// What a kernel has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// What `uname -r` says.
    pub release: String,
    /// Each of the things that matter.
    pub features: Vec<Feature>,
}

impl Features {
    /// Whether the probes work here.
    pub fn enough(&self) -> bool {
        self.features.iter().all(|feature| feature.there || !feature.needed)
    }
}

/// What each program gives: its name in the object, its hook, the feature's name, whether it is needed, what it means to have it,
/// and what it means not to.
const PROGRAMS: [(&str, &str, &str, bool, &str, &str); 7] = [
    ("process_fork", "sched_process_fork", "forks", true, "descendants are followed", "nothing is seen"),
    ("process_exec", "sched_process_exec", "execs", true, "programs are seen with their files", "nothing is seen"),
    ("process_exit", "sched_process_exit", "exits", true, "ends are seen", "nothing is seen"),
    (
        "call_end",
        "sys_exit",
        "calls",
        true,
        "opens, changes, connections and 32-bit calls are seen; paths are walked in the kernel",
        "nothing is seen",
    ),
    (
        "signal_sent",
        "signal_generate",
        "signals",
        false,
        "signals are seen with their receivers",
        "who kills an observer or a shell is not seen",
    ),
    (
        "uring_complete",
        "io_uring_complete",
        "io_uring",
        false,
        "opens by io_uring are seen",
        "opens by io_uring are not seen",
    ),
    (
        OPEN_HOOK,
        OPEN_HOOKED,
        "open-hook",
        false,
        "every open is seen where it happens, whatever led to it",
        "opens are seen when their calls end: what has no call of its own, beside io_uring, is not",
    ),
];

pub(super) fn probe() -> Features {
    let btf = match Btf::from_sys_fs() {
        Ok(btf) => btf,
        Err(error) => {
            return Features { release: release(), features: vec![missing_btf(chain(&error))] };
        }
    };
    let mut features = vec![Feature {
        name: "btf",
        there: true,
        needed: true,
        meaning: "the probes find the kernel's structures by its own description",
        reason: None,
    }];
    features.push(pid_namespace());
    for program in PROGRAMS {
        features.push(try_program(program, &btf));
    }
    Features { release: release(), features }
}

fn pid_namespace() -> Feature {
    let there = proc::is_in_initial_pid_namespace();
    let meaning = if there {
        "one command can be watched: `record`, `nash-correlate run`"
    } else {
        "`record` and `nash-correlate run` don't watch from inside a pid namespace: the probes count processes as the host does"
    };
    Feature { name: "host-pids", there, needed: false, meaning, reason: None }
}

fn missing_btf(reason: String) -> Feature {
    Feature { name: "btf", there: false, needed: true, meaning: "nothing is seen", reason: Some(reason) }
}

fn try_program(
    (program, hook, name, needed, with, without): (&str, &str, &'static str, bool, &'static str, &'static str),
    btf: &Btf,
) -> Feature {
    let result = try_one(program, hook, btf).or_else(|error| {
        // The same hook in the form of other kernels.
        if program == "uring_complete" { try_one("uring_complete_by_value", hook, btf) } else { Err(error) }
    });
    Feature {
        name,
        there: result.is_ok(),
        needed,
        meaning: if result.is_ok() { with } else { without },
        reason: result.err().map(explained),
    }
}

/// What the kernel said, or that it is too old to be asked.
fn explained(said: String) -> String {
    if is_too_old(&release()) { "this kernel is too old: what is needed came with Linux 5.17".to_owned() } else { said }
}

fn try_one(program: &str, hook: &str, btf: &Btf) -> Result<(), String> {
    let page = u32::try_from(rustix::param::page_size()).unwrap_or(4096);
    let mut object = EbpfLoader::new()
        .btf(Some(btf))
        .map_max_entries("life_ring", page)
        .map_max_entries("file_ring", page)
        .map_max_entries("processes", 1)
        .load(OBJECT)
        .map_err(|error| chain(&error))?;
    let program = object.program_mut(program).ok_or_else(|| "not in the object".to_owned())?;
    attach_one(program, hook, btf)
        .map(drop)
        .map_err(|error| chain(&error).lines().next().unwrap_or_default().to_owned())
}
