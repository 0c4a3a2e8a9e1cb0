/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What the engines ask of the one that has them: the memory of a program, its work requests, and
 * what becomes of those.
 */
#ifndef SHCA_TRANSPORT_ENGINE_HOST_H
#define SHCA_TRANSPORT_ENGINE_HOST_H

#include <stdbool.h>
#include <stdint.h>

/** What becomes of a work request (IBTA 11.6.2). */
enum shca_outcome {
	SHCA_OUTCOME_SUCCESS,
	SHCA_OUTCOME_LOCAL_LENGTH,
	SHCA_OUTCOME_LOCAL_QP_OPERATION,
	SHCA_OUTCOME_LOCAL_PROTECTION,
	SHCA_OUTCOME_BAD_RESPONSE,
	SHCA_OUTCOME_LOCAL_ACCESS,
	SHCA_OUTCOME_REMOTE_INVALID_REQUEST,
	SHCA_OUTCOME_REMOTE_ACCESS,
	SHCA_OUTCOME_REMOTE_OPERATION,
	SHCA_OUTCOME_RETRIES_EXCEEDED,
	SHCA_OUTCOME_RNR_RETRIES_EXCEEDED,
	SHCA_OUTCOME_WINDOW_BIND,
	SHCA_NB_OUTCOMES,
};

enum shca_wr_kind {
	SHCA_WR_SEND,
	SHCA_WR_WRITE,
	SHCA_WR_READ,
	SHCA_WR_CMP_SWAP,
	SHCA_WR_FETCH_ADD,
	SHCA_WR_LOCAL, /**< nothing goes to the wire */
};

/** A work request of a send queue. */
struct shca_wr {
	enum shca_wr_kind kind;
	bool has_imm, has_inval; /**< of a send or write; `imm` has the number or the key */
	bool solicited;
	bool fence; /**< wait for earlier reads and atomics (IBTA 10.8.3.3) */
	uint32_t imm;
	uint32_t length;
	uint64_t va;
	uint32_t rkey;
	uint64_t swap_add, compare;
	uint32_t xrc_srqn; /**< of XRC */

	/** @{ The host's own. */
	uint16_t index;
	uint8_t opcode, nb_wqebbs;
	bool is_signaled;
	/** @} */

	/** @{ The requester's own. */
	uint32_t psn, nb_psns;
	enum shca_outcome outcome; /**< not SUCCESS: it fails when its turn comes */
				   /** @} */
};

/** @return packets of a message or of a read's response; an empty one has one, too. */
static inline uint32_t
shca_nb_packets(uint32_t length, uint32_t mtu)
{
	return length <= mtu ? 1 : (length - 1) / mtu + 1;
}

struct shca_requester_host {
	/** Copy @p length bytes of a WR's message from @p offset on. */
	enum shca_outcome (*gather)(
		void *arg, const struct shca_wr *wr, uint32_t offset, uint32_t length, uint8_t *to);
	/** Copy a response to the WR's buffers. */
	enum shca_outcome (*scatter)(void *arg, const struct shca_wr *wr, uint32_t offset,
		uint32_t length, const uint8_t *from);
	/** Do what a local WR asks for; all before it are done. */
	enum shca_outcome (*execute)(void *arg, const struct shca_wr *wr);
	/** The oldest WR is done; after one that failed nothing else is asked. */
	void (*complete)(void *arg, const struct shca_wr *wr, enum shca_outcome outcome);
};

/** A message that has arrived and takes a receive WQE. */
struct shca_received {
	bool is_write; /**< with immediate: its bytes are where the sender said */
	bool has_imm, has_inval, solicited;
	uint32_t imm; /**< or the key */
	uint32_t length;
};

/** What a request wants to do with memory of this side. */
enum shca_remote {
	SHCA_REMOTE_WRITE,
	SHCA_REMOTE_READ,
	SHCA_REMOTE_ATOMIC,
};

enum shca_take {
	SHCA_TAKE_NONE, /**< there is no receive WQE now */
	SHCA_TAKE_DONE,
	SHCA_TAKE_REFUSED, /**< the request names a queue that is not there for it */
};

struct shca_responder_host {
	/** Take a receive WQE for a message. */
	enum shca_take (*take)(void *arg);
	/** Copy a part of the message to the buffers of the WQE that was taken. */
	enum shca_outcome (*scatter)(
		void *arg, uint32_t offset, uint32_t length, const uint8_t *from);
	/** The message is whole: complete the WQE. */
	void (*received)(void *arg, const struct shca_received *received);
	/** @return whether the queue pair is set up for such requests, whatever the key allows. */
	bool (*allows)(void *arg, enum shca_remote what);
	/** @return where the bytes are, or NULL: the key or the queue pair does not allow that. */
	uint8_t *(*remote)(
		void *arg, enum shca_remote what, uint32_t rkey, uint64_t va, uint32_t length);
	/** @return false: no such key may be invalidated. */
	bool (*invalidate)(void *arg, uint32_t rkey);
	/** The queue pair is broken: the WQE, if one was taken, ends so. */
	void (*failed)(void *arg, enum shca_outcome outcome);
};

#endif /* SHCA_TRANSPORT_ENGINE_HOST_H */
