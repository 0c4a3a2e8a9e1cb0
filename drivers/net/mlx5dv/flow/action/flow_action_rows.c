/* SPDX-License-Identifier: BSD-3-Clause */
/* Every action of rte_flow, with its function or with the advice of its refusal. */

#include "flow_action_row.h"

static const char groups[] =
	"verbs has one group of rules; use priorities, and PASSTHRU to let packets go on to further rules";
static const char ports[] =
	"the driver does not steer between ports; take the packets with QUEUE or RSS and send them on";
static const char meters[] =
	"verbs has no meters; use COUNT, which gives a rule's packets and bytes";
static const char security[] =
	"the port has no security engine; take the packets with QUEUE or RSS and use a cryptodev";
static const char change[] =
	"the device or its kernel changes no such packets; change them behind QUEUE or RSS, or before sending them";
static const char encap[] = "the device or its kernel puts no headers on; add them before sending";
static const char decap[] =
	"the device or its kernel takes no tunnels off; match the inner headers by items behind the tunnel's, and skip the outer ones behind QUEUE or RSS";
static const char rewrite[] =
	"verbs has nothing for it; do it behind QUEUE or RSS, or before sending";
static const char pop_vlan[] =
	"verbs takes no tags off; use the Rx offload VLAN_STRIP of the queues";
static const char push_vlan[] =
	"verbs puts no tags on; use the Tx offload VLAN_INSERT when sending packets";
static const char meta[] = "a packet carries one value to the application; use MARK";
static const char age[] = "verbs rules do not age; use COUNT and query whether it still rises";
static const char shared[] = "rte_flow has given it up; give the action itself with each rule";
static const char tracking[] = "verbs does not track connections; do so behind QUEUE or RSS";
static const char kernel[] =
	"the kernel gets what no rule takes; leave the rule out, isolate the port, or give the kernel its copy with QUEUE and PASSTHRU";
#ifdef MDV_COMPAT_FLOW_LISTS
static const char lists[] =
	"the driver makes no lists of indirect actions; create an indirect action for each";
static const char congestion[] = "the port has no congestion management to skip; leave it out";
#endif

