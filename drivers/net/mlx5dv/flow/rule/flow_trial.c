/* SPDX-License-Identifier: BSD-3-Clause */
/* Installs rules that no frame matches, and destroys them. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "flow/action/flow_action.h"
#include "flow/match/flow_build.h"
#include "flow/match/flow_error.h"
#include "flow_dest.h"
#include "flow_modify_object.h"
#include "flow_trial.h"
#include "state/port.h"

void
mdv_flow_trial_begin(struct mdv_flow_build *build)
{
	static const uint8_t whole[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t nobody[6];
	const size_t src = offsetof(struct ibv_flow_spec_eth, mask.src_mac);

	mdv_flow_build_eth(build, nobody, whole);
	memcpy(&build->bytes[sizeof(build->attr) + src], whole, sizeof(whole));
}

/** In the first table of its kind: D(0) has none before it, whose entries would be written again
 * (flow_probe.c); before T(0) there is D(0) alone. */
static int
trial_build(const struct mdv_port *port, const struct mdv_flow_actions *actions,
	const struct mdv_flow_modify_object *object, struct mdv_flow_build *build)
{
	int ret = 0;

	mdv_flow_trial_begin(build);
	if (actions->fate == MDV_FLOW_ACTION_DROP)
		ret = mdv_flow_build_drop(build);
	for (unsigned int i = 0; ret == 0 && i < object->nb_verbs; i++)
		ret = mdv_flow_build_action(build, object->verbs[i]);
	if (ret == 0)
		ret = mdv_flow_build_finish(build, 0, port->device.port_num, actions->passthru);
	if (actions->egress)
		build->attr.flags |= IBV_FLOW_ATTR_FLAGS_EGRESS;
	return ret;
}

static int
trial_run(struct mdv_port *port, const struct mdv_flow_actions *actions,
	const struct mdv_flow_modify_object *object)
{
	struct mdv_flow_build build;
	struct mdv_flow_dest *dest;
	struct ibv_flow *flow;
	int ret = trial_build(port, actions, object, &build);

	if (ret == 0)
		ret = mdv_flow_dest_get_bare(port, actions->fate == MDV_FLOW_ACTION_QUEUES, &dest);
	if (ret != 0)
		return ret;
	errno = 0;
	flow = ibv_create_flow(mdv_flow_dest_qp(dest), &build.attr);
	if (flow == NULL)
		ret = errno != 0 ? -errno : -EINVAL;
	else
		ibv_destroy_flow(flow);
	mdv_flow_dest_put(dest);
	return ret;
}

int
mdv_flow_trial_modify(struct mdv_port *port, const struct mdv_flow_actions *actions,
	const struct mdv_flow_modify *modify, struct rte_flow_error *error)
{
	struct mdv_flow_modify_object *object;
	int ret = mdv_flow_modify_object_get(port, modify, &object);

	if (ret != 0)
		return mdv_flow_error_kernel(error, -ret, "what the rule changes");
	ret = trial_run(port, actions, object);
	mdv_flow_modify_object_put(object);
	return ret == 0 ? 0 : mdv_flow_error_kernel(error, -ret, "the rule with its changes");
}
