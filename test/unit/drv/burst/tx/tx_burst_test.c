/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts of packets that are alike but for one at most, of all lengths, from any place of the rings
 * and with any number of packets in them. */
#include <stdlib.h>
#include <string.h>

#include "tx_rig.h"

#define NB_MAX 80
/** Some of those that a packet has from its reception. */
#define RX_FLAGS                                                                                   \
	(RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_RSS_HASH |               \
		RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD)

static const unsigned int widths[] = { 0, 128, 256, 512 };
static const unsigned int some_opts[] = {
	0,
	MDV_TX_MULTI,
	MDV_TX_VLAN,
	MDV_TX_VLAN | MDV_TX_CSUM | MDV_TX_FAST_FREE,
	MDV_TX_VLAN | MDV_TX_CSUM | MDV_TX_MULTI,
	MDV_TX_VLAN | MDV_TX_CSUM | MDV_TX_MULTI | MDV_TX_TSO,
};
static const uint16_t lengths[] = { 0, 1, 3, 4, 5, 8, 31, 32, 33, 58, 59, 63, 64, 65, NB_MAX };

/** What the packet that is unlike the others is. */
enum odd {
	ODD_NONE,
	ODD_TAG, /**< it has a tag as only one, or none */
	ODD_CSUM,
	ODD_CHAIN,
	ODD_SHORT, /**< it cannot be sent */
	ODD_NB,
};

struct wanted {
	uint8_t bytes[512];
	uint32_t len, tag;
	uint8_t cs_flags;
	bool bad;
};

/** Empty the rings, and go on at these numbers with @p used packets in flight, in @p bbs WQEBBs. */
static void
place(uint16_t pc, uint16_t head, uint16_t used, uint16_t bbs)
{
	struct mdv_txq *txq = &tx_rig.txq;

	mdv_txq_ring_release(txq, txq->pos.head);
	txq->pos.head = head;
	mdv_txq_ring_clear(txq);
	txq->pos.tail = head - used;
	txq->pos.pc = pc;
	txq->pos.ci = pc - bbs;
	txq->ring.dones[(txq->pos.cq_pi - 1) & (TX_RIG_CQES - 1)] =
		(struct mdv_tx_done){ .pc = pc, .head = head };
	for (uint16_t i = 0; i < used; i++)
		txq->ring.mbufs[(uint16_t)(txq->pos.tail + i) % TX_RIG_BBS] = tx_rig_packet(1, 60);
	txq->count = (struct mdv_tx_counters){ 0 };
	txq->errors = 0;
	tx_rig.pc = pc;
	tx_rig.dbrec[1] = rte_cpu_to_be_32(pc);
	tx_rig.nb_together = 0;
	tx_rig.nb_pending = 0;
}

static struct rte_mbuf *
packet(unsigned int opts, bool tagged, enum odd odd, struct wanted *want)
{
	const unsigned int nb_segs = odd == ODD_CHAIN ? 2 + random() % 3 : 1;
	struct rte_mbuf *pkt = tx_rig_packet(nb_segs, odd == ODD_SHORT ? 18 : 60);

	tagged = tagged != (odd == ODD_TAG);
	/* Received packets have their port's number, others an invalid one. */
	pkt->port = random() % 2 ? 0 : RTE_MBUF_PORT_INVALID;
	pkt->vlan_tci = random();
	pkt->ol_flags |= tagged ? RTE_MBUF_F_TX_VLAN : 0;
	pkt->ol_flags |= odd == ODD_CSUM ? RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM : 0;
	tagged = tagged && (opts & MDV_TX_VLAN);
	want->len = tx_rig_expected(pkt, tagged, want->bytes);
	want->tag = tagged ? RTE_VLAN_HLEN : 0;
	want->cs_flags = odd == ODD_CSUM && (opts & MDV_TX_CSUM) ? 0x40 : 0;
	want->bad = odd == ODD_SHORT;
	return pkt;
}

/** The device sends the packets, and the queue has counted them. */
static void
check_sent(const struct wanted *want, uint16_t nb)
{
	static struct tx_sent sent;
	struct mdv_tx_counters count = { 0 };
	unsigned int errors = 0;

	for (uint16_t i = 0; i < nb; i++) {
		if (want[i].bad) {
			errors++;
			continue;
		}
		count.packets++;
		count.bytes += want[i].len - want[i].tag;
		assert_true(tx_rig_send(&sent));
		tx_rig_check(&sent, want[i].bytes, want[i].len);
		assert_int_equal(sent.cs_flags, want[i].cs_flags);
	}
	assert_false(tx_rig_send(&sent));
	assert_memory_equal(&tx_rig.txq.count, &count, sizeof(count));
	assert_int_equal(tx_rig.txq.errors, errors);
}

/** @return how many WQEBBs @p used packets in flight have: with headers inlined more than one each,
 * several packets a WQE fewer. */
