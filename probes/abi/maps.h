/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * The maps, and the settings that user space writes before the programs are loaded.
 *
 * Sizes are those of a small machine; user space sets others by name. Nothing here decides what goes in.
 */
#ifndef NASH_MAPS_H
#define NASH_MAPS_H

#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "nash_abi.h"

/* Which call a number is, for the native table and for the 32-bit one. */
const volatile __u8 calls_native[NASH_CALLS];
const volatile __u8 calls_32bit[NASH_CALLS];
/* Whether any process that executes nash opens a session, or only one that is in the table already. */
const volatile __u8 every_shell = 1;
/* Bytes unread in a ring from which on the reader is woken; below, it looks by itself every few milliseconds. */
const volatile __u32 wake_at_bytes = 1 << 19;

/* Processes' lives: never behind a flood of opened files. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} life_ring SEC(".maps");

/* What processes do with files, sockets and each other. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} file_ring SEC(".maps");

/* The watched processes: every member of a session, by its thread group. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct nash_process);
} processes SEC(".maps");

/* The files that open sessions (nash), and those whose execution is told wherever it happens (the preserved shells). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct nash_image);
	__type(value, __u32);
} images SEC(".maps");

/*
 * Whether a hook reports every open that succeeds, so that the ends of calls report failures only. A map and no setting, since it is
 * known only once the kernel took the hook.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} hook_on_open SEC(".maps");

/* Events by kind and by what became of them: kind * NASH_COUNTS + count. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NASH_KINDS * NASH_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

/* A record with room for its text. A text begins below NASH_TEXT_BYTES, and the longest one fits behind it. */
struct draft {
	struct nash_record record;
	__u8 text[NASH_TEXT_BYTES + NASH_ARGV_BYTES];
};

/* Records are put together here, since a BPF stack holds 512 bytes. One for calls, one for lives: neither interrupts itself. */
enum {
	DRAFT_CALL = 0,
	DRAFT_LIFE,
	DRAFTS,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DRAFTS);
	__type(key, __u32);
	__type(value, struct draft);
} drafts SEC(".maps");

#endif
