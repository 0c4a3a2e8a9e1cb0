/* SPDX-License-Identifier: BSD-3-Clause */
/* States of queue pairs with a transport: attributes that a step lacks or must not have, claimed
 * states, ports of paths, steps that Linux has no command for, a send queue that has failed,
 * what a query tells, and a CQ that overruns. */
#include <errno.h>
#include <string.h>

#include "pair.h"

#define BYTES 100

static struct ibv_cq *cq;
static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };

/** Try the step without each attribute, and with each that it does not know. */
static void
step(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	for (int bit = 1; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
		/* Those that verbs allow besides, or the provider knows. */
		const int free_bits = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_QKEY |
			IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_ALT_PATH |
			IBV_QP_PATH_MIG_STATE | IBV_QP_MIN_RNR_TIMER;

		if (mask & bit & ~IBV_QP_STATE)
			CHECK(ibv_modify_qp(qp, attr, mask & ~bit) == EINVAL, bit);
		else if ((bit & free_bits) == 0)
			CHECK(ibv_modify_qp(qp, attr, mask | bit) == EINVAL, bit);
	}
	rig_must(ibv_modify_qp(qp, attr, mask), "ibv_modify_qp");
	CHECK(pair_state(qp) == attr->qp_state, attr->qp_state);
}

static void
attributes(enum ibv_qp_type type)
{
	struct ibv_qp *qp = pair_qp(type, cq, NULL);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int mask;

	CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == EINVAL, errno);
	CHECK(pair_state(qp) == IBV_QPS_RESET, 0);
	mask = pair_init_attr(type, &attr);
	attr.pkey_index = 1;
	CHECK(ibv_modify_qp(qp, &attr, mask) == EINVAL, errno);
	attr.pkey_index = 0;
	for (attr.port_num = 0; attr.port_num <= 2; attr.port_num += 2)
		CHECK(ibv_modify_qp(qp, &attr, mask) == EINVAL, attr.port_num);
	attr.port_num = 1;
	step(qp, &attr, mask);
	mask = pair_rtr_attr(type, qp->qp_num, &attr);
	if (type != IBV_QPT_UD) {
		attr.path_mtu = IBV_MTU_4096 + 1;
		CHECK(ibv_modify_qp(qp, &attr, mask) == EINVAL, errno);
		attr.path_mtu = 0;
		CHECK(ibv_modify_qp(qp, &attr, mask) == EINVAL, errno);
		attr.path_mtu = IBV_MTU_1024;
		attr.ah_attr.grh.sgid_index = 250;
		CHECK(ibv_modify_qp(qp, &attr, mask) == EINVAL, errno);
		/* In the table, but empty. */
		attr.ah_attr.grh.sgid_index = 31;
		CHECK(ibv_modify_qp(qp, &attr, mask) == ENODATA, errno);
		attr.ah_attr.grh.sgid_index = PAIR_GID;
	}
	step(qp, &attr, mask);
	mask = pair_rts_attr(type, &attr);
	step(qp, &attr, mask);
	/* A claim that is not so is only taken of states that others change. */
	attr.cur_qp_state = IBV_QPS_INIT;
	attr.qp_state = IBV_QPS_RTR;
	CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE) == EINVAL, errno);
	pair_to_state(qp, IBV_QPS_RESET);
	CHECK(pair_state(qp) == IBV_QPS_RESET, 0);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
}

/** A path is by the queue pair's port, and only SQD would change it (Linux core/uverbs_cmd.c
 * modify_qp(), core/verbs.c qp_state_table). */
