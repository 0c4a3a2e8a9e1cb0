/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the verbs calls of a rule, and those that move it from one level to another. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "base/log.h"
#include "base/mark.h"
#include "flow/match/flow_dump.h"
#include "flow/match/flow_error.h"
#include "flow_dest.h"
#include "flow_install.h"
#include "flow_state.h"
#include "queue/rx/rxq.h"
#include "state/port.h"

struct mdv_flow_levels *
mdv_flow_install_levels(struct mdv_port *port, bool egress)
{
	return egress ? &port->flow->egress : &port->flow->levels;
}

struct mdv_flow_plan_env
mdv_flow_install_env(const struct mdv_port *port)
{
	return (struct mdv_flow_plan_env){
		.actions = {
			.nb_queues = port->dev->data->nb_rx_queues,
			.max_table = port->device.caps.max_rwq_ind_table_size,
			.rss_types = port->flow->rss_types,
			.rss_key = port->rss_key,
			.features = port->flow->features,
			.updated = NULL,
			.update = NULL,
		},
		.features = port->flow->features,
		.tunnels = mdv_rss_tunnels(&port->device.caps),
		.port_num = port->device.port_num,
	};
}

const struct rte_flow_conv_rule *
mdv_flow_install_given(const struct rte_flow *flow, struct mdv_flow_copy_room *room)
{
	const uint8_t *behind = mdv_flow_install_behind(flow);

	if (!flow->alike)
		return flow->rule;
	if (flow->counter == (const void *)behind)
		behind += sizeof(*flow->counter);
	return mdv_flow_copy_expand(flow->image, behind, room);
}

int
mdv_flow_install_plan(const struct mdv_port *port, const struct rte_flow *flow,
	struct mdv_flow_plan *plan, struct rte_flow_error *error)
{
	const struct rte_flow_conv_rule *given = mdv_flow_install_given(flow, &plan->room);
	struct mdv_flow_plan_env env = mdv_flow_install_env(port);
	const struct mdv_flow_plan_rule rule = {
		.attr = given->attr_ro,
		.pattern = given->pattern_ro,
		.actions = given->actions_ro,
	};
	int ret;

	if (flow->place == MDV_FLOW_AHEAD) {
		env.actions.updated = port->flow->indirect.updated;
		env.actions.update = port->flow->indirect.update;
	}
	ret = mdv_flow_plan_make(&env, &rule, plan, error);
	if (ret == 0 && flow->level.shape != NULL)
		mdv_flow_plan_set_level(plan, mdv_flow_level_of(&flow->level));
	return ret;
}

static int
install_refuse_level(struct mdv_flow_levels *levels, const struct mdv_flow_plan *plan,
	struct rte_flow_error *error)
{
	const char *others = "";
	char used[256];

	if (levels->sticky_stay && mdv_flow_level_check(levels, &plan->want, false) == 0)
		others =
			"; it fits if PASSTHRU rules and those of several queues move: create it before them, or use passthru_move=on";
	mdv_flow_level_describe(levels, used, sizeof(used));
	return mdv_flow_error_set(error, ENOSPC, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, NULL,
		"the device's %u levels are too few for this rule among those it overlaps; taken are, by %s; destroy some of them, or give them masks or values that exclude each other%s",
		levels->nb, used, others);
}

int
mdv_flow_install_level(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct rte_flow_error *error)
{
	struct mdv_flow_levels *levels = mdv_flow_install_levels(port, plan->actions.egress);
	int ret = flow == NULL ? mdv_flow_level_check(levels, &plan->want, levels->sticky_stay)
			       : mdv_flow_level_add(levels, &plan->want, &flow->level);

	if (ret == 0 && flow != NULL)
		mdv_flow_plan_set_level(plan, mdv_flow_level_of(&flow->level));
	if (ret != -ENOSPC)
		return ret == 0 ? 0 : mdv_flow_error_kernel(error, -ret, "moving other rules");
	return install_refuse_level(levels, plan, error);
}

static struct mdv_flow_installed *
install_at(struct mdv_flow_presence *present, unsigned int i)
{
	return present->is_many ? &present->many[i] : &present->one;
}

