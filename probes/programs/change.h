/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Names, modes, owners and sizes that change.
 *
 * A changed name can't be looked up any more when the call ends, so names are the process's own; where they start from is the
 * kernel's. Changes by descriptor have the kernel's path.
 */
#ifndef NASH_CHANGE_H
#define NASH_CHANGE_H

#include "../emit/emit.h"
#include "../read/call.h"
#include "../read/process.h"
#include "../read/text.h"

/* AT_REMOVEDIR of linux/fcntl.h. */
#define REMOVES_A_DIRECTORY 0x200

struct change {
	const void *name;
	const void *second_name;
	int directory;
	int second_directory;
	/* The descriptor of the changed file, or -1. */
	int descriptor;
	/* The first name is a text, not a path to look up: what a symbolic link holds. */
	__u32 is_text;
};

static __always_inline void names_of(struct change *change, const struct call *call)
{
	const __u64 *argument = call->argument;

	change->directory = AT_FDCWD;
	change->second_directory = AT_FDCWD;
	change->descriptor = -1;
	switch (call->which) {
	case NASH_CALL_RENAME:
	case NASH_CALL_LINK:
		change->second_name = (void *)argument[1];
		break;
	case NASH_CALL_RENAMEAT:
	case NASH_CALL_LINKAT:
		change->directory = argument[0];
		change->name = (void *)argument[1];
		change->second_directory = argument[2];
		change->second_name = (void *)argument[3];
		return;
	case NASH_CALL_SYMLINK:
		change->is_text = 1;
		change->second_name = (void *)argument[1];
		break;
	case NASH_CALL_SYMLINKAT:
		change->is_text = 1;
		change->second_directory = argument[1];
		change->second_name = (void *)argument[2];
		break;
	case NASH_CALL_FTRUNCATE:
	case NASH_CALL_FTRUNCATE64:
	case NASH_CALL_FCHMOD:
	case NASH_CALL_FCHOWN:
		change->descriptor = argument[0];
		return;
	case NASH_CALL_UNLINKAT:
	case NASH_CALL_MKDIRAT:
	case NASH_CALL_MKNODAT:
	case NASH_CALL_FCHMODAT:
	case NASH_CALL_FCHOWNAT:
		change->directory = argument[0];
		change->name = (void *)argument[1];
		return;
	}
	change->name = (void *)argument[0];
}

static __always_inline void values_of(struct nash_file *file, const struct call *call)
{
	const __u64 *argument = call->argument;

	switch (call->which) {
	case NASH_CALL_UNLINK:
		file->what = NASH_UNLINK;
		break;
	case NASH_CALL_UNLINKAT:
		file->what = argument[2] & REMOVES_A_DIRECTORY ? NASH_RMDIR : NASH_UNLINK;
		break;
	case NASH_CALL_RMDIR:
		file->what = NASH_RMDIR;
		break;
	case NASH_CALL_RENAME:
	case NASH_CALL_RENAMEAT:
		file->what = NASH_RENAME;
		break;
	case NASH_CALL_LINK:
	case NASH_CALL_LINKAT:
		file->what = NASH_LINK;
		break;
	case NASH_CALL_SYMLINK:
	case NASH_CALL_SYMLINKAT:
		file->what = NASH_SYMLINK;
		break;
	case NASH_CALL_MKDIR:
		file->what = NASH_MKDIR;
		file->mode = argument[1];
		break;
	case NASH_CALL_MKDIRAT:
		file->what = NASH_MKDIR;
		file->mode = argument[2];
		break;
	case NASH_CALL_MKNOD:
		file->what = NASH_MKNOD;
		file->mode = argument[1];
		break;
	case NASH_CALL_MKNODAT:
		file->what = NASH_MKNOD;
		file->mode = argument[2];
		break;
	case NASH_CALL_TRUNCATE:
	case NASH_CALL_FTRUNCATE:
		file->what = NASH_TRUNCATE;
		file->size = argument[1];
		break;
	case NASH_CALL_TRUNCATE64:
	case NASH_CALL_FTRUNCATE64:
		file->what = NASH_TRUNCATE;
		file->size = argument[1] | argument[2] << 32;
		break;
	case NASH_CALL_CHMOD:
	case NASH_CALL_FCHMOD:
		file->what = NASH_CHMOD;
		file->mode = argument[1];
		break;
	case NASH_CALL_FCHMODAT:
		file->what = NASH_CHMOD;
		file->mode = argument[2];
		break;
	case NASH_CALL_CHOWN:
	case NASH_CALL_FCHOWN:
		file->what = NASH_CHOWN;
		file->uid = argument[1];
		file->gid = argument[2];
		break;
	default:
		file->what = NASH_CHOWN;
		file->uid = argument[2];
		file->gid = argument[3];
	}
}

static __noinline int change_end(struct task_struct *task, struct nash_process *process, const struct call *call)
{
	struct draft *draft = begin(DRAFT_CALL, NASH_MUTATION, task, process);
	struct change change = {};
	__u32 at = 0;

	if (!draft)
		return 0;
	names_of(&change, call);
	values_of(&draft->record.file, call);
	draft->record.file.result = call->result;
	if (call->is_32bit)
		draft->record.flags |= NASH_CALL_32BIT;
	if (change.descriptor >= 0) {
		struct file *file = file_of(task, change.descriptor);

		if (file) {
			struct vfsmount *mount = BPF_CORE_READ(file, f_path.mnt);

			read_file(&draft->record, file, mount);
			at = put_walk(DRAFT_CALL, 0, mount, BPF_CORE_READ(file, f_path.dentry), NASH_SPAN_PATH);
		}
	} else if (change.is_text) {
		at = put_string(DRAFT_CALL, 0, change.name, 1, NASH_SPAN_NAME);
	} else {
		at = put_named(DRAFT_CALL, 0, task, change.directory, change.name, NASH_SPAN_PATH);
	}
	if (change.second_name)
		at += put_named(DRAFT_CALL, at, task, change.second_directory, change.second_name, NASH_SPAN_SECOND_PATH);
	end(&file_ring, draft, at);
	return 0;
}

#endif
