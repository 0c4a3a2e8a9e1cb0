/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C library's functions that may reach netlink or a keeper's events: sockets that send and
 * receive.
 */
#include "preload/next.h"

#include <errno.h>
#include <limits.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include "abi/core/user.h"
#include "nldev/owner.h"
#include "preload/bell.h"
#include "preload/fds.h"
#include "preload/genl.h"
#include "preload/netlink.h"
#include "preload/pieces.h"
#include "preload/route.h"
#include "preload/rtnl.h"

/** What programs call that are built with _FORTIFY_SOURCE, where the size is none that the compiler
 * knows. */
ssize_t __recv_chk(int fd, void *bytes, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *bytes, size_t size, size_t room, int flags,
	struct sockaddr *address, socklen_t *length);
ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room);

#define REQUEST_MAX 4096 /* bytes of requests in one datagram of netlink */

/** @return whether a datagram goes to the kernel; @p address: NULL for where the socket says. One
 * that is nowhere is the C library's to refuse. */
static bool
is_to_kernel(const void *address, socklen_t length)
{
	struct sockaddr_nl to = { .nl_pid = 0 };

	if (address != NULL &&
		shca_user_copy_in(
			&to, (uintptr_t)address, length < sizeof(to) ? length : sizeof(to)) != 0)
		return false;
	return to.nl_pid == 0;
}

/**
 * @return the state of a socket of RDMA netlink on which the datagram goes to the kernel, with a
 * reference to @p entry, or NULL.
 */
static struct shca_netlink *
find_netlink(int fd, const void *address, socklen_t length, struct shca_fd **entry)
{
	return shca_fds_has(fd) && is_to_kernel(address, length) ? shca_fds_netlink(fd, entry)
								 : NULL;
}

/** @return the state of a socket of the kernel's on which we answer, too, as find_netlink(). */
static struct shca_bell *
find_bell(int fd, struct shca_fd **entry)
{
	return shca_fds_has(fd) ? shca_fds_bell(fd, entry) : NULL;
}

/** Without memory the kernel alone answers. */
static int
open_with_bell(int domain, int type, int protocol)
{
	const int fd = NEXT(socket)(domain, type, protocol);
	struct shca_bell *bell = fd >= 0 ? shca_bell_create(protocol) : NULL;

	if (bell != NULL && shca_fds_add_bell(fd, bell) != 0)
		shca_bell_destroy(bell);
	return fd;
}

/**
 * RDMA netlink. A socket between processes stands in for the kernel's, so that all but what it
 * sends and from whom it receives is the C library's: addresses, poll(), buffers.
 */
EXPORT int
socket(int domain, int type, int protocol)
{
	struct shca_netlink *netlink;
	int fd, ret;

	if (domain != AF_NETLINK || !shca_route_is_active())
		return NEXT(socket)(domain, type, protocol);
	if (protocol == NETLINK_GENERIC || protocol == NETLINK_ROUTE)
		return open_with_bell(domain, type, protocol);
	if (protocol != NETLINK_RDMA)
		return NEXT(socket)(domain, type, protocol);
	fd = NEXT(socket)(domain, type, NETLINK_USERSOCK);
	if (fd < 0)
		return fd;
	netlink = shca_netlink_create();
	ret = netlink != NULL ? shca_fds_add_netlink(fd, netlink, shca_netlink_destroy) : -ENOMEM;
	if (ret == 0)
		return fd;
	if (netlink != NULL)
		shca_netlink_destroy(netlink);
	NEXT(close)(fd);
	return shca_next_answer(ret);
}

/** A socket that is connected receives from its peer alone (af_netlink.c
 * netlink_getsockbyportid()), and our answers are from the socket itself. One that is not sends to
 * the kernel as well. */
