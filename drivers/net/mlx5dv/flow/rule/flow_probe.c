/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Installs trial rules, one row a feature.
 *
 * mlx5_ib makes a table for its first rule and destroys it after the last one, and each time the
 * device's don't-trap entries in the table before are written again, those of other processes, too
 * (Linux fs_core.c, connect_fwd_rules): with 10,000 PASSTHRU rules each trial would be 20,000
 * commands. Trials therefore go to the first table, D(0), which has none before it; and a rule that
 * is refused before any table is looked for tells whether a priority exists.
 */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <rte_common.h>

#include "base/log.h"
#include "flow/action/flow_action.h"
#include "flow/match/flow_build.h"
#include "flow/match/flow_feature.h"
#include "flow_dest.h"
#include "flow_modify_object.h"
#include "flow_probe.h"
#include "flow_state.h"
#include "flow_trial.h"
#include "state/port.h"

struct probe_row {
	uint32_t feature;
	const char *name;
	enum mdv_flow_spec_id spec;
	enum mdv_flow_build_side side;
	int field; /* the only field of the spec that the kernel matches; -1: none */
	/* a spec to put before it; MDV_FLOW_SPEC_NB: none. For an MPLS label the kernel needs the
	 * header before it. */
	enum mdv_flow_spec_id before;
	uint32_t flags; /* IBV_FLOW_ATTR_FLAGS_* */
};

