/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * The contract between the probes and user space: maps, their keys, and every byte that a ring carries.
 *
 * Nothing here knows how a fact is found. The Rust mirror is nash-ebpf/src/abi.rs; a test compares both by this object's BTF,
 * so a change here is a change there and of NASH_ABI_VERSION.
 */
#ifndef NASH_ABI_H
#define NASH_ABI_H

#include <linux/types.h>

#define NASH_ABI_VERSION 1

/* Longest path that is walked, in bytes with one NUL after each name; PATH_MAX of the kernel. */
#define NASH_PATH_BYTES 4096
/* Deepest path that is walked, in names and mounts. */
#define NASH_PATH_STEPS 256
/* Longest name in a directory, with its NUL. */
#define NASH_NAME_BYTES 256
/* Bytes of arguments that an exec carries; more is cut and said to be. */
#define NASH_ARGV_BYTES 8192
/* Room for all texts of a record: paths, a requested name, arguments. */
#define NASH_TEXT_BYTES 16384
/* System calls have numbers below this; what is above has no class. */
#define NASH_CALLS 512

enum nash_kind {
	NASH_FORK = 1,
	NASH_EXEC,
	NASH_EXIT,
	NASH_OPEN,
	NASH_MUTATION,
	NASH_CONNECT,
	NASH_BIND,
	NASH_PTRACE,
	NASH_KILL,
	NASH_NAMESPACE,
	NASH_MOUNT,
	NASH_MEMFD,
	NASH_KINDS,
};

/* What happened to the events of a kind: every one is seen, and then delivered or counted under a reason. */
enum nash_count {
	NASH_SEEN = 0,
	/* The ring had no room. */
	NASH_RING_FULL,
	/* The buffer that a record is put together in could not be had. */
	NASH_NO_BUFFER,
	/* A new process found no room in the table of watched processes: it and its descendants are not seen. */
	NASH_TABLE_FULL,
	NASH_COUNTS,
};

/* What a system call is to the probes; user space fills the tables, so that no number of a call stands in C. */
enum nash_call {
	NASH_CALL_NONE = 0,
	NASH_CALL_OPEN,
	NASH_CALL_OPENAT,
	NASH_CALL_OPENAT2,
	NASH_CALL_CREAT,
	NASH_CALL_OPEN_BY_HANDLE,
	NASH_CALL_UNLINK,
	NASH_CALL_UNLINKAT,
	NASH_CALL_RMDIR,
	NASH_CALL_RENAME,
	NASH_CALL_RENAMEAT,
	NASH_CALL_LINK,
	NASH_CALL_LINKAT,
	NASH_CALL_SYMLINK,
	NASH_CALL_SYMLINKAT,
	NASH_CALL_MKDIR,
	NASH_CALL_MKDIRAT,
	NASH_CALL_MKNOD,
	NASH_CALL_MKNODAT,
	NASH_CALL_TRUNCATE,
	NASH_CALL_FTRUNCATE,
	NASH_CALL_CHMOD,
	NASH_CALL_FCHMOD,
	NASH_CALL_FCHMODAT,
	NASH_CALL_CHOWN,
	NASH_CALL_FCHOWN,
	NASH_CALL_FCHOWNAT,
	NASH_CALL_CONNECT,
	NASH_CALL_BIND,
	NASH_CALL_PTRACE,
	NASH_CALL_VM_WRITE,
	NASH_CALL_PIDFD_GETFD,
	NASH_CALL_KILL,
	NASH_CALL_TGKILL,
	NASH_CALL_UNSHARE,
	NASH_CALL_SETNS,
	NASH_CALL_MOUNT,
	NASH_CALL_MOVE_MOUNT,
	NASH_CALL_UMOUNT,
	NASH_CALL_PIVOT_ROOT,
	NASH_CALL_CHROOT,
	NASH_CALL_MEMFD,
	NASH_CALL_EXECVE,
	NASH_CALL_EXECVEAT,
	/* The 32-bit calls whose arguments stand elsewhere than in the native call of the same name. */
	NASH_CALL_SOCKETCALL,
	NASH_CALL_TRUNCATE64,
	NASH_CALL_FTRUNCATE64,
	NASH_CALLS_KNOWN,
};

enum nash_mutation {
	NASH_UNLINK = 1,
	NASH_RENAME,
	NASH_LINK,
	NASH_SYMLINK,
	NASH_MKDIR,
	NASH_MKNOD,
	NASH_RMDIR,
	NASH_TRUNCATE,
	NASH_CHMOD,
	NASH_CHOWN,
};

enum nash_via {
	NASH_VIA_CALL = 0,
	NASH_VIA_IO_URING,
	NASH_VIA_HANDLE,
	/* Seen by a hook on the open itself: there is no descriptor yet. */
	NASH_VIA_HOOK,
};

