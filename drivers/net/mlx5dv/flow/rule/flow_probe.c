/* SPDX-License-Identifier: BSD-3-Clause */
/* Trial rules; a row a feature. */

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <rte_common.h>

#include "base/log.h"
#include "flow/match/flow_build.h"
#include "flow/match/flow_feature.h"
#include "flow_dest.h"
#include "flow_modify_object.h"
#include "flow_probe.h"
#include "flow_state.h"
#include "state/port.h"

struct probe_row {
	uint32_t feature;
	const char *name;
	enum ibv_flow_spec_type type;
	uint16_t size;
	uint16_t mask_at, mask_bytes; /* all ones there */
	/* Another spec before it, 0: none. The kernel reads the place of an MPLS label from it. */
	enum ibv_flow_spec_type before;
	uint16_t before_size;
	uint32_t flags; /* IBV_FLOW_ATTR_FLAGS_* */
};

/* clang-format off */
#define ROW(f, t, of, filter, member) \
	{ MDV_FLOW_CAN_##f, #f, t, sizeof(struct of), \
	  offsetof(struct of, mask) + offsetof(struct filter, member), \
	  sizeof(((struct filter *)0)->member), 0, 0 }
#define ROW_BEHIND(f, t, of, filter, member, b, before) \
	{ MDV_FLOW_CAN_##f, #f, t, sizeof(struct of), \
	  offsetof(struct of, mask) + offsetof(struct filter, member), \
	  sizeof(((struct filter *)0)->member), b, sizeof(struct before) }

static const struct probe_row probe_rows[] = {
	ROW(IPV4_TTL, IBV_FLOW_SPEC_IPV4_EXT, ibv_flow_spec_ipv4_ext, ibv_flow_ipv4_ext_filter, ttl),
	ROW(IPV4_FLAGS, IBV_FLOW_SPEC_IPV4_EXT, ibv_flow_spec_ipv4_ext, ibv_flow_ipv4_ext_filter,
		flags),
	ROW(IPV6_HOP_LIMIT, IBV_FLOW_SPEC_IPV6, ibv_flow_spec_ipv6, ibv_flow_ipv6_filter, hop_limit),
	ROW(ESP_SPI, IBV_FLOW_SPEC_ESP, ibv_flow_spec_esp, ibv_flow_esp_filter, spi),
	ROW(ESP_SEQ, IBV_FLOW_SPEC_ESP, ibv_flow_spec_esp, ibv_flow_esp_filter, seq),
	ROW(INNER, IBV_FLOW_SPEC_ETH | IBV_FLOW_SPEC_INNER, ibv_flow_spec_eth, ibv_flow_eth_filter,
		dst_mac),
	/* Its highest byte must be zero: uverbs. */
	{ MDV_FLOW_CAN_VXLAN, "VXLAN", IBV_FLOW_SPEC_VXLAN_TUNNEL,
	  sizeof(struct ibv_flow_spec_tunnel), offsetof(struct ibv_flow_spec_tunnel, mask) + 1, 3,
	  0, 0 },
	ROW(GRE, IBV_FLOW_SPEC_GRE, ibv_flow_spec_gre, ibv_flow_gre_filter, key),
	ROW(GRE_FLAGS, IBV_FLOW_SPEC_GRE, ibv_flow_spec_gre, ibv_flow_gre_filter, c_ks_res0_ver),
	ROW(MPLS, IBV_FLOW_SPEC_MPLS, ibv_flow_spec_mpls, ibv_flow_mpls_filter, label),
	ROW_BEHIND(MPLS_UDP, IBV_FLOW_SPEC_MPLS, ibv_flow_spec_mpls, ibv_flow_mpls_filter, label,
		IBV_FLOW_SPEC_UDP, ibv_flow_spec_tcp_udp),
	ROW_BEHIND(MPLS_GRE, IBV_FLOW_SPEC_MPLS, ibv_flow_spec_mpls, ibv_flow_mpls_filter, label,
		IBV_FLOW_SPEC_GRE, ibv_flow_spec_gre),
	{ MDV_FLOW_CAN_EGRESS, "EGRESS", IBV_FLOW_SPEC_IPV4_EXT, sizeof(struct ibv_flow_spec_ipv4_ext),
	  0, 0, 0, 0, IBV_FLOW_ATTR_FLAGS_EGRESS },
};
/* clang-format on */

