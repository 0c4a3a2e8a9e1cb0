/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The receiving side of a connected queue pair (IBTA 9.7.4, 9.7.5, 9.8.2): requests in order to the
 * program's memory, and what is answered.
 *
 * Answers wait in order until they are pulled. An acknowledgement that waits stands for those of
 * later packets, too.
 */
#ifndef SHCA_TRANSPORT_ENGINE_RESPONDER_H
#define SHCA_TRANSPORT_ENGINE_RESPONDER_H

#include "transport/engine/host.h"
#include "transport/packet/bth.h"

#define SHCA_RESPONDER_ANSWERS 64 /**< that wait; a power of two */
#define SHCA_RESPONDER_ATOMICS 16 /**< results that are kept for duplicates; a power of two */

struct shca_responder_conf {
	const struct shca_responder_host *host;
	void *arg;
	bool is_reliable;
	uint32_t mtu, psn;
	uint32_t max_dest_rd_atomic;
	uint8_t min_rnr_timer;
};

struct shca_answer {
	uint8_t opcode; /**< SHCA_BTH_ACK, SHCA_BTH_ATOMIC_ACK, SHCA_BTH_READ_REQUEST: responses */
	uint8_t syndrome;
	uint32_t psn, msn;
	uint64_t original;
	uint64_t va;
	uint32_t rkey, length, sent; /**< of a read */
	bool is_repeated;            /**< a read that was answered before */
	uint32_t xrc_srqn;
};

enum shca_message {
	SHCA_MESSAGE_NONE,
	SHCA_MESSAGE_SEND,
	SHCA_MESSAGE_WRITE,
};

struct shca_responder {
	struct shca_responder_conf conf;
	uint32_t psn;      /**< expected next */
	uint32_t xrc_srqn; /**< of the request at hand, for the host (IBTA A14.4.2) */
	uint32_t msn;
	bool has_failed;
	bool is_silent; /**< a NAK has said which packet is wanted; others are dropped without one
			 */
	bool has_wqe;
	enum shca_message message; /**< that has begun */
	uint32_t offset;           /**< of the message's next byte */
	uint64_t va;               /**< of a write */
	uint32_t rkey, length;     /**< of a write */
	struct shca_answer answer[SHCA_RESPONDER_ANSWERS];
	uint32_t head, tail;
	struct {
		bool is_there;
		uint32_t psn;
		uint64_t original;
	} atomic[SHCA_RESPONDER_ATOMICS];
	uint32_t nb_atomics;
	uint64_t nb_out_of_sequence, nb_duplicates;    /**< counters */
	uint64_t nb_writes, nb_reads, nb_atomics_done; /**< requests that were taken */
};

void shca_responder_init(struct shca_responder *responder, const struct shca_responder_conf *conf);
/** Take a request. */
void shca_responder_receive(struct shca_responder *responder, const struct shca_bth *bth);
/** @return whether the next answer has bytes of memory. */
bool shca_responder_is_reading(const struct shca_responder *responder);
/** Give up the answers that wait. */
void shca_responder_forget(struct shca_responder *responder);
/** Make the next answer. @param payload room for mtu bytes @return false: there is none */
bool shca_responder_next(struct shca_responder *responder, struct shca_bth *bth, uint8_t *payload);

#endif /* SHCA_TRANSPORT_ENGINE_RESPONDER_H */
