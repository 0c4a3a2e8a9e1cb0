/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive queue that verbs fills: copies, posts, refusals, and the state at the end. */
#include <errno.h>
#include <string.h>

#include "base/mark.h"
#include "burst/rx/rx_ibv_burst.h"
#include "ibv_rig.h"
#include "queue/cq_ibv.h"
#include "queue/rx/rx_ibv.h"
#include "queue/rx/rxq.h"
#include "rx_rig.h"

#define POOL_SIZE 511
static const uint64_t all_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_CVLAN |
	IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;

/** Start the rig's queue with all offloads. */
static void
start_queue(void)
{
	struct mdv_rxq *rxq = &rx_rig.rxq;
	struct mdv_port *port = &rx_rig.port.port;

	ibv_rig_init(&rx_rig.port);
	port->device.caps.cvlan_strip = true;
	port->rx_metadata = RTE_ETH_RX_METADATA_USER_MARK;
	rx_rig.port.data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	assert_int_equal(mdv_rx_ibv_wc_flags(rxq), all_flags);
	assert_int_equal(
		mdv_cq_ibv_create(&port->device, RX_RIG_WQES, all_flags, NULL, &rxq->objs.cq), 0);
	/* Nothing in the ring looks like a completion. */
	for (unsigned int i = 0; i < RX_RIG_WQES; i++)
		assert_int_equal(
			rxq->objs.cq.cqes[i].op_own >> MDV_HW_CQE_OPCODE_SHIFT, MLX5_CQE_INVALID);
	assert_int_equal(ibv_rig.asked.wc_flags, all_flags);
	assert_int_equal(ibv_rig.asked.cqe, RX_RIG_WQES - 1);
	assert_int_equal(mdv_rx_ibv_attach(rxq, RX_RIG_WQES), 0);
	mdv_rx_ibv_burst_select(rxq);
	rxq->ring.cqes = rxq->objs.cq.cqes;
	rxq->ring.cq_dbrec = rxq->objs.cq.dbrec;
	assert_int_equal(rxq->split != NULL ? mdv_rx_split_fill(rxq) : mdv_rx_fill(rxq), 0);
	mdv_rx_ibv_post(rxq);
}

static void
start(uint8_t log2_segs)
{
	rx_rig_start(log2_segs, POOL_SIZE);
	start_queue();
}

static void
stop_queue(void)
{
	struct mdv_rxq *rxq = &rx_rig.rxq;

	mdv_cq_destroy(&rx_rig.port.port.device, &rxq->objs.cq);
	mdv_rx_ibv_detach(rxq);
	rx_rig_stop();
}

static uint32_t
nb_buffers(void)
{
	return rte_mempool_in_use_count(rx_rig.pool);
}

static void
what_verbs_tells_is_in_the_mbuf(void **state)
{
	/* clang-format off */
	static const struct {
		struct ibv_rig_wc wc;
		uint64_t ol_flags;
		uint32_t mark;
	} cases[] = {
		{ { .byte_len = 60 }, 0, 0 },
		{ { .byte_len = 61, .tci = 0x2005 }, RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED, 0 },
		{ { .byte_len = 62, .tag = 8 }, RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID, 7 },
		{ { .byte_len = 63, .tag = MDV_MARK_TAG_FLAG }, RTE_MBUF_F_RX_FDIR, 0 },
		{ { .byte_len = 64, .timestamp = 0x123456789abcdef0 }, 0, 0 },
	};
	/* clang-format on */
	struct rte_mbuf *pkts[8];
	unsigned int i;

	(void)state;
	start(0);
	for (i = 0; i < RTE_DIM(cases); i++)
		ibv_rig_complete(&cases[i].wc);
	assert_int_equal(mdv_rx_ibv_burst(&rx_rig.rxq, pkts, RTE_DIM(pkts)), RTE_DIM(cases));
	for (i = 0; i < RTE_DIM(cases); i++) {
		const struct ibv_rig_wc *wc = &cases[i].wc;
		struct rte_mbuf *mbuf = pkts[i];

		assert_int_equal(mbuf->pkt_len, wc->byte_len);
		assert_int_equal(mbuf->data_len, wc->byte_len);
		assert_int_equal(mbuf->ol_flags, cases[i].ol_flags | rx_rig.rxq.timestamp_flag);
		assert_int_equal(mbuf->packet_type, RTE_PTYPE_L2_ETHER);
		if (wc->tci != 0)
			assert_int_equal(mbuf->vlan_tci, wc->tci);
		if (cases[i].ol_flags & RTE_MBUF_F_RX_FDIR_ID)
			assert_int_equal(mbuf->hash.fdir.hi, cases[i].mark);
		assert_int_equal(
			*RTE_MBUF_DYNFIELD(mbuf, rx_rig.rxq.timestamp_at, rte_mbuf_timestamp_t *),
			wc->timestamp);
		/* Verbs was told to put it there. */
		assert_int_equal(ibv_rig.wrs[i].sges[0].addr, rte_pktmbuf_mtod(mbuf, uintptr_t));
	}
	rte_pktmbuf_free_bulk(pkts, RTE_DIM(cases));
	stop_queue();
}

