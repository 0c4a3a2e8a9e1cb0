/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What the programs have in common: ending with what did not work, and taking turns with a
 * runner. */
#ifndef ETHDEV_RIG_H
#define ETHDEV_RIG_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/** Ends the program with what did not work. */
static inline void
must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s failed\n", program_invocation_short_name, what);
	exit(EXIT_FAILURE);
}

/** What the runner waits for: all before it has been told. */
static inline void
say(const char *what)
{
	printf("%s\n", what);
	fflush(stdout);
}

/** Until the runner sends a line. */
static inline void
await_line(void)
{
	char line[16];

	must(fgets(line, sizeof(line), stdin) != NULL, "reading a line");
}

#endif /* ETHDEV_RIG_H */
