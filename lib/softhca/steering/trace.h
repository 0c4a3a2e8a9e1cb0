/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The walk of a frame, step by step, as the walk itself (walk.c) reports it: each table it looks
 * into, the entry that matches, the destinations, and the verdict. Counts and delivers nothing.
 */
#ifndef SHCA_STEERING_TRACE_H
#define SHCA_STEERING_TRACE_H

#include "steering/dump.h"
#include "steering/match/parse.h"

struct shca_fte;
struct shca_steering;
struct shca_table;

/** The answer of the netdev beside the port to a frame that no rule took. */
enum shca_trace_kernel {
	SHCA_TRACE_KERNEL_NOT_ASKED,
	SHCA_TRACE_KERNEL_ABSENT,
	SHCA_TRACE_KERNEL_NO_ETHERNET,
	SHCA_TRACE_KERNEL_NOT_JOINED,
	SHCA_TRACE_KERNEL_OTHER_ADDRESS,
	SHCA_TRACE_KERNEL_PROMISCUOUS, /**< from here on: the netdev takes the frame */
	SHCA_TRACE_KERNEL_RULE,        /**< by a rule of its own */
	SHCA_TRACE_KERNEL_GROUP,
	SHCA_TRACE_KERNEL_OWN_ADDRESS,
};

/** A walk that reports its steps. */
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

/** A trace's look_up: print the table. @param fte the entry hit, or NULL */
void shca_trace_table(
	struct shca_trace *trace, const struct shca_table *table, const struct shca_fte *fte);

/** Print the walk of @p packet if it were received; JSON: members of the open object. */
void shca_trace_rx(struct shca_steering *steering, const struct shca_packet *packet,
	const struct shca_dump_conf *conf);

/** What becomes of a frame that no rule drops, in words. */
struct shca_trace_end {
	const char *fate, *reason;
};

/** Print that @p packet, if it were received, would get no further than to the rules; JSON: as for
 * those that do. */
void shca_trace_without_rules(const struct shca_packet *packet, const struct shca_trace_end *end,
	const struct shca_dump_conf *conf);

/**
 * Print the walk of @p packet if it were about to be sent.
 * @param packet returns with the frame to send, in conf->room if a rule changes it
 * @param find asked about that frame, unless a rule drops it
 * @return whether the frame would be sent.
 */
bool shca_trace_tx(struct shca_steering *steering, struct shca_packet *packet,
	struct shca_trace_end (*find)(void *arg, const struct shca_packet *packet), void *arg,
	const struct shca_dump_conf *conf);

#endif /* SHCA_STEERING_TRACE_H */