static void
each_wqe_is_posted_once_with_its_segments(void **state)
{
	uint8_t log2_segs;

	(void)state;
	for (log2_segs = 0; log2_segs <= 2; log2_segs++) {
		const uint32_t nb_segs = 1u << log2_segs;
		unsigned int i, k;

		start(log2_segs);
		assert_int_equal(ibv_rig.nb_wrs, RX_RIG_WQES);
		for (i = 0; i < RX_RIG_WQES; i++) {
			const struct ibv_rig_wr *wr = &ibv_rig.wrs[i];

			assert_int_equal(wr->wr_id, i);
			assert_int_equal(wr->nb_sges, nb_segs);
			for (k = 0; k < nb_segs; k++) {
				const struct rte_mbuf *mbuf =
					rx_rig.rxq.ring.mbufs[(i << log2_segs) + k];
				const uint32_t headroom = k == 0 ? RTE_PKTMBUF_HEADROOM : 0;

				assert_int_equal(
					wr->sges[k].addr, (uintptr_t)mbuf->buf_addr + headroom);
				assert_int_equal(wr->sges[k].length, RX_RIG_ROOM - headroom);
				assert_int_equal(wr->sges[k].lkey, RIG_LKEY);
			}
		}
		mdv_rx_ibv_post(&rx_rig.rxq);
		assert_int_equal(ibv_rig.nb_wrs, RX_RIG_WQES);
		stop_queue();
	}
}

/** Many laps of the ring, with verbs short of room now and then. */
static void
refused_wqes_are_posted_later(void **state)
{
	struct rte_mbuf *pkts[32];
	unsigned int round, i, nb_posted = RX_RIG_WQES, nb_got = 0;
	uint64_t next = 0;

	(void)state;
	srandom(4712);
	start(0);
	ibv_rig_forget();
	for (round = 0; round < 2000; round++) {
		unsigned int nb = RTE_MIN(random() % 32u, nb_posted);
		uint16_t got;

		for (i = 0; i < nb; i++)
			ibv_rig_complete(&(struct ibv_rig_wc){ .byte_len = 60 + i });
		nb_posted -= nb;
		ibv_rig.room = random() % 40;
		got = mdv_rx_ibv_burst(&rx_rig.rxq, pkts, RTE_DIM(pkts));
		assert_int_equal(got, nb);
		for (i = 0; i < got; i++)
			assert_int_equal(pkts[i]->pkt_len, 60 + i);
		rte_pktmbuf_free_bulk(pkts, got);
		nb_got += got;
		for (i = 0; i < ibv_rig.nb_wrs; i++)
			assert_int_equal(ibv_rig.wrs[i].wr_id, next++ % RX_RIG_WQES);
		nb_posted += ibv_rig.nb_wrs;
		ibv_rig_forget();
	}
	assert_int_equal(rx_rig.rxq.count.packets, nb_got);
	assert_true(nb_got > 1000);
	stop_queue();
}

