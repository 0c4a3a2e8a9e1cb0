/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper/process.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

static struct {
	pthread_mutex_t lock;
	LIST_HEAD(, shca_process) list;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct shca_process *
create(pid_t pid)
{
	struct shca_process *process = calloc(1, sizeof(*process));

	if (process == NULL)
		return NULL;
	process->pid = pid;
	process->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process->pidfd < 0) {
		SHCA_ERR("process %d: %s", (int)pid, strerror(errno));
		free(process);
		return NULL;
	}
	pthread_mutex_init(&process->lock, NULL);
	pthread_cond_init(&process->forked, NULL);
	pthread_rwlock_init(&process->calls, NULL);
	shca_memory_init(&process->memory, pid, process->pidfd);
	LIST_INSERT_HEAD(&all.list, process, link);
	return process;
}

/** @return whether the number may be another process's by now. */
static bool
has_ended(const struct shca_process *process)
{
	struct pollfd gone = { .fd = process->pidfd, .events = POLLIN };

	return poll(&gone, 1, 0) == 1;
}

struct shca_process *
shca_process_get(pid_t pid)
{
	struct shca_process *process;

	pthread_mutex_lock(&all.lock);
	LIST_FOREACH (process, &all.list, link)
		if (process->pid == pid && !has_ended(process))
			break;
	if (process == NULL)
		process = create(pid);
	if (process != NULL)
		process->nb_sessions++;
	pthread_mutex_unlock(&all.lock);
	return process;
}

void
shca_process_await_end(struct shca_process *process)
{
	struct pollfd gone = { .fd = process->pidfd, .events = POLLIN };
	bool is_first;

	pthread_mutex_lock(&all.lock);
	is_first = !process->is_awaited;
	process->is_awaited = true;
	pthread_mutex_unlock(&all.lock);
	/* One that ends or becomes another program closes its connections after its memory. */
	while (is_first && shca_memory_has_moved(&process->memory, 0, UINT64_MAX) &&
		poll(&gone, 1, -1) < 0 && errno == EINTR)
		;
	/* A session that waits does not see the program become another one, whose memory is not
	 * that of before; and another may be there before the last one has gone. */
	pthread_mutex_lock(&process->lock);
	shca_memory_forget_moved(&process->memory);
	pthread_mutex_unlock(&process->lock);
	if (!is_first)
		return;
	pthread_mutex_lock(&all.lock);
	process->is_awaited = false;
	pthread_mutex_unlock(&all.lock);
}

void
shca_process_await_fork(struct shca_process *process)
{
	while (process->forks)
		pthread_cond_wait(&process->forked, &process->lock);
}

void
shca_process_put(struct shca_process *process)
{
	bool is_last;

	if (process == NULL)
		return;
	pthread_mutex_lock(&all.lock);
	is_last = --process->nb_sessions == 0;
	if (is_last)
		LIST_REMOVE(process, link);
	pthread_mutex_unlock(&all.lock);
	if (!is_last)
		return;
	shca_memory_fini(&process->memory);
	close(process->pidfd);
	pthread_rwlock_destroy(&process->calls);
	pthread_cond_destroy(&process->forked);
	pthread_mutex_destroy(&process->lock);
	free(process);
}
