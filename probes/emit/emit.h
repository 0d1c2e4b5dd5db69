/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Counts events, and puts records into the rings.
 *
 * Every record that was begun ends in exactly one place: the ring, or a count with a reason. What is in a record is not decided here.
 */
#ifndef NASH_EMIT_H
#define NASH_EMIT_H

#include "../abi/maps.h"
#include "../read/kernel.h"

static __always_inline void count(__u32 kind, __u32 what)
{
	__u32 key = kind * NASH_COUNTS + what;
	__u64 *value = bpf_map_lookup_elem(&counts, &key);

	/* The processor's own, in programs that nothing of ours interrupts: a lock would cost more than the count. */
	if (value)
		*value += 1;
}

/*
 * Begins a record: counts it as seen and fills in what every record has. `process` is the table's entry, or NULL for a process
 * outside every session.
 */
static __always_inline struct draft *begin(__u32 slot, __u16 kind, struct task_struct *task, const struct nash_process *process)
{
	struct draft *draft = bpf_map_lookup_elem(&drafts, &slot);
	struct nash_record *record;

	count(kind, NASH_SEEN);
	if (!draft) {
		count(kind, NASH_NO_BUFFER);
		return NULL;
	}
	record = &draft->record;
	__builtin_memset(record, 0, sizeof(*record));
	record->abi = NASH_ABI_VERSION;
	record->kind = kind;
	record->boot_ns = bpf_ktime_get_boot_ns();
	record->start_ns = task->group_leader->start_boottime;
	record->cgroup = bpf_get_current_cgroup_id();
	record->tgid = task->tgid;
	record->tid = task->pid;
	record->ppid = task->real_parent->tgid;
	record->uid = task->cred->uid.val;
	if (process) {
		record->root_tgid = process->root_tgid;
		record->root_start_ns = process->root_start_ns;
		record->ns_tgid = process->ns_tgid;
		record->pid_ns = process->pid_ns;
	}
	bpf_probe_read_kernel(record->comm, sizeof(record->comm), task->comm);
	return draft;
}

/* Ends a record with `text` bytes of text. */
static __always_inline void end(void *ring, struct draft *draft, __u32 text)
{
	struct nash_record *record = &draft->record;
	__u64 flags = BPF_RB_NO_WAKEUP;
	__u32 size;

	if (text > NASH_TEXT_BYTES + NASH_ARGV_BYTES - 1)
		text = NASH_TEXT_BYTES + NASH_ARGV_BYTES - 1;
	size = sizeof(*record) + text;
	record->size = size;
	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > wake_at_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(ring, draft, size, flags))
		count(record->kind, NASH_RING_FULL);
}

#endif