/* Facts about a record's process or file that are one bit each. */
enum nash_flag {
	/* The executed or opened file has no name left. */
	NASH_FILE_UNLINKED = 1 << 0,
	/* The file never had a name: the walk ended at a name that is its own parent. */
	NASH_FILE_DETACHED = 1 << 1,
	/* The call was one of the 32-bit table. */
	NASH_CALL_32BIT = 1 << 2,
	/* More arguments were there than NASH_ARGV_BYTES hold. */
	NASH_ARGV_CUT = 1 << 3,
	/* The executed file is one of the preserved shells. */
	NASH_EXEC_PRESERVED = 1 << 4,
	/* The executed file is nash. */
	NASH_EXEC_NASH = 1 << 5,
	/* The arguments could not be read. */
	NASH_ARGV_UNREAD = 1 << 6,
	/* The file that runs is an interpreter: what was asked for is a script, or of a registered format. */
	NASH_EXEC_SCRIPT = 1 << 7,
};

/* How the bytes of a span are to be read. */
enum nash_form {
	NASH_FORM_NONE = 0,
	/* Names from the file to the root, each with a NUL after it. */
	NASH_FORM_WALK,
	/* One string as the process or the kernel holds it, without its NUL. */
	NASH_FORM_TEXT,
};

/* One piece of a record's text. The pieces follow the record without gaps, in the order of the spans. */
struct nash_span {
	__u16 bytes;
	__u8 form;
	/* 1 where bytes are missing: at the beginning of a walk, at the end of a text. */
	__u8 cut;
};

enum {
	/* The file's own path, or the place that a named path starts from. */
	NASH_SPAN_PATH = 0,
	/* The name as it was asked for. */
	NASH_SPAN_NAME,
	/* exec: the working directory. Changes: where the second name starts from. mount: the file system's type. */
	NASH_SPAN_SECOND_PATH,
	/* exec: the arguments, a NUL after each. Changes and mounts: the second name. */
	NASH_SPAN_SECOND_NAME,
	NASH_SPANS,
};

struct nash_fork {
	__u64 child_start_ns;
	__u32 child_tgid;
	__u32 child_ns_tgid;
	__u32 child_pid_ns;
	__u32 unused;
};

/* exec, open and changes: a file and what was done with it. */
struct nash_file {
	__s64 result;
	__u64 ino;
	__u64 flags;
	__u64 size;
	__u32 dev;
	__s32 mount_id;
	__u32 mode;
	/* enum nash_via of an open, enum nash_mutation of a change, the number of arguments of an exec. */
	__u32 what;
	/* The owner that a change sets, or who an exec runs as. */
	__u32 uid;
	__u32 gid;
	__u32 euid;
	__u32 egid;
};

struct nash_exit {
	/* As wait(2) tells it. */
	__u32 status;
	__u32 unused;
};

struct nash_socket {
	__s64 result;
	__u16 family;
	/* In the order of the host. */
	__u16 port;
	__u32 unused;
	__u8 address[16];
};

/* ptrace and kill: one process reaches for another. */
struct nash_reach {
	__s64 result;
	__s64 request;
	__u64 target_start_ns;
	/* By the host's count where target_start_ns is known; else as the caller named it. */
	__u32 target;
	/* enum nash_call. */
	__u32 call;
};

/* namespaces, mounts and files in memory. */
struct nash_space {
	__s64 result;
	__u64 flags;
	/* enum nash_call. */
	__u32 call;
	__u32 unused;
};

struct nash_record {
	/* Of the whole record with its text. */
	__u32 size;
	__u16 abi;
	__u16 kind;
	__u64 boot_ns;
	/* start_boottime of the process's first thread. */
	__u64 start_ns;
	__u64 root_start_ns;
	__u64 cgroup;
	__u32 tgid;
	__u32 tid;
	/* 0 for a process outside every session. */
	__u32 root_tgid;
	__u32 ns_tgid;
	__u32 pid_ns;
	__u32 ppid;
	__u32 uid;
	/* enum nash_flag. */
	__u32 flags;
	__u8 comm[16];
	struct nash_span span[NASH_SPANS];
	union {
		struct nash_fork fork;
		struct nash_file file;
		struct nash_exit exit;
		struct nash_socket socket;
		struct nash_reach reach;
		struct nash_space space;
	};
};

/* A watched process, in the table by its thread group's number. */
struct nash_process {
	__u64 root_start_ns;
	/* 0: not in a session, but the first nash that it or a descendant executes opens one. */
	__u32 root_tgid;
	__u32 ns_tgid;
	__u32 pid_ns;
	__u32 unused;
};

/* A file by which its execution is recognised. */
struct nash_image {
	__u64 ino;
	__u32 dev;
	__u32 unused;
};

enum nash_image_kind {
	NASH_IMAGE_NASH = 1,
	NASH_IMAGE_PRESERVED,
};

#endif
