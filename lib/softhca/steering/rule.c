/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules: requests of ibv_create_flow, checked in the kernel's order, and turned into entries. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "steering/match/param.h"
#include "steering/match/spec.h"
#include "steering/state.h"
#include "steering/steering.h"

/** Bytes of the largest spec of the kernel ABI. */
#define MAX_SPEC_BYTES sizeof(struct ib_uverbs_flow_spec_ipv6)
static_assert(MAX_SPEC_BYTES == 88, "IPv6 spec");

enum {
	FLAG_DONT_TRAP = IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
	FLAG_EGRESS = IBV_FLOW_ATTR_FLAGS_EGRESS,
	FLAGS_KNOWN_TO_UVERBS = 7, /* bit 0 is retired: uverbs accepts it, mlx5_ib refuses it */

	/* Default and sniffer rules become two entries. */
	MAX_ENTRIES = 2,
};

struct shca_rule {
	unsigned int nb_entries;
	struct {
		struct shca_table *table;
		struct shca_fte *fte;
	} entry[MAX_ENTRIES];
	struct shca_fte_action action;
};

/** A parsed rule: entries, their tables, and the action. */
struct plan {
	unsigned int nb_entries;
	bool receives; /**< frames go to the rule's TIR */
	bool is_a0;    /**< one of the few of static A0, for its only entry's address */
	struct shca_fte_action action;
	/** Large: plan_entry() clears what is used. */
	struct {
		struct shca_table *table;
		struct shca_match match;
	} entry[MAX_ENTRIES];
};

static bool
is_default(uint32_t type)
{
	return type == IBV_FLOW_ATTR_ALL_DEFAULT || type == IBV_FLOW_ATTR_MC_DEFAULT;
}

/** The checks of ib_uverbs_ex_create_flow that need no object; specs are checked for all types. */
static int
check_uverbs(const struct shca_rule_attr *attr, struct shca_spec_list *list)
{
	if (attr->flags & ~(uint32_t)FLAGS_KNOWN_TO_UVERBS)
		return -EINVAL;
	if (attr->flags & FLAG_DONT_TRAP && is_default(attr->type))
		return -EINVAL;
	if (attr->nb_specs > SHCA_SPEC_MAX || attr->specs_length > attr->nb_specs * MAX_SPEC_BYTES)
		return -EINVAL;
	return shca_spec_unpack(attr->specs, attr->specs_length, attr->nb_specs, list);
}

/** The checks of mlx5_ib_create_flow before it looks for a table. Its errno for a bad priority is
 * ENOMEM, other than in man pages. */
static int
check_driver(const struct shca_rule_attr *attr)
{
	if (attr->priority >= SHCA_STATE_NB_PRIORITIES)
		return -ENOMEM;
	if (attr->flags & ~(uint32_t)(FLAG_DONT_TRAP | FLAG_EGRESS))
		return -EINVAL;
	if (attr->flags & FLAG_EGRESS && is_default(attr->type))
		return -EINVAL;
	return 0;
}

static void
begin_plan(struct plan *plan)
{
	memset(plan, 0, offsetof(struct plan, entry));
}

static struct shca_match *
plan_entry(struct plan *plan, struct shca_table *table)
{
	struct shca_match *match = &plan->entry[plan->nb_entries].match;

	plan->entry[plan->nb_entries++].table = table;
	memset(match, 0, sizeof(*match));
	return match;
}

/** Multicast-only rules that trap share one table below all priorities (mlx5_ib get_flow_table). */
static unsigned int
core_priority(const struct shca_rule_attr *attr, const struct shca_spec_list *list)
{
	if (attr->flags & FLAG_DONT_TRAP)
		return 2u * attr->priority;
	if (shca_spec_is_multicast_only(list))
		return SHCA_STATE_MULTICAST_PRIORITY;
	return 2u * attr->priority + 1;
}

/** The port of a rule is one more thing to match (mlx5_ib _create_flow_rule,
 * mlx5_ib_set_rule_source_port). @return 0 or -EINVAL. */