/** Destroy the last part first: the more general parts go before the more specific ones. */
static void
install_clear(struct mdv_port *port, struct mdv_flow_presence *present)
{
	while (present->nb != 0) {
		struct mdv_flow_installed *installed = install_at(present, --present->nb);
		int ret = ibv_destroy_flow(installed->verbs);

		if (ret != 0)
			MDV_LOG(ERR, "port %u: a flow rule stays in the device: %s",
				port->dev->data->port_id, strerror(ret));
		mdv_flow_dest_put(installed->dest);
	}
	if (present->is_many)
		free(present->many);
	present->is_many = false;
}

/** @return whether a QUEUE beside the RSS has the first of its queues. Packets that are not hashed
 * are copied there twice, but by one TIR the kernel makes one copy (Linux fs_core.c,
 * find_flow_rule()). */
static bool
install_copies_again(const struct mdv_flow_actions *actions)
{
	for (unsigned int i = 0; i < actions->nb_extras; i++)
		if (*actions->extras[i] == actions->queues[0])
			return true;
	return false;
}

/**
 * Find or make the destination of a part.
 * @param which 0: the verdict, hashed by @p id; else a plain queue
 */
static int
install_destination(struct mdv_port *port, const struct mdv_flow_actions *actions,
	enum mdv_rss_class_id id, unsigned int which, struct mdv_flow_dest **dest)
{
	struct mdv_flow_dest_conf conf = {
		.fields = which == 0 ? mdv_rss_fields(id, actions->inner != NULL) : 0,
		.key = actions->rss_key,
		.queues = which == 0 ? actions->queues : actions->extras[which - 1],
		.nb_queues = which == 0 ? actions->nb_queues : 1,
	};

	conf.again = which == 0 && conf.fields == 0 && install_copies_again(actions);
	/* Verbs wants a QP for a rule on sent packets, too: it names the device. */
	if (actions->fate != MDV_FLOW_ACTION_QUEUES)
		return mdv_flow_dest_get_bare(port, false, dest);
	return mdv_flow_dest_get(port, &conf, dest);
}

static int
install_one(struct mdv_port *port, struct mdv_flow_plan *plan, unsigned int part,
	unsigned int which, struct mdv_flow_installed *out, struct rte_flow_error *error)
{
	struct mdv_flow_part *planned = &plan->parts[part];
	int ret = install_destination(port, &plan->actions, planned->id, which, &out->dest);

	if (ret != 0)
		return mdv_flow_error_kernel(error, -ret, "the rule's destination");
	mdv_flow_dump_log(port->dev->data->port_id, &planned->build);
	errno = 0;
	out->verbs = ibv_create_flow(mdv_flow_dest_qp(out->dest), &planned->build.attr);
	if (out->verbs == NULL) {
		ret = errno != 0 ? errno : EINVAL;
		mdv_flow_dest_put(out->dest);
		return mdv_flow_error_kernel(error, ret, "the rule");
	}
	return 0;
}

/**
 * As install_one(); with COUNT for the first destination only. The kernel lists the counter once a
 * verbs rule, which not every device takes twice, and the first of them that goes stops the
 * counting (Linux fs_core.c, mlx5_flow_dests_cmp and del_sw_hw_rule).
 */
static int
install_counted(struct mdv_port *port, const struct rte_flow *flow, struct mdv_flow_plan *plan,
	unsigned int part, unsigned int which, struct mdv_flow_installed *out,
	struct rte_flow_error *error)
{
	struct mdv_flow_build *build = &plan->parts[part].build;
	int ret;

	if (!flow->counted || which != 0)
		return install_one(port, plan, part, which, out, error);
	ret = mdv_flow_build_count(build, flow->counter->verbs);
	if (ret != 0)
		return mdv_flow_error_kernel(error, -ret, "the rule with COUNT");
	ret = install_one(port, plan, part, which, out, error);
	mdv_flow_build_uncount(build);
	return ret;
}

static int
install_modify(
	struct mdv_flow_plan *plan, const struct rte_flow *flow, struct rte_flow_error *error)
{
	const struct mdv_flow_modify_object *object =
		flow->modified ? mdv_flow_install_modified(flow)->object : NULL;
	int ret = 0;

