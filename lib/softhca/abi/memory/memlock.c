/* SPDX-License-Identifier: BSD-3-Clause */
#include "abi/memory/memlock.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "abi/core/caps.h"
#include "abi/core/user.h"

/** A process with pinned memory. */
struct owner {
	LIST_ENTRY(owner) link;
	pid_t pid;
	uint64_t bytes;
};

/** Of all devices, for which one lock is enough. */
static LIST_HEAD(, owner) owners = LIST_HEAD_INITIALIZER(owners);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct owner *
find(pid_t pid)
{
	struct owner *owner;

	LIST_FOREACH (owner, &owners, link)
		if (owner->pid == pid)
			break;
	return owner;
}

/** The lock is held. */
static int
take(pid_t pid, uint64_t bytes, uint64_t most)
{
	struct owner *owner = find(pid);
	const uint64_t held = owner != NULL ? owner->bytes : 0;

	if (bytes > most || held > most - bytes)
		return -ENOMEM;
	if (owner == NULL) {
		owner = calloc(1, sizeof(*owner));
		if (owner == NULL)
			return -ENOMEM;
		owner->pid = pid;
		LIST_INSERT_HEAD(&owners, owner, link);
	}
	owner->bytes += bytes;
	return 0;
}

int
shca_memlock_take(uint64_t bytes, pid_t *owner)
{
	const bool is_free = shca_caps_has(CAP_IPC_LOCK);
	const uint64_t most = is_free ? UINT64_MAX : shca_user_memlock();
	int ret;

	if (most == 0)
		return -EPERM; /* can_do_mlock() */
	*owner = shca_user_pid();
	pthread_mutex_lock(&lock);
	ret = take(*owner, bytes, most);
	pthread_mutex_unlock(&lock);
	return ret;
}

void
shca_memlock_give(pid_t owner, uint64_t bytes)
{
	struct owner *found;

	if (bytes == 0)
		return;
	pthread_mutex_lock(&lock);
	found = find(owner);
	found->bytes -= bytes;
	if (found->bytes == 0) {
		LIST_REMOVE(found, link);
		free(found);
	}
	pthread_mutex_unlock(&lock);
}