EXPORT int
connect(int fd, const struct sockaddr *address, socklen_t length)
{
	const struct sockaddr nobody = { .sa_family = AF_UNSPEC };
	struct sockaddr_nl to, self;
	struct shca_fd *entry;
	int ret;

	if (!shca_fds_has(fd) || length < sizeof(to) ||
		shca_user_copy_in(&to, (uintptr_t)address, sizeof(to)) != 0 ||
		to.nl_family != AF_NETLINK || to.nl_pid != 0 || to.nl_groups != 0 ||
		shca_fds_netlink(fd, &entry) == NULL)
		return NEXT(connect)(fd, address, length);
	shca_fds_put(entry);
	ret = NEXT(connect)(fd, &nobody, sizeof(nobody));
	return ret != 0 ? ret : shca_next_answer(shca_netlink_address(fd, &self));
}

/** Copy what is in pieces and may be anywhere. @return 0, -EFAULT, or -EMSGSIZE: it has no room in
 * REQUEST_MAX bytes. */
static int
gather(const struct iovec *iov, size_t nb, uint8_t *bytes, size_t *length)
{
	struct iovec piece;

	*length = 0;
	for (size_t i = 0; i < nb; i++) {
		if (shca_user_copy_in(&piece, (uintptr_t)&iov[i], sizeof(piece)) != 0)
			return -EFAULT;
		if (piece.iov_len > REQUEST_MAX - *length)
			return -EMSGSIZE;
		if (shca_user_copy_in(bytes + *length, (uintptr_t)piece.iov_base, piece.iov_len) !=
			0)
			return -EFAULT;
		*length += piece.iov_len;
	}
	return 0;
}

/** Answer a request; puts @p entry. */
static ssize_t
request_netlink(struct shca_netlink *netlink, struct shca_fd *entry, int fd,
	const struct iovec *iov, size_t nb)
{
	_Alignas(8) uint8_t bytes[REQUEST_MAX];
	size_t length;
	int ret = gather(iov, nb, bytes, &length);

	if (ret == 0)
		ret = shca_netlink_request(netlink, fd, bytes, length);
	shca_fds_put(entry);
	return ret == 0 ? (ssize_t)length : shca_next_answer(ret);
}

/** Answer a request on a socket of the kernel's, if it is ours. @return whether it is; then @p ret
 * is the result. */
static bool
try_request(int fd, const void *address, socklen_t address_length, const struct iovec *iov,
	size_t nb, ssize_t *ret)
{
	_Alignas(8) uint8_t bytes[REQUEST_MAX];
	struct shca_fd *entry;
	struct shca_bell *bell = find_bell(fd, &entry);
	int error = SHCA_NLDEV_KERNEL;
	size_t length;

	if (bell == NULL)
		return false;
	if (is_to_kernel(address, address_length) && gather(iov, nb, bytes, &length) == 0)
		error = shca_bell_protocol(bell) == NETLINK_ROUTE
			? shca_rtnl_request(bell, fd, bytes, length)
			: shca_genl_request(bell, fd, bytes, length);
	shca_fds_put(entry);
	if (error == SHCA_NLDEV_KERNEL)
		return false;
	*ret = error == 0 ? (ssize_t)length : shca_next_answer(error);
	return true;
}

EXPORT ssize_t
sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct shca_netlink *netlink;
	struct shca_fd *entry;
	struct msghdr seen;
	ssize_t ret;

	if (!shca_fds_has(fd) || shca_user_copy_in(&seen, (uintptr_t)message, sizeof(seen)) != 0)
		return NEXT(sendmsg)(fd, message, flags);
	netlink = find_netlink(fd, seen.msg_name, seen.msg_namelen, &entry);
	if (netlink == NULL &&
		try_request(
			fd, seen.msg_name, seen.msg_namelen, seen.msg_iov, seen.msg_iovlen, &ret))
		return ret;
	if (netlink == NULL)
		return NEXT(sendmsg)(fd, message, flags);
	return request_netlink(netlink, entry, fd, seen.msg_iov, seen.msg_iovlen);
}

