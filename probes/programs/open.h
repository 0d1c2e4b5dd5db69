/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Files that are opened, or are not.
 *
 * What was opened is read from the descriptor that the call returned, so another thread can't swap a name. Only of a call that
 * failed the name is the process's own word.
 */
#ifndef NASH_OPEN_H
#define NASH_OPEN_H

#include "../emit/emit.h"
#include "../read/call.h"
#include "../read/process.h"
#include "../read/text.h"

/* O_CREAT, O_EXCL, O_NOCTTY and O_TRUNC: what an open does once, which the open file does not remember. */
#define DONE_ONCE 00001700
/* O_CREAT and O_TMPFILE of asm-generic/fcntl.h: only with these a mode means anything. */
#define MAKES_A_FILE (00000100 | 020000000)

struct open_how {
	__u64 flags;
	__u64 mode;
};

/* An open as it was asked for. */
struct request {
	const void *name;
	__u64 flags;
	__u32 mode;
	int directory;
};

static __always_inline void read_request(struct request *request, const struct call *call)
{
	struct open_how how = {};

	request->directory = AT_FDCWD;
	request->mode = 0;
	switch (call->which) {
	case NASH_CALL_CREAT:
		request->name = (void *)call->argument[0];
		/* O_CREAT | O_WRONLY | O_TRUNC. */
		request->flags = 00000100 | 1 | 00001000;
		request->mode = call->argument[1];
		return;
	case NASH_CALL_OPEN:
		request->name = (void *)call->argument[0];
		request->flags = (__u32)call->argument[1];
		request->mode = call->argument[2];
		break;
	case NASH_CALL_OPENAT2:
		bpf_probe_read_user(&how, sizeof(how), (void *)call->argument[2]);
		request->directory = call->argument[0];
		request->name = (void *)call->argument[1];
		request->flags = how.flags;
		request->mode = how.mode;
		break;
	case NASH_CALL_OPEN_BY_HANDLE:
		request->directory = call->argument[0];
		request->name = NULL;
		request->flags = (__u32)call->argument[2];
		return;
	default:
		request->directory = call->argument[0];
		request->name = (void *)call->argument[1];
		request->flags = (__u32)call->argument[2];
		request->mode = call->argument[3];
	}
	if (!(request->flags & MAKES_A_FILE))
		request->mode = 0;
}

/* Fills in an open file; the bytes of its path. */
static __always_inline __u32 put_file(__u32 slot, struct draft *draft, struct file *file)
{
	struct vfsmount *mount = BPF_CORE_READ(file, f_path.mnt);

	read_file(&draft->record, file, mount);
	draft->record.file.flags = BPF_CORE_READ(file, f_flags);
	return put_walk(slot, 0, mount, BPF_CORE_READ(file, f_path.dentry), NASH_SPAN_PATH);
}

static __noinline int open_end(struct task_struct *task, struct nash_process *process, const struct call *call)
{
	struct request request = {};
	struct draft *draft;
	struct file *file;
	__u32 at = 0, zero = 0;
	__u32 *hooked = bpf_map_lookup_elem(&hook_on_open, &zero);

	if (call->result >= 0 && hooked && *hooked)
		return 0;
	draft = begin(DRAFT_CALL, NASH_OPEN, task, process);
	if (!draft)
		return 0;
	read_request(&request, call);
	draft->record.file.result = call->result;
	draft->record.file.mode = request.mode;
	draft->record.file.what = call->which == NASH_CALL_OPEN_BY_HANDLE ? NASH_VIA_HANDLE : NASH_VIA_CALL;
	if (call->is_32bit)
		draft->record.flags |= NASH_CALL_32BIT;
	file = call->result >= 0 ? file_of(task, call->result) : NULL;
	if (file) {
		at = put_file(DRAFT_CALL, draft, file);
		draft->record.file.flags |= request.flags & DONE_ONCE;
	} else {
		draft->record.file.flags = request.flags;
		at = put_named(DRAFT_CALL, 0, task, request.directory, request.name, NASH_SPAN_PATH);
	}
	end(&file_ring, draft, at);
	return 0;
}

/* Where the kernel allows such hooks, an open is seen whatever led to it. */
SEC("fexit/security_file_open")
int BPF_PROG(open_hook, struct file *file, int denied)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct nash_process *process = in_session(task->tgid);
	struct draft *draft;
	__u32 at;

	if (!process || denied)
		return 0;
	draft = begin(DRAFT_CALL, NASH_OPEN, task, process);
	if (!draft)
		return 0;
	draft->record.file.what = NASH_VIA_HOOK;
	at = put_file(DRAFT_CALL, draft, file);
	end(&file_ring, draft, at);
	return 0;
}

#endif
