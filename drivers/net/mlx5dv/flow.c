/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_flow operations: the list of rules, and each rule's way into the device and out of it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_flow_driver.h>

#include "flow.h"
#include "flow_default.h"
#include "flow_dump.h"
#include "flow_error.h"
#include "flow_plan.h"
#include "log.h"
#include "port.h"
#include "rss.h"

/* What COUNT reads, and where in the array. */
enum flow_count {
	FLOW_COUNT_PACKETS,
	FLOW_COUNT_BYTES,
	FLOW_COUNT_NB,
};

struct flow_part {
	struct ibv_flow *verbs;
	struct mdv_rss *rss;
};

/*
 * As the application made it, and while flow.active also in the device. A verbs counter starts anew
 * whenever the rule is put back, so counts[] holds what earlier ones had.
 */
struct rte_flow {
	TAILQ_ENTRY(rte_flow) next;
	struct rte_flow_conv_rule *rule; /* deep copy, one allocation */
	uint8_t nb_parts;                /* in the device; 0: inactive */
	struct flow_part parts[MDV_RSS_NB_CLASSES];
	struct ibv_counters *counters;       /* while installed, with COUNT */
	bool counted;                        /* has COUNT */
	uint64_t counts[FLOW_COUNT_NB];      /* of counters that are gone */
	uint64_t counts_base[FLOW_COUNT_NB]; /* at the last reset */
};

static struct mdv_flow_plan_env
flow_env(const struct mdv_port *port)
{
	return (struct mdv_flow_plan_env){
		.actions = {
			.nb_queues = port->dev->data->nb_rx_queues,
			.max_table = port->device.caps.max_rwq_ind_table_size,
			.rss_types = mdv_rss_types(&port->device.caps),
			.rss_key = port->rss_key,
		},
		.nb_levels = port->flow.nb_priorities,
		.port_num = port->device.port_num,
	};
}

static int
flow_counters_create(struct mdv_port *port, struct rte_flow *flow)
{
	struct ibv_counters_init_attr init = { 0 };
	static const enum ibv_counter_description what[FLOW_COUNT_NB] = {
		[FLOW_COUNT_PACKETS] = IBV_COUNTER_PACKETS,
		[FLOW_COUNT_BYTES] = IBV_COUNTER_BYTES,
	};

	flow->counters = ibv_create_counters(port->device.ctx, &init);
	if (flow->counters == NULL)
		return errno != 0 ? -errno : -ENOMEM;
	for (unsigned int i = 0; i < FLOW_COUNT_NB; i++) {
		struct ibv_counter_attach_attr attach = { .counter_desc = what[i], .index = i };
		int rc = ibv_attach_counters_point_flow(flow->counters, &attach, NULL);

		if (rc != 0) {
			ibv_destroy_counters(flow->counters);
			flow->counters = NULL;
			return -rc;
		}
	}
	return 0;
}

/* @return 0 or a negative errno; 0 and zeros when the rule is not in the device */
static int
flow_counters_read(const struct rte_flow *flow, uint64_t counts[FLOW_COUNT_NB])
{
	int rc = 0;

	memset(counts, 0, FLOW_COUNT_NB * sizeof(counts[0]));
	if (flow->counters != NULL)
		rc = ibv_read_counters(flow->counters, counts, FLOW_COUNT_NB, 0);
	for (unsigned int i = 0; i < FLOW_COUNT_NB; i++)
		counts[i] += flow->counts[i];
	return rc > 0 ? -rc : rc;
}

/* Take the rule out of the device, all that is in. */
static void
flow_uninstall(struct mdv_port *port, struct rte_flow *flow)
{
	uint64_t counts[FLOW_COUNT_NB];

	if (flow->counters != NULL && flow->nb_parts != 0 && flow_counters_read(flow, counts) == 0)
		memcpy(flow->counts, counts, sizeof(flow->counts));
	while (flow->nb_parts != 0) {
		struct flow_part *part = &flow->parts[--flow->nb_parts];
		int rc = ibv_destroy_flow(part->verbs);

		if (rc != 0)
			MDV_LOG(ERR, "port %u: a flow rule stays in the device: %s",
				port->dev->data->port_id, strerror(rc));
		mdv_rss_put(part->rss);
	}
	if (flow->counters != NULL)
		ibv_destroy_counters(flow->counters);
	flow->counters = NULL;
}