static void
ports(enum ibv_qp_type type)
{
	struct ibv_qp *qp = pair_qp(type, cq, NULL);
	struct ibv_qp_attr attr;
	int mask = pair_init_attr(type, &attr);

	rig_must(ibv_modify_qp(qp, &attr, mask), "RESET to INIT");
	mask = pair_rtr_attr(type, qp->qp_num, &attr);
	attr.alt_ah_attr = attr.ah_attr;
	CHECK(ibv_modify_qp(qp, &attr, mask | IBV_QP_ALT_PATH) == EINVAL, errno);
	attr.alt_port_num = 1;
	CHECK(ibv_modify_qp(qp, &attr, mask | IBV_QP_ALT_PATH) == EINVAL, errno);
	for (uint8_t port = 0; port <= 2; port += 2) {
		attr.ah_attr.port_num = port;
		CHECK(ibv_modify_qp(qp, &attr, mask) == EINVAL, port);
	}
	CHECK(pair_state(qp) == IBV_QPS_INIT, pair_state(qp));
	attr.ah_attr.port_num = 1;
	rig_must(ibv_modify_qp(qp, &attr, mask), "INIT to RTR");
	mask = pair_rts_attr(type, &attr) | IBV_QP_PATH_MIG_STATE;
	attr.path_mig_state = IBV_MIG_REARM;
	CHECK(ibv_modify_qp(qp, &attr, mask) == EINVAL, errno);
	/* It has one path anyway. */
	attr.path_mig_state = IBV_MIG_MIGRATED;
	rig_must(ibv_modify_qp(qp, &attr, mask), "RTR to RTS");
	pair_rtr_attr(type, qp->qp_num, &attr);
	attr.port_num = 1;
	for (attr.ah_attr.port_num = 1; attr.ah_attr.port_num <= 2; attr.ah_attr.port_num++) {
		CHECK(ibv_modify_qp(qp, &attr, IBV_QP_AV) == EINVAL, errno);
		CHECK(ibv_modify_qp(qp, &attr, IBV_QP_AV | IBV_QP_PORT) == EINVAL, errno);
	}
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
}

static void
send(struct ibv_qp *qp, uint64_t id, uint32_t lkey, struct ibv_ah *ah)
{
	struct ibv_sge sge = rig_sge(0, 0, BYTES);
	struct ibv_send_wr wr = pair_wr(IBV_WR_SEND, id, &sge);

	if (lkey != 0)
		sge.lkey = lkey;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qp->qp_num;
	wr.wr.ud.remote_qkey = PAIR_KEY;
	pair_post(qp, &wr);
}

static int
claim(struct ibv_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = { .qp_state = to, .cur_qp_state = from };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE);
}

/** A claim chooses the command, and the device refuses one for another state. */
static void
claims(enum ibv_qp_type type)
{
	struct ibv_qp *qp = pair_qp(type, cq, NULL);
	struct ibv_qp_attr attr;
	int mask = pair_init_attr(type, &attr);

	rig_must(ibv_modify_qp(qp, &attr, mask), "RESET to INIT");
	mask = pair_rts_attr(type, &attr);
	attr.cur_qp_state = IBV_QPS_RTR;
	CHECK(ibv_modify_qp(qp, &attr, mask | IBV_QP_CUR_STATE) == EINVAL, errno);
	CHECK(pair_state(qp) == IBV_QPS_INIT, pair_state(qp));
	mask = pair_rtr_attr(type, qp->qp_num, &attr);
	rig_must(ibv_modify_qp(qp, &attr, mask), "INIT to RTR");
	CHECK(claim(qp, IBV_QPS_RTS, IBV_QPS_RTS) == EINVAL, errno);
	CHECK(claim(qp, IBV_QPS_SQD, IBV_QPS_RTS) == EINVAL, errno);
	CHECK(pair_state(qp) == IBV_QPS_RTR, pair_state(qp));
	mask = pair_rts_attr(type, &attr);
	attr.cur_qp_state = IBV_QPS_RTR;
	CHECK(ibv_modify_qp(qp, &attr, mask | IBV_QP_CUR_STATE) == 0, errno);
	CHECK(ibv_modify_qp(qp, &attr, mask | IBV_QP_CUR_STATE) == EINVAL, errno);
	CHECK(claim(qp, IBV_QPS_RTS, IBV_QPS_RTS) == 0, errno);
	CHECK(claim(qp, IBV_QPS_SQD, IBV_QPS_RTS) == EINVAL, errno);
	CHECK(claim(qp, IBV_QPS_SQD, IBV_QPS_SQD) == EINVAL, errno);
	pair_to_state(qp, IBV_QPS_ERR);
	CHECK(claim(qp, IBV_QPS_RTS, IBV_QPS_RTS) == EINVAL, errno);
	CHECK(claim(qp, IBV_QPS_SQD, IBV_QPS_RTS) == EINVAL, errno);
	CHECK(pair_state(qp) == IBV_QPS_ERR, pair_state(qp));
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
}

