/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of what the device does to packets in a tunnel: of VXLAN, which all cards know. */
#include <errno.h>
#include <inttypes.h>

#include <rte_errno.h>
#include <rte_flow.h>

#include "check.h"

#define NB_FLOWS  32
#define KEY_BYTES 40 /* of Toeplitz */

/** @return whether the port tells types of inner headers */
static bool
sees_inside(const struct check *check)
{
	uint32_t types[32];
	const int nb = rte_eth_dev_get_supported_ptypes(
		check->port[CHECK_PORT].id, RTE_PTYPE_INNER_L4_MASK, types, RTE_DIM(types));

	return nb > 0;
}

static enum check_result
rx_checksums(struct check *check)
{
	return sees_inside(check) ? check_rx_checksums(check, true)
				  : check_absent(check, "no inner headers are told");
}

static enum check_result
packet_types(struct check *check)
{
	static const struct {
		struct check_frame frame;
		uint32_t l4;
	} cases[] = {
		{ { .vxlan = true }, RTE_PTYPE_INNER_L4_UDP },
		{ { .vxlan = true, .tcp = true }, RTE_PTYPE_INNER_L4_TCP },
	};

	if (!sees_inside(check))
		return check_absent(check, "no inner headers are told");
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct check_gots gots;
		const struct rte_mbuf *mbuf = check_one(check, CHECK_PEER, &cases[i].frame, &gots);
		const uint32_t type = mbuf == NULL ? 0 : mbuf->packet_type;
		const uint32_t inner = type & RTE_PTYPE_INNER_L3_MASK;

		check_traffic_free(&gots);
		if (mbuf == NULL)
			return CHECK_FAIL;
		if (!RTE_ETH_IS_IPV4_HDR(type) ||
			(inner != RTE_PTYPE_INNER_L3_IPV4 && inner != RTE_PTYPE_INNER_L3_IPV4_EXT &&
				inner != RTE_PTYPE_INNER_L3_IPV4_EXT_UNKNOWN) ||
			(type & RTE_PTYPE_INNER_L4_MASK) != cases[i].l4)
			return check_fail(check, "%s is 0x%" PRIx32,
				cases[i].frame.tcp ? "TCP" : "UDP", type);
	}
	return CHECK_PASS;
}

static enum check_result
tx_checksums(struct check *check)
{
	static const struct check_frame frames[] = {
		{ .vxlan = true,
			.ol_flags = CHECK_TX_VXLAN | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM |
				RTE_MBUF_F_TX_UDP_CKSUM },
		{ .vxlan = true,
			.ol_flags = CHECK_TX_VXLAN | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM |
				RTE_MBUF_F_TX_TCP_CKSUM,
			.tcp = true,
			.size = 1001 },
	};

	return check_has_tx(check, RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM)
		? check_tx_checksums(check, frames, RTE_DIM(frames))
		: check_absent(check, "no such offload");
}

static enum check_result
tso(struct check *check)
{
	return check_has_tx(check, RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO)
		? check_segmentation(check, true)
		: check_absent(check, "no such offload");
}

/** A rule that spreads what is in VXLAN over all queues. @return NULL: as check_rule_create() */
static struct rte_flow *
spread(struct check *check, const uint8_t *key)
{
	static const uint16_t queues[CHECK_QUEUES] = { 0, 1, 2, 3 };
	static const struct rte_flow_attr attr = { .ingress = 1 };
	static const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4 },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP },
		{ .type = RTE_FLOW_ITEM_TYPE_VXLAN },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action_rss rss = {
		.level = 2,
		.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP,
		.key = key,
		.key_len = KEY_BYTES,
		.queue = queues,
		.queue_num = RTE_DIM(queues),
	};
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};

	return check_flow_create(check, &attr, pattern, actions);
}

/** Outside all flows are alike. */
static enum check_result
compare_hashes(struct check *check, const struct check_gots *gots, const uint8_t *key)
{
	uint32_t queues = 0;

	if (gots->nb != NB_FLOWS)
		return check_fail(check, "of %d packets %u came", NB_FLOWS, gots->nb);
	for (unsigned int i = 0; i < gots->nb; i++) {
		const struct rte_mbuf *mbuf = gots->got[i].mbuf;
		const uint32_t hash = check_toeplitz(mbuf, CHECK_TUNNEL, key);

		queues |= 1u << gots->got[i].queue;
		if (check_has_rx(check, RTE_ETH_RX_OFFLOAD_RSS_HASH) && mbuf->hash.rss != hash)
			return check_fail(check, "flow %u: hash 0x%08x, computed 0x%08x",
				gots->got[i].seq, mbuf->hash.rss, hash);
	}
	return __builtin_popcount(queues) >= 2 ? CHECK_PASS
					       : check_fail(check, "all flows went to one queue");
}

static enum check_result
inner_rss(struct check *check)
{
	struct check_frame frames[NB_FLOWS];
	enum check_result result;
	struct check_gots gots;
	uint8_t key[KEY_BYTES];
	struct rte_flow *flow;
	int ret;

	for (unsigned int i = 0; i < KEY_BYTES; i++)
		key[i] = (uint8_t)(i * 101 + 17);
	for (unsigned int i = 0; i < NB_FLOWS; i++)
		frames[i] = (struct check_frame){ .vxlan = true, .sport = 7 * i };
	flow = spread(check, key);
	if (flow == NULL)
		return rte_errno == ENOTSUP ? CHECK_ABSENT : CHECK_FAIL;
	ret = check_traffic_exchange(check, CHECK_PEER, frames, NB_FLOWS, &gots);
	result = ret != 0 ? check_fail(check, "%s", rte_strerror(-ret))
			  : compare_hashes(check, &gots, key);
	check_traffic_free(&gots);
	return check_rules_destroy(check, &flow, 1, result);
}

const struct check_row check_rows_tunnel[] = {
	{ "VXLAN Rx checksums", "right ones inside are good, wrong ones are not", rx_checksums },
	{ "VXLAN packet types", "UDP and TCP inside are told apart", packet_types },
	{ "VXLAN Tx checksums", "inside and outside they are right on the wire", tx_checksums },
	{ "VXLAN TSO", "segments, numbers, lengths and checksums", tso },
	{ "VXLAN inner RSS", "hash and queue are by the packets inside", inner_rss },
	{ NULL, NULL, NULL },
};