static int
flow_destination(struct mdv_port *port, const struct mdv_flow_actions *actions,
	enum mdv_rss_class_id id, struct mdv_rss **rss)
{
	struct mdv_rss_conf conf = {
		.fields = mdv_rss_classes[id].fields,
		.key = actions->rss_key,
		.queues = actions->queues,
		.nb_queues = actions->nb_queues,
	};

	if (actions->fate == MDV_FLOW_ACTION_DROP)
		return mdv_rss_get_drop(port, rss);
	return mdv_rss_get(port, &conf, rss);
}

static int
flow_install_part(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct rte_flow_error *error)
{
	struct mdv_flow_part *planned = &plan->parts[flow->nb_parts];
	struct flow_part *part = &flow->parts[flow->nb_parts];
	int rc = 0;

	if (flow->counters != NULL)
		rc = mdv_flow_build_count(&planned->build, flow->counters);
	if (rc == 0)
		rc = flow_destination(port, &plan->actions, planned->id, &part->rss);
	if (rc != 0)
		return mdv_flow_error_kernel(error, -rc, "the rule's destination");
	errno = 0;
	part->verbs = ibv_create_flow(mdv_rss_qp(part->rss), &planned->build.attr);
	if (part->verbs == NULL) {
		rc = errno != 0 ? errno : EINVAL;
		mdv_rss_put(part->rss);
		return mdv_flow_error_kernel(error, rc, "the rule");
	}
	flow->nb_parts++;
	return 0;
}

static int
flow_make_plan(const struct mdv_port *port, const struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct rte_flow_error *error)
{
	const struct mdv_flow_plan_env env = flow_env(port);
	const struct mdv_flow_plan_rule rule = {
		.attr = flow->rule->attr_ro,
		.pattern = flow->rule->pattern_ro,
		.actions = flow->rule->actions_ro,
	};

	return mdv_flow_plan_make(&env, &rule, plan, error);
}

/* Put the rule into the device, wholly or not at all. */
static int
flow_install(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct rte_flow_error *error)
{
	int rc = 0;

	if (flow->counted) {
		rc = flow_counters_create(port, flow);
		if (rc != 0)
			return mdv_flow_error_kernel(error, -rc, "COUNT: the rule's counter");
	}
	for (unsigned int i = 0; rc == 0 && i < plan->nb_parts; i++)
		rc = flow_install_part(port, flow, plan, error);
	if (rc != 0)
		flow_uninstall(port, flow);
	return rc;
}

static struct rte_flow_conv_rule *
flow_copy_rule(const struct mdv_flow_plan_rule *given, struct rte_flow_error *error)
{
	const struct rte_flow_conv_rule rule = {
		.attr_ro = given->attr,
		.pattern_ro = given->pattern,
		.actions_ro = given->actions,
	};
	struct rte_flow_conv_rule *copy;
	int size = rte_flow_conv(RTE_FLOW_CONV_OP_RULE, NULL, 0, &rule, error);

	if (size < 0)
		return NULL;
	copy = calloc(1, size);
	if (copy == NULL) {
		mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for a copy of the rule");
		return NULL;
	}
	if (rte_flow_conv(RTE_FLOW_CONV_OP_RULE, copy, size, &rule, error) < 0) {
		free(copy);
		return NULL;
	}
	return copy;
}

static void
flow_free(struct rte_flow *flow)
{
	free(flow->rule);
	free(flow);
}

static int
flow_validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	const struct mdv_flow_plan_env env = flow_env(port);
	const struct mdv_flow_plan_rule rule = { attr, pattern, actions };
	struct mdv_flow_plan plan;

	return mdv_flow_plan_make(&env, &rule, &plan, error);
}

static struct rte_flow *
flow_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	const struct mdv_flow_plan_env env = flow_env(port);
	const struct mdv_flow_plan_rule rule = { attr, pattern, actions };
	struct mdv_flow_plan plan;
	struct rte_flow *flow;

	/* Before anything is copied: rte_flow_conv() trusts what it is given. */
	if (mdv_flow_plan_make(&env, &rule, &plan, error) != 0)
		return NULL;
	flow = calloc(1, sizeof(*flow));
	if (flow == NULL) {
		mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for the rule");
		return NULL;
	}
	flow->counted = plan.actions.count;
	flow->rule = flow_copy_rule(&rule, error);
	if (flow->rule == NULL)
		goto free_flow;
	pthread_mutex_lock(&port->flow.lock);
	if (port->flow.active && flow_install(port, flow, &plan, error) != 0)
		goto unlock;
	TAILQ_INSERT_TAIL(&port->flow.rules, flow, next);
	pthread_mutex_unlock(&port->flow.lock);
	return flow;