/* clang-format off */
#define ROW_BEHIND(f, side, spec, member, before) \
	{ MDV_FLOW_CAN_##f, #f, MDV_FLOW_SPEC_##spec, MDV_FLOW_BUILD_##side, \
	  MDV_FLOW_FIELD_##spec##_##member, MDV_FLOW_SPEC_##before, 0 }
#define ROW(f, side, spec, member) ROW_BEHIND(f, side, spec, member, NB)

static const struct probe_row probe_rows[] = {
	ROW(IPV4_TTL, OUTER, IPV4_EXT, ttl),
	ROW(IPV4_FLAGS, OUTER, IPV4_EXT, flags),
	ROW(IPV6_HOP_LIMIT, OUTER, IPV6, hop_limit),
	ROW(ESP_SPI, OUTER, ESP, spi),
	ROW(ESP_SEQ, OUTER, ESP, seq),
	ROW(INNER, INNER, ETH, dst_mac),
	ROW(VXLAN, OUTER, VXLAN_TUNNEL, tunnel_id),
	ROW(GRE, OUTER, GRE, key),
	ROW(GRE_FLAGS, OUTER, GRE, c_ks_res0_ver),
	ROW(MPLS, OUTER, MPLS, label),
	ROW_BEHIND(MPLS_UDP, OUTER, MPLS, label, UDP),
	ROW_BEHIND(MPLS_GRE, OUTER, MPLS, label, GRE),
	{ MDV_FLOW_CAN_EGRESS, "EGRESS", MDV_FLOW_SPEC_IPV4_EXT, MDV_FLOW_BUILD_OUTER, -1,
	  MDV_FLOW_SPEC_NB, IBV_FLOW_ATTR_FLAGS_EGRESS },
};
/* clang-format on */

/* clang-format off */
#define REFORMAT(type) .reformat = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_##type
/** SET of the DSCP to 0: flow_modify.c. */
#define STEP .reformat = MDV_FLOW_MODIFY_NO_REFORMAT, .nb_steps = 1, .steps = { RTE_BE64(0x1006000600000000) }
/** Ethernet, IPv4, UDP, VXLAN. */
#define TUNNEL .header_bytes = 50, \
	.header = { [12] = 8, [14] = 0x45, [23] = IPPROTO_UDP, [36] = 4789 >> 8, [37] = 4789 & 0xff, [42] = 8 }

/** Changes of packets, one verbs action a row. */
static const struct probe_modify {
	uint32_t feature;
	const char *name;
	struct mdv_flow_modify modify;
} probe_modify_rows[] = {
	{ MDV_FLOW_CAN_CHANGE, "received fields", { STEP } },
	{ MDV_FLOW_CAN_CHANGE_SENT, "sent fields", { .egress = 1, STEP } },
	{ MDV_FLOW_CAN_DECAP, "tunnels off frames", { REFORMAT(L2_TUNNEL_TO_L2) } },
	{ MDV_FLOW_CAN_DECAP_L3, "tunnels off packets", { REFORMAT(L3_TUNNEL_TO_L2), .header_bytes = 14 } },
	{ MDV_FLOW_CAN_ENCAP, "tunnels before frames", { .egress = 1, REFORMAT(L2_TO_L2_TUNNEL), TUNNEL } },
	{ MDV_FLOW_CAN_ENCAP_L3, "tunnels before packets", { .egress = 1, REFORMAT(L2_TO_L3_TUNNEL), TUNNEL } },
};
/* clang-format on */

/** Cannot fail: a trial rule has few specs, so there is room for them. */
static void
probe_append(struct mdv_flow_build *build, const struct probe_row *row)
{
	int at;

	if (row->before != MDV_FLOW_SPEC_NB)
		mdv_flow_build_add_spec(build, row->before, MDV_FLOW_BUILD_OUTER);
	at = mdv_flow_build_add_spec(build, row->spec, row->side);
	if (at >= 0 && row->field >= 0)
		mdv_flow_spec_mask_field(&mdv_flow_specs[row->spec], row->field, &build->bytes[at]);
}

/** @return 0 or a negative errno */
static int
probe_try(struct mdv_port *port, const struct mdv_flow_dest *dest, struct mdv_flow_build *build,
	uint16_t priority, uint32_t flags)
{
	struct ibv_flow *flow;

	mdv_flow_build_drop(build);
	mdv_flow_build_finish(build, priority, port->device.port_num, false);
	build->attr.flags |= flags;
	errno = 0;
	flow = ibv_create_flow(mdv_flow_dest_qp(dest), &build->attr);
	if (flow == NULL)
		return errno != 0 ? -errno : -EINVAL;
	ibv_destroy_flow(flow);
	return 0;
}

/** @return whether the errno is about this rule; others would refuse any rule */
static bool
is_answer(int ret)
{
	return ret != -ENOMEM && ret != -EAGAIN && ret != -EINTR && ret != -EIO;
}

/** @return the flags of trials in the first table. A rule that drops needs no support for
 * DONT_TRAP, but drivers other than mlx5_ib may not know the flag. */
static uint32_t
probe_flags(const struct mdv_port *port)
{
	return port->device.caps.foreign ? 0 : IBV_FLOW_ATTR_FLAGS_DONT_TRAP;
}

static int
probe_priority(struct mdv_port *port, const struct mdv_flow_dest *dest, uint16_t priority)
{
	struct mdv_flow_build build;

	mdv_flow_trial_begin(&build);
	return probe_try(port, dest, &build, priority, probe_flags(port));
}

/** As probe_priority(), with a rule that mlx5_ib_create_flow() never takes: EINVAL instead of 0. */
static int
probe_refused(struct mdv_port *port, const struct mdv_flow_dest *dest, uint16_t priority)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_ALL_DEFAULT,
		.flags = IBV_FLOW_ATTR_FLAGS_EGRESS,
		.size = sizeof(attr),
		.priority = priority,
		.port = port->device.port_num,
	};
	struct ibv_flow *flow;

	errno = 0;
	flow = ibv_create_flow(mdv_flow_dest_qp(dest), &attr);
	if (flow == NULL)
		return errno != 0 ? -errno : -EINVAL;
	ibv_destroy_flow(flow);
	return 0;
}

/** @return whether refusals tell priorities that exist from those that do not, or a negative errno
 */
