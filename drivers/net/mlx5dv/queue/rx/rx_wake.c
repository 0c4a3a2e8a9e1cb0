/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors to wait for. */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "rx_wake.h"

static int
set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

static int
add(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

/** Make one descriptor for both. */
static int
join(struct mdv_rx_wake *wake)
{
	wake->self = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	wake->fd = epoll_create1(EPOLL_CLOEXEC);
	if (wake->self < 0 || wake->fd < 0 || add(wake->fd, wake->self) != 0 ||
		add(wake->fd, wake->channel->fd) != 0)
		return -errno;
	return 0;
}

int
mdv_rx_wake_open(struct ibv_context *ctx, struct mdv_rx_wake *wake)
{
	int ret;

	wake->channel = ibv_create_comp_channel(ctx);
	if (wake->channel == NULL)
		return errno != 0 ? -errno : -ENOMEM;
	wake->self = wake->fd = -1;
	ret = set_nonblocking(wake->channel->fd);
	if (ret == 0)
		ret = join(wake);
	if (ret != 0)
		mdv_rx_wake_close(wake);
	return ret;
}

int
mdv_rx_wake_close(struct mdv_rx_wake *wake)
{
	if (wake->fd >= 0)
		close(wake->fd);
	if (wake->self >= 0)
		close(wake->self);
	return -ibv_destroy_comp_channel(wake->channel);
}

void
mdv_rx_wake_now(const struct mdv_rx_wake *wake)
{
	eventfd_write(wake->self, 1);
}

void
mdv_rx_wake_clear(const struct mdv_rx_wake *wake)
{
	eventfd_t count;

	eventfd_read(wake->self, &count);
}
