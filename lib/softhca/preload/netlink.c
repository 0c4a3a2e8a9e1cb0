/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "client/cancel.h"
#include "client/link.h"
#include "nldev/nldev.h"
#include "preload/route.h"

struct datagram {
	STAILQ_ENTRY(datagram) next;
	size_t length;
	uint8_t bytes[];
};

STAILQ_HEAD(datagrams, datagram);

struct shca_netlink {
	pthread_mutex_t lock;
	struct datagrams waiting;
};

struct shca_netlink *
shca_netlink_create(void)
{
	struct shca_netlink *netlink = calloc(1, sizeof(*netlink));

	if (netlink == NULL)
		return NULL;
	pthread_mutex_init(&netlink->lock, NULL);
	STAILQ_INIT(&netlink->waiting);
	return netlink;
}

void
shca_netlink_destroy(struct shca_netlink *netlink)
{
	struct datagram *datagram;

	while ((datagram = STAILQ_FIRST(&netlink->waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&netlink->waiting, next);
		free(datagram);
	}
	pthread_mutex_destroy(&netlink->lock);
	free(netlink);
}

int
shca_netlink_address(int fd, struct sockaddr_nl *address)
{
	socklen_t length = sizeof(*address);

	if (getsockname(fd, (struct sockaddr *)address, &length) != 0)
		return -errno;
	if (address->nl_pid != 0)
		return 0;
	length = sizeof(*address);
	return bind(fd, (const struct sockaddr *)address, length) != 0 ||
			getsockname(fd, (struct sockaddr *)address, &length) != 0
		? -errno
		: 0;
}

static int
wait_for_room(void *arg, const void *bytes, size_t length)
{
	struct datagrams *answers = arg;
	struct datagram *datagram = malloc(sizeof(*datagram) + length);

	if (datagram == NULL)
		return -ENOMEM;
	datagram->length = length;
	memcpy(datagram->bytes, bytes, length);
	STAILQ_INSERT_TAIL(answers, datagram, next);
	return 0;
}

/** The lock is held. */
static void
flush(struct shca_netlink *netlink, int fd, const struct sockaddr_nl *self)
{
	struct datagram *datagram;

	while ((datagram = STAILQ_FIRST(&netlink->waiting)) != NULL) {
		if (sendto(fd, datagram->bytes, datagram->length, MSG_DONTWAIT,
			    (const struct sockaddr *)self, sizeof(*self)) < 0)
			break;
		STAILQ_REMOVE_HEAD(&netlink->waiting, next);
		free(datagram);
	}
}

static int
request(struct shca_netlink *netlink, int fd, const void *bytes, size_t length)
{
	struct datagrams answers = STAILQ_HEAD_INITIALIZER(answers);
	struct shca_nldev nldev = { .send = wait_for_room, .arg = &answers };
	const char *keeper = shca_route_keeper();
	struct sockaddr_nl self;
	int ret = shca_netlink_address(fd, &self);

	if (ret == 0 && keeper == NULL)
		ret = shca_route_nldev(&nldev);
	if (ret != 0)
		return ret;
	nldev.portid = self.nl_pid;
	if (keeper != NULL) {
		shca_route_watch_forks();
		ret = shca_link_netlink(
			keeper, bytes, length, self.nl_pid, wait_for_room, &answers);
	} else {
		ret = shca_nldev_answer(&nldev, bytes, length);
	}
	pthread_mutex_lock(&netlink->lock);
	STAILQ_CONCAT(&netlink->waiting, &answers);
	flush(netlink, fd, &self);
	pthread_mutex_unlock(&netlink->lock);
	return ret;
}

int
shca_netlink_request(struct shca_netlink *netlink, int fd, const void *bytes, size_t length)
{
	const int cancelling = shca_cancel_disable();
	const int ret = request(netlink, fd, bytes, length);

	shca_cancel_restore(cancelling);
	return ret;
}

void
shca_netlink_flush(struct shca_netlink *netlink, int fd)
{
	const int saved_errno = errno;
	const int cancelling = shca_cancel_disable();
	struct sockaddr_nl self;

	pthread_mutex_lock(&netlink->lock);
	if (!STAILQ_EMPTY(&netlink->waiting) && shca_netlink_address(fd, &self) == 0)
		flush(netlink, fd, &self);
	pthread_mutex_unlock(&netlink->lock);
	shca_cancel_restore(cancelling);
	errno = saved_errno;
}
