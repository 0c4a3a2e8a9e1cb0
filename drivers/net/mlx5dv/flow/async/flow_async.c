/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow queues: configured, filled, pushed and pulled. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "base/log.h"
#include "flow/match/flow_error.h"
#include "flow/rule/flow_indirect.h"
#include "flow/rule/flow_rule.h"
#include "flow/rule/flow_state.h"
#include "flow_async.h"
#include "flow_table.h"
#include "state/port.h"

int
mdv_flow_async_info(struct rte_eth_dev *dev, struct rte_flow_port_info *port_info,
	struct rte_flow_queue_info *queue_info, struct rte_flow_error *error)
{
	(void)error;
	memset(port_info, 0, sizeof(*port_info));
	port_info->max_nb_queues = MDV_FLOW_ASYNC_QUEUES;
	/* Verbs does not report the number of counters: one for each rule that the tables hold. */
	port_info->max_nb_counters = mdv_port(dev)->flow->nb_priorities * MDV_FLOW_LEVEL_ENTRIES;
	port_info->supported_flags = RTE_FLOW_PORT_FLAG_STRICT_QUEUE;
	if (queue_info != NULL)
		queue_info->max_size = MDV_FLOW_ASYNC_SIZE;
	return 0;
}

/** Check a request against the port's resources. */
static int
async_check_resources(struct rte_eth_dev *dev, const struct rte_flow_port_attr *attr,
	uint16_t nb_queues, struct rte_flow_error *error)
{
	struct rte_flow_port_info info;

	mdv_flow_async_info(dev, &info, NULL, NULL);

	const struct {
		const char *name;
		uint32_t asked, most;
	} rows[] = {
		{ "flow queues", nb_queues, info.max_nb_queues },
		{ "counters", attr->nb_counters, info.max_nb_counters },
		{ "aging objects", attr->nb_aging_objects, info.max_nb_aging_objects },
		{ "meters", attr->nb_meters, info.max_nb_meters },
		{ "connection trackings", attr->nb_conn_tracks, info.max_nb_conn_tracks },
		{ "quotas", MDV_COMPAT_FLOW_QUOTAS(attr), 0 },
		{ "unknown flags", attr->flags & ~info.supported_flags, 0 },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++)
		if (rows[i].asked > rows[i].most)
			return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				attr, "%u %s: the port has %u; ask for no more", rows[i].asked,
				rows[i].name, rows[i].most);
	return 0;
}

static int
async_check_sizes(uint16_t nb_queues, const struct rte_flow_queue_attr *queue_attr[],
	struct rte_flow_error *error)
{
	for (unsigned int i = 0; i < nb_queues; i++) {
		if (queue_attr[i] == NULL)
			return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				NULL, "flow queue %u has no attributes; give its size", i);
		if (queue_attr[i]->size > MDV_FLOW_ASYNC_SIZE)
			return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				queue_attr[i],
				"flow queue %u of size %u: a queue holds %u operations at most", i,
				queue_attr[i]->size, MDV_FLOW_ASYNC_SIZE);
	}
	return 0;
}

/** A rule refers to its queue by number. Before the queues are replaced, all rules and operations
 * must be gone. */
static int
async_check_idle(const struct mdv_flow_state *state, struct rte_flow_error *error)
{
	if (!LIST_EMPTY(&state->tables.tables))
		return mdv_flow_error_set(error, EBUSY, RTE_FLOW_ERROR_TYPE_STATE, NULL,
			"the flow queues are in use: there are template tables; destroy them first");
	for (unsigned int i = 0; i < state->async.nb_queues; i++)
		if (state->async.queues[i]->given != state->async.queues[i]->pulled)
			return mdv_flow_error_set(error, EBUSY, RTE_FLOW_ERROR_TYPE_STATE, NULL,
				"flow queue %u holds operations; push and pull them first", i);
	return 0;
}

static void
async_free_queues(struct mdv_flow_queue **queues, unsigned int nb)
{
	while (nb-- != 0) {
		mdv_flow_form_fini(&queues[nb]->form);
		free(queues[nb]);
	}
	free(queues);
}

