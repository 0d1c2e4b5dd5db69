/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Processes that reach out: to an address, into another process, for another process by a signal.
 *
 * What is sent over a connection is not looked at.
 */
#ifndef NASH_REACH_H
#define NASH_REACH_H

#include "../emit/emit.h"
#include "../read/call.h"
#include "../read/process.h"
#include "../read/text.h"

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
/* sizeof(sun_path) */
#define UNIX_PATH_BYTES 108

/* socketcall(2) of 32-bit programs: its first argument, as in linux/net.h. */
#define SOCKETCALL_BIND 2
#define SOCKETCALL_CONNECT 3

/* ptrace(2) requests that change another process, or begin to: TRACEME, POKETEXT, POKEDATA, POKEUSR, SETREGS, ATTACH, SEIZE. */
static __always_inline __u32 is_reach(__u64 request)
{
	return request == 0 || (request >= 4 && request <= 6) || request == 13 || request == 16 || request == 0x4206;
}

static __always_inline __u32 put_address(struct nash_socket *socket, const void *address, __u32 size, struct draft *draft)
{
	__u16 port = 0;

	if (bpf_probe_read_user(&socket->family, sizeof(socket->family), address))
		return 0;
	if (socket->family == AF_INET) {
		bpf_probe_read_user(&port, sizeof(port), address + 2);
		bpf_probe_read_user(socket->address, 4, address + 4);
	} else if (socket->family == AF_INET6) {
		bpf_probe_read_user(&port, sizeof(port), address + 2);
		bpf_probe_read_user(socket->address, 16, address + 8);
	} else if (socket->family == AF_UNIX && size > 2) {
		__u32 bytes = size - 2;

		if (bytes > UNIX_PATH_BYTES)
			bytes = UNIX_PATH_BYTES;
		if (bpf_probe_read_user(draft->text, bytes, address + 2))
			return 0;
		draft->record.span[NASH_SPAN_NAME].bytes = bytes;
		draft->record.span[NASH_SPAN_NAME].form = NASH_FORM_TEXT;
		return bytes;
	}
	socket->port = (port >> 8) | (port << 8);
	return 0;
}

static __noinline int socket_end(struct task_struct *task, struct nash_process *process, const struct call *call)
{
	__u32 argument[3] = { call->argument[0], call->argument[1], call->argument[2] };
	__u16 kind = call->which == NASH_CALL_BIND ? NASH_BIND : NASH_CONNECT;
	const void *address = (void *)call->argument[1];
	struct draft *draft;
	__u32 at;

	if (call->which == NASH_CALL_SOCKETCALL) {
		if (call->argument[0] != SOCKETCALL_BIND && call->argument[0] != SOCKETCALL_CONNECT)
			return 0;
		if (call->argument[0] == SOCKETCALL_BIND)
			kind = NASH_BIND;
		bpf_probe_read_user(argument, sizeof(argument), (void *)call->argument[1]);
		address = (void *)(unsigned long)argument[1];
	}
	draft = begin(DRAFT_CALL, kind, task, process);
	if (!draft)
		return 0;
	draft->record.socket.result = call->result;
	at = put_address(&draft->record.socket, address, argument[2], draft);
	end(&file_ring, draft, at);
	return 0;
}

/* ptrace and its like; and signals that could not be sent, since those that could are seen where they arrive. */
static __noinline int reach_end(struct task_struct *task, struct nash_process *process, const struct call *call)
{
	__u16 kind = call->which == NASH_CALL_KILL || call->which == NASH_CALL_TGKILL ? NASH_KILL : NASH_PTRACE;
	struct draft *draft;

	if (call->which == NASH_CALL_PTRACE && !is_reach(call->argument[0]))
		return 0;
	if (kind == NASH_KILL && call->result >= 0)
		return 0;
	draft = begin(DRAFT_CALL, kind, task, process);
	if (!draft)
		return 0;
	draft->record.reach.result = call->result;
	draft->record.reach.call = call->which;
	draft->record.reach.target = call->argument[0];
	if (call->which == NASH_CALL_PTRACE) {
		draft->record.reach.request = call->argument[0];
		draft->record.reach.target = call->argument[1];
	} else if (call->which == NASH_CALL_PIDFD_GETFD && call->result >= 0) {
		/* That the call succeeded tells that it was a handle. */
		struct task_struct *target = process_behind(task, call->argument[0]);

		if (target) {
			draft->record.reach.target = BPF_CORE_READ(target, tgid);
			draft->record.reach.target_start_ns = BPF_CORE_READ(target, start_boottime);
		}
	} else if (call->which == NASH_CALL_KILL) {
		draft->record.reach.request = call->argument[1];
	} else if (call->which == NASH_CALL_TGKILL) {
		draft->record.reach.request = call->argument[2];
	}
	end(&file_ring, draft, 0);
	return 0;
}

/* si_code of kill, sigqueue and tkill, in asm-generic/siginfo.h: a process sent it, not the kernel. */
#define SI_USER 0
#define SI_QUEUE -1
#define SI_TKILL -6

/* The life ring: a signal that ends an observer must not drown in opened files. */
SEC("tp_btf/signal_generate")
int BPF_PROG(signal_sent, int signal, struct kernel_siginfo *info, struct task_struct *target, int group, int result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct nash_process *process;
	struct draft *draft;
	int code;

	/* SEND_SIG_NOINFO and SEND_SIG_PRIV are no addresses: the kernel's own signals. */
	if ((unsigned long)info <= 2)
		return 0;
	code = info->si_code;
	if ((code != SI_USER && code != SI_QUEUE && code != SI_TKILL) || target->tgid == task->tgid)
		return 0;
	process = in_session(task->tgid);
	if (!process)
		return 0;
	draft = begin(DRAFT_LIFE, NASH_KILL, task, process);
	if (!draft)
		return 0;
	draft->record.reach.call = NASH_CALL_KILL;
	draft->record.reach.request = signal;
	draft->record.reach.target = target->tgid;
	draft->record.reach.target_start_ns = target->group_leader->start_boottime;
	end(&life_ring, draft, 0);
	return 0;
}

#endif
