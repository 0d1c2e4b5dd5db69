/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Processes begin, execute and end; the table of watched processes follows them.
 *
 * Threads are no events: a process is its thread group. What a process does meanwhile is told elsewhere.
 */
#ifndef NASH_LIFE_H
#define NASH_LIFE_H

#include "../emit/emit.h"
#include "../read/process.h"
#include "../read/text.h"

/* SIGNAL_GROUP_EXIT of linux/sched/signal.h: the status is the group's, not the thread's. */
#define GROUP_EXIT 0x00000004

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct nash_process *process, inherited;
	__u32 parent_tgid = parent->tgid;
	__u32 child_tgid = child->tgid;
	struct draft *draft;

	if (child->pid != child->tgid)
		return 0;
	process = bpf_map_lookup_elem(&processes, &parent_tgid);
	if (!process)
		return 0;
	inherited = *process;
	read_namespace(&inherited, child);
	if (bpf_map_update_elem(&processes, &child_tgid, &inherited, BPF_ANY))
		count(NASH_FORK, NASH_TABLE_FULL);
	if (!process->root_tgid)
		return 0;
	draft = begin(DRAFT_LIFE, NASH_FORK, parent, process);
	if (!draft)
		return 0;
	draft->record.fork.child_start_ns = child->start_boottime;
	draft->record.fork.child_tgid = child_tgid;
	draft->record.fork.child_ns_tgid = inherited.ns_tgid;
	draft->record.fork.child_pid_ns = inherited.pid_ns;
	end(&life_ring, draft, 0);
	return 0;
}

/* Makes the process that executes nash the root of a session, if it is in none and may open one; its entry, if it has one. */
static __always_inline struct nash_process *enter_session(struct task_struct *task, struct nash_process *process)
{
	struct nash_process root = {};
	__u32 tgid = task->tgid;

	if (process && process->root_tgid)
		return process;
	if (!process && !every_shell)
		return NULL;
	read_namespace(&root, task);
	root.root_tgid = tgid;
	root.root_start_ns = task->group_leader->start_boottime;
	if (bpf_map_update_elem(&processes, &tgid, &root, BPF_ANY)) {
		count(NASH_EXEC, NASH_TABLE_FULL);
		return NULL;
	}
	return bpf_map_lookup_elem(&processes, &tgid);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task, int old_pid, struct linux_binprm *program)
{
	struct nash_image image = {};
	struct file *file = program->file;
	struct inode *inode = file->f_inode;
	struct nash_process *process;
	__u32 tgid = task->tgid;
	struct draft *draft;
	__u32 at = 0;
	__u32 *kind;

	image.ino = inode->i_ino;
	image.dev = inode->i_sb->s_dev;
	kind = bpf_map_lookup_elem(&images, &image);
	process = bpf_map_lookup_elem(&processes, &tgid);
	if (kind && *kind == NASH_IMAGE_NASH)
		process = enter_session(task, process);
	if ((!process || !process->root_tgid) && !(kind && *kind == NASH_IMAGE_PRESERVED))
		return 0;
	draft = begin(DRAFT_LIFE, NASH_EXEC, task, process && process->root_tgid ? process : NULL);
	if (!draft)
		return 0;
	if (kind)
		draft->record.flags |= *kind == NASH_IMAGE_NASH ? NASH_EXEC_NASH : NASH_EXEC_PRESERVED;
	/* Both are one string until an interpreter takes over. */
	if (program->interp != program->filename)
		draft->record.flags |= NASH_EXEC_SCRIPT;
	read_file(&draft->record, file, file->f_path.mnt);
	draft->record.file.what = program->argc;
	draft->record.file.uid = task->cred->uid.val;
	draft->record.file.gid = task->cred->gid.val;
	draft->record.file.euid = task->cred->euid.val;
	draft->record.file.egid = task->cred->egid.val;
	at += put_walk(DRAFT_LIFE, at, file->f_path.mnt, file->f_path.dentry, NASH_SPAN_PATH);
	at += put_string(DRAFT_LIFE, at, program->filename, 0, NASH_SPAN_NAME);
	at += put_walk(DRAFT_LIFE, at, task->fs->pwd.mnt, task->fs->pwd.dentry, NASH_SPAN_SECOND_PATH);
	at += put_arguments(DRAFT_LIFE, at, task->mm->arg_start, task->mm->arg_end);
	end(&life_ring, draft, at);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	struct signal_struct *signal = task->signal;
	struct nash_process *process, entry;
	__u32 tgid = task->tgid;
	struct draft *draft;

	process = bpf_map_lookup_elem(&processes, &tgid);
	if (!process || signal->live.counter > 0)
		return 0;
	entry = *process;
	bpf_map_delete_elem(&processes, &tgid);
	if (!entry.root_tgid)
		return 0;
	draft = begin(DRAFT_LIFE, NASH_EXIT, task, &entry);
	if (!draft)
		return 0;
	draft->record.exit.status = signal->flags & GROUP_EXIT ? signal->group_exit_code : task->group_leader->exit_code;
	end(&life_ring, draft, 0);
	return 0;
}

#endif
