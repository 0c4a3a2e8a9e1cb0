/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The cleanup process owns the private directory: even a killed runner leaves none behind.
 */
#include "app.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ctl/ctl_socket.h"
#include "sysfs/tree.h"

static_assert(
	sizeof(((struct app_cleanup *)0)->dir) <= SHCA_TREE_DIR_MAX, "sysfs paths stay short");

/** Eight ports take 5 MiB in files of some bytes each. */
#define ROOM_MIN (UINT64_C(16) << 20)

/** A container may have little of it; that the directory was made says nothing of its files.
 * No blocks at all: memory without a limit (Linux mm/shmem.c shmem_statfs()). */
static bool
has_room(const char *base)
{
	struct statvfs status;

	return statvfs(base, &status) == 0 &&
		(status.f_blocks == 0 || status.f_bavail * status.f_frsize >= ROOM_MIN);
}

/**
 * Create a directory below $XDG_RUNTIME_DIR; if that is unset, unusable or too long, root's below
 * /dev/shm. Both are in memory: the 330 files of a port come and go there in 17 ms of CPU time;
 * where /tmp is an ext4 that has just had many removed, in 290. What a user has in /dev/shm is
 * removed when he logs out (RemoveIPC= of logind.conf).
 */
static int
make_directory(char *dir, size_t size)
{
	const char *memory = geteuid() == 0 && has_room("/dev/shm") ? "/dev/shm" : NULL;
	const char *const bases[] = { getenv("XDG_RUNTIME_DIR"), memory, "/tmp" };
	int error = ENOENT;

	for (unsigned int i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		if (bases[i] == NULL || bases[i][0] != '/' ||
			snprintf(dir, size, "%s/" SHCA_CTL_RUNNER_PREFIX "XXXXXX", bases[i]) >=
				(int)size)
			continue;
		if (mkdtemp(dir) != NULL)
			return 0;
		error = errno;
	}
	return -error;
}

/** Release all that the runner was given: its terminal, its pipes, its working directory. */
static void
detach(int wait_fd, int answer_fd)
{
	int null_fd = open("/dev/null", O_RDWR);

	prctl(PR_SET_NAME, "softhca-cleanup");
	setsid();
	for (int i = 1; i < NSIG; i++)
		if (i != SIGCHLD)
			signal(i, SIG_IGN); /* SIGKILL, SIGSTOP: refused */
	dup2(wait_fd, 0);
	dup2(answer_fd, 1);
	dup2(null_fd, 2);
	close_range(3, ~0U, 0);
	if (chdir("/") != 0)
		_exit(APP_FAILED);
}

/** The cleanup process: create the directory, report its name or the errno, wait for the end of the
 * pipe, remove the directory. */
static _Noreturn void
clean_up(struct app_cleanup *answer)
{
	char byte;
	ssize_t ret;
	int error;

	error = make_directory(answer->dir, sizeof(answer->dir));
	answer->fd = error;
	ret = write(1, answer, sizeof(*answer));
	dup2(2, 1); /* a reader of the runner's output must not wait for us */
	if (error != 0)
		_exit(APP_FAILED);
	while (ret == sizeof(*answer) && (ret = read(0, &byte, 1)) != 0)
		if (ret < 0 && errno != EINTR)
			break;
	_exit(shca_tree_remove(answer->dir) == 0 ? 0 : APP_FAILED);
}

int
app_cleanup_start(struct app_cleanup *cleanup)
{
	struct app_cleanup answer = { 0 };
	int wait_fds[2] = { -1, -1 }, answer_fds[2] = { -1, -1 };
	int ret = 0;

	if (pipe2(wait_fds, O_CLOEXEC) != 0 || pipe2(answer_fds, O_CLOEXEC) != 0 ||
		(cleanup->pid = fork()) < 0) {
		ret = -errno;
		fprintf(stderr, "softhca: cannot start the cleanup process: %s\n", strerror(-ret));
		goto close_pipes;
	}
	if (cleanup->pid == 0) {
		detach(wait_fds[0], answer_fds[1]);
		clean_up(&answer);
	}
	close(answer_fds[1]);
	answer_fds[1] = -1;
	if (read(answer_fds[0], &answer, sizeof(answer)) != sizeof(answer))
		answer.fd = -EPIPE;
	if (answer.fd != 0) {
		ret = answer.fd;
		fprintf(stderr,
			"softhca: cannot make a directory in $XDG_RUNTIME_DIR or /tmp: %s\n",
			strerror(-ret));
		close(wait_fds[1]);
		wait_fds[1] = -1;
		waitpid(cleanup->pid, NULL, 0);
		goto close_pipes;
	}
	memcpy(cleanup->dir, answer.dir, sizeof(cleanup->dir));
	cleanup->fd = wait_fds[1];
	wait_fds[1] = -1;
close_pipes:
	for (unsigned int i = 0; i < 2; i++) {
		if (wait_fds[i] >= 0)
			close(wait_fds[i]);
		if (answer_fds[i] >= 0)
			close(answer_fds[i]);
	}
	return ret;
}

void
app_cleanup_stop(struct app_cleanup *cleanup)
{
	int status = 0;

	close(cleanup->fd);
	while (waitpid(cleanup->pid, &status, 0) < 0 && errno == EINTR)
		;
	/* The cleanup process was killed, or could not remove a file. */
	if (status != 0 && shca_tree_remove(cleanup->dir) != 0 && errno != ENOENT)
		fprintf(stderr, "softhca: cannot remove %s\n", cleanup->dir);
}
