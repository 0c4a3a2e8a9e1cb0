/* SPDX-License-Identifier: BSD-3-Clause */
/* A send queue that verbs empties: its requests, refusals, completions and errors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "burst/tx/tx_ibv_burst.h"
#include "burst/tx/tx_tso.h"
#include "ibv_rig.h"
#include "queue/cq_ibv.h"
#include "queue/tx/tx_ibv.h"
#include "queue/tx/txq.h"
#include "tx_rig.h"

#define OFFLOADS                                                                                   \
	(RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_VLAN_INSERT |                          \
		RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |                     \
		RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_TSO)

static void
start(uint64_t offloads)
{
	struct mdv_txq *txq = &tx_rig.txq;
	struct mdv_caps *caps = &tx_rig.port.port.device.caps;

	tx_rig_start();
	ibv_rig_init(&tx_rig.port);
	caps->tx_checksum = true;
	caps->max_tso_bytes = 65535;
	txq->nb_desc = TX_RIG_BBS;
	txq->limits = mdv_tx_limits_of(caps, offloads);
	assert_int_equal(
		mdv_cq_ibv_create(&tx_rig.port.port.device, TX_RIG_CQES, 0, NULL, &txq->objs.cq),
		0);
	assert_int_equal(ibv_rig.asked.wc_flags, 0);
	assert_int_equal(mdv_tx_ibv_attach(txq), 0);
	mdv_tx_ibv_burst_select(txq);
	txq->ring.cqes = txq->objs.cq.cqes;
	txq->ring.cq_dbrec = txq->objs.cq.dbrec;
	mdv_txq_ring_clear(txq);
}

static void
stop_queue(void)
{
	mdv_cq_destroy(&tx_rig.port.port.device, &tx_rig.txq.objs.cq);
	mdv_tx_ibv_detach(&tx_rig.txq);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	tx_rig_stop();
}

static uint16_t
burst(struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return mdv_tx_ibv_burst(&tx_rig.txq, pkts, nb_pkts);
}

/** Build the frame that the request puts on the wire, without TSO's header. @return its length */
static uint32_t
gather(const struct ibv_rig_wr *wr, uint8_t *bytes)
{
	uint32_t len = 0;
	unsigned int i;

	for (i = 0; i < wr->nb_sges; i++) {
		const struct ibv_sge *sge = &wr->sges[i];

		assert_true(sge->length != 0 && len + sge->length <= TX_RIG_FRAME_MAX);
		if (sge->lkey != RIG_LKEY) {
			assert_int_equal(sge->lkey, tx_rig.txq.objs.ibv.mr->lkey);
			assert_true(sge->addr - (uintptr_t)tx_rig.txq.ring.wqes <
				TX_RIG_BBS * MLX5_SEND_WQE_BB);
		}
		memcpy(bytes + len, (const void *)(uintptr_t)sge->addr, sge->length);
		len += sge->length;
	}
	return len;
}

/** Send everything, and complete the requests that asked for it. */
static void
complete_all(void)
{
	unsigned int i;

	for (i = 0; i < ibv_rig.nb_wrs; i++) {
		if (ibv_rig.wrs[i].flags & IBV_SEND_SIGNALED)
			ibv_rig_complete(&(struct ibv_rig_wc){ .wr_id = ibv_rig.wrs[i].wr_id });
	}
	ibv_rig_forget();
}

