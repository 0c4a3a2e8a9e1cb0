/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The counter of COUNT: of one rule, or of all rules that share an indirect action.
 *
 * A new verbs counter starts at 0 whenever the rules are put back into the device, so counts[]
 * holds the sums of the earlier ones. All under flow.lock.
 */
#ifndef MDV_FLOW_COUNT_H
#define MDV_FLOW_COUNT_H

#include <stdint.h>

#include <infiniband/verbs.h>
#include <rte_flow.h>

struct mdv_port;

/** The values of a counter, as indices of the arrays. */
enum mdv_flow_count_what {
	MDV_FLOW_COUNT_PACKETS,
	MDV_FLOW_COUNT_BYTES,
	MDV_FLOW_COUNT_NB,
};

struct mdv_flow_count {
	struct ibv_counters *verbs;         /**< while it has users */
	uint64_t counts[MDV_FLOW_COUNT_NB]; /**< of the verbs counters that are gone */
	uint64_t base[MDV_FLOW_COUNT_NB];   /**< at the last reset */
	uint32_t users;                     /**< rules in the device */
};

/** Call before a rule with the counter enters the device. @return 0 or a negative errno */
int mdv_flow_count_get(struct mdv_port *port, struct mdv_flow_count *count);
/**
 * Call before a rule with the counter leaves the device: keeps the counts if it is the last one, or
 * of a counter that cannot be read those that are known.
 */
void mdv_flow_count_keep(struct mdv_flow_count *count);
/** Call after the rule has left the device. */
void mdv_flow_count_put(struct mdv_flow_count *count);

/** Read the counts since creation. @return 0 or a negative errno */
int mdv_flow_count_read(const struct mdv_flow_count *count, uint64_t counts[MDV_FLOW_COUNT_NB]);
/**
 * Read the counts since the last reset, and reset if @p query says so.
 * @return 0 or a negative errno, @p error filled
 */
int mdv_flow_count_query(struct mdv_flow_count *count, struct rte_flow_query_count *query,
	struct rte_flow_error *error);

#endif /* MDV_FLOW_COUNT_H */
