/* SPDX-License-Identifier: BSD-3-Clause */
/* Actions that change packets: checks that their order is one that the device supports. */

#include <errno.h>

#include <rte_common.h>

#include "flow/match/flow_error.h"
#include "flow/match/flow_feature.h"
#include "flow_action_row.h"

/** The reason why an action cannot stand at its place. */
enum modify_verdict {
	OK,
	RECEIVED, /* only for received packets */
	SENT,     /* only for sent packets */
	L2_ONLY,
	TUNNEL_FIRST,
	FIELDS_FIRST,
	ONE_TUNNEL,
	L3_NEXT,
};

static const char *const modify_messages[] = {
	[RECEIVED] = "the device takes tunnels off received packets; use ingress",
	[SENT] = "the device puts tunnels on sent packets; use egress",
	[L2_ONLY] =
		"the device puts headers on sent packets, and an Ethernet header on what comes out of a tunnel; use egress, or put it right behind RAW_DECAP",
	[TUNNEL_FIRST] =
		"the device takes a tunnel off before it changes fields; put this action before those that change some",
	[FIELDS_FIRST] =
		"the device changes fields before it puts headers on; put this action before the one that does",
	[ONE_TUNNEL] = "the device takes off or puts on one tunnel a rule; leave one of them out",
	[L3_NEXT] =
		"a sent packet's Ethernet header comes off to make place for other headers; put RAW_ENCAP right behind RAW_DECAP",
};

/* clang-format off */
/** Verdicts by direction, the kind of the last such action, and the kind of this one. */
static const uint8_t modify_order[2][MDV_FLOW_MODIFY_KINDS][MDV_FLOW_MODIFY_KINDS] = {
#define AFTER(last, ...) [MDV_FLOW_MODIFY_##last] = { OK, __VA_ARGS__ }
	{	/*               FIELD          DECAP         ENCAP       RAW_DECAP     RAW_ENCAP */
		AFTER(NONE,      OK,            OK,           SENT,       OK,           L2_ONLY),
		AFTER(FIELD,     OK,            TUNNEL_FIRST, SENT,       TUNNEL_FIRST, L2_ONLY),
		AFTER(DECAP,     OK,            ONE_TUNNEL,   SENT,       ONE_TUNNEL,   L2_ONLY),
		AFTER(RAW_DECAP, OK,            ONE_TUNNEL,   SENT,       ONE_TUNNEL,   OK),
		AFTER(RAW_ENCAP, OK,            ONE_TUNNEL,   SENT,       ONE_TUNNEL,   L2_ONLY),
	}, {	/* sent */
		AFTER(NONE,      OK,            RECEIVED,     OK,         OK,           OK),
		AFTER(FIELD,     OK,            RECEIVED,     OK,         OK,           OK),
		AFTER(ENCAP,     FIELDS_FIRST,  RECEIVED,     ONE_TUNNEL, ONE_TUNNEL,   ONE_TUNNEL),
		AFTER(RAW_DECAP, L3_NEXT,       RECEIVED,     L3_NEXT,    L3_NEXT,      OK),
		AFTER(RAW_ENCAP, FIELDS_FIRST,  RECEIVED,     ONE_TUNNEL, ONE_TUNNEL,   ONE_TUNNEL),
	},
};

/** Features that the device must have. For a RAW_DECAP alone the end of the list decides. */
static const uint32_t modify_features[2][MDV_FLOW_MODIFY_KINDS] = {
	{
		[MDV_FLOW_MODIFY_FIELD] = MDV_FLOW_CAN_CHANGE,
		[MDV_FLOW_MODIFY_DECAP] = MDV_FLOW_CAN_DECAP,
		[MDV_FLOW_MODIFY_RAW_ENCAP] = MDV_FLOW_CAN_DECAP_L3,
	}, {
		[MDV_FLOW_MODIFY_FIELD] = MDV_FLOW_CAN_CHANGE_SENT,
		[MDV_FLOW_MODIFY_ENCAP] = MDV_FLOW_CAN_ENCAP,
		[MDV_FLOW_MODIFY_RAW_DECAP] = MDV_FLOW_CAN_ENCAP_L3,
		[MDV_FLOW_MODIFY_RAW_ENCAP] = MDV_FLOW_CAN_ENCAP,
	},
};
/* clang-format on */

static enum mdv_flow_modify_kind
modify_kind(const struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	return action != NULL ? state->rows[action->type].modify : MDV_FLOW_MODIFY_NONE;
}

/** RAW_DECAP and RAW_ENCAP together are one change to the device. */
static bool
modify_is_second(const struct mdv_flow_action_state *state, enum mdv_flow_modify_kind kind)
{
	return kind == MDV_FLOW_MODIFY_RAW_ENCAP && state->raw_decap != NULL;
}

static int
modify_refuse_device(
	const struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	const struct mdv_flow_action_row *row = &state->rows[action->type];

	return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
		"action %s: %s", row->name, row->instead);
}

/** Count the verbs actions: a rule takes one of each kind. */
static void
modify_count(struct mdv_flow_action_state *state, enum mdv_flow_modify_kind kind)
{
	const bool field = kind == MDV_FLOW_MODIFY_FIELD;

	if (field ? !state->fields : !modify_is_second(state, kind))
		state->out->nb_modify++;
	state->fields = state->fields || field;
	state->out->decap = state->out->decap || (!field && !state->egress);
}

int
mdv_flow_action_apply_modify(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	const struct mdv_flow_action_row *row = &state->rows[action->type];
	const enum modify_verdict verdict =
		modify_order[state->egress][modify_kind(state, state->modify)][row->modify];

	if (verdict != OK)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"%s: %s", row->name, modify_messages[verdict]);
	if ((modify_features[state->egress][row->modify] & ~state->env->features) != 0 &&
		!(state->egress && modify_is_second(state, row->modify)))
		return modify_refuse_device(state, action);
	if (state->given_to != NULL)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"%s behind %s: the device changes a packet before it gives it to anybody; put %s first",
			row->name, state->rows[state->given_to->type].name, row->name);
	modify_count(state, row->modify);
	state->modify = action;
	if (row->modify == MDV_FLOW_MODIFY_RAW_DECAP)
		state->raw_decap = action;
	else if (row->modify == MDV_FLOW_MODIFY_RAW_ENCAP)
		state->raw_decap = NULL;
	state->out->modify_list = state->list;
	return 0;
}

int
mdv_flow_action_end_modify(struct mdv_flow_action_state *state)
{
	const char *name = state->modify != NULL ? state->rows[state->modify->type].name : NULL;

	if (state->modify != NULL && state->out->fate == MDV_FLOW_ACTION_DROP)
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION,
			state->modify, "%s with DROP: nobody sees a dropped packet; leave %s out",
			name, name);
	if (state->egress && modify_kind(state, state->modify) == MDV_FLOW_MODIFY_RAW_DECAP)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
			state->modify, "%s: %s", name, modify_messages[L3_NEXT]);
	if (state->raw_decap != NULL && (state->env->features & MDV_FLOW_CAN_DECAP) == 0)
		return modify_refuse_device(state, state->raw_decap);
	return 0;
}
