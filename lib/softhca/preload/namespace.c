/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C library's functions by which a process enters a user namespace. The kernel lets it do so by
 * a single thread (unshare(2)), and a device of hardware is none.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>

#include "preload/route.h"

#define EXPORT __attribute__((visibility("default")))

/** The function behind this library, or one that fails. */
static void *
next(const char *name, void *missing)
{
	void *function = dlsym(RTLD_NEXT, name);

	return function != NULL ? function : missing;
}

static int
go_on(bool is_paused, int ret)
{
	const int saved_errno = errno;

	if (is_paused)
		shca_route_resume();
	errno = saved_errno;
	return ret;
}

static int
no_unshare(int flags)
{
	(void)flags;
	errno = ENOSYS;
	return -1;
}

EXPORT int
unshare(int flags)
{
	int (*function)(int) = next("unshare", no_unshare);
	const bool is_paused = (flags & CLONE_NEWUSER) != 0 && shca_route_pause();

	return go_on(is_paused, function(flags));
}

static int
no_setns(int fd, int type)
{
	(void)fd;
	return no_unshare(type);
}

EXPORT int
setns(int fd, int type)
{
	int (*function)(int, int) = next("setns", no_setns);
	const bool is_paused = (type == 0 || (type & CLONE_NEWUSER) != 0) && shca_route_pause();

	return go_on(is_paused, function(fd, type));
}
