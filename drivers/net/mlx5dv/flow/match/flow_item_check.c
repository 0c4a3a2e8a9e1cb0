/* SPDX-License-Identifier: BSD-3-Clause */
/* Implications between items: types, protocols and ports. */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_vxlan.h>

#include "flow_item_row.h"

#define PORT_MPLS 6635 /* RFC 7510 */

static bool
check_is_tpid(uint16_t type)
{
	return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ ||
		type == RTE_ETHER_TYPE_QINQ1 || type == RTE_ETHER_TYPE_QINQ2;
}

/** Read a 16-bit field of a spec that is in the build. */
static uint16_t
check_load(const struct mdv_flow_item_state *state, uint16_t at)
{
	uint16_t number;

	memcpy(&number, &state->build->bytes[at], sizeof(number));
	return rte_be_to_cpu_16(number);
}

static void
check_store(struct mdv_flow_item_state *state, uint16_t at, uint16_t number)
{
	number = rte_cpu_to_be_16(number);
	memcpy(&state->build->bytes[at], &number, sizeof(number));
}

/**
 * Set a 16-bit field to @p number under a full mask. @return false: the bits masked before differ
 */
static bool
check_pin(struct mdv_flow_item_state *state, uint16_t value_at, uint16_t mask_at, uint16_t number)
{
	if (((check_load(state, value_at) ^ number) & check_load(state, mask_at)) != 0)
		return false;
	check_store(state, value_at, number);
	check_store(state, mask_at, UINT16_MAX);
	return true;
}

/** @return for messages the Ethernet type that the pattern has so far; 0: none */
static uint16_t
check_given_type(const struct mdv_flow_item_state *state)
{
	uint16_t at = state->build->sides[state->side].eth_at;

	return at == 0 ? 0
		       : check_load(state, at + offsetof(struct ibv_flow_spec_eth, val.ether_type));
}

static int
check_refuse_type(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match, uint16_t type)
{
	return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, match->item,
		"%s: contradicts the Ethernet type 0x%04x given before it; leave the type out or make it 0x%04x",
		match->row->name, check_given_type(state), type);
}

/** Directly behind GRE only GRE's protocol field identifies the next header. */
static int
check_carried(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match, uint16_t type)
{
	const uint16_t value_at = state->gre_at + offsetof(struct ibv_flow_spec_gre, val.protocol);
	const uint16_t mask_at = state->gre_at + offsetof(struct ibv_flow_spec_gre, mask.protocol);

	if ((state->last & (MDV_LAYER_GRE | MDV_LAYER_GRE_KEY)) == 0 ||
		check_pin(state, value_at, mask_at, type))
		return 0;
	return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, match->item,
		"%s: contradicts the GRE protocol 0x%04x given before it; leave that out or make it 0x%04x",
		match->row->name, check_load(state, value_at), type);
}

int
mdv_flow_item_check_eth(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	const struct rte_flow_item_eth *spec = match->spec, *mask = match->mask;
	int ret = check_carried(state, match, RTE_ETHER_TYPE_TEB);

	if (ret != 0 || mask == NULL || mask->has_vlan == 0)
		return ret;
	if (spec->has_vlan == 0)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK,
			match->item->mask,
			"ETH has_vlan 0: the device cannot match the absence of a tag; leave has_vlan out");
	state->has_vlan = match->item;
	return 0;
}

/** The device matches "has a C-tag" only together with bits of the tag (steering sets cvlan_tag if
 * the VLAN mask is not zero), and looks for the Ethernet type behind the tag. */
int
mdv_flow_item_check_vlan(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	const struct rte_flow_item_vlan *mask = match->mask;
	uint16_t type = check_given_type(state);

	state->any_tag = mask == NULL || mask->hdr.vlan_tci == 0;
	if (!mdv_flow_build_fold_type(state->build, state->side, RTE_BE16(RTE_ETHER_TYPE_VLAN)))
		return mdv_flow_error_set(state->error, check_is_tpid(type) ? ENOTSUP : EINVAL,
			RTE_FLOW_ERROR_TYPE_ITEM, match->item,
			"VLAN: the device matches tags of type 0x8100 only, and the ETH item before it has type 0x%04x; leave that out",
			type);
	state->has_vlan = NULL;
	return 0;
}

