/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * madvise(): memory that has moved to the keeper's sight is private to the program. posix_madvise()
 * of the C library frees nothing (sysdeps/unix/sysv/linux/posix_madvise.c of glibc 2.36).
 * mmap(): what a node refuses to map. Below lies a file, of which all could be mapped.
 */
#include "preload/next.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "abi/core/mmap.h"
#include "base/node.h"
#include "client/share.h"
#include "preload/fds.h"

/** Other advice says nothing of content; that of libibverbs on fork() is among it. */
EXPORT int
madvise(void *start, size_t length, int advice)
{
	if (advice != MADV_DONTNEED && advice != MADV_FREE)
		return NEXT(madvise)(start, length, advice);
	return shca_share_advise(NEXT(madvise), start, length, advice);
}

/** The kernel has looked at length and offset before it asks the driver (mm/mmap.c do_mmap()).
 * @return whether a node refuses; then errno is why. */
static bool
is_refused(int fd, size_t length, int prot, int flags, uint64_t offset)
{
	int port, ret;

	if ((flags & MAP_ANONYMOUS) != 0 || !shca_fds_has(fd) || length == 0 ||
		offset % SHCA_MMAP_PAGE_BYTES != 0)
		return false;
	port = shca_fds_port(fd);
	if (port < 0)
		return false;
	/* The node of connections maps nothing (ucma.c ucma_fops). */
	ret = port == SHCA_NODE_RDMA_CM ? -ENODEV : shca_mmap_check(offset, length, prot, flags);
	if (ret != 0)
		errno = -ret;
	return ret != 0;
}

#define DEFINE_MMAP(name, type)                                                                    \
	EXPORT void *name(void *at, size_t length, int prot, int flags, int fd, type offset)       \
	{                                                                                          \
		if (is_refused(fd, length, prot, flags, (uint64_t)offset))                         \
			return MAP_FAILED;                                                         \
		return NEXT(name)(at, length, prot, flags, fd, offset);                            \
	}
DEFINE_MMAP(mmap, off_t)
DEFINE_MMAP(mmap64, off64_t)
