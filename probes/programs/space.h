/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Calls that change what a path or a number means to a process: namespaces, mounts, roots; and files without any path.
 *
 * A namespace that comes with a new process is told by its fork.
 */
#ifndef NASH_SPACE_H
#define NASH_SPACE_H

#include "../emit/emit.h"
#include "../read/call.h"
#include "../read/process.h"
#include "../read/text.h"

static __always_inline __u16 space_kind(__u32 which)
{
	switch (which) {
	case NASH_CALL_UNSHARE:
	case NASH_CALL_SETNS:
		return NASH_NAMESPACE;
	case NASH_CALL_MEMFD:
		return NASH_MEMFD;
	}
	return NASH_MOUNT;
}

static __noinline int space_end(struct task_struct *task, struct nash_process *process, const struct call *call)
{
	struct draft *draft = begin(DRAFT_CALL, space_kind(call->which), task, process);
	const __u64 *argument = call->argument;
	struct nash_space *space;
	__u32 at = 0;

	if (!draft)
		return 0;
	space = &draft->record.space;
	space->result = call->result;
	space->call = call->which;
	switch (call->which) {
	case NASH_CALL_UNSHARE:
		space->flags = argument[0];
		break;
	case NASH_CALL_SETNS:
		space->flags = argument[1];
		break;
	case NASH_CALL_MEMFD:
		space->flags = argument[1];
		at = put_string(DRAFT_CALL, 0, (void *)argument[0], 1, NASH_SPAN_NAME);
		break;
	case NASH_CALL_MOUNT:
		space->flags = argument[3];
		at = put_named(DRAFT_CALL, 0, task, AT_FDCWD, (void *)argument[1], NASH_SPAN_PATH);
		at += put_string(DRAFT_CALL, at, (void *)argument[2], 1, NASH_SPAN_SECOND_PATH);
		at += put_string(DRAFT_CALL, at, (void *)argument[0], 1, NASH_SPAN_SECOND_NAME);
		break;
	case NASH_CALL_MOVE_MOUNT:
		space->flags = argument[4];
		at = put_named(DRAFT_CALL, 0, task, argument[2], (void *)argument[3], NASH_SPAN_PATH);
		at += put_string(DRAFT_CALL, at, (void *)argument[1], 1, NASH_SPAN_SECOND_NAME);
		break;
	case NASH_CALL_PIVOT_ROOT:
		at = put_named(DRAFT_CALL, 0, task, AT_FDCWD, (void *)argument[0], NASH_SPAN_PATH);
		at += put_string(DRAFT_CALL, at, (void *)argument[1], 1, NASH_SPAN_SECOND_NAME);
		break;
	default:
		space->flags = call->which == NASH_CALL_UMOUNT ? argument[1] : 0;
		at = put_named(DRAFT_CALL, 0, task, AT_FDCWD, (void *)argument[0], NASH_SPAN_PATH);
	}
	end(&file_ring, draft, at);
	return 0;
}

#endif
