/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Everything that breaks a connection: how the work request ends on each side, that all behind it
 * is flushed, that both queue pairs are in ERROR, and what the counters say (IBTA 9.9.2, 10.8.3.4).
 *
 *     broken CASE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define BYTES    4096
#define NB_POSTS 3 /* the second and the third are flushed */
#define GID      1
#define ALL      (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/** What is wrong. */
enum flaw {
	NO_FLAW,
	FLAW_RKEY,
	FLAW_REMOTE_BOUND, /* the address lies behind the region */
	FLAW_QP_ACCESS,    /* the region allows it, the queue pair does not */
	FLAW_ALIGNMENT,
	FLAW_MTU,       /* each side has another */
	FLAW_LKEY,      /* of what is sent */
	FLAW_RECV_LKEY, /* of the receive buffer */
	FLAW_RECV_SHORT,
	FLAW_NO_RECV,
	FLAW_NO_PEER,
};

static const struct row {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum flaw flaw;
	enum ibv_wc_status sender;
	enum ibv_wc_status receiver; /* of the first receive; SUCCESS: the QP does not break */
	int event;                   /* of the receiver; -1: none */
} rows[] = {
	{ "write-key", IBV_WR_RDMA_WRITE, FLAW_RKEY, IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR,
		IBV_EVENT_QP_ACCESS_ERR },
	{ "write-bound", IBV_WR_RDMA_WRITE, FLAW_REMOTE_BOUND, IBV_WC_REM_ACCESS_ERR,
		IBV_WC_WR_FLUSH_ERR, IBV_EVENT_QP_ACCESS_ERR },
	{ "write-access", IBV_WR_RDMA_WRITE, FLAW_QP_ACCESS, IBV_WC_REM_INV_REQ_ERR,
		IBV_WC_WR_FLUSH_ERR, IBV_EVENT_QP_REQ_ERR },
	{ "atomic-access", IBV_WR_ATOMIC_FETCH_AND_ADD, FLAW_QP_ACCESS, IBV_WC_REM_INV_REQ_ERR,
		IBV_WC_WR_FLUSH_ERR, IBV_EVENT_QP_REQ_ERR },
	{ "read-key", IBV_WR_RDMA_READ, FLAW_RKEY, IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR,
		IBV_EVENT_QP_ACCESS_ERR },
	{ "atomic-key", IBV_WR_ATOMIC_FETCH_AND_ADD, FLAW_RKEY, IBV_WC_REM_ACCESS_ERR,
		IBV_WC_WR_FLUSH_ERR, IBV_EVENT_QP_ACCESS_ERR },
	{ "atomic-alignment", IBV_WR_ATOMIC_CMP_AND_SWP, FLAW_ALIGNMENT, IBV_WC_REM_INV_REQ_ERR,
		IBV_WC_WR_FLUSH_ERR, IBV_EVENT_QP_REQ_ERR },
	{ "read-mtu", IBV_WR_RDMA_READ, FLAW_MTU, IBV_WC_LOC_LEN_ERR, IBV_WC_SUCCESS, -1 },
	{ "send-key", IBV_WR_SEND, FLAW_LKEY, IBV_WC_LOC_PROT_ERR, IBV_WC_SUCCESS, -1 },
	{ "receive-key", IBV_WR_SEND, FLAW_RECV_LKEY, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR,
		IBV_EVENT_QP_REQ_ERR },
	{ "receive-short", IBV_WR_SEND, FLAW_RECV_SHORT, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR,
		IBV_EVENT_QP_REQ_ERR },
	{ "no-receive", IBV_WR_SEND, FLAW_NO_RECV, IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_SUCCESS, -1 },
	{ "no-peer", IBV_WR_SEND, FLAW_NO_PEER, IBV_WC_RETRY_EXC_ERR, IBV_WC_SUCCESS, -1 },
};

struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	union ibv_gid gid;
};

static _Alignas(4096) uint8_t memory[2 * BYTES];

static void
open_end(struct end *end, struct ibv_device *device)
{
	struct ibv_qp_init_attr init = { .cap = { 8, 8, 1, 1, 0 }, .qp_type = IBV_QPT_RC };

	end->context = ibv_open_device(device);
	if (end->context == NULL)
		rig_die("ibv_open_device");
	end->pd = ibv_alloc_pd(end->context);
	end->cq = ibv_create_cq(end->context, 32, NULL, NULL, 0);
	if (end->pd == NULL || end->cq == NULL)
		rig_die("ibv_create_cq");
	end->mr = ibv_reg_mr(end->pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE | ALL);
	init.send_cq = init.recv_cq = end->cq;
	end->qp = ibv_create_qp(end->pd, &init);
	if (end->mr == NULL || end->qp == NULL)
		rig_die("ibv_create_qp");
	rig_must(ibv_query_gid(end->context, 1, GID, &end->gid), "ibv_query_gid");
}

