/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ANY: layers without a name. The device looks for a protocol at one place only, so ANY is left out
 * where that place is as many layers deep as ANY says:
 *
 *     eth / any num 1 / udp    ->   UDP over any IP
 *     eth / any num 2 / vxlan  ->   VXLAN over UDP over any IP
 */

#include <errno.h>

#include "flow_item_row.h"

#define ANY_MOST 4 /* Ethernet, IP, UDP, and one more */

int
mdv_flow_item_any(struct mdv_flow_item_state *state, const struct rte_flow_item *item)
{
	const struct rte_flow_item_any *spec = item->spec, *mask = item->mask, *last = item->last;

	if (state->any != NULL)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, item,
			"ANY behind ANY: write one, with the sum of both nums");
	if (spec == NULL && (mask != NULL || last != NULL))
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, item,
			"%s: %s without spec; give a spec or leave both out", "ANY",
			mask != NULL ? "mask" : "last");
	if (mask != NULL && mask->num != 0 && mask->num != UINT32_MAX)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK,
			mask,
			"ANY num mask 0x%x: a part of a number of layers means nothing; use 0xffffffff",
			mask->num);
	state->any = item;
	state->any_num = mask != NULL ? spec->num & mask->num : 0;
	if (last != NULL && last->num != 0 && state->any_num != 0 && last->num != spec->num)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_LAST,
			last,
			"ANY num: last differs from spec, and the device looks in one place; leave last out");
	return 0;
}

/** @return the layers directly above these, without tunnels and tags, which would narrow the
 * match. */
static uint32_t
any_step(uint32_t layers)
{
	const uint32_t frames = MDV_FLOW_ITEM_FIRST | MDV_LAYER_VXLAN | MDV_LAYER_NVGRE;
	const uint32_t below_ip = MDV_LAYER_ETH | MDV_LAYER_VLAN | MDV_LAYER_MPLS |
		MDV_LAYER_MPLS_TUNNEL | MDV_LAYER_GRE | MDV_LAYER_GRE_KEY;
	uint32_t on_top = 0;

	if ((layers & frames) != 0)
		on_top |= MDV_LAYER_ETH;
	if ((layers & below_ip) != 0)
		on_top |= MDV_LAYER_L3;
	if ((layers & MDV_LAYER_L3) != 0)
		on_top |= MDV_LAYER_L4;
	return on_top;
}

int
mdv_flow_item_any_before(struct mdv_flow_item_state *state, const struct mdv_flow_item_match *match)
{
	uint32_t layers = state->last;

	for (uint32_t num = 1; num <= ANY_MOST; num++) {
		layers = any_step(layers);
		if ((layers & match->row->after) == 0)
			continue;
		if (num != state->any_num)
			return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
				state->any,
				"ANY num %u before %s: the device finds that in one place only; use num %u",
				state->any_num, match->row->name, num);
		state->last = layers & match->row->after;
		state->any = NULL;
		return 0;
	}
	return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, match->item,
		"%s: cannot follow ANY here; name the items before it", match->row->name);
}

int
mdv_flow_item_any_end(struct mdv_flow_item_state *state)
{
	if (state->any == NULL || state->any_num <= 1)
		return 0;
	return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, state->any,
		"ANY num %u at the end: the device cannot count layers that are not named; use num 1",
		state->any_num);
}
