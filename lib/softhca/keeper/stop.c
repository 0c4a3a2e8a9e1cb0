/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper/stop.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

/** Between looks whether a thread has forked, or stands still. */
#define STEP_NS 100000
/** Steps that threads have to stand still while another one, which has forked, does. */
#define FORK_STEPS 10000
/** A child that is not done by then never will be, likely; nobody waits for it any longer. */
#define CHILD_PATIENCE_MS 10000

/** @return the number of a thread in its own namespace of processes, or -1. */
static pid_t
inner_tid(pid_t pid, pid_t tid)
{
	char path[64], line[256];
	const char *number;
	pid_t inner = -1;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	status = fopen(path, "re");
	if (status == NULL)
		return -1;
	while (inner < 0 && fgets(line, sizeof(line), status) != NULL) {
		number = strrchr(line, '\t');
		if (strncmp(line, "NSpid:", 6) == 0 && number != NULL)
			inner = (pid_t)atoi(number);
	}
	fclose(status);
	return inner;
}

static bool
has(const struct shca_stop *stop, pid_t tid)
{
	for (unsigned int i = 0; i < stop->nb; i++)
		if (stop->threads[i].tid == tid)
			return true;
	return false;
}

static int
add(struct shca_stop *stop, pid_t tid, int signal, bool is_late)
{
	struct shca_stop_thread *more =
		reallocarray(stop->threads, stop->nb + 1, sizeof(*stop->threads));

	if (more == NULL)
		return -ENOMEM;
	stop->threads = more;
	stop->threads[stop->nb++] =
		(struct shca_stop_thread){ .tid = tid, .signal = signal, .is_late = is_late };
	return 0;
}

char
shca_stop_state(pid_t tid)
{
	char path[64], line[256];
	const char *state;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	stat = fopen(path, "re");
	if (stat == NULL)
		return '\0';
	line[fread(line, 1, sizeof(line) - 1, stat)] = '\0';
	fclose(stat);
	/* Its name, before that, may have any bytes. */
	state = strrchr(line, ')');
	return state != NULL && state[1] == ' ' ? state[2] : '\0';
}

/** @return whether a thread is ending: nobody may trace it any more. */
static bool
is_ending(pid_t tid)
{
	return strchr("ZX", shca_stop_state(tid)) != NULL;
}

/** A signal came first: it is delivered when the thread goes on. */
static int
signal_of(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
}

/** Wait until a thread stands still, or has ended: in the end one that waits for the child of its
 * vfork() does. @param nb_steps how long, 0: however long
 * @return as waitpid() */
static pid_t
await_stop(pid_t tid, unsigned int nb_steps, int *status)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	pid_t ret = waitpid(tid, status, __WALL | (nb_steps != 0 ? WNOHANG : 0));

	for (unsigned int i = 0; ret == 0 && i < nb_steps; i++) {
		nanosleep(&step, NULL);
		ret = waitpid(tid, status, __WALL | WNOHANG);
	}
	return ret;
}

/** @param nb_steps of await_stop()
 * @return 0, also for a thread that has ended or has a debugger; -ENOMEM. */
static int
stop_one(struct shca_stop *stop, pid_t tid, unsigned int nb_steps)
{
	int status = 0, ret;
	pid_t found;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
		const int error = errno;

		if (error != ESRCH && !is_ending(tid))
			SHCA_WARN("thread %d cannot be stopped: %s", (int)tid, strerror(error));
		return add(stop, -tid, 0, false);
	}
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
		return 0;
	found = await_stop(tid, nb_steps, &status);
	if (found == 0)
		return add(stop, tid, 0, true);
	if (found != tid || !WIFSTOPPED(status))
		return 0;
	ret = add(stop, tid, signal_of(status), false);
	if (ret != 0)
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return ret;
}

/** @param[out] found whether there was a thread that the list has not */
static int
stop_new(struct shca_stop *stop, pid_t pid, pid_t own, unsigned int nb_steps, bool *found)
{
	const struct dirent *entry;
	char path[64];
	int ret = 0;
	DIR *dir;

	*found = false;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir != NULL && ret == 0 && (entry = readdir(dir)) != NULL) {
		const pid_t tid = (pid_t)atoi(entry->d_name);

		if (tid == 0 || has(stop, tid) || has(stop, -tid) || inner_tid(pid, tid) == own)
			continue;
		*found = true;
		ret = stop_one(stop, tid, nb_steps);
	}
	if (dir != NULL)
		closedir(dir);
	return ret;
}

static int
stop_others(struct shca_stop *stop, pid_t pid, pid_t tid, unsigned int nb_steps)
{
	bool found = true;
	int ret = 0;

	*stop = (struct shca_stop){ 0 };
	/* Threads that still ran may have made others. */
	while (found && ret == 0)
		ret = stop_new(stop, pid, tid, nb_steps, &found);
	if (ret != 0)
		shca_stop_end(stop);
	return ret;
}