int
mdv_flow_item_check_l3(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	uint16_t type =
		match->row->layer == MDV_LAYER_IPV4 ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6;

	if (!mdv_flow_build_fold_type(state->build, state->side, rte_cpu_to_be_16(type)))
		return check_refuse_type(state, match, type);
	return check_carried(state, match, type);
}

static int
check_refuse_proto(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match, uint8_t proto)
{
	return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, match->item,
		"%s: contradicts the protocol of the IP item before it; leave that out or make it %u",
		match->row->name, proto);
}

/** These specs imply the protocol, and the kernel refuses two specs that do. */
int
mdv_flow_item_check_l4(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	if (mdv_flow_build_fold_proto(state->build, state->side, match->row->proto))
		return 0;
	return check_refuse_proto(state, match, match->row->proto);
}

/** The ESP spec does not imply the protocol, so it is left out if it masks nothing. */
int
mdv_flow_item_check_esp(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	const struct rte_flow_item_esp *mask = match->mask;

	if (state->build->sides[state->side].l3_at == 0)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
			match->item,
			"ESP: the device tells it by the protocol of an IP header; put IPV4 or IPV6 before it instead of ANY");
	if (state->side == MDV_FLOW_BUILD_INNER && mask != NULL &&
		(mask->hdr.spi | mask->hdr.seq) != 0)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK,
			match->item->mask,
			"ESP spi inside a tunnel: the device matches it outside only; ESP without spi takes all of ESP");
	if (!mdv_flow_build_pin_proto(state->build, state->side, match->row->proto))
		return check_refuse_proto(state, match, match->row->proto);
	return 0;
}

static int
check_needs(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match, uint32_t needs)
{
	if ((needs & ~state->features) == 0)
		return 0;
	return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, match->item,
		"%s: the device or its kernel does not match it; %s", match->row->name,
		match->row->instead);
}

static int
check_refuse_size(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	return mdv_flow_error_set(state->error, E2BIG, RTE_FLOW_ERROR_TYPE_ITEM_NUM, match->item,
		"%s: more items than the device takes", match->row->name);
}

/**
 * MPLS behind Ethernet: the type in the spec that ETH or VLAN made identifies it, by either of its
 * two values. ANY in their place made none.
 */
int
mdv_flow_item_check_mpls(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	struct mdv_flow_build *build = state->build;
	uint16_t value_at, mask_at;
	int ret = check_needs(state, match, match->row->needs);
	int at = build->sides[state->side].eth_at;

	if (ret != 0)
		return ret;
	if (at == 0) {
		at = mdv_flow_build_add_spec(build, MDV_FLOW_SPEC_ETH, state->side);
		if (at < 0)
			return check_refuse_size(state, match);
		build->sides[state->side].eth_at = at;
		build->layers |= state->side == MDV_FLOW_BUILD_INNER
			? MDV_LAYER_INNER(MDV_LAYER_ETH)
			: MDV_LAYER_ETH;
	}
	value_at = at + offsetof(struct ibv_flow_spec_eth, val.ether_type);
	mask_at = at + offsetof(struct ibv_flow_spec_eth, mask.ether_type);
	if (check_load(state, mask_at) == UINT16_MAX &&
		check_load(state, value_at) == RTE_ETHER_TYPE_MPLSM)
		return 0;
	if (!check_pin(state, value_at, mask_at, RTE_ETHER_TYPE_MPLS))
		return check_refuse_type(state, match, RTE_ETHER_TYPE_MPLS);
	return 0;
}

/**
 * The device finds a tunnel by its UDP port. If the UDP item gives no port, it becomes @p port.
 * With @p others, another port under a full mask stays: Linux configures the device's further
 * ports.
 */
