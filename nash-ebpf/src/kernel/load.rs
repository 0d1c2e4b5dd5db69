//! Loads the object with aya, one program at a time, and says in a person's terms why it did not work.
//!
//! What must be there: the life of processes, and the ends of calls. Everything else is taken where the kernel takes it.

use std::io;
use std::path::{Path, PathBuf};

use aya::maps::{Array, HashMap, Map, MapData, PerCpuArray};
use aya::programs::links::FdLink;
use aya::programs::{Program, ProgramError};
use aya::{Btf, Ebpf, EbpfError, EbpfLoader, include_bytes_aligned};
use zerocopy::IntoBytes;

use super::images::image_of;
use super::ring::Ring;
use super::{Options, Probes, Scope, calls, pins, seed};
use crate::abi::{ImageKind, Process};

/// The compiled probes.
pub const OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/nash.bpf.o"));

/// Every program with the hook that it goes to, and whether the observer is worth anything without it.
const PROGRAMS: &[(&str, &str, bool)] = &[
    ("process_exit", "sched_process_exit", true),
    ("process_exec", "sched_process_exec", true),
    ("process_fork", "sched_process_fork", true),
    ("call_end", "sys_exit", true),
    ("signal_sent", "signal_generate", false),
    ("uring_complete", "io_uring_complete", false),
    ("uring_complete_by_value", "io_uring_complete", false),
];

/// The program that goes to a function's end rather than a tracepoint.
pub(super) const OPEN_HOOK: &str = "open_hook";
/// The function.
pub(super) const OPEN_HOOKED: &str = "security_file_open";

/// The first release with `bpf_loop`, in whose callback paths are walked.
const BPF_LOOP_CAME: (u32, u32) = (5, 17);