/* clang-format off */
#define ANY(t, fate, conf, egress, apply, instead, modify) \
	[RTE_FLOW_ACTION_TYPE_##t] = { #t, fate, conf, egress, apply, instead, \
		MDV_FLOW_MODIFY_##modify, 0 }
#define ROW(t, fate, conf, egress, apply) ANY(t, fate, conf, egress, apply, NULL, NONE)
/** An action that most rules have. */
#define OFTEN(t, fate, conf, egress, apply, type) \
	[RTE_FLOW_ACTION_TYPE_##t] = { #t, fate, conf, egress, apply, NULL, MDV_FLOW_MODIFY_NONE, \
		sizeof(struct type) }
#define NOT(t, instead) ANY(t, false, false, false, NULL, instead, NONE)
#define NAME(t) NOT(t, NULL)
#define MODIFY(t, kind, conf, instead) \
	ANY(t, false, conf, true, mdv_flow_action_apply_modify, instead, kind)

const struct mdv_flow_action_row mdv_flow_action_rows[MDV_FLOW_ACTION_ROWS] = {
	NAME(END),
	NAME(VOID),
	/*            fate   conf   egress */
	ROW(PASSTHRU, false, false, false, mdv_flow_action_apply_passthru),
	OFTEN(MARK,   false, true,  false, mdv_flow_action_apply_mark, rte_flow_action_mark),
	ROW(FLAG,     false, false, false, mdv_flow_action_apply_flag),
	OFTEN(QUEUE,  true,  true,  false, mdv_flow_action_apply_queue, rte_flow_action_queue),
	ROW(DROP,     true,  false, true,  mdv_flow_action_apply_drop),
	OFTEN(COUNT,  false, false, true,  mdv_flow_action_apply_count, rte_flow_action_count),
	ROW(RSS,      true,  true,  false, mdv_flow_action_apply_rss),
	ROW(SAMPLE,   false, true,  false, mdv_flow_action_apply_sample),
	ROW(INDIRECT, false, true,  false, mdv_flow_action_apply_indirect),

	NOT(JUMP,             groups),
	NOT(PF,               ports),
	NOT(VF,               ports),
	NOT(PORT_ID,          ports),
	NOT(PORT_REPRESENTOR, ports),
	NOT(REPRESENTED_PORT, ports),
	NOT(SEND_TO_KERNEL,   kernel),
	NOT(METER,            meters),
	NOT(METER_COLOR,      meters),
	NOT(METER_MARK,       meters),
	NOT(SECURITY,         security),
	NOT(CONNTRACK,        tracking),
	NOT(AGE,              age),
	NOT(SHARED,           shared),
	NOT(SET_TAG,          meta),
	NOT(SET_META,         meta),

	NOT(OF_POP_VLAN,      pop_vlan),
	NOT(OF_PUSH_VLAN,     push_vlan),
	NOT(OF_SET_VLAN_PCP,  push_vlan),
	NOT(OF_POP_MPLS,      rewrite),
	NOT(OF_PUSH_MPLS,     rewrite),
	NOT(OF_DEC_NW_TTL,    rewrite),
	NOT(MAC_SWAP,         rewrite),

#ifdef MDV_COMPAT_FLOW_LISTS
	NOT(QUOTA,            meters),
	NOT(SKIP_CMAN,        congestion),
	NOT(IPV6_EXT_PUSH,    rewrite),
	NOT(IPV6_EXT_REMOVE,  rewrite),
	NOT(INDIRECT_LIST,    lists),
	NOT(PROG,             rewrite),
#endif
#ifdef MDV_COMPAT_FLOW_FP_OPS
	NOT(NAT64,            rewrite),
	NOT(JUMP_TO_TABLE_INDEX, groups),
#endif

	/*                     kind       conf   where the device cannot */
	MODIFY(VXLAN_DECAP,      DECAP,     false, decap),
	MODIFY(NVGRE_DECAP,      DECAP,     false, decap),
	MODIFY(RAW_DECAP,        RAW_DECAP, true,  decap),
	MODIFY(VXLAN_ENCAP,      ENCAP,     true,  encap),
	MODIFY(NVGRE_ENCAP,      ENCAP,     true,  encap),
	MODIFY(RAW_ENCAP,        RAW_ENCAP, true,  encap),
	MODIFY(MODIFY_FIELD,     FIELD,     true,  change),
	MODIFY(OF_SET_VLAN_VID,  FIELD,     true,  change),
	MODIFY(SET_MAC_SRC,      FIELD,     true,  change),
	MODIFY(SET_MAC_DST,      FIELD,     true,  change),
	MODIFY(SET_IPV4_SRC,     FIELD,     true,  change),
	MODIFY(SET_IPV4_DST,     FIELD,     true,  change),
	MODIFY(SET_IPV4_DSCP,    FIELD,     true,  change),
	MODIFY(SET_IPV6_SRC,     FIELD,     true,  change),
	MODIFY(SET_IPV6_DST,     FIELD,     true,  change),
	MODIFY(SET_IPV6_DSCP,    FIELD,     true,  change),
	MODIFY(SET_TTL,          FIELD,     true,  change),
	MODIFY(DEC_TTL,          FIELD,     false, change),
	MODIFY(SET_TP_SRC,       FIELD,     true,  change),
	MODIFY(SET_TP_DST,       FIELD,     true,  change),
	MODIFY(INC_TCP_SEQ,      FIELD,     true,  change),
	MODIFY(DEC_TCP_SEQ,      FIELD,     true,  change),
	MODIFY(INC_TCP_ACK,      FIELD,     true,  change),
	MODIFY(DEC_TCP_ACK,      FIELD,     true,  change),
};
/* clang-format on */