EXPORT ssize_t
sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *address,
	socklen_t address_length)
{
	/* The C library's type does not say that the bytes are only read. */
	const struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = length };
	struct shca_fd *entry;
	struct shca_netlink *netlink = find_netlink(fd, address, address_length, &entry);
	ssize_t ret;

	if (netlink == NULL && try_request(fd, address, address_length, &iov, 1, &ret))
		return ret;
	if (netlink == NULL)
		return NEXT(sendto)(fd, bytes, length, flags, address, address_length);
	return request_netlink(netlink, entry, fd, &iov, 1);
}

EXPORT ssize_t
send(int fd, const void *bytes, size_t length, int flags)
{
	const struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = length };
	struct shca_fd *entry;
	struct shca_netlink *netlink = find_netlink(fd, NULL, 0, &entry);
	ssize_t ret;

	if (netlink == NULL && try_request(fd, NULL, 0, &iov, 1, &ret))
		return ret;
	if (netlink == NULL)
		return NEXT(send)(fd, bytes, length, flags);
	return request_netlink(netlink, entry, fd, &iov, 1);
}

/** The application has read from a descriptor. What RDMA netlink receives is from the kernel, which
 * has the address 0. */
static void
has_received(int fd, void *address, socklen_t length)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct shca_fd *entry;
	struct shca_netlink *netlink = find_netlink(fd, NULL, 0, &entry);

	if (netlink == NULL)
		return;
	if (address != NULL && length >= sizeof(kernel))
		memcpy(address, &kernel, sizeof(kernel));
	shca_netlink_flush(netlink, fd);
	shca_fds_put(entry);
}

/** Receive on a socket of the kernel's on which we answer, too. @return whether it is one; then
 * @p ret is the result. */
static bool
try_receive(int fd, struct msghdr *message, int flags, ssize_t *ret)
{
	struct shca_fd *entry;
	struct shca_bell *bell = find_bell(fd, &entry);
	int saved_errno;

	if (bell == NULL)
		return false;
	*ret = shca_bell_receive(bell, fd, message, flags);
	saved_errno = errno;
	shca_fds_put(entry);
	errno = saved_errno;
	return true;
}

EXPORT ssize_t
recvmsg(int fd, struct msghdr *message, int flags)
{
	struct msghdr seen;
	ssize_t ret;

	if (!shca_fds_has(fd) || shca_user_copy_in(&seen, (uintptr_t)message, sizeof(seen)) != 0)
		return NEXT(recvmsg)(fd, message, flags);
	if (try_receive(fd, message, flags, &ret))
		return ret;
	ret = NEXT(recvmsg)(fd, message, flags);
	if (ret >= 0)
		has_received(fd, message->msg_name, message->msg_namelen);
	return ret;
}

