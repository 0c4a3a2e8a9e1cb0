/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of rte_flow's items: a rule that one frame matches, and another one by that item alone not.
 */
#include <errno.h>

#include <rte_errno.h>

#include "layers.h"

#define ITEMS_MAX 6

/** Frame 0 is as the pattern has it, frame 1 has the patch. */
struct item {
	struct rte_flow_item pattern[ITEMS_MAX];
	uint8_t layers[CHECK_LAYERS_MAX];
	struct check_patch patch;
};

enum {
	MATCHING,
	OTHER,
	NB_FRAMES
};

/* clang-format off */
#define ONES RTE_BE32(UINT32_MAX)
#define ITEM(t) { .type = RTE_FLOW_ITEM_TYPE_##t }
#define OF(t, s, m) { .type = RTE_FLOW_ITEM_TYPE_##t, .spec = &(s), .mask = &(m) }
/** A struct of rte_flow.h with some members set. */
#define WITH(type, ...) ((const struct type){ __VA_ARGS__ })
/* clang-format on */

/** Frames of the rows are from this address: a rule sees no others. */
static const struct rte_flow_item_eth source = {
	.hdr.src_addr = { { 2, 0, 0, 0, 1, CHECK_RULE_SRC } },
};
static const struct rte_flow_item_eth source_mask = { .hdr.src_addr = {
							      { 255, 255, 255, 255, 255, 255 } } };

static struct rte_flow *
create(struct check *check, const struct item *item)
{
	static const struct rte_flow_attr attr = { .ingress = 1 };
	static const struct rte_flow_action_mark mark = { .id = CHECK_RULE_MARK };
	static const struct rte_flow_action_queue queue = { .index = CHECK_LAST_QUEUE };
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &mark },
		{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};

	return check_flow_create(check, &attr, item->pattern, actions);
}

static bool
is_marked(const struct rte_mbuf *mbuf)
{
	return (mbuf->ol_flags & RTE_MBUF_F_RX_FDIR_ID) && mbuf->hash.fdir.hi == CHECK_RULE_MARK;
}

static enum check_result
judge(struct check *check, const struct check_got *got)
{
	if (got[MATCHING].mbuf == NULL)
		return check_fail(check, "the frame that it matches did not come");
	if (!is_marked(got[MATCHING].mbuf) || got[MATCHING].queue != CHECK_LAST_QUEUE)
		return check_fail(check, "the frame came on queue %u%s, not by the rule",
			got[MATCHING].queue,
			is_marked(got[MATCHING].mbuf) ? "" : " without the mark");
	if (got[OTHER].mbuf != NULL && is_marked(got[OTHER].mbuf))
		return check_fail(check, "a frame came by the rule that differs in this item");
	return CHECK_PASS;
}

static enum check_result
match(struct check *check)
{
	static const struct check_patch none = { 0 };
	const struct item *item = check->data;
	struct check_got got[NB_FRAMES];
	struct check_layers frame;
	struct rte_flow *flow = create(check, item);
	enum check_result result;
	int ret = 0;

	if (flow == NULL)
		return rte_errno == ENOTSUP ? CHECK_ABSENT : CHECK_FAIL;
	/* The one that is waited for is last. */
	for (unsigned int i = NB_FRAMES; i-- > 0 && ret == 0;) {
		check_layers_write(check, CHECK_PEER, item->layers,
			i == OTHER ? &item->patch : &none, i, &frame);
		ret = check_layers_send(check, CHECK_PEER, frame.bytes, sizeof(frame.bytes));
	}
	check_layers_collect(check, CHECK_PORT, got, NB_FRAMES);
	result = ret != 0 ? check_fail(check, "%s", rte_strerror(-ret)) : judge(check, got);
	for (unsigned int i = 0; i < NB_FRAMES; i++)
		rte_pktmbuf_free(got[i].mbuf);
	return check_rules_destroy(check, &flow, 1, result);
}

/* clang-format off */
#define ETH_ITEM OF(ETH, source, source_mask)

