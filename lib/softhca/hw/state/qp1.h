/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Queue pair 1 of a port: datagrams of management, of which the port's owner has the receive
 * function (IBTA 13.5.1, A16.4.3). */
#ifndef SHCA_HW_STATE_QP1_H
#define SHCA_HW_STATE_QP1_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define SHCA_QP1_BYTES 256 /**< of a datagram (IBTA 13.4.2) */

/** A datagram, and the GIDs of both ports; local is the device's own. */
struct shca_qp1_datagram {
	TAILQ_ENTRY(shca_qp1_datagram) link; /**< of those that wait to be sent */
	uint8_t local[16], remote[16];
	bool is_v2;
	uint64_t queued_ticks; /**< of those that wait */
	uint8_t bytes[SHCA_QP1_BYTES];
};

/** Called with the lock held; must not block nor call back into hw/. */
typedef void (*shca_qp1_fn)(
	void *arg, unsigned int device, const struct shca_qp1_datagram *datagram);

struct shca_qp1 {
	shca_qp1_fn receive; /**< NULL: nobody listens */
	void *arg;
	TAILQ_HEAD(, shca_qp1_datagram) queue;
	unsigned int nb_queued;
	uint32_t nb_turns; /**< on a full wire, of queue pairs with a transport, while one waits */
	bool is_due;       /**< a datagram goes before what those send */
	uint32_t psn;
	uint64_t asked_ticks; /**< when MACs of GIDs were last asked for */
};

#endif /* SHCA_HW_STATE_QP1_H */
