/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * The end of every system call of the machine: the few that matter, of the few processes that matter, go on to their family.
 *
 * What comes before the look into the table of processes is paid by everybody, so nothing is read there that is not needed.
 */
#ifndef NASH_CALLS_H
#define NASH_CALLS_H

#include "change.h"
#include "open.h"
#include "reach.h"
#include "space.h"

/* ENOENT and ENOTDIR: how a search through PATH looks, which is nothing that somebody tried to execute. */
#define NO_SUCH_FILE -2
#define NO_SUCH_DIRECTORY -20

static __noinline int exec_failed(struct task_struct *task, struct nash_process *process, const struct call *call)
{
	struct draft *draft;
	__u32 at;

	if (call->result >= 0 || call->result == NO_SUCH_FILE || call->result == NO_SUCH_DIRECTORY)
		return 0;
	draft = begin(DRAFT_CALL, NASH_EXEC, task, process);
	if (!draft)
		return 0;
	draft->record.file.result = call->result;
	if (call->which == NASH_CALL_EXECVE)
		at = put_named(DRAFT_CALL, 0, task, AT_FDCWD, (void *)call->argument[0], NASH_SPAN_PATH);
	else
		at = put_named(DRAFT_CALL, 0, task, call->argument[0], (void *)call->argument[1], NASH_SPAN_PATH);
	end(&life_ring, draft, at);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_end, struct pt_regs *registers, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct call call = { .result = result };
	struct nash_process *process;

	call.which = which_call(task, registers->orig_ax);
	if (!call.which)
		return 0;
	process = in_session(task->tgid);
	if (!process)
		return 0;
	read_arguments(&call, task, registers);
	switch (call.which) {
	case NASH_CALL_OPEN ... NASH_CALL_OPEN_BY_HANDLE:
		return open_end(task, process, &call);
	case NASH_CALL_UNLINK ... NASH_CALL_FCHOWNAT:
	case NASH_CALL_TRUNCATE64:
	case NASH_CALL_FTRUNCATE64:
		return change_end(task, process, &call);
	case NASH_CALL_CONNECT:
	case NASH_CALL_BIND:
	case NASH_CALL_SOCKETCALL:
		return socket_end(task, process, &call);
	case NASH_CALL_PTRACE ... NASH_CALL_TGKILL:
		return reach_end(task, process, &call);
	case NASH_CALL_UNSHARE ... NASH_CALL_MEMFD:
		return space_end(task, process, &call);
	}
	return exec_failed(task, process, &call);
}

#endif
