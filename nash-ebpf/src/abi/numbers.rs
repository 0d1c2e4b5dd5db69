//! The numbers of the contract: what each value of a C enumeration says.
//!
//! A number that is not in a list is not known, and stays what it is.

/// Defines the numbers of a C enumeration as an enum with a conversion that knows what it does not know.
macro_rules! numbers {
    ($(#[$attr:meta])* pub enum $Name:ident: $Int:ty { $($(#[$of:meta])* $Variant:ident = $value:literal,)* }) => {
        $(#[$attr])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr($Int)]
        pub enum $Name {
            $($(#[$of])* $Variant = $value,)*
        }

        impl $Name {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),*];

            /// Returns the one with this number, if there is one.
            pub fn from_number(number: $Int) -> Option<Self> {
                match number {
                    $($value => Some(Self::$Variant),)*
                    _ => None,
                }
            }
        }
    };
}

numbers! {
    /// `enum nash_kind`: what a record is about.
    pub enum Kind: u16 {
        /// A process was made.
        Fork = 1,
        /// A process runs another program.
        Exec = 2,
        /// A process ended.
        Exit = 3,
        /// A file was opened, or was not.
        Open = 4,
        /// The file system changed.
        Mutation = 5,
        /// A socket was connected.
        Connect = 6,
        /// A socket was given an address.
        Bind = 7,
        /// A process reached into another.
        Ptrace = 8,
        /// A signal was sent.
        Kill = 9,
        /// A process entered other namespaces.
        Namespace = 10,
        /// The mounts changed.
        Mount = 11,
        /// A file in memory was made.
        Memfd = 12,
    }
}

numbers! {
    /// `enum nash_count`: what happened to the events of a kind.
    pub enum Count: u32 {
        /// All of them.
        Seen = 0,
        /// The ring had no room.
        RingFull = 1,
        /// The buffer that a record is put together in could not be had.
        NoBuffer = 2,
        /// A new process found no room in the table of watched processes.
        TableFull = 3,
    }
}

numbers! {
    /// `enum nash_call`: what a system call is to the probes.
    pub enum Call: u32 {
        /// No call that the probes look at.
        None = 0,
        /// `open`.
        Open = 1,
        /// `openat`.
        Openat = 2,
        /// `openat2`.
        Openat2 = 3,
        /// `creat`.
        Creat = 4,
        /// `open_by_handle_at`.
        OpenByHandle = 5,
        /// `unlink`.
        Unlink = 6,
        /// `unlinkat`.
        Unlinkat = 7,
        /// `rmdir`.
        Rmdir = 8,
        /// `rename`.
        Rename = 9,
        /// `renameat` and `renameat2`.
        Renameat = 10,
        /// `link`.
        Link = 11,
        /// `linkat`.
        Linkat = 12,
        /// `symlink`.
        Symlink = 13,
        /// `symlinkat`.
        Symlinkat = 14,
        /// `mkdir`.
        Mkdir = 15,
        /// `mkdirat`.
        Mkdirat = 16,
        /// `mknod`.
        Mknod = 17,
        /// `mknodat`.
        Mknodat = 18,
        /// `truncate`.
        Truncate = 19,
        /// `ftruncate`.
        Ftruncate = 20,
        /// `chmod`.
        Chmod = 21,
        /// `fchmod`.
        Fchmod = 22,
        /// `fchmodat` and `fchmodat2`.
        Fchmodat = 23,
        /// `chown` and `lchown`.
        Chown = 24,
        /// `fchown`.
        Fchown = 25,
        /// `fchownat`.
        Fchownat = 26,
        /// `connect`.
        Connect = 27,
        /// `bind`.
        Bind = 28,
        /// `ptrace`.
        Ptrace = 29,
        /// `process_vm_writev`.
        VmWrite = 30,
        /// `pidfd_getfd`.
        PidfdGetfd = 31,
        /// `kill`.
        Kill = 32,
        /// `tkill` and `tgkill`.
        Tgkill = 33,
        /// `unshare`.
        Unshare = 34,
        /// `setns`.
        Setns = 35,
        /// `mount`.
        Mount = 36,
        /// `move_mount`.
        MoveMount = 37,
        /// `umount2`.
        Umount = 38,
        /// `pivot_root`.
        PivotRoot = 39,
        /// `chroot`.
        Chroot = 40,
        /// `memfd_create`.
        Memfd = 41,
        /// `execve`.
        Execve = 42,
        /// `execveat`.
        Execveat = 43,
        /// The 32-bit `socketcall`.
        Socketcall = 44,
        /// The 32-bit `truncate64`.
        Truncate64 = 45,
        /// The 32-bit `ftruncate64`.
        Ftruncate64 = 46,
    }
}

numbers! {
    /// `enum nash_mutation`: which change to the file system.
    pub enum Change: u32 {
        /// A name was removed.
        Unlink = 1,
        /// A name was changed.
        Rename = 2,
        /// A hard link was made.
        Link = 3,
        /// A symbolic link was made.
        Symlink = 4,
        /// A directory was made.
        Mkdir = 5,
        /// A node was made.
        Mknod = 6,
        /// A directory was removed.
        Rmdir = 7,
        /// A file was cut or extended.
        Truncate = 8,
        /// A mode was changed.
        Chmod = 9,
        /// An owner was changed.
        Chown = 10,
    }
}

numbers! {
    /// `enum nash_via`: how a file was opened.
    pub enum Via: u32 {
        /// By a call of the `open` family.
        Call = 0,
        /// By `io_uring`.
        IoUring = 1,
        /// By `open_by_handle_at`.
        Handle = 2,
        /// Seen by a hook on the open itself.
        Hook = 3,
    }
}

numbers! {
    /// `enum nash_form`: how the bytes of a span are to be read.
    pub enum Form: u8 {
        /// There are none.
        None = 0,
        /// Names from the file to the root, a NUL after each.
        Walk = 1,
        /// One string without its NUL.
        Text = 2,
    }
}

numbers! {
    /// `enum nash_image_kind`: what a recognised file is.
    pub enum ImageKind: u32 {
        /// nash: who executes it opens a session.
        Nash = 1,
        /// A preserved shell: whoever executes it is told of.
        Preserved = 2,
    }
}

/// `enum nash_flag`: facts of one bit.
pub mod flag {
    /// The file has no name left.
    pub const FILE_UNLINKED: u32 = 1 << 0;
    /// The file never had a name.
    pub const FILE_DETACHED: u32 = 1 << 1;
    /// The call was one of the 32-bit table.
    pub const CALL_32BIT: u32 = 1 << 2;
    /// More arguments were there than the record holds.
    pub const ARGV_CUT: u32 = 1 << 3;
    /// The executed file is one of the preserved shells.
    pub const EXEC_PRESERVED: u32 = 1 << 4;
    /// The executed file is nash.
    pub const EXEC_NASH: u32 = 1 << 5;
    /// The arguments could not be read.
    pub const ARGV_UNREAD: u32 = 1 << 6;
    /// The file that runs is an interpreter of what was asked for.
    pub const EXEC_SCRIPT: u32 = 1 << 7;
}

/// `NASH_SPAN_…`: what each span of a record is.
pub mod span {
    /// The file's own path, or the place that a named path starts from.
    pub const PATH: usize = 0;
    /// The name as it was asked for.
    pub const NAME: usize = 1;
    /// exec: the working directory. Changes: where the second name starts from. mount: the file system's type.
    pub const SECOND_PATH: usize = 2;
    /// exec: the arguments. Changes and mounts: the second name.
    pub const SECOND_NAME: usize = 3;
}
