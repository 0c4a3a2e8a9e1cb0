/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/connections.h"

#include <errno.h>
#include <sys/socket.h>

#include "client/link.h"
#include "preload/next.h"
#include "preload/route.h"
#include "ucma/ucma.h"

static int
try(int fd, bool is_kept, const void *bytes, size_t length)
{
	struct shca_link_fds none;
	struct shca_ucma *ucma;

	if (is_kept)
		return shca_link_write(fd, bytes, length, &none);
	/* In a child of fork() the devices are the parent's. */
	ucma = shca_route_ucma();
	return ucma != NULL ? shca_ucma_write(ucma, fd, bytes, length) : -EIO;
}

/** The descriptor can be read while an event waits: this end waits by looking, which obeys
 * O_NONBLOCK and is repeated after a signal or not, as a system call is. */
int
shca_connections_write(int fd, bool is_kept, const void *bytes, size_t length)
{
	ssize_t nb;
	char record;
	int ret;

	while ((ret = try(fd, is_kept, bytes, length)) == -EAGAIN) {
		nb = NEXT(recv)(fd, &record, sizeof(record), MSG_PEEK);
		if (nb < 0)
			return -errno;
		if (nb == 0) /* There is no keeper any more. */
			return -EIO;
	}
	return ret;
}
