//! libbpf as the reference: the same object, loaded by the library that the kernel's people keep, tells the same.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{DataSec, Var};
use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder, RingBufferBuilder};
use nash_ebpf::abi;
use nash_ebpf::decode::{Calendar, decode};
use nash_ebpf::kernel::{OBJECT, call_tables};
use nash_events::KernelEventKind;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use zerocopy::IntoBytes;

use super::daemon::{PROGRAM, Place, Told, has_root};

/// What is run under both loaders.
const SCRIPT: &str = "cat /etc/passwd /no/such/file > /dev/null; /bin/ls / > /dev/null; \
                      mkdir d; echo x > d/f; mv d/f d/g; rm -r d; (exit 3); exit 5";

/// Programs without which nothing can be compared; the others come and go with kernels.
const PROGRAMS: [&str; 4] = ["process_fork", "process_exec", "process_exit", "call_end"];

/// How often each event came, without what differs from run to run.
type Came = BTreeMap<String, usize>;

fn count(kinds: impl Iterator<Item = KernelEventKind>) -> Came {
    let mut came = Came::new();
    for kind in kinds {
        let text = match &kind {
            // Whose number it is, and when it started, differ.
            KernelEventKind::Fork(_) => "fork".to_owned(),
            KernelEventKind::Mutation(change) => {
                format!("{} {}", change.op.as_str(), serde_json::to_string(&kind).unwrap())
            }
            kind => format!("{} {}", kind.name(), serde_json::to_string(kind).unwrap()),
        };
        // New files get new numbers.
        let text = text.split(",\"").filter(|field| !field.starts_with("ino\":")).collect::<Vec<_>>().join(",\"");
        *came.entry(text).or_default() += 1;
    }
    came
}

/// Writes a setting of the object where its description says that it is.
fn set(open: &mut libbpf_rs::OpenObject, btf: &Btf<'_>, name: &str, value: &[u8]) {
    let section: DataSec<'_> = btf.type_by_name(".rodata").unwrap();
    let place = section.iter().find(|place| {
        let variable: Option<Var<'_>> = btf.type_by_id(place.ty);
        variable.is_some_and(|variable| variable.name().is_some_and(|found| found == name))
    });
    let offset = place.unwrap_or_else(|| panic!("no setting {name}")).offset as usize;
    let mut map = open.maps_mut().find(|map| map.name().to_string_lossy().ends_with(".rodata")).unwrap();
    map.initial_value_mut().unwrap()[offset..offset + value.len()].copy_from_slice(value);
}

fn load() -> (Object, Vec<Link>) {
    let btf = Btf::from_raw("nash", OBJECT).unwrap().unwrap();
    let mut open = ObjectBuilder::default().open_memory(OBJECT).unwrap();
    let (native, of_32bit) = call_tables();
    set(&mut open, &btf, "calls_native", &native);
    set(&mut open, &btf, "calls_32bit", &of_32bit);
    set(&mut open, &btf, "every_shell", &[0]);
    for mut program in open.progs_mut() {
        let wanted = PROGRAMS.iter().any(|name| program.name() == *name);
        program.set_autoload(wanted);
    }
    let object = open.load().unwrap();
    let links = object
        .progs_mut()
        .filter(|program| PROGRAMS.iter().any(|name| program.name() == *name))
        .map(|program| program.attach().unwrap())
        .collect();
    (object, links)
}

/// Runs the script under the object that libbpf loaded.
fn by_libbpf(work: &std::path::Path) -> Came {
    let (object, links) = load();
    let mut child =
        command_that_stops(work).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null()).spawn().unwrap();
    let pid = Pid::from_child(&child);
    assert!(waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap().1.stopped());
    let map = |name: &str| object.maps().find(|map| map.name() == name).unwrap();
    let entry = abi::Process { root_tgid: child.id(), root_start_ns: 1, ns_tgid: child.id(), ..Default::default() };
    map("processes").update(&child.id().to_ne_bytes(), entry.as_bytes(), MapFlags::ANY).unwrap();
    kill_process(pid, Signal::CONT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    drop(links);
    let kinds = std::cell::RefCell::new(Vec::new());
    let (life, file) = (map("life_ring"), map("file_ring"));
    let mut rings = RingBufferBuilder::new();
    for ring in [&life, &file] {
        rings
            .add(ring, |bytes| {
                kinds.borrow_mut().push(decode(bytes, Calendar::default()).unwrap().kind);
                0
            })
            .unwrap();
    }
    let rings = rings.build().unwrap();
    rings.poll(Duration::ZERO).unwrap();
    rings.consume().unwrap();
    drop(rings);
    count(kinds.into_inner().into_iter())
}

/// Runs the script under the program's own loader.
fn by_aya(work: &std::path::Path) -> Came {
    let place = Place::new();
    let journal = place.path("journal.ndjson");
    let status = Command::new(PROGRAM)
        .args(["record", "-o"])
        .arg(&journal)
        .args(["--", "/bin/sh", "-c", SCRIPT])
        .current_dir(work)
        .env("PATH", "/usr/bin:/bin")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(5));
    count(
        Told::read(&std::fs::read(&journal).unwrap())
            .events
            .into_iter()
            .map(|event| as_probes_told(event.kind))
            .filter(|kind| kind.name() != "present"),
    )
}

/// An event without what the observer reads in files, which no probe does.
fn as_probes_told(mut kind: KernelEventKind) -> KernelEventKind {
    if let KernelEventKind::Exec(exec) = &mut kind {
        (exec.same_as, exec.sha256, exec.build_id) = (None, None, None);
    }
    kind
}

fn command_that_stops(work: &std::path::Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .args(["hold", "--observer", &std::process::id().to_string(), "--", "/bin/sh", "-c", SCRIPT])
        .current_dir(work)
        .env("PATH", "/usr/bin:/bin");
    command
}

#[test]
fn libbpf_loads_the_same_object_and_sees_the_same() {
    if !has_root() {
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let ours = by_aya(work.path());
    let reference = by_libbpf(work.path());
    let told = |came: &Came, kind: &str| came.keys().filter(|key| key.starts_with(kind)).count();
    for kind in ["fork", "exec ", "exit ", "open ", "mkdir ", "rename ", "unlink ", "rmdir "] {
        assert!(told(&reference, kind) > 0, "the reference saw no {kind}: {reference:#?}");
    }
    let only = |one: &Came, other: &Came| {
        one.iter()
            .filter(|(key, times)| other.get(*key) != Some(times))
            .map(|(key, times)| format!("{times} {key}"))
            .collect::<Vec<_>>()
    };
    assert_eq!((only(&ours, &reference), only(&reference, &ours)), (Vec::<String>::new(), Vec::new()));
}
