/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * What io_uring does for a process without a system call of its own: opens, with their paths, and changes, without.
 *
 * A request that was not finished is nothing yet. The names of a change are gone when it completes.
 */
#ifndef NASH_URING_H
#define NASH_URING_H

#include "../emit/emit.h"
#include "../read/process.h"
#include "../read/text.h"
#include "open.h"

/* enum io_uring_op of linux/io_uring.h. */
enum {
	URING_OPENAT = 18,
	URING_OPENAT2 = 28,
	URING_RENAMEAT = 35,
	URING_UNLINKAT = 36,
	URING_MKDIRAT = 37,
	URING_SYMLINKAT = 38,
	URING_LINKAT = 39,
};

static __always_inline __u32 uring_change(__u8 operation)
{
	switch (operation) {
	case URING_RENAMEAT:
		return NASH_RENAME;
	case URING_UNLINKAT:
		return NASH_UNLINK;
	case URING_MKDIRAT:
		return NASH_MKDIR;
	case URING_SYMLINKAT:
		return NASH_SYMLINK;
	case URING_LINKAT:
		return NASH_LINK;
	}
	return 0;
}

static __noinline int uring_end(struct io_kiocb *request, int result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct nash_process *process = in_session(task->tgid);
	struct file *file = NULL;
	struct draft *draft;
	__u8 operation;
	__u32 change;
	__u32 at = 0;

	if (!process || !request)
		return 0;
	operation = BPF_CORE_READ(request, opcode);
	change = uring_change(operation);
	if (!change && operation != URING_OPENAT && operation != URING_OPENAT2)
		return 0;
	draft = begin(DRAFT_CALL, change ? NASH_MUTATION : NASH_OPEN, task, process);
	if (!draft)
		return 0;
	draft->record.file.result = result;
	draft->record.file.what = change ? change : NASH_VIA_IO_URING;
	/* With a slot the file goes into the ring's own table, and the result is no descriptor. */
	if (!change && result >= 0 && !BPF_CORE_READ((struct io_open *)request, file_slot))
		file = file_of(task, result);
	if (file)
		at = put_file(DRAFT_CALL, draft, file);
	end(&file_ring, draft, at);
	return 0;
}

/* Since Linux 6.10 or so the completion itself is handed over; user space loads whichever of both the kernel accepts. */
SEC("tp_btf/io_uring_complete")
int BPF_PROG(uring_complete, void *context, void *request, struct io_uring_cqe *completion)
{
	return uring_end(request, BPF_CORE_READ(completion, res));
}

SEC("tp_btf/io_uring_complete")
int BPF_PROG(uring_complete_by_value, void *context, void *request, __u64 user_data, int result, unsigned int flags)
{
	return uring_end(request, result);
}

#endif
