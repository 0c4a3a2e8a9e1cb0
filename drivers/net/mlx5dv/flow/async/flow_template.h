/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Templates: the common part of many rules. A template and a rule's own values make a rule.
 *
 *     pattern template   eth / ipv4 / udp dst mask 0xffff        masks
 *     actions template   queue / mark id 5                       constants, where masked
 *     a rule's           eth / ipv4 / udp dst spec 53            specs
 *                        queue index 1 / mark                    confs
 *
 * An item without a mask matches the protocol only, or nothing if the template is relaxed. The kind
 * of an INDIRECT is the type of its mask, or shown by a handle; with a configuration in the mask
 * all rules use that handle. No object of the device is made here; a merged rule then takes the way
 * of all rules.
 */
#ifndef MDV_FLOW_TEMPLATE_H
#define MDV_FLOW_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_flow.h>

struct mdv_port;

/** Items of a pattern template, or actions of an actions template, END included. */
#define MDV_FLOW_TEMPLATE_MAX 32

struct rte_flow_pattern_template {
	LIST_ENTRY(rte_flow_pattern_template) next;
	unsigned int nb_tables; /**< that use it */
	unsigned int nb;        /**< items, END included */
	bool relaxed;
	struct rte_flow_item *items; /**< types and masks; one allocation */
};

struct rte_flow_actions_template {
	LIST_ENTRY(rte_flow_actions_template) next;
	unsigned int nb_tables;               /**< that use it */
	unsigned int nb;                      /**< actions, END included */
	uint8_t fixed[MDV_FLOW_TEMPLATE_MAX]; /**< the fields that the template makes constant; bits
						 by row */
	struct rte_flow_action *actions;      /**< types and fixed fields; one allocation */
};

union mdv_flow_template_conf {
	struct rte_flow_action_queue queue;
	struct rte_flow_action_mark mark;
	struct rte_flow_action_count count;
	struct rte_flow_action_rss rss;
	struct rte_flow_action_raw_encap raw_encap;
	struct rte_flow_action_modify_field modify_field; /**< the longest */
};

/** A pattern and actions merged from a template and a rule; points to both. */
struct mdv_flow_template_merged {
	struct rte_flow_item pattern[MDV_FLOW_TEMPLATE_MAX];
	struct rte_flow_action actions[MDV_FLOW_TEMPLATE_MAX];
	union mdv_flow_template_conf confs[MDV_FLOW_TEMPLATE_MAX];
};

/** @return NULL after filling @p error */
struct rte_flow_pattern_template *mdv_flow_template_make_pattern(const struct mdv_port *port,
	const struct rte_flow_pattern_template_attr *attr, const struct rte_flow_item pattern[],
	struct rte_flow_error *error);
/** @param masks NULL: nothing is constant. @return NULL after filling @p error */
struct rte_flow_actions_template *mdv_flow_template_make_actions(struct mdv_port *port,
	const struct rte_flow_actions_template_attr *attr, const struct rte_flow_action actions[],
	const struct rte_flow_action masks[], struct rte_flow_error *error);
void mdv_flow_template_free_pattern(struct rte_flow_pattern_template *template);
void mdv_flow_template_free_actions(struct rte_flow_actions_template *template);

/** @return 0 or -EINVAL, @p error filled: the rule is not of the template's form */
int mdv_flow_template_merge(const struct rte_flow_pattern_template *pattern_template,
	const struct rte_flow_item pattern[],
	const struct rte_flow_actions_template *actions_template,
	const struct rte_flow_action actions[], struct mdv_flow_template_merged *merged,
	struct rte_flow_error *error);
/** A merged rule was refused: let the cause point to the application's item or action. */
void mdv_flow_template_blame(const struct mdv_flow_template_merged *merged,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error);
/** The same of the rule's own copy, which goes: the cause is the application's or NULL. @param copy
 * NULL: the rule has none, and the cause is NULL already */
void mdv_flow_template_blame_copy(const struct rte_flow_conv_rule *copy,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error);

#endif /* MDV_FLOW_TEMPLATE_H */
