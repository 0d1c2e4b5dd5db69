/*
 * What both halves of the program share. See evade.c.
 */
#ifndef EVADE_H
#define EVADE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program where something can't be done: with 99 where the machine lacks it, with 98 otherwise. */
static inline void need(int condition, const char *what)
{
	if (!condition) {
		perror(what);
		exit(errno == ENOSYS || errno == EOPNOTSUPP ? 99 : 98);
	}
}

int non_dumpable(char **argv);
int by_io_uring(char **argv);
int by_32bit_call(char **argv);
int by_handle(char **argv);
int by_swapped_path(char **argv);
int open_flood(char **argv);

#endif
