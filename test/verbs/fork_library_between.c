/* SPDX-License-Identifier: BSD-3-Clause */
/* A library with a fork() of its own, as libvma has: the child puts its objects in order before it
 * returns. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "fork_library.h"

static int *object;

void
fork_library_set(int *value)
{
	object = value;
}

__attribute__((visibility("default"))) pid_t
fork(void)
{
	void *symbol = dlsym(RTLD_NEXT, "fork");
	pid_t (*next)(void);
	pid_t pid;

	memcpy(&next, &symbol, sizeof(next));
	pid = next();
	if (pid == 0 && object != NULL)
		*object = FORK_LIBRARY_CHILD;
	return pid;
}
