/* SPDX-License-Identifier: BSD-3-Clause */
/* Template tables, and their uses of templates. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "base/compat.h"
#include "flow/match/flow_error.h"
#include "flow/rule/flow_plan.h"
#include "flow/rule/flow_state.h"
#include "flow_table.h"
#include "state/port.h"

int
mdv_flow_table_take(struct rte_flow_template_table *table, struct rte_flow_error *error)
{
	if (__atomic_add_fetch(&table->nb_rules, 1, __ATOMIC_RELAXED) <= table->max_rules)
		return 0;
	mdv_flow_table_put(table);
	return mdv_flow_error_set(error, ENOSPC, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
		"the template table has its %u rules; destroy some or make another table",
		table->max_rules);
}

void
mdv_flow_table_put(struct rte_flow_template_table *table)
{
	__atomic_sub_fetch(&table->nb_rules, 1, __ATOMIC_RELAXED);
}

struct rte_flow_pattern_template *
mdv_flow_table_create_pattern(struct rte_eth_dev *dev,
	const struct rte_flow_pattern_template_attr *attr, const struct rte_flow_item pattern[],
	struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	struct rte_flow_pattern_template *template;

	template = mdv_flow_template_make_pattern(port, attr, pattern, error);
	if (template != NULL)
		LIST_INSERT_HEAD(&port->flow->tables.patterns, template, next);
	return template;
}

struct rte_flow_actions_template *
mdv_flow_table_create_actions(struct rte_eth_dev *dev,
	const struct rte_flow_actions_template_attr *attr, const struct rte_flow_action actions[],
	const struct rte_flow_action masks[], struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	struct rte_flow_actions_template *template;

	template = mdv_flow_template_make_actions(port, attr, actions, masks, error);
	if (template != NULL)
		LIST_INSERT_HEAD(&port->flow->tables.actions, template, next);
	return template;
}

static int
table_check_unused(const void *template, unsigned int nb_tables, struct rte_flow_error *error)
{
	if (nb_tables == 0)
		return 0;
	return mdv_flow_error_set(error, EBUSY, RTE_FLOW_ERROR_TYPE_HANDLE, template,
		"the template is in use by %u template tables; destroy those first", nb_tables);
}

int
mdv_flow_table_destroy_pattern(struct rte_eth_dev *dev, struct rte_flow_pattern_template *template,
	struct rte_flow_error *error)
{
	int ret = table_check_unused(template, template->nb_tables, error);

	(void)dev;
	if (ret != 0)
		return ret;
	LIST_REMOVE(template, next);
	mdv_flow_template_free_pattern(template);
	return 0;
}

int
mdv_flow_table_destroy_actions(struct rte_eth_dev *dev, struct rte_flow_actions_template *template,
	struct rte_flow_error *error)
{
	int ret = table_check_unused(template, template->nb_tables, error);

	(void)dev;
	if (ret != 0)
		return ret;
	LIST_REMOVE(template, next);
	mdv_flow_template_free_actions(template);
	return 0;
}

static int
table_check(const struct rte_flow_template_table_attr *attr,
	struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
	struct rte_flow_actions_template *actions[], uint8_t nb_actions,
	struct rte_flow_error *error)
{
	bool whole = nb_patterns != 0 && nb_actions != 0;
	int ret = mdv_flow_plan_check_attr(&attr->flow_attr, MDV_FLOW_INGRESS_ONLY, error);

	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < nb_patterns; i++)
		whole = whole && patterns[i] != NULL;
	for (unsigned int i = 0; i < nb_actions; i++)
		whole = whole && actions[i] != NULL;
	if (!whole)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"a template table needs a pattern template and an actions template at least");
	if (attr->nb_flows == 0)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR, attr,
			"a template table for 0 rules; say how many it is to hold");
#ifdef MDV_COMPAT_FLOW_LISTS
	if (attr->insertion_type != RTE_FLOW_TABLE_INSERTION_TYPE_PATTERN)
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR, attr,
			"a template table of rules by index: verbs has none; make it of rules by pattern");
#endif
#ifdef MDV_COMPAT_FLOW_FP_OPS
	if ((attr->specialize & RTE_FLOW_TABLE_SPECIALIZE_RESIZABLE) != 0)
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR, attr,
			"a template table that can be resized: no table of the driver can; make another table, of the size it is to have");
#endif
	return 0;
}

struct rte_flow_template_table *
mdv_flow_table_create(struct rte_eth_dev *dev, const struct rte_flow_template_table_attr *attr,
	struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
	struct rte_flow_actions_template *actions[], uint8_t nb_actions,
	struct rte_flow_error *error)
{
	struct rte_flow_template_table *table;

	if (table_check(attr, patterns, nb_patterns, actions, nb_actions, error) != 0)
		return NULL;
	table = calloc(1,
		sizeof(*table) + nb_patterns * sizeof(*patterns) + nb_actions * sizeof(*actions));
	if (table == NULL) {
		mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for the template table");
		return NULL;
	}
	table->attr = attr->flow_attr;
	table->max_rules = attr->nb_flows;
	table->nb_patterns = nb_patterns;
	table->nb_actions = nb_actions;
	table->patterns = (void *)(table + 1);
	table->actions = (void *)(table->patterns + nb_patterns);
	for (unsigned int i = 0; i < nb_patterns; i++) {
		table->patterns[i] = patterns[i];
		patterns[i]->nb_tables++;
	}
	for (unsigned int i = 0; i < nb_actions; i++) {
		table->actions[i] = actions[i];
		actions[i]->nb_tables++;
	}
	LIST_INSERT_HEAD(&mdv_port(dev)->flow->tables.tables, table, next);
	return table;
}

static void
table_free(struct rte_flow_template_table *table)
{
	for (unsigned int i = 0; i < table->nb_patterns; i++)
		table->patterns[i]->nb_tables--;
	for (unsigned int i = 0; i < table->nb_actions; i++)
		table->actions[i]->nb_tables--;
	LIST_REMOVE(table, next);
	free(table);
}

int
mdv_flow_table_destroy(struct rte_eth_dev *dev, struct rte_flow_template_table *table,
	struct rte_flow_error *error)
{
	uint32_t nb_rules = __atomic_load_n(&table->nb_rules, __ATOMIC_RELAXED);

	(void)dev;
	if (nb_rules != 0)
		return mdv_flow_error_set(error, EBUSY, RTE_FLOW_ERROR_TYPE_HANDLE, table,
			"the template table has %u rules, those refused by the device included; destroy them first, and push and pull their queue",
			nb_rules);
	table_free(table);
	return 0;
}

void
mdv_flow_table_fini(struct mdv_flow_tables *tables)
{
	struct rte_flow_template_table *table;
	struct rte_flow_pattern_template *pattern;
	struct rte_flow_actions_template *actions;

	while ((table = LIST_FIRST(&tables->tables)) != NULL)
		table_free(table);
	while ((pattern = LIST_FIRST(&tables->patterns)) != NULL) {
		LIST_REMOVE(pattern, next);
		mdv_flow_template_free_pattern(pattern);
	}
	while ((actions = LIST_FIRST(&tables->actions)) != NULL) {
		LIST_REMOVE(actions, next);
		mdv_flow_template_free_actions(actions);
	}
}
