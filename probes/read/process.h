/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Facts about processes and their files.
 *
 * Reads only; the table of watched processes is kept by the programs.
 */
#ifndef NASH_PROCESS_H
#define NASH_PROCESS_H

#include "../abi/maps.h"
#include "kernel.h"

#define AT_FDCWD -100

/* The entry of a watched process that is in a session, or NULL. */
static __always_inline struct nash_process *in_session(__u32 tgid)
{
	struct nash_process *process = bpf_map_lookup_elem(&processes, &tgid);

	return process && process->root_tgid ? process : NULL;
}

/* Notes under which number a process knows itself, and in which namespace. */
static __always_inline void read_namespace(struct nash_process *process, struct task_struct *task)
{
	/* Read as a number, not followed as a pointer: before Linux 6.2 nothing that varies may be added to one. */
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	struct pid_namespace *namespace;
	struct upid *number;
	__u32 level;

	level = BPF_CORE_READ(pid, level);
	/* MAX_PID_NS_LEVEL of the kernel is 32. */
	if (level > 32)
		return;
	number = (struct upid *)((char *)pid + bpf_core_field_offset(struct pid, numbers) + level * bpf_core_type_size(struct upid));
	process->ns_tgid = BPF_CORE_READ(number, nr);
	namespace = BPF_CORE_READ(number, ns);
	process->pid_ns = BPF_CORE_READ(namespace, ns.inum);
}

/* The open file behind a descriptor of the current process, or NULL. */
static __always_inline struct file *file_of(struct task_struct *task, int descriptor)
{
	struct fdtable *table = task->files->fdt;
	struct file *file = NULL;
	struct file **files;

	if (descriptor < 0 || (__u32)descriptor >= table->max_fds)
		return NULL;
	files = table->fd;
	bpf_probe_read_kernel(&file, sizeof(file), files + descriptor);
	return file;
}

/* linux/magic.h */
#define ANON_INODE_FS_MAGIC 0x09041934
#define PID_FS_MAGIC 0x50494446

/* The process that a descriptor of the current one is a handle of, while it lives; or NULL. Since Linux 6.9 handles have a file
 * system of their own; before, whoever asks must know that it is a handle. */
static __always_inline struct task_struct *process_behind(struct task_struct *task, int descriptor)
{
	struct file *file = file_of(task, descriptor);
	struct hlist_node *link;
	unsigned long magic;
	struct pid *pid;

	if (!file)
		return NULL;
	magic = BPF_CORE_READ(file, f_inode, i_sb, s_magic);
	if (magic == PID_FS_MAGIC)
		pid = BPF_CORE_READ(file, f_inode, i_private);
	else if (magic == ANON_INODE_FS_MAGIC)
		pid = BPF_CORE_READ(file, private_data);
	else
		return NULL;
	link = BPF_CORE_READ(pid, tasks[0].first);
	if (!link)
		return NULL;
	return BPF_CORE_READ((struct task_struct *)((char *)link - bpf_core_field_offset(struct task_struct, pid_links)), group_leader);
}

/* Fills in which file it is, on which mount; its path is another matter. */
static __always_inline void read_file(struct nash_record *record, struct file *file, struct vfsmount *vfsmount)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct mount *mount = (struct mount *)((char *)vfsmount - bpf_core_field_offset(struct mount, mnt));

	record->file.ino = BPF_CORE_READ(inode, i_ino);
	record->file.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	record->file.mount_id = BPF_CORE_READ(mount, mnt_id);
	if (!BPF_CORE_READ(inode, i_nlink))
		record->flags |= NASH_FILE_UNLINKED;
}

#endif