/// Why the probes are not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The kernel refused because of privileges.
    #[error("needs CAP_BPF and CAP_PERFMON; run shell-only or see docs/kernel.md")]
    NotPermitted,
    /// The kernel has no description of its own types.
    #[error(
        "this kernel has no BTF (/sys/kernel/btf/vmlinux; CONFIG_DEBUG_INFO_BTF): run shell-only or see docs/kernel.md"
    )]
    NoBtf,
    /// The kernel is too old for the walk of paths.
    #[error("Linux {release} is too old: paths are walked with bpf_loop, which came with Linux 5.17")]
    KernelTooOld {
        /// What `uname -r` says.
        release: String,
    },
    /// The probes count processes as the host does, and numbers from inside a pid namespace can't be translated.
    #[error(
        "this process is in a pid namespace of its own; the probes count as the host does: run with the host's, or shell-only"
    )]
    PidNamespace,
    /// A program that must be there was refused.
    #[error("the kernel refused the program {name}: {reason}")]
    Program {
        /// Which.
        name: String,
        /// What the kernel said, at its end.
        reason: String,
    },
    /// The object or its maps were refused.
    #[error("the probes could not be loaded: {0}")]
    Object(#[from] EbpfError),
    /// A map could not be used.
    #[error("map {name}: {reason}")]
    Map {
        /// Which.
        name: String,
        /// What went wrong.
        reason: String,
    },
    /// A shell's file could not be looked at.
    #[error("{}: {source}", path.display())]
    Image {
        /// Which.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// The pins could not be made or taken over.
    #[error("pins in {}: {reason}", path.display())]
    Pins {
        /// Where.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// A process that was to be watched is not there, or can't be.
    #[error("process {pid}: {reason}")]
    Process {
        /// Which.
        pid: u32,
        /// What went wrong.
        reason: String,
    },
}

pub(super) fn load(options: &Options) -> Result<Probes, LoadError> {
    let btf = Btf::from_sys_fs().map_err(|_| LoadError::NoBtf)?;
    let mut object = load_object(options, &btf)?;
    // Before anything is attached, so that no shell's start falls between.
    put_images(&mut object, options)?;
    let result = start(&mut object, &btf, options);
    if result.is_err()
        && let Some(directory) = &options.pins
    {
        // Everything else goes with its descriptors. What can't be removed now is what `unpin` is for.
        let _ = pins::remove(directory);
    }
    result
}

fn start(object: &mut Ebpf, btf: &Btf, options: &Options) -> Result<Probes, LoadError> {
    if let Some(directory) = &options.pins {
        pins::make_maps(object, directory)?;
    }
    let mut probes = open_maps(|name| object.take_map(name), None)?;
    probes.pins.clone_from(&options.pins);
    attach_hook(object, btf, &mut probes.links)?;
    attach(object, btf, &mut probes.links)?;
    begin(&mut probes, options)?;
    if let Some(directory) = &options.pins {
        probes.links = pins::make_links(std::mem::take(&mut probes.links), directory)?;
    }
    Ok(probes)
}

/// Loads the object's maps with the sizes and settings that were asked for.
fn load_object(options: &Options, btf: &Btf) -> Result<Ebpf, LoadError> {
    let (native, of_32bit) = (calls::native(), calls::of_32bit_programs());
    let every_shell = u8::from(options.scope == Scope::EveryShell);
    // A quarter of the ring: the reader that sleeps a few milliseconds longer loses nothing.
    let wake_at_bytes = options.life_ring_bytes.min(options.file_ring_bytes) / 4;
    EbpfLoader::new()
        .btf(Some(btf))
        .override_global("calls_native", native.as_slice(), true)
        .override_global("calls_32bit", of_32bit.as_slice(), true)
        .override_global("every_shell", &every_shell, true)
        .override_global("wake_at_bytes", &wake_at_bytes, true)
        .map_max_entries("life_ring", options.life_ring_bytes)
        .map_max_entries("file_ring", options.file_ring_bytes)
        .map_max_entries("processes", options.processes_max)
        .load(OBJECT)
        .map_err(refusal)
}

/// An error of loading as what it means where that is known.
fn refusal(error: EbpfError) -> LoadError {
    let mut cause: Option<&dyn std::error::Error> = Some(&error);
    while let Some(at) = cause {
        if at.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::PermissionDenied) {
            return LoadError::NotPermitted;
        }
        cause = at.source();
    }
    LoadError::Object(error)
}

/// Puts the typed maps of an object, or of pins, together.
pub(super) fn open_maps(mut take: impl FnMut(&str) -> Option<Map>, pins: Option<PathBuf>) -> Result<Probes, LoadError> {
    let mut map = |name: &str| {
        take(name).ok_or_else(|| LoadError::Map { name: name.to_owned(), reason: "not in the object".to_owned() })
    };
    let processes = map("processes")?;
    let counts = map("counts")?;
    Ok(Probes {
        links: Vec::new(),
        processes: HashMap::try_from(processes).map_err(|error| map_error("processes", &error))?,
        counts: PerCpuArray::try_from(counts).map_err(|error| map_error("counts", &error))?,
        life: open_ring("life_ring", map("life_ring")?)?,
        file: open_ring("file_ring", map("file_ring")?)?,
        seeds: Vec::new(),
        resumed: pins.is_some(),
        pins,
    })
}

fn open_ring(name: &str, map: Map) -> Result<Ring, LoadError> {
    let Map::RingBuf(data) = map else {
        return Err(LoadError::Map { name: name.to_owned(), reason: "not a ring buffer".to_owned() });
    };
    let bytes = data.info().map_err(|error| map_error(name, &error))?.max_entries();
    Ring::open(data, bytes).map_err(|error| map_error(name, &error))
}

pub(super) fn map_error(name: &str, error: &dyn std::error::Error) -> LoadError {
    LoadError::Map { name: name.to_owned(), reason: chain(error) }
}

/// An error with what caused it, in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(at) = cause {
        let more = at.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = at.source();
    }
    text
}

fn put_images(object: &mut Ebpf, options: &Options) -> Result<(), LoadError> {
    let Some(map) = object.map_mut("images") else {
        return Err(LoadError::Map { name: "images".to_owned(), reason: "not in the object".to_owned() });
    };
    let mut images: HashMap<&mut MapData, [u8; 16], u32> =
        HashMap::try_from(map).map_err(|error| map_error("images", &error))?;
    // A file that is both is nash: a session begins, and what it executes is told anyway.
    for (paths, kind) in [(&options.preserved, ImageKind::Preserved), (&options.shells, ImageKind::Nash)] {
        for path in paths {
            let image = image_of(path).map_err(|source| LoadError::Image { path: path.clone(), source })?;
            let mut key = [0; 16];
            key.copy_from_slice(image.as_bytes());
            images.insert(key, kind as u32, 0).map_err(|error| map_error("images", &error))?;
        }
    }
    Ok(())
}

