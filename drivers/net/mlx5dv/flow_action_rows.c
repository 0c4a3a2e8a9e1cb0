/* SPDX-License-Identifier: BSD-3-Clause */
/* Every action of rte_flow: what does it, or what to do instead. */

#include <assert.h>

#include "flow_action_row.h"

static_assert(MDV_FLOW_ACTION_ROWS <= 64, "mdv_flow_action_state.given has a bit for each");

static const char groups[] = "verbs has one group of rules; use priorities, and PASSTHRU to let "
			     "packets go on to further rules";
static const char ports[] = "the driver does not steer between ports; take the packets with QUEUE "
			    "or RSS and send them on";
static const char meters[] =
	"verbs has no meters; use COUNT, which gives a rule's packets and bytes";
static const char security[] =
	"the port has no security engine; take the packets with QUEUE or RSS and use a cryptodev";
static const char rewrite[] =
	"the driver's rules do not change packets; change them behind QUEUE or RSS";
static const char pop_vlan[] =
	"the driver's rules do not change packets; use the Rx offload VLAN_STRIP of the queues";
static const char push_vlan[] = "the driver's rules do not change packets; use the Tx offload "
				"VLAN_INSERT when sending them";
static const char encap[] = "the driver's rules do not add headers; add them behind QUEUE or RSS";
static const char decap[] =
	"the driver's rules do not remove headers; match the inner ones by items behind the "
	"tunnel's, and skip the outer ones behind QUEUE or RSS";
static const char meta[] = "a packet carries one value to the application; use MARK";
static const char age[] = "verbs rules do not age; use COUNT and query whether it still rises";
static const char shared[] = "rte_flow has given it up; give the action itself with each rule";
static const char tracking[] = "verbs does not track connections; do so behind QUEUE or RSS";
static const char kernel[] = "the kernel gets what no rule takes; leave the rule out, isolate the "
			     "port, or give the kernel its copy with QUEUE and PASSTHRU";

/* clang-format off */
#define ROW(t, ...) [RTE_FLOW_ACTION_TYPE_##t] = { #t, __VA_ARGS__, NULL }
#define NOT(t, instead) [RTE_FLOW_ACTION_TYPE_##t] = { #t, false, false, false, NULL, instead }
#define NAME(t) [RTE_FLOW_ACTION_TYPE_##t] = { #t, false, false, false, NULL, NULL }

const struct mdv_flow_action_row mdv_flow_action_rows[MDV_FLOW_ACTION_ROWS] = {
	NAME(END),
	NAME(VOID),
	/*            fate   conf   egress */
	ROW(PASSTHRU, false, false, false, mdv_flow_action_apply_passthru),
	ROW(MARK,     false, true,  false, mdv_flow_action_apply_mark),
	ROW(FLAG,     false, false, false, mdv_flow_action_apply_flag),
	ROW(QUEUE,    true,  true,  false, mdv_flow_action_apply_queue),
	ROW(DROP,     true,  false, true,  mdv_flow_action_apply_drop),
	ROW(COUNT,    false, false, true,  mdv_flow_action_apply_count),
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
	NOT(OF_SET_VLAN_VID,  push_vlan),
	NOT(OF_SET_VLAN_PCP,  push_vlan),
	NOT(OF_POP_MPLS,      decap),
	NOT(OF_PUSH_MPLS,     encap),
	NOT(VXLAN_ENCAP,      encap),
	NOT(VXLAN_DECAP,      decap),
	NOT(NVGRE_ENCAP,      encap),
	NOT(NVGRE_DECAP,      decap),
	NOT(RAW_ENCAP,        encap),
	NOT(RAW_DECAP,        decap),

	NOT(MODIFY_FIELD,     rewrite),
	NOT(OF_DEC_NW_TTL,    rewrite),
	NOT(SET_IPV4_SRC,     rewrite),
	NOT(SET_IPV4_DST,     rewrite),
	NOT(SET_IPV6_SRC,     rewrite),
	NOT(SET_IPV6_DST,     rewrite),
	NOT(SET_TP_SRC,       rewrite),
	NOT(SET_TP_DST,       rewrite),
	NOT(MAC_SWAP,         rewrite),
	NOT(DEC_TTL,          rewrite),
	NOT(SET_TTL,          rewrite),
	NOT(SET_MAC_SRC,      rewrite),
	NOT(SET_MAC_DST,      rewrite),
	NOT(INC_TCP_SEQ,      rewrite),
	NOT(DEC_TCP_SEQ,      rewrite),
	NOT(INC_TCP_ACK,      rewrite),
	NOT(DEC_TCP_ACK,      rewrite),
	NOT(SET_IPV4_DSCP,    rewrite),
	NOT(SET_IPV6_DSCP,    rewrite),
};
/* clang-format on */
