/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates, updates, queries and destroys indirect actions. */

#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_ethdev.h>

#include "flow/action/flow_action.h"
#include "flow/match/flow_error.h"
#include "flow_indirect.h"
#include "flow_install.h"
#include "flow_plan.h"
#include "flow_retarget.h"
#include "flow_state.h"
#include "state/port.h"

/** The actions that can be indirect: those that are complete without the rest of their rule. */
static const enum rte_flow_action_type indirect_kinds[] = {
	RTE_FLOW_ACTION_TYPE_COUNT,
	RTE_FLOW_ACTION_TYPE_RSS,
	RTE_FLOW_ACTION_TYPE_QUEUE,
	RTE_FLOW_ACTION_TYPE_MARK,
	RTE_FLOW_ACTION_TYPE_FLAG,
	RTE_FLOW_ACTION_TYPE_DROP,
};

static unsigned int
indirect_bucket(const struct rte_flow_action_handle *handle)
{
	const uint64_t hash = (uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);

	return hash >> 56;
}
static_assert(MDV_FLOW_INDIRECT_BUCKETS == 256, "8 bits");

/** Look the address up; never dereference @p handle. */
static bool
indirect_is_known(
	const struct mdv_flow_indirect *indirect, const struct rte_flow_action_handle *handle)
{
	const struct rte_flow_action_handle *known;

	LIST_FOREACH (known, &indirect->buckets[indirect_bucket(handle)], next)
		if (known == handle)
			return true;
	return false;
}

int
mdv_flow_indirect_check_handle(const struct mdv_port *port,
	const struct rte_flow_action_handle *handle, struct rte_flow_error *error)
{
	if (indirect_is_known(&port->flow->indirect, handle))
		return 0;
	return mdv_flow_error_set(error, ENOENT, RTE_FLOW_ERROR_TYPE_HANDLE, handle,
		"the port has no such indirect action; it was destroyed, or is another port's");
}

bool
mdv_flow_indirect_is_in(const struct rte_flow_action list[])
{
	for (; list != NULL && list->type != RTE_FLOW_ACTION_TYPE_END; list++)
		if (list->type == RTE_FLOW_ACTION_TYPE_INDIRECT)
			return true;
	return false;
}

int
mdv_flow_indirect_check(
	struct mdv_port *port, const struct rte_flow_action list[], struct rte_flow_error *error)
{
	for (; list != NULL && list->type != RTE_FLOW_ACTION_TYPE_END; list++)
		if (list->type == RTE_FLOW_ACTION_TYPE_INDIRECT &&
			!indirect_is_known(&port->flow->indirect, list->conf))
			return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, list,
				"INDIRECT: the port has no such indirect action; create it on this port");
	return 0;
}

static void
indirect_add_rule(const struct rte_flow_action list[], int rules)
{
	for (; list->type != RTE_FLOW_ACTION_TYPE_END; list++) {
		struct rte_flow_action_handle *handle = (void *)(uintptr_t)list->conf;

		if (list->type == RTE_FLOW_ACTION_TYPE_INDIRECT)
			__atomic_add_fetch(&handle->nb_rules, rules, __ATOMIC_RELAXED);
	}
}

int
mdv_flow_indirect_take(
	struct mdv_port *port, const struct rte_flow_action list[], struct rte_flow_error *error)
{
	int ret = mdv_flow_indirect_check(port, list, error);

	if (ret == 0)
		indirect_add_rule(list, 1);
	return ret;
}

void
mdv_flow_indirect_put(const struct rte_flow_action list[])
{
	indirect_add_rule(list, -1);
}

bool
mdv_flow_indirect_is_kind(enum rte_flow_action_type type)
{
	for (unsigned int i = 0; i < RTE_DIM(indirect_kinds); i++)
		if (indirect_kinds[i] == type)
			return true;
	return false;
}

static int
indirect_check_kind(const struct rte_flow_action *action, struct rte_flow_error *error)
{
	if (mdv_flow_indirect_is_kind(action->type))
		return 0;
	return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
		"indirect %s: rules cannot share it; they can share COUNT, RSS, QUEUE, MARK, FLAG and DROP",
		mdv_flow_action_name(action->type));
}