/// Attaches the hook on opens where the kernel takes it, and says so to the programs that would report the same.
fn attach_hook(object: &mut Ebpf, btf: &Btf, links: &mut Vec<(String, FdLink)>) -> Result<(), LoadError> {
    let Some(program) = object.program_mut(OPEN_HOOK) else { return Ok(()) };
    let Ok(link) = attach_one(program, OPEN_HOOKED, btf) else { return Ok(()) };
    links.push((OPEN_HOOK.to_owned(), link));
    let map = object
        .map_mut("hook_on_open")
        .ok_or_else(|| LoadError::Map { name: "hook_on_open".to_owned(), reason: "not in the object".to_owned() })?;
    let mut hooked: Array<&mut MapData, u32> =
        Array::try_from(map).map_err(|error| map_error("hook_on_open", &error))?;
    hooked.set(0, 1, 0).map_err(|error| map_error("hook_on_open", &error))
}

fn attach(object: &mut Ebpf, btf: &Btf, links: &mut Vec<(String, FdLink)>) -> Result<(), LoadError> {
    let mut uring = false;
    for &(name, tracepoint, needed) in PROGRAMS {
        if tracepoint == "io_uring_complete" && uring {
            continue;
        }
        let Some(program) = object.program_mut(name) else { continue };
        match attach_one(program, tracepoint, btf) {
            Ok(link) => {
                uring |= tracepoint == "io_uring_complete";
                links.push((name.to_owned(), link));
            }
            Err(error) if needed => return Err(program_refusal(name, &error)),
            Err(_) => {}
        }
    }
    Ok(())
}

/// Loads and attaches one program.
pub(super) fn attach_one(program: &mut Program, hook: &str, btf: &Btf) -> Result<FdLink, ProgramError> {
    match program {
        Program::BtfTracePoint(program) => {
            program.load(hook, btf)?;
            let id = program.attach()?;
            Ok(program.take_link(id)?.into())
        }
        Program::FExit(program) => {
            program.load(hook, btf)?;
            let id = program.attach()?;
            Ok(program.take_link(id)?.into())
        }
        _ => Err(ProgramError::UnexpectedProgramType),
    }
}

/// Why a program was refused, as a person would say it.
fn program_refusal(name: &str, error: &ProgramError) -> LoadError {
    if let ProgramError::LoadError { io_error, verifier_log } = error {
        let log = verifier_log.to_string();
        // What an old kernel complains of differs from one to the next; that it is too old is what a person can do something about.
        if is_too_old(&release()) {
            return LoadError::KernelTooOld { release: release() };
        }
        if io_error.kind() == io::ErrorKind::PermissionDenied && log.trim().is_empty() {
            return LoadError::NotPermitted;
        }
        // The verifier ends with what it complains of, and then with figures.
        let figures = ["processed ", "verification time ", "stack depth "];
        let complaint = |line: &&str| !line.is_empty() && !figures.iter().any(|figure| line.starts_with(figure));
        let end = log.lines().rfind(complaint).unwrap_or_default();
        return LoadError::Program { name: name.to_owned(), reason: format!("{io_error}: {end}") };
    }
    LoadError::Program { name: name.to_owned(), reason: chain(error) }
}

/// Whether a release comes before the first one with `bpf_loop`. It explains a refusal; whether there is one, trying decides.
pub(super) fn is_too_old(release: &str) -> bool {
    let mut numbers = release.split(|byte: char| !byte.is_ascii_digit()).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return false };
    (major, minor) < BPF_LOOP_CAME
}

/// What `uname -r` says.
pub(super) fn release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// Fills the table with those who are there already.
fn begin(probes: &mut Probes, options: &Options) -> Result<(), LoadError> {
    probes.seeds = seed::seed(options.scope, &options.shells, &mut |pid, process: &Process| {
        let mut value = [0; 24];
        value.copy_from_slice(process.as_bytes());
        probes.processes.insert(pid, value, 0).map_err(|error| map_error("processes", &error))
    })?;
    Ok(())
}

/// Opens a pinned map.
pub(super) fn pinned_map(directory: &Path, name: &str) -> Result<Map, LoadError> {
    let data = MapData::from_pin(directory.join(name)).map_err(|error| map_error(name, &error))?;
    Map::from_map_data(data).map_err(|error| map_error(name, &error))
}

#[cfg(test)]
mod tests {
    use super::is_too_old;

    #[test]
    fn a_release_says_whether_paths_can_be_walked() {
        for old in ["5.10.0-32-cloud-amd64", "5.16.20", "4.19.0", "5.4.0-150-generic"] {
            assert!(is_too_old(old), "{old}");
        }
        for new in ["5.17.0", "5.19-rc1", "6.1.0-57-cloud-amd64", "6.18.44-fc", "10.0", "unknown"] {
            assert!(!is_too_old(new), "{new}");
        }
    }
}