static int
match_port(const struct shca_steering *steering, const struct shca_rule_attr *attr,
	struct shca_match *match)
{
	if (!steering->conf.is_rep)
		return 0;
	if (attr->source_port == 0)
		return -EINVAL;
	match->mask.source_port = UINT16_MAX;
	match->value.source_port = attr->source_port;
	return 0;
}

static bool
changes_size(const struct shca_modify_set *set)
{
	return set->decap != NULL || set->reformat != NULL;
}

/** Firmware's checks of an entry that changes frames (SET_FLOW_TABLE_ENTRY): objects are for tables
 * of one direction, and not all devices can do two things at once. */
static bool
can_modify(const struct shca_steering_conf *conf, const struct shca_modify_set *set, bool egress,
	bool forwards)
{
	const bool reformats = changes_size(set);

	if (reformats && forwards && !conf->reformat_and_fwd_to_table)
		return false;
	if (reformats && set->modify != NULL && !conf->reformat_and_modify_action)
		return false;
	return shca_modify_fits(set, egress);
}

static int
plan_normal(struct shca_steering *steering, const struct shca_rule_attr *attr,
	const struct shca_spec_list *list, struct plan *plan)
{
	bool egress = attr->flags & FLAG_EGRESS;
	struct shca_table *tables = egress ? steering->tx : steering->rx;
	struct shca_match *match = plan_entry(plan, &tables[core_priority(attr, list)]);
	struct shca_spec_action action;
	const struct shca_spec_caps caps = {
		.tunnel_offloads = steering->conf.tunnel_offloads,
		.inner_ip_version = steering->conf.inner_ip_version,
		.esp_spi = steering->conf.esp_spi,
	};
	int err = egress && steering->conf.is_rep ? -EINVAL : 0;

	if (err == 0)
		err = shca_spec_build(list, &caps, attr->modify_set, match, &action);
	if (err == 0)
		err = match_port(steering, attr, match);
	if (err != 0)
		return err;
	if (action.count && attr->counter == NULL)
		return -EINVAL;
	/* Dropping rules do not go on to the next table, so need no support for that. */
	if (attr->flags & FLAG_DONT_TRAP && !action.drop && (egress || !steering->conf.dont_trap))
		return -EOPNOTSUPP;
	if (shca_spec_check_values(match) != 0)
		return -EINVAL;
	/* mlx5_ib get_flow_table makes tables of representors without the right to. */
	if (steering->conf.is_rep && changes_size(&action.modify_set))
		return -EINVAL;
	if (!can_modify(&steering->conf, &action.modify_set, egress,
		    attr->flags & FLAG_DONT_TRAP && !action.drop))
		return -EINVAL;
	shca_field_require(match);
	plan->receives = !egress && !action.drop;
	plan->action.drop = action.drop;
	plan->action.tag = action.tag;
	plan->action.flow_tag = action.flow_tag;
	plan->action.counter = action.count ? attr->counter : NULL;
	plan->action.modify_set = action.modify_set;
	return 0;
}

/** Plan an entry of the leftovers, for packets whose destination MAC has the group bit @p group. */
static int
plan_leftovers(struct shca_steering *steering, const struct shca_rule_attr *attr, uint8_t group,
	struct plan *plan)
{
	struct shca_match *match = plan_entry(plan, &steering->leftovers);

	match->mask.outer.dst_mac[0] = 1;
	match->value.outer.dst_mac[0] = group;
	plan->receives = true;
	if (match_port(steering, attr, match) != 0)
		return -EINVAL;
	shca_field_require(match);
	return 0;
}

/** Ignores the specs, as mlx5_ib does for default and sniffer rules; uverbs has checked them. */
static int
plan_all_default(struct shca_steering *steering, const struct shca_rule_attr *attr,
	const struct shca_spec_list *list, struct plan *plan)
{
	int err = plan_leftovers(steering, attr, 1, plan);

	(void)list;
	return err != 0 ? err : plan_leftovers(steering, attr, 0, plan);
}

