/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * A system call at its end: which one it was, and its arguments.
 *
 * Registers keep their values through a call, so arguments are read once it is known how it ended. Only here stands where an
 * architecture keeps them: x86-64, with 32-bit calls.
 */
#ifndef NASH_CALL_H
#define NASH_CALL_H

#include "../abi/maps.h"
#include "kernel.h"

/* TS_COMPAT of arch/x86/include/asm/thread_info.h: the call came by the 32-bit table. */
#define STATUS_32BIT 0x0002
/* __X32_SYSCALL_BIT: the number is native all the same. */
#define X32_BIT 0x40000000

struct call {
	__u64 argument[5];
	__s64 result;
	/* enum nash_call. */
	__u32 which;
	__u32 is_32bit;
};

static __always_inline __u32 is_32bit_call(struct task_struct *task)
{
	return task->thread_info.status & STATUS_32BIT;
}

static __always_inline __u32 which_call(struct task_struct *task, unsigned long number)
{
	number &= ~(unsigned long)X32_BIT;
	if (number >= NASH_CALLS)
		return NASH_CALL_NONE;
	return is_32bit_call(task) ? calls_32bit[number] : calls_native[number];
}

static __always_inline void read_arguments(struct call *call, struct task_struct *task, struct pt_regs *registers)
{
	call->is_32bit = is_32bit_call(task);
	if (call->is_32bit) {
		call->argument[0] = (__u32)registers->bx;
		call->argument[1] = (__u32)registers->cx;
		call->argument[2] = (__u32)registers->dx;
		call->argument[3] = (__u32)registers->si;
		call->argument[4] = (__u32)registers->di;
	} else {
		call->argument[0] = registers->di;
		call->argument[1] = registers->si;
		call->argument[2] = registers->dx;
		call->argument[3] = registers->r10;
		call->argument[4] = registers->r8;
	}
}

#endif