static int
indirect_check(struct mdv_port *port, const struct rte_flow_indir_action_conf *conf,
	const struct rte_flow_action *action, struct rte_flow_error *error)
{
	const struct mdv_flow_plan_env env = mdv_flow_install_env(port);
	struct rte_flow_attr directions = { .ingress = 0 };
	int ret;

	if (conf == NULL || action == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"an indirect action needs a direction and an action; give both");
	directions.ingress = conf->ingress;
	directions.egress = conf->egress;
	directions.transfer = conf->transfer;
	ret = mdv_flow_plan_check_attr(&directions, MDV_FLOW_INGRESS_ONLY, error);
	if (ret != 0 && error != NULL)
		error->cause = conf;
	if (ret == 0)
		ret = indirect_check_kind(action, error);
	return ret != 0 ? ret : mdv_flow_action_check(&env.actions, action, error);
}

/** @return NULL after filling @p error */
static struct rte_flow_action *
indirect_copy(const struct rte_flow_action *action, struct rte_flow_error *error)
{
	int size = rte_flow_conv(RTE_FLOW_CONV_OP_ACTION, NULL, 0, action, error);
	struct rte_flow_action *copy;

	if (size < 0)
		return NULL;
	copy = calloc(1, size);
	if (copy == NULL)
		mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for the indirect action");
	else
		rte_flow_conv(RTE_FLOW_CONV_OP_ACTION, copy, size, action, error);
	return copy;
}

struct rte_flow_action_handle *
mdv_flow_indirect_create(struct rte_eth_dev *dev, const struct rte_flow_indir_action_conf *conf,
	const struct rte_flow_action *action, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	struct rte_flow_action_handle *handle;

	if (indirect_check(port, conf, action, error) != 0)
		return NULL;
	handle = calloc(1, sizeof(*handle));
	if (handle == NULL) {
		mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for the indirect action");
		return NULL;
	}
	handle->action = indirect_copy(action, error);
	if (handle->action == NULL) {
		free(handle);
		return NULL;
	}
	pthread_mutex_lock(&port->flow->lock);
	LIST_INSERT_HEAD(&port->flow->indirect.buckets[indirect_bucket(handle)], handle, next);
	pthread_mutex_unlock(&port->flow->lock);
	return handle;
}

static void
indirect_free(struct rte_flow_action_handle *handle)
{
	LIST_REMOVE(handle, next);
	free(handle->action);
	free(handle);
}

int
mdv_flow_indirect_do_destroy(
	struct mdv_port *port, struct rte_flow_action_handle *handle, struct rte_flow_error *error)
{
	uint32_t nb_rules;
	int ret = mdv_flow_indirect_check_handle(port, handle, error);

	if (ret != 0)
		return ret;
	nb_rules = __atomic_load_n(&handle->nb_rules, __ATOMIC_RELAXED);
	if (nb_rules != 0)
		return mdv_flow_error_set(error, EBUSY, RTE_FLOW_ERROR_TYPE_HANDLE, handle,
			"the indirect %s is in use by %u rules; destroy those first",
			mdv_flow_action_name(handle->action->type), nb_rules);
	indirect_free(handle);
	return 0;
}

int
mdv_flow_indirect_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
	struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	int ret;

	pthread_mutex_lock(&port->flow->lock);
	ret = mdv_flow_indirect_do_destroy(port, handle, error);
	pthread_mutex_unlock(&port->flow->lock);
	return ret;
}

/** @return whether the action has a configuration that an update can change. */
static bool
indirect_has_conf(enum rte_flow_action_type type)
{
	return type == RTE_FLOW_ACTION_TYPE_RSS || type == RTE_FLOW_ACTION_TYPE_QUEUE ||
		type == RTE_FLOW_ACTION_TYPE_MARK;
}

