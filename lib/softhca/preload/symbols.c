/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C library's functions that may reach a node: one row each. For other paths and descriptors
 * they call the C library's own function.
 */
#include "preload/next.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl.h>

#include "abi/core/user.h"
#include "abi/entry/file.h"
#include "base/node.h"
#include "client/link.h"
#include "nldev/ethtool.h"
#include "preload/connections.h"
#include "preload/fds.h"
#include "preload/pieces.h"
#include "preload/route.h"

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
int __fxstatat(int version, int dir, const char *path, struct stat *status, int flags);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *status, int flags);

/** As Linux does for a device that is there (fs/namei.c do_open()). @return a descriptor, or a
 * negative errno */
static int
open_node(unsigned int port, int flags)
{
	int fd;

	if ((flags & O_PATH) == 0 && (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0)
		return -EEXIST;
	if ((flags & O_DIRECTORY) != 0)
		return -ENOTDIR;
	fd = shca_route_open(port, (flags & O_CLOEXEC) != 0);
	/* Who asks for events of connections does not wait (ucma.c ucma_get_event()). */
	if (fd >= 0 && (flags & O_NONBLOCK) != 0)
		(void)NEXT(fcntl)(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/** @return whether @p path is ours; then @p fd is the result. */
static bool
try_open(const char *path, int flags, int *fd)
{
	const int saved_errno = errno;
	unsigned int port;
	int ret;

	/* O_PATH opens no device: a link to a node's descriptor leads to that. */
	switch ((flags & O_PATH) != 0 ? shca_route_find(path, &port)
				      : shca_route_find_open(path, &port)) {
	case SHCA_ROUTE_PORT:
		ret = open_node(port, flags);
		errno = saved_errno;
		*fd = shca_next_answer(ret);
		return true;
	case SHCA_ROUTE_ABSENT:
		*fd = shca_next_answer(-ENOENT);
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

/** @return 0 or -1 and errno */
static int
fill_status(unsigned int port, void *status)
{
	const struct stat node = {
		.st_mode = S_IFCHR | 0666,
		.st_nlink = 1,
		.st_ino = port + 1,
		.st_rdev = shca_route_rdev(port),
		.st_blksize = 4096,
	};

	return shca_next_answer(shca_user_copy_out((uintptr_t)status, &node, sizeof(node)));
}

/** @return whether @p path is ours; then @p ret is the result. */
static bool
try_stat(const char *path, void *status, int *ret)
{
	unsigned int port;

	switch (shca_route_find(path, &port)) {
	case SHCA_ROUTE_PORT:
		*ret = fill_status(port, status);
		return true;
	case SHCA_ROUTE_ABSENT:
		*ret = shca_next_answer(-ENOENT);
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

/** @return whether @p fd is ours; then @p ret is the result. */
static bool
try_fstat(int fd, void *status, int *ret)
{
	int port = shca_fds_has(fd) ? shca_fds_port(fd) : -1;

	if (port >= 0)
		*ret = fill_status((unsigned int)port, status);
	return port >= 0;
}

/** A node that this process has not opened looks like its file: one without a name. */
static void
try_passed(int fd, void *status)
{
	struct stat seen;
	int ret;

	memcpy(&seen, status, sizeof(seen));
	if (S_ISREG(seen.st_mode) && seen.st_nlink == 0 && !shca_fds_has(fd) &&
		shca_route_adopt(fd))
		(void)try_fstat(fd, status, &ret);
}

#define DEFINE_FSTAT(name, type)                                                                   \
	EXPORT int name(int fd, struct type *status)                                               \
	{                                                                                          \
		int ret;                                                                           \
		if (try_fstat(fd, status, &ret))                                                   \
			return ret;                                                                \
		ret = NEXT(name)(fd, status);                                                      \
		if (ret == 0)                                                                      \
			try_passed(fd, status);                                                    \
		return ret;                                                                        \
	}
DEFINE_FSTAT(fstat, stat)
DEFINE_FSTAT(fstat64, stat64)

#define DEFINE_FXSTAT(name, type)                                                                  \
	EXPORT int name(int version, int fd, struct type *status)                                  \
	{                                                                                          \
		int ret;                                                                           \
		if (try_fstat(fd, status, &ret))                                                   \
			return ret;                                                                \
		ret = NEXT(name)(version, fd, status);                                             \
		if (ret == 0)                                                                      \
			try_passed(fd, status);                                                    \
		return ret;                                                                        \
	}
DEFINE_FXSTAT(__fxstat, stat)
DEFINE_FXSTAT(__fxstat64, stat64)

/** glibc's headers declare paths nonnull, so that a compiler leaves out what is done about NULL;
 * the kernel has an answer to that, which is another one since Linux 6.11. */
static const char *
maybe_null(const char *path)
{
	__asm__("" : "+r"(path));
	return path;
}

/** @return whether it is about the descriptor that stands for the directory. */
static bool
is_of_fd(int dir, const char *path, int flags)
{
	const char *name = maybe_null(path);

	return (flags & AT_EMPTY_PATH) != 0 && dir >= 0 && name != NULL && name[0] == '\0';
}

#define DEFINE_FSTATAT(name, type, fstat_name)                                                     \
	EXPORT int name(int dir, const char *path, struct type *status, int flags)                 \
	{                                                                                          \
		int ret;                                                                           \
		if (is_of_fd(dir, path, flags))                                                    \
			return fstat_name(dir, status);                                            \
		return try_stat(path, status, &ret) ? ret : NEXT(name)(dir, path, status, flags);  \
	}
DEFINE_FSTATAT(fstatat, stat, fstat)
DEFINE_FSTATAT(fstatat64, stat64, fstat64)

#define DEFINE_FXSTATAT(name, type, fxstat_name)                                                   \
	EXPORT int name(int version, int dir, const char *path, struct type *status, int flags)    \
	{                                                                                          \
		int ret;                                                                           \
		if (is_of_fd(dir, path, flags))                                                    \
			return fxstat_name(version, dir, status);                                  \
		return try_stat(path, status, &ret)                                                \
			? ret                                                                      \
			: NEXT(name)(version, dir, path, status, flags);                           \
	}
DEFINE_FXSTATAT(__fxstatat, stat, __fxstat)
DEFINE_FXSTATAT(__fxstatat64, stat64, __fxstat64)

/** @return 0 or -1 and errno */
static int
extend_status(const struct stat *node, void *status)
{
	const struct statx extended = {
		.stx_mask = STATX_BASIC_STATS,
		.stx_blksize = (uint32_t)node->st_blksize,
		.stx_nlink = (uint32_t)node->st_nlink,
		.stx_mode = (uint16_t)node->st_mode,
		.stx_ino = node->st_ino,
		.stx_rdev_major = major(node->st_rdev),
		.stx_rdev_minor = minor(node->st_rdev),
	};

	return shca_next_answer(shca_user_copy_out((uintptr_t)status, &extended, sizeof(extended)));
}

/** As try_passed(). */
static void
try_passed_extended(int fd, struct statx *status)
{
	struct stat node = { .st_mode = status->stx_mode, .st_nlink = status->stx_nlink };

	try_passed(fd, &node);
	if (node.st_mode != status->stx_mode)
		(void)extend_status(&node, status);
}

EXPORT int
statx(int dir, const char *path, int flags, unsigned int mask, struct statx *status)
{
	const bool is_fd = is_of_fd(dir, path, flags);
	struct stat node;
	int ret;

	if (is_fd ? try_fstat(dir, &node, &ret) : try_stat(path, &node, &ret))
		return ret == 0 ? extend_status(&node, status) : ret;
	ret = NEXT(statx)(dir, path, flags, mask, status);
	if (ret == 0 && is_fd)
		try_passed_extended(dir, status);
	return ret;
}

/** @return whether @p path is ours; then @p ret is the result. */
static bool
try_access(const char *path, int mode, int *ret)
{
	unsigned int port;

	switch (shca_route_find(path, &port)) {
	case SHCA_ROUTE_PORT:
		*ret = shca_next_answer(mode & X_OK ? -EACCES : 0);
		return true;
	case SHCA_ROUTE_ABSENT:
		*ret = shca_next_answer(-ENOENT);
		return true;
	case SHCA_ROUTE_ELSEWHERE:
		break;
	}
	return false;
}

#define DEFINE_ACCESS(name)                                                                        \
	EXPORT int name(const char *path, int mode)                                                \
	{                                                                                          \
		int ret;                                                                           \
		return try_access(path, mode, &ret) ? ret : NEXT(name)(path, mode);                \
	}
DEFINE_ACCESS(access)
DEFINE_ACCESS(euidaccess)
DEFINE_ACCESS(eaccess)

EXPORT int
faccessat(int dir, const char *path, int mode, int flags)
{
	int ret;

	return try_access(path, mode, &ret) ? ret : NEXT(faccessat)(dir, path, mode, flags);
}

/** Know the descriptors that a call has made again; without memory the end of a keeper is the end
 * of a file. */
static int
note_events(int ret, const struct shca_link_fds *made)
{
	for (unsigned int i = 0; i < made->nb; i++)
		(void)shca_fds_add_events(made->fd[i], true);
	return ret;
}

/** The same for those of a device in this process. */
static int
note_own_events(int ret)
{
	int fds[SHCA_USER_FDS_MAX];
	const unsigned int nb = shca_user_take_given(fds);

	for (unsigned int i = 0; ret == 0 && i < nb; i++)
		(void)shca_fds_add_events(fds[i], false);
	return ret;
}

/** Others have no netdevs: the kernel refuses what is asked of them (net/socket.c sock_ioctl()). */
static bool
is_socket(int fd)
{
	const int saved_errno = errno;
	socklen_t length = sizeof(int);
	int type;
	const bool is_one = getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0;

	errno = saved_errno;
	return is_one;
}

/** Requests of other kinds (FIOCLEX, FIONBIO) work on the descriptor itself, which refuses those of
 * RDMA on the node of connections, as that has none (ucma.c ucma_fops). */
EXPORT int
ioctl(int fd, unsigned long request, ...)
{
	struct shca_link_fds made;
	struct shca_file *file;
	struct shca_fd *entry;
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == SIOCETHTOOL && shca_route_is_active() && is_socket(fd)) {
		ret = shca_route_ethtool(arg);
		if (ret != SHCA_NLDEV_KERNEL)
			return shca_next_answer(ret);
		ret = NEXT(ioctl)(fd, request, arg);
		if (ret == 0)
			shca_route_drvinfo(arg);
		return ret;
	}
	if (_IOC_TYPE(request) != RDMA_IOCTL_MAGIC || (!shca_fds_has(fd) && !shca_route_adopt(fd)))
		return NEXT(ioctl)(fd, request, arg);
	entry = shca_fds_get(fd);
	if (entry == NULL || !shca_fds_is_node(entry) || shca_fds_is_rdma_cm(entry)) {
		shca_fds_put(entry);
		return NEXT(ioctl)(fd, request, arg);
	}
	/* In a child of fork() a device of the parent's is gone, as after a removal of hardware. */
	file = shca_fds_file(entry);
	if (shca_fds_is_kept(entry))
		ret = note_events(shca_link_ioctl(fd, request, arg, &made), &made);
	else
		ret = file != NULL ? note_own_events(shca_file_ioctl(file, request, arg)) : -EIO;
	shca_fds_put(entry);
	return shca_next_answer(ret);
}

/** What is not a node that this process has opened. A passed one's file has no room for the bytes,
 * and its commands are refused (core/uverbs_main.c ib_uverbs_write, ib_safe_file_access). */
static ssize_t
write_elsewhere(int fd, const void *bytes, size_t length)
{
	const ssize_t ret = NEXT(write)(fd, bytes, length);

	if (ret < 0 && errno == EINVAL && shca_route_is_passed(fd))
		errno = EACCES;
	return ret;
}

/** One command a write, whole or not at all (core/uverbs_main.c ib_uverbs_write). */
EXPORT ssize_t
write(int fd, const void *bytes, size_t length)
{
	struct shca_link_fds made;
	struct shca_file *file;
	struct shca_fd *entry;
	int ret;

	if (shca_fds_has(fd) &&
		(shca_fds_netlink(fd, &entry) != NULL || shca_fds_bell(fd, &entry) != NULL)) {
		shca_fds_put(entry);
		return send(fd, bytes, length, 0);
	}
	/* shca_fds_port(): another file may have the number, if we did not see the close. */
	entry = shca_fds_has(fd) && shca_fds_port(fd) >= 0 ? shca_fds_get(fd) : NULL;
	if (entry == NULL)
		return write_elsewhere(fd, bytes, length);
	file = shca_fds_file(entry);
	if (shca_fds_port(fd) == SHCA_NODE_RDMA_CM)
		ret = shca_connections_write(fd, shca_fds_is_kept(entry), bytes, length);
	else if (shca_fds_is_kept(entry))
		ret = note_events(shca_link_write(fd, bytes, length, &made), &made);
	else
		ret = file != NULL ? note_own_events(shca_file_write(file, bytes, length)) : -EIO;
	shca_fds_put(entry);
	return ret == 0 ? (ssize_t)length : shca_next_answer(ret);
}

static ssize_t
write_piece(int fd, void *bytes, size_t length)
{
	return write(fd, bytes, length);
}

/** A node takes each piece as a write of its own. */
EXPORT ssize_t
writev(int fd, const struct iovec *iov, int nb)
{
	const struct msghdr message = { .msg_iov = (struct iovec *)(uintptr_t)iov,
		.msg_iovlen = (size_t)nb };
	struct shca_fd *entry;

	if (!shca_fds_has(fd) || nb < 0 || nb > IOV_MAX)
		return NEXT(writev)(fd, iov, nb);
	if (shca_fds_port(fd) >= 0)
		return shca_pieces(fd, iov, nb, write_piece);
	if (shca_fds_netlink(fd, &entry) == NULL && shca_fds_bell(fd, &entry) == NULL)
		return NEXT(writev)(fd, iov, nb);
	shca_fds_put(entry);
	return sendmsg(fd, &message, 0);
}

EXPORT int
close(int fd)
{
	struct shca_fd *entry = shca_fds_has(fd) ? shca_fds_take(fd) : NULL;
	int ret, saved_errno;

	if (entry != NULL)
		shca_fds_keep_unread(fd, entry);
	ret = NEXT(close)(fd);
	saved_errno = errno;
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
