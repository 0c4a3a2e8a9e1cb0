/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C library's functions that may reach a node: one row each. For other paths and descriptors
 * they call the C library's own function.
 */
/* The functions are defined under their plain names, not as the large-file or checked variants. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl.h>

#include "abi/entry/file.h"
#include "client/link.h"
#include "client/share.h"
#include "nldev/ethtool.h"
#include "preload/fds.h"
#include "preload/genl.h"
#include "preload/netlink.h"
#include "preload/route.h"

#define REQUEST_MAX 4096 /* bytes of requests in one datagram of netlink */

#define EXPORT __attribute__((visibility("default")))

/** On LP64 systems, the only ones supported, one structure serves both names. */
static_assert(sizeof(struct stat) == sizeof(struct stat64), "stat64 is stat");

/** Functions that the headers do not declare: fortified forms, and stat before glibc 2.33. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
int __xstat(int version, const char *path, struct stat *status);
int __xstat64(int version, const char *path, struct stat64 *status);
int __lxstat(int version, const char *path, struct stat *status);
int __lxstat64(int version, const char *path, struct stat64 *status);
int __fxstat(int version, int fd, struct stat *status);
int __fxstat64(int version, int fd, struct stat64 *status);

#define SYMBOLS(ROW)                                                                               \
	ROW(open)                                                                                  \
	ROW(open64)                                                                                \
	ROW(openat)                                                                                \
	ROW(openat64)                                                                              \
	ROW(__open_2)                                                                              \
	ROW(__open64_2)                                                                            \
	ROW(__openat_2)                                                                            \
	ROW(__openat64_2)                                                                          \
	ROW(stat)                                                                                  \
	ROW(stat64)                                                                                \
	ROW(lstat)                                                                                 \
	ROW(lstat64)                                                                               \
	ROW(__xstat)                                                                               \
	ROW(__xstat64)                                                                             \
	ROW(__lxstat)                                                                              \
	ROW(__lxstat64)                                                                            \
	ROW(fstat)                                                                                 \
	ROW(fstat64)                                                                               \
	ROW(__fxstat)                                                                              \
	ROW(__fxstat64)                                                                            \
	ROW(access)                                                                                \
	ROW(ioctl)                                                                                 \
	ROW(write)                                                                                 \
	ROW(close)                                                                                 \
	ROW(dup)                                                                                   \
	ROW(dup2)                                                                                  \
	ROW(dup3)                                                                                  \
	ROW(fcntl)                                                                                 \
	ROW(fcntl64)                                                                               \
	ROW(fork)                                                                                  \
	ROW(socket)                                                                                \
	ROW(send)                                                                                  \
	ROW(sendto)                                                                                \
	ROW(sendmsg)                                                                               \
	ROW(recv)                                                                                  \
	ROW(recvfrom)                                                                              \
	ROW(recvmsg)                                                                               \
	ROW(read)

#define ROW_ENUM(name) SYMBOL_##name,
#define ROW_NAME(name) #name,
enum symbol {
	SYMBOLS(ROW_ENUM) NB_SYMBOLS
};
static const char *const symbol_names[] = { SYMBOLS(ROW_NAME) };

static int
is_missing(void)
{
	errno = ENOSYS;
	return -1;
}

/** Bind a function at first use: other libraries' constructors may call it before ours run. */
static void *
bind_next(enum symbol symbol)
{
	static void *_Atomic bound[NB_SYMBOLS];
	void *function = atomic_load_explicit(&bound[symbol], memory_order_relaxed);
	int saved_errno;

	if (function != NULL)
		return function;
	saved_errno = errno;
	function = dlsym(RTLD_NEXT, symbol_names[symbol]);
	errno = saved_errno;
	if (function == NULL)
		return (void *)is_missing;
	atomic_store_explicit(&bound[symbol], function, memory_order_relaxed);
	return function;
}

#define NEXT(name) ((__typeof__(&name))bind_next(SYMBOL_##name))