static void
a_look_takes_what_is_wanted_and_no_more(void **state)
{
	struct mdv_rxq *rxq = &rx_rig.rxq;
	struct rte_mbuf *pkts[8];
	unsigned int i;

	(void)state;
	start(0);
	for (i = 0; i < 10; i++)
		ibv_rig_complete(&(struct ibv_rig_wc){ .byte_len = 60 });
	assert_int_equal(mdv_rx_ibv_burst(rxq, pkts, 4), 4);
	rte_pktmbuf_free_bulk(pkts, 4);
	assert_int_equal(ibv_rig.wcs_taken, 4);
	assert_int_equal(mdv_rxq_descriptor_status(rxq, 2), RTE_ETH_RX_DESC_DONE);
	assert_int_equal(ibv_rig.wcs_taken, 7);
	assert_int_equal(mdv_rxq_descriptor_status(rxq, 6), RTE_ETH_RX_DESC_AVAIL);
	assert_int_equal(mdv_rxq_count(rxq), 6);
	assert_int_equal(ibv_rig.wcs_taken, 10);
	/* Packets that were looked at are still there. */
	assert_int_equal(mdv_rx_ibv_burst(rxq, pkts, 8), 6);
	rte_pktmbuf_free_bulk(pkts, 6);
	stop_queue();
}

static void
errors_are_those_of_the_device(void **state)
{
	struct mdv_rxq *rxq = &rx_rig.rxq;
	struct rte_mbuf *pkts[8];

	(void)state;
	start(0);
	ibv_rig_complete(&(struct ibv_rig_wc){ .byte_len = 60 });
	ibv_rig_complete(&(struct ibv_rig_wc){ .status = IBV_WC_LOC_LEN_ERR });
	ibv_rig_complete(&(struct ibv_rig_wc){ .byte_len = 61 });
	assert_int_equal(mdv_rx_ibv_burst(rxq, pkts, 8), 2);
	assert_int_equal(rxq->count.errors, 1);
	assert_int_equal(rig_verbs.nb_wq_states, 0);
	rte_pktmbuf_free_bulk(pkts, 2);
	/* This one stops the queue: it is restarted, and everything posted again. */
	ibv_rig_complete(&(struct ibv_rig_wc){ .byte_len = 62 });
	ibv_rig_complete(&(struct ibv_rig_wc){ .status = IBV_WC_LOC_PROT_ERR });
	ibv_rig_complete(&(struct ibv_rig_wc){ .status = IBV_WC_WR_FLUSH_ERR });
	ibv_rig_forget();
	assert_int_equal(mdv_rx_ibv_burst(rxq, pkts, 8), 1);
	assert_int_equal(rig_verbs.nb_wq_states, 2);
	assert_int_equal(rig_verbs.wq_states[0], IBV_WQS_RESET);
	assert_int_equal(rig_verbs.wq_states[1], IBV_WQS_RDY);
	assert_int_equal(ibv_rig.wcs_taken, ibv_rig.nb_wcs);
	assert_int_equal(ibv_rig.nb_wrs, RX_RIG_WQES);
	assert_int_equal(nb_buffers(), RX_RIG_WQES + 1);
	rte_pktmbuf_free(pkts[0]);
	ibv_rig_complete(&(struct ibv_rig_wc){ .byte_len = 63 });
	assert_int_equal(mdv_rx_ibv_burst(rxq, pkts, 8), 1);
	assert_int_equal(pkts[0]->pkt_len, 63);
	rte_pktmbuf_free(pkts[0]);
	stop_queue();
}

static void
every_status_has_a_syndrome(void **state)
{
	static const enum ibv_wc_status own[] = { IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR,
		IBV_WC_LOC_PROT_ERR, IBV_WC_WR_FLUSH_ERR, IBV_WC_LOC_ACCESS_ERR };
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(own); i++)
		assert_string_not_equal(mdv_cq_syndrome(mdv_cq_syndrome_of(own[i])), "unknown");
	assert_int_equal(mdv_cq_syndrome_of(IBV_WC_LOC_LEN_ERR), 0x01);
	assert_int_equal(mdv_cq_syndrome_of(IBV_WC_WR_FLUSH_ERR), 0x05);
	assert_string_equal(mdv_cq_syndrome(mdv_cq_syndrome_of(IBV_WC_FATAL_ERR)), "unknown");
}

static unsigned int nb_recovered;

static void
count_recovery(struct mdv_rxq *rxq)
{
	assert_ptr_equal(rxq, &rx_rig.rxq);
	nb_recovered++;
}

