//! Whether a second witness can be had: the kernel, its types, privileges, tracing, and the observer that is installed.
//!
//! What each probe needs is the observer's to say: it is asked where it is there.

use std::path::{Path, PathBuf};

use super::outcome::printed;
use super::{Area, Check, State};

/// The observer's program.
const OBSERVER: &str = "nash-ebpf";

/// The oldest kernel whose probes can walk a path: 5.17.
const KERNEL_MIN: (u32, u32) = (5, 17);

/// Where the kernel describes its own types.
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// Bits of a capability set, as the kernel numbers them.
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// Looks at everything.
pub(super) fn checks() -> Vec<Check> {
    vec![kernel(), types(), privileges(), tracing(), observer()]
}

fn ok(name: &'static str, found: impl Into<String>) -> Check {
    Check::new(Area::Kernel, name, State::Ok, found)
}

fn limit(name: &'static str, found: impl Into<String>) -> Check {
    Check::new(Area::Kernel, name, State::Limit, found)
}

fn kernel() -> Check {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= KERNEL_MIN {
        return ok("kernel", format!("Linux {release}"));
    }
    let (major, minor) = KERNEL_MIN;
    limit("kernel", format!("Linux {release}: the probes need {major}.{minor} to name opened files"))
        .fix(format!("boot a kernel of {major}.{minor} or later"))
}

fn types() -> Check {
    match std::fs::File::open(TYPES) {
        Ok(_) => ok("types (BTF)", TYPES),
        Err(error) => limit("types (BTF)", format!("{TYPES}: {error}: the probes can't be fitted to this kernel"))
            .fix("boot a kernel that was built with CONFIG_DEBUG_INFO_BTF=y"),
    }
}

fn privileges() -> Check {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or_default();
    let has = |bit: u32| set & (1 << bit) != 0;
    if has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON)) {
        return ok("privileges", "this user may load probes (CAP_BPF and CAP_PERFMON)");
    }
    limit("privileges", "this user may not load probes: it takes CAP_BPF and CAP_PERFMON")
        .fix("run the observer as root, or: setcap cap_bpf,cap_perfmon+ep $(command -v nash-ebpf)")
}

fn tracing() -> Check {
    let path = "/proc/sys/kernel/yama/ptrace_scope";
    let Ok(scope) = std::fs::read_to_string(path) else {
        return ok("ptrace", "a process may trace its children");
    };
    match scope.trim() {
        "0" | "1" => ok("ptrace", format!("a process may trace its children (scope {})", scope.trim())),
        "2" => limit("ptrace", "only administrators may trace (scope 2)").fix("sysctl kernel.yama.ptrace_scope=1"),
        scope => limit("ptrace", format!("nobody may trace until the next boot (scope {scope})"))
            .fix("set kernel.yama.ptrace_scope=1 in /etc/sysctl.d/ and boot anew"),
    }
}

/// The observer's own word on what this kernel gives it.
fn observer() -> Check {
    let Some(path) = find(OBSERVER) else {
        return limit("observer", "nash-ebpf is not installed: what programs do below their commands is not seen")
            .fix("install nash-ebpf beside nash-correlate, or in PATH");
    };
    let shown = path.display();
    let said = printed(&path, &["features", "--json"]);
    let details = said.as_deref().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
    let Some(details) = details else {
        return limit("observer", format!("{shown} does not say what this kernel gives it")).fix("nash-ebpf features");
    };
    let missing = missing_features(&details);
    let enough = details["enough"].as_bool().unwrap_or(true);
    let check = match (enough, missing.is_empty()) {
        (true, true) => ok("observer", format!("{shown}: everything that it looks for is there")),
        (true, false) => {
            limit("observer", format!("{shown} works without {}", missing.join(", "))).fix("nash-ebpf features")
        }
        (false, _) => {
            limit("observer", format!("{shown} can't work without {}", missing.join(", "))).fix("nash-ebpf features")
        }
    };
    Check { details: Some(details), ..check }
}

/// The names of what the observer misses.
fn missing_features(details: &serde_json::Value) -> Vec<String> {
    let features = details["features"].as_array().map_or(&[][..], Vec::as_slice);
    let missing = features.iter().filter(|feature| feature["there"] == false);
    missing.filter_map(|feature| feature["name"].as_str()).map(str::to_owned).collect()
}

/// Finds a program beside this one, else in `PATH`.
fn find(name: &str) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(name)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|dir| dir.join(name)).collect::<Vec<_>>();
    beside.into_iter().chain(in_path).find(|path| Path::is_file(path))
}