static struct mdv_flow_queue **
async_make_queues(uint16_t nb, const struct rte_flow_queue_attr *queue_attr[])
{
	struct mdv_flow_queue **queues = calloc(nb + 1, sizeof(*queues));

	for (unsigned int i = 0; queues != NULL && i < nb; i++) {
		const uint32_t asked = queue_attr[i]->size;
		const uint32_t size = asked != 0 ? asked : MDV_FLOW_ASYNC_DEFAULT;
		const uint32_t slots = rte_align32pow2(size);

		queues[i] = calloc(1, sizeof(*queues[i]) + slots * sizeof(queues[i]->ops[0]));
		if (queues[i] == NULL) {
			async_free_queues(queues, i);
			return NULL;
		}
		queues[i]->size = size;
		queues[i]->mask = slots - 1;
	}
	return queues;
}

int
mdv_flow_async_configure(struct rte_eth_dev *dev, const struct rte_flow_port_attr *attr,
	uint16_t nb_queues, const struct rte_flow_queue_attr *queue_attr[],
	struct rte_flow_error *error)
{
	struct mdv_flow_state *state = mdv_port(dev)->flow;
	struct mdv_flow_queue **queues;
	int ret = async_check_resources(dev, attr, nb_queues, error);

	if (ret == 0)
		ret = async_check_sizes(nb_queues, queue_attr, error);
	if (ret == 0)
		ret = async_check_idle(state, error);
	if (ret != 0)
		return ret;
	queues = async_make_queues(nb_queues, queue_attr);
	if (queues == NULL)
		return mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for %u flow queues; ask for fewer or smaller ones", nb_queues);
	async_free_queues(state->async.queues, state->async.nb_queues);
	state->async.queues = queues;
	state->async.nb_queues = nb_queues;
	return 0;
}

/** @return NULL after filling @p error */
static struct mdv_flow_queue *
async_queue(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_error *error)
{
	const struct mdv_flow_async *async = &mdv_port(dev)->flow->async;

	if (queue_id < async->nb_queues)
		return async->queues[queue_id];
	mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
		"flow queue %u does not exist; the port has %u, by rte_flow_configure()", queue_id,
		async->nb_queues);
	return NULL;
}

static struct mdv_flow_async_op *
async_op(struct mdv_flow_queue *queue, uint32_t index)
{
	return &queue->ops[index & queue->mask];
}

static int
async_check_room(
	const struct mdv_flow_queue *queue, uint32_t queue_id, struct rte_flow_error *error)
{
	if (queue->given - queue->pulled < queue->size)
		return 0;
	return mdv_flow_error_set(error, EAGAIN, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
		"flow queue %u holds %u operations and is full; push and pull it", queue_id,
		queue->size);
}

/** Under flow.lock. */
static int
async_do_action(
	struct mdv_port *port, const struct mdv_flow_async_op *op, struct rte_flow_error *error)
{
	switch (op->what) {
	case MDV_FLOW_ASYNC_ACTION_DESTROY:
		return mdv_flow_indirect_do_destroy(port, op->handle, error);
	case MDV_FLOW_ASYNC_ACTION_UPDATE:
		return mdv_flow_indirect_do_update(port, op->handle, op->data, error);
	case MDV_FLOW_ASYNC_ACTION_QUERY:
		return mdv_flow_indirect_do_query(port, op->handle, op->data, error);
	default:
		return 0; /* it was made when it was given */
	}
}

/**
 * Under flow.lock. After a refused creation the application has a handle, which it must destroy.
 */
static int
async_do(struct mdv_port *port, struct mdv_flow_queue *queue, struct mdv_flow_async_op *op,
	struct rte_flow_error *error)
{
	int ret = 0;

	switch (op->what) {
	case MDV_FLOW_ASYNC_CREATE:
		op->flow->queued = false;
		ret = mdv_flow_rule_enter_later(port, op->flow, &queue->form, error);
		break;
	case MDV_FLOW_ASYNC_DESTROY:
		op->flow->queued = false;
		mdv_flow_rule_leave(port, op->flow);
		mdv_flow_rule_free(port, op->flow);
		break;
	default:
		ret = async_do_action(port, op, error);
		break;
	}
	op->status = ret == 0 ? RTE_FLOW_OP_SUCCESS : RTE_FLOW_OP_ERROR;
	return ret;
}

/** Under flow.lock. Drop a rule that was still to come when all were flushed: its handle is invalid
 * since then (rte_flow.h), so nobody could destroy it. @return whether it is one */
static bool
async_drop_flushed(struct mdv_port *port, struct mdv_flow_async_op *op)
{
	if (op->what != MDV_FLOW_ASYNC_CREATE || op->nb_flushes == port->flow->async.nb_flushes)
		return false;
	mdv_flow_rule_free(port, op->flow);
	op->status = RTE_FLOW_OP_SUCCESS;
	return true;
}