static int
check_udp_port(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match,
	uint16_t port, bool others)
{
	uint16_t value_at, mask_at;
	int at;

	if (state->udp_at == 0) {
		if (!mdv_flow_build_fold_proto(state->build, state->side, IPPROTO_UDP))
			return check_refuse_proto(state, match, IPPROTO_UDP);
		at = mdv_flow_build_add_spec(state->build, MDV_FLOW_SPEC_UDP, state->side);
		if (at < 0)
			return check_refuse_size(state, match);
		state->udp_at = at;
		state->build->layers |= MDV_LAYER_UDP;
	}
	value_at = state->udp_at + offsetof(struct ibv_flow_spec_tcp_udp, val.dst_port);
	mask_at = state->udp_at + offsetof(struct ibv_flow_spec_tcp_udp, mask.dst_port);
	if ((others && check_load(state, mask_at) == UINT16_MAX) ||
		check_pin(state, value_at, mask_at, port))
		return 0;
	return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, match->item,
		"%s: contradicts the UDP dst port %u given before it; leave the port out or make it %u",
		match->row->name, check_load(state, value_at), port);
}

/** MPLS over UDP or GRE: the kernel reads from the spec right before which of them it is. */
int
mdv_flow_item_check_mpls_tunnel(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	const bool gre = (state->last & (MDV_LAYER_GRE | MDV_LAYER_GRE_KEY)) != 0;
	int ret = check_needs(state, match, gre ? MDV_FLOW_CAN_MPLS_GRE : MDV_FLOW_CAN_MPLS_UDP);

	if (ret != 0)
		return ret;
	return gre ? check_carried(state, match, RTE_ETHER_TYPE_MPLS)
		   : check_udp_port(state, match, PORT_MPLS, false);
}

int
mdv_flow_item_check_vxlan(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	return check_udp_port(state, match, RTE_VXLAN_DEFAULT_PORT, true);
}

int
mdv_flow_item_check_gre_key(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	if (match->masked != 0)
		return 0;
	return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, match->item,
		"%s: the device sees a key through its bits only; give a value and a mask",
		match->row->name);
}

/** GRE that carries Ethernet. */
int
mdv_flow_item_check_nvgre(
	struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	const struct rte_flow_item_nvgre *spec = match->spec, *mask = match->mask;
	int ret = mdv_flow_item_check_l4(state, match), at;

	if (ret != 0)
		return ret;
	if (mask != NULL && ((spec->protocol ^ RTE_BE16(RTE_ETHER_TYPE_TEB)) & mask->protocol) != 0)
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM,
			match->item,
			"NVGRE protocol 0x%04x: it carries Ethernet frames; leave the protocol out or make it 0x%04x",
			rte_be_to_cpu_16(spec->protocol), RTE_ETHER_TYPE_TEB);
	at = mdv_flow_build_add_spec(state->build, MDV_FLOW_SPEC_GRE, state->side);
	if (at < 0)
		return check_refuse_size(state, match);
	state->gre_at = at;
	check_store(
		state, at + offsetof(struct ibv_flow_spec_gre, val.protocol), RTE_ETHER_TYPE_TEB);
	check_store(state, at + offsetof(struct ibv_flow_spec_gre, mask.protocol), UINT16_MAX);
	return 0;
}

int
mdv_flow_item_check_side(struct mdv_flow_item_state *state)
{
	const uint16_t type = check_given_type(state);
	const bool tagged =
		(mdv_flow_build_layers(state->build, state->side) & MDV_LAYER_VLAN) != 0;

	if (state->has_vlan != NULL)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
			state->has_vlan,
			"ETH has_vlan 1: the device sees tags of type 0x8100 only; add a VLAN item for those");
	if (type != 0 && check_is_tpid(type))
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
			state->l2, "%s 0x%04x: the device matches the type behind the tag; %s",
			tagged ? "VLAN inner_type" : "ETH type", type,
			tagged ? "it cannot match two tags" : "use a VLAN item instead");
	if (state->any_tag)
		mdv_flow_build_any_tag(state->build, state->side);
	state->any_tag = false;
	return 0;
}