/** Only a broken one is recovered. */
static void
a_stopped_queue_does_nothing(void **state)
{
	struct rte_mbuf *pkts[8];

	(void)state;
	start(0);
	rx_rig.rxq.ready = false;
	/* Nobody has registered functions for that yet. */
	rx_rig.rxq.ring.runtime_opts |= MDV_RX_RUNTIME_BROKEN;
	assert_int_equal(mdv_rx_ibv_burst(&rx_rig.rxq, pkts, 8), 0);
	assert_true((rx_rig.rxq.ring.runtime_opts & MDV_RX_RUNTIME_BROKEN) != 0);
	rx_rig.rxq.ring.runtime_opts &= (uint8_t)~MDV_RX_RUNTIME_BROKEN;
	mdv_recover_ops.rx = count_recovery;
	ibv_rig_forget();
	ibv_rig_complete(&(struct ibv_rig_wc){ .byte_len = 60 });
	assert_int_equal(mdv_rx_ibv_burst(&rx_rig.rxq, pkts, 8), 0);
	assert_int_equal(ibv_rig.wcs_taken, 0);
	assert_int_equal(ibv_rig.nb_wrs, 0);
	assert_int_equal(nb_recovered, 0);
	rx_rig.rxq.ring.runtime_opts |= MDV_RX_RUNTIME_BROKEN;
	assert_int_equal(mdv_rx_ibv_burst(&rx_rig.rxq, pkts, 8), 0);
	assert_int_equal(nb_recovered, 1);
	assert_int_equal(ibv_rig.wcs_taken, 0);
	stop_queue();
}

/** A queue that splits packets: verbs gets each segment's length and lkey. */
static void
segments_are_posted_as_described(void **state)
{
	struct rte_mempool *heads = rig_pool("ibv_heads", POOL_SIZE, 256);
	struct rte_mempool *bodies = rig_pool("ibv_bodies", POOL_SIZE, 1024);
	union rte_eth_rxseg asked[] = { { .split = { .mp = heads, .length = 64, .offset = 8 } },
		{ .split = { .mp = bodies, .offset = 24 } } };
	const struct ibv_rig_wc wc = { .byte_len = 164 };
	struct rte_mbuf *pkts[2];

	(void)state;
	rx_rig_start_split(1, asked, RTE_DIM(asked));
	start_queue();
	for (unsigned int i = 0; i < RX_RIG_WQES; i++) {
		const struct ibv_rig_wr *wr = &ibv_rig.wrs[i];

		assert_int_equal(wr->nb_sges, 2);
		assert_int_equal(wr->sges[0].length, 64);
		assert_int_equal(wr->sges[0].lkey, RIG_LKEY);
		assert_int_equal(wr->sges[1].length, 1000);
		assert_int_equal(wr->sges[1].lkey, RIG_LKEY + 1);
	}
	for (unsigned int i = 0; i < 2 * RX_RIG_WQES; i++) {
		ibv_rig_forget();
		ibv_rig_complete(&wc);
		assert_int_equal(mdv_rx_ibv_burst(&rx_rig.rxq, pkts, RTE_DIM(pkts)), 1);
		assert_int_equal(pkts[0]->nb_segs, 2);
		assert_ptr_equal(pkts[0]->pool, heads);
		assert_int_equal(pkts[0]->data_len, 64);
		assert_int_equal(pkts[0]->data_off, RTE_PKTMBUF_HEADROOM + 8);
		assert_ptr_equal(pkts[0]->next->pool, bodies);
		assert_int_equal(pkts[0]->next->data_len, 100);
		assert_int_equal(pkts[0]->next->data_off, 24);
		rte_pktmbuf_free(pkts[0]);
	}
	stop_queue();
	assert_true(rte_mempool_full(heads));
	assert_true(rte_mempool_full(bodies));
	rte_mempool_free(heads);
	rte_mempool_free(bodies);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_verbs_tells_is_in_the_mbuf),
		cmocka_unit_test(each_wqe_is_posted_once_with_its_segments),
		cmocka_unit_test(segments_are_posted_as_described),
		cmocka_unit_test(refused_wqes_are_posted_later),
		cmocka_unit_test(a_look_takes_what_is_wanted_and_no_more),
		cmocka_unit_test(errors_are_those_of_the_device),
		cmocka_unit_test(every_status_has_a_syndrome),
		cmocka_unit_test(a_stopped_queue_does_nothing),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
