/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random lives of a send queue, each repeated with every instance of the burst: packets of all
 * kinds, mbufs of two pools and shared ones, a device that is slow, or stops the queue, bursts of
 * all sizes, counters about to wrap. In any form of WQEs, the frames are those that the packets
 * describe, and each mbuf comes back once.
 */
#include <stdlib.h>
#include <string.h>

#include "burst/tx/tx_copy.h"
#include "burst/tx/tx_swp.h"
#include "tx_rig.h"

#define NB_STEPS  300
#define BURST_MAX 80
#define TSO_MAX   4000
#define OTHERS    511
#define KEPT_MAX  40
/** Of the instances that inline: packets have 60 to 160 bytes. */
#define INLINE_MAX 92

static const unsigned int widths[] = { 0, 128, 256, 512 };
static const uint16_t sizes[] = { 1, 1, 1, 2, 4, 7, 8, 32, 64, BURST_MAX };

/** The form that a packet must have on the wire. */
struct wanted {
	uint8_t bytes[512];
	uint32_t len;
	uint8_t cs_flags;
	uint16_t mss;
	uint16_t frames; /**< that are counted */
};

static struct {
	unsigned int opts;
	eth_tx_burst_t burst;
	struct rte_mempool *others;
	struct rte_mbuf *shared;         /**< mbufs that others are attached to */
	struct rte_mbuf *kept[KEPT_MAX]; /**< packets with a second reference */
	unsigned int nb_kept;
	struct wanted posted[TX_RIG_BBS + BURST_MAX]; /**< that the device has not sent */
	unsigned int nb_posted;
	uint64_t packets, errors;
} now;

static const struct mdv_caps caps = { .max_tso_bytes = TSO_MAX, .tx_checksum = true };

static void
kept_free(void)
{
	rte_pktmbuf_free_bulk(now.kept, now.nb_kept);
	now.nb_kept = 0;
}

/** An mbuf of another pool, and one that may not go back there as it is. */
static struct rte_mbuf *
odd_packet(void)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(now.others);

	assert_non_null(mbuf);
	if (random() % 2) {
		rte_pktmbuf_attach(mbuf, now.shared);
		return mbuf;
	}
	memset(rte_pktmbuf_append(mbuf, 70), random(), 70);
	if (random() % 2) {
		if (now.nb_kept == KEPT_MAX)
			kept_free();
		rte_mbuf_refcnt_update(mbuf, 1);
		now.kept[now.nb_kept++] = mbuf;
	}
	return mbuf;
}

static void
make_tcp(struct rte_mbuf *mbuf, struct wanted *want)
{
	mbuf->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	mbuf->l2_len = 14;
	mbuf->l3_len = 20;
	mbuf->l4_len = 20;
	mbuf->tso_segsz = 40 + random() % 60;
	want->cs_flags = 0xc0;
	if (mbuf->pkt_len - 54 <= mbuf->tso_segsz)
		return;
	want->mss = mbuf->tso_segsz;
	want->frames = (mbuf->pkt_len - 54 + want->mss - 1) / want->mss;
}

/** @return a packet that the instance takes; one in 64 is too short to be sent, and @p want then
 * has no frames */
static struct rte_mbuf *
random_packet(struct wanted *want)
{
	const bool odd = !(now.opts & MDV_TX_FAST_FREE) && random() % 8 == 0;
	const bool chain = (now.opts & MDV_TX_MULTI) && random() % 4 == 0;
	const bool tagged = (now.opts & MDV_TX_VLAN) && random() % 16 < 10;
	const bool tso = (now.opts & MDV_TX_TSO) && random() % 4 == 0;
	const bool is_short = random() % 64 == 0;
	struct rte_mbuf *pkt = odd && !tso ? odd_packet()
		: chain                    ? tx_rig_packet(1 + random() % 5, tso ? 100 : 14)
					   : tx_rig_packet(1, is_short ? 10 : 60 + random() % 100);

	*want = (struct wanted){ .frames = pkt->pkt_len >= MDV_TX_FRAME_MIN };
	pkt->vlan_tci = random();
	if (tagged)
		pkt->ol_flags |= RTE_MBUF_F_TX_VLAN;
	if (want->frames != 0)
		want->len = tx_rig_expected(pkt, tagged, want->bytes);
	if (tso && pkt->pkt_len >= 54)
		make_tcp(pkt, want);
	else if (random() % 8 < 5)
		pkt->ol_flags |=
			RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM;
	if (now.opts & (MDV_TX_CSUM | MDV_TX_TSO) && pkt->ol_flags & RTE_MBUF_F_TX_IP_CKSUM)
		want->cs_flags = 0xc0;
	return pkt;
}

static void
application_sends(uint16_t nb)
{
	struct wanted want[BURST_MAX];
	struct rte_mbuf *pkts[BURST_MAX];
	uint16_t i, n;

	for (i = 0; i < nb; i++)
		pkts[i] = random_packet(&want[i]);
	n = now.burst(&tx_rig.txq, pkts, nb);
	assert_true(n <= nb);
	for (i = 0; i < n; i++) {
		now.packets += want[i].frames;
		now.errors += want[i].frames == 0;
		if (want[i].frames != 0)
			now.posted[now.nb_posted++] = want[i];
	}
	rte_pktmbuf_free_bulk(pkts + n, nb - n);
	assert_int_equal(tx_rig.txq.count.packets, now.packets);
	assert_int_equal(tx_rig.txq.errors, now.errors);
}