static void
frames_are_whole_however_they_lie(void **state)
{
	static const uint64_t ways[] = { RTE_ETH_TX_OFFLOAD_MULTI_SEGS, OFFLOADS };
	uint8_t want[TX_RIG_FRAME_MAX + 16], got[TX_RIG_FRAME_MAX + 16];
	unsigned int way, round;

	(void)state;
	srandom(4713);
	for (way = 0; way < RTE_DIM(ways); way++) {
		start(ways[way]);
		for (round = 0; round < 3000; round++) {
			struct rte_mbuf *pkt =
				tx_rig_packet(1 + random() % MDV_TX_IBV_SEGS, 19 + random() % 400);
			const bool tagged = way != 0 && random() % 2 != 0;
			const bool csum = random() % 2 != 0;
			uint32_t len;

			pkt->ol_flags = (tagged ? RTE_MBUF_F_TX_VLAN : 0) |
				(csum ? RTE_MBUF_F_TX_IP_CKSUM : 0);
			pkt->vlan_tci = random();
			len = tx_rig_expected(pkt, tagged, want);
			assert_int_equal(burst(&pkt, 1), 1);
			assert_int_equal(ibv_rig.nb_wrs, 1);
			assert_int_equal(gather(&ibv_rig.wrs[0], got), len);
			assert_memory_equal(got, want, len);
			assert_int_equal(!(ibv_rig.wrs[0].flags & IBV_SEND_IP_CSUM), !csum);
			complete_all();
		}
		assert_int_equal(tx_rig.txq.count.packets, round);
		assert_int_equal(tx_rig.txq.errors, 0);
		stop_queue();
	}
}

static void
headers_of_what_is_cut_up_go_with_the_request(void **state)
{
	uint8_t want[TX_RIG_FRAME_MAX + 16], got[TX_RIG_FRAME_MAX + 16];
	unsigned int round;

	(void)state;
	start(OFFLOADS);
	for (round = 0; round < 300; round++) {
		struct rte_mbuf *pkt = tx_rig_packet(1, 300 + random() % 200);
		const bool tagged = round % 2 != 0;
		uint32_t len;

		pkt->ol_flags = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4 |
			RTE_MBUF_F_TX_IP_CKSUM | (tagged ? RTE_MBUF_F_TX_VLAN : 0);
		pkt->l2_len = 14;
		pkt->l3_len = 20 + 4 * (random() % 4);
		pkt->l4_len = 20 + 4 * (random() % 4);
		pkt->tso_segsz = 100;
		len = tx_rig_expected(pkt, tagged, want);
		assert_int_equal(burst(&pkt, 1), 1);
		assert_int_equal(ibv_rig.wrs[0].mss, 100);
		assert_true(ibv_rig.wrs[0].flags & IBV_SEND_IP_CSUM);
		assert_int_equal(ibv_rig.wrs[0].header_len,
			pkt->l2_len + pkt->l3_len + pkt->l4_len + (tagged ? 4 : 0));
		memcpy(got, ibv_rig.wrs[0].header, ibv_rig.wrs[0].header_len);
		assert_int_equal(ibv_rig.wrs[0].header_len +
				gather(&ibv_rig.wrs[0], got + ibv_rig.wrs[0].header_len),
			len);
		assert_memory_equal(got, want, len);
		complete_all();
	}
	stop_queue();
}

static void
too_many_segments_are_dropped(void **state)
{
	struct rte_mbuf *pkts[3];
	unsigned int i;

	(void)state;
	start(OFFLOADS);
	for (i = 0; i < 3; i++)
		pkts[i] = tx_rig_packet(i == 1 ? MDV_TX_IBV_SEGS + 1 : 1, 60);
	assert_int_equal(mdv_tx_prepare(&tx_rig.txq, pkts, 3), 1);
	assert_int_equal(burst(pkts, 3), 3);
	assert_int_equal(ibv_rig.nb_wrs, 2);
	assert_int_equal(tx_rig.txq.count.packets, 2);
	assert_int_equal(tx_rig.txq.errors, 1);
	stop_queue();
}

static void
a_full_ring_takes_no_more_and_drains(void **state)
{
	struct rte_mbuf *pkts[TX_RIG_BBS + 1];
	unsigned int i, k;

	(void)state;
	start(OFFLOADS);
	for (k = 0; k < 5; k++) {
		for (i = 0; i < RTE_DIM(pkts); i++)
			pkts[i] = tx_rig_packet(1, 60);
		i = burst(pkts, RTE_DIM(pkts));
		assert_int_equal(i, k == 0 ? TX_RIG_BBS : i);
		assert_true(i >= (unsigned int)(TX_RIG_BBS - tx_rig.txq.ring.request_min));
		assert_int_equal(ibv_rig.nb_wrs, i);
		assert_int_equal(mdv_tx_done_status(&tx_rig.txq, i - 1), RTE_ETH_TX_DESC_FULL);
		rte_pktmbuf_free_bulk(&pkts[i], RTE_DIM(pkts) - i);
		complete_all();
	}
	assert_true(mdv_tx_done_cleanup(&tx_rig.txq, 0) > 0);
	assert_int_equal(mdv_tx_done_status(&tx_rig.txq, TX_RIG_BBS - 1), RTE_ETH_TX_DESC_DONE);
	stop_queue();
}

