//! The contract with the probes as Rust reads it: the mirror of `probes/abi/nash_abi.h`.
//!
//! Every structure has the layout of the C one, which a test compares by the object's BTF. Bytes are looked at where they
//! lie and never trusted: what is no record is an error. What a record means is `decode`'s business.

#[cfg(test)]
pub(crate) mod draft;
mod numbers;

pub use numbers::{Call, Change, Count, Form, ImageKind, Kind, Via, flag, span};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The version of the contract that this mirror speaks: `NASH_ABI_VERSION`.
pub const ABI_VERSION: u16 = 1;

/// How many spans a record has: `NASH_SPANS`.
pub const SPANS: usize = 4;

/// How many kinds there are, one more than the highest number: `NASH_KINDS`.
pub const KINDS: usize = 13;

/// How many counters a kind has: `NASH_COUNTS`.
pub const COUNTS: usize = 4;

/// System calls have numbers below this: `NASH_CALLS`.
pub const CALLS: usize = 512;

/// Length of the body of a record in bytes: the longest of its structures.
pub const BODY_BYTES: usize = 64;

/// `struct nash_span`: one piece of a record's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Span {
    /// Its length.
    pub bytes: u16,
    /// A [`Form`].
    pub form: u8,
    /// 1 where bytes are missing: at the beginning of a walk, at the end of a text.
    pub cut: u8,
}

/// `struct nash_record` up to its body: who did it, when, and how its text is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Head {
    /// Length of the whole record with its text.
    pub size: u32,
    /// [`ABI_VERSION`].
    pub abi: u16,
    /// A [`Kind`].
    pub kind: u16,
    /// `CLOCK_BOOTTIME` in nanoseconds.
    pub boot_ns: u64,
    /// When the process started, on the same clock.
    pub start_ns: u64,
    /// When the watched shell started, on the same clock.
    pub root_start_ns: u64,
    /// The control group's number.
    pub cgroup: u64,
    /// The process.
    pub tgid: u32,
    /// The thread.
    pub tid: u32,
    /// The watched shell; 0 for a process outside every session.
    pub root_tgid: u32,
    /// The process in its own pid namespace.
    pub ns_tgid: u32,
    /// That namespace's inode.
    pub pid_ns: u32,
    /// The parent.
    pub ppid: u32,
    /// The real user.
    pub uid: u32,
    /// Of [`flag`].
    pub flags: u32,
    /// The thread's name, with NULs behind it.
    pub comm: [u8; 16],
    /// The pieces of the text that follows the body.
    pub span: [Span; SPANS],
}

/// `struct nash_fork`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Fork {
    /// When the child started.
    pub child_start_ns: u64,
    /// The child.
    pub child_tgid: u32,
    /// The child in its own pid namespace.
    pub child_ns_tgid: u32,
    /// That namespace's inode.
    pub child_pid_ns: u32,
    /// Nothing.
    pub unused: u32,
}

/// `struct nash_file`: a file, and what was done with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct File {
    /// The call's result.
    pub result: i64,
    /// The file's inode.
    pub ino: u64,
    /// The call's flags.
    pub flags: u64,
    /// The size that a change sets.
    pub size: u64,
    /// The file's device as the kernel writes it: the major number above 20 bits of the minor one.
    pub dev: u32,
    /// The mount.
    pub mount_id: i32,
    /// The mode that the call names.
    pub mode: u32,
    /// A [`Via`] of an open, a [`Change`] of a change, the number of arguments of an exec.
    pub what: u32,
    /// The owner that a change sets, or who an exec runs as.
    pub uid: u32,
    /// The group that a change sets, or whose an exec runs as.
    pub gid: u32,
    /// The effective user of an exec.
    pub euid: u32,
    /// The effective group of an exec.
    pub egid: u32,
}

/// `struct nash_exit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Exit {
    /// As `wait` tells it.
    pub status: u32,
    /// Nothing.
    pub unused: u32,
}

/// `struct nash_socket`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Socket {
    /// The call's result.
    pub result: i64,
    /// The address's family.
    pub family: u16,
    /// The port, in the order of the host.
    pub port: u16,
    /// Nothing.
    pub unused: u32,
    /// The address, in the order of the network.
    pub address: [u8; 16],
}

