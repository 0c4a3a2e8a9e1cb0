/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What happens to a received frame, step by step, told by the walk itself (walk.c) and by nobody
 * else: each table that was looked into, the entry that matched, who gets a copy, and where the
 * frame ends. Nothing is counted and nothing is delivered.
 */
#ifndef SHCA_STEERING_TRACE_H
#define SHCA_STEERING_TRACE_H

#include "steering/dump.h"
#include "steering/match/parse.h"

struct shca_fte;
struct shca_steering;
struct shca_table;

/** What the netdev beside the port says to a frame that no rule took. */
enum shca_trace_kernel {
	SHCA_TRACE_KERNEL_NOT_ASKED,
	SHCA_TRACE_KERNEL_ABSENT,
	SHCA_TRACE_KERNEL_NO_ETHERNET,
	SHCA_TRACE_KERNEL_NOT_JOINED,
	SHCA_TRACE_KERNEL_OTHER_ADDRESS,
	SHCA_TRACE_KERNEL_PROMISCUOUS, /**< from here on it takes the frame */
	SHCA_TRACE_KERNEL_RULE,        /**< of its own */
	SHCA_TRACE_KERNEL_GROUP,
	SHCA_TRACE_KERNEL_OWN_ADDRESS,
};

/** A walk that is being told of. */
struct shca_trace {
	/** Called by the walk (walk.c) for each table. @param fte the entry hit, or NULL */
	void (*look_up)(struct shca_trace *trace, const struct shca_table *table,
		const struct shca_fte *fte);
	struct shca_steering *steering;
	const struct shca_packet *packet;
	const struct shca_dump_conf *conf;
	bool is_changed; /**< by the entry hit last */
	struct shca_packet changed;
	enum shca_trace_kernel kernel;
};

/** A trace's look_up: tell of the table by its conf. @param fte the entry hit, or NULL */
void shca_trace_table(
	struct shca_trace *trace, const struct shca_table *table, const struct shca_fte *fte);

/** Tell what would happen to @p packet, received; JSON: members of the open object. */
void shca_trace_rx(struct shca_steering *steering, const struct shca_packet *packet,
	const struct shca_dump_conf *conf);

/**
 * The same, were it about to be sent.
 * @param packet in the end: what would be sent, in conf->room if a rule changes it
 * @param fate, reason what becomes of it, and why, if the rules let it go
 * @return whether they do.
 */
bool shca_trace_tx(struct shca_steering *steering, struct shca_packet *packet, const char *fate,
	const char *reason, const struct shca_dump_conf *conf);

#endif /* SHCA_STEERING_TRACE_H */