/** Do the operations before @p end. A result has no room for a reason, so the log has it. */
static void
async_do_until(struct mdv_port *port, uint32_t queue_id, uint32_t end)
{
	struct mdv_flow_queue *queue = port->flow->async.queues[queue_id];

	while (queue->done != end) {
		struct mdv_flow_async_op *op = async_op(queue, queue->done++);
		struct rte_flow_error error = { .message = NULL };

		if (async_drop_flushed(port, op) || async_do(port, queue, op, &error) == 0)
			continue;
		if (op->what == MDV_FLOW_ASYNC_CREATE)
			mdv_flow_rule_refuse(port, op->flow);
		MDV_LOG(WARNING, "port %u: flow queue %u: %s was refused: %s",
			port->dev->data->port_id, queue_id,
			op->what == MDV_FLOW_ASYNC_CREATE ? "a rule"
							  : "an operation on an indirect action",
			error.message != NULL ? error.message : "no reason given");
	}
}

/** Accept the operation at queue->given. @return 0, or a negative errno: it was not done. */
static int
async_give(struct mdv_port *port, uint32_t queue_id, bool postpone, struct rte_flow_error *error)
{
	struct mdv_flow_queue *queue = port->flow->async.queues[queue_id];
	int ret = 0;

	if (!postpone) {
		pthread_mutex_lock(&port->flow->lock);
		async_do_until(port, queue_id, queue->given);
		ret = async_do(port, queue, async_op(queue, queue->given), error);
		pthread_mutex_unlock(&port->flow->lock);
	} else {
		async_op(queue, queue->given)->nb_flushes =
			__atomic_load_n(&port->flow->async.nb_flushes, __ATOMIC_RELAXED);
	}
	if (ret != 0)
		return ret;
	queue->given++;
	queue->done += postpone ? 0 : 1;
	return 0;
}

static int
async_check_indices(const struct rte_flow_template_table *table, uint8_t pattern_index,
	uint8_t actions_index, struct rte_flow_error *error)
{
	if (table == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"a queue's rule needs a template table");
	if (pattern_index >= table->nb_patterns)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, table,
			"pattern template %u is not in the table; it has 0 to %u", pattern_index,
			table->nb_patterns - 1);
	if (actions_index >= table->nb_actions)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, table,
			"actions template %u is not in the table; it has 0 to %u", actions_index,
			table->nb_actions - 1);
	return 0;
}

static struct rte_flow *
async_make_rule(struct mdv_port *port, struct mdv_flow_queue *queue,
	const struct mdv_flow_plan_rule *rule, struct rte_flow_error *error)
{
	struct mdv_flow_plan full, *plan = &full;
	struct rte_flow *flow;

	if (!mdv_flow_indirect_is_in(rule->actions))
		return mdv_flow_rule_make(port, rule, &queue->form, &plan, error);
	pthread_mutex_lock(&port->flow->lock);
	flow = mdv_flow_rule_make(port, rule, &queue->form, &plan, error);
	pthread_mutex_unlock(&port->flow->lock);
	return flow;
}

/** Make the rule of a table's templates and these values. @return NULL after filling @p error */
static struct rte_flow *
async_make(struct mdv_port *port, struct mdv_flow_queue *queue,
	struct rte_flow_template_table *table,
	const struct rte_flow_pattern_template *pattern_template,
	const struct rte_flow_item pattern[],
	const struct rte_flow_actions_template *actions_template,
	const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	struct mdv_flow_template_merged merged;
	const struct mdv_flow_plan_rule rule = { &table->attr, merged.pattern, merged.actions };
	struct rte_flow *flow;

	if (mdv_flow_template_merge(
		    pattern_template, pattern, actions_template, actions, &merged, error) != 0)
		return NULL;
	flow = async_make_rule(port, queue, &rule, error);
	if (flow == NULL) {
		mdv_flow_template_blame(&merged, pattern, actions, error);
		return NULL;
	}
	if (mdv_flow_table_take(table, error) != 0) {
		mdv_flow_rule_free(port, flow);
		return NULL;
	}
	flow->table = table;
	return flow;
}

struct rte_flow *
mdv_flow_async_create(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, struct rte_flow_template_table *table,
	const struct rte_flow_item pattern[], uint8_t pattern_index,
	const struct rte_flow_action actions[], uint8_t actions_index, void *user_data,
	struct rte_flow_error *error)
{
	struct mdv_flow_queue *queue = async_queue(dev, queue_id, error);
	struct rte_flow *flow;

