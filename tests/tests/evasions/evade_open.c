/*
 * Ways to open a file that a shell can't see. See evade.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "evade.h"

/* non-dumpable FILE */
int non_dumpable(char **argv)
{
	need(prctl(PR_SET_DUMPABLE, 0) == 0, "prctl");
	need(open(argv[0], O_RDONLY) >= 0, argv[0]);
	return 0;
}

static int ring_setup(struct io_uring_params *parameters)
{
	int ring = syscall(SYS_io_uring_setup, 4, parameters);

	if (ring < 0 && errno == EPERM)
		exit(99);
	need(ring >= 0, "io_uring_setup");
	return ring;
}

/* io-uring FILE: opened without a call of the open family. */
int by_io_uring(char **argv)
{
	struct io_uring_params parameters = {};
	int ring = ring_setup(&parameters);
	size_t queue_bytes = parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned);
	size_t done_bytes = parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
	char *queue = mmap(NULL, queue_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	char *done = mmap(NULL, done_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
	struct io_uring_sqe *entry = mmap(NULL, parameters.sq_entries * sizeof(*entry), PROT_READ | PROT_WRITE, MAP_SHARED,
					  ring, IORING_OFF_SQES);
	struct io_uring_cqe *result;

	need(queue != MAP_FAILED && done != MAP_FAILED && entry != MAP_FAILED, "mmap");
	memset(entry, 0, sizeof(*entry));
	entry->opcode = IORING_OP_OPENAT;
	entry->fd = AT_FDCWD;
	entry->addr = (uintptr_t)argv[0];
	entry->open_flags = O_RDONLY;
	*(unsigned *)(queue + parameters.sq_off.array) = 0;
	atomic_store((_Atomic unsigned *)(queue + parameters.sq_off.tail), 1);
	need(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1, "io_uring_enter");
	result = (struct io_uring_cqe *)(done + parameters.cq_off.cqes);
	errno = -result->res;
	need(result->res >= 0, argv[0]);
	return 0;
}

/* open-32bit FILE: by the 32-bit table of calls, from a 64-bit program. */
int by_32bit_call(char **argv)
{
	long result = -ENOSYS;
	char *name = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	need(name != MAP_FAILED, "mmap");
	strcpy(name, argv[0]);
	/* open(2) is call 5 there. */
	asm volatile("int $0x80" : "=a"(result) : "a"(5L), "b"(name), "c"(0L), "d"(0L) : "memory", "r8", "r9", "r10", "r11");
	errno = -(int)result;
	need((int)result >= 0, argv[0]);
	return 0;
}

/* handle FILE DIRECTORY: by a handle, on the mount that DIRECTORY is on. */
int by_handle(char **argv)
{
	struct {
		struct file_handle head;
		unsigned char bytes[MAX_HANDLE_SZ];
	} handle = { .head.handle_bytes = MAX_HANDLE_SZ };
	int mount_id, directory;

	need(name_to_handle_at(AT_FDCWD, argv[0], &handle.head, &mount_id, 0) == 0, "name_to_handle_at");
	directory = open(argv[1], O_RDONLY | O_DIRECTORY);
	need(directory >= 0, argv[1]);
	need(open_by_handle_at(directory, &handle.head, O_RDONLY) >= 0, "open_by_handle_at");
	return 0;
}

static char swapped[4096];
static const char *faces[2];
static atomic_int stop;

static void *swap(void *unused)
{
	for (unsigned turn = 0; !stop; turn++)
		strcpy(swapped, faces[turn & 1]);
	return unused;
}

/*
 * swap FILE OTHER ROUNDS: a thread rewrites the path while it is opened. Prints how often FILE, and how often OTHER was really
 * opened; both names are equally long.
 */
int by_swapped_path(char **argv)
{
	struct stat first, file;
	unsigned rounds = strtoul(argv[2], NULL, 10), opened[2] = {};
	pthread_t thread;

	need(stat(argv[0], &first) == 0, argv[0]);
	faces[0] = argv[0];
	faces[1] = argv[1];
	strcpy(swapped, argv[0]);
	need(pthread_create(&thread, NULL, swap, NULL) == 0, "pthread_create");
	for (unsigned round = 0; round < rounds; round++) {
		int descriptor = open(swapped, O_RDONLY);

		/* A half-written name is no file. */
		if (descriptor < 0)
			continue;
		need(fstat(descriptor, &file) == 0, "fstat");
		opened[file.st_ino != first.st_ino]++;
		close(descriptor);
	}
	stop = 1;
	pthread_join(thread, NULL);
	printf("%u %u\n", opened[0], opened[1]);
	return 0;
}

/* open-flood FILE COUNT */
int open_flood(char **argv)
{
	unsigned count = strtoul(argv[1], NULL, 10);

	for (unsigned round = 0; round < count; round++) {
		int file = open(argv[0], O_RDONLY);

		need(file >= 0, argv[0]);
		close(file);
	}
	return 0;
}