/* clang-format off */
#define REFORMAT(type) .reformat = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_##type
/** SET of the DSCP to 0: flow_modify.c. */
#define STEP .reformat = MDV_FLOW_MODIFY_NO_REFORMAT, .nb_steps = 1, .steps = { RTE_BE64(0x1006000600000000) }
/** Ethernet, IPv4, UDP, VXLAN. */
#define TUNNEL .header_bytes = 50, \
	.header = { [12] = 8, [14] = 0x45, [23] = IPPROTO_UDP, [36] = 4789 >> 8, [37] = 4789 & 0xff, [42] = 8 }

/** What may be done to packets, a verbs action a row. */
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

/** All nothing, but for ones in the mask where the row says so. */
static void
probe_append(struct mdv_flow_build *build, enum ibv_flow_spec_type type, uint16_t size,
	uint16_t mask_at, uint16_t mask_bytes)
{
	struct ibv_flow_spec spec;

	memset(&spec, 0, sizeof(spec));
	spec.hdr.type = type;
	spec.hdr.size = size;
	memset((uint8_t *)&spec + mask_at, 0xff, mask_bytes);
	mdv_flow_build_append(build, &spec, size);
}

static void
probe_begin(struct mdv_flow_build *build)
{
	static const uint8_t whole[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t nobody[6];
	const size_t src = offsetof(struct ibv_flow_spec_eth, mask.src_mac);

	mdv_flow_build_eth(build, nobody, whole);
	memcpy(&build->bytes[sizeof(build->attr) + src], whole, sizeof(whole));
}

/** @return 0 or a negative errno */
static int
probe_try(struct mdv_port *port, const struct mdv_flow_dest *rss, struct mdv_flow_build *build,
	uint16_t priority, uint32_t flags)
{
	struct ibv_flow *flow;

	mdv_flow_build_drop(build);
	mdv_flow_build_finish(build, priority, port->device.port_num, false);
	build->attr.flags |= flags;
	errno = 0;
	flow = ibv_create_flow(mdv_flow_dest_qp(rss), &build->attr);
	if (flow == NULL)
		return errno != 0 ? -errno : -EINVAL;
	ibv_destroy_flow(flow);
	return 0;
}

/** Is it about the rule? Want of memory or patience would have refused any rule. */
static bool
is_answer(int ret)
{
	return ret != -ENOMEM && ret != -EAGAIN && ret != -EINTR && ret != -EIO;
}

static int
probe_priority(struct mdv_port *port, const struct mdv_flow_dest *rss, uint16_t priority)
{
	struct mdv_flow_build build;

	probe_begin(&build);
	return probe_try(port, rss, &build, priority, 0);
}

/** Halving: of a priority above all that there are the kernel says ENOMEM (mlx5_ib_create_flow). */
static int
probe_priorities(struct mdv_port *port, const struct mdv_flow_dest *rss)
{
	uint16_t last = 0, beyond = MDV_FLOW_LEVEL_MAX;
	int ret = probe_priority(port, rss, last);

	if (ret != 0)
		return ret;
	while (beyond - last > 1) {
		const uint16_t middle = (last + beyond) / 2;

		ret = probe_priority(port, rss, middle);
		if (ret == 0)
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

/** Note the answer and log it. */
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

static void
probe_features(struct mdv_port *port, const struct mdv_flow_dest *rss)
{
	for (unsigned int i = 0; i < RTE_DIM(probe_rows); i++) {
		const struct probe_row *row = &probe_rows[i];
		struct mdv_flow_build build;

		probe_begin(&build);
		if (row->before != 0)
			probe_append(&build, row->before, row->before_size, 0, 0);
		probe_append(&build, row->type, row->size, row->mask_at, row->mask_bytes);
		probe_answer(port, row->feature, "match on", row->name,
			probe_try(port, rss, &build, port->flow->nb_priorities - 1, row->flags));
	}
	for (unsigned int i = 0; i < RTE_DIM(probe_modify_rows) && !port->device.caps.foreign; i++)
		probe_answer(port, probe_modify_rows[i].feature, "change of",
			probe_modify_rows[i].name,
			mdv_flow_modify_object_try(port->device.ctx, &probe_modify_rows[i].modify));
}

int
mdv_flow_probe(struct mdv_port *port)
{
	struct mdv_flow_dest *rss;
	int ret = mdv_flow_dest_get_drop(port, &rss);

	if (ret != 0)
		return ret;
	ret = probe_priorities(port, rss);
	if (ret == 0)
		probe_features(port, rss);
	mdv_flow_dest_put(rss);
	return ret;
}
