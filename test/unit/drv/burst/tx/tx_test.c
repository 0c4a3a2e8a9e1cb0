/* SPDX-License-Identifier: BSD-3-Clause */
/* The send burst on hand-made rings: a small device gathers the frames back and completes WQEs. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../../rounds.h"
#include "base/dm_mbuf.h"
#include "mem/dm.h"
#include "queue/tx/txq.h"
#include "tx_rig.h"

#define SEED 20240608

static const unsigned int widths[] = { 0, 128, 256 };

static enum rte_proc_type_t process = RTE_PROC_PRIMARY;

enum rte_proc_type_t
rte_eal_process_type(void)
{
	return process;
}

/** The form that a packet must have on the wire. */
struct wanted {
	uint8_t bytes[TX_RIG_FRAME_MAX];
	uint32_t len;
	uint8_t cs_flags;
};

/** A random packet as the instance takes it. */
static struct rte_mbuf *
random_packet(unsigned int opts, struct wanted *want)
{
	const unsigned int nb_segs =
		(opts & MDV_TX_MULTI) && random() % 4 == 0 ? random() % 12 + 1 : 1;
	const bool tagged = (opts & MDV_TX_VLAN) && random() % 8 == 0;
	struct rte_mbuf *pkt = tx_rig_packet(nb_segs, 19 + random() % 100);

	pkt->vlan_tci = random();
	if (tagged)
		pkt->ol_flags |= RTE_MBUF_F_TX_VLAN;
	if (random() % 8 < 5)
		pkt->ol_flags |=
			RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM;
	want->len = tx_rig_expected(pkt, tagged, want->bytes);
	want->cs_flags =
		(opts & (MDV_TX_CSUM | MDV_TX_TSO)) && pkt->ol_flags & RTE_MBUF_F_TX_IP_CKSUM ? 0xc0
											      : 0;
	return pkt;
}

/** Send random packets; the device is slow now and then. */
static void
run(eth_tx_burst_t burst, unsigned int opts)
{
	static struct wanted want[40];
	static struct tx_sent sent;
	uint64_t nb_sent = 0;
	unsigned int round, i;

	for (round = 0; round < test_rounds(200); round++) {
		unsigned int nb = 1 + random() % RTE_DIM(want), done = 0;
		struct rte_mbuf *pkts[RTE_DIM(want)];

		for (i = 0; i < nb; i++)
			pkts[i] = random_packet(opts, &want[i]);
		while (done < nb) {
			uint16_t n = burst(&tx_rig.txq, pkts + done, nb - done);

			for (i = done; i < done + n; i++) {
				assert_true(tx_rig_send(&sent));
				tx_rig_check(&sent, want[i].bytes, want[i].len);
				assert_int_equal(sent.cs_flags, want[i].cs_flags);
				assert_int_equal(sent.inlined != 0, (opts & MDV_TX_INLINE_L2) != 0);
			}
			assert_false(tx_rig_send(&sent));
			if (n == 0 || random() % 2)
				tx_rig_complete();
			done += n;
		}
		nb_sent += nb;
	}
	assert_int_equal(tx_rig.txq.count.packets, nb_sent);
	assert_int_equal(tx_rig.txq.errors, 0);
}

/** Every instance but that of tx_swp_test.c; the ring wraps inside WQEs, the pool is whole
 * afterwards. */
static void
every_instance_sends_every_frame(void **state)
{
	unsigned int opts, w;

	(void)state;
	for (opts = 0; opts < MDV_TX_SWP; opts++) {
		for (w = 0; w < RTE_DIM(widths); w++) {
			srandom(SEED);
			tx_rig_start();
			run(mdv_tx_select(opts, widths[w]), opts);
			/* One in eight has a tag, one in four is chained: most are together. */
			if (opts & MDV_TX_INLINE_L2 || w == 0)
				assert_int_equal(tx_rig.nb_together, 0);
			else
				assert_true(tx_rig.nb_together > tx_rig.txq.count.packets / 4);
			tx_rig_stop();
		}
	}
}

