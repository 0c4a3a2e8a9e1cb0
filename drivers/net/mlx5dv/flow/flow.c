/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_flow operations: the list of rules, and their way into the device and out. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_flow_driver.h>
#include <rte_prefetch.h>

#include "base/compat.h"
#include "base/log.h"
#include "flow.h"
#include "flow/async/flow_async.h"
#include "flow/async/flow_table.h"
#include "flow/match/flow_error.h"
#include "flow/match/rss.h"
#include "flow/rule/flow_default.h"
#include "flow/rule/flow_indirect.h"
#include "flow/rule/flow_install.h"
#include "flow/rule/flow_move.h"
#include "flow/rule/flow_probe.h"
#include "flow/rule/flow_rule.h"
#include "flow/rule/flow_state.h"
#include "flow/rule/flow_trial.h"
#include "flow_unsupported.h"
#include "flow_unsupported_later.h"
#include "flow_tree.h"
#include "state/port.h"

static int
flow_validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	const struct mdv_flow_plan_env env = mdv_flow_install_env(port);
	const struct mdv_flow_plan_rule rule = { attr, pattern, actions };
	struct mdv_flow_plan plan;
	struct mdv_flow_modify modify;
	int ret;

	pthread_mutex_lock(&port->flow->lock);
	ret = mdv_flow_indirect_check(port, actions, error);
	if (ret == 0)
		ret = mdv_flow_plan_make(&env, &rule, &plan, error);
	if (ret == 0)
		ret = mdv_flow_rule_translate_modify(&plan, &modify, error);
	if (ret == 0)
		ret = mdv_flow_install_level(port, NULL, &plan, error);
	if (ret == 0 && plan.actions.modify_list != NULL)
		ret = mdv_flow_trial_modify(port, &plan.actions, &modify, error);
	pthread_mutex_unlock(&port->flow->lock);
	return ret;
}

static struct rte_flow *
flow_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	const struct mdv_flow_plan_rule rule = { attr, pattern, actions };
	struct mdv_flow_plan full, *plan = &full;
	struct mdv_flow_form *form = &port->flow->form;
	struct rte_flow *flow;

	pthread_mutex_lock(&port->flow->lock);
	flow = mdv_flow_rule_make(port, &rule, form, &plan, error);
	if (flow != NULL && mdv_flow_rule_enter(port, flow, form, plan, error) != 0) {
		mdv_flow_rule_free(port, flow);
		flow = NULL;
	}
	pthread_mutex_unlock(&port->flow->lock);
	return flow;
}

static int
flow_destroy(struct rte_eth_dev *dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);

	if (flow == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
			"there is no rule to destroy");
	if (flow->queued)
		return mdv_flow_error_set(error, EBUSY, RTE_FLOW_ERROR_TYPE_HANDLE, flow,
			"an operation on the rule waits in flow queue %u; push and pull it first",
			flow->queue);
	rte_prefetch0(&flow->level); /* among many rules, each is cold */
	pthread_mutex_lock(&port->flow->lock);
	mdv_flow_rule_leave(port, flow);
	pthread_mutex_unlock(&port->flow->lock);
	mdv_flow_rule_free(port, flow);
	return 0;
}

/** A rule whose destruction waits in a flow queue is freed by that operation. */
static void
flow_flush_list(struct mdv_port *port, struct mdv_flow_list *list)
{
	struct rte_flow *flow;

	while ((flow = TAILQ_LAST(list, mdv_flow_list)) != NULL) {
		mdv_flow_rule_leave(port, flow);
		if (!flow->queued)
			mdv_flow_rule_free(port, flow);
	}
}

static int
flow_flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);

	(void)error;
	pthread_mutex_lock(&port->flow->lock);
	/* A queue belongs to its thread, which drops what waits there at the push. */
	__atomic_add_fetch(&port->flow->async.nb_flushes, 1, __ATOMIC_RELAXED);
	flow_flush_list(port, &port->flow->rules);
	flow_flush_list(port, &port->flow->refused);
	pthread_mutex_unlock(&port->flow->lock);
	return 0;
}