unlock:
	pthread_mutex_unlock(&port->flow.lock);
free_flow:
	flow_free(flow);
	return NULL;
}

static void
flow_remove(struct mdv_port *port, struct rte_flow *flow)
{
	flow_uninstall(port, flow);
	TAILQ_REMOVE(&port->flow.rules, flow, next);
	flow_free(flow);
}

static int
flow_destroy(struct rte_eth_dev *dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);

	if (flow == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
			"there is no rule to destroy");
	pthread_mutex_lock(&port->flow.lock);
	flow_remove(port, flow);
	pthread_mutex_unlock(&port->flow.lock);
	return 0;
}

static int
flow_flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	struct rte_flow *flow;

	(void)error;
	pthread_mutex_lock(&port->flow.lock);
	while ((flow = TAILQ_LAST(&port->flow.rules, mdv_flow_list)) != NULL)
		flow_remove(port, flow);
	pthread_mutex_unlock(&port->flow.lock);
	return 0;
}

static int
flow_query_count(
	struct rte_flow *flow, struct rte_flow_query_count *query, struct rte_flow_error *error)
{
	uint64_t counts[FLOW_COUNT_NB];
	int rc = flow_counters_read(flow, counts);

	if (rc != 0)
		return mdv_flow_error_kernel(error, -rc, "COUNT: reading the rule's counter");
	query->hits_set = 1;
	query->bytes_set = 1;
	query->hits = counts[FLOW_COUNT_PACKETS] - flow->counts_base[FLOW_COUNT_PACKETS];
	query->bytes = counts[FLOW_COUNT_BYTES] - flow->counts_base[FLOW_COUNT_BYTES];
	if (query->reset)
		memcpy(flow->counts_base, counts, sizeof(counts));
	return 0;
}

static int
flow_query(struct rte_eth_dev *dev, struct rte_flow *flow, const struct rte_flow_action *action,
	void *data, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	int rc;

	if (flow == NULL || action == NULL || data == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"a query needs a rule, an action and room for the answer");
	if (action->type != RTE_FLOW_ACTION_TYPE_COUNT)
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"query of action %d: only COUNT can be queried", (int)action->type);
	if (!flow->counted)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"COUNT: the rule has no such action; create it with COUNT");
	pthread_mutex_lock(&port->flow.lock);
	rc = flow_query_count(flow, data, error);
	pthread_mutex_unlock(&port->flow.lock);
	return rc;
}

/* Between one instant and the next, in any state of the port: only default rules come or go. */
static int
flow_isolate(struct rte_eth_dev *dev, int set, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	bool before;
	int rc = 0;

	pthread_mutex_lock(&port->flow.lock);
	before = port->isolated;
	port->isolated = set != 0;
	if (port->flow.active)
		rc = mdv_flow_default_apply(port);
	if (rc != 0)
		port->isolated = before;
	pthread_mutex_unlock(&port->flow.lock);
	if (rc != 0)
		return mdv_flow_error_kernel(error, -rc, "default steering");
	return 0;
}

static int
flow_dev_dump(
	struct rte_eth_dev *dev, struct rte_flow *only, FILE *file, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	struct mdv_flow_plan plan;
	struct rte_flow *flow;
	int rc = 0;

	pthread_mutex_lock(&port->flow.lock);
	TAILQ_FOREACH (flow, &port->flow.rules, next) {
		if (only != NULL && flow != only)
			continue;
		rc = flow_make_plan(port, flow, &plan, error);
		if (rc != 0)
			break;
		fprintf(file, "rule %p, %s\n", (void *)flow,
			flow->nb_parts != 0 ? "in the device" : "waiting for the port's start");
		for (unsigned int i = 0; i < plan.nb_parts; i++)
			mdv_flow_dump_attr(
				file, &plan.parts[i].build, mdv_rss_classes[plan.parts[i].id].name);
	}
	pthread_mutex_unlock(&port->flow.lock);
	return rc;
}