static void
refused_requests_are_made_again(void **state)
{
	struct rte_mbuf *pkts[3];
	unsigned int i;

	(void)state;
	start(OFFLOADS);
	for (i = 0; i < 3; i++)
		pkts[i] = tx_rig_packet(1, 60 + i);
	ibv_rig.room = 1;
	assert_int_equal(burst(pkts, 2), 2);
	assert_int_equal(ibv_rig.nb_wrs, 0);
	ibv_rig.room = 3;
	assert_int_equal(burst(pkts + 2, 1), 1);
	assert_int_equal(ibv_rig.nb_wrs, 3);
	for (i = 0; i < 3; i++) {
		uint8_t got[TX_RIG_FRAME_MAX];

		assert_int_equal(gather(&ibv_rig.wrs[i], got), 60 + i);
	}
	stop_queue();
}

/** The second of three fails: one was sent, two are lost, and the queue goes on. */
static void
a_failed_request_restarts_the_queue(void **state)
{
	struct mdv_txq *txq = &tx_rig.txq;
	struct rte_mbuf *pkts[4];
	unsigned int i;

	(void)state;
	start(OFFLOADS);
	for (i = 0; i < 4; i++)
		pkts[i] = tx_rig_packet(1, 60);
	assert_int_equal(burst(pkts, 3), 3);
	ibv_rig_complete(&(struct ibv_rig_wc){
		.wr_id = ibv_rig.wrs[1].wr_id, .status = IBV_WC_LOC_PROT_ERR });
	ibv_rig_complete(&(struct ibv_rig_wc){
		.wr_id = ibv_rig.wrs[2].wr_id, .status = IBV_WC_WR_FLUSH_ERR });
	ibv_rig_forget();
	assert_int_equal(burst(pkts + 3, 1), 1);
	assert_int_equal(txq->nb_stops, 1);
	assert_int_equal(txq->stop_syndrome, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
	assert_int_equal(rig_verbs.nb_qp_states, 4);
	assert_int_equal(rig_verbs.qp_states[0], IBV_QPS_RESET);
	assert_int_equal(rig_verbs.qp_states[3], IBV_QPS_RTS);
	assert_int_equal(txq->count.packets, 2);
	assert_int_equal(txq->errors, 2);
	assert_int_equal(ibv_rig.nb_wrs, 1);
	assert_int_equal(ibv_rig.wrs[0].wr_id, 0);
	stop_queue();
}

static void
the_qp_is_asked_for_what_the_queue_needs(void **state)
{
	struct ibv_qp_init_attr_ex attr = { 0 };

	(void)state;
	start(0);
	assert_null(tx_rig.txq.objs.ibv.mr);
	mdv_tx_ibv_qp_attr(&tx_rig.txq, &attr);
	assert_int_equal(attr.send_ops_flags, IBV_QP_EX_WITH_SEND);
	assert_int_equal(attr.comp_mask, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS);
	assert_int_equal(attr.cap.max_send_sge, MDV_TX_IBV_SGES);
	stop_queue();
	start(OFFLOADS);
	mdv_tx_ibv_qp_attr(&tx_rig.txq, &attr);
	assert_int_equal(attr.send_ops_flags, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO);
	assert_int_equal(
		attr.comp_mask, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_MAX_TSO_HEADER);
	assert_int_equal(attr.max_tso_header, MDV_TX_TSO_HEADER_MAX);
	stop_queue();
}

/* In place of the EAL's, by the linker's --wrap. */
void *__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket);
void *__real_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket);

static bool no_memory;
static size_t nb_bytes; /* that were asked for last */

void *
__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	nb_bytes = size;
	return no_memory ? NULL : __real_rte_zmalloc_socket(type, size, align, socket);
}