static int
flow_query(struct rte_eth_dev *dev, struct rte_flow *flow, const struct rte_flow_action *action,
	void *data, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	int ret;

	if (flow == NULL || action == NULL || data == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"a query needs a rule, an action and room for the answer");
	if (action->type != RTE_FLOW_ACTION_TYPE_COUNT)
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"query of %s: only COUNT can be queried",
			mdv_flow_action_name(action->type));
	if (!flow->counted)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"COUNT: the rule has no such action; create it with COUNT");
	pthread_mutex_lock(&port->flow->lock);
	ret = mdv_flow_count_query(flow->counter, data, error);
	pthread_mutex_unlock(&port->flow->lock);
	return ret;
}

/** Switch isolated mode in any state of the port: only default rules come or go. */
static int
flow_isolate(struct rte_eth_dev *dev, int set, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	bool before;
	int ret = 0;

	pthread_mutex_lock(&port->flow->lock);
	before = port->isolated;
	port->isolated = set != 0;
	if (port->flow->active)
		ret = mdv_flow_default_apply(port);
	if (ret != 0)
		port->isolated = before;
	pthread_mutex_unlock(&port->flow->lock);
	if (ret != 0)
		return mdv_flow_error_kernel(error, -ret, "default steering");
	return 0;
}

/** The rule of a flow queue has a handle even if it is in no list. */
static void
flow_dump_absent(const struct rte_flow *flow, FILE *file)
{
	if (flow->place == MDV_FLOW_REFUSED)
		fprintf(file, "rule %p, refused by the device\n", (const void *)flow);
	else
		fprintf(file, "rule %p, waiting in flow queue %u\n", (const void *)flow,
			flow->queue);
}

static int
flow_dev_dump(
	struct rte_eth_dev *dev, struct rte_flow *only, FILE *file, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	int ret = 0;

	pthread_mutex_lock(&port->flow->lock);
	if (only != NULL && only->place != MDV_FLOW_RULES)
		flow_dump_absent(only, file);
	else
		ret = mdv_flow_tree_print(port, only, file, error);
	pthread_mutex_unlock(&port->flow->lock);
	return ret;
}

/* clang-format off */
#define ASYNC_OPS \
	.async_create = mdv_flow_async_create, \
	.async_destroy = mdv_flow_async_destroy, \
	.push = mdv_flow_async_push, \
	.pull = mdv_flow_async_pull, \
	.async_action_handle_create = mdv_flow_async_action_create, \
	.async_action_handle_destroy = mdv_flow_async_action_destroy, \
	.async_action_handle_update = mdv_flow_async_action_update, \
	.async_action_handle_query = mdv_flow_async_action_query
#ifdef MDV_COMPAT_FLOW_LISTS
#define LATER_ASYNC_OPS \
	.async_create_by_index = mdv_flow_unsupported_by_index, \
	.async_actions_update = mdv_flow_unsupported_async_actions_update, \
	.async_action_handle_query_update = mdv_flow_async_action_query_update, \
	.async_action_list_handle_create = mdv_flow_unsupported_async_list_create, \
	.async_action_list_handle_destroy = mdv_flow_unsupported_async_list_destroy, \
	.async_action_list_handle_query_update = mdv_flow_unsupported_async_list_query_update
#endif
/* clang-format on */

#ifdef MDV_COMPAT_FLOW_FP_OPS
/** ethdev calls these without a look whether they are NULL. */
static const struct rte_flow_fp_ops fp_ops = {
	ASYNC_OPS,
	LATER_ASYNC_OPS,
	.async_create_by_index_with_pattern = mdv_flow_unsupported_by_index_with_pattern,
};
#endif