static const struct item any = {
	{ ETH_ITEM, OF(ANY, WITH(rte_flow_item_any, 1), WITH(rte_flow_item_any, UINT32_MAX)), ITEM(UDP), ITEM(END) },
	{ CHECK_ETH, CHECK_IPV4, CHECK_UDP }, { 1, 9, 1, { 253 } },
};
static const struct item eth = {
	{ ETH_ITEM, ITEM(END) },
	{ CHECK_ETH, CHECK_IPV4, CHECK_UDP }, { 0, 11, 1, { CHECK_RULE_SRC + 1 } },
};
static const struct item vlan = {
	{ ETH_ITEM, OF(VLAN, WITH(rte_flow_item_vlan, .hdr.vlan_tci = RTE_BE16(5)),
	     WITH(rte_flow_item_vlan, .hdr.vlan_tci = RTE_BE16(0xfff))), ITEM(END) },
	{ CHECK_ETH, CHECK_VLAN, CHECK_IPV4, CHECK_UDP }, { 1, 1, 1, { 6 } },
};
static const struct item ipv4 = {
	{ ETH_ITEM, OF(IPV4, WITH(rte_flow_item_ipv4, .hdr.dst_addr = RTE_BE32(RTE_IPV4(198, 18, 0, 2))),
	     WITH(rte_flow_item_ipv4, .hdr.dst_addr = ONES)), ITEM(END) },
	{ CHECK_ETH, CHECK_IPV4, CHECK_UDP }, { 1, 19, 1, { 3 } },
};
static const struct item ipv6 = {
	{ ETH_ITEM, OF(IPV6, WITH(rte_flow_item_ipv6, .hdr.vtc_flow = RTE_BE32(4u << 20)),
	     WITH(rte_flow_item_ipv6, .hdr.vtc_flow = RTE_BE32(0xffu << 20))), ITEM(END) },
	{ CHECK_ETH, CHECK_IPV6, CHECK_UDP }, { 1, 0, 2, { 0x60, 0x80 } },
};
static const struct item udp = {
	{ ETH_ITEM, ITEM(IPV4), OF(UDP, WITH(rte_flow_item_udp, .hdr.dst_port = RTE_BE16(9)),
	     WITH(rte_flow_item_udp, .hdr.dst_port = RTE_BE16(0xffff))), ITEM(END) },
	{ CHECK_ETH, CHECK_IPV4, CHECK_UDP }, { 2, 3, 1, { 10 } },
};
static const struct item tcp = {
	{ ETH_ITEM, ITEM(IPV4), OF(TCP, WITH(rte_flow_item_tcp, .hdr.dst_port = RTE_BE16(9)),
	     WITH(rte_flow_item_tcp, .hdr.dst_port = RTE_BE16(0xffff))), ITEM(END) },
	{ CHECK_ETH, CHECK_IPV4, CHECK_TCP }, { 2, 3, 1, { 10 } },
};
static const struct item esp = {
	{ ETH_ITEM, ITEM(IPV4), ITEM(ESP), ITEM(END) },
	{ CHECK_ETH, CHECK_IPV4, CHECK_ESP }, { 1, 9, 1, { 253 } },
};
static const struct item mpls = {
	{ ETH_ITEM, OF(MPLS, WITH(rte_flow_item_mpls, .label_tc_s = { 0, 1, 0 }),
	     WITH(rte_flow_item_mpls, .label_tc_s = { 0xff, 0xff, 0xf0 })), ITEM(END) },
	{ CHECK_ETH, CHECK_MPLS, CHECK_IPV4, CHECK_UDP }, { 1, 1, 1, { 2 } },
};
static const struct item gre = {
	{ ETH_ITEM, ITEM(IPV4), OF(GRE, WITH(rte_flow_item_gre, .protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4)),
	     WITH(rte_flow_item_gre, .protocol = RTE_BE16(0xffff))), ITEM(END) },
	{ CHECK_ETH, CHECK_IPV4, CHECK_GRE, CHECK_IPV4, CHECK_UDP }, { 2, 2, 2, { 0x86, 0xdd } },
};
static const rte_be32_t key = RTE_BE32(7), whole_key = ONES;
static const struct item gre_key = {
	{ ETH_ITEM, ITEM(IPV4), ITEM(GRE), OF(GRE_KEY, key, whole_key), ITEM(END) },
	{ CHECK_ETH, CHECK_IPV4, CHECK_GRE_KEY, CHECK_IPV4, CHECK_UDP }, { 2, 7, 1, { 8 } },
};
static const struct item gre_option = {
	{ ETH_ITEM, ITEM(IPV4), ITEM(GRE), OF(GRE_OPTION, WITH(rte_flow_item_gre_opt, .key.key = RTE_BE32(7)),
	     WITH(rte_flow_item_gre_opt, .key.key = ONES)), ITEM(END) },
	{ CHECK_ETH, CHECK_IPV4, CHECK_GRE_KEY, CHECK_IPV4, CHECK_UDP }, { 2, 7, 1, { 8 } },
};
static const struct item nvgre = {
	{ ETH_ITEM, ITEM(IPV4), OF(NVGRE, WITH(rte_flow_item_nvgre, .tni = { 0, 0, 42 }),
	     WITH(rte_flow_item_nvgre, .tni = { 0xff, 0xff, 0xff })), ITEM(END) },
	{ CHECK_ETH, CHECK_IPV4, CHECK_NVGRE, CHECK_ETH, CHECK_IPV4, CHECK_UDP }, { 2, 6, 1, { 43 } },
};
static const struct item vxlan = {
	{ ETH_ITEM, ITEM(IPV4), ITEM(UDP), OF(VXLAN, WITH(rte_flow_item_vxlan, .hdr.vx_vni = RTE_BE32(42 << 8)),
	     WITH(rte_flow_item_vxlan, .hdr.vx_vni = RTE_BE32(0xffffff00))), ITEM(END) },
	{ CHECK_ETH, CHECK_IPV4, CHECK_UDP, CHECK_VXLAN, CHECK_ETH, CHECK_IPV4, CHECK_UDP }, { 3, 6, 1, { 43 } },
};

const struct check_row check_rows_item[] = {
	{ "item: any", "UDP over one layer that is not named, and no other protocol", match, &any },
	{ "item: eth", "one source address and not another", match, &eth },
	{ "item: vlan", "one VLAN and not another", match, &vlan },
	{ "item: ipv4", "one destination and not another", match, &ipv4 },
	{ "item: ipv6", "one traffic class and not another", match, &ipv6 },
	{ "item: udp", "one port and not another", match, &udp },
	{ "item: tcp", "one port and not another", match, &tcp },
	{ "item: esp", "ESP, and no other protocol", match, &esp },
	{ "item: mpls", "one label and not another", match, &mpls },
	{ "item: gre", "one protocol inside and not another", match, &gre },
	{ "item: gre_key", "one key and not another", match, &gre_key },
	{ "item: gre_option", "one key and not another", match, &gre_option },
	{ "item: nvgre", "one TNI and not another", match, &nvgre },
	{ "item: vxlan", "one VNI and not another", match, &vxlan },
	{ NULL, NULL, NULL, NULL },
};
/* clang-format on */