static void
the_doorbell_names_the_last_wqe(void **state)
{
	struct rte_mbuf *pkts[3] = { NULL };
	unsigned int i;

	(void)state;
	tx_rig_start();
	for (i = 0; i < 3; i++)
		pkts[i] = tx_rig_packet(1, 60);
	assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts, 3), 3);
	assert_int_equal(rte_be_to_cpu_32(tx_rig.dbrec[1]), 3);
	assert_int_equal(tx_rig.dbrec[0], 0);
	assert_memory_equal(&tx_rig.uar_reg, tx_rig.wqes + 2 * MLX5_SEND_WQE_BB, 8);
	/* A burst of no packets rings no doorbell. */
	tx_rig.uar_reg = 0;
	assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts, 0), 0);
	assert_int_equal(tx_rig.uar_reg, 0);
	tx_rig_stop();
}

/** A WQE has no more data segments than its six bits can count. */
static void
bursts_around_the_longest_wqe_are_sent_whole(void **state)
{
	struct rte_mbuf *pkts[MDV_TX_DS_MAX + 8];
	struct tx_sent sent;
	unsigned int w, i;

	(void)state;
	for (w = 0; w < RTE_DIM(widths); w++) {
		for (unsigned int nb = MDV_TX_DS_MAX - 8; nb <= RTE_DIM(pkts); nb++) {
			uint16_t done = 0;

			tx_rig_start();
			for (i = 0; i < nb; i++)
				pkts[i] = tx_rig_packet(1, 60);
			while (done < nb) {
				const uint16_t n = mdv_tx_select(0, widths[w])(
					&tx_rig.txq, pkts + done, nb - done);

				assert_int_not_equal(n, 0);
				for (i = 0; i < n; i++)
					assert_true(tx_rig_send(&sent));
				tx_rig_complete();
				done += n;
			}
			tx_rig_stop();
		}
	}
}

static void
a_full_ring_takes_no_more_and_drains(void **state)
{
	static struct tx_sent sent;
	struct rte_mbuf *pkts[TX_RIG_BBS + 8];
	unsigned int i, k;

	(void)state;
	for (k = 0; k < 4; k++) {
		eth_tx_burst_t burst = mdv_tx_select(k & 1 ? MDV_TX_FAST_FREE : 0, k / 2 * 256);

		tx_rig_start();
		for (i = 0; i < TX_RIG_BBS + 8; i++)
			pkts[i] = tx_rig_packet(1, 60);
		assert_int_equal(burst(&tx_rig.txq, pkts, TX_RIG_BBS + 8), TX_RIG_BBS);
		assert_int_equal(burst(&tx_rig.txq, pkts + TX_RIG_BBS, 8), 0);
		assert_int_equal(mdv_tx_done_status(&tx_rig.txq, 0), RTE_ETH_TX_DESC_FULL);
		assert_int_equal(
			mdv_tx_done_status(&tx_rig.txq, TX_RIG_BBS - 1), RTE_ETH_TX_DESC_FULL);
		while (tx_rig_send(&sent))
			;
		tx_rig_complete();
		assert_int_equal(burst(&tx_rig.txq, pkts + TX_RIG_BBS, 8), 8);
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 8);
		/* Offset 0 is where the next packet goes. */
		for (i = 0; i < TX_RIG_BBS; i++)
			assert_int_equal(mdv_tx_done_status(&tx_rig.txq, (uint16_t)i),
				i < TX_RIG_BBS - 8 ? RTE_ETH_TX_DESC_DONE : RTE_ETH_TX_DESC_FULL);
		assert_int_equal(mdv_tx_done_status(&tx_rig.txq, TX_RIG_BBS), -EINVAL);
		tx_rig_stop();
	}
}

/** Bursts of one: one completion for each request_min WQEBBs frees everything before it. */
static void
completions_are_requested_in_time(void **state)
{
	static struct tx_sent sent;
	unsigned int i, nb_requests = 0;

	(void)state;
	tx_rig_start();
	for (i = 0; i < 3 * 65536 / 2; i++) {
		struct rte_mbuf *pkt = tx_rig_packet(1, 19);

		assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, &pkt, 1), 1);
		assert_true(tx_rig_send(&sent));
		nb_requests += tx_rig.nb_pending;
		tx_rig_complete();
		assert_true(rte_mempool_in_use_count(tx_rig.pool) <= 17);
	}
	assert_int_equal(nb_requests, i / 16);
	tx_rig_stop();
}