const struct rte_flow_ops mdv_flow_ops = {
	.validate = flow_validate,
	.create = flow_create,
	.destroy = flow_destroy,
	.flush = flow_flush,
	.query = flow_query,
	.isolate = flow_isolate,
	.action_handle_create = mdv_flow_indirect_create,
	.action_handle_destroy = mdv_flow_indirect_destroy,
	.action_handle_update = mdv_flow_indirect_update,
	.action_handle_query = mdv_flow_indirect_query,
	.dev_dump = flow_dev_dump,
	.get_aged_flows = mdv_flow_unsupported_aged,
	.get_q_aged_flows = mdv_flow_unsupported_queue_aged,
	.tunnel_decap_set = mdv_flow_unsupported_tunnel_decap,
	.tunnel_match = mdv_flow_unsupported_tunnel_match,
	.get_restore_info = mdv_flow_unsupported_restore,
	.tunnel_action_decap_release = mdv_flow_unsupported_actions_release,
	.tunnel_item_release = mdv_flow_unsupported_items_release,
	.flex_item_create = mdv_flow_unsupported_flex_create,
	.flex_item_release = mdv_flow_unsupported_flex_release,
	.info_get = mdv_flow_async_info,
	.configure = mdv_flow_async_configure,
	.pattern_template_create = mdv_flow_table_create_pattern,
	.pattern_template_destroy = mdv_flow_table_destroy_pattern,
	.actions_template_create = mdv_flow_table_create_actions,
	.actions_template_destroy = mdv_flow_table_destroy_actions,
	.template_table_create = mdv_flow_table_create,
	.template_table_destroy = mdv_flow_table_destroy,
#ifdef MDV_COMPAT_FLOW_LISTS
	.action_handle_query_update = mdv_flow_indirect_query_update,
	.action_list_handle_create = mdv_flow_unsupported_list_create,
	.action_list_handle_destroy = mdv_flow_unsupported_list_destroy,
	.action_list_handle_query_update = mdv_flow_unsupported_list_query_update,
	.actions_update = mdv_flow_unsupported_actions_update,
	.group_set_miss_actions = mdv_flow_unsupported_miss_actions,
	.flow_calc_table_hash = mdv_flow_unsupported_table_hash,
#endif
#ifdef MDV_COMPAT_FLOW_FP_OPS
	.flow_calc_encap_hash = mdv_flow_unsupported_encap_hash,
	.flow_template_table_resize = mdv_flow_unsupported_resize,
	.flow_update_resized = mdv_flow_unsupported_update_resized,
	.flow_template_table_resize_complete = mdv_flow_unsupported_resize_complete,
#else
	ASYNC_OPS,
#ifdef MDV_COMPAT_FLOW_LISTS
	LATER_ASYNC_OPS,
#endif
#endif
};

void
mdv_flow_set_ops(struct rte_eth_dev *dev)
{
#ifdef MDV_COMPAT_FLOW_FP_OPS
	dev->flow_fp_ops = &fp_ops;
#else
	RTE_SET_USED(dev);
#endif
}

/** The ports of an e-switch's manager are its vports (hw/mlx5/fs.c: EINVAL without representor). */
static void
log_refusal(const struct mdv_device *device, int code)
{
	if (code == EINVAL && device->nb_ports > 1)
		MDV_LOG(ERR,
			"%s: port %u takes no flow rule: it may have no representor on this host",
			device->name, device->port_num);
	else
		MDV_LOG(ERR, "%s: a first flow rule was refused (errno %d): %s", device->name, code,
			mdv_flow_error_advice(code));
}

int
mdv_flow_init(struct mdv_port *port)
{
	struct mdv_flow_state *state;
	int ret;

	if (!port->device.caps.flow_steering) {
		MDV_LOG(ERR, "%s: the device does not let user space steer its traffic",
			port->device.name);
		return -ENOTSUP;
	}
	state = calloc(1, sizeof(*state));
	if (state == NULL) {
		MDV_LOG(ERR, "%s: no memory for flow rules", port->device.name);
		return -ENOMEM;
	}
	port->flow = state;
	state->rss_types = mdv_rss_types(&port->device.caps);
	TAILQ_INIT(&state->rules);
	TAILQ_INIT(&state->refused);
	TAILQ_INIT(&state->defaults);
	state->tables.put = mdv_flow_table_put;
	mdv_slab_init(&state->slab);
	ret = mdv_flow_probe(port);
	if (ret != 0) {
		log_refusal(&port->device, -ret);
		goto free_state;
	}
	ret = mdv_flow_level_init(&state->levels, state->nb_priorities, mdv_flow_move, port);
	if (ret != 0)
		goto free_state;
	ret = mdv_flow_level_init(&state->egress, state->nb_priorities, mdv_flow_move, port);
	if (ret != 0)
		goto fini_levels;
	pthread_mutex_init(&state->lock, NULL);
	return 0;

fini_levels:
	mdv_flow_level_fini(&state->levels);
free_state:
	free(state);
	port->flow = NULL;
	return ret;
}

void
mdv_flow_fini(struct mdv_port *port)
{
	mdv_flow_stop(port);
	flow_flush(port->dev, NULL);
	mdv_flow_async_fini(port);
	mdv_flow_table_fini(&port->flow->tables);
	mdv_flow_indirect_fini(&port->flow->indirect);
	mdv_flow_level_fini(&port->flow->egress);
	mdv_flow_level_fini(&port->flow->levels);
	mdv_flow_form_fini(&port->flow->form);
	mdv_slab_fini(&port->flow->slab);
	pthread_mutex_destroy(&port->flow->lock);
	free(port->flow);
	port->flow = NULL;
}

