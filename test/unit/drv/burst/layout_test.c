/* SPDX-License-Identifier: BSD-3-Clause */
/* The cache line of each field of a queue, and proof that bursts keep to it: lines that they only
 * read are never written, and two queues share no line. */
#include <string.h>

#include "rx_rig.h"
#include "tx_rig.h"

#define LINE 64u

/** The whole of the field is in that line. */
#define FIELD(type, field, line)                                                                   \
	static_assert(offsetof(struct type, field) / LINE == (line), #field);                      \
	static_assert(                                                                             \
		(offsetof(struct type, field) + sizeof(((struct type *)0)->field) - 1) / LINE ==   \
			(line),                                                                    \
		#field)

/* Read by every receive burst. */
FIELD(mdv_rxq, ring.cqes, 0);
FIELD(mdv_rxq, ring.mbufs, 0);
FIELD(mdv_rxq, ring.wqes, 0);
FIELD(mdv_rxq, ring.cq_dbrec, 0);
FIELD(mdv_rxq, ring.wq_dbrec, 0);
FIELD(mdv_rxq, pool, 0);
FIELD(mdv_rxq, rearm, 0);
FIELD(mdv_rxq, ring.mask, 0);
FIELD(mdv_rxq, ring.log2_wqes, 0);
FIELD(mdv_rxq, ring.log2_segs, 0);
FIELD(mdv_rxq, ring.refill_min, 0);
FIELD(mdv_rxq, ring.runtime_opts, 0);
/* Written by those that receive. */
FIELD(mdv_rxq, pos.cq_ci, 1);
FIELD(mdv_rxq, pos.wqe_ci, 1);
FIELD(mdv_rxq, pos.wqe_pi, 1);
FIELD(mdv_rxq, lkey_be, 1);
FIELD(mdv_rxq, count, 1);
FIELD(mdv_rxq, buf_offset, 1);
FIELD(mdv_rxq, headroom, 1);
FIELD(mdv_rxq, room, 1);
FIELD(mdv_rxq, nb_ready, 1);
FIELD(mdv_rxq, ready_bytes, 1);
/* Of timestamps, scattered packets, pools of several regions. */
FIELD(mdv_rxq, timestamp_flag, 2);
FIELD(mdv_rxq, timestamp_at, 2);
FIELD(mdv_rxq, nb_empty, 2);
FIELD(mdv_rxq, mr.last, 2);
/* Of striding queues. */
static_assert(
	offsetof(struct mdv_rxq, strides) % LINE == 0 && sizeof(struct mdv_rxq_strides) <= LINE,
	"strides");
#define STRIDES_LINE (offsetof(struct mdv_rxq, strides) / LINE)

/* Read by every send burst. */
FIELD(mdv_txq, ring.wqes, 0);
FIELD(mdv_txq, ring.mbufs, 0);
FIELD(mdv_txq, ring.dones, 0);
FIELD(mdv_txq, ring.dbrec, 0);
FIELD(mdv_txq, ring.cqes, 0);
FIELD(mdv_txq, ring.cq_dbrec, 0);
FIELD(mdv_txq, ring.qpn_ds, 0);
FIELD(mdv_txq, ring.mask, 0);
FIELD(mdv_txq, ring.log2_cqes, 0);
FIELD(mdv_txq, ring.chains, 0);
/* Bits have no offset. */
static_assert(sizeof(struct mdv_txq_ring) <= LINE, "the doorbell's slot");
/* Written by those that send. */
FIELD(mdv_txq, pos.pc, 1);
FIELD(mdv_txq, pos.ci, 1);
FIELD(mdv_txq, pos.head, 1);
FIELD(mdv_txq, pos.tail, 1);
FIELD(mdv_txq, pos.cq_pi, 1);
FIELD(mdv_txq, pos.due, 1);
FIELD(mdv_txq, pos.cq_ci, 1);
FIELD(mdv_txq, count, 1);
FIELD(mdv_txq, mr.last, 1);
FIELD(mdv_txq, mr.table_generation, 1);

/* Queues come from rte_zmalloc() on a line's start, so none begins in the last line of another. */
static_assert(_Alignof(struct mdv_rxq) == LINE && sizeof(struct mdv_rxq) % LINE == 0, "own lines");
static_assert(_Alignof(struct mdv_txq) == LINE && sizeof(struct mdv_txq) % LINE == 0, "own lines");

/** @return one bit for each line in which @p now differs from @p before */
static uint64_t
lines_changed(const void *before, const void *now, size_t size)
{
	uint64_t changed = 0;

	assert_true(size / LINE <= 64);
	for (unsigned int i = 0; i < size / LINE; i++) {
		if (memcmp((const uint8_t *)before + i * LINE, (const uint8_t *)now + i * LINE,
			    LINE))
			changed |= UINT64_C(1) << i;
	}
	return changed;
}

static void
receiving_writes_its_line_only(void **state)
{
	static const struct {
		unsigned int opts;
		uint8_t log2_segs;
		uint64_t lines;
	} cases[] = {
		{ 0, 0, 1 << 1 },
		{ MDV_RX_SCATTER - 1, 0, 1 << 1 },
		{ MDV_RX_SCATTER, 2, 1 << 1 | 1 << 2 },
		{ MDV_RX_STRIDE, 0, 1 << 1 | UINT64_C(1) << STRIDES_LINE },
	};
	static const unsigned int widths[] = { 0, 128, 256 };
	const struct rx_frame frame = { .len = 100 };
	struct rte_mbuf *pkts[RX_RIG_WQES];
	unsigned int k, i, round;

	(void)state;
	for (k = 0; k < RTE_DIM(cases) * RTE_DIM(widths); k++) {
		const unsigned int row = k / RTE_DIM(widths);
		eth_rx_burst_t burst = mdv_rx_select(cases[row].opts, widths[k % RTE_DIM(widths)]);
		struct mdv_rxq before;

		if (cases[row].opts & MDV_RX_STRIDE)
			rx_rig_start_strides(512);
		else
			rx_rig_start(cases[row].log2_segs, 512);
		assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
		before = rx_rig.rxq;
		/* Refills and laps are among them. */
		for (round = 0; round < 10; round++) {
			for (i = 0; i < 30; i++)
				assert_true(rx_rig_receive(&frame));
			assert_int_equal(burst(&rx_rig.rxq, pkts, 32), 30);
			rte_pktmbuf_free_bulk(pkts, 30);
		}
		assert_int_equal(
			lines_changed(&before, &rx_rig.rxq, sizeof(before)) & ~cases[row].lines, 0);
		assert_int_equal(burst(&rx_rig.rxq, pkts, 32), 0);
		/* Nothing received, nothing written. */
		before = rx_rig.rxq;
		assert_int_equal(burst(&rx_rig.rxq, pkts, 32), 0);
		assert_int_equal(lines_changed(&before, &rx_rig.rxq, sizeof(before)), 0);
		rx_rig_stop();
	}
}

static void
sending_writes_its_line_only(void **state)
{
	static const unsigned int widths[] = { 0, 128, 256 };
	static struct tx_sent sent;
	struct rte_mbuf *pkts[8];
	unsigned int k, i, round;

	(void)state;
	for (k = 0; k < RTE_DIM(widths); k++) {
		eth_tx_burst_t burst = mdv_tx_select(MDV_TX_MULTI, widths[k]);
		struct mdv_txq before;

		tx_rig_start();
		for (round = 0; round < 40; round++) {
			/* Line 0 notes the first chain. */
			if (round == 2)
				before = tx_rig.txq;
			for (i = 0; i < RTE_DIM(pkts); i++)
				pkts[i] = tx_rig_packet(1 + round % 3, 60);
			assert_int_equal(burst(&tx_rig.txq, pkts, RTE_DIM(pkts)), RTE_DIM(pkts));
			while (tx_rig_send(&sent))
				;
			tx_rig_complete();
		}
		assert_int_equal(
			lines_changed(&before, &tx_rig.txq, sizeof(before)) & ~(UINT64_C(1) << 1),
			0);
		tx_rig_stop();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(receiving_writes_its_line_only),
		cmocka_unit_test(sending_writes_its_line_only),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