/** The verbs have a step to SQD, and mlx5_ib no command for it (Linux hw/mlx5/qp.c
 * __mlx5_ib_modify_qp(), optab): the queue pair goes on as it was. */
static void
not_drained(enum ibv_qp_type type)
{
	struct ibv_qp *one = pair_qp(type, cq, NULL), *other = pair_qp(type, cq, NULL);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_sge sge = rig_sge(1, 0, RIG_BUFFER_BYTES);
	struct ibv_qp_init_attr init;

	pair_connect(one, other);
	CHECK(ibv_modify_qp(one, &attr, IBV_QP_STATE) == EINVAL, errno);
	CHECK(ibv_modify_qp(one, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) == EINVAL,
		errno);
	rig_must(ibv_query_qp(one, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
	CHECK(attr.qp_state == IBV_QPS_RTS && !attr.sq_draining, attr.qp_state);
	pair_receive(other, 10, &sge);
	send(one, 1, 0, NULL);
	for (unsigned int i = 0; i < 2; i++)
		pair_poll(cq, IBV_WC_SUCCESS);
	CHECK(!pair_has_event(), 0);
	rig_must(ibv_destroy_qp(one), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(other), "ibv_destroy_qp");
}

/** Only sends fail, until the program has the queue pair send again. */
static void
send_queue_failed(void)
{
	struct ibv_qp *qp = pair_qp(IBV_QPT_UD, cq, NULL);
	struct ibv_qp *other = pair_qp(IBV_QPT_UD, cq, NULL);
	struct ibv_sge sge = rig_sge(1, 0, RIG_BUFFER_BYTES);
	struct ibv_ah *ah = pair_ah();
	struct ibv_send_wr wr;
	struct ibv_sge from = rig_sge(0, 0, BYTES);

	pair_start(qp, 0);
	pair_start(other, 0);
	pair_receive(qp, 20, &sge);
	pair_receive(qp, 21, &sge);
	send(qp, 1, 0x77777700, ah);
	CHECK(pair_poll(cq, IBV_WC_LOC_PROT_ERR).wr_id == 1, 0);
	CHECK(pair_state(qp) == IBV_QPS_SQE, pair_state(qp));
	send(qp, 2, 0, ah);
	CHECK(pair_poll(cq, IBV_WC_WR_FLUSH_ERR).wr_id == 2, 0);
	wr = pair_wr(IBV_WR_SEND, 3, &from);
	wr.send_flags = 0;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qp->qp_num;
	wr.wr.ud.remote_qkey = PAIR_KEY;
	pair_post(other, &wr);
	CHECK(pair_poll(cq, IBV_WC_SUCCESS).wr_id == 20, 0);
	/* That it works, as the program may believe. */
	CHECK(claim(qp, IBV_QPS_RTS, IBV_QPS_RTS) == EINVAL, errno);
	CHECK(pair_state(qp) == IBV_QPS_SQE, pair_state(qp));
	CHECK(claim(qp, IBV_QPS_SQE, IBV_QPS_RTS) == 0, errno);
	send(qp, 4, 0, ah);
	for (unsigned int i = 0; i < 2; i++) {
		struct ibv_wc wc = pair_poll(cq, IBV_WC_SUCCESS);

		CHECK(wc.wr_id == 4 || wc.wr_id == 21, wc.wr_id);
	}
	rig_must(ibv_destroy_ah(ah), "ibv_destroy_ah");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(other), "ibv_destroy_qp");
}

static void
query(void)
{
	struct ibv_qp *qp = pair_qp(IBV_QPT_RC, cq, NULL);
	struct ibv_qp_attr attr, set;
	struct ibv_qp_init_attr init;

	pair_start(qp, 0x123456);
	pair_rtr_attr(IBV_QPT_RC, 0x123456, &set);
	rig_must(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
	CHECK(attr.qp_state == IBV_QPS_RTS && attr.cur_qp_state == IBV_QPS_RTS, attr.qp_state);
	CHECK(attr.path_mtu == IBV_MTU_1024 && attr.path_mig_state == IBV_MIG_MIGRATED,
		attr.path_mtu);
	CHECK(attr.rq_psn == 0x1000 && attr.sq_psn == 0x1000, attr.sq_psn);
	CHECK(attr.dest_qp_num == 0x123456, attr.dest_qp_num);
	CHECK(attr.qp_access_flags == (PAIR_ACCESS & ~IBV_ACCESS_LOCAL_WRITE),
		attr.qp_access_flags);
	CHECK(attr.max_rd_atomic == 4 && attr.max_dest_rd_atomic == 4, attr.max_rd_atomic);
	CHECK(attr.min_rnr_timer == 1 && attr.timeout == 14, attr.timeout);
	CHECK(attr.retry_cnt == 7 && attr.rnr_retry == 7, attr.retry_cnt);
	CHECK(attr.port_num == 1 && attr.pkey_index == 0, attr.port_num);
	CHECK(attr.ah_attr.is_global && attr.ah_attr.grh.sgid_index == PAIR_GID,
		attr.ah_attr.is_global);
	CHECK(memcmp(&attr.ah_attr.grh.dgid, &set.ah_attr.grh.dgid, 16) == 0, 0);
	CHECK(attr.cap.max_send_wr >= 64 && attr.cap.max_recv_wr >= 64, attr.cap.max_send_wr);
	CHECK(init.send_cq == cq && init.recv_cq == cq && init.qp_type == IBV_QPT_RC, init.qp_type);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
}

/** Of its queues a query tells what their creation has said, which is more than was wished. */
static void
limits(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .cap = { 10, 100, 1, 3, 0 }, .qp_type = type
	};
	struct ibv_qp *qp = ibv_create_qp(rig_pd, &init);
	const struct ibv_qp_cap made = init.cap;
	struct ibv_qp_attr attr;

	if (qp == NULL)
		rig_die("ibv_create_qp");
	CHECK(made.max_recv_wr == 128 && made.max_recv_sge == 4, made.max_recv_wr);
	rig_must(ibv_query_qp(qp, &attr, IBV_QP_CAP, &init), "ibv_query_qp");
	CHECK(attr.cap.max_recv_wr == made.max_recv_wr, attr.cap.max_recv_wr);
	CHECK(attr.cap.max_recv_sge == made.max_recv_sge, attr.cap.max_recv_sge);
	CHECK(attr.cap.max_send_wr == made.max_send_wr, attr.cap.max_send_wr);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
}

/** The way to another side by IP has the hop limit of Linux' route, whatever the program says
 * (Linux core/verbs.c ib_resolve_unicast_gid_dmac()); an address handle's is the program's. */
static void
hops(enum ibv_qp_type type)
{
	struct ibv_qp *qp = pair_qp(type, cq, NULL);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int mask = pair_init_attr(type, &attr);

	rig_must(ibv_modify_qp(qp, &attr, mask), "RESET to INIT");
	mask = pair_rtr_attr(type, 0x123456, &attr);
	attr.ah_attr.grh.hop_limit = 0;
	rig_must(ibv_modify_qp(qp, &attr, mask), "INIT to RTR");
	rig_must(ibv_query_qp(qp, &attr, IBV_QP_AV, &init), "ibv_query_qp");
	CHECK(attr.ah_attr.grh.hop_limit == 64, attr.ah_attr.grh.hop_limit);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
}

static unsigned int
access_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	rig_must(ibv_query_qp(qp, &attr, IBV_QP_ACCESS_FLAGS, &init), "ibv_query_qp");
	return attr.qp_access_flags;
}

