/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The sending side of a connected queue pair (IBTA 9.7.5, 9.7.7, 9.8): messages into packets,
 * acknowledgements, retries.
 *
 *        head                send                  tail
 *     WR: [ waits for answers ][ is being sent ][ not yet ]
 *    PSN: una ............ next ....... sent_end
 *
 * una is the oldest PSN without an answer, next the one to send now, which a retry sets back to
 * una. Answers to a read have PSNs of their own, from the read's on.
 */
#ifndef SHCA_TRANSPORT_ENGINE_REQUESTER_H
#define SHCA_TRANSPORT_ENGINE_REQUESTER_H

#include "transport/engine/host.h"
#include "transport/packet/bth.h"

/** WRs that wait for answers, at most; a power of two. */
#define SHCA_REQUESTER_WRS 64
/** There is no time limit. */
#define SHCA_NEVER UINT64_MAX

struct shca_requester_conf {
	const struct shca_requester_host *host;
	void *arg;
	bool is_reliable;
	uint32_t mtu, psn;
	uint32_t max_rd_atomic;
	uint64_t timeout_ns; /**< 0: wait for ever */
	uint8_t retries;
	uint8_t rnr_retries; /**< 7: for ever */
};

struct shca_requester {
	struct shca_requester_conf conf;
	struct shca_wr wr[SHCA_REQUESTER_WRS];
	uint32_t head, send, tail;
	uint32_t una, next, sent_end, end;
	uint8_t retries_left, rnr_retries_left;
	uint32_t window; /**< packets without an answer, at most */
	bool has_failed;
	bool is_repeating; /**< an answer was lost, and nothing new has been answered since */
	uint64_t timer_ns; /**< when the oldest packet counts as lost */
	uint32_t nb_looks; /**< for answers, since then */
	uint64_t wait_ns;  /**< nothing is sent before: the other side has no receive WQE */
	uint64_t nb_timeouts, nb_repeats, nb_rnr; /**< counters: what cost a retry */
	uint64_t nb_sequence_naks, nb_implied_naks;
};

void shca_requester_init(struct shca_requester *requester, const struct shca_requester_conf *conf);
/** @return whether the service has such requests, and the queue pair resources for them. */
bool shca_requester_may_be_asked(const struct shca_requester_conf *conf, const struct shca_wr *wr);
/** @return whether another WR may be posted. */
bool shca_requester_has_room(const struct shca_requester *requester);
void shca_requester_post(struct shca_requester *requester, const struct shca_wr *wr);
/** @return whether all WRs are done. */
bool shca_requester_is_idle(const struct shca_requester *requester);
/**
 * Make the next packet. Addresses and keys of the path are the caller's.
 * @param payload room for mtu bytes
 * @return false: there is nothing to send now
 */
bool shca_requester_next(
	struct shca_requester *requester, uint64_t now_ns, struct shca_bth *bth, uint8_t *payload);
/** Take an acknowledgement or a response. */
void shca_requester_receive(
	struct shca_requester *requester, uint64_t now_ns, const struct shca_bth *bth);
/**
 * A round of the caller begins, which has looked for answers in the one before. A packet counts as
 * lost only after some such looks: a caller that was off its CPU finds that its time is over before
 * it finds the answer, and one that runs both sides has to make that first.
 * @param is_behind answers have come that it has not looked at: the timer starts anew
 */
void shca_requester_look(struct shca_requester *requester, uint64_t now_ns, bool is_behind);
/** @return when shca_requester_next() is to be called, whatever comes; SHCA_NEVER. */
uint64_t shca_requester_due_ns(const struct shca_requester *requester);

#endif /* SHCA_TRANSPORT_ENGINE_REQUESTER_H */