/** Register and record of the doorbell lie behind the WQEBBs, for nothing reads them. */
static void
the_doorbell_is_behind_the_ring(void **state)
{
	const struct mdv_txq *txq = &tx_rig.txq;
	const uint8_t *reg, *dbrec, *end;

	(void)state;
	start(0);
	mdv_tx_ibv_detach(&tx_rig.txq);
	txq->objs.qp->qp_num = 0x123456;
	assert_int_equal(mdv_tx_ibv_attach(&tx_rig.txq), 0);
	assert_int_equal(txq->ring.qpn_ds, 0x12345600);
	assert_int_equal(txq->ring.mask, txq->nb_desc - 1);
	reg = (const uint8_t *)(uintptr_t)mdv_uar_regs[txq->ring.uar_slot];
	dbrec = (const uint8_t *)(uintptr_t)txq->ring.dbrec;
	end = txq->ring.wqes + nb_bytes;
	assert_true(reg >= txq->ring.wqes + (size_t)txq->nb_desc * MLX5_SEND_WQE_BB);
	assert_true(dbrec >= reg + sizeof(uint64_t) && dbrec + sizeof(__be32) <= end);
	stop_queue();
}

static void
what_cannot_be_had_leaves_no_ring(void **state)
{
	static const struct {
		int told, result;
	} errnos[] = { { ENOSPC, -ENOSPC }, { -1, -ENOMEM }, { 0, 0 } };
	struct mdv_txq *txq = &tx_rig.txq;

	(void)state;
	start(OFFLOADS);
	mdv_cq_destroy(&tx_rig.port.port.device, &txq->objs.cq);
	for (unsigned int i = 0; i < RTE_DIM(errnos); i++) {
		ibv_rig.cq_errno = errnos[i].told;
		assert_int_equal(mdv_cq_ibv_create(&tx_rig.port.port.device, TX_RIG_CQES, 0, NULL,
					 &txq->objs.cq),
			errnos[i].result);
	}
	mdv_cq_destroy(&tx_rig.port.port.device, &txq->objs.cq);
	mdv_tx_ibv_detach(txq);
	no_memory = true;
	assert_int_equal(
		mdv_cq_ibv_create(&tx_rig.port.port.device, TX_RIG_CQES, 0, NULL, &txq->objs.cq),
		-ENOMEM);
	assert_null(txq->objs.cq.ibv_cq);
	assert_int_equal(mdv_tx_ibv_attach(txq), -ENOMEM);
	no_memory = false;
	assert_null(txq->ring.wqes);
	/* The ring is a region for the tags that are in it. */
	rig_verbs.reg_result = ENOSPC;
	assert_int_equal(mdv_tx_ibv_attach(txq), -ENOSPC);
	rig_verbs.reg_result = -1; /* without an errno */
	assert_int_equal(mdv_tx_ibv_attach(txq), -ENOMEM);
	rig_verbs.reg_result = 0;
	assert_null(txq->ring.wqes);
	assert_null(txq->objs.ibv.mr);
	assert_int_equal(mdv_tx_ibv_attach(txq), 0);
	assert_non_null(txq->objs.ibv.mr);
	stop_queue();
}

/** In a process that has not registered functions for that. */
static void
a_broken_queue_stays_broken(void **state)
{
	const bool ready = tx_rig.txq.ready;

	(void)state;
	mdv_recover_ops.tx(&tx_rig.txq);
	assert_int_equal(tx_rig.txq.ready, ready);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_whole_however_they_lie),
		cmocka_unit_test(headers_of_what_is_cut_up_go_with_the_request),
		cmocka_unit_test(too_many_segments_are_dropped),
		cmocka_unit_test(a_full_ring_takes_no_more_and_drains),
		cmocka_unit_test(refused_requests_are_made_again),
		cmocka_unit_test(a_failed_request_restarts_the_queue),
		cmocka_unit_test(the_qp_is_asked_for_what_the_queue_needs),
		cmocka_unit_test(the_doorbell_is_behind_the_ring),
		cmocka_unit_test(what_cannot_be_had_leaves_no_ring),
		cmocka_unit_test(a_broken_queue_stays_broken),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
