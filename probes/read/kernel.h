/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * The fields of the kernel's structures that the probes read, and no others.
 *
 * preserve_access_index makes every offset the running kernel's own when the object is loaded. Nothing here reads anything.
 */
#ifndef NASH_KERNEL_H
#define NASH_KERNEL_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define RELOCATED __attribute__((preserve_access_index))

typedef struct {
	__u32 val;
} RELOCATED kuid_t;

typedef struct {
	__u32 val;
} RELOCATED kgid_t;

struct qstr {
	const unsigned char *name;
} RELOCATED;

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
} RELOCATED;

struct inode {
	__u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	const unsigned int i_nlink;
	void *i_private;
} RELOCATED;

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
} RELOCATED;

struct vfsmount {
	struct dentry *mnt_root;
} RELOCATED;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	int mnt_id;
} RELOCATED;

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} RELOCATED;

struct file {
	struct path f_path;
	struct inode *f_inode;
	unsigned int f_flags;
	void *private_data;
} RELOCATED;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} RELOCATED;

struct files_struct {
	struct fdtable *fdt;
} RELOCATED;

struct fs_struct {
	struct path root;
	struct path pwd;
} RELOCATED;

struct mm_struct {
	unsigned long arg_start;
	unsigned long arg_end;
} RELOCATED;

struct ns_common {
	unsigned int inum;
} RELOCATED;

struct pid_namespace {
	struct ns_common ns;
} RELOCATED;

struct upid {
	int nr;
	struct pid_namespace *ns;
} RELOCATED;

struct hlist_node {
	struct hlist_node *next;
} RELOCATED;

struct hlist_head {
	struct hlist_node *first;
} RELOCATED;

/* One list, and one link, for each of the things that a number can be of: PIDTYPE_PID is the first. */
struct pid {
	unsigned int level;
	struct hlist_head tasks[4];
	struct upid numbers[1];
} RELOCATED;

typedef struct {
	int counter;
} RELOCATED atomic_t;

struct signal_struct {
	atomic_t live;
	int group_exit_code;
	unsigned int flags;
} RELOCATED;

struct cred {
	kuid_t uid;
	kgid_t gid;
	kuid_t euid;
	kgid_t egid;
} RELOCATED;

struct thread_info {
	__u32 status;
} RELOCATED;

struct task_struct {
	struct thread_info thread_info;
	int pid;
	int tgid;
	int exit_code;
	__u64 start_boottime;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct hlist_node pid_links[4];
	const struct cred *cred;
	struct files_struct *files;
	struct fs_struct *fs;
	struct mm_struct *mm;
	struct signal_struct *signal;
	char comm[16];
} RELOCATED;

struct linux_binprm {
	struct file *file;
	const char *filename;
	const char *interp;
	int argc;
} RELOCATED;

struct kernel_siginfo {
	int si_code;
} RELOCATED;

struct io_uring_cqe {
	__s32 res;
} RELOCATED;

struct io_kiocb {
	__u8 opcode;
} RELOCATED;

/* What a request to open keeps in io_kiocb.cmd, which is at its beginning. */
struct io_open {
	__u32 file_slot;
} RELOCATED;

struct pt_regs {
	unsigned long r10, r9, r8, bp, bx, cx, dx, si, di, orig_ax;
} RELOCATED;

#endif
