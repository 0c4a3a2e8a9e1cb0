/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C library's functions that make a child with a copy of the memory: what has moved to the
 * keeper's sight stays the parent's alone. forkpty() and daemon() call the library's own fork(),
 * which nobody sees: here they are its parts (login/forkpty.c, misc/daemon.c of glibc 2.36), so
 * that the child has its own memory before it does anything else. vfork() and posix_spawn() copy
 * no memory.
 */
#include "preload/next.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <pty.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <utmp.h>

#include "client/link.h"
#include "client/share.h"
#include "preload/route.h"

/** Signal handlers may call _Fork(), but not dlsym(). */
static __attribute__((constructor)) void
bind_next(void)
{
	(void)NEXT(_Fork);
}

EXPORT pid_t
fork(void)
{
	return shca_link_fork(NEXT(fork));
}

/**
 * Memory is the child's own as after fork(): the kernel copies it for both, and shca_share_fork()
 * allocates none and waits for no lock that its thread may have, so signal handlers may call this
 * (signal-safety(7)). No handler of pthread_atfork() runs. Ours would wait for locks that the
 * interrupted thread may have, so no lock is taken; but the child of a single thread may go on with
 * everything (POSIX.1-2024, _Fork()), and must not ask the keeper on its parent's connection.
 */
EXPORT pid_t
_Fork(void)
{
	const pid_t pid = shca_share_fork(NEXT(_Fork), NULL, NULL);

	if (pid == 0)
		shca_route_forked();
	return pid;
}

EXPORT int
forkpty(int *master, char *name, const struct termios *termios, const struct winsize *size)
{
	int own, terminal;
	pid_t pid;

	if (openpty(&own, &terminal, name, termios, size) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		close(own);
		if (login_tty(terminal) != 0)
			_exit(1);
		return 0;
	}
	close(terminal);
	if (pid < 0)
		close(own);
	else
		*master = own;
	return pid;
}

/** Whether it is /dev/null is looked at as the C library does: it may be a file by mistake. */
static int
close_standard_files(void)
{
	const int fd = open(_PATH_DEVNULL, O_RDWR);
	struct stat status;
	int ret = fd >= 0 ? fstat(fd, &status) : -1;

	if (ret == 0 && (!S_ISCHR(status.st_mode) || status.st_rdev != makedev(1, 3))) {
		errno = ENODEV;
		ret = -1;
	}
	for (int standard = STDIN_FILENO; ret == 0 && standard <= STDERR_FILENO; standard++)
		(void)dup2(fd, standard);
	if (fd > STDERR_FILENO || (fd >= 0 && ret != 0))
		close(fd);
	return ret;
}

EXPORT int
daemon(int nochdir, int noclose)
{
	const pid_t pid = fork();

	if (pid < 0)
		return -1;
	if (pid != 0)
		_exit(0);
	if (setsid() < 0)
		return -1;
	if (nochdir == 0)
		(void)!chdir("/"); /* the C library only tries, too */
	return noclose == 0 ? close_standard_files() : 0;
}