	if (queue == NULL || async_check_room(queue, queue_id, error) != 0 ||
		async_check_indices(table, pattern_index, actions_index, error) != 0)
		return NULL;
	if (pattern == NULL || actions == NULL) {
		mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"a queue's rule needs items and actions as its templates have them");
		return NULL;
	}
	flow = async_make(mdv_port(dev), queue, table, table->patterns[pattern_index], pattern,
		table->actions[actions_index], actions, error);
	if (flow == NULL)
		return NULL;
	flow->queue = queue_id;
	flow->queued = true;
	*async_op(queue, queue->given) = (struct mdv_flow_async_op){
		.flow = flow,
		.user_data = user_data,
		.what = MDV_FLOW_ASYNC_CREATE,
	};
	if (async_give(mdv_port(dev), queue_id, attr != NULL && attr->postpone, error) != 0) {
		mdv_flow_template_blame_copy(
			flow->alike ? NULL : flow->rule, pattern, actions, error);
		mdv_flow_rule_free(mdv_port(dev), flow);
		return NULL;
	}
	return flow;
}

int
mdv_flow_async_destroy(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, struct rte_flow *flow, void *user_data,
	struct rte_flow_error *error)
{
	struct mdv_flow_queue *queue = async_queue(dev, queue_id, error);
	int ret;

	if (queue == NULL)
		return -EINVAL;
	if (flow == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
			"there is no rule to destroy");
	ret = async_check_room(queue, queue_id, error);
	if (ret != 0)
		return ret;
	if (flow->queued)
		return mdv_flow_error_set(error, EBUSY, RTE_FLOW_ERROR_TYPE_HANDLE, flow,
			"an operation on the rule waits in flow queue %u; push and pull it first",
			flow->queue);
	if (flow->table != NULL && flow->queue != queue_id)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE, flow,
			"the rule was created on flow queue %u; destroy it there", flow->queue);
	flow->queue = queue_id;
	flow->queued = true;
	*async_op(queue, queue->given) = (struct mdv_flow_async_op){
		.flow = flow,
		.user_data = user_data,
		.what = MDV_FLOW_ASYNC_DESTROY,
	};
	return async_give(mdv_port(dev), queue_id, attr != NULL && attr->postpone, error);
}

int
mdv_flow_async_push(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_error *error)
{
	struct mdv_flow_queue *queue = async_queue(dev, queue_id, error);
	struct mdv_port *port = mdv_port(dev);

	if (queue == NULL)
		return -EINVAL;
	if (queue->done == queue->given)
		return 0;
	pthread_mutex_lock(&port->flow->lock);
	async_do_until(port, queue_id, queue->given);
	pthread_mutex_unlock(&port->flow->lock);
	return 0;
}

int
mdv_flow_async_pull(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_op_result results[],
	uint16_t nb, struct rte_flow_error *error)
{
	struct mdv_flow_queue *queue = async_queue(dev, queue_id, error);
	uint16_t pulled = 0;

	if (queue == NULL)
		return -EINVAL;
	for (; pulled < nb && queue->pulled != queue->done; pulled++) {
		const struct mdv_flow_async_op *op = async_op(queue, queue->pulled++);

		results[pulled].status = op->status;
		results[pulled].user_data = op->user_data;
	}
	return pulled;
}

/**
 * Put an operation into the queue after async_check_queue() and the operation's own checks.
 * @return 0, or a negative errno: it was not done
 */
static int
async_enqueue(struct rte_eth_dev *dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
	const struct mdv_flow_async_op *op, struct rte_flow_error *error)
{
	struct mdv_flow_queue *queue = async_queue(dev, queue_id, error);

	if (queue == NULL)
		return -EINVAL;
	*async_op(queue, queue->given) = *op;
	return async_give(mdv_port(dev), queue_id, attr != NULL && attr->postpone, error);
}

static int
async_check_queue(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_error *error)
{
	const struct mdv_flow_queue *queue = async_queue(dev, queue_id, error);

	return queue == NULL ? -EINVAL : async_check_room(queue, queue_id, error);
}

