/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that are copied into WQEs: of all lengths, at all places of the ring, with tags, beside
 * long ones, and at the end of memory. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burst/tx/tx_copy.h"
#include "tx_rig.h"

#define INLINE_MAX 130
#define ASK_CSUM   (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM)

static const unsigned int widths[] = { 0, 128, 256 };

static void
start(uint16_t inline_max)
{
	tx_rig_start();
	tx_rig.txq.ring.inline_max = inline_max;
	tx_rig.txq.ring.inline_log2_bbs = mdv_tx_inline_log2_bbs(inline_max);
}

/** Send them all in one burst, in this order, @p want_inlined[i] bytes of each in the WQEs. */
static void
check_burst(eth_tx_burst_t burst, struct rte_mbuf **pkts, uint16_t nb, const uint32_t *want_inlined,
	bool tags)
{
	static uint8_t want[64][TX_RIG_FRAME_MAX];
	static struct tx_sent sent;
	uint64_t bytes = tx_rig.txq.count.bytes, packets = tx_rig.txq.count.packets + nb;
	uint32_t len[64];
	bool csum[64];
	uint16_t i;

	for (i = 0; i < nb; i++) {
		/* A tag that is inserted does not count, whoever inserts it. */
		bytes += pkts[i]->pkt_len;
		len[i] = tx_rig_expected(
			pkts[i], tags && (pkts[i]->ol_flags & RTE_MBUF_F_TX_VLAN), want[i]);
		csum[i] = (pkts[i]->ol_flags & RTE_MBUF_F_TX_IP_CKSUM) != 0;
	}
	assert_int_equal(burst(&tx_rig.txq, pkts, nb), nb);
	assert_int_equal(tx_rig.txq.count.bytes, bytes);
	assert_int_equal(tx_rig.txq.count.packets, packets);
	for (i = 0; i < nb; i++) {
		assert_true(tx_rig_send(&sent));
		tx_rig_check(&sent, want[i], len[i]);
		assert_int_equal(sent.inlined, want_inlined[i]);
		assert_int_equal(sent.cs_flags, csum[i] ? 0xc0 : 0);
	}
	assert_false(tx_rig_send(&sent));
	tx_rig_complete();
}

/** A run of packets. */
struct kind {
	unsigned int opts;
	bool tagged;
};

/** Each length around the limit, with buffers at each place of a cache line, and the WQEs at many
 * places of the ring, its end among them. */
static void
all_lengths_at_all_places(void **state)
{
	const struct kind *kind = *state;
	const unsigned int opts = MDV_TX_INLINE_OPTS | kind->opts;
	const uint32_t tag = kind->tagged ? RTE_VLAN_HLEN : 0;

	for (unsigned int w = 0; w < RTE_DIM(widths); w++) {
		start(INLINE_MAX);
		for (uint32_t len = MDV_TX_FRAME_MIN; len <= INLINE_MAX + 1; len++) {
			struct rte_mbuf *pkts[16];
			uint32_t inlined[16];

			for (unsigned int i = 0; i < RTE_DIM(pkts); i++) {
				pkts[i] = tx_rig_packet(1, len + 4 * i);
				rte_pktmbuf_adj(pkts[i], 4 * i);
				pkts[i]->ol_flags |= kind->tagged ? RTE_MBUF_F_TX_VLAN : 0;
				pkts[i]->vlan_tci = random();
				inlined[i] = len + tag <= INLINE_MAX ? len + tag : 0;
			}
			/* Memory is no more than the packet's, should it be read beyond. */
			check_burst(mdv_tx_select(opts, widths[w]), pkts, RTE_DIM(pkts), inlined,
				kind->tagged);
		}
		tx_rig_stop();
	}
}