/** Each MTU is taken. Resources for reads are powers of two, one at least, 16 at most, and without
 * any the other side neither reads nor has atomics (Linux hw/mlx5/qp.c __mlx5_ib_modify_qp(),
 * query_qp_attr(), set_qpc_atomic_flags()). */
static void
depths(void)
{
	static const struct {
		uint8_t asked, has;
		enum ibv_mtu mtu;
	} rows[] = { { 0, 1, IBV_MTU_256 }, { 1, 1, IBV_MTU_512 }, { 3, 4, IBV_MTU_1024 },
		{ 5, 8, IBV_MTU_2048 }, { 16, 16, IBV_MTU_4096 } };
	const unsigned int all = PAIR_ACCESS & ~IBV_ACCESS_LOCAL_WRITE;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int mask;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ibv_qp *qp = pair_qp(IBV_QPT_RC, cq, NULL);

		mask = pair_init_attr(IBV_QPT_RC, &attr);
		rig_must(ibv_modify_qp(qp, &attr, mask), "RESET to INIT");
		CHECK(access_of(qp) == IBV_ACCESS_REMOTE_WRITE, access_of(qp));
		mask = pair_rtr_attr(IBV_QPT_RC, 0x123456, &attr);
		attr.path_mtu = rows[i].mtu;
		attr.max_dest_rd_atomic = 17;
		CHECK(ibv_modify_qp(qp, &attr, mask) == EINVAL, errno);
		attr.max_dest_rd_atomic = rows[i].asked;
		rig_must(ibv_modify_qp(qp, &attr, mask), "INIT to RTR");
		CHECK(access_of(qp) == (rows[i].asked != 0 ? all : IBV_ACCESS_REMOTE_WRITE),
			access_of(qp));
		mask = pair_rts_attr(IBV_QPT_RC, &attr);
		attr.max_rd_atomic = 17;
		CHECK(ibv_modify_qp(qp, &attr, mask) == EINVAL, errno);
		attr.max_rd_atomic = rows[i].asked;
		rig_must(ibv_modify_qp(qp, &attr, mask), "RTR to RTS");
		rig_must(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
		CHECK(attr.max_rd_atomic == rows[i].has, attr.max_rd_atomic);
		CHECK(attr.max_dest_rd_atomic == rows[i].has, attr.max_dest_rd_atomic);
		CHECK(attr.path_mtu == rows[i].mtu, attr.path_mtu);
		rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	}
}

