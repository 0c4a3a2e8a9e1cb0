/* SPDX-License-Identifier: BSD-3-Clause */
/* fork(): memory that has moved to the keeper's sight stays the parent's alone. */
#include <dlfcn.h>
#include <errno.h>
#include <sys/types.h>

#include "client/share.h"

#define EXPORT __attribute__((visibility("default")))

pid_t fork(void);

static pid_t
no_fork(void)
{
	errno = ENOSYS;
	return -1;
}

EXPORT pid_t
fork(void)
{
	pid_t (*function)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");

	return shca_share_fork(function != NULL ? function : no_fork);
}
