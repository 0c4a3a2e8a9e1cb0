/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of queue pairs' states (Linux core/verbs.c qp_state_table; IBTA 11.2.5.2, tables 91 to
 * 97), as far as mlx5_ib has a command for a step (Linux hw/mlx5/qp.c __mlx5_ib_modify_qp(),
 * optab): none leads to SQD, which is only for firmware to enter, so there is none from it
 * either. */
#include "abi/qp/qp_transition.h"

#define NB_STATES (IBV_QPS_ERR + 1)

/** Types of queue pairs, as columns of the table. */
enum column {
	UD,
	UC,
	RC,
	XRC_INI,
	XRC_TGT,
	NB_COLUMNS,
};

struct row {
	bool is_allowed;
	uint32_t required[NB_COLUMNS];
	uint32_t optional[NB_COLUMNS];
};

#define INIT_ATTRS     (IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define CONNECTED_INIT (INIT_ATTRS | IBV_QP_ACCESS_FLAGS)
#define UD_INIT        (INIT_ATTRS | IBV_QP_QKEY)
#define RTR_PATH       (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RTR_RESPONDER  (RTR_PATH | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTR_OPTIONAL   (IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX)
#define RTS_REQUESTER                                                                              \
	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |                    \
		IBV_QP_MAX_QP_RD_ATOMIC)
#define UD_LIVE (IBV_QP_CUR_STATE | IBV_QP_QKEY)
#define UC_LIVE (IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE)
#define RC_LIVE (UC_LIVE | IBV_QP_MIN_RNR_TIMER)
#define LIVE                                                                                       \
	{                                                                                          \
		UD_LIVE, UC_LIVE, RC_LIVE, UC_LIVE, RC_LIVE                                        \
	}

/** No attribute. */
#define NONE                                                                                       \
	{                                                                                          \
		0                                                                                  \
	}
#define ALWAYS [IBV_QPS_RESET] = { true, NONE, NONE }, [IBV_QPS_ERR] = { true, NONE, NONE }

/* clang-format off */
static const struct row rows[NB_STATES][NB_STATES] = {
	/* What was never begun does not fail. */
	[IBV_QPS_RESET] = {
		[IBV_QPS_RESET] = { true, NONE, NONE },
		[IBV_QPS_INIT] = { true,
			{ UD_INIT, CONNECTED_INIT, CONNECTED_INIT, CONNECTED_INIT, CONNECTED_INIT }, NONE },
	},
	[IBV_QPS_INIT] = {
		ALWAYS,
		[IBV_QPS_INIT] = { true, NONE,
			{ UD_INIT, CONNECTED_INIT, CONNECTED_INIT, CONNECTED_INIT, CONNECTED_INIT } },
		[IBV_QPS_RTR] = { true,
			{ 0, RTR_PATH, RTR_RESPONDER, RTR_PATH, RTR_RESPONDER },
			{ IBV_QP_PKEY_INDEX | IBV_QP_QKEY, RTR_OPTIONAL, RTR_OPTIONAL, RTR_OPTIONAL,
				RTR_OPTIONAL } },
	},
	[IBV_QPS_RTR] = {
		ALWAYS,
		[IBV_QPS_RTS] = { true,
			{ IBV_QP_SQ_PSN, IBV_QP_SQ_PSN, RTS_REQUESTER, RTS_REQUESTER,
				IBV_QP_TIMEOUT | IBV_QP_SQ_PSN },
			LIVE },
	},
	[IBV_QPS_RTS] = {
		ALWAYS,
		[IBV_QPS_RTS] = { true, NONE, LIVE },
	},
	[IBV_QPS_SQE] = {
		ALWAYS,
		[IBV_QPS_RTS] = { true, NONE,
			{ UD_LIVE, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS, 0, 0, 0 } },
	},
	[IBV_QPS_ERR] = { ALWAYS },
};
/* clang-format on */

static enum column
column_of(uint8_t type)
{
	return type == IBV_QPT_UD          ? UD
		: type == IBV_QPT_UC       ? UC
		: type == IBV_QPT_XRC_SEND ? XRC_INI
		: type == IBV_QPT_XRC_RECV ? XRC_TGT
					   : RC;
}

struct shca_qp_transition
shca_qp_transition_find(uint8_t type, uint32_t from, uint32_t to)
{
	const enum column column = column_of(type);
	const struct row *row;

	if (from >= NB_STATES || to >= NB_STATES)
		return (struct shca_qp_transition){ .is_allowed = false };
	row = &rows[from][to];
	return (struct shca_qp_transition){ row->is_allowed, row->required[column],
		row->optional[column] };
}

uint32_t
shca_qp_transition_mask(uint8_t type, uint32_t mask)
{
	static const uint32_t ignored[NB_COLUMNS] = {
		[XRC_INI] = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		[XRC_TGT] = IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY,
	};

	return mask & ~ignored[column_of(type)];
}