/** A CQ that has overrun takes a queue pair with it that has a completion for it, and no other. */
static void
cq_overruns(void)
{
	struct ibv_cq *small = ibv_create_cq(rig_context, 1, NULL, NULL, 0);
	struct ibv_sge sge = rig_sge(0, 0, BYTES);
	struct ibv_async_event event;
	struct ibv_qp *one, *other;

	if (small == NULL)
		rig_die("ibv_create_cq");
	one = pair_qp(IBV_QPT_RC, cq, NULL);
	other = pair_qp(IBV_QPT_RC, small, NULL);
	pair_connect(one, other);
	for (int i = 0; i <= small->cqe + 1; i++) {
		struct ibv_send_wr wr = pair_wr(IBV_WR_SEND, 0, &sge);

		pair_receive(other, 0, &sge);
		pair_post(one, &wr);
	}
	event = pair_event(IBV_EVENT_CQ_ERR);
	CHECK(event.element.cq == small, 0);
	event = pair_event(IBV_EVENT_QP_FATAL);
	CHECK(event.element.qp == other, 0);
	CHECK(pair_state(other) == IBV_QPS_ERR, pair_state(other));
	CHECK(pair_state(one) == IBV_QPS_RTS, pair_state(one));
	rig_must(ibv_destroy_qp(one), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(other), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(small), "ibv_destroy_cq");
}

int
main(void)
{
	rig_open();
	cq = pair_cq();
	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		attributes(types[i]);
	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		claims(types[i]);
	ports(IBV_QPT_RC);
	ports(IBV_QPT_UC);
	not_drained(IBV_QPT_RC);
	not_drained(IBV_QPT_UC);
	send_queue_failed();
	query();
	limits(IBV_QPT_RC);
	limits(IBV_QPT_UD);
	limits(IBV_QPT_RAW_PACKET);
	hops(IBV_QPT_RC);
	hops(IBV_QPT_UC);
	depths();
	cq_overruns();
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}
