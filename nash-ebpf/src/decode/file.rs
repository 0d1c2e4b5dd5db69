//! Events about files, sockets and the places that paths start from.
//!
//! Flags, modes and results stay the kernel's numbers.

use std::net::{Ipv4Addr, Ipv6Addr};

use nash_events::kernel::{
    Connect, KernelEventKind, Memfd, Mount, Mutation, MutationOp, Namespace, Open, OpenVia, PathSource,
};

use super::known;
use super::path::{Masks, Named, named, path};
use crate::abi::{self, Call, Change, Record, Via, span};
use crate::kernel::stat_device;

/// `AF_UNIX`, `AF_INET` and `AF_INET6` of Linux.
const AF_UNIX: u16 = 1;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;

/// The owner that `chown` leaves as it is: -1.
const UNCHANGED: u32 = u32::MAX;

pub(super) fn open(record: &Record<'_>) -> KernelEventKind {
    let file: abi::File = record.body();
    let via = Via::from_number(file.what);
    let mut masks = Masks::default();
    let place = named(record.piece(span::PATH), record.piece(span::NAME));
    let is_open = file.ino != 0;
    KernelEventKind::Open(Box::new(Open {
        path_source: place.as_ref().map(Named::source),
        path_truncated: place.as_ref().is_some_and(|place| place.is_cut),
        path: place.map(|place| masks.text(&place.bytes)),
        flags: Some(file.flags),
        mode: known(file.mode),
        // A hook on the open itself comes before there is a descriptor.
        result: (via != Some(Via::Hook)).then_some(file.result),
        dev: is_open.then(|| stat_device(file.dev)),
        ino: known(file.ino),
        mount_id: if is_open { u64::try_from(file.mount_id).ok() } else { None },
        via: match via {
            Some(Via::IoUring) => Some(OpenVia::IoUring),
            Some(Via::Handle) => Some(OpenVia::Handle),
            _ => None,
        },
        redacted: masks.into_rules(),
    }))
}

pub(super) fn mutation(record: &Record<'_>) -> KernelEventKind {
    let file: abi::File = record.body();
    let change = Change::from_number(file.what);
    let mut masks = Masks::default();
    let old = named(record.piece(span::PATH), record.piece(span::NAME));
    let new = named(record.piece(span::SECOND_PATH), record.piece(span::SECOND_NAME));
    let source = [&old, &new]
        .into_iter()
        .flatten()
        .map(Named::source)
        .reduce(|one, other| if other == PathSource::User { other } else { one });
    let owner = |id: u32| (change == Some(Change::Chown) && id != UNCHANGED).then_some(id);
    let has_mode = matches!(change, Some(Change::Chmod | Change::Mkdir | Change::Mknod));
    KernelEventKind::Mutation(Box::new(Mutation {
        op: match change {
            Some(Change::Unlink) | None => MutationOp::Unlink,
            Some(Change::Rename) => MutationOp::Rename,
            Some(Change::Link) => MutationOp::Link,
            Some(Change::Symlink) => MutationOp::Symlink,
            Some(Change::Mkdir) => MutationOp::Mkdir,
            Some(Change::Mknod) => MutationOp::Mknod,
            Some(Change::Rmdir) => MutationOp::Rmdir,
            Some(Change::Truncate) => MutationOp::Truncate,
            Some(Change::Chmod) => MutationOp::Chmod,
            Some(Change::Chown) => MutationOp::Chown,
        },
        path: old.map(|old| masks.text(&old.bytes)),
        new_path: new.map(|new| masks.text(&new.bytes)),
        path_source: source,
        mode: has_mode.then_some(file.mode),
        new_uid: owner(file.uid),
        new_gid: owner(file.gid),
        size: (change == Some(Change::Truncate)).then_some(file.size),
        dev: known(file.ino).map(|_| stat_device(file.dev)),
        ino: known(file.ino),
        result: Some(file.result),
        redacted: masks.into_rules(),
    }))
}

pub(super) fn socket(record: &Record<'_>) -> Connect {
    let socket: abi::Socket = record.body();
    let name = record.piece(span::NAME);
    let mut connect = Connect { result: Some(socket.result), ..Connect::default() };
    match socket.family {
        AF_INET => {
            let [a, b, c, d, ..] = socket.address;
            "inet".clone_into(&mut connect.family);
            connect.address = Some(Ipv4Addr::new(a, b, c, d).to_string());
            connect.port = Some(socket.port);
        }
        AF_INET6 => {
            "inet6".clone_into(&mut connect.family);
            connect.address = Some(Ipv6Addr::from(socket.address).to_string());
            connect.port = Some(socket.port);
        }
        AF_UNIX => {
            "unix".clone_into(&mut connect.family);
            let bytes = unix_name(name.bytes);
            connect.path = (!bytes.is_empty()).then(|| Masks::default().text(bytes));
        }
        family => connect.family = family.to_string(),
    }
    connect
}

pub(super) fn namespace(record: &Record<'_>) -> KernelEventKind {
    let space: abi::Space = record.body();
    KernelEventKind::Namespace(Namespace {
        via: call_name(space.call).to_owned(),
        flags: Some(space.flags),
        result: Some(space.result),
    })
}

pub(super) fn mount(record: &Record<'_>) -> KernelEventKind {
    let space: abi::Space = record.body();
    let mut masks = Masks::default();
    let place = named(record.piece(span::PATH), record.piece(span::NAME));
    let fs_type = record.piece(span::SECOND_PATH).bytes;
    let has_flags = !matches!(Call::from_number(space.call), Some(Call::PivotRoot | Call::Chroot));
    KernelEventKind::Mount(Box::new(Mount {
        via: call_name(space.call).to_owned(),
        path: place.map(|place| masks.text(&place.bytes)),
        from: path(record.piece(span::SECOND_NAME)).map(|from| masks.text(&from.bytes)),
        fs_type: (!fs_type.is_empty()).then(|| masks.text(fs_type).to_text().into_owned()),
        flags: has_flags.then_some(space.flags),
        result: Some(space.result),
    }))
}

pub(super) fn memfd(record: &Record<'_>) -> KernelEventKind {
    let space: abi::Space = record.body();
    KernelEventKind::Memfd(Memfd {
        path: path(record.piece(span::NAME)).map(|name| Masks::default().text(&name.bytes)),
        flags: Some(space.flags),
        result: Some(space.result),
    })
}

/// The name of a unix socket: a path ends at its NUL, an abstract name begins with one.
fn unix_name(bytes: &[u8]) -> &[u8] {
    if bytes.first() == Some(&0) {
        return bytes;
    }
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn call_name(call: u32) -> &'static str {
    match Call::from_number(call) {
        Some(Call::Unshare) => "unshare",
        Some(Call::Setns) => "setns",
        Some(Call::Mount) => "mount",
        Some(Call::MoveMount) => "move_mount",
        Some(Call::Umount) => "umount",
        Some(Call::PivotRoot) => "pivot_root",
        Some(Call::Chroot) => "chroot",
        _ => "unknown",
    }
}
