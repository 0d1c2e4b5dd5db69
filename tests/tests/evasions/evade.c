/*
 * Ways to act that a shell can't see, one a subcommand, for the tests of what the kernel's observer sees of them.
 *
 * Each does one thing and ends with 0 if it could; 99 says that this machine can't do it. Nothing outside the arguments is touched.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evade.h"

extern char **environ;

static int wait_for(pid_t pid)
{
	int status;

	need(waitpid(pid, &status, 0) == pid, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void copy_into(int to, const char *path)
{
	char buffer[65536];
	ssize_t bytes;
	int from = open(path, O_RDONLY | O_CLOEXEC);

	need(from >= 0, path);
	while ((bytes = read(from, buffer, sizeof(buffer))) > 0)
		need(write(to, buffer, bytes) == bytes, "write");
	close(from);
}

/* memfd FILE ARGUMENT… */
static int by_memfd(char **argv)
{
	int memory = memfd_create("payload", MFD_CLOEXEC);

	need(memory >= 0, "memfd_create");
	copy_into(memory, argv[0]);
	syscall(SYS_execveat, memory, "", argv, environ, AT_EMPTY_PATH);
	need(0, "execveat");
	return 1;
}

/* deleted FILE PLACE ARGUMENT…: a copy at PLACE that is gone when it runs. */
static int deleted(char **argv)
{
	int file = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0755);
	int again;

	need(file >= 0, argv[1]);
	copy_into(file, argv[0]);
	/* The kernel executes no file that is open for writing. */
	again = open(argv[1], O_RDONLY | O_CLOEXEC);
	need(again >= 0, argv[1]);
	close(file);
	need(unlink(argv[1]) == 0, "unlink");
	syscall(SYS_execveat, again, "", argv + 1, environ, AT_EMPTY_PATH);
	need(0, "execveat");
	return 1;
}

/* exec-a NAME FILE ARGUMENT… */
static int under_another_name(char **argv)
{
	char *file = argv[1];

	argv[1] = argv[0];
	execv(file, argv + 1);
	need(0, file);
	return 1;
}

/* spawn FILE ARGUMENT… */
static int by_posix_spawn(char **argv)
{
	pid_t pid;

	errno = posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);
	need(errno == 0, "posix_spawn");
	return wait_for(pid);
}

/* vfork FILE ARGUMENT… */
static int by_vfork(char **argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	need(pid > 0, "vfork");
	return wait_for(pid);
}

static void *exec_in_thread(void *argv)
{
	execv(((char **)argv)[0], argv);
	return NULL;
}

/* thread FILE ARGUMENT…: executed by a thread that is not the first. */
static int by_thread(char **argv)
{
	pthread_t thread;

	need(pthread_create(&thread, NULL, exec_in_thread, argv) == 0, "pthread_create");
	pthread_join(thread, NULL);
	return 1;
}

/* double-fork FILE ARGUMENT…: its parent is gone and its session another when it runs. */
static int by_double_fork(char **argv)
{
	int done[2];
	char byte = 0;
	pid_t pid;

	need(pipe(done) == 0, "pipe");
	pid = fork();
	need(pid >= 0, "fork");
	if (pid == 0) {
		setsid();
		pid = fork();
		if (pid != 0)
			_exit(pid < 0);
		/* Until its parent is gone, or has had a tenth of a second. */
		for (pid = getppid(); getppid() == pid && byte < 100; byte++)
			usleep(1000);
		close(done[0]);
		execv(argv[0], argv);
		_exit(127);
	}
	close(done[1]);
	wait_for(pid);
	/* The end of the pipe is the end of whoever holds its other side. */
	while (read(done[0], &byte, 1) > 0)
		;
	return 0;
}