/** The last byte of a packet is the last of a page, and behind it there is none. */
static void
no_byte_behind_a_packet_is_read(void **state)
{
	const long page = sysconf(_SC_PAGESIZE);
	uint8_t *memory = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory + page, page, PROT_READ | PROT_WRITE), 0);
	for (unsigned int w = 0; w < RTE_DIM(widths); w++) {
		start(INLINE_MAX);
		for (uint32_t len = MDV_TX_FRAME_MIN; len <= INLINE_MAX; len++) {
			for (unsigned int i = 0; i < 4; i++) {
				const bool last = i & 1, tagged = i & 2 && len + 4 <= INLINE_MAX;
				struct rte_mbuf *mbuf = tx_rig_packet(1, len);
				void *const buf = mbuf->buf_addr;
				uint8_t *at = last ? memory + 2 * page - len : memory + page;
				const uint16_t off = mbuf->data_off;
				static struct tx_sent sent;
				uint8_t want[INLINE_MAX];
				uint32_t wire;

				memcpy(at, rte_pktmbuf_mtod(mbuf, void *), len);
				mbuf->buf_addr = at;
				mbuf->data_off = 0;
				mbuf->ol_flags |= tagged ? RTE_MBUF_F_TX_VLAN : 0;
				wire = tx_rig_expected(mbuf, tagged, want);
				assert_int_equal(mdv_tx_select(MDV_TX_INLINE_OPTS, widths[w])(
							 &tx_rig.txq, &mbuf, 1),
					1);
				mbuf->buf_addr = buf;
				mbuf->data_off = off;
				assert_true(tx_rig_send(&sent));
				tx_rig_check(&sent, want, wire);
				assert_int_equal(sent.inlined, wire);
				tx_rig_complete();
			}
		}
		tx_rig_stop();
	}
	munmap(memory, 3 * page);
}

/** The bytes themselves, at the ring's beginning. */
static void
bytes_of_a_wqe(void **state)
{
	struct rte_mbuf *pkts[3] = { NULL };
	uint8_t frames[3][200];

	(void)state;
	start(INLINE_MAX);
	pkts[0] = tx_rig_packet(1, 60);
	pkts[1] = tx_rig_packet(1, 190);
	pkts[2] = tx_rig_packet(1, 61);
	for (unsigned int i = 0; i < 3; i++)
		memcpy(frames[i], rte_pktmbuf_mtod(pkts[i], void *), pkts[i]->pkt_len);
	assert_int_equal(mdv_tx_select(MDV_TX_INLINE_OPTS, 128)(&tx_rig.txq, pkts, 3), 3);
	/* Enhanced multi-packet send, WQE 0, 2 + 4 + 1 + 5 units. */
	assert_memory_equal(tx_rig.wqes, "\0\0\0\x29\x12\x34\x56\x0c", 8);
	assert_memory_equal(tx_rig.wqes + 32, "\x80\0\0\x3c", 4);
	assert_memory_equal(tx_rig.wqes + 36, frames[0], 60);
	assert_memory_equal(tx_rig.wqes + 96, "\0\0\0\xbe", 4);
	assert_memory_equal(tx_rig.wqes + 112, "\x80\0\0\x3d", 4);
	assert_memory_equal(tx_rig.wqes + 116, frames[2], 61);
	assert_int_equal(tx_rig.txq.pos.pc, 3);
	tx_rig.pc = 3;
	tx_rig_cqe(MLX5_CQE_REQ, 0);
	tx_rig_stop();
}

/* clang-format off */
static const struct {
	uint16_t len;
	uint64_t flags;
	uint16_t inlined; /* bytes of it in WQEs, with its tag */
} mixed[] = {
	{ 60, 0, 60 }, { 200, 0, 0 }, { 200, 0, 0 }, { 60, RTE_MBUF_F_TX_VLAN, 64 },
	{ 200, 0, 0 }, { 200, 0, 0 }, { 200, 0, 0 }, { 200, 0, 0 }, { 200, 0, 0 }, { 64, 0, 64 },
	{ 60, ASK_CSUM, 60 }, { 126, RTE_MBUF_F_TX_VLAN, 130 }, { 127, RTE_MBUF_F_TX_VLAN, 0 },
	{ 19, RTE_MBUF_F_TX_VLAN, 23 }, { 70, ASK_CSUM | RTE_MBUF_F_TX_VLAN, 74 },
	{ 300, ASK_CSUM, 0 }, { 300, ASK_CSUM | RTE_MBUF_F_TX_VLAN, 0 }, { 130, 0, 130 },
	{ 131, 0, 0 }, { 300, ASK_CSUM, 0 }, { 19, ASK_CSUM, 19 },
};
/* clang-format on */

/** Long and short packets, tags and checksums beside each other: 131 places of the ring, as the
 * packets take an odd number of WQEBBs. */
static void
packets_of_all_kinds(void **state)
{
	(void)state;
	for (unsigned int w = 0; w < RTE_DIM(widths); w++) {
		start(INLINE_MAX);
		for (unsigned int round = 0; round < 4 * RTE_DIM(mixed); round++) {
			struct rte_mbuf *pkts[8];
			uint32_t inlined[8];

			for (unsigned int i = 0; i < RTE_DIM(pkts); i++) {
				const unsigned int row = (round * 3 + i) % RTE_DIM(mixed);

				pkts[i] = tx_rig_packet(1, mixed[row].len);
				pkts[i]->ol_flags |= mixed[row].flags;
				pkts[i]->vlan_tci = random();
				inlined[i] = mixed[row].inlined;
			}
			check_burst(mdv_tx_select(MDV_TX_INLINE_OPTS, widths[w]), pkts,
				RTE_DIM(pkts), inlined, true);
		}
		tx_rig_stop();
	}
}

