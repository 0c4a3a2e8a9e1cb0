/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * RDMA netlink: what the kernel answers on a socket of NETLINK_RDMA (Linux 6.1
 * drivers/infiniband/core/nldev.c), to libibverbs, rdma(8) and drivers that look devices up.
 *
 * Reads the options and the files of sysfs/, as both show the same things, and looks at the objects
 * of devices that are open; opens none.
 */
#ifndef SHCA_NLDEV_NLDEV_H
#define SHCA_NLDEV_NLDEV_H

#include <stddef.h>
#include <stdint.h>

struct shca_device;
struct shca_options;
struct shca_ucma;

/** Datagrams have at most so many bytes: libmnl's receive buffer, MNL_SOCKET_BUFFER_SIZE, is a page
 * where pages are no longer than 8192 bytes. */
#define SHCA_NLDEV_DATAGRAM_MAX 4096

/** Whom the answers are about, and where they go. */
struct shca_nldev {
	const struct shca_options *options;
	const char *dir; /**< the runner's */
	uint32_t portid; /**< of the asking socket, for the answers' headers */
	/** Send one datagram. @return 0 or a negative errno, which ends the answer. */
	int (*send)(void *arg, const void *bytes, size_t length);
	/** @return the device, or NULL: the process has not opened it. */
	struct shca_device *(*device)(void *arg, unsigned int index);
	void *arg; /**< of both */
	/** The manager of connections; NULL: the process has none. */
	struct shca_ucma *ucma;
};

/**
 * Answer each request in a datagram.
 * @param bytes as the application gave them: not trusted. Aligned to 4 bytes.
 * @return 0 or a negative errno: of send, or -ENOMEM. What the kernel refuses is answered by
 * NLMSG_ERROR.
 */
int shca_nldev_answer(const struct shca_nldev *nldev, const void *bytes, size_t length);

#endif /* SHCA_NLDEV_NLDEV_H */