int
shca_stop_others(struct shca_stop *stop, pid_t pid, pid_t tid)
{
	return stop_others(stop, pid, tid, 0);
}

void
shca_stop_end(struct shca_stop *stop)
{
	int status = 0;

	for (unsigned int i = 0; i < stop->nb; i++)
		if (stop->threads[i].tid > 0 && !stop->threads[i].is_late)
			ptrace(PTRACE_DETACH, stop->threads[i].tid, NULL,
				(void *)(uintptr_t)stop->threads[i].signal);
	/* They may have waited for one of those above. */
	for (unsigned int i = 0; i < stop->nb; i++)
		if (stop->threads[i].is_late && await_stop(stop->threads[i].tid, 0, &status) > 0 &&
			WIFSTOPPED(status))
			ptrace(PTRACE_DETACH, stop->threads[i].tid, NULL,
				(void *)(uintptr_t)signal_of(status));
	free(stop->threads);
	*stop = (struct shca_stop){ 0 };
}

/** @return how many threads there are. @param[out] tid the one that the process knows as @p inner
 */
static unsigned int
find_thread(pid_t pid, pid_t inner, pid_t *tid)
{
	const struct dirent *entry;
	unsigned int nb = 0;
	char path[64];
	DIR *dir;

	*tid = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		const pid_t number = (pid_t)atoi(entry->d_name);

		nb += number != 0;
		if (number != 0 && inner_tid(pid, number) == inner)
			*tid = number;
	}
	if (dir != NULL)
		closedir(dir);
	return nb;
}

int
shca_stop_before_fork(struct shca_stop_fork *fork, pid_t pid, pid_t tid)
{
	pid_t found;

	if (find_thread(pid, tid, &found) < 2 || found == 0)
		return -ESRCH;
	if (ptrace(PTRACE_SEIZE, found, NULL, (void *)PTRACE_O_TRACEFORK) != 0)
		return -errno;
	*fork = (struct shca_stop_fork){ .pid = pid, .inner = tid, .tid = found };
	return 0;
}

/** Wait until the thread stands still: it has forked, or there is no child. @return the child or 0;
 * @param[out] signal that has arrived meanwhile, or 0 */
static pid_t
await_child(const struct shca_stop_fork *fork, int said, int *signal)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	struct pollfd pollfd = { .fd = said, .events = POLLIN };
	unsigned long child = 0;
	bool is_over = false;
	int status = 0;
	pid_t ret;

	*signal = 0;
	while ((ret = waitpid(fork->tid, &status, __WALL | (is_over ? 0 : WNOHANG))) == 0) {
		is_over = ppoll(&pollfd, 1, &step, NULL) == 1;
		if (is_over && ptrace(PTRACE_INTERRUPT, fork->tid, NULL, NULL) != 0)
			return 0;
	}
	if (ret != fork->tid || !WIFSTOPPED(status))
		return 0;
	if (status >> 16 == PTRACE_EVENT_FORK &&
		ptrace(PTRACE_GETEVENTMSG, fork->tid, NULL, &child) == 0)
		return (pid_t)child;
	*signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
	return 0;
}

/** Let the child, which stands still from its beginning, go on until it is done. */
static void
run_child(pid_t child, int done)
{
	struct pollfd pollfds[] = { { .fd = done, .events = POLLIN }, { .events = POLLIN } };
	int status;

	pollfds[1].fd = (int)syscall(SYS_pidfd_open, child, 0);
	if (waitpid(child, &status, __WALL) == child && WIFSTOPPED(status))
		ptrace(PTRACE_DETACH, child, NULL, NULL);
	if (pollfds[1].fd < 0)
		return;
	while (poll(pollfds, 2, CHILD_PATIENCE_MS) < 0 && errno == EINTR)
		;
	close(pollfds[1].fd);
}

/** A thread that was killed when it had forked does not tell of its child, which stands still. */
static void
let_orphans_go(void)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL | __WNOTHREAD)) > 0)
		if (WIFSTOPPED(status))
			ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

void
shca_stop_at_fork(struct shca_stop_fork *fork, int said, int done)
{
	struct shca_stop stop = { 0 };
	int signal;
	const pid_t child = await_child(fork, said, &signal);

	if (child != 0) {
		(void)stop_others(&stop, fork->pid, fork->inner, FORK_STEPS);
		if (fork->stands != NULL)
			fork->stands(fork->arg);
		run_child(child, done);
		if (fork->goes_on != NULL)
			fork->goes_on(fork->arg);
	}
	if (ptrace(PTRACE_DETACH, fork->tid, NULL, (void *)(uintptr_t)signal) != 0 && child == 0)
		let_orphans_go();
	/* Behind the thread that has forked, whose locks the others may wait for. */
	shca_stop_end(&stop);
	*fork = (struct shca_stop_fork){ 0 };
}
