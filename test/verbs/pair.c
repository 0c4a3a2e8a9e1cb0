/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs with a transport for the verbs programs. */
#include "pair.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define NB_WRS 64

struct ibv_cq *
pair_cq(void)
{
	struct ibv_cq *cq = ibv_create_cq(rig_context, 4 * NB_WRS, NULL, NULL, 0);

	if (cq == NULL)
		rig_die("ibv_create_cq");
	return cq;
}

struct ibv_qp *
pair_qp(enum ibv_qp_type type, struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = { NB_WRS, NB_WRS, 4, 4, 64 },
		.qp_type = type,
	};
	struct ibv_qp *qp = ibv_create_qp(rig_pd, &attr);

	if (qp == NULL)
		rig_die("ibv_create_qp");
	return qp;
}

int
pair_init_attr(enum ibv_qp_type type, struct ibv_qp_attr *attr)
{
	*attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = PAIR_KEY,
		.qp_access_flags = PAIR_ACCESS,
	};
	return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		(type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
}

static struct ibv_ah_attr
own_address(void)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .sgid_index = PAIR_GID, .hop_limit = 64 },
	};

	rig_must(ibv_query_gid(rig_context, 1, PAIR_GID, &attr.grh.dgid), "ibv_query_gid");
	return attr;
}

int
pair_rtr_attr(enum ibv_qp_type type, uint32_t dest_qpn, struct ibv_qp_attr *attr)
{
	const bool is_responder = type == IBV_QPT_RC || type == IBV_QPT_XRC_RECV;
	const int connected = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	*attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.ah_attr = own_address(),
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest_qpn,
		.rq_psn = 0x1000,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
	};
	if (type == IBV_QPT_UD)
		return IBV_QP_STATE;
	return IBV_QP_STATE | connected |
		(is_responder ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
}

int
pair_rts_attr(enum ibv_qp_type type, struct ibv_qp_attr *attr)
{
	*attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.sq_psn = 0x1000,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};
	if (type == IBV_QPT_UD || type == IBV_QPT_UC)
		return IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (type == IBV_QPT_XRC_RECV)
		return IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT;
	return IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		IBV_QP_MAX_QP_RD_ATOMIC;
}

void
pair_start(struct ibv_qp *qp, uint32_t dest_qpn)
{
	struct ibv_qp_attr attr;
	int mask = pair_init_attr(qp->qp_type, &attr);

	rig_must(ibv_modify_qp(qp, &attr, mask), "RESET to INIT");
	mask = pair_rtr_attr(qp->qp_type, dest_qpn, &attr);
	rig_must(ibv_modify_qp(qp, &attr, mask), "INIT to RTR");
	mask = pair_rts_attr(qp->qp_type, &attr);
	rig_must(ibv_modify_qp(qp, &attr, mask), "RTR to RTS");
}

void
pair_connect(struct ibv_qp *one, struct ibv_qp *other)
{
	pair_start(one, other->qp_num);
	pair_start(other, one->qp_num);
}

void
pair_to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	rig_must(ibv_modify_qp(qp, &attr, IBV_QP_STATE), "ibv_modify_qp");
}

enum ibv_qp_state
pair_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	rig_must(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
	return attr.qp_state;
}

struct ibv_ah *
pair_ah(void)
{
	struct ibv_ah_attr attr = own_address();
	struct ibv_ah *ah = ibv_create_ah(rig_pd, &attr);

	if (ah == NULL)
		rig_die("ibv_create_ah");
	return ah;
}

struct ibv_mr *
pair_mr(int access)
{
	struct ibv_mr *mr = ibv_reg_mr(
		rig_pd, rig_buffer(0), (size_t)RIG_NB_BUFFERS * RIG_BUFFER_BYTES, access);

	if (mr == NULL)
		rig_die("ibv_reg_mr");
	return mr;
}

struct ibv_send_wr
pair_wr(enum ibv_wr_opcode opcode, uint64_t id, struct ibv_sge *sge)
{
	return (struct ibv_send_wr){
		.wr_id = id,
		.sg_list = sge,
		.num_sge = sge != NULL,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};
}

void
pair_post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	rig_must(ibv_post_send(qp, wr, &bad), "ibv_post_send");
}

void
pair_receive(struct ibv_qp *qp, uint64_t id, struct ibv_sge *sge)
{
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	rig_must(ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

struct ibv_wc
pair_poll(struct ibv_cq *cq, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	rig_poll(cq, &wc, 1);
	if (wc.status != status)
		fprintf(stderr, "wr_id %llu of QP 0x%x: %s\n", (unsigned long long)wc.wr_id,
			wc.qp_num, ibv_wc_status_str(wc.status));
	CHECK(wc.status == status, wc.status);
	return wc;
}

static bool
is_readable(int milliseconds)
{
	struct pollfd pollfd = { .fd = rig_context->async_fd, .events = POLLIN };

	return poll(&pollfd, 1, milliseconds) == 1;
}

struct ibv_async_event
pair_event(enum ibv_event_type type)
{
	struct ibv_async_event event;

	if (!is_readable(RIG_PATIENCE * 1000)) {
		errno = ETIMEDOUT;
		rig_die(ibv_event_type_str(type));
	}
	rig_must(ibv_get_async_event(rig_context, &event), "ibv_get_async_event");
	CHECK(event.event_type == type, event.event_type);
	ibv_ack_async_event(&event);
	return event;
}

bool
pair_has_event(void)
{
	return is_readable(0);
}