const struct rte_flow_ops mdv_flow_ops = {
	.validate = flow_validate,
	.create = flow_create,
	.destroy = flow_destroy,
	.flush = flow_flush,
	.query = flow_query,
	.isolate = flow_isolate,
	.dev_dump = flow_dev_dump,
};

/*
 * The number of priorities is in no query: a rule at the lowest one tells. It matches an address
 * that no frame carries, so that a port which the kernel uses as well loses nothing meanwhile.
 */
static int
flow_probe_priorities(struct mdv_port *port)
{
	static const uint8_t candidates[] = { 16, 8 };
	static const uint8_t nobody[6], whole[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct mdv_rss *rss;
	int rc = mdv_rss_get_drop(port, &rss);

	if (rc != 0)
		return rc;
	for (unsigned int i = 0; i < RTE_DIM(candidates); i++) {
		struct mdv_flow_build build;
		struct ibv_flow *flow;

		mdv_flow_build_eth(&build, nobody, whole);
		mdv_flow_build_drop(&build);
		mdv_flow_build_finish(&build, candidates[i] - 1, port->device.port_num, false);
		errno = 0;
		flow = ibv_create_flow(mdv_rss_qp(rss), &build.attr);
		if (flow != NULL) {
			ibv_destroy_flow(flow);
			port->flow.nb_priorities = candidates[i];
			rc = 0;
			break;
		}
		rc = errno != 0 ? -errno : -EINVAL;
	}
	mdv_rss_put(rss);
	return rc;
}

int
mdv_flow_init(struct mdv_port *port)
{
	struct mdv_flow_state *state = &port->flow;
	int rc;

	memset(state, 0, sizeof(*state));
	TAILQ_INIT(&state->rules);
	TAILQ_INIT(&state->defaults);
	LIST_INIT(&state->rss);
	if (!port->device.caps.flow_steering) {
		MDV_LOG(ERR, "%s: the device does not let user space steer its traffic",
			port->device.name);
		return -ENOTSUP;
	}
	rc = flow_probe_priorities(port);
	if (rc != 0) {
		MDV_LOG(ERR, "%s: a first flow rule was refused (errno %d): %s", port->device.name,
			-rc, mdv_flow_error_advice(-rc));
		return rc;
	}
	pthread_mutex_init(&state->lock, NULL);
	return 0;
}

void
mdv_flow_fini(struct mdv_port *port)
{
	mdv_flow_stop(port);
	flow_flush(port->dev, NULL);
	pthread_mutex_destroy(&port->flow.lock);
}

static int
flow_install_all(struct mdv_port *port)
{
	struct rte_flow_error error = { .message = NULL };
	struct rte_flow *flow;
	unsigned int nb = 0;

	TAILQ_FOREACH (flow, &port->flow.rules, next) {
		struct mdv_flow_plan plan;
		int rc = flow_make_plan(port, flow, &plan, &error);

		if (rc == 0)
			rc = flow_install(port, flow, &plan, &error);
		if (rc != 0) {
			MDV_LOG(ERR,
				"port %u: flow rule %u, in order of creation, cannot be put back: "
				"%s",
				port->dev->data->port_id, nb,
				error.message != NULL ? error.message : strerror(-rc));
			return rc;
		}
		nb++;
	}
	return 0;
}

static void
flow_uninstall_all(struct mdv_port *port)
{
	struct rte_flow *flow;

	TAILQ_FOREACH_REVERSE(flow, &port->flow.rules, mdv_flow_list, next)
	flow_uninstall(port, flow);
	mdv_flow_default_clear(port);
}

int
mdv_flow_start(struct mdv_port *port)
{
	int rc;

	pthread_mutex_lock(&port->flow.lock);
	rc = mdv_flow_default_apply(port);
	if (rc == 0)
		rc = flow_install_all(port);
	if (rc != 0)
		flow_uninstall_all(port);
	port->flow.active = rc == 0;
	pthread_mutex_unlock(&port->flow.lock);
	return rc;
}

void
mdv_flow_stop(struct mdv_port *port)
{
	pthread_mutex_lock(&port->flow.lock);
	flow_uninstall_all(port);
	port->flow.active = false;
	pthread_mutex_unlock(&port->flow.lock);
}
