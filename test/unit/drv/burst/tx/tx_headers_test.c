/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers beyond L2 in send WQEs, as functions of a ConnectX-4 Lx demand them (PRM,
 * wqe_inline_mode). */
#include <stdlib.h>

#include "../../../rounds.h"
#include "tx_rig.h"

#define SEED 20261124

static const uint8_t mins[] = { MDV_HW_ETH_INLINE_NETWORK, MDV_HW_ETH_INLINE_TRANSPORT };

struct wanted {
	uint8_t bytes[TX_RIG_FRAME_MAX];
	uint32_t len;
};

/** Half of the packets end about where the headers do; chains have segments that end within. */
static struct rte_mbuf *
random_packet(unsigned int opts, struct wanted *want)
{
	const unsigned int nb_segs = (opts & MDV_TX_MULTI) && random() % 2 ? 1 + random() % 8 : 1;
	const bool tagged = (opts & MDV_TX_VLAN) && random() % 2;
	struct rte_mbuf *pkt =
		tx_rig_packet(nb_segs, random() % 2 ? 19 + random() % 70 : 100 + random() % 300);

	pkt->vlan_tci = random();
	if (tagged)
		pkt->ol_flags |= RTE_MBUF_F_TX_VLAN;
	want->len = tx_rig_expected(pkt, tagged, want->bytes);
	return pkt;
}

/** The device gets one packet as it is, @p min bytes of it or all in the Ethernet segment. */
static void
device_gets(const struct wanted *want, uint32_t min)
{
	static struct tx_sent sent;

	assert_true(tx_rig_send(&sent));
	tx_rig_check(&sent, want->bytes, want->len);
	assert_int_equal(sent.inlined, RTE_MIN(min, want->len));
	assert_false(sent.inserted);
}

static void
run(eth_tx_burst_t burst, unsigned int opts, uint32_t min)
{
	static struct wanted want[20];
	struct rte_mbuf *pkts[RTE_DIM(want)];
	uint64_t nb_sent = 0;
	unsigned int round, i;

	for (round = 0; round < test_rounds(100); round++) {
		const unsigned int nb = 1 + random() % RTE_DIM(want);
		unsigned int done = 0;

		for (i = 0; i < nb; i++)
			pkts[i] = random_packet(opts, &want[i]);
		while (done < nb) {
			const uint16_t n = burst(&tx_rig.txq, pkts + done, nb - done);

			for (i = done; i < done + n; i++)
				device_gets(&want[i], min);
			if (n == 0 || random() % 2)
				tx_rig_complete();
			done += n;
		}
		nb_sent += nb;
	}
	assert_int_equal(tx_rig.txq.count.packets, nb_sent);
	assert_int_equal(tx_rig.txq.errors, 0);
}

/** Every instance, around the ring's end many times; each mbuf is back in its pool afterwards. */
static void
all_demanded_headers_are_inlined(void **state)
{
	unsigned int opts, i;

	(void)state;
	for (opts = 0; opts < MDV_TX_SWP; opts++) {
		if (!(opts & MDV_TX_INLINE_L2))
			continue;
		for (i = 0; i < RTE_DIM(mins); i++) {
			srandom(SEED);
			tx_rig_start();
			tx_rig.txq.ring.min_inline = mins[i];
			run(mdv_tx_select(opts, 0), opts, mins[i]);
			tx_rig_stop();
		}
	}
}

/** A WQE of inlined headers has up to seven units, and a full ring takes no more of them. */
static void
a_full_ring_takes_no_more(void **state)
{
	static struct tx_sent sent;
	struct rte_mbuf *pkts[TX_RIG_BBS];
	/* Control, two bytes, then 76 in five units, and a data segment: two WQEBBs. */
	const unsigned int fit = TX_RIG_BBS / 2;
	unsigned int i;

	(void)state;
	tx_rig_start();
	tx_rig.txq.ring.min_inline = MDV_HW_ETH_INLINE_TRANSPORT;
	for (i = 0; i < TX_RIG_BBS; i++)
		pkts[i] = tx_rig_packet(1, 200);
	assert_int_equal(mdv_tx_select(MDV_TX_INLINE_L2, 0)(&tx_rig.txq, pkts, TX_RIG_BBS), fit);
	assert_int_equal(mdv_tx_select(MDV_TX_INLINE_L2, 0)(&tx_rig.txq, pkts + fit, fit), 0);
	while (tx_rig_send(&sent))
		assert_int_equal(sent.len, 200);
	tx_rig_complete();
	assert_int_equal(mdv_tx_select(MDV_TX_INLINE_L2, 0)(&tx_rig.txq, pkts + fit, fit), fit);
	while (tx_rig_send(&sent))
		assert_int_equal(sent.len, 200);
	tx_rig_complete();
	tx_rig_stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_demanded_headers_are_inlined),
		cmocka_unit_test(a_full_ring_takes_no_more),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