static int
plan_mc_default(struct shca_steering *steering, const struct shca_rule_attr *attr,
	const struct shca_spec_list *list, struct plan *plan)
{
	(void)list;
	return plan_leftovers(steering, attr, 1, plan);
}

static int
plan_sniffer(struct shca_steering *steering, const struct shca_rule_attr *attr,
	const struct shca_spec_list *list, struct plan *plan)
{
	(void)list;
	if (!steering->conf.sniffer)
		return -EOPNOTSUPP;
	if (attr->flags & FLAG_EGRESS)
		return -EINVAL;
	plan_entry(plan, &steering->sniffer_rx);
	plan_entry(plan, &steering->sniffer_tx);
	plan->receives = true;
	return 0;
}

static const uint8_t *
plan_mac(const struct plan *plan)
{
	return plan->entry[0].match.value.outer.dst_mac;
}

static int
make_plan(struct shca_steering *steering, const struct shca_rule_attr *attr, struct plan *plan)
{
	static int (*const plan_type[])(struct shca_steering *, const struct shca_rule_attr *,
		const struct shca_spec_list *, struct plan *) = {
		[IBV_FLOW_ATTR_NORMAL] = plan_normal,
		[IBV_FLOW_ATTR_ALL_DEFAULT] = plan_all_default,
		[IBV_FLOW_ATTR_MC_DEFAULT] = plan_mc_default,
		[IBV_FLOW_ATTR_SNIFFER] = plan_sniffer,
	};
	struct shca_spec_list list;
	int err = check_uverbs(attr, &list);

	if (err == 0)
		err = shca_profile_check(steering->conf.profile, attr, &list);
	if (err == 0)
		err = check_driver(attr);
	if (err != 0)
		return err;
	if (attr->type >= sizeof(plan_type) / sizeof(plan_type[0]))
		return -EOPNOTSUPP;
	err = plan_type[attr->type](steering, attr, &list, plan);
	if (err != 0)
		return err;
	plan->action.tir = plan->receives ? attr->tir : NULL;
	plan->action.context = attr->context;
	for (unsigned int i = 0; i < plan->nb_entries && err == 0; i++)
		err = shca_table_check(plan->entry[i].table, &plan->entry[i].match, &plan->action);
	if (err != 0)
		return err;
	/* Linux passes a TIR number on that firmware refuses, so this check comes after those. */
	if (plan->receives && attr->tir == NULL)
		return -EINVAL;
	plan->is_a0 = shca_profile_is_a0(steering->conf.profile, attr, &list);
	return plan->is_a0 ? shca_profile_check_a0(&steering->a0, plan_mac(plan), attr->tir) : 0;
}

/** mlx5_ib makes a table for its first rule, before it looks at the specs, and destroys it after
 * the last one, or when that first rule is refused. */
static void
connect_if_empty(struct shca_steering *steering, const struct shca_table *table)
{
	if (table->nb_subtables == 0)
		shca_steering_connect(steering, table);
}

static void
note_refused(struct shca_steering *steering, const struct plan *plan)
{
	const struct shca_table *last = NULL;

	for (unsigned int i = 0; i < plan->nb_entries; i++) {
		const struct shca_table *table = plan->entry[i].table;

		if (table == last)
			continue;
		connect_if_empty(steering, table); /* made */
		connect_if_empty(steering, table); /* destroyed */
		last = table;
	}
}

static void
del_entries(struct shca_steering *steering, struct shca_rule *rule)
{
	while (rule->nb_entries > 0) {
		struct shca_table *table = rule->entry[--rule->nb_entries].table;

		shca_table_del(table, rule->entry[rule->nb_entries].fte, &rule->action);
		connect_if_empty(steering, table);
	}
}