/** Return a result as the C library does: a negative errno becomes -1 and errno. */
static int
answer(int ret)
{
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

/** @return whether @p path is ours; then @p fd is the result. */
static bool
try_open(const char *path, int flags, int *fd)
{
	unsigned int port;

	switch (shca_route_find(path, &port)) {
	case SHCA_ROUTE_PORT:
		*fd = answer(shca_route_open(port, (flags & O_CLOEXEC) != 0));
		return true;
	case SHCA_ROUTE_ABSENT:
		*fd = answer(-ENOENT);
		return true;
	case SHCA_ROUTE_ELSEWHERE:
		break;
	}
	return false;
}

/** The caller passes a mode only with certain flags (open(2)). */
#define TAKE_MODE(mode, last, flags)                                                               \
	do {                                                                                       \
		if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) {                            \
			va_list args_;                                                             \
			va_start(args_, last);                                                     \
			mode = va_arg(args_, mode_t);                                              \
			va_end(args_);                                                             \
		}                                                                                  \
	} while (0)

#define DEFINE_OPEN(name)                                                                          \
	EXPORT int name(const char *path, int flags, ...)                                          \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		int fd;                                                                            \
		if (try_open(path, flags, &fd))                                                    \
			return fd;                                                                 \
		TAKE_MODE(mode, flags, flags);                                                     \
		return NEXT(name)(path, flags, mode);                                              \
	}
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

/** A node's path is absolute, so the directory does not matter. */
#define DEFINE_OPENAT(name)                                                                        \
	EXPORT int name(int dir, const char *path, int flags, ...)                                 \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		int fd;                                                                            \
		if (try_open(path, flags, &fd))                                                    \
			return fd;                                                                 \
		TAKE_MODE(mode, flags, flags);                                                     \
		return NEXT(name)(dir, path, flags, mode);                                         \
	}
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

#define DEFINE_OPEN_2(name)                                                                        \
	EXPORT int name(const char *path, int flags)                                               \
	{                                                                                          \
		int fd;                                                                            \
		return try_open(path, flags, &fd) ? fd : NEXT(name)(path, flags);                  \
	}
DEFINE_OPEN_2(__open_2)
DEFINE_OPEN_2(__open64_2)

#define DEFINE_OPENAT_2(name)                                                                      \
	EXPORT int name(int dir, const char *path, int flags)                                      \
	{                                                                                          \
		int fd;                                                                            \
		return try_open(path, flags, &fd) ? fd : NEXT(name)(dir, path, flags);             \
	}
DEFINE_OPENAT_2(__openat_2)
DEFINE_OPENAT_2(__openat64_2)

static void
fill_status(unsigned int port, void *status)
{
	const struct stat node = {
		.st_mode = S_IFCHR | 0666,
		.st_nlink = 1,
		.st_ino = port + 1,
		.st_rdev = shca_route_rdev(port),
		.st_blksize = 4096,
	};

	memcpy(status, &node, sizeof(node));
}

/** @return whether @p path is ours; then @p ret is the result. */
static bool
try_stat(const char *path, void *status, int *ret)
{
	unsigned int port;

	switch (shca_route_find(path, &port)) {
	case SHCA_ROUTE_PORT:
		fill_status(port, status);
		*ret = 0;
		return true;
	case SHCA_ROUTE_ABSENT:
		*ret = answer(-ENOENT);
		return true;
	case SHCA_ROUTE_ELSEWHERE:
		break;
	}
	return false;
}

#define DEFINE_STAT(name, type)                                                                    \
	EXPORT int name(const char *path, struct type *status)                                     \
	{                                                                                          \
		int ret;                                                                           \
		return try_stat(path, status, &ret) ? ret : NEXT(name)(path, status);              \
	}
DEFINE_STAT(stat, stat)
DEFINE_STAT(stat64, stat64)
DEFINE_STAT(lstat, stat)
DEFINE_STAT(lstat64, stat64)

#define DEFINE_XSTAT(name, type)                                                                   \
	EXPORT int name(int version, const char *path, struct type *status)                        \
	{                                                                                          \
		int ret;                                                                           \
		return try_stat(path, status, &ret) ? ret : NEXT(name)(version, path, status);     \
	}
DEFINE_XSTAT(__xstat, stat)
DEFINE_XSTAT(__xstat64, stat64)
DEFINE_XSTAT(__lxstat, stat)
DEFINE_XSTAT(__lxstat64, stat64)

static bool
try_fstat(int fd, void *status)
{
	int port = shca_fds_has(fd) ? shca_fds_port(fd) : -1;

	if (port >= 0)
		fill_status((unsigned int)port, status);
	return port >= 0;
}