struct rte_flow_action_handle *
mdv_flow_async_action_create(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, const struct rte_flow_indir_action_conf *conf,
	const struct rte_flow_action *action, void *user_data, struct rte_flow_error *error)
{
	struct mdv_flow_async_op op = {
		.user_data = user_data,
		.what = MDV_FLOW_ASYNC_ACTION_CREATE,
	};

	if (async_check_queue(dev, queue_id, error) != 0)
		return NULL;
	op.handle = mdv_flow_indirect_create(dev, conf, action, error);
	if (op.handle != NULL)
		async_enqueue(dev, queue_id, attr, &op, error); /* cannot fail any more */
	return op.handle;
}

int
mdv_flow_async_action_destroy(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, struct rte_flow_action_handle *handle, void *user_data,
	struct rte_flow_error *error)
{
	const struct mdv_flow_async_op op = {
		.handle = handle,
		.user_data = user_data,
		.what = MDV_FLOW_ASYNC_ACTION_DESTROY,
	};
	struct mdv_port *port = mdv_port(dev);
	int ret = async_check_queue(dev, queue_id, error);

	if (ret != 0)
		return ret;
	pthread_mutex_lock(&port->flow->lock);
	ret = mdv_flow_indirect_check_handle(port, handle, error);
	pthread_mutex_unlock(&port->flow->lock);
	return ret != 0 ? ret : async_enqueue(dev, queue_id, attr, &op, error);
}

int
mdv_flow_async_action_update(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, struct rte_flow_action_handle *handle,
	const void *update, void *user_data, struct rte_flow_error *error)
{
	struct mdv_flow_async_op op = {
		.handle = handle,
		.user_data = user_data,
		.what = MDV_FLOW_ASYNC_ACTION_UPDATE,
	};
	struct mdv_port *port = mdv_port(dev);
	int ret = async_check_queue(dev, queue_id, error);

	if (ret != 0)
		return ret;
	pthread_mutex_lock(&port->flow->lock);
	op.data = mdv_flow_indirect_prepare(port, handle, update, error);
	ret = op.data != NULL ? 0 : -rte_errno;
	pthread_mutex_unlock(&port->flow->lock);
	return ret != 0 ? ret : async_enqueue(dev, queue_id, attr, &op, error);
}

int
mdv_flow_async_action_query(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, const struct rte_flow_action_handle *handle,
	void *data, void *user_data, struct rte_flow_error *error)
{
	const struct mdv_flow_async_op op = {
		.handle = (void *)(uintptr_t)handle,
		.user_data = user_data,
		.data = data,
		.what = MDV_FLOW_ASYNC_ACTION_QUERY,
	};
	struct mdv_port *port = mdv_port(dev);
	int ret = async_check_queue(dev, queue_id, error);

	if (ret != 0)
		return ret;
	if (data == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"a query of an indirect action needs room for the answer");
	pthread_mutex_lock(&port->flow->lock);
	ret = mdv_flow_indirect_do_query(port, op.handle, NULL, error);
	pthread_mutex_unlock(&port->flow->lock);
	return ret != 0 ? ret : async_enqueue(dev, queue_id, attr, &op, error);
}

#ifdef MDV_COMPAT_FLOW_LISTS
int
mdv_flow_async_action_query_update(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, struct rte_flow_action_handle *handle,
	const void *update, void *query, enum rte_flow_query_update_mode mode, void *user_data,
	struct rte_flow_error *error)
{
	int ret = mdv_flow_indirect_check_one(update, query, error);

	RTE_SET_USED(mode);
	if (ret != 0)
		return ret;
	return query != NULL
		? mdv_flow_async_action_query(dev, queue_id, attr, handle, query, user_data, error)
		: mdv_flow_async_action_update(
			  dev, queue_id, attr, handle, update, user_data, error);
}
#endif

/** Free the object of a pending operation: a rule, or the action of an update. */
static void
async_drop(struct mdv_port *port, struct mdv_flow_async_op *op)
{
	if (op->what == MDV_FLOW_ASYNC_CREATE || op->what == MDV_FLOW_ASYNC_DESTROY)
		mdv_flow_rule_free(port, op->flow);
	else if (op->what == MDV_FLOW_ASYNC_ACTION_UPDATE)
		free(op->data);
}

void
mdv_flow_async_fini(struct mdv_port *port)
{
	struct mdv_flow_async *async = &port->flow->async;

	for (unsigned int i = 0; i < async->nb_queues; i++)
		for (struct mdv_flow_queue *queue = async->queues[i]; queue->done != queue->given;)
			async_drop(port, async_op(queue, queue->done++));
	async_free_queues(async->queues, async->nb_queues);
	memset(async, 0, sizeof(*async));
}
