// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * The probes as one object. README.md says what the layers are; nothing but their order is decided here.
 */
#include "programs/life.h"
#include "programs/calls.h"
#include "programs/uring.h"

/* What the kernel asks of programs that use its tracing helpers. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";