static void
what_cannot_be_sent_is_freed_and_counted(void **state)
{
	static struct tx_sent sent;
	eth_tx_burst_t burst;
	struct rte_mbuf *pkts[5], *long_chain;
	unsigned int inlining, i;

	(void)state;
	for (inlining = 0; inlining < 2; inlining++) {
		burst = mdv_tx_select(MDV_TX_MULTI | (inlining ? MDV_TX_INLINE_L2 : 0), 256);
		tx_rig_start();
		pkts[0] = tx_rig_packet(1, 0);
		pkts[1] = tx_rig_packet(1, 18);
		long_chain = tx_rig_packet(1, 20);
		for (i = 0; i < MDV_TX_SEGS_MAX + 1; i++)
			assert_int_equal(rte_pktmbuf_chain(long_chain, tx_rig_packet(1, 3)), 0);
		pkts[2] = long_chain;
		pkts[3] = tx_rig_packet(1, 60);
		pkts[4] = tx_rig_packet(1, 60);
		pkts[4]->data_len = TX_RIG_FRAME_MAX + 1;
		pkts[4]->pkt_len = TX_RIG_FRAME_MAX + 1;
		assert_int_equal(burst(&tx_rig.txq, pkts, 5), 5);
		assert_int_equal(tx_rig.txq.errors, 4);
		assert_int_equal(tx_rig.txq.count.packets, 1);
		assert_int_equal(tx_rig.txq.count.bytes, 60);
		assert_true(tx_rig_send(&sent));
		assert_int_equal(sent.len, 60);
		assert_false(tx_rig_send(&sent));
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 1);
		tx_rig_stop();
	}
}

static void
a_chain_of_the_longest_length_is_sent(void **state)
{
	static struct tx_sent sent;
	static uint8_t want[TX_RIG_FRAME_MAX];
	struct rte_mbuf *pkt;
	unsigned int i, len;

	(void)state;
	tx_rig_start();
	pkt = tx_rig_packet(1, 20);
	for (i = 1; i < MDV_TX_SEGS_MAX; i++)
		assert_int_equal(rte_pktmbuf_chain(pkt, tx_rig_packet(1, 5)), 0);
	len = tx_rig_expected(pkt, false, want);
	assert_int_equal(
		mdv_tx_select(MDV_TX_MULTI | MDV_TX_INLINE_L2, 0)(&tx_rig.txq, &pkt, 1), 1);
	assert_true(tx_rig_send(&sent));
	tx_rig_check(&sent, want, len);
	tx_rig_stop();
}

static void
put_nowhere(void *addr, void *opaque)
{
	(void)addr;
	(void)opaque;
}

/** Device memory, which is not mapped in a secondary process: single packets and chains. */
static void
what_is_not_mapped_is_not_inlined(void **state)
{
	uint8_t *hidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rte_mbuf_ext_shared_info shared = { .free_cb = put_nowhere,
		.fcb_opaque = mdv_dm_mbuf_opaque(&shared) };
	static struct tx_sent sent;
	unsigned int i;

	(void)state;
	assert_ptr_not_equal(hidden, MAP_FAILED);
	tx_rig_start();
	process = RTE_PROC_SECONDARY;
	for (i = 0; i < 2 * RTE_DIM(widths); i++) {
		struct rte_mbuf *pkt = rte_pktmbuf_alloc(tx_rig.pool);

		rte_mbuf_ext_refcnt_set(&shared, 1);
		rte_pktmbuf_attach_extbuf(pkt, hidden, RTE_BAD_IOVA, 4096, &shared);
		assert_non_null(rte_pktmbuf_append(pkt, 100));
		if (i & 1)
			assert_int_equal(rte_pktmbuf_chain(pkt, tx_rig_packet(1, 60)), 0);
		assert_int_equal(mdv_tx_select(MDV_TX_MULTI | MDV_TX_INLINE_L2, widths[i / 2])(
					 &tx_rig.txq, &pkt, 1),
			1);
		assert_int_equal(tx_rig.txq.errors, i + 1);
		assert_int_equal(rte_mbuf_ext_refcnt_read(&shared), 0);
		assert_false(tx_rig_send(&sent));
	}
	process = RTE_PROC_PRIMARY;
	tx_rig_stop();
	munmap(hidden, 4096);
}

