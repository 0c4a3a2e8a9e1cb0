/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper/stop.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/log.h"

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
add(struct shca_stop *stop, pid_t tid, int signal)
{
	struct shca_stop_thread *more =
		reallocarray(stop->threads, stop->nb + 1, sizeof(*stop->threads));

	if (more == NULL)
		return -ENOMEM;
	stop->threads = more;
	stop->threads[stop->nb++] = (struct shca_stop_thread){ .tid = tid, .signal = signal };
	return 0;
}

/** @return whether a thread is ending: nobody may trace it any more. */
static bool
is_ending(pid_t tid)
{
	char path[64], line[256];
	const char *state = NULL;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	stat = fopen(path, "re");
	if (stat == NULL)
		return true;
	if (fgets(line, sizeof(line), stat) != NULL)
		state = strrchr(line, ')');
	fclose(stat);
	return state == NULL || strchr("ZX", state[1] != '\0' ? state[2] : 'X') != NULL;
}

/** @return 0, also for a thread that has ended or has a debugger; -ENOMEM. */
static int
stop_one(struct shca_stop *stop, pid_t tid)
{
	int status, ret;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
		const int error = errno;

		if (error != ESRCH && !is_ending(tid))
			SHCA_WARN("thread %d cannot be stopped: %s", (int)tid, strerror(error));
		return add(stop, -tid, 0);
	}
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 ||
		waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		return 0;
	/* A signal came first: it is delivered when the thread goes on. */
	ret = add(stop, tid, status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status));
	if (ret != 0)
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return ret;
}

/** @param[out] found whether there was a thread that the list has not */
static int
stop_new(struct shca_stop *stop, pid_t pid, pid_t own, bool *found)
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
		ret = stop_one(stop, tid);
	}
	if (dir != NULL)
		closedir(dir);
	return ret;
}

int
shca_stop_others(struct shca_stop *stop, pid_t pid, pid_t tid)
{
	bool found = true;
	int ret = 0;

	*stop = (struct shca_stop){ 0 };
	/* Threads that still ran may have made others. */
	while (found && ret == 0)
		ret = stop_new(stop, pid, tid, &found);
	if (ret != 0)
		shca_stop_end(stop);
	return ret;
}

void
shca_stop_end(struct shca_stop *stop)
{
	for (unsigned int i = 0; i < stop->nb; i++)
		if (stop->threads[i].tid > 0)
			ptrace(PTRACE_DETACH, stop->threads[i].tid, NULL,
				(void *)(uintptr_t)stop->threads[i].signal);
	free(stop->threads);
	*stop = (struct shca_stop){ 0 };
}
