/* SPDX-License-Identifier: BSD-3-Clause */
/* What queue pairs of a connection have to be set to: core/cm.c ib_cm_init_qp_attr(), and what
 * core/cma.c says before there is a connection. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#include <rdma/ib_user_verbs.h>

#include "ucma/connect.h"

static bool
is_one_of(const struct shca_id *id, uint32_t types)
{
	return (types >> id->qp_type & 1) != 0;
}

#define TYPE(name) (UINT32_C(1) << IB_UVERBS_QPT_##name)

/** cma_ib_init_qp_attr(): the same for each state. */
static void
set_unconnected(struct shca_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	attr->port_num = id->gid.port;
	if (!shca_id_is_ud(id)) {
		attr->qp_attr_mask |= IBV_QP_ACCESS_FLAGS;
		return;
	}
	/* From now on it has this one. */
	if (id->qkey == 0)
		id->qkey = SHCA_ADDRESS_QKEY;
	attr->qp_attr_mask |= IBV_QP_QKEY;
	attr->qkey = id->qkey;
}

static void
set_init(const struct shca_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	attr->port_num = id->gid.port;
	attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (id->qp.responder_resources != 0)
		attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
}

static void
set_rtr(const struct shca_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->qp_attr_mask =
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	shca_connect_way(id, id->remote_gid, &attr->ah_attr);
	attr->path_mtu = id->qp.mtu;
	attr->dest_qp_num = id->qp.remote_qpn;
	attr->rq_psn = id->qp.rq_psn;
	if (!is_one_of(id, TYPE(RC) | TYPE(XRC_TGT)))
		return;
	attr->qp_attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	attr->max_dest_rd_atomic = id->qp.responder_resources;
}

static void
set_rts(const struct shca_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	attr->sq_psn = id->qp.sq_psn;
	if (is_one_of(id, TYPE(RC) | TYPE(XRC_INI))) {
		attr->qp_attr_mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
		attr->retry_cnt = id->qp.retry_count;
		attr->rnr_retry = id->qp.rnr_retry_count;
		attr->max_rd_atomic = id->qp.initiator_depth;
	}
	if (!is_one_of(id, TYPE(RC) | TYPE(XRC_INI) | TYPE(XRC_TGT)))
		return;
	attr->qp_attr_mask |= IBV_QP_TIMEOUT;
	/* rdma_init_qp_attr(): what was set, and not what the REQ's field has become */
	attr->timeout = id->has_ack_timeout ? id->ack_timeout : id->qp.ack_timeout;
}

#define IN(state) (UINT32_C(1) << SHCA_CM_##state)

/** Who has asked has queue pairs in INIT, and more of them when the other side has said what its
 * own are. */
static const struct {
	uint32_t in; /* enum shca_cm_state, as bits */
	void (*set)(const struct shca_id *id, struct ib_uverbs_qp_attr *attr);
} state_rows[] = {
#define KNOWN                                                                                      \
	(IN(REQ_RCVD) | IN(MRA_REQ_SENT) | IN(REP_RCVD) | IN(MRA_REP_SENT) | IN(REP_SENT) |        \
		IN(MRA_REP_RCVD) | IN(ESTABLISHED))
	[IBV_QPS_INIT] = { IN(REQ_SENT) | IN(MRA_REQ_RCVD) | KNOWN, set_init },
	[IBV_QPS_RTR] = { KNOWN, set_rtr },
	[IBV_QPS_RTS] = { KNOWN, set_rts },
	[IBV_QPS_ERR] = { 0, NULL },
};

int
shca_connect_qp_attr(struct shca_id *id, uint32_t state, struct ib_uverbs_qp_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	if (!id->has_gid || state >= sizeof(state_rows) / sizeof(state_rows[0]))
		return -EINVAL;
	attr->qp_state = state;
	if (shca_id_is_ud(id) || (id->conn == NULL && id->state != SHCA_ID_LISTEN)) {
		set_unconnected(id, attr);
		return 0;
	}
	if (id->conn == NULL || (state_rows[state].in >> shca_cm_state(id->conn) & 1) == 0)
		return -EINVAL;
	state_rows[state].set(id, attr);
	return 0;
}