/** Runs of 1 to 8 packets, of one kind each, in bursts that end anywhere in them. */
static void
runs_with_tags_and_without(void **state)
{
	(void)state;
	for (unsigned int w = 0; w < RTE_DIM(widths); w++) {
		unsigned int left = 0, row = 0;

		start(INLINE_MAX);
		/* Each burst finds the whole ring free. */
		tx_rig_request_min(1);
		for (unsigned int round = 0; round < 500; round++) {
			const uint16_t nb = 1 + random() % 16;
			struct rte_mbuf *pkts[16];
			uint32_t inlined[16];

			for (unsigned int i = 0; i < nb; i++) {
				if (left-- == 0) {
					left = random() % 8;
					row = random() % RTE_DIM(mixed);
				}
				pkts[i] = tx_rig_packet(1, mixed[row].len);
				pkts[i]->ol_flags |= mixed[row].flags;
				pkts[i]->vlan_tci = random();
				inlined[i] = mixed[row].inlined;
			}
			check_burst(mdv_tx_select(
					    MDV_TX_INLINE_OPTS | (round & 1 ? MDV_TX_FAST_FREE : 0),
					    widths[w]),
				pkts, nb, inlined, true);
		}
		tx_rig_stop();
	}
}

/** Limits that leave no frame to be inlined, no frame with a tag, or only the shortest. */
static void
limits_around_the_shortest_frame(void **state)
{
	(void)state;
	for (unsigned int w = 0; w < RTE_DIM(widths); w++)
		for (uint32_t max = MDV_TX_FRAME_MIN - 2; max <= MDV_TX_FRAME_MIN + 6; max++) {
			start(max);
			for (uint32_t len = MDV_TX_FRAME_MIN; len <= max + 1; len++) {
				struct rte_mbuf *pkts[12];
				uint32_t inlined[12];

				for (unsigned int i = 0; i < RTE_DIM(pkts); i++) {
					const bool tagged = i / 3 & 1;
					const uint32_t wire = len + (tagged ? RTE_VLAN_HLEN : 0);

					pkts[i] = tx_rig_packet(1, len);
					pkts[i]->ol_flags |= tagged ? RTE_MBUF_F_TX_VLAN : 0;
					inlined[i] = wire <= max ? wire : 0;
				}
				check_burst(mdv_tx_select(MDV_TX_INLINE_OPTS, widths[w]), pkts,
					RTE_DIM(pkts), inlined, true);
			}
			tx_rig_stop();
		}
}

/* clang-format off */
/** 16 packets at the ring's beginning: of one length, or of another from one on. A WQE has 60 units
 * at most (MDV_TX_DS_MAX), of which two are its head: 58 in 15 WQEBBs. */
static const struct {
	uint16_t len[2];
	uint16_t nb[2];
	bool tagged[2];
	uint16_t want_pc; /* WQEBBs that they take */
} shares[] = {
	/* 14 * 4 units, 2 * 4 */
	{ { 60, 60 }, { 8, 8 }, { false, false }, 15 + 3 },
	/* 11 * 5 units, 5 * 5 */
	{ { 60, 60 }, { 8, 8 }, { true, true }, 15 + 7 },
	/* 4 * 4 + 8 * 5 units, 4 * 5 */
	{ { 60, 60 }, { 4, 12 }, { false, true }, 15 + 6 },
	/* 4 * 5 + 9 * 4 units, 3 * 4 */
	{ { 60, 60 }, { 4, 12 }, { true, false }, 15 + 4 },
	/* 11 * 5 units, 5 and 4 pointers */
	{ { 60, 200 }, { 12, 4 }, { true, false }, 15 + 3 },
	/* 11 * 5 units and 3, 4 * 3 */
	{ { 60, 40 }, { 11, 5 }, { true, false }, 15 + 4 },
	/* 14 * 4 units and 2 pointers */
	{ { 60, 200 }, { 14, 2 }, { false, false }, 15 },
	/* 14 * 4 units, 2 * 4 */
	{ { 56, 60 }, { 15, 1 }, { true, false }, 15 + 3 },
};
/* clang-format on */

