/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Messages between the processes of an application, by EAL's multi-process channel.
 *
 *     a secondary ── asks ──> the primary, which has the verbs objects
 *     the primary ── tells ──> all secondaries, and waits until each has done it
 */
#ifndef MDV_MP_H
#define MDV_MP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mr_range.h"

enum mdv_mp_kind {
	/* asked */
	MDV_MP_ATTACH, /**< with the asker's layout; gives the device, and a pidfd of the primary */
	MDV_MP_DETACH,
	MDV_MP_MEMORY,     /**< which region an address is in */
	MDV_MP_POOL_MADE,  /**< the asker has made a mempool */
	MDV_MP_POOL_GONE,  /**< the asker has destroyed a mempool */
	MDV_MP_RECOVER_RX, /**< reset in place a queue that stopped with an error */
	MDV_MP_RECOVER_TX,
	MDV_MP_RECREATE_RX, /**< recreate a broken queue */
	MDV_MP_RECREATE_TX,
	MDV_MP_DUMP_RULES, /**< with a file to print them to */
	MDV_MP_NB_ASKED,
	/* told */
	MDV_MP_START = MDV_MP_NB_ASKED, /**< with the device */
	MDV_MP_DOORBELLS, /**< some doorbells of a running port have changed; with the device */
	MDV_MP_STOP,
	MDV_MP_CLOSED,
};

struct mdv_mp_message {
	enum mdv_mp_kind kind;
	int result;      /**< of an answer: 0 or a negative errno */
	uint64_t number; /**< of the question, and of its answer; mp.c sets it */
	uint16_t port_id;
	union {
		uint64_t layout; /**< MDV_MP_LAYOUT */
		const struct rte_mempool *pool;
		struct {
			uint16_t idx;
			uint8_t syndrome;
		} queue;
		struct {
			uintptr_t addr;
			const struct rte_mbuf *mbuf;
			struct mdv_mr_range range; /**< the answer */
		} memory;
	};
};

/** Descriptors that go with a message. */
struct mdv_mp_fds {
	int fds[2];
	int nb;
};

/**
 * Handle a message of another process.
 * @param[in,out] message in the end the answer, except for its result
 * @param got descriptors, closed by the caller
 * @param[out] give descriptors of the answer, closed by the caller when it has been sent
 * @return result: 0 or a negative errno
 */
typedef int (*mdv_mp_handle_t)(
	struct mdv_mp_message *message, const struct mdv_mp_fds *got, struct mdv_mp_fds *give);

/**
 * Call @p handle for each message from now on: in a thread for each message if @p waits, else in
 * EAL's message thread, which must not block, because EAL's memory and hotplug depend on it.
 * Further calls in a process do nothing, and neither does a call without shared configuration
 * (--no-shconf).
 * @return 0 or a negative errno, logged
 */
int mdv_mp_listen(mdv_mp_handle_t handle, bool waits);

/**
 * Ask the primary process. Call it in any thread except EAL's message thread.
 * @param[in,out] message the question, in the end the answer
 * @param[in,out] fds descriptors to send, in the end those of the answer, which the caller closes;
 * may be NULL
 * @return the answer's result, 0 or a negative errno; without an answer a negative errno, logged
 */
int mdv_mp_ask(struct mdv_mp_message *message, struct mdv_mp_fds *fds);
/**
 * Ask for a queue to be reset in place or recreated. The polling thread calls it and must not touch
 * the rings until that is done: so it waits until the primary process answers or has ended.
 */
int mdv_mp_ask_recovery(enum mdv_mp_kind kind, uint16_t port_id, uint16_t idx, uint8_t syndrome);
/** Tell all secondary processes. @return 0, or a negative errno, logged: some may not follow. */
int mdv_mp_tell(const struct mdv_mp_message *message, const struct mdv_mp_fds *fds);

#endif /* MDV_MP_H */
