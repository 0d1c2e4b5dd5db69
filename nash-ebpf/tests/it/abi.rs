//! The mirror of the contract: every structure by the object's own description, every number by the header.

use std::mem::{offset_of, size_of};

use libbpf_rs::btf::types::{MemberAttr, Struct, Union};
use libbpf_rs::btf::{Btf, HasSize};
use nash_ebpf::abi::{self, Call, Change, Count, Form, ImageKind, Kind, Via, flag};
use nash_ebpf::kernel::OBJECT;

/// The header, from this repository.
const HEADER: &str = include_str!("../../../probes/abi/nash_abi.h");

/// A structure's size, and its fields with their offsets in bytes.
fn layout(btf: &Btf<'_>, name: &str) -> (usize, Vec<(String, usize)>) {
    let found: Struct<'_> = btf.type_by_name(name).unwrap_or_else(|| panic!("no struct {name} in the object"));
    let fields = found.iter().map(|member| {
        let name = member.name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let offset = match member.attr {
            MemberAttr::Normal { offset } | MemberAttr::BitField { offset, .. } => offset,
        };
        (name, offset as usize / 8)
    });
    (found.size(), fields.collect())
}

/// Checks one structure: the same fields in the same order at the same places.
macro_rules! check {
    ($btf:expr, $c:literal, $Rust:ty, [$($field:ident),+ $(,)?]) => {
        let mirror = vec![$((stringify!($field).to_owned(), offset_of!($Rust, $field))),+];
        assert_eq!(layout($btf, $c), (size_of::<$Rust>(), mirror), $c);
    };
}

#[test]
fn every_shared_structure_has_the_layout_of_its_mirror() {
    let btf = Btf::from_raw("nash", OBJECT).unwrap().expect("the object describes its types");
    check!(&btf, "nash_span", abi::Span, [bytes, form, cut]);
    check!(&btf, "nash_fork", abi::Fork, [child_start_ns, child_tgid, child_ns_tgid, child_pid_ns, unused]);
    check!(&btf, "nash_file", abi::File, [result, ino, flags, size, dev, mount_id, mode, what, uid, gid, euid, egid]);
    check!(&btf, "nash_exit", abi::Exit, [status, unused]);
    check!(&btf, "nash_socket", abi::Socket, [result, family, port, unused, address]);
    check!(&btf, "nash_reach", abi::Reach, [result, request, target_start_ns, target, call]);
    check!(&btf, "nash_space", abi::Space, [result, flags, call, unused]);
    check!(&btf, "nash_process", abi::Process, [root_start_ns, root_tgid, ns_tgid, pid_ns, unused]);
    check!(&btf, "nash_image", abi::Image, [ino, dev, unused]);
    // The head of a record is all of it but the union behind it.
    let (size, mut fields) = layout(&btf, "nash_record");
    assert_eq!(fields.pop(), Some((String::new(), size_of::<abi::Head>())), "the union");
    assert_eq!(size, size_of::<abi::Head>() + abi::BODY_BYTES);
    macro_rules! head {
        ($($field:ident),+) => { vec![$((stringify!($field).to_owned(), offset_of!(abi::Head, $field))),+] };
    }
    let mirror = head!(
        size,
        abi,
        kind,
        boot_ns,
        start_ns,
        root_start_ns,
        cgroup,
        tgid,
        tid,
        root_tgid,
        ns_tgid,
        pid_ns,
        ppid,
        uid,
        flags,
        comm,
        span
    );
    assert_eq!(fields, mirror);
    let bodies = btf
        .type_by_kind::<Union<'_>>()
        .find(|union| union.iter().any(|body| body.name.is_some_and(|name| name == "socket")));
    assert_eq!(bodies.expect("the bodies").iter().count(), 6, "a body that the mirror does not know");
}

/// The values of an enumeration in the header, in order: those without one follow the one before.
fn values(opening: &str) -> Vec<u64> {
    let (_, rest) = HEADER.split_once(opening).unwrap_or_else(|| panic!("no {opening} in the header"));
    let (body, _) = rest.split_once("};").unwrap();
    let mut next = 0;
    let mut found = Vec::new();
    // Comments hold commas.
    let mut code = String::new();
    for piece in body.split("/*") {
        code.push_str(piece.split_once("*/").map_or(piece, |(_, code)| code));
    }
    for entry in code.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        if let Some((_, value)) = entry.split_once('=') {
            let value = value.trim();
            next = match value.split_once("<<") {
                Some((one, shift)) => one.trim().parse::<u64>().unwrap() << shift.trim().parse::<u64>().unwrap(),
                None => value.parse().unwrap(),
            };
        }
        found.push(next);
        next += 1;
    }
    found
}

/// The value of a constant in the header.
fn constant(name: &str) -> usize {
    let line = HEADER.lines().find_map(|line| line.strip_prefix(&format!("#define {name} "))).unwrap();
    line.trim().parse().unwrap()
}

#[test]
fn every_number_of_the_header_is_in_the_mirror() {
    macro_rules! of {
        ($Enum:ty) => {
            <$Enum>::ALL.iter().map(|value| *value as u64).collect::<Vec<_>>()
        };
    }
    // The last of these says how many there are.
    let with_end = |mut values: Vec<u64>| {
        values.push(values.last().unwrap() + 1);
        values
    };
    assert_eq!(values("enum nash_kind {"), with_end(of!(Kind)));
    assert_eq!(values("enum nash_count {"), with_end(of!(Count)));
    assert_eq!(values("enum nash_call {"), with_end(of!(Call)));
    assert_eq!(values("enum nash_mutation {"), of!(Change));
    assert_eq!(values("enum nash_via {"), of!(Via));
    assert_eq!(values("enum nash_form {"), of!(Form));
    assert_eq!(values("enum nash_image_kind {"), of!(ImageKind));
    let flags = [
        flag::FILE_UNLINKED,
        flag::FILE_DETACHED,
        flag::CALL_32BIT,
        flag::ARGV_CUT,
        flag::EXEC_PRESERVED,
        flag::EXEC_NASH,
        flag::ARGV_UNREAD,
        flag::EXEC_SCRIPT,
    ];
    assert_eq!(values("enum nash_flag {"), flags.map(u64::from));
    assert_eq!(constant("NASH_ABI_VERSION"), usize::from(abi::ABI_VERSION));
    assert_eq!(constant("NASH_CALLS"), abi::CALLS);
    assert_eq!((abi::KINDS, abi::COUNTS, abi::SPANS), (Kind::ALL.len() + 1, Count::ALL.len(), 4));
}
