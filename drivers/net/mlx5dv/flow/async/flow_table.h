/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Template tables: templates that can be combined, the attributes of all rules, and the greatest
 * number of rules. These are rte_flow operations for templates and tables; the application
 * serialises their calls, as rte_flow says.
 */
#ifndef MDV_FLOW_TABLE_H
#define MDV_FLOW_TABLE_H

#include <stdint.h>
#include <sys/queue.h>

#include <rte_flow_driver.h>

#include "flow_template.h"

struct mdv_flow_tables;
struct mdv_port;

struct rte_flow_template_table {
	LIST_ENTRY(rte_flow_template_table) next;
	struct rte_flow_attr attr; /**< of every rule */
	uint32_t max_rules;
	uint32_t nb_rules; /**< atomic: queues of several threads give rules to one table */
	uint8_t nb_patterns, nb_actions;
	struct rte_flow_pattern_template **patterns; /**< both arrays in the one allocation */
	struct rte_flow_actions_template **actions;
};

/** Take the place of one rule. @return 0 or -ENOSPC, @p error filled */
int mdv_flow_table_take(struct rte_flow_template_table *table, struct rte_flow_error *error);
/** Give the place of one rule back. */
void mdv_flow_table_put(struct rte_flow_template_table *table);

/** Free all tables and templates, used or not; at close. */
void mdv_flow_table_fini(struct mdv_flow_tables *tables);

struct rte_flow_pattern_template *mdv_flow_table_create_pattern(struct rte_eth_dev *dev,
	const struct rte_flow_pattern_template_attr *attr, const struct rte_flow_item pattern[],
	struct rte_flow_error *error);
int mdv_flow_table_destroy_pattern(struct rte_eth_dev *dev,
	struct rte_flow_pattern_template *template, struct rte_flow_error *error);
struct rte_flow_actions_template *mdv_flow_table_create_actions(struct rte_eth_dev *dev,
	const struct rte_flow_actions_template_attr *attr, const struct rte_flow_action actions[],
	const struct rte_flow_action masks[], struct rte_flow_error *error);
int mdv_flow_table_destroy_actions(struct rte_eth_dev *dev,
	struct rte_flow_actions_template *template, struct rte_flow_error *error);
struct rte_flow_template_table *mdv_flow_table_create(struct rte_eth_dev *dev,
	const struct rte_flow_template_table_attr *attr,
	struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
	struct rte_flow_actions_template *actions[], uint8_t nb_actions,
	struct rte_flow_error *error);
int mdv_flow_table_destroy(struct rte_eth_dev *dev, struct rte_flow_template_table *table,
	struct rte_flow_error *error);

#endif /* MDV_FLOW_TABLE_H */