/** Create the entries of @p plan, all or none. */
static int
install(struct shca_steering *steering, const struct plan *plan, struct shca_rule **rule)
{
	if (shca_steering_reserve(steering, plan->nb_entries) != 0)
		return -ENOMEM;

	struct shca_rule *added = calloc(1, sizeof(*added));

	if (added == NULL)
		return -ENOMEM;
	added->action = plan->action;
	while (added->nb_entries < plan->nb_entries) {
		unsigned int i = added->nb_entries;
		struct shca_table *table = plan->entry[i].table;

		connect_if_empty(steering, table);
		if (shca_table_add(
			    table, &plan->entry[i].match, &plan->action, &added->entry[i].fte) != 0)
			goto del_entries;
		added->entry[i].table = table;
		added->nb_entries++;
	}
	if (plan->receives)
		steering->nb_receiving++;
	if (plan->is_a0)
		shca_profile_add_a0(&steering->a0, added, plan_mac(plan), plan->action.tir);
	shca_steering_refresh(steering);
	*rule = added;
	return 0;

del_entries:
	del_entries(steering, added);
	free(added);
	return -ENOMEM;
}

static int
finish(struct shca_steering *steering, int err, const struct plan *plan, struct shca_rule **rule)
{
	if (err == 0)
		return install(steering, plan, rule);
	note_refused(steering, plan);
	return err;
}

int
shca_rule_add(
	struct shca_steering *steering, const struct shca_rule_attr *attr, struct shca_rule **rule)
{
	struct plan plan;

	begin_plan(&plan);
	return finish(steering, make_plan(steering, attr, &plan), &plan, rule);
}

/** The checks of mlx5_ib raw_fs_rule_add, then of fs_core. */
static int
plan_raw(struct shca_steering *steering, const struct shca_raw_rule_attr *attr, struct plan *plan)
{
	struct shca_table *tables = attr->egress ? steering->tx : steering->rx;
	unsigned int priority = 2u * attr->priority + 1;
	struct shca_match *match;
	int err;

	/* The drivers of those cards have no such rules. */
	if (steering->conf.profile != SHCA_PROFILE_MODEL)
		return -EOPNOTSUPP;
	if (attr->priority >= SHCA_STATE_NB_PRIORITIES)
		return -ENOMEM;
	if (shca_param_is_multicast(attr->criteria, attr->mask, attr->value))
		priority = SHCA_STATE_MULTICAST_PRIORITY;
	plan->receives = attr->tir != NULL;
	match = plan_entry(plan, &tables[priority]);
	if (attr->default_miss && (attr->egress || !steering->conf.dont_trap))
		return -EOPNOTSUPP;
	err = shca_param_match(attr->criteria, attr->mask, attr->value, match);
	if (err != 0)
		return err;
	shca_field_require(match);
	plan->action = (struct shca_fte_action){
		.drop = attr->drop,
		.leave = attr->default_miss,
		.tag = attr->tag,
		.flow_tag = attr->flow_tag,
		.tir = attr->tir,
		.context = attr->context,
		.modify_set = attr->modify_set,
	};
	if (!can_modify(&steering->conf, &attr->modify_set, attr->egress, false))
		return -EINVAL;
	err = shca_table_check(plan->entry[0].table, match, &plan->action);
	if (err != 0)
		return err;
	/* Firmware refuses an entry without action. */
	if (!attr->egress && !attr->drop && !attr->default_miss && attr->tir == NULL)
		return -EINVAL;
	return 0;
}

int
shca_rule_add_raw(struct shca_steering *steering, const struct shca_raw_rule_attr *attr,
	struct shca_rule **rule)
{
	struct plan plan;

	begin_plan(&plan);
	return finish(steering, plan_raw(steering, attr, &plan), &plan, rule);
}

bool
shca_rule_shares_entry(const struct shca_rule *rule)
{
	return !rule->action.drop && rule->entry[0].fte->nb_rules > 1;
}

void
shca_rule_del(struct shca_steering *steering, struct shca_rule *rule)
{
	if (rule == NULL)
		return;
	if (rule->action.tir != NULL)
		steering->nb_receiving--;
	shca_profile_del_a0(&steering->a0, rule);
	del_entries(steering, rule);
	free(rule);
	shca_steering_refresh(steering);
}