/* pty FILE ARGUMENT…: on a terminal of its own. */
static int by_pty(char **argv)
{
	char buffer[256];
	int terminal;
	pid_t pid = forkpty(&terminal, NULL, NULL, NULL);

	need(pid >= 0, "forkpty");
	if (pid == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	while (read(terminal, buffer, sizeof(buffer)) > 0)
		;
	return wait_for(pid);
}

/* clone3 FLAGS FILE ARGUMENT… */
static int by_clone3(char **argv)
{
	struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	} request = { .flags = strtoull(argv[0], NULL, 0), .exit_signal = SIGCHLD };
	pid_t pid = syscall(SYS_clone3, &request, sizeof(request));

	need(pid >= 0, "clone3");
	if (pid == 0) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	return wait_for(pid);
}

/* same-pid FILE ARGUMENT…: executed twice, by two processes with one number. */
static int with_one_pid(char **argv)
{
	pid_t first = fork(), second = 0;

	need(first >= 0, "fork");
	if (first == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	wait_for(first);
	/* Another tick of the clock that tells both apart. */
	usleep(30000);
	/* Others may take the number first. */
	for (int attempt = 0; attempt < 200 && second != first; attempt++) {
		int last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);

		if (last < 0)
			exit(99);
		dprintf(last, "%d", first - 1);
		close(last);
		second = fork();
		need(second >= 0, "fork");
		if (second == 0) {
			if (getpid() == first)
				execv(argv[0], argv);
			_exit(0);
		}
		wait_for(second);
	}
	printf("%d\n", first);
	return second == first ? 0 : 99;
}

/* trace PID: attaches to a process and lets it go. */
static int by_ptrace(char **argv)
{
	need(ptrace(PTRACE_SEIZE, atoi(argv[0]), 0, 0) == 0, "ptrace");
	return 0;
}

/* poke PID: writes nothing into the memory of a process, which is refused or not. */
static int by_vm_write(char **argv)
{
	char byte = 0;
	struct iovec from = { &byte, 1 }, to = { (void *)16, 1 };

	process_vm_writev(atoi(argv[0]), &from, 1, &to, 1, 0);
	return 0;
}

/* take-fd PID: takes over what a process has as its standard output. */
static int by_pidfd(char **argv)
{
	int handle = syscall(SYS_pidfd_open, atoi(argv[0]), 0);

	need(handle >= 0, "pidfd_open");
	need(syscall(SYS_pidfd_getfd, handle, 1, 0) >= 0, "pidfd_getfd");
	return 0;
}

/* fork-flood COUNT: children that end at once, none of them waited for before the last is there. */
static int fork_flood(char **argv)
{
	unsigned count = strtoul(argv[0], NULL, 10);

	for (unsigned child = 0; child < count; child++) {
		pid_t pid = fork();

		need(pid >= 0, "fork");
		if (pid == 0) {
			pause();
			_exit(0);
		}
	}
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	return 0;
}

static const struct {
	const char *name;
	int arguments;
	int (*run)(char **argv);
} ways[] = {
	{ "memfd", 1, by_memfd },
	{ "deleted", 2, deleted },
	{ "exec-a", 2, under_another_name },
	{ "spawn", 1, by_posix_spawn },
	{ "vfork", 1, by_vfork },
	{ "thread", 1, by_thread },
	{ "double-fork", 1, by_double_fork },
	{ "pty", 1, by_pty },
	{ "non-dumpable", 1, non_dumpable },
	{ "clone3", 2, by_clone3 },
	{ "io-uring", 1, by_io_uring },
	{ "open-32bit", 1, by_32bit_call },
	{ "handle", 2, by_handle },
	{ "swap", 3, by_swapped_path },
	{ "same-pid", 1, with_one_pid },
	{ "trace", 1, by_ptrace },
	{ "poke", 1, by_vm_write },
	{ "take-fd", 1, by_pidfd },
	{ "fork-flood", 1, fork_flood },
	{ "open-flood", 2, open_flood },
};

int main(int argc, char **argv)
{
	for (unsigned way = 0; way < sizeof(ways) / sizeof(*ways); way++)
		if (argc > 1 && strcmp(argv[1], ways[way].name) == 0 && argc - 2 >= ways[way].arguments)
			return ways[way].run(argv + 2);
	fprintf(stderr, "evade: no such way: %s\n", argc > 1 ? argv[1] : "none given");
	return 97;
}