	for (unsigned int i = 0; object != NULL && i < plan->nb_parts; i++)
		for (unsigned int j = 0; ret == 0 && j < object->nb_verbs; j++)
			ret = mdv_flow_build_action(&plan->parts[i].build, object->verbs[j]);
	return ret == 0 ? 0 : mdv_flow_error_kernel(error, -ret, "the rule with its changes");
}

/** Install each part once for each destination; the device keeps one entry for each match, with
 * all of its destinations. */
static int
install_all(struct mdv_port *port, const struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct mdv_flow_presence *present, struct rte_flow_error *error)
{
	const unsigned int per_part = 1 + plan->actions.nb_extras;
	const unsigned int all = plan->nb_parts * per_part;
	int ret;

	present->nb = 0;
	present->is_many = false;
	if (all > 1) {
		present->many = calloc(all, sizeof(present->one));
		if (present->many == NULL)
			return mdv_flow_error_kernel(error, ENOMEM, "the rule");
		present->is_many = true;
	}
	ret = install_modify(plan, flow, error);
	while (ret == 0 && present->nb < all) {
		const unsigned int part = present->nb / per_part, which = present->nb % per_part;

		ret = install_counted(
			port, flow, plan, part, which, install_at(present, present->nb), error);
		present->nb += ret == 0 ? 1 : 0;
	}
	if (ret != 0)
		install_clear(port, present);
	return ret;
}

static int
install_refuse_modify(int ret, struct rte_flow_error *error)
{
	return mdv_flow_error_kernel(error, -ret, "what the rule changes");
}

/** Take references to the rule's counter and modify object, which must exist before the rule and
 * outlive it. */
static int
install_get_objects(struct mdv_port *port, struct rte_flow *flow, struct rte_flow_error *error)
{
	struct mdv_flow_modified *modified =
		flow->modified ? mdv_flow_install_modified(flow) : NULL;
	int ret = flow->counted ? mdv_flow_count_get(port, flow->counter) : 0;

	if (ret != 0)
		return mdv_flow_error_kernel(error, -ret, "COUNT: the rule's counter");
	if (modified != NULL)
		ret = mdv_flow_modify_object_get(port, &modified->modify, &modified->object);
	if (ret == 0)
		return 0;
	if (flow->counted)
		mdv_flow_count_put(flow->counter);
	return install_refuse_modify(ret, error);
}

static void
install_put_objects(struct rte_flow *flow)
{
	if (flow->modified)
		mdv_flow_modify_object_put(mdv_flow_install_modified(flow)->object);
	if (flow->counted)
		mdv_flow_count_put(flow->counter);
}

int
mdv_flow_install_add(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct rte_flow_error *error)
{
	int ret;

	/* Packets may carry the tag as soon as the rule is in the device. */
	if (plan->actions.tag != MDV_MARK_TAG_NONE)
		mdv_rxq_enable_marks(port);
	ret = install_get_objects(port, flow, error);
	if (ret != 0)
		return ret;
	ret = install_all(port, flow, plan, &flow->present, error);
	if (ret != 0)
		install_put_objects(flow);
	return ret;
}

void
mdv_flow_install_del(struct mdv_port *port, struct rte_flow *flow)
{
	if (flow->present.nb == 0)
		return;
	if (flow->counted)
		mdv_flow_count_keep(flow->counter);
	install_clear(port, &flow->present);
	flow->is_split = false;
	install_put_objects(flow);
}

/** Install the rule at the new level before it leaves the old one; the counter stays the same
 * object. */
int
mdv_flow_install_at(struct mdv_port *port, struct rte_flow *flow, uint8_t level)
{
	struct mdv_flow_presence present;
	struct mdv_flow_plan plan;
	int ret;

	if (flow->present.nb == 0)
		return 0;
	ret = mdv_flow_install_plan(port, flow, &plan, NULL);
	if (ret != 0)
		return ret;
	mdv_flow_plan_set_level(&plan, level);
	ret = install_all(port, flow, &plan, &present, NULL);
	if (ret != 0)
		return ret;
	install_clear(port, &flow->present);
	flow->present = present;
	flow->is_split = false;
	return 0;
}

int
mdv_flow_install_again(struct mdv_port *port, struct rte_flow *flow)
{
	return mdv_flow_install_at(port, flow, mdv_flow_level_of(&flow->level));
}
