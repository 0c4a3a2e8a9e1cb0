/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptor table: two levels of atomic pointers, changed under a lock. */
#include "preload/next.h"

#include "preload/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/entry/file.h"
#include "base/node.h"
#include "client/cancel.h"
#include "client/link.h"
#include "preload/bell.h"

#define PAGE_LOG2 10
#define PAGE_FDS  (1 << PAGE_LOG2)
#define NB_PAGES  1024 /* a million descriptors: the kernel's default fs.nr_open */
/** Descriptors that were closed with events, at most, and their least number. */
#define NB_KEPT    16
#define KEPT_FIRST 100

struct shca_fd {
	struct shca_file *file;       /* NULL: closed at exit, or no node */
	struct shca_netlink *netlink; /* NULL: not such a socket */
	void (*destroy)(struct shca_netlink *netlink);
	struct shca_bell *bell;    /* NULL: not such a socket */
	bool is_kept;              /* a node that the keeper knows */
	bool has_events;           /* of a device's */
	atomic_bool was_removed;   /* and has told so, or never does */
	atomic_size_t event_bytes; /* of one; 0: there was none yet */
	unsigned int port;
	unsigned int nb_refs; /* descriptors and users */
	pid_t owner;
	dev_t device; /* identity of the descriptor, as we do not see */
	ino_t inode;  /* close_range() and similar calls */
};

typedef struct shca_fd *_Atomic slot;

static slot *_Atomic pages[NB_PAGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/** The process whose table this memory is: a child of vfork() has its parent's. */
static pid_t table_owner;

static slot *
find(int fd)
{
	slot *page;

	if (fd < 0 || fd >> PAGE_LOG2 >= NB_PAGES)
		return NULL;
	page = atomic_load_explicit(&pages[fd >> PAGE_LOG2], memory_order_acquire);
	return page == NULL ? NULL : &page[fd & (PAGE_FDS - 1)];
}

bool
shca_fds_has(int fd)
{
	slot *found = find(fd);

	return found != NULL && atomic_load_explicit(found, memory_order_acquire) != NULL;
}

/** The lock is held. Pages are never freed, as readers take no lock. */
static slot *
find_or_grow(int fd)
{
	slot *page;

	if (fd < 0 || fd >> PAGE_LOG2 >= NB_PAGES)
		return NULL;
	if (pages[fd >> PAGE_LOG2] == NULL) {
		page = calloc(PAGE_FDS, sizeof(*page));
		if (page == NULL)
			return NULL;
		atomic_store_explicit(&pages[fd >> PAGE_LOG2], page, memory_order_release);
	}
	return find(fd);
}

/** By the C library's own function: ours calls this. */
static bool
identify(int fd, dev_t *device, ino_t *inode)
{
	struct stat status;
	int saved_errno = errno;
	int ret = NEXT(fstatat)(fd, "", &status, AT_EMPTY_PATH);

	errno = saved_errno;
	if (ret != 0)
		return false;
	*device = status.st_dev;
	*inode = status.st_ino;
	return true;
}

static bool
is_same(int fd, const struct shca_fd *entry)
{
	dev_t device;
	ino_t inode;

	return identify(fd, &device, &inode) && device == entry->device && inode == entry->inode;
}

/** @return whether the entry works in this process. */
static bool
is_own(const struct shca_fd *entry)
{
	return (entry->is_kept ? table_owner : entry->owner) == getpid();
}

static int
add(int fd, const struct shca_fd *what)
{
	struct shca_fd *entry = calloc(1, sizeof(*entry));
	struct shca_fd *stale = NULL;
	slot *found;

	if (entry == NULL)
		return -ENOMEM;
	*entry = *what;
	entry->nb_refs = 1;
	entry->owner = table_owner = getpid();
	identify(fd, &entry->device, &entry->inode);
	pthread_mutex_lock(&lock);
	found = find_or_grow(fd);
	if (found != NULL)
		stale = atomic_exchange(found, entry);
	pthread_mutex_unlock(&lock);
	if (found == NULL) {
		free(entry);
		return -EMFILE;
	}
	shca_fds_put(stale);
	return 0;
}

int
shca_fds_add(int fd, struct shca_file *file, unsigned int port)
{
	return add(fd, &(const struct shca_fd){ .file = file, .port = port });
}

int
shca_fds_add_kept(int fd, unsigned int port)
{
	return add(fd, &(const struct shca_fd){ .is_kept = true, .port = port });
}

int
shca_fds_add_events(int fd, bool is_kept)
{
	return add(fd, &(const struct shca_fd){ .has_events = true, .was_removed = !is_kept });
}

bool
shca_fds_has_events(int fd)
{
	struct shca_fd *entry = shca_fds_get(fd);
	const bool has = entry != NULL && entry->has_events && is_same(fd, entry);

	shca_fds_put(entry);
	return has;
}

int
shca_fds_cuts(int fd, size_t size, ssize_t (*peek)(int fd))
{
	struct shca_fd *entry = shca_fds_get(fd);
	ssize_t bytes = 0;

	if (entry != NULL && entry->has_events && is_same(fd, entry)) {
		bytes = (ssize_t)atomic_load(&entry->event_bytes);
		/* Without an event it is not the room that is wanting. */
		if (bytes == 0 || size < (size_t)bytes)
			bytes = peek(fd);
		if (bytes > 0)
			atomic_store(&entry->event_bytes, (size_t)bytes);
	}
	shca_fds_put(entry);
	return bytes < 0 ? -1 : size < (size_t)bytes;
}

/** The lock may be held. */
static bool
has_unread(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	const int cancelling = shca_cancel_disable();
	const int nb = poll(&pollfd, 1, 0);

	shca_cancel_restore(cancelling);
	return nb == 1 && pollfd.revents == POLLIN;
}

void
shca_fds_keep_unread(int fd, struct shca_fd *entry)
{
	static struct shca_fd kept[NB_KEPT];
	static int kept_fd[NB_KEPT];
	unsigned int i = 0;

	if (!entry->has_events || entry->nb_refs != 1 || entry->owner != getpid() ||
		!is_same(fd, entry) || !has_unread(fd))
		return;
	pthread_mutex_lock(&lock);
	while (i < NB_KEPT && kept[i].has_events && is_same(kept_fd[i], &kept[i]) &&
		has_unread(kept_fd[i]))
		i++;
	if (i < NB_KEPT) {
		if (kept[i].has_events && is_same(kept_fd[i], &kept[i]))
			syscall(SYS_close, kept_fd[i]);
		/* Not by our own fcntl(), which may want the lock. */
		kept_fd[i] = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, KEPT_FIRST);
		kept[i] = *entry;
		kept[i].has_events = kept_fd[i] >= 0;
	}
	pthread_mutex_unlock(&lock);
}