/** @return the place of a rule in the order of creation, for messages. */
static unsigned int
flow_number(const struct mdv_port *port, const struct rte_flow *flow)
{
	const struct rte_flow *other;
	unsigned int nb = 0;

	TAILQ_FOREACH (other, &port->flow->rules, next) {
		if (other == flow)
			break;
		nb++;
	}
	return nb;
}

/** @return whether the errno is about one rule; others would refuse any rule */
static bool
flow_is_refusal(int ret)
{
	return ret == -EINVAL || ret == -EOPNOTSUPP || ret == -EEXIST || ret == -ENOSPC;
}

/** A rule that the device refuses stays out of it, as if the port were stopped, until the next
 * start.
 */
static int
flow_install_again(struct mdv_port *port, struct rte_flow *flow)
{
	struct rte_flow_error error = { .message = NULL };
	struct mdv_flow_plan plan;
	int ret = mdv_flow_install_plan(port, flow, &plan, &error);
	bool refused = false;

	if (ret == 0) {
		ret = mdv_flow_install_add(port, flow, &plan, &error);
		refused = flow_is_refusal(ret);
	}
	if (ret != 0)
		MDV_LOG(ERR,
			"port %u: flow rule %u, in order of creation, is not in the device: %s",
			port->dev->data->port_id, flow_number(port, flow),
			error.message != NULL ? error.message : strerror(-ret));
	return refused ? 0 : ret;
}

/** Install rules shape by shape: the slots of each table are then taken in the order that the
 * levels assume, and a packet reaches a rule only when all rules before it are installed. */
static int
flow_install_all(struct mdv_port *port, const struct mdv_flow_levels *levels)
{
	const struct mdv_flow_shape *shape;
	struct mdv_flow_level_rule *rule;
	int ret;

	TAILQ_FOREACH (shape, &levels->shapes, next) {
		if (shape->priority == MDV_FLOW_LEVEL_DEFAULT)
			continue; /* flow_default.c */
		TAILQ_FOREACH (rule, &shape->rules, next) {
			ret = flow_install_again(port, container_of(rule, struct rte_flow, level));
			if (ret != 0)
				return ret;
		}
	}
	return 0;
}

/** Remove rules in reverse order, so that a packet whose rule has gone goes to the kernel and not
 * to another rule. */
static void
flow_uninstall_levels(struct mdv_port *port, const struct mdv_flow_levels *levels)
{
	const struct mdv_flow_shape *shape;
	struct mdv_flow_level_rule *rule;

	TAILQ_FOREACH_REVERSE(shape, &levels->shapes, mdv_flow_shapes, next)
	{
		TAILQ_FOREACH (rule, &shape->rules, next)
			mdv_flow_install_del(port, container_of(rule, struct rte_flow, level));
	}
}

static void
flow_uninstall_all(struct mdv_port *port)
{
	mdv_flow_default_clear(port);
	flow_uninstall_levels(port, &port->flow->levels);
	flow_uninstall_levels(port, &port->flow->egress);
}

/** Move rules while they are out of the device, where no packet can see the move. */
static void
flow_set_active(struct mdv_port *port, bool active)
{
	port->flow->active = active;
	port->flow->levels.sticky_stay =
		active && port->config.passthru_move == MDV_PASSTHRU_MOVE_OFF;
	port->flow->egress.sticky_stay = port->flow->levels.sticky_stay;
}

int
mdv_flow_start(struct mdv_port *port)
{
	int ret;

	pthread_mutex_lock(&port->flow->lock);
	mdv_flow_level_renew(&port->flow->levels);
	mdv_flow_level_renew(&port->flow->egress);
	ret = flow_install_all(port, &port->flow->levels);
	if (ret == 0)
		ret = flow_install_all(port, &port->flow->egress);
	if (ret == 0)
		ret = mdv_flow_default_apply(port);
	if (ret != 0)
		flow_uninstall_all(port);
	flow_set_active(port, ret == 0);
	pthread_mutex_unlock(&port->flow->lock);
	return ret;
}

void
mdv_flow_stop(struct mdv_port *port)
{
	pthread_mutex_lock(&port->flow->lock);
	flow_uninstall_all(port);
	flow_set_active(port, false);
	pthread_mutex_unlock(&port->flow->lock);
}