static uint16_t
bbs_of(unsigned int opts, uint16_t used)
{
	if (random() % 3 == 0)
		return used;
	return opts & MDV_TX_TSO ? RTE_MIN(2 * used, TX_RIG_BBS) : (used + 3) / 4;
}

/** Packets go as far as there is room, whatever the odd one is, and nothing behind them is read. */
static void
check_burst(unsigned int width, unsigned int opts, uint16_t nb, bool tagged, enum odd odd)
{
	static struct wanted want[NB_MAX];
	const uint16_t at = nb == 0 ? 0 : random() % nb, used = random() % (TX_RIG_BBS + 1);
	const uint16_t bbs = bbs_of(opts, used), room = TX_RIG_BBS - RTE_MAX(used, bbs);
	struct rte_mbuf *pkts[NB_MAX + 1] = { NULL };
	const struct mdv_txq_pos *pos = &tx_rig.txq.pos;
	uint16_t i, n;

	if (odd == ODD_CHAIN && !(opts & MDV_TX_MULTI))
		odd = ODD_NONE;
	place(UINT16_MAX - random() % 128, random(), used, bbs);
	for (i = 0; i < nb; i++)
		pkts[i] = packet(opts, tagged, i == at ? odd : ODD_NONE, &want[i]);
	n = mdv_tx_select(opts, width)(&tx_rig.txq, pkts, nb);
	assert_true(n <= nb && (uint16_t)(pos->pc - pos->ci) <= TX_RIG_BBS &&
		(uint16_t)(pos->head - pos->tail) <= TX_RIG_BBS);
	if (odd == ODD_CHAIN || odd == ODD_SHORT)
		assert_true(n == nb || nb + 3 > room);
	else
		assert_true(n >= RTE_MIN(nb, room));
	check_sent(want, n);
	if (tagged && odd == ODD_NONE && (opts & MDV_TX_VLAN)) {
		assert_int_equal(n, RTE_MIN(nb, room));
		assert_int_equal(tx_rig.nb_together, 0);
	}
	rte_pktmbuf_free_bulk(pkts + n, nb - n);
}

static void
bursts_go_as_far_as_there_is_room(void **state)
{
	unsigned int w, o, l, odd, tagged, i;

	(void)state;
	srandom(20261128);
	tx_rig_start();
	for (w = 0; w < RTE_DIM(widths); w++)
		for (o = 0; o < RTE_DIM(some_opts); o++)
			for (l = 0; l < RTE_DIM(lengths); l++)
				for (odd = 0; odd < ODD_NB; odd++)
					for (tagged = 0; tagged < 2; tagged++)
						for (i = 0; i < 4; i++)
							check_burst(widths[w], some_opts[o],
								lengths[l], tagged, odd);
	place(0, 0, 0, 0);
	tx_rig_stop();
}

/** A burst is one WQE if it fits, else WQEs of 32 packets, and each is one of 4 to a WQEBB with the
 * two units of its head. Neither crosses the end of a ring. */
static void
bursts_are_as_few_wqes_as_are_fast(void **state)
{
	static const struct {
		uint16_t pc, head, nb, bbs;
	} cases[] = {
		{ 0, 0, 1, 1 },
		{ 0, 0, 2, 1 },
		{ 0, 0, 3, 2 },
		{ 0, 0, 32, 9 },
		{ 0, 0, 57, 15 },
		{ 0, 0, 58, 15 },
		{ 0, 0, 59, 9 + 8 },
		{ 0, 0, 64, 9 + 9 },
		/* Of 24 packets, and those behind the end of the mbufs. */
		{ 0, 40, 32, 7 + 3 },
		{ 0, 6, 64, 15 + 2 },
		{ 0, 5, 64, 9 + 8 + 2 },
		/* Two WQEBBs to the end: 6 packets. */
		{ 62, 0, 32, 2 + 7 },
		{ 49, 0, 58, 15 },
		{ 50, 0, 58, 14 + 2 },
	};
	struct rte_mbuf *pkts[TX_RIG_BBS];
	static struct tx_sent sent;
	unsigned int i, k, w;

	(void)state;
	tx_rig_start();
	for (w = 1; w < RTE_DIM(widths); w++) {
		for (i = 0; i < RTE_DIM(cases); i++) {
			place(cases[i].pc, cases[i].head, 0, 0);
			for (k = 0; k < cases[i].nb; k++) {
				pkts[k] = tx_rig_packet(1, 60);
				/* Those that were received keep their flags. */
				pkts[k]->ol_flags |= random() & RX_FLAGS;
			}
			assert_int_equal(
				mdv_tx_select(0, widths[w])(&tx_rig.txq, pkts, cases[i].nb),
				cases[i].nb);
			assert_int_equal(tx_rig.txq.pos.pc, (uint16_t)(cases[i].pc + cases[i].bbs));
			while (tx_rig_send(&sent))
				;
		}
	}
	place(0, 0, 0, 0);
	tx_rig_stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_go_as_far_as_there_is_room),
		cmocka_unit_test(bursts_are_as_few_wqes_as_are_fast),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