static void
packets_share_as_few_wqes_as_fit(void **state)
{
	(void)state;
	for (unsigned int w = 1; w < RTE_DIM(widths); w++)
		for (unsigned int i = 0; i < RTE_DIM(shares); i++) {
			struct rte_mbuf *pkts[16];
			uint32_t inlined[16];

			start(INLINE_MAX);
			for (unsigned int k = 0; k < RTE_DIM(pkts); k++) {
				const unsigned int part = k >= shares[i].nb[0];
				const bool tagged = shares[i].tagged[part];
				const uint32_t len = shares[i].len[part];

				pkts[k] = tx_rig_packet(1, len);
				pkts[k]->ol_flags |= tagged ? RTE_MBUF_F_TX_VLAN : 0;
				inlined[k] = len > INLINE_MAX ? 0 : len + (tagged ? 4 : 0);
			}
			check_burst(mdv_tx_select(MDV_TX_INLINE_OPTS, widths[w]), pkts,
				RTE_DIM(pkts), inlined, true);
			assert_int_equal(tx_rig.txq.pos.pc, shares[i].want_pc);
			tx_rig_stop();
		}
}

/** Memory outside of mbufs may be readable by the device alone; chains go as they are; indirect
 * mbufs are memory as any. */
static void
what_is_not_inlined(void **state)
{
	static struct rte_mbuf_ext_shared_info shared;
	static uint8_t outside[64];

	(void)state;
	for (unsigned int w = 0; w < RTE_DIM(widths); w++) {
		const uint32_t inlined[] = { 60, 0, 0, 60 };
		struct rte_mbuf *pkts[4], *direct;

		start(INLINE_MAX);
		pkts[0] = tx_rig_packet(1, 60);
		pkts[1] = rte_pktmbuf_alloc(tx_rig.pool);
		rte_mbuf_ext_refcnt_set(&shared, 2);
		rte_pktmbuf_attach_extbuf(pkts[1], outside, 0, sizeof(outside), &shared);
		rte_pktmbuf_append(pkts[1], 60);
		pkts[2] = tx_rig_packet(3, 0);
		direct = tx_rig_packet(1, 60);
		pkts[3] = rte_pktmbuf_alloc(tx_rig.pool);
		rte_pktmbuf_attach(pkts[3], direct);
		rte_pktmbuf_free(direct);
		check_burst(mdv_tx_select(MDV_TX_INLINE_OPTS, widths[w]), pkts, 4, inlined, false);
		tx_rig_stop();
	}
}

/** As many packets as descriptors, each inlined and alone in its WQE; one more has no room, and
 * takes a freed one's. */
static void
a_queue_takes_as_many_packets_as_descriptors(void **state)
{
	static const uint16_t lens[] = { 28, 60, 92, 130, 220, 476 };

	(void)state;
	for (unsigned int w = 0; w < RTE_DIM(widths); w++)
		for (unsigned int i = 0; i < RTE_DIM(lens); i++) {
			const eth_tx_burst_t burst = mdv_tx_select(MDV_TX_INLINE_OPTS, widths[w]);
			static struct tx_sent sent;
			unsigned int nb, n;

			start(lens[i]);
			nb = TX_RIG_BBS >> tx_rig.txq.ring.inline_log2_bbs;
			for (n = 0; n < nb; n++) {
				struct rte_mbuf *pkt = tx_rig_packet(1, lens[i]);

				assert_int_equal(burst(&tx_rig.txq, &pkt, 1), 1);
			}
			for (unsigned int k = 0; k < 2; k++) {
				struct rte_mbuf *pkt = tx_rig_packet(1, k == 0 ? lens[i] : 500);

				assert_int_equal(burst(&tx_rig.txq, &pkt, 1), 0);
				rte_pktmbuf_free(pkt);
			}
			assert_int_equal(
				mdv_tx_done_status(&tx_rig.txq, nb - 1), RTE_ETH_TX_DESC_FULL);
			while (tx_rig_send(&sent))
				assert_int_equal(sent.inlined, lens[i]);
			tx_rig_complete();
			assert_true(mdv_tx_done_cleanup(&tx_rig.txq, 0) > 0);
			tx_rig_stop();
		}
}

/** A burst of more packets than descriptors are left for takes as many as these, though they would
 * share a WQE. */
