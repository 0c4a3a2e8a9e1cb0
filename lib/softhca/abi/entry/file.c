/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file: a verbs context on a device. */
#include "abi/entry/file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "abi/core/ioctl.h"
#include "abi/core/mmap.h"
#include "abi/core/object.h"
#include "abi/entry/methods.h"
#include "abi/entry/write.h"
#include "config/model.h"
#include "hw/queue/loopback.h"

#define WATCHED_BYTES ((size_t)SHCA_MMAP_NB_WATCHED * SHCA_MMAP_PAGE_BYTES)
#define NS_PER_S      1000000000u
/** The time that Linux gives a GID's MAC (rdma_addr_find_l2_eth_by_grh()). */
#define RESOLVE_NS      NS_PER_S
#define RESOLVE_STEP_NS 2000000u

static _Atomic uint32_t next_ctxn;

/** Send a port's events to each asynchronous descriptor of the context (uverbs_main.c
 * ib_uverbs_event_handler). */
static void
on_port_event(void *owner, uint32_t port, enum shca_event event)
{
	const struct shca_file *file = owner;
	struct shca_eventq *queue;

	LIST_FOREACH (queue, &file->eventqs, link)
		if (queue->kind == SHCA_EVENTQ_ASYNC)
			shca_eventq_send_async(queue, port, event);
}

struct each {
	void (*function)(struct shca_file *file, void *arg);
	void *arg;
};

static void
each_listener(struct shca_listener *listener, void *arg)
{
	const struct each *each = arg;

	if (listener->event == on_port_event)
		each->function(listener->owner, each->arg);
}

void
shca_file_each(
	struct shca_device *dev, void (*function)(struct shca_file *file, void *arg), void *arg)
{
	struct each each = { function, arg };

	shca_device_lock(dev);
	shca_device_each_listener(dev, each_listener, &each);
	shca_device_unlock(dev);
}

/** Map the pages that the device shares with the application. */
static int
map_areas(struct shca_file *file, int fd)
{
	struct shca_clock_page *clock = &file->clock;

	clock->counter = shca_mmap_area(fd, SHCA_MMAP_CORE_CLOCK, SHCA_MMAP_PAGE_BYTES);
	clock->info = shca_mmap_area(fd, SHCA_MMAP_CLOCK_INFO, SHCA_MMAP_PAGE_BYTES);
	if (clock->counter == NULL || clock->info == NULL)
		return -ENOMEM;
	if (shca_device_conf(file->dev)->findings != NULL) {
		file->watched = shca_mmap_area(fd, SHCA_MMAP_UARS, WATCHED_BYTES);
		if (file->watched == NULL)
			return -ENOMEM;
	}
	if (file->model->max_dm_bytes == 0)
		return 0;
	file->device_memory =
		shca_mmap_area(fd, SHCA_MMAP_DEVICE_MEMORY, file->model->max_dm_bytes);
	return file->device_memory != NULL ? 0 : -ENOMEM;
}

static void
unmap_areas(struct shca_file *file)
{
	if (file->clock.counter != NULL)
		munmap(file->clock.counter, SHCA_MMAP_PAGE_BYTES);
	if (file->clock.info != NULL)
		munmap(file->clock.info, SHCA_MMAP_PAGE_BYTES);
	if (file->watched != NULL)
		munmap(file->watched, WATCHED_BYTES);
	if (file->device_memory != NULL)
		munmap(file->device_memory, file->model->max_dm_bytes);
}

static void
close_pidfd(int pidfd)
{
	if (pidfd >= 0)
		close(pidfd);
}

static bool
is_dead(struct shca_device *dev)
{
	bool dead;

	shca_device_lock(dev);
	dead = shca_device_is_dead(dev);
	shca_device_unlock(dev);
	return dead;
}