static int
can_probe_refused(struct mdv_port *port, const struct mdv_flow_dest *dest)
{
	int there, beyond;

	if (port->device.caps.foreign)
		return 0;
	there = probe_refused(port, dest, 0);
	if (there != -EINVAL)
		return is_answer(there) || there == -ENOMEM ? 0 : there;
	beyond = probe_refused(port, dest, MDV_FLOW_LEVEL_MAX);
	return is_answer(beyond) ? 0 : beyond == -ENOMEM ? 1 : beyond;
}

/** Find the number of priorities by bisection: mlx5_ib_create_flow() returns ENOMEM for a priority
 * that the device lacks. */
static int
probe_priorities(struct mdv_port *port, const struct mdv_flow_dest *dest)
{
	uint16_t last = 0, beyond = MDV_FLOW_LEVEL_MAX;
	int ret = probe_priority(port, dest, last), refused;

	if (ret != 0)
		return ret;
	refused = can_probe_refused(port, dest);
	if (refused < 0)
		return refused;
	while (beyond - last > 1) {
		const uint16_t middle = (last + beyond) / 2;

		ret = refused ? probe_refused(port, dest, middle)
			      : probe_priority(port, dest, middle);
		if (ret == (refused ? -EINVAL : 0))
			last = middle;
		else if (ret == -ENOMEM || is_answer(ret))
			beyond = middle;
		else
			return ret;
	}
	port->flow->nb_priorities = beyond;
	MDV_LOG(DEBUG, "%s: %u flow priorities", port->device.name, beyond);
	return 0;
}

/** Note the result and log it. */
static void
probe_answer(
	struct mdv_port *port, uint32_t feature, const char *question, const char *name, int ret)
{
	if (ret == 0)
		port->flow->features |= feature;
	if (ret == 0 || is_answer(ret))
		MDV_LOG(DEBUG, "%s: %s %s: %s", port->device.name, question, name,
			ret == 0 ? "yes" : strerror(-ret));
	else
		MDV_LOG(WARNING, "%s: %s %s: %s; rules with it will be refused", port->device.name,
			question, name, strerror(-ret));
}

/**
 * Linux makes what takes a tunnel off for an e-switch's manager, too, and no table with the right
 * to use it (Linux hw/mlx5/fs.c get_flow_table(), is_rep): of a device with several ports a rule
 * tells. It is not in the first table, which has the entries before it written again.
 * @return 0 or a negative errno
 */
static int
probe_change(struct mdv_port *port, const struct mdv_flow_modify *modify)
{
	const struct mdv_flow_actions actions = { .fate = MDV_FLOW_ACTION_QUEUES };
	const bool is_sure = modify->egress || modify->reformat == MDV_FLOW_MODIFY_NO_REFORMAT ||
		port->device.nb_ports <= 1;
	struct rte_flow_error error;
	int ret = mdv_flow_modify_object_try(port->device.ctx, modify);

	return ret != 0 || is_sure ? ret : mdv_flow_trial_modify(port, &actions, modify, &error);
}

static void
probe_features(struct mdv_port *port, const struct mdv_flow_dest *dest)
{
	for (unsigned int i = 0; i < RTE_DIM(probe_rows); i++) {
		const struct probe_row *row = &probe_rows[i];
		struct mdv_flow_build build;

		mdv_flow_trial_begin(&build);
		probe_append(&build, row);
		probe_answer(port, row->feature, "match on", row->name,
			probe_try(port, dest, &build, 0, probe_flags(port) | row->flags));
	}
	for (unsigned int i = 0; i < RTE_DIM(probe_modify_rows) && !port->device.caps.foreign; i++)
		probe_answer(port, probe_modify_rows[i].feature, "change of",
			probe_modify_rows[i].name,
			probe_change(port, &probe_modify_rows[i].modify));
}

int
mdv_flow_probe(struct mdv_port *port)
{
	struct mdv_flow_dest *dest;
	int ret = mdv_flow_dest_get_bare(port, false, &dest);

	if (ret != 0)
		return ret;
	ret = probe_priorities(port, dest);
	if (ret == 0)
		probe_features(port, dest);
	mdv_flow_dest_put(dest);
	return ret;
}