/// `struct nash_reach`: one process reaches for another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Reach {
    /// The call's result.
    pub result: i64,
    /// The request's or the signal's number.
    pub request: i64,
    /// When the other process started; 0 where it is not known.
    pub target_start_ns: u64,
    /// The other process: by the host's count where its start is known, else as the caller named it.
    pub target: u32,
    /// A [`Call`].
    pub call: u32,
}

/// `struct nash_space`: namespaces, mounts and files in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Space {
    /// The call's result.
    pub result: i64,
    /// The call's flags.
    pub flags: u64,
    /// A [`Call`].
    pub call: u32,
    /// Nothing.
    pub unused: u32,
}

/// `struct nash_process`: a watched process, in the table by its thread group's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Process {
    /// When the watched shell started.
    pub root_start_ns: u64,
    /// The watched shell; 0 where the first nash that the process executes opens a session.
    pub root_tgid: u32,
    /// The process in its own pid namespace.
    pub ns_tgid: u32,
    /// That namespace's inode.
    pub pid_ns: u32,
    /// Nothing.
    pub unused: u32,
}

/// `struct nash_image`: a file by which its execution is recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Image {
    /// Its inode.
    pub ino: u64,
    /// Its device as the kernel writes it.
    pub dev: u32,
    /// Nothing.
    pub unused: u32,
}

/// One record of a ring, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Who, when, and what kind.
    pub head: Head,
    /// What it is about.
    pub kind: Kind,
    body: &'a [u8],
    pieces: [Piece<'a>; SPANS],
}

/// One piece of a record's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The text.
    pub bytes: &'a [u8],
    /// How it is to be read; `None` where there is no such piece.
    pub form: Option<Form>,
    /// Whether bytes are missing.
    pub is_cut: bool,
}

/// Why bytes are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// There are fewer bytes than every record has, or than it says that it has.
    #[error("{found} bytes, of a record of {expected}")]
    Short {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The probes speak another version of the contract.
    #[error("version {0} of the contract, expected {ABI_VERSION}")]
    Version(u16),
    /// The kind is not one of ours.
    #[error("unknown kind {0}")]
    Kind(u16),
    /// The pieces of text are longer than the record.
    #[error("the texts are longer than the record")]
    Spans,
}

impl<'a> Record<'a> {
    /// Takes one record apart. Bytes behind it are not looked at: rings round lengths up.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, RecordError> {
        let fixed = size_of::<Head>() + BODY_BYTES;
        let short = |expected| RecordError::Short { found: bytes.len(), expected };
        let (head, rest) = Head::read_from_prefix(bytes).map_err(|_| short(fixed))?;
        if head.abi != ABI_VERSION {
            return Err(RecordError::Version(head.abi));
        }
        let kind = Kind::from_number(head.kind).ok_or(RecordError::Kind(head.kind))?;
        let size = head.size as usize;
        if size < fixed || size > bytes.len() {
            return Err(short(size.max(fixed)));
        }
        let (body, mut text) = rest[..size - size_of::<Head>()].split_at(BODY_BYTES);
        let mut pieces = [Piece::default(); SPANS];
        for (piece, span) in pieces.iter_mut().zip(head.span) {
            let bytes;
            (bytes, text) = text.split_at_checked(usize::from(span.bytes)).ok_or(RecordError::Spans)?;
            let form = Form::from_number(span.form).filter(|form| *form != Form::None);
            *piece = Piece { bytes, form, is_cut: span.cut != 0 };
        }
        Ok(Self { head, kind, body, pieces })
    }

    /// One of the pieces: see [`span`].
    pub fn piece(&self, span: usize) -> Piece<'a> {
        self.pieces.get(span).copied().unwrap_or_default()
    }

    /// The body as the structure that the kind says.
    pub fn body<T: FromBytes + Default>(&self) -> T {
        // A body has the bytes of the longest structure, so that there is always enough.
        T::read_from_prefix(self.body).map(|(body, _)| body).unwrap_or_default()
    }

    /// Whether all of these flags are set.
    pub fn has(&self, flags: u32) -> bool {
        self.head.flags & flags == flags
    }
}

const _: () = {
    assert!(size_of::<Head>() == 104, "the head of a record");
    assert!(size_of::<File>() == BODY_BYTES, "the longest body");
};