int
shca_file_open(struct shca_device *dev, bool cloexec, struct shca_file **out, int *fd)
{
	struct shca_file *file;
	int ret, node, pidfd;

	if (is_dead(dev))
		return -EIO; /* ib_uverbs_open */
	ret = shca_user_copy_pidfd(&pidfd);
	if (ret != 0)
		return ret;
	file = calloc(1, sizeof(*file));
	if (file == NULL) {
		close_pidfd(pidfd);
		return -ENOMEM;
	}
	file->dev = dev;
	file->program.pidfd = pidfd;
	file->context = (struct shca_context){
		.ctxn = next_ctxn++,
		.pid = shca_user_pid(),
		.program = pidfd >= 0 ? &file->program : NULL,
	};
	shca_user_comm(file->context.comm);
	file->model = shca_device_conf(dev)->model;
	file->methods = shca_methods_objects;
	node = shca_mmap_open(shca_device_conf(dev)->index, cloexec);
	if (node < 0) {
		ret = node;
		goto free_file;
	}
	ret = map_areas(file, node);
	if (ret != 0)
		goto close_node;
	file->listener = (struct shca_listener){ .event = on_port_event, .owner = file };
	/* The kernel's handles are s32 to some callers: keep them positive. */
	shca_idtable_init(&file->handles, 0, INT32_MAX);
	shca_idtable_init(&file->uars, 0, SHCA_MMAP_UAR_LAST);
	TAILQ_INIT(&file->objects);
	LIST_INIT(&file->eventqs);
	shca_device_lock(dev);
	shca_clock_page_add(dev, &file->clock);
	shca_device_listen(dev, &file->listener);
	shca_device_unlock(dev);
	*fd = node;
	*out = file;
	return 0;

close_node:
	unmap_areas(file);
	close(node);
free_file:
	close_pidfd(pidfd);
	free(file);
	return ret;
}

/** Wait without the lock: slow firmware does not stop the rest of the device. */
static void
wait_for(uint64_t ns)
{
	struct timespec left = { .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = ns % NS_PER_S };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

/** Take the lock for a request, or for another run of it. */
static void
begin(struct shca_file *file, bool is_again)
{
	shca_device_lock(file->dev);
	file->is_run_again = is_again;
	file->nb_calls++;
}

static void
end(struct shca_file *file)
{
	const uint64_t delay_ns = file->delay_ns;

	file->delay_ns = 0;
	shca_device_unlock(file->dev);
	if (delay_ns != 0)
		wait_for(delay_ns);
}

/**
 * Wait without the lock for what a request has found under way: Linux asks the network for the MAC
 * of a GID, and its answer comes by the device. Such a request has changed nothing.
 * @param[in,out] waited_ns so far @return whether to run it again.
 */
static bool
awaits(int *ret, uint64_t *waited_ns)
{
	if (*ret != -EINPROGRESS)
		return false;
	if (*waited_ns >= RESOLVE_NS) {
		*ret = -ETIMEDOUT; /* rdma_addr_find_l2_eth_by_grh() */
		return false;
	}
	wait_for(RESOLVE_STEP_NS);
	*waited_ns += RESOLVE_STEP_NS;
	return true;
}

int
shca_file_ioctl(struct shca_file *file, unsigned long request, void *arg)
{
	uint64_t waited_ns = 0;
	int ret;

	do {
		begin(file, waited_ns != 0);
		ret = shca_ioctl_run(file, request, arg);
		end(file);
	} while (awaits(&ret, &waited_ns));
	return ret;
}

int
shca_file_write(struct shca_file *file, const void *bytes, size_t length)
{
	uint64_t waited_ns = 0;
	int ret;

	do {
		begin(file, waited_ns != 0);
		ret = shca_write_run(file, bytes, length);
		end(file);
	} while (awaits(&ret, &waited_ns));
	return ret;
}

static void
close_file(struct shca_file *file, void (*end_eventqs)(struct shca_file *file))
{
	shca_device_lock(file->dev);
	shca_device_unlisten(&file->listener);
	shca_object_destroy_all(file);
	if (file->has_context)
		shca_loopback_count_domain(file->dev, -1);
	end_eventqs(file);
	shca_clock_page_remove(&file->clock);
	shca_device_unlock(file->dev);
	unmap_areas(file);
	close_pidfd(file->program.pidfd);
	shca_idtable_fini(&file->uars);
	shca_idtable_fini(&file->handles);
	free(file);
}

void
shca_file_close(struct shca_file *file)
{
	if (file != NULL)
		close_file(file, shca_eventq_destroy_all);
}

void
shca_file_close_at_exit(struct shca_file *file)
{
	close_file(file, shca_eventq_leave_all);
}