static void
a_burst_takes_as_many_packets_as_descriptors(void **state)
{
	(void)state;
	for (unsigned int w = 0; w < RTE_DIM(widths); w++) {
		const eth_tx_burst_t burst = mdv_tx_select(MDV_TX_INLINE_OPTS, widths[w]);
		static struct tx_sent sent;
		struct rte_mbuf *pkts[4];
		unsigned int nb, n;

		start(INLINE_MAX);
		nb = TX_RIG_BBS >> tx_rig.txq.ring.inline_log2_bbs;
		for (n = 0; n < nb - 2; n++) {
			struct rte_mbuf *pkt = tx_rig_packet(1, 60);

			assert_int_equal(burst(&tx_rig.txq, &pkt, 1), 1);
		}
		for (n = 0; n < RTE_DIM(pkts); n++)
			pkts[n] = tx_rig_packet(1, 60);
		assert_int_equal(burst(&tx_rig.txq, pkts, RTE_DIM(pkts)), 2);
		rte_pktmbuf_free_bulk(pkts + 2, 2);
		while (tx_rig_send(&sent))
			assert_int_equal(sent.inlined, 60);
		tx_rig_complete();
		tx_rig_stop();
	}
}

/** A WQE with one pointer is as good as a plain send, which each device takes. */
static void
one_pointer_is_a_send(void **state)
{
	(void)state;
	for (unsigned int w = 1; w < RTE_DIM(widths); w++)
		for (uint16_t nb = 1; nb < 3; nb++) {
			static struct tx_sent sent;
			struct rte_mbuf *pkts[2];

			start(INLINE_MAX);
			for (unsigned int i = 0; i < nb; i++)
				pkts[i] = tx_rig_packet(1, 200);
			assert_int_equal(
				mdv_tx_select(MDV_TX_INLINE_OPTS, widths[w])(&tx_rig.txq, pkts, nb),
				nb);
			assert_int_equal(tx_rig.wqes[3],
				nb == 1 ? MLX5_OPCODE_SEND : MDV_HW_OPCODE_ENHANCED_MPSW);
			assert_int_equal(tx_rig.wqes[7], 2 + nb);
			while (tx_rig_send(&sent))
				assert_int_equal(sent.inlined, 0);
			tx_rig_complete();
			tx_rig_stop();
		}
}

/** Behind the WQE that failed all are lost; those before it are not. */
static void
packets_are_counted_by_wqes(void **state)
{
	(void)state;
	for (unsigned int w = 0; w < RTE_DIM(widths); w++) {
		const eth_tx_burst_t burst = mdv_tx_select(MDV_TX_INLINE_OPTS, widths[w]);
		struct rte_mbuf *pkts[5];
		unsigned int i;

		start(INLINE_MAX);
		for (i = 0; i < RTE_DIM(pkts); i++)
			pkts[i] = tx_rig_packet(1, i == 1 ? 200 : 60 + i);
		assert_int_equal(burst(&tx_rig.txq, pkts, 3), 3);
		assert_int_equal(burst(&tx_rig.txq, pkts + 3, 2), 2);
		/* The second burst's first WQE fails; with vectors it is the queue's second. */
		((struct mlx5_err_cqe *)tx_rig_cqe(MLX5_CQE_REQ_ERR, widths[w] != 0 ? 3 : 5))
			->syndrome = MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
		assert_int_equal(burst(&tx_rig.txq, pkts, 0), 0);
		assert_int_equal(tx_rig.txq.count.packets, 3);
		assert_int_equal(tx_rig.txq.count.bytes, 60 + 200 + 62);
		assert_int_equal(tx_rig.txq.errors, 2);
		tx_rig_stop();
	}
}

int
main(void)
{
	static struct kind kinds[] = { { 0, false }, { MDV_TX_FAST_FREE, false }, { 0, true },
		{ MDV_TX_FAST_FREE, true } };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(all_lengths_at_all_places, &kinds[0]),
		cmocka_unit_test_prestate(all_lengths_at_all_places, &kinds[1]),
		cmocka_unit_test_prestate(all_lengths_at_all_places, &kinds[2]),
		cmocka_unit_test_prestate(all_lengths_at_all_places, &kinds[3]),
		cmocka_unit_test(no_byte_behind_a_packet_is_read),
		cmocka_unit_test(bytes_of_a_wqe),
		cmocka_unit_test(packets_of_all_kinds),
		cmocka_unit_test(runs_with_tags_and_without),
		cmocka_unit_test(limits_around_the_shortest_frame),
		cmocka_unit_test(packets_share_as_few_wqes_as_fit),
		cmocka_unit_test(what_is_not_inlined),
		cmocka_unit_test(a_queue_takes_as_many_packets_as_descriptors),
		cmocka_unit_test(a_burst_takes_as_many_packets_as_descriptors),
		cmocka_unit_test(one_pointer_is_a_send),
		cmocka_unit_test(packets_are_counted_by_wqes),
	};

	srandom(20261126);
	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