static void
unknown_memory_is_refused(void **state)
{
	struct mdv_mr_table *table;
	struct rte_mbuf_ext_shared_info shinfo = { 0 };
	uint8_t *unknown = rig_alloc(4096);
	struct rte_mbuf *pkts[2];

	(void)state;
	tx_rig_start();
	table = mdv_mr_create(&tx_rig.port.port.device, 0);
	mdv_mr_cache_init(&tx_rig.txq.mr, table);
	pkts[0] = rte_pktmbuf_alloc(tx_rig.pool);
	rte_mbuf_ext_refcnt_set(&shinfo, 2);
	rte_pktmbuf_attach_extbuf(pkts[0], unknown, (uintptr_t)unknown, 4096, &shinfo);
	pkts[0]->data_len = pkts[0]->pkt_len = 64;
	pkts[1] = tx_rig_packet(1, 60);
	assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts, 2), 2);
	assert_int_equal(tx_rig.txq.errors, 1);
	assert_int_equal(tx_rig.txq.count.packets, 1);
	assert_int_equal(tx_rig.txq.pos.pc, 1);
	tx_rig_stop();
	mdv_mr_destroy(table);
	free(unknown);
}

static void
device_fail(uint8_t syndrome, uint16_t wqe_counter)
{
	((struct mlx5_err_cqe *)tx_rig_cqe(MLX5_CQE_REQ_ERR, wqe_counter))->syndrome = syndrome;
}

static void
a_stopped_queue_is_restarted(void **state)
{
	static struct tx_sent sent;
	struct rte_mbuf *pkts[24];
	unsigned int i;

	(void)state;
	tx_rig_start();
	for (i = 0; i < 24; i++)
		pkts[i] = tx_rig_packet(1, 60);
	/* The completion that comes with the first burst is good. */
	assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts, 16), 16);
	assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts + 16, 8), 8);
	/* The WQE in slot 20 fails; those behind it are flushed. */
	tx_rig_cqe(MLX5_CQE_REQ, 15);
	device_fail(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 20);
	device_fail(MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 23);
	pkts[0] = tx_rig_packet(1, 61);
	assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts, 1), 1);
	assert_int_equal(tx_rig.txq.errors, 4);
	assert_int_equal(tx_rig.txq.count.packets, 21);
	assert_int_equal(tx_rig.txq.count.bytes, 20 * 60 + 61);
	assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 1);
	assert_int_equal(rig_verbs.nb_qp_states, 4);
	assert_int_equal(rig_verbs.qp_states[0], IBV_QPS_RESET);
	assert_int_equal(rig_verbs.qp_states[1], IBV_QPS_INIT);
	assert_int_equal(rig_verbs.qp_states[2], IBV_QPS_RTR);
	assert_int_equal(rig_verbs.qp_states[3], IBV_QPS_RTS);
	assert_int_equal(rte_be_to_cpu_32(tx_rig.cq_dbrec[0]), 3);
	tx_rig.pc = 0;
	assert_true(tx_rig_send(&sent));
	assert_int_equal(sent.len, 61);
	tx_rig_stop();
}

