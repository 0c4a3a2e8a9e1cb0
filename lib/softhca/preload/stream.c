/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a node refuses, as it is a stream without content (uverbs_main.c ib_uverbs_open(), ucma.c
 * ucma_open(): stream_open(); Linux do_ftruncate(), vfs_fallocate()). Below lies the memory that
 * the program shares with the device, where all of this would work.
 */
#include "preload/next.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/fds.h"

/** What programs call that are built with _FORTIFY_SOURCE. */
ssize_t __pread_chk(int fd, void *bytes, size_t size, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *bytes, size_t size, off64_t offset, size_t room);

static bool
is_node(int fd)
{
	return shca_fds_has(fd) && shca_fds_port(fd) >= 0;
}

#define DEFINE_REFUSED(error, type, name, parameters, ...)                                         \
	EXPORT type name parameters                                                                \
	{                                                                                          \
		return is_node(fd) ? shca_next_answer(-(error)) : NEXT(name)(fd, __VA_ARGS__);     \
	}
DEFINE_REFUSED(ESPIPE, off_t, lseek, (int fd, off_t offset, int whence), offset, whence)
DEFINE_REFUSED(ESPIPE, off64_t, lseek64, (int fd, off64_t offset, int whence), offset, whence)
DEFINE_REFUSED(ESPIPE, ssize_t, pread, (int fd, void *bytes, size_t size, off_t offset), bytes,
	size, offset)
DEFINE_REFUSED(ESPIPE, ssize_t, pread64, (int fd, void *bytes, size_t size, off64_t offset), bytes,
	size, offset)
DEFINE_REFUSED(ESPIPE, ssize_t, __pread_chk,
	(int fd, void *bytes, size_t size, off_t offset, size_t room), bytes, size, offset, room)
DEFINE_REFUSED(ESPIPE, ssize_t, __pread64_chk,
	(int fd, void *bytes, size_t size, off64_t offset, size_t room), bytes, size, offset, room)
DEFINE_REFUSED(ESPIPE, ssize_t, pwrite, (int fd, const void *bytes, size_t size, off_t offset),
	bytes, size, offset)
DEFINE_REFUSED(ESPIPE, ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off64_t offset),
	bytes, size, offset)
DEFINE_REFUSED(ESPIPE, ssize_t, preadv, (int fd, const struct iovec *iov, int nb, off_t offset),
	iov, nb, offset)
DEFINE_REFUSED(ESPIPE, ssize_t, preadv64, (int fd, const struct iovec *iov, int nb, off64_t offset),
	iov, nb, offset)
DEFINE_REFUSED(ESPIPE, ssize_t, pwritev, (int fd, const struct iovec *iov, int nb, off_t offset),
	iov, nb, offset)
DEFINE_REFUSED(ESPIPE, ssize_t, pwritev64,
	(int fd, const struct iovec *iov, int nb, off64_t offset), iov, nb, offset)
DEFINE_REFUSED(ESPIPE, ssize_t, preadv2,
	(int fd, const struct iovec *iov, int nb, off_t offset, int flags), iov, nb, offset, flags)
DEFINE_REFUSED(ESPIPE, ssize_t, preadv64v2,
	(int fd, const struct iovec *iov, int nb, off64_t offset, int flags), iov, nb, offset,
	flags)
DEFINE_REFUSED(ESPIPE, ssize_t, pwritev2,
	(int fd, const struct iovec *iov, int nb, off_t offset, int flags), iov, nb, offset, flags)
DEFINE_REFUSED(ESPIPE, ssize_t, pwritev64v2,
	(int fd, const struct iovec *iov, int nb, off64_t offset, int flags), iov, nb, offset,
	flags)
DEFINE_REFUSED(EINVAL, int, ftruncate, (int fd, off_t length), length)
DEFINE_REFUSED(EINVAL, int, ftruncate64, (int fd, off64_t length), length)
DEFINE_REFUSED(ENODEV, int, fallocate, (int fd, int mode, off_t offset, off_t length), mode, offset,
	length)
DEFINE_REFUSED(ENODEV, int, fallocate64, (int fd, int mode, off64_t offset, off64_t length), mode,
	offset, length)

/** These return the error. */
#define DEFINE_POSIX_FALLOCATE(name, type)                                                         \
	EXPORT int name(int fd, type offset, type length)                                          \
	{                                                                                          \
		return is_node(fd) ? ENODEV : NEXT(name)(fd, offset, length);                      \
	}
DEFINE_POSIX_FALLOCATE(posix_fallocate, off_t)
DEFINE_POSIX_FALLOCATE(posix_fallocate64, off64_t)