#define DEFINE_FSTAT(name, type)                                                                   \
	EXPORT int name(int fd, struct type *status)                                               \
	{                                                                                          \
		return try_fstat(fd, status) ? 0 : NEXT(name)(fd, status);                         \
	}
DEFINE_FSTAT(fstat, stat)
DEFINE_FSTAT(fstat64, stat64)

#define DEFINE_FXSTAT(name, type)                                                                  \
	EXPORT int name(int version, int fd, struct type *status)                                  \
	{                                                                                          \
		return try_fstat(fd, status) ? 0 : NEXT(name)(version, fd, status);                \
	}
DEFINE_FXSTAT(__fxstat, stat)
DEFINE_FXSTAT(__fxstat64, stat64)

EXPORT int
access(const char *path, int mode)
{
	unsigned int port;

	switch (shca_route_find(path, &port)) {
	case SHCA_ROUTE_PORT:
		return answer(mode & X_OK ? -EACCES : 0);
	case SHCA_ROUTE_ABSENT:
		return answer(-ENOENT);
	case SHCA_ROUTE_ELSEWHERE:
		break;
	}
	return NEXT(access)(path, mode);
}

/** Requests of other kinds (FIOCLEX, FIONBIO) work on the descriptor itself. */
EXPORT int
ioctl(int fd, unsigned long request, ...)
{
	struct shca_file *file;
	struct shca_fd *entry;
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == SIOCETHTOOL && shca_route_is_active()) {
		ret = shca_route_ethtool(arg);
		if (ret != SHCA_NLDEV_KERNEL)
			return answer(ret);
		ret = NEXT(ioctl)(fd, request, arg);
		if (ret == 0)
			shca_route_drvinfo(arg);
		return ret;
	}
	if (_IOC_TYPE(request) != RDMA_IOCTL_MAGIC || !shca_fds_has(fd))
		return NEXT(ioctl)(fd, request, arg);
	entry = shca_fds_get(fd);
	if (entry == NULL)
		return NEXT(ioctl)(fd, request, arg);
	/* In a child of fork() a device of the parent's is gone, as after a removal of hardware. */
	file = shca_fds_file(entry);
	if (shca_fds_is_kept(entry))
		ret = shca_link_ioctl(fd, request, arg);
	else
		ret = file != NULL ? shca_file_ioctl(file, request, arg) : -EIO;
	shca_fds_put(entry);
	return answer(ret);
}

/**
 * @return the state of a socket of RDMA netlink on which the datagram goes to the kernel, with a
 * reference to @p entry, or NULL.
 */
static struct shca_netlink *
find_netlink(int fd, const void *address, socklen_t length, struct shca_fd **entry)
{
	struct sockaddr_nl to = { .nl_pid = 0 };

	if (!shca_fds_has(fd))
		return NULL;
	if (address != NULL)
		memcpy(&to, address, length < sizeof(to) ? length : sizeof(to));
	return to.nl_pid == 0 ? shca_fds_netlink(fd, entry) : NULL;
}

/** One command a write, whole or not at all (core/uverbs_main.c ib_uverbs_write). */
EXPORT ssize_t
write(int fd, const void *bytes, size_t length)
{
	struct shca_file *file;
	struct shca_fd *entry;
	int ret;

	if (find_netlink(fd, NULL, 0, &entry) != NULL) {
		shca_fds_put(entry);
		return send(fd, bytes, length, 0);
	}
	/* shca_fds_port(): another file may have the number, if we did not see the close. */
	entry = shca_fds_has(fd) && shca_fds_port(fd) >= 0 ? shca_fds_get(fd) : NULL;
	if (entry == NULL)
		return NEXT(write)(fd, bytes, length);
	file = shca_fds_file(entry);
	if (shca_fds_is_kept(entry))
		ret = shca_link_write(fd, bytes, length);
	else
		ret = file != NULL ? shca_file_write(file, bytes, length) : -EIO;
	shca_fds_put(entry);
	return ret == 0 ? (ssize_t)length : answer(ret);
}

EXPORT int
close(int fd)
{
	struct shca_fd *entry = shca_fds_has(fd) ? shca_fds_take(fd) : NULL;
	int ret = NEXT(close)(fd);
	int saved_errno = errno;

	shca_fds_put(entry);
	errno = saved_errno;
	return ret;
}

EXPORT int
dup(int fd)
{
	int copy = NEXT(dup)(fd);

	if (copy >= 0)
		shca_fds_copy(fd, copy);
	return copy;
}

