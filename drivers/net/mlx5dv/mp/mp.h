/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What the processes of an application say to each other, by the EAL's messages.
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
	MDV_MP_POOL_GONE,  /**< of a mempool that the asker has destroyed */
	MDV_MP_RECOVER_RX, /**< start a queue anew that has stopped with an error */
	MDV_MP_RECOVER_TX,
	MDV_MP_RECREATE_RX, /**< make a broken queue anew */
	MDV_MP_RECREATE_TX,
	MDV_MP_DUMP_RULES, /**< with a file to print them to */
	MDV_MP_NB_ASKED,
	/* told */
	MDV_MP_START = MDV_MP_NB_ASKED, /**< with the device */
	MDV_MP_DOORBELLS, /**< of a running port, some are others now; with the device */
	MDV_MP_STOP,
	MDV_MP_CLOSED,
};

struct mdv_mp_message {
	enum mdv_mp_kind kind;
	int result; /**< of an answer: 0 or a negative errno */
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
 * Do what another process has asked or told.
 * @param[in,out] message made its answer, but for the result
 * @param got descriptors, closed by the caller
 * @param[out] give descriptors that the answer has, and which stay the callee's
 * @return result: 0 or a negative errno
 */
typedef int (*mdv_mp_handle_t)(
	struct mdv_mp_message *message, const struct mdv_mp_fds *got, struct mdv_mp_fds *give);

/**
 * From now on @p handle is called for what comes in: by a thread for each message if @p waits, or
 * by the EAL's for messages, which must not wait: all of its memory and devices depend on it. Once
 * for a process; where processes are not to meet (--no-shconf) nothing happens.
 * @return 0 or a negative errno, logged
 */
int mdv_mp_listen(mdv_mp_handle_t handle, bool waits);

/**
 * From a secondary process; any thread but that of messages.
 * @param[in,out] message the question, then the answer
 * @param fds NULL: none; else those to send, then those of the answer, which are the caller's
 * @return 0 or a negative errno: the answer's result, or why there is none, which is logged
 */
int mdv_mp_ask(struct mdv_mp_message *message, struct mdv_mp_fds *fds);
/**
 * Ask to have a queue started or made anew, by the polling thread, which must not touch the rings
 * meanwhile: so it waits until the primary process says something, or is gone.
 */
int mdv_mp_ask_recovery(enum mdv_mp_kind kind, uint16_t port_id, uint16_t idx, uint8_t syndrome);
/** From the primary process. @return 0 or a negative errno, logged: some may not have done it */
int mdv_mp_tell(const struct mdv_mp_message *message, const struct mdv_mp_fds *fds);

#endif /* MDV_MP_H */