/** The packets of WQEs before the failed one are sent, whatever their number in a WQE. */
static void
a_wqe_of_many_fails(void **state)
{
	static struct tx_sent sent;
	struct rte_mbuf *pkts[8];
	unsigned int i, k;

	(void)state;
	for (k = 1; k < RTE_DIM(widths); k++) {
		eth_tx_burst_t burst = mdv_tx_select(0, widths[k]);

		tx_rig_start();
		/* WQEs at 0, 3 and 6, each of 2 + 8 units. */
		for (i = 0; i < 3 * RTE_DIM(pkts); i++) {
			pkts[i % 8] = tx_rig_packet(1, 60);
			if (i % 8 == 7)
				assert_int_equal(burst(&tx_rig.txq, pkts, 8), 8);
		}
		assert_int_equal(tx_rig.txq.pos.pc, 9);
		device_fail(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 3);
		pkts[0] = tx_rig_packet(1, 61);
		assert_int_equal(burst(&tx_rig.txq, pkts, 1), 1);
		assert_int_equal(tx_rig.txq.errors, 16);
		assert_int_equal(tx_rig.txq.count.packets, 9);
		assert_int_equal(tx_rig.txq.count.bytes, 8 * 60 + 61);
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 1);
		tx_rig.pc = 0;
		tx_rig.ds = 0;
		assert_true(tx_rig_send(&sent));
		assert_int_equal(sent.len, 61);
		tx_rig_stop();
	}
}

static void
a_queue_that_cannot_be_reset_sends_no_more(void **state)
{
	struct rte_mbuf *pkts[24];
	unsigned int i;

	(void)state;
	tx_rig_start();
	for (i = 0; i < 24; i++)
		pkts[i] = tx_rig_packet(1, 60);
	assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts, 23), 23);
	rig_verbs.modify_result = EIO;
	device_fail(MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, 5);
	assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts + 23, 1), 0);
	assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts + 23, 1), 0);
	/* Mbufs that the device may still read stay until the queue is stopped. */
	assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 23 - 5 + 1);
	rte_pktmbuf_free(pkts[23]);
	tx_rig_stop();
}

/** Packets are freed without a burst, and not more than requested. */
static void
packets_that_are_done_are_freed_on_request(void **state)
{
	/* A completion comes with 32 packets, so with each burst. */
	static const struct {
		uint32_t ask;
		int freed;
	} steps[] = { { 1, 1 }, { 30, 30 }, { 2, 2 }, { 0, 23 }, { 0, 0 }, { 5, 0 } };
	static struct tx_sent sent;
	struct rte_mbuf *pkts[64];
	unsigned int i, k, left;

	(void)state;
	for (k = 0; k < RTE_DIM(widths); k++) {
		const eth_tx_burst_t burst = mdv_tx_select(0, widths[k]);

		tx_rig_start();
		for (i = 0; i < 60; i++)
			pkts[i] = tx_rig_packet(1, 60);
		assert_int_equal(mdv_tx_done_cleanup(&tx_rig.txq, 0), 0);
		assert_int_equal(burst(&tx_rig.txq, pkts, 32), 32);
		assert_int_equal(burst(&tx_rig.txq, pkts + 32, 24), 24);
		/* Fewer than are worth a completion. */
		assert_int_equal(burst(&tx_rig.txq, pkts + 56, 4), 4);
		assert_int_equal(mdv_tx_done_cleanup(&tx_rig.txq, 0), 0);
		while (tx_rig_send(&sent))
			;
		tx_rig_complete();
		left = 60;
		for (i = 0; i < RTE_DIM(steps); i++) {
			assert_int_equal(
				mdv_tx_done_cleanup(&tx_rig.txq, steps[i].ask), steps[i].freed);
			left -= steps[i].freed;
			assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), left);
		}
		assert_int_equal(left, 4);
		tx_rig_stop();
	}
}

/** A burst finds no room in a stopped queue, which has no packets. */
static void
a_stopped_queue_has_no_packets(void **state)
{
	struct mdv_txq unstarted = { .nb_desc = TX_RIG_BBS };

	(void)state;
	tx_rig_start();
	tx_rig.txq.ready = false;
	tx_rig.txq.nb_desc = TX_RIG_BBS;
	tx_rig.txq.pos.ci = tx_rig.txq.pos.pc - TX_RIG_BBS;
	assert_int_equal(mdv_tx_done_status(&tx_rig.txq, 0), RTE_ETH_TX_DESC_DONE);
	assert_int_equal(mdv_tx_done_status(&tx_rig.txq, TX_RIG_BBS - 1), RTE_ETH_TX_DESC_DONE);
	assert_int_equal(mdv_tx_done_status(&tx_rig.txq, TX_RIG_BBS), -EINVAL);
	tx_rig_stop();
	/* It has no ring. */
	assert_int_equal(mdv_tx_done_status(&unstarted, TX_RIG_BBS - 1), RTE_ETH_TX_DESC_DONE);
	assert_int_equal(mdv_tx_done_status(&unstarted, TX_RIG_BBS), -EINVAL);
	/* One that is not set up: ethdev of 22.11 does not look. */
	assert_int_equal(mdv_tx_done_cleanup(NULL, 0), -EINVAL);
	assert_int_equal(mdv_tx_done_status(NULL, 0), -ENODEV);
}

