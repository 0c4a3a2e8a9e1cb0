/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * /dev/infiniband/rdma_cm: what librdmacm writes to it, and the events it reads. The answers and
 * their errnos are those of Linux 6.1, drivers/infiniband/core/ucma.c and cma.c, for RoCE ports.
 *
 * One manager serves all ports of a process; an open file is a socket pair, of which the
 * application has one end: it can be read from exactly while an event waits.
 *
 * Thread-safe. The lock here is taken before a device's; datagrams that come are put into a queue
 * without it, and shca_ucma_step() takes them from there.
 */
#ifndef SHCA_UCMA_UCMA_H
#define SHCA_UCMA_UCMA_H

#include <linux/socket.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHCA_UCMA_GID_BYTES 16
#define SHCA_UCMA_MAD_BYTES 256

struct pollfd;
struct shca_ucma;

/** An identifier, as Linux tracks it (core/nldev.c fill_res_cm_id_entry()). */
struct shca_ucma_tracked {
	uint32_t number;
	uint32_t qpn;    /**< of its queue pair; 0: none was named */
	uint32_t port;   /**< 0: it listens at all */
	uint16_t space;  /**< enum rdma_ucm_port_space */
	uint8_t qp_type; /**< enum ib_uverbs_qp_type */
	uint8_t state;   /**< Linux cma_priv.h enum rdma_cm_state */
	pid_t pid;
	struct __kernel_sockaddr_storage src, dst; /**< family 0: none */
};

/** An entry of a port's GID table. */
struct shca_ucma_gid {
	uint8_t gid[SHCA_UCMA_GID_BYTES];
	unsigned int device;  /**< i of mlx5_<i> */
	uint8_t port;         /**< from 1 on */
	uint8_t index;        /**< in the table */
	bool is_v2;           /**< RoCE v2 */
	unsigned int ifindex; /**< of the netdev; 0: none */
};

/** A port, as a path through it is. */
struct shca_ucma_port {
	uint64_t node_guid; /**< host order */
	uint8_t mtu;        /**< active: 1 to 5 */
	uint8_t ack_delay;  /**< local_ca_ack_delay */
};

/** What the manager is told about ports, and how its datagrams leave. */
struct shca_ucma_conf {
	/** @return how many GIDs of all ports were written to @p gids, at most @p max. */
	unsigned int (*gids)(void *arg, struct shca_ucma_gid *gids, unsigned int max);
	void (*port)(void *arg, const struct shca_ucma_gid *gid, struct shca_ucma_port *port);
	/** Send from QP1 of the GID's port to that of @p remote. */
	void (*send)(void *arg, const struct shca_ucma_gid *gid,
		const uint8_t remote[SHCA_UCMA_GID_BYTES],
		const uint8_t bytes[SHCA_UCMA_MAD_BYTES]);
	/** Find the device, and its GID, from which its netdev's routes lead to @p remote. @return
	 * whether there is one. May be NULL. */
	bool (*route)(
		void *arg, const uint8_t remote[SHCA_UCMA_GID_BYTES], struct shca_ucma_gid *gid);
	/** Find the MAC of @p remote. @return 0, -EINPROGRESS: Linux asks for it, look again, or a
	 * negative errno. May be NULL: all are known. */
	int (*reach)(void *arg, const struct shca_ucma_gid *gid,
		const uint8_t remote[SHCA_UCMA_GID_BYTES]);
	/** There is work before the time that shca_ucma_step() has named. May be NULL. */
	void (*wake)(void *arg);
	void *arg;
};

/** @return a manager, or NULL: no memory. */
struct shca_ucma *shca_ucma_create(const struct shca_ucma_conf *conf);
/** Closes all files. NULL is allowed. */
void shca_ucma_destroy(struct shca_ucma *ucma);

/** Open the node for shca_user_current. @return the application's end, which the caller hands over
 * or closes, or a negative errno. */
int shca_ucma_open(struct shca_ucma *ucma, bool cloexec);
/**
 * One command.
 * @param fd as the application knows it
 * @param bytes as it gave them: not trusted
 * @return 0 or a negative errno; -EAGAIN: there is no event; -EBADF: no open socket;
 * -EIO: one that is not ours.
 */
int shca_ucma_write(struct shca_ucma *ucma, int fd, const void *bytes, size_t length);
/** Close the files whose application has gone. */
void shca_ucma_reap(struct shca_ucma *ucma);

/** A datagram has come for QP1. Any thread, with any lock held but this room's.
 * @param local where it has come to; its index and netdev mean nothing */
void shca_ucma_receive(struct shca_ucma *ucma, const struct shca_ucma_gid *local,
	const uint8_t remote[SHCA_UCMA_GID_BYTES], const uint8_t bytes[SHCA_UCMA_MAD_BYTES]);
/** A device has gone: identifiers at its ports are told with the next step. Any thread, with any
 * lock held but this room's. @param device i of mlx5_<i>, below 64 */
void shca_ucma_remove(struct shca_ucma *ucma, unsigned int device);
/** Do what is due. @return when something is due next, in ns of shca_clock_ns(). */
uint64_t shca_ucma_step(struct shca_ucma *ucma);
/** List the ends here of open files, for poll(2): POLLHUP says that a program has gone. @return how
 * many, at most @p max. */
unsigned int shca_ucma_files(struct shca_ucma *ucma, struct pollfd *pollfds, unsigned int max);
/** List the identifiers at a device, old ones first. @param port 0: at any or none @param[out] ids
 * to be freed; NULL: there are none @return 0 or -ENOMEM */
int shca_ucma_track(struct shca_ucma *ucma, unsigned int device, uint32_t port,
	struct shca_ucma_tracked **ids, size_t *nb);
/** @return identifiers of connections, for tests. */
unsigned int shca_ucma_nb_ids(struct shca_ucma *ucma);

#endif /* SHCA_UCMA_UCMA_H */