/** The device sends @p nb packets, and ends the WQE that it is in if @p whole. */
static void
device_sends(unsigned int nb, bool whole)
{
	static struct tx_sent sent;
	unsigned int i;

	for (i = 0; (i < nb || (whole && tx_rig.ds != 0)) && tx_rig_send(&sent); i++) {
		const struct wanted *want = &now.posted[i];

		assert_true(i < now.nb_posted);
		tx_rig_check(&sent, want->bytes, want->len);
		assert_int_equal(sent.cs_flags, want->cs_flags);
		assert_int_equal(sent.mss, want->mss);
	}
	now.nb_posted -= i;
	memmove(now.posted, &now.posted[i], now.nb_posted * sizeof(now.posted[0]));
}

/** The WQE at hand fails; what is behind it is lost as well. */
static void
device_stops_the_queue(void)
{
	unsigned int i;

	device_sends(random() % 8, true);
	tx_rig_complete();
	if (now.nb_posted == 0)
		return;
	((struct mlx5_err_cqe *)tx_rig_cqe(MLX5_CQE_REQ_ERR, tx_rig.pc))->syndrome =
		MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
	for (i = 0; i < now.nb_posted; i++) {
		now.packets -= now.posted[i].frames;
		now.errors++;
	}
	now.nb_posted = 0;
	/* Those before it are taken first, by as many bursts as it takes. */
	for (i = 0; i < TX_RIG_CQES / MDV_TX_REAP_MAX; i++)
		assert_int_equal(now.burst(&tx_rig.txq, NULL, 0), 0);
	application_sends(0);
	rig_verbs.nb_qp_states = 0;
	/* As libmlx5 does with a QP that is reset. */
	tx_rig.dbrec[1] = 0;
	tx_rig.pc = 0;
	assert_int_equal(tx_rig.txq.pos.pc, 0);
}

static void
start_at(uint16_t start)
{
	struct mdv_txq *txq = &tx_rig.txq;

	txq->pos.head = start;
	mdv_txq_ring_clear(txq);
	txq->pos.pc = start;
	txq->pos.ci = start;
	txq->ring.dones[(txq->pos.cq_pi - 1) & (TX_RIG_CQES - 1)].pc = start;
	tx_rig.pc = start;
	tx_rig.dbrec[1] = rte_cpu_to_be_32(start);
}

static void
live(unsigned int opts, unsigned int simd_bits)
{
	unsigned int step;

	memset(&now, 0, sizeof(now));
	now.opts = opts;
	now.burst = mdv_tx_select(opts, simd_bits);
	tx_rig_start();
	if (opts & MDV_TX_INLINE) {
		tx_rig.txq.ring.inline_max = INLINE_MAX;
		tx_rig.txq.ring.inline_log2_bbs = mdv_tx_inline_log2_bbs(INLINE_MAX);
	}
	now.others = rig_pool("others", OTHERS, 512);
	now.shared = rte_pktmbuf_alloc(now.others);
	memset(rte_pktmbuf_append(now.shared, 90), 0x5a, 90);
	tx_rig.txq.limits = mdv_tx_limits_of(&caps,
		(opts & MDV_TX_TSO ? RTE_ETH_TX_OFFLOAD_TCP_TSO : 0) |
			(opts & MDV_TX_MULTI ? RTE_ETH_TX_OFFLOAD_MULTI_SEGS : 0) |
			(opts & MDV_TX_VLAN ? RTE_ETH_TX_OFFLOAD_VLAN_INSERT : 0));
	start_at(opts % 2 ? UINT16_MAX + 1u - 2 * TX_RIG_BBS : 0);
	for (step = 0; step < NB_STEPS; step++) {
		const unsigned int what = random() % 64;

		if (what < 32)
			application_sends(sizes[random() % RTE_DIM(sizes)]);
		else if (what < 50)
			device_sends(random() % BURST_MAX, false);
		else if (what < 62)
			tx_rig_complete();
		else
			device_stops_the_queue();
	}
	device_sends(UINT_MAX, true);
	assert_int_equal(now.nb_posted, 0);
	tx_rig_complete();
	assert_true(now.packets > (opts & MDV_TX_INLINE ? 300 : 500) && now.errors > 0);
	tx_rig_stop();
	kept_free();
	rte_pktmbuf_free(now.shared);
	assert_int_equal(rte_mempool_avail_count(now.others), OTHERS);
	rte_mempool_free(now.others);
}

/** @return whether mdv_tx_select() takes this set, and not one with more options. */
static bool
is_itself(unsigned int opts)
{
	const unsigned int all = opts & ~MDV_TX_FAST_FREE;

	if (opts & MDV_TX_INLINE)
		return all == MDV_TX_INLINE_OPTS || all == (MDV_TX_INLINE_OPTS | MDV_TX_SWP) ||
			all == (MDV_TX_INLINE_OPTS | MDV_TX_INLINE_L2);
	return !(opts & MDV_TX_SWP) || all == MDV_TX_SWP_OPTS;
}

static void
every_instance_sends_the_same(void **state)
{
	unsigned int opts, w;

	(void)state;
	for (opts = 0; opts < MDV_TX_NB_OPTS; opts++) {
		if (!is_itself(opts))
			continue;
		for (w = 0; w < RTE_DIM(widths); w++) {
			srandom(opts + 20241122);
			live(opts, widths[w]);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instance_sends_the_same),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