/** What has gathered is not freed by one burst. */
static void
a_burst_takes_two_completions(void **state)
{
	static struct tx_sent sent;
	struct rte_mbuf *pkts[16];
	unsigned int i, k;

	(void)state;
	for (k = 0; k < RTE_DIM(widths); k++) {
		const eth_tx_burst_t burst = mdv_tx_select(0, widths[k]);

		tx_rig_start();
		for (i = 0; i < 3 * 16; i++) {
			pkts[i % 16] = tx_rig_packet(1, 60);
			if (i % 16 == 15)
				assert_int_equal(burst(&tx_rig.txq, pkts, 16), 16);
		}
		while (tx_rig_send(&sent))
			;
		assert_int_equal(tx_rig.nb_pending, 3);
		tx_rig_complete();
		assert_int_equal(burst(&tx_rig.txq, pkts, 0), 0);
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 16);
		assert_int_equal(mdv_tx_done_status(&tx_rig.txq, 0), RTE_ETH_TX_DESC_DONE);
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 0);
		tx_rig_stop();
	}
}

/** A packet freed in part is neither freed twice nor kept, whether the rest is good or not. */
static void
a_burst_goes_on_where_freeing_stopped(void **state)
{
	static struct tx_sent sent;
	struct rte_mbuf *pkts[24];
	unsigned int i, fails;

	(void)state;
	for (fails = 0; fails < 2; fails++) {
		tx_rig_start();
		for (i = 0; i < 24; i++)
			pkts[i] = tx_rig_packet(1, 60);
		assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts, 20), 20);
		while (tx_rig_send(&sent))
			;
		tx_rig_complete();
		assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts + 20, 3), 3);
		if (fails)
			device_fail(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 21);
		assert_int_equal(mdv_tx_done_cleanup(&tx_rig.txq, 0), fails ? 3 : 0);
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), fails ? 1 : 4);
		assert_int_equal(tx_rig.txq.errors, fails ? 2 : 0);
		rte_pktmbuf_free(pkts[23]);
		tx_rig_stop();
	}
	tx_rig_start();
	for (i = 0; i < 24; i++)
		pkts[i] = tx_rig_packet(1, 60);
	assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts, 20), 20);
	while (tx_rig_send(&sent))
		;
	tx_rig_complete();
	assert_int_equal(mdv_tx_done_cleanup(&tx_rig.txq, 7), 7);
	device_fail(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 22);
	tx_rig.txq.pos.pc += 3;
	for (i = 20; i < 23; i++) {
		memcpy(tx_rig.wqes + i * MLX5_SEND_WQE_BB, tx_rig.wqes, MLX5_SEND_WQE_BB);
		tx_rig.txq.ring.mbufs[tx_rig.txq.pos.head++] = pkts[i];
	}
	tx_rig.txq.count.packets += 3;
	assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts + 23, 1), 1);
	assert_int_equal(tx_rig.txq.errors, 1);
	assert_int_equal(tx_rig.txq.count.packets, 23);
	assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 1);
	tx_rig_stop();
}

