/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/next.h"

#include "preload/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libmnl/libmnl.h>

#define DATAGRAM_MAX 65536 /* the kernel's are of up to 32 KiB, unless a message is longer */

static bool
has_option(int fd, int option)
{
	int value = 0;
	socklen_t length = sizeof(value);

	return getsockopt(fd, SOL_NETLINK, option, &value, &length) == 0 && value != 0;
}

struct shca_kernel_options
shca_kernel_options(int fd)
{
	return (struct shca_kernel_options){
		.has_extack = has_option(fd, NETLINK_EXT_ACK),
		.caps_acks = has_option(fd, NETLINK_CAP_ACK),
	};
}

/** @return whether the answer is complete; then @p ret is the result. */
static bool
visit_all(const void *bytes, ssize_t length,
	int (*visit)(void *arg, const struct nlmsghdr *message), void *arg, int *ret)
{
	const struct nlmsghdr *message = bytes;
	int left = (int)length;

	for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
		*ret = visit(arg, message);
		if (*ret != 0 || message->nlmsg_type == NLMSG_ERROR ||
			message->nlmsg_type == NLMSG_DONE)
			return true;
	}
	return false;
}

static int
exchange(int fd, const struct nlmsghdr *request, void *room,
	int (*visit)(void *arg, const struct nlmsghdr *message), void *arg)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	ssize_t length = NEXT(sendto)(fd, request, request->nlmsg_len, 0,
		(const struct sockaddr *)&kernel, sizeof(kernel));
	int ret = 0;

	if (length < 0)
		return -errno;
	do {
		length = NEXT(recv)(fd, room, DATAGRAM_MAX, 0);
		if (length < 0 && errno != EINTR)
			return -errno;
	} while (length < 0 || !visit_all(room, length, visit, arg, &ret));
	return ret;
}

int
shca_kernel_ask(int protocol, const struct shca_kernel_options *options,
	const struct nlmsghdr *request, int (*visit)(void *arg, const struct nlmsghdr *message),
	void *arg)
{
	const int fd = NEXT(socket)(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	const int on = 1;
	void *room;
	int ret = -ENOMEM;

	if (fd < 0)
		return -errno;
	if (options->has_extack)
		setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	if (options->caps_acks)
		setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	room = malloc(DATAGRAM_MAX);
	if (room != NULL)
		ret = exchange(fd, request, room, visit, arg);
	free(room);
	NEXT(close)(fd);
	return ret;
}