enum shca_fds_end
shca_fds_end(int fd, bool is_async)
{
	struct shca_fd *entry = shca_fds_get(fd);
	enum shca_fds_end end = SHCA_FDS_END;

	if (entry == NULL)
		return SHCA_FDS_END;
	if (entry->has_events && is_same(fd, entry))
		end = is_async && !atomic_exchange(&entry->was_removed, true) ? SHCA_FDS_REMOVED
									      : SHCA_FDS_ERROR;
	shca_fds_put(entry);
	return end;
}

bool
shca_fds_is_node(const struct shca_fd *entry)
{
	return entry->netlink == NULL && entry->bell == NULL && !entry->has_events;
}

bool
shca_fds_is_rdma_cm(const struct shca_fd *entry)
{
	return entry->port == SHCA_NODE_RDMA_CM;
}

bool
shca_fds_is_kept(const struct shca_fd *entry)
{
	return entry->is_kept;
}

int
shca_fds_add_netlink(
	int fd, struct shca_netlink *netlink, void (*destroy)(struct shca_netlink *netlink))
{
	return add(fd, &(const struct shca_fd){ .netlink = netlink, .destroy = destroy });
}

struct shca_fd *
shca_fds_get(int fd)
{
	struct shca_fd *entry = NULL;
	slot *found;

	if (!shca_fds_has(fd))
		return NULL;
	pthread_mutex_lock(&lock);
	found = find(fd);
	if (found != NULL)
		entry = *found;
	if (entry != NULL)
		entry->nb_refs++;
	pthread_mutex_unlock(&lock);
	return entry;
}