/* clang-format off */
#define IP  RTE_MBUF_F_TX_IP_CKSUM
#define UDP RTE_MBUF_F_TX_UDP_CKSUM
#define TCP RTE_MBUF_F_TX_TCP_CKSUM
#define OIP RTE_MBUF_F_TX_OUTER_IP_CKSUM
#define TUN RTE_MBUF_F_TX_TUNNEL_VXLAN
static const struct {
	uint64_t flags;
	uint8_t cs_flags;
} csums[] = {
	{ 0, 0 },
	{ RTE_MBUF_F_TX_IPV4, 0 },
	{ IP, 0x40 },
	{ TCP, 0x80 },
	{ UDP, 0x80 },
	{ RTE_MBUF_F_TX_SCTP_CKSUM, 0 },
	{ IP | TCP, 0xc0 },
	{ IP | UDP | RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_IPV4, 0xc0 },
	{ TUN | OIP, 0x40 },
	{ TUN | OIP | IP | UDP, 0x70 },
	{ TUN | IP | TCP, 0x30 },
	{ RTE_MBUF_F_TX_TUNNEL_GRE | TCP, 0x20 },
};
/* clang-format on */

/** By the bits of the Ethernet segment: 0x40 and 0x80 are of the outer, 0x10 and 0x20 of the inner
 * headers. Without a tunnel the flag of outer headers means nothing. */
static void
checksum_flags(void **state)
{
	static const uint64_t l4[] = { 0, TCP, RTE_MBUF_F_TX_SCTP_CKSUM, UDP };
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(csums); i++)
		assert_int_equal(
			mdv_tx_csums[mdv_tx_csum_index(csums[i].flags)], csums[i].cs_flags);
	for (i = 0; i < 32; i++) {
		const bool has_l4 = i % 2 != 0, ip = i & 4, outer = i & 8, tunnel = i & 16;
		const uint64_t flags =
			l4[i % 4] | (ip ? IP : 0) | (outer ? OIP : 0) | (tunnel ? TUN : 0);

		assert_int_equal(mdv_tx_csums[mdv_tx_csum_index(flags)],
			tunnel ? (outer ? 0x40 : 0) | (ip ? 0x10 : 0) | (has_l4 ? 0x20 : 0)
			       : (ip ? 0x40 : 0) | (has_l4 ? 0x80 : 0));
	}
}

static void
instances_are_told_apart(void **state)
{
	struct rte_eth_burst_mode mode = { 0 };

	(void)state;
	assert_false(mdv_tx_select_describe(rte_eth_pkt_burst_dummy, &mode));
	assert_true(
		mdv_tx_select_describe(mdv_tx_select(MDV_TX_MULTI | MDV_TX_FAST_FREE, 0), &mode));
	assert_string_equal(mode.info, "Scalar, multi-segment, fast free");
	/* A device that needs inlined headers does not take many packets a WQE. */
	assert_true(mdv_tx_select_describe(mdv_tx_select(MDV_TX_INLINE_L2, 512), &mode));
	assert_string_equal(mode.info, "Scalar, inline L2");
#ifdef RTE_ARCH_X86
	assert_true(mdv_tx_select_describe(mdv_tx_select(MDV_TX_CSUM, 128), &mode));
	assert_string_equal(mode.info, "Vector SSE, csum");
#endif
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instance_sends_every_frame),
		cmocka_unit_test(the_doorbell_names_the_last_wqe),
		cmocka_unit_test(bursts_around_the_longest_wqe_are_sent_whole),
		cmocka_unit_test(a_full_ring_takes_no_more_and_drains),
		cmocka_unit_test(completions_are_requested_in_time),
		cmocka_unit_test(what_cannot_be_sent_is_freed_and_counted),
		cmocka_unit_test(a_chain_of_the_longest_length_is_sent),
		cmocka_unit_test(what_is_not_mapped_is_not_inlined),
		cmocka_unit_test(unknown_memory_is_refused),
		cmocka_unit_test(a_stopped_queue_is_restarted),
		cmocka_unit_test(a_wqe_of_many_fails),
		cmocka_unit_test(a_queue_that_cannot_be_reset_sends_no_more),
		cmocka_unit_test(packets_that_are_done_are_freed_on_request),
		cmocka_unit_test(a_stopped_queue_has_no_packets),
		cmocka_unit_test(a_burst_takes_two_completions),
		cmocka_unit_test(a_burst_goes_on_where_freeing_stopped),
		cmocka_unit_test(checksum_flags),
		cmocka_unit_test(instances_are_told_apart),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