static void
connect_end(const struct end *end, const struct end *peer, int access, enum ibv_mtu mtu)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = (unsigned int)access,
		.path_mtu = mtu,
		.dest_qp_num = peer->qp->qp_num,
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.timeout = 8,
		.retry_cnt = 2,
		.rnr_retry = 2,
		.ah_attr = { .is_global = 1,
			.port_num = 1,
			.grh = { .dgid = peer->gid, .sgid_index = GID, .hop_limit = 64 } },
	};

	rig_must(ibv_modify_qp(end->qp, &attr,
			 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		"INIT");
	attr.qp_state = IBV_QPS_RTR;
	rig_must(ibv_modify_qp(end->qp, &attr,
			 IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		"RTR");
	attr.qp_state = IBV_QPS_RTS;
	rig_must(ibv_modify_qp(end->qp, &attr,
			 IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
		"RTS");
}

static void
post_receives(const struct end *end, enum flaw flaw)
{
	struct ibv_sge sge = { (uintptr_t)memory, BYTES, end->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (flaw == FLAW_RECV_LKEY)
		sge.lkey ^= 0xffff00;
	if (flaw == FLAW_RECV_SHORT)
		sge.length = 8;
	for (unsigned int i = 0; i < NB_POSTS && flaw != FLAW_NO_RECV; i++)
		rig_must(ibv_post_recv(end->qp, &wr, &bad), "ibv_post_recv");
}

static void
post_sends(const struct end *end, const struct end *peer, const struct row *row)
{
	const bool is_atomic = row->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
		row->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
	struct ibv_sge sge = { (uintptr_t)memory, is_atomic ? 8 : 64, end->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = row->opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;
	uint64_t to = (uintptr_t)memory;
	uint32_t rkey = peer->mr->rkey;

	if (row->flaw == FLAW_MTU)
		sge.length = BYTES;
	if (row->flaw == FLAW_LKEY)
		sge.lkey ^= 0xffff00;
	if (row->flaw == FLAW_RKEY)
		rkey ^= 0xffff00;
	if (row->flaw == FLAW_REMOTE_BOUND)
		to += BYTES - 1;
	if (row->flaw == FLAW_ALIGNMENT)
		to += 4;
	wr.wr.rdma.remote_addr = to;
	wr.wr.rdma.rkey = rkey;
	if (is_atomic) {
		wr.wr.atomic.remote_addr = to;
		wr.wr.atomic.rkey = rkey;
	}
	for (unsigned int i = 0; i < NB_POSTS; i++)
		rig_must(ibv_post_send(end->qp, &wr, &bad), "ibv_post_send");
}

static enum ibv_qp_state
state_of(const struct end *end)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	rig_must(ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
	return attr.qp_state;
}

/** What ConnectX cards say of it besides; 0: not known. */
static uint32_t
vendor_err(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_WR_FLUSH_ERR:
		return 0xf9;
	case IBV_WC_REM_INV_REQ_ERR:
		return 0x8a;
	case IBV_WC_REM_ACCESS_ERR:
		return 0x88;
	case IBV_WC_RETRY_EXC_ERR:
		return 0x81;
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return 0x87;
	default:
		return 0;
	}
}

/** The first completion is @p status, the others are flushed, and the queue pair is broken. */
static void
expect_broken(const struct end *end, enum ibv_wc_status status, bool is_sender)
{
	struct ibv_wc wc[NB_POSTS];

	rig_poll(end->cq, wc, NB_POSTS);
	for (unsigned int i = 0; i < NB_POSTS && is_sender; i++)
		CHECK(wc[i].vendor_err == vendor_err(wc[i].status), wc[i].vendor_err);
	CHECK(wc[0].status == status, wc[0].status);
	CHECK(wc[0].qp_num == end->qp->qp_num, wc[0].qp_num);
	for (unsigned int i = 1; i < NB_POSTS; i++)
		CHECK(wc[i].status == IBV_WC_WR_FLUSH_ERR, wc[i].status);
	CHECK(state_of(end) == IBV_QPS_ERR, state_of(end));
}

static void
expect_event(const struct end *end, int wanted)
{
	struct ibv_async_event event;

	do {
		if (ibv_get_async_event(end->context, &event) != 0)
			rig_die("ibv_get_async_event");
		ibv_ack_async_event(&event);
		/* The first packet may come before the receiver is in RTS. */
	} while (event.event_type == IBV_EVENT_COMM_EST);
	CHECK((int)event.event_type == wanted, event.event_type);
	CHECK(event.element.qp == end->qp, 0);
}

static void
close_end(struct end *end)
{
	if (end->qp != NULL)
		rig_must(ibv_destroy_qp(end->qp), "ibv_destroy_qp");
	rig_must(ibv_dereg_mr(end->mr), "ibv_dereg_mr");
	rig_must(ibv_destroy_cq(end->cq), "ibv_destroy_cq");
	rig_must(ibv_dealloc_pd(end->pd), "ibv_dealloc_pd");
	rig_must(ibv_close_device(end->context), "ibv_close_device");
}

static void
run(const struct row *row)
{
	struct end sender, receiver;
	int nb;
	struct ibv_device **list = ibv_get_device_list(&nb);

	if (list == NULL || nb == 0)
		rig_die("no device");
	open_end(&sender, list[0]);
	open_end(&receiver, list[nb - 1]);
	ibv_free_device_list(list);
	connect_end(&sender, &receiver, ALL, IBV_MTU_1024);
	connect_end(&receiver, &sender, row->flaw == FLAW_QP_ACCESS ? IBV_ACCESS_REMOTE_READ : ALL,
		row->flaw == FLAW_MTU ? IBV_MTU_2048 : IBV_MTU_1024);
	post_receives(&receiver, row->flaw);
	if (row->flaw == FLAW_NO_PEER) {
		rig_must(ibv_destroy_qp(receiver.qp), "ibv_destroy_qp");
		receiver.qp = NULL;
	}
	post_sends(&sender, &receiver, row);
	expect_broken(&sender, row->sender, true);
	if (row->receiver != IBV_WC_SUCCESS)
		expect_broken(&receiver, row->receiver, false);
	else if (receiver.qp != NULL)
		CHECK(state_of(&receiver) == IBV_QPS_RTS, state_of(&receiver));
	if (row->event >= 0)
		expect_event(&receiver, row->event);
	close_end(&sender);
	close_end(&receiver);
}

int
main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (argc == 2 && strcmp(rows[i].name, argv[1]) == 0) {
			run(&rows[i]);
			return rig_summary();
		}
		if (argc < 2)
			printf("%s\n", rows[i].name);
	}
	return argc == 2;
}