EXPORT ssize_t
recvfrom(int fd, void *bytes, size_t size, int flags, struct sockaddr *address, socklen_t *length)
{
	struct iovec iov = { .iov_base = bytes, .iov_len = size };
	struct msghdr message = { .msg_name = address, .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t ret;

	if (!shca_fds_has(fd) ||
		(address != NULL &&
			shca_user_copy_in(
				&message.msg_namelen, (uintptr_t)length, sizeof(*length)) != 0))
		return NEXT(recvfrom)(fd, bytes, size, flags, address, length);
	if (try_receive(fd, &message, flags, &ret)) {
		if (ret >= 0 && address != NULL)
			*length = message.msg_namelen;
		return ret;
	}
	ret = NEXT(recvfrom)(fd, bytes, size, flags, address, length);
	if (ret >= 0)
		has_received(fd, address, address != NULL ? *length : 0);
	return ret;
}

EXPORT ssize_t
recv(int fd, void *bytes, size_t size, int flags)
{
	struct iovec iov = { .iov_base = bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t ret;

	if (try_receive(fd, &message, flags, &ret))
		return ret;
	ret = NEXT(recv)(fd, bytes, size, flags);
	if (ret >= 0)
		has_received(fd, NULL, 0);
	return ret;
}

/** Nothing more comes: of a keeper's events that is a device that was removed (uverbs_main.c
 * ib_uverbs_disassociate_ufile(), ib_uverbs_event_read()). */
static ssize_t
end_events(int fd, void *bytes, size_t size)
{
	const struct ib_uverbs_async_event_desc fatal = { .element = 1,
		.event_type = IBV_EVENT_DEVICE_FATAL };

	switch (shca_fds_end(fd, size >= sizeof(fatal))) {
	case SHCA_FDS_REMOVED:
		memcpy(bytes, &fatal, sizeof(fatal));
		return sizeof(fatal);
	case SHCA_FDS_ERROR:
		return shca_next_answer(-EIO);
	case SHCA_FDS_END:
		break;
	}
	return 0;
}

/** The keeper has told of the removal itself: not once more. */
static void
note_removal(int fd, const void *bytes)
{
	struct ib_uverbs_async_event_desc event;

	memcpy(&event, bytes, sizeof(event));
	if (event.event_type == IBV_EVENT_DEVICE_FATAL)
		(void)shca_fds_end(fd, true);
}

static ssize_t
peek(int fd)
{
	uint8_t byte;

	return NEXT(recv)(fd, &byte, sizeof(byte), MSG_PEEK | MSG_TRUNC);
}

EXPORT ssize_t
read(int fd, void *bytes, size_t size)
{
	struct iovec iov = { .iov_base = bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	int is_cut = 0;
	ssize_t ret;

	if (try_receive(fd, &message, 0, &ret))
		return ret;
	/* Nodes take commands alone (uverbs_main.c uverbs_fops, ucma.c ucma_fops). */
	if (shca_fds_has(fd) && shca_fds_port(fd) >= 0)
		return shca_next_answer(-EINVAL);
	if (size < sizeof(struct ib_uverbs_async_event_desc) && shca_fds_has(fd))
		is_cut = shca_fds_cuts(fd, size, peek);
	/* An event that has no room stays (uverbs_main.c ib_uverbs_event_read()). */
	if (is_cut != 0)
		return is_cut < 0 ? -1 : shca_next_answer(-EINVAL);
	ret = NEXT(read)(fd, bytes, size);
	if (ret == 0 && size != 0 && shca_fds_has(fd))
		return end_events(fd, bytes, size);
	if (ret == sizeof(struct ib_uverbs_async_event_desc) && shca_fds_has(fd))
		note_removal(fd, bytes);
	if (ret >= 0)
		has_received(fd, NULL, 0);
	return ret;
}

/** As read(): a socket fills all pieces with one message. */
EXPORT ssize_t
readv(int fd, const struct iovec *iov, int nb)
{
	struct msghdr message = { .msg_iov = (struct iovec *)(uintptr_t)iov,
		.msg_iovlen = (size_t)nb };
	struct shca_fd *entry;

	if (!shca_fds_has(fd) || nb < 0 || nb > IOV_MAX)
		return NEXT(readv)(fd, iov, nb);
	if (shca_fds_port(fd) >= 0)
		return shca_next_answer(-EINVAL);
	if (shca_fds_has_events(fd))
		return shca_pieces(fd, iov, nb, read);
	if (shca_fds_netlink(fd, &entry) == NULL && shca_fds_bell(fd, &entry) == NULL)
		return NEXT(readv)(fd, iov, nb);
	shca_fds_put(entry);
	return recvmsg(fd, &message, 0);
}

/** The C library's own ends a program that has too little room. */
EXPORT ssize_t
__recv_chk(int fd, void *bytes, size_t size, size_t room, int flags)
{
	return size > room ? NEXT(__recv_chk)(fd, bytes, size, room, flags)
			   : recv(fd, bytes, size, flags);
}

EXPORT ssize_t
__recvfrom_chk(int fd, void *bytes, size_t size, size_t room, int flags, struct sockaddr *address,
	socklen_t *length)
{
	return size > room ? NEXT(__recvfrom_chk)(fd, bytes, size, room, flags, address, length)
			   : recvfrom(fd, bytes, size, flags, address, length);
}

EXPORT ssize_t
__read_chk(int fd, void *bytes, size_t size, size_t room)
{
	return size > room ? NEXT(__read_chk)(fd, bytes, size, room) : read(fd, bytes, size);
}
