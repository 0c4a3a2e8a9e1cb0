/* SPDX-License-Identifier: BSD-3-Clause */
/* The netdev's rules. */
#include "steering/ethtool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "steering/match/spec.h"
#include "steering/state.h"

/** As Linux en_fs_ethtool.c get_flow_table. @return NULL: the rule names no tuple, or too many. */
static struct shca_table *
find_table(struct shca_steering *steering, const struct shca_ethtool_attr *attr)
{
	const unsigned int max = attr->is_l2 ? SHCA_ETHTOOL_TUPLES_L2 : SHCA_ETHTOOL_TUPLES_IP;
	const unsigned int first = attr->is_l2 ? SHCA_ETHTOOL_TUPLES_IP : 0;

	if (attr->nb_tuples == 0 || attr->nb_tuples > max)
		return NULL;
	return &steering->ethtool[first + max - attr->nb_tuples];
}

static void
del(struct shca_steering *steering, struct shca_state_ethtool *rule)
{
	const struct shca_fte_action action = { .drop = rule->fte->drop };

	shca_table_del(rule->table, rule->fte, &action);
	*rule = (struct shca_state_ethtool){ 0 };
	shca_steering_refresh(steering);
}

int
shca_ethtool_add(
	struct shca_steering *steering, const struct shca_ethtool_attr *attr, const char **why)
{
	const struct shca_fte_action action = { .drop = attr->drop };
	struct shca_table *table = find_table(steering, attr);
	struct shca_match match = attr->match;
	struct shca_state_ethtool *rule;
	int ret;

	if (!steering->kernel.present)
		return -ENODEV;
	if (attr->location >= SHCA_ETHTOOL_LOCATIONS)
		return -ENOSPC;
	if (table == NULL)
		return -EINVAL;
	if (!attr->drop && attr->spec.ring_cookie >= steering->nb_queues) {
		*why = "the netdev has no such queue (ethtool -l)";
		return -EINVAL;
	}
	ret = shca_profile_check_ethtool(steering->conf.profile, attr, why);
	if (ret != 0)
		return ret;
	rule = &steering->ethtool_rule[attr->location];
	if (rule->table != NULL)
		del(steering, rule);
	/* Linux's flow core sees the values last (fs_core check_valid_spec). */
	if (shca_spec_check_values(&match) != 0)
		return -EINVAL;
	shca_field_require(&match);
	ret = shca_table_check(table, &match, &action);
	if (ret == 0)
		ret = shca_table_add(table, &match, &action, &rule->fte);
	if (ret != 0)
		return ret;
	rule->table = table;
	rule->spec = attr->spec;
	shca_steering_refresh(steering);
	return 0;
}

uint32_t
shca_ethtool_queues(const struct shca_steering *steering)
{
	return steering->nb_queues;
}

void
shca_ethtool_set_queues(struct shca_steering *steering, uint32_t nb)
{
	steering->nb_queues = nb;
}

const struct ethtool_rx_flow_spec *
shca_ethtool_get(const struct shca_steering *steering, uint32_t location)
{
	return steering->ethtool_rule[location].table != NULL
		? &steering->ethtool_rule[location].spec
		: NULL;
}

int
shca_ethtool_del(struct shca_steering *steering, uint32_t location)
{
	if (location >= SHCA_ETHTOOL_LOCATIONS)
		return -ENOSPC;
	if (steering->ethtool_rule[location].table == NULL)
		return -ENOENT;
	del(steering, &steering->ethtool_rule[location]);
	return 0;
}
