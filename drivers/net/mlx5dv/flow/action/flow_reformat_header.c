/* SPDX-License-Identifier: BSD-3-Clause */
/* The items of VXLAN_ENCAP and NVGRE_ENCAP as bytes. */

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_gre.h>
#include <rte_ip.h>
#include <rte_udp.h>
#include <rte_vxlan.h>

#include "flow/match/flow_error.h"
#include "flow_action.h"
#include "flow_modify.h"

#define HEADER_TTL          64 /* Linux's default (net.ipv4.ip_default_ttl) */
#define HEADER_IPV4_VERSION (4 << 4 | 5)
#define HEADER_IPV6_VERSION (6u << 28)
#define HEADER_NVGRE_KEY    0x2000 /* RFC 7637: a key, and no other flag */

/** A header among the others while it is filled; the order of items has those before it ready. */
struct header_state {
	uint8_t *at;
	uint8_t *ether_type; /* of the header before it */
	uint8_t *proto;
};

/** The place of an item: each comes once, and items of one place exclude each other. */
enum header_place {
	PLACE_START,
	PLACE_ETH,
	PLACE_VLAN,
	PLACE_IP,
	PLACE_UDP,
	PLACE_TUNNEL,
};

/** How to complete an item's header whose spec is silent. */
struct header_row {
	enum rte_flow_item_type type;
	enum rte_flow_action_type action; /* END: both actions */
	enum header_place place, after;   /* its place; the place that must be filled before it */
	uint8_t bytes;                    /* offsets from the beginning of the item */
	void (*fill)(struct header_state *state);
};

static void
header_set_type(struct header_state *state, rte_be16_t type)
{
	memcpy(state->ether_type, &type, sizeof(type));
}

static void
header_fill_eth(struct header_state *state)
{
	state->ether_type = state->at + offsetof(struct rte_ether_hdr, ether_type);
}

/** @return whether the header before says which kind of tag follows, as in-tree mlx5 lets it. */
static bool
header_has_tpid(const struct header_state *state)
{
	rte_be16_t type;

	memcpy(&type, state->ether_type, sizeof(type));
	return type == RTE_BE16(RTE_ETHER_TYPE_QINQ) || type == RTE_BE16(RTE_ETHER_TYPE_QINQ1) ||
		type == RTE_BE16(RTE_ETHER_TYPE_QINQ2);
}

static void
header_fill_vlan(struct header_state *state)
{
	if (!header_has_tpid(state))
		header_set_type(state, RTE_BE16(RTE_ETHER_TYPE_VLAN));
	state->ether_type = state->at + offsetof(struct rte_vlan_hdr, eth_proto);
}

static void
header_fill_ipv4(struct header_state *state)
{
	struct rte_ipv4_hdr *ipv4 = (void *)state->at;

	header_set_type(state, RTE_BE16(RTE_ETHER_TYPE_IPV4));
	ipv4->version_ihl = HEADER_IPV4_VERSION;
	if (ipv4->time_to_live == 0)
		ipv4->time_to_live = HEADER_TTL;
	state->proto = &ipv4->next_proto_id;
}

static void
header_fill_ipv6(struct header_state *state)
{
	struct rte_ipv6_hdr *ipv6 = (void *)state->at;

	header_set_type(state, RTE_BE16(RTE_ETHER_TYPE_IPV6));
	ipv6->vtc_flow |= rte_cpu_to_be_32(HEADER_IPV6_VERSION);
	if (ipv6->hop_limits == 0)
		ipv6->hop_limits = HEADER_TTL;
	state->proto = &ipv6->proto;
}

static void
header_fill_udp(struct header_state *state)
{
	struct rte_udp_hdr *udp = (void *)state->at;

	*state->proto = IPPROTO_UDP;
	if (udp->dst_port == 0)
		udp->dst_port = RTE_BE16(RTE_VXLAN_DEFAULT_PORT);
}

static void
header_fill_vxlan(struct header_state *state)
{
	struct rte_vxlan_hdr *vxlan = (void *)state->at;

	vxlan->vx_flags |= RTE_BE32(0x08000000); /* RFC 7348: the VNI is valid */
}

static void
header_fill_nvgre(struct header_state *state)
{
	struct rte_flow_item_nvgre *nvgre = (void *)state->at;

	*state->proto = IPPROTO_GRE;
	nvgre->c_k_s_rsvd0_ver = RTE_BE16(HEADER_NVGRE_KEY);
	nvgre->protocol = RTE_BE16(RTE_ETHER_TYPE_TEB);
}

/* clang-format off */
#define ANY_ACTION RTE_FLOW_ACTION_TYPE_END
#define VXLAN_ONLY RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP
#define NVGRE_ONLY RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP
#define ROW(item, action, place, after, bytes, fill) \
	{ RTE_FLOW_ITEM_TYPE_##item, action, PLACE_##place, PLACE_##after, bytes, header_fill_##fill }

static const struct header_row header_rows[] = {
	ROW(ETH,   ANY_ACTION, ETH,    START, sizeof(struct rte_ether_hdr), eth),
	ROW(VLAN,  ANY_ACTION, VLAN,   ETH,   sizeof(struct rte_vlan_hdr), vlan),
	ROW(IPV4,  ANY_ACTION, IP,     ETH,   sizeof(struct rte_ipv4_hdr), ipv4),
	ROW(IPV6,  ANY_ACTION, IP,     ETH,   sizeof(struct rte_ipv6_hdr), ipv6),
	ROW(UDP,   VXLAN_ONLY, UDP,    IP,    sizeof(struct rte_udp_hdr), udp),
	ROW(VXLAN, VXLAN_ONLY, TUNNEL, UDP,   sizeof(struct rte_vxlan_hdr), vxlan),
	ROW(NVGRE, NVGRE_ONLY, TUNNEL, IP,    sizeof(struct rte_flow_item_nvgre), nvgre),
};
/* clang-format on */

static const struct header_row *
header_find_row(enum rte_flow_item_type item, enum rte_flow_action_type action)
{
	for (unsigned int i = 0; i < RTE_DIM(header_rows); i++)
		if (header_rows[i].type == item &&
			(header_rows[i].action == ANY_ACTION || header_rows[i].action == action))
			return &header_rows[i];
	return NULL;
}

static int
header_refuse(const struct rte_flow_action *action, struct rte_flow_error *error)
{
	return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, action->conf,
		"%s: its items do not make the headers of that tunnel; give ETH, VLAN if wanted, IPV4 or IPV6, and %s, each with a spec",
		mdv_flow_action_name(action->type),
		action->type == VXLAN_ONLY ? "UDP and VXLAN" : "NVGRE");
}

int
mdv_flow_modify_build_header(const struct rte_flow_action *action,
	uint8_t header[MDV_FLOW_MODIFY_DATA], struct rte_flow_error *error)
{
	/* NVGRE_ENCAP's configuration is the same struct under another name. */
	const struct rte_flow_action_vxlan_encap *conf = action->conf;
	const struct rte_flow_item *item = conf->definition;
	struct header_state state = { .at = header };
	enum header_place place = PLACE_START;

	for (; item != NULL && item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		const struct header_row *row = header_find_row(item->type, action->type);

		if (item->type == RTE_FLOW_ITEM_TYPE_VOID)
			continue;
		if (row == NULL || item->spec == NULL || place < row->after || place >= row->place)
			return header_refuse(action, error);
		memcpy(state.at, item->spec, row->bytes);
		row->fill(&state);
		state.at += row->bytes;
		place = row->place;
	}
	return place == PLACE_TUNNEL ? state.at - header : header_refuse(action, error);
}