void
shca_fds_put(struct shca_fd *entry)
{
	bool is_last;

	if (entry == NULL)
		return;
	pthread_mutex_lock(&lock);
	is_last = --entry->nb_refs == 0;
	pthread_mutex_unlock(&lock);
	if (!is_last)
		return;
	/* In a child of fork() rings and device thread belong to the parent: leave them alone. */
	if (entry->owner == getpid())
		shca_file_close(entry->file);
	if (entry->netlink != NULL)
		entry->destroy(entry->netlink);
	shca_bell_destroy(entry->bell);
	if (entry->is_kept)
		shca_link_closed();
	free(entry);
}

struct shca_file *
shca_fds_file(const struct shca_fd *entry)
{
	return entry->owner == getpid() ? entry->file : NULL;
}

int
shca_fds_port(int fd)
{
	struct shca_fd *entry = shca_fds_get(fd);
	int port = -1;

	if (entry == NULL)
		return -1;
	if (shca_fds_is_node(entry) && is_same(fd, entry))
		port = (int)entry->port;
	shca_fds_put(entry);
	return port;
}

struct shca_netlink *
shca_fds_netlink(int fd, struct shca_fd **entry)
{
	*entry = shca_fds_get(fd);
	if (*entry == NULL)
		return NULL;
	if ((*entry)->netlink != NULL && is_same(fd, *entry))
		return (*entry)->netlink;
	shca_fds_put(*entry);
	return NULL;
}

int
shca_fds_add_bell(int fd, struct shca_bell *bell)
{
	return add(fd, &(const struct shca_fd){ .bell = bell });
}

struct shca_bell *
shca_fds_bell(int fd, struct shca_fd **entry)
{
	*entry = shca_fds_get(fd);
	if (*entry == NULL)
		return NULL;
	if ((*entry)->bell != NULL && is_same(fd, *entry))
		return (*entry)->bell;
	shca_fds_put(*entry);
	return NULL;
}

struct shca_fd *
shca_fds_take(int fd)
{
	struct shca_fd *entry;
	slot *found;

	if (!shca_fds_has(fd))
		return NULL;
	pthread_mutex_lock(&lock);
	found = find(fd);
	entry = *found;
	/* A child of vfork() closes its own descriptor, but works in the parent's memory. */
	if (entry != NULL && is_own(entry))
		*found = NULL;
	else
		entry = NULL;
	pthread_mutex_unlock(&lock);
	return entry;
}

void
shca_fds_copy(int from, int to)
{
	struct shca_fd *entry, *displaced;
	slot *found;

	if (from == to || (!shca_fds_has(from) && !shca_fds_has(to)))
		return;
	entry = shca_fds_get(from);
	displaced = shca_fds_take(to);
	if (entry != NULL && !is_own(entry)) {
		shca_fds_put(entry);
		entry = NULL;
	}
	if (entry != NULL) {
		pthread_mutex_lock(&lock);
		found = find_or_grow(to);
		if (found != NULL)
			*found = entry;
		pthread_mutex_unlock(&lock);
		if (found == NULL)
			shca_fds_put(entry);
	}
	shca_fds_put(displaced);
}

/** The lock is held. */
static bool
close_at_exit(slot *page)
{
	bool all_closed = true;

	for (unsigned int i = 0; i < PAGE_FDS; i++) {
		struct shca_fd *entry = page[i];

		if (entry == NULL || entry->owner != getpid() || entry->file == NULL)
			continue;
		/* Another reference is a copy or a call: leave the file to the kernel. */
		if (entry->nb_refs != 1) {
			all_closed = false;
			continue;
		}
		shca_file_close_at_exit(entry->file);
		entry->file = NULL;
	}
	return all_closed;
}

bool
shca_fds_close_all(void)
{
	bool all_closed = true;

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < NB_PAGES; i++)
		if (pages[i] != NULL && !close_at_exit(pages[i]))
			all_closed = false;
	pthread_mutex_unlock(&lock);
	return all_closed;
}

void
shca_fds_forked(void)
{
	table_owner = getpid();
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

void
shca_fds_lock(void)
{
	pthread_mutex_lock(&lock);
}

void
shca_fds_unlock(void)
{
	pthread_mutex_unlock(&lock);
}
