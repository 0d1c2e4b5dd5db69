/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Texts of a record: paths walked from the kernel's own structures, strings of the kernel and of processes.
 *
 * A text that can't be read is left out or marked as cut. Names are not put together here: a walk leaves them from the file to the
 * root, and user space turns them around.
 */
#ifndef NASH_TEXT_H
#define NASH_TEXT_H

#include "../abi/maps.h"
#include "kernel.h"
#include "process.h"

/* Keeps an offset below NASH_TEXT_BYTES in a form that the verifier follows. */
#define TEXT_AT(offset) ((offset) & (NASH_TEXT_BYTES - 1))

/* A span by its number, which the verifier must see bounded: the compiler knows all callers and would leave a check out. */
static __always_inline struct nash_span *span_of(struct draft *draft, __u32 span)
{
	asm volatile("%0 &= %1" : "+r"(span) : "i"(NASH_SPANS - 1));
	return &draft->record.span[span];
}

struct walk {
	struct dentry *dentry;
	struct dentry *mount_root;
	struct mount *mount;
	__u32 slot;
	__u32 begin;
	__u32 at;
	__u8 cut;
	__u8 detached;
};

static long walk_step(__u32 index, void *context)
{
	struct walk *walk = context;
	/* Copies: a relocated read must not begin in a structure that the kernel doesn't know. */
	struct dentry *dentry = walk->dentry;
	struct mount *mount = walk->mount;
	const unsigned char *name;
	struct dentry *parent;
	struct draft *draft;
	__u32 slot = walk->slot;
	long bytes;

	if (dentry == walk->mount_root) {
		struct mount *parent_mount = BPF_CORE_READ(mount, mnt_parent);

		if (!parent_mount || parent_mount == mount) {
			walk->cut = 0;
			return 1;
		}
		walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		walk->mount = parent_mount;
		walk->mount_root = BPF_CORE_READ(parent_mount, mnt.mnt_root);
		return 0;
	}
	if (walk->at - walk->begin >= NASH_PATH_BYTES)
		return 1;
	draft = bpf_map_lookup_elem(&drafts, &slot);
	if (!draft)
		return 1;
	name = BPF_CORE_READ(dentry, d_name.name);
	bytes = bpf_probe_read_kernel_str(&draft->text[TEXT_AT(walk->at)], NASH_NAME_BYTES, name);
	if (bytes <= 0)
		return 1;
	walk->at += bytes;
	parent = BPF_CORE_READ(dentry, d_parent);
	if (parent == dentry) {
		walk->cut = 0;
		walk->detached = 1;
		return 1;
	}
	walk->dentry = parent;
	return 0;
}

/* Writes the names of a path from its end to the root at `at`; the bytes that they take. */
static __noinline __u32 put_walk(__u32 slot, __u32 at, struct vfsmount *mount, struct dentry *dentry, __u32 span)
{
	struct walk walk = { .dentry = dentry, .slot = slot, .begin = at, .at = at, .cut = 1 };
	struct draft *draft = bpf_map_lookup_elem(&drafts, &slot);
	struct nash_span *out;
	__u32 bytes;

	if (!draft || !dentry || !mount)
		return 0;
	walk.mount = (struct mount *)((char *)mount - bpf_core_field_offset(struct mount, mnt));
	walk.mount_root = BPF_CORE_READ(mount, mnt_root);
	bpf_loop(NASH_PATH_STEPS, walk_step, &walk, 0);
	bytes = walk.at - at;
	if (bytes > NASH_PATH_BYTES + NASH_NAME_BYTES)
		return 0;
	out = span_of(draft, span);
	out->bytes = bytes;
	out->form = NASH_FORM_WALK;
	out->cut = walk.cut;
	if (walk.detached && span == NASH_SPAN_PATH)
		draft->record.flags |= NASH_FILE_DETACHED;
	return bytes;
}

/* Writes a string of the kernel or, with `user`, of the process; the bytes that it takes. */
static __noinline __u32 put_string(__u32 slot, __u32 at, const void *string, __u32 user, __u32 span)
{
	struct draft *draft = bpf_map_lookup_elem(&drafts, &slot);
	struct nash_span *out;
	long bytes;

	if (!draft || !string)
		return 0;
	if (user)
		bytes = bpf_probe_read_user_str(&draft->text[TEXT_AT(at)], NASH_PATH_BYTES, string);
	else
		bytes = bpf_probe_read_kernel_str(&draft->text[TEXT_AT(at)], NASH_PATH_BYTES, string);
	out = span_of(draft, span);
	out->form = NASH_FORM_TEXT;
	if (bytes <= 0) {
		/* Not in memory, or no string: that there was a name is all that can be said. */
		out->cut = 1;
		return 0;
	}
	/* Without the NUL at its end. */
	bytes -= 1;
	if (bytes >= NASH_PATH_BYTES)
		return 0;
	out->bytes = bytes;
	out->cut = bytes == NASH_PATH_BYTES - 1;
	return bytes;
}

/*
 * Writes the place that a name of the current process starts from, and the name; the bytes that both take. `base` and `base` + 1
 * are their spans.
 */
static __noinline __u32 put_named(__u32 slot, __u32 at, struct task_struct *task, int directory, const void *name, __u32 base)
{
	struct fs_struct *fs = task->fs;
	struct path from = {};
	__u32 bytes;
	char first = 0;

	bpf_probe_read_user(&first, sizeof(first), name);
	if (first == '/') {
		from.mnt = BPF_CORE_READ(fs, root.mnt);
		from.dentry = BPF_CORE_READ(fs, root.dentry);
	} else if (directory == AT_FDCWD) {
		from.mnt = BPF_CORE_READ(fs, pwd.mnt);
		from.dentry = BPF_CORE_READ(fs, pwd.dentry);
	} else {
		struct file *file = file_of(task, directory);

		if (file) {
			from.mnt = BPF_CORE_READ(file, f_path.mnt);
			from.dentry = BPF_CORE_READ(file, f_path.dentry);
		}
	}
	bytes = put_walk(slot, at, from.mnt, from.dentry, base);
	return bytes + put_string(slot, at + bytes, name, 1, base + 1);
}

/* Writes the arguments of the process that just executed; the bytes that they take. */
static __noinline __u32 put_arguments(__u32 slot, __u32 at, unsigned long begin, unsigned long end)
{
	struct draft *draft = bpf_map_lookup_elem(&drafts, &slot);
	unsigned long there = end - begin;
	__u32 bytes = there;

	if (!draft || end <= begin)
		return 0;
	if (there > NASH_ARGV_BYTES) {
		bytes = NASH_ARGV_BYTES;
		draft->record.flags |= NASH_ARGV_CUT;
	}
	if (bytes > NASH_ARGV_BYTES || bpf_probe_read_user(&draft->text[TEXT_AT(at)], bytes, (void *)begin)) {
		draft->record.flags |= NASH_ARGV_UNREAD;
		return 0;
	}
	draft->record.span[NASH_SPAN_SECOND_NAME].bytes = bytes;
	draft->record.span[NASH_SPAN_SECOND_NAME].form = NASH_FORM_TEXT;
	draft->record.span[NASH_SPAN_SECOND_NAME].cut = there > NASH_ARGV_BYTES;
	return bytes;
}

#endif
