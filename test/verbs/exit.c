/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that ends with the device open: until Linux has ended its last thread, nobody who waits
 * for events is told anything.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "rig.h"

static struct ibv_comp_channel *channel;

static short
poll_one(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 0 ? 0 : pollfd.revents;
}

/**
 * The last thing in exit(): stdio empties its streams after the destructors of all libraries. An
 * interrupt thread that is woken then, and prints what it finds, meets the C library doing this.
 */
static ssize_t
look(void *cookie, const char *bytes, size_t length)
{
	(void)cookie;
	(void)bytes;
	CHECK(poll_one(rig_context->async_fd) == 0, poll_one(rig_context->async_fd));
	CHECK(poll_one(channel->fd) == 0, poll_one(channel->fd));
	CHECK(poll_one(rig_context->cmd_fd) != POLLNVAL, poll_one(rig_context->cmd_fd));
	_exit(rig_summary());
	return (ssize_t)length;
}

int
main(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = look });
	struct ibv_cq *cq;

	rig_open();
	channel = ibv_create_comp_channel(rig_context);
	cq = channel == NULL ? NULL : ibv_create_cq(rig_context, 64, NULL, channel, 0);
	if (stream == NULL || cq == NULL)
		rig_die("setting up");
	fputs("something to write\n", stream);
	/* look() is to end the process with another status. */
	return 2;
}