/** Under flow.lock. */
static int
indirect_check_update(struct mdv_port *port, const struct rte_flow_action_handle *handle,
	const struct rte_flow_action *update, struct rte_flow_error *error)
{
	const struct mdv_flow_plan_env env = mdv_flow_install_env(port);
	enum rte_flow_action_type type;
	int ret = mdv_flow_indirect_check_handle(port, handle, error);

	if (ret != 0)
		return ret;
	type = handle->action->type;
	if (update == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"an update of an indirect action needs the action as it is to be");
	if (!indirect_has_conf(type))
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_HANDLE, handle,
			"indirect %s: it has nothing to update; RSS, QUEUE and MARK have",
			mdv_flow_action_name(type));
	if (update->type != type)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, update,
			"indirect %s: it cannot become %s; update it with %s, or make another one",
			mdv_flow_action_name(type), mdv_flow_action_name(update->type),
			mdv_flow_action_name(type));
	return mdv_flow_action_check(&env.actions, update, error);
}

struct rte_flow_action *
mdv_flow_indirect_prepare(struct mdv_port *port, const struct rte_flow_action_handle *handle,
	const struct rte_flow_action *update, struct rte_flow_error *error)
{
	if (indirect_check_update(port, handle, update, error) != 0)
		return NULL;
	return indirect_copy(update, error);
}

int
mdv_flow_indirect_do_update(struct mdv_port *port, struct rte_flow_action_handle *handle,
	struct rte_flow_action *action, struct rte_flow_error *error)
{
	int ret = mdv_flow_indirect_check_handle(port, handle, error);

	if (ret == 0)
		ret = mdv_flow_retarget(port, handle, action, error);
	if (ret == 0)
		return 0;
	free(action);
	/* The cause may point into the driver's copy of a rule. */
	if (error != NULL)
		error->cause = handle;
	return ret;
}

int
mdv_flow_indirect_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
	const void *update, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	struct rte_flow_action *action;
	int ret;

	pthread_mutex_lock(&port->flow->lock);
	action = mdv_flow_indirect_prepare(port, handle, update, error);
	ret = action != NULL ? mdv_flow_indirect_do_update(port, handle, action, error)
			     : -rte_errno;
	pthread_mutex_unlock(&port->flow->lock);
	return ret;
}

int
mdv_flow_indirect_do_query(struct mdv_port *port, struct rte_flow_action_handle *handle,
	struct rte_flow_query_count *data, struct rte_flow_error *error)
{
	int ret = mdv_flow_indirect_check_handle(port, handle, error);

	if (ret != 0)
		return ret;
	if (handle->action->type != RTE_FLOW_ACTION_TYPE_COUNT)
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_HANDLE, handle,
			"indirect %s: there is nothing to query; COUNT can be queried",
			mdv_flow_action_name(handle->action->type));
	return data != NULL ? mdv_flow_count_query(&handle->count, data, error) : 0;
}

int
mdv_flow_indirect_query(struct rte_eth_dev *dev, const struct rte_flow_action_handle *handle,
	void *data, struct rte_flow_error *error)
{
	struct mdv_port *port = mdv_port(dev);
	int ret;

	if (data == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"a query of an indirect action needs room for the answer");
	pthread_mutex_lock(&port->flow->lock);
	ret = mdv_flow_indirect_do_query(port, (void *)(uintptr_t)handle, data, error);
	pthread_mutex_unlock(&port->flow->lock);
	return ret;
}

#ifdef MDV_COMPAT_FLOW_LISTS
int
mdv_flow_indirect_check_one(const void *update, const void *query, struct rte_flow_error *error)
{
	if (update == NULL || query == NULL)
		return 0;
	return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, update,
		"query and update at once: no indirect action has both; query COUNT, update RSS, QUEUE and MARK");
}

int
mdv_flow_indirect_query_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
	const void *update, void *query, enum rte_flow_query_update_mode mode,
	struct rte_flow_error *error)
{
	int ret = mdv_flow_indirect_check_one(update, query, error);

	RTE_SET_USED(mode);
	if (ret != 0)
		return ret;
	return query != NULL ? mdv_flow_indirect_query(dev, handle, query, error)
			     : mdv_flow_indirect_update(dev, handle, update, error);
}
#endif

void
mdv_flow_indirect_fini(struct mdv_flow_indirect *indirect)
{
	struct rte_flow_action_handle *handle;

	for (unsigned int i = 0; i < MDV_FLOW_INDIRECT_BUCKETS; i++)
		while ((handle = LIST_FIRST(&indirect->buckets[i])) != NULL)
			indirect_free(handle);
}
