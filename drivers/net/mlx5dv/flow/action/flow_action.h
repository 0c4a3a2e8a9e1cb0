/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Actions of a rule, checked one by one and against each other; rows in flow_action_rows.c. Pure.
 */
#ifndef MDV_FLOW_ACTION_H
#define MDV_FLOW_ACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_flow.h>

struct mdv_flow_count;

/** The properties of the port that the checks depend on. */
struct mdv_flow_action_env {
	uint16_t nb_queues;     /**< Rx queues configured */
	uint32_t max_table;     /**< entries of an indirection table */
	uint64_t rss_types;     /**< RTE_ETH_RSS_* the device can hash by */
	const uint8_t *rss_key; /**< for rules without a key */
	uint32_t features;      /**< MDV_FLOW_CAN_* */
	/** NULL, or a handle that has the action @a update instead of its own. */
	const struct rte_flow_action_handle *updated;
	const struct rte_flow_action *update;
};

enum mdv_flow_action_fate {
	MDV_FLOW_ACTION_DROP = 1,
	MDV_FLOW_ACTION_QUEUES, /**< QUEUE, and RSS */
	MDV_FLOW_ACTION_SEND, /**< egress without DROP: the packet leaves, and no further rule sees
				 it */
};

/** Further queues of one rule that get copies, besides the queue or the RSS of its fate. */
#define MDV_FLOW_ACTION_EXTRAS 7

/** The effect of a rule. The arrays are the rule's own or the port's. */
struct mdv_flow_actions {
	enum mdv_flow_action_fate fate;
	const uint16_t *queues;
	uint32_t nb_queues;
	uint64_t rss_types; /**< 0: to queues[0], unhashed */
	const uint8_t *rss_key;
	uint32_t tag; /**< flow tag (mark.h); MDV_MARK_TAG_NONE: none */
	bool count;
	bool passthru; /**< the rule copies; the packet goes on */
	uint16_t nb_extras;
	/** The queues of the further QUEUE actions, one each. */
	const uint16_t *extras[MDV_FLOW_ACTION_EXTRAS];
	/** The RSS if it hashes by the headers inside a tunnel; NULL: by the outer headers. */
	const struct rte_flow_action_rss *inner;
	struct mdv_flow_count *counter; /**< of an indirect COUNT; NULL: the rule's own */
	bool egress;                    /**< matches sent packets */
	bool decap;                     /**< takes a tunnel off; RSS hashes its content */
	uint8_t nb_modify;              /**< verbs actions that change the packet */
	const struct rte_flow_action *modify_list; /**< NULL, or the list, for flow_modify.h */
};

/**
 * @param list whose INDIRECT actions have handles of the port
 * @return 0, or a negative errno after filling @p error with the action and advice
 */
int mdv_flow_action_parse(const struct mdv_flow_action_env *env,
	const struct rte_flow_action list[], struct mdv_flow_actions *actions,
	struct rte_flow_error *error);

/** The same for an action without a rule. */
int mdv_flow_action_check(const struct mdv_flow_action_env *env,
	const struct rte_flow_action *action, struct rte_flow_error *error);
/** The same for an egress rule: DROP, COUNT and changes of packets. */
int mdv_flow_action_parse_egress(const struct mdv_flow_action_env *env,
	const struct rte_flow_action list[], struct mdv_flow_actions *actions,
	struct rte_flow_error *error);

/** @return the name of any action of rte_flow, for messages; never NULL. */
const char *mdv_flow_action_name(enum rte_flow_action_type type);

/** @return the bytes of the configuration, if it has no pointers and most rules have it; 0:
 * rte_flow_conv() knows. @param type accepted by mdv_flow_action_parse() */
size_t mdv_flow_action_bytes(enum rte_flow_action_type type);
/** @return whether rte_flow_conv() copies all of @p list, so that there is nothing to flatten. */
bool mdv_flow_action_is_flat(const struct rte_flow_action list[]);
/**
 * Replace SAMPLE by its actions, which rte_flow_conv() would not copy: "sample actions queue index
 * 1 / end / queue index 2" and "queue index 1 / queue index 2" do the same.
 * @param list accepted by mdv_flow_action_parse()
 * @return a list to be freed, whose configurations are those of @p list, or NULL: no memory
 */
struct rte_flow_action *mdv_flow_action_flatten(const struct rte_flow_action list[]);

#endif /* MDV_FLOW_ACTION_H */