EXPORT int
dup2(int fd, int to)
{
	int copy = NEXT(dup2)(fd, to);

	if (copy >= 0)
		shca_fds_copy(fd, copy);
	return copy;
}

EXPORT int
dup3(int fd, int to, int flags)
{
	int copy = NEXT(dup3)(fd, to, flags);

	if (copy >= 0)
		shca_fds_copy(fd, copy);
	return copy;
}

#define DEFINE_FCNTL(name)                                                                         \
	EXPORT int name(int fd, int command, ...)                                                  \
	{                                                                                          \
		va_list args;                                                                      \
		void *arg;                                                                         \
		int ret;                                                                           \
		va_start(args, command);                                                           \
		arg = va_arg(args, void *);                                                        \
		va_end(args);                                                                      \
		ret = NEXT(name)(fd, command, arg);                                                \
		if (ret >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))                \
			shca_fds_copy(fd, ret);                                                    \
		return ret;                                                                        \
	}
DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)

/** Memory that has moved to the keeper's sight stays the parent's alone. */
EXPORT pid_t
fork(void)
{
	return shca_share_fork(NEXT(fork));
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

	if (domain != AF_NETLINK || protocol != NETLINK_RDMA || !shca_route_is_active())
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
	return answer(ret);
}

/** Copy what is in pieces and may be anywhere, and answer it; puts @p entry. */
static ssize_t
request_netlink(struct shca_netlink *netlink, struct shca_fd *entry, int fd,
	const struct iovec *iov, size_t nb)
{
	_Alignas(8) uint8_t bytes[REQUEST_MAX];
	size_t length = 0;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < nb; i++) {
		if (iov[i].iov_len > sizeof(bytes) - length) {
			ret = -EMSGSIZE;
			break;
		}
		memcpy(bytes + length, iov[i].iov_base, iov[i].iov_len);
		length += iov[i].iov_len;
	}
	if (ret == 0)
		ret = shca_netlink_request(netlink, fd, bytes, length);
	shca_fds_put(entry);
	return ret == 0 ? (ssize_t)length : answer(ret);
}

EXPORT ssize_t
sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct shca_fd *entry;
	struct shca_netlink *netlink =
		find_netlink(fd, message->msg_name, message->msg_namelen, &entry);

	if (netlink == NULL)
		return NEXT(sendmsg)(fd, message, flags);
	return request_netlink(netlink, entry, fd, message->msg_iov, message->msg_iovlen);
}

EXPORT ssize_t
sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *address,
	socklen_t address_length)
{
	/* The C library's type does not say that the bytes are only read. */
	const struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = length };
	struct shca_fd *entry;
	struct shca_netlink *netlink = find_netlink(fd, address, address_length, &entry);
	uint8_t room[SHCA_GENL_ROOM];

	if (netlink == NULL) {
		bytes = shca_genl_screen(address, address_length, bytes, length, room);
		return NEXT(sendto)(fd, bytes, length, flags, address, address_length);
	}
	return request_netlink(netlink, entry, fd, &iov, 1);
}

EXPORT ssize_t
send(int fd, const void *bytes, size_t length, int flags)
{
	const struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = length };
	struct shca_fd *entry;
	struct shca_netlink *netlink = find_netlink(fd, NULL, 0, &entry);

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

EXPORT ssize_t
recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t ret = NEXT(recvmsg)(fd, message, flags);

	if (ret >= 0)
		has_received(fd, message->msg_name, message->msg_namelen);
	return ret;
}

EXPORT ssize_t
recvfrom(int fd, void *bytes, size_t size, int flags, struct sockaddr *address, socklen_t *length)
{
	ssize_t ret = NEXT(recvfrom)(fd, bytes, size, flags, address, length);

	if (ret >= 0)
		has_received(fd, address, address != NULL ? *length : 0);
	return ret;
}

EXPORT ssize_t
recv(int fd, void *bytes, size_t size, int flags)
{
	ssize_t ret = NEXT(recv)(fd, bytes, size, flags);

	if (ret >= 0)
		has_received(fd, NULL, 0);
	return ret;
}

EXPORT ssize_t
read(int fd, void *bytes, size_t size)
{
	ssize_t ret = NEXT(read)(fd, bytes, size);

	if (ret >= 0)
		has_received(fd, NULL, 0);
	return ret;
}
