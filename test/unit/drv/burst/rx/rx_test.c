/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive burst on hand-made rings: a device of thirty lines writes packets and CQEs. */
#include <stdlib.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "../../../rounds.h"
#include "burst/rx/rx.h"
#include "queue/rx/rxq.h"
#include "rx_rig.h"

#define SEED 20240607

/** The fields of a packet that an application can see. */
struct seen {
	uint32_t pkt_len, ptype, rss, mark;
	uint16_t nb_segs, tci;
	uint64_t flags, timestamp;
};

static struct rx_frame last;

/** A frame like the last one, which a device would compress as often as not. */
static struct rx_frame
random_frame(uint32_t max_len, bool alike)
{
	static const uint32_t tags[] = { 0, 0, 1, 0xfffffe, 0xffffff };
	struct rx_frame frame = {
		.len = 60 + random() % (max_len - 59),
		.fill = random(),
		.pkt_info = random() & 3,
		.hds = random() & 7,
		.hdr_type = random(),
		.hash_type = random() % 2 ? 0x80 : 0,
		.tci = random(),
		.hash = random(),
		.tag = tags[random() % RTE_DIM(tags)],
		.timestamp = (uint64_t)random() << 33 ^ random(),
	};
	if (alike && random() % 8 != 0) {
		last.len = frame.len;
		last.fill = frame.fill;
		last.hash = frame.hash;
		return last;
	}
	last = frame;
	return frame;
}

static const unsigned int widths[] = { 0, 128, 256, 512 };
/** The queues', of timestamps. */
static uint32_t gap;

static uint64_t
timestamp_of(const struct rte_mbuf *mbuf)
{
	return *RTE_MBUF_DYNFIELD(mbuf, rx_rig.rxq.timestamp_at, const rte_mbuf_timestamp_t *);
}

/** Run @p nb frames of the seed through an instance; @p seen gets the delivered packets. */
static void
run(unsigned int opts, unsigned int simd_bits, uint32_t max_len, bool alike, unsigned int nb,
	struct seen *seen)
{
	eth_rx_burst_t burst = mdv_rx_select(opts, simd_bits);
	struct rx_frame frames[RX_RIG_WQES];
	struct rte_mbuf *pkts[RX_RIG_WQES];
	unsigned int done = 0;

	rx_rig.rxq.timestamp_gap = gap;
	srandom(SEED);
	last = (struct rx_frame){ 0 };
	while (done < nb) {
		unsigned int i, nb_frames = RTE_MIN(1 + random() % 40, nb - done), got = 0;

		for (i = 0; i < nb_frames; i++) {
			frames[i] = random_frame(max_len, alike);
			assert_true(rx_rig_receive(&frames[i]));
		}
		rx_rig_flush();
		while (got < nb_frames) {
			uint16_t want = 1 + random() % 40;
			uint16_t n =
				burst(&rx_rig.rxq, &pkts[got], RTE_MIN(want, RX_RIG_WQES - got));

			assert_int_equal(n, RTE_MIN(want, nb_frames - got));
			got += n;
		}
		assert_int_equal(burst(&rx_rig.rxq, pkts + got, 1), 0);
		for (i = 0; i < nb_frames; i++, done++) {
			rx_rig_check(pkts[i], &frames[i]);
			seen[done] = (struct seen){
				.pkt_len = pkts[i]->pkt_len,
				.ptype = pkts[i]->packet_type,
				.rss = pkts[i]->hash.rss,
				.mark = pkts[i]->hash.fdir.hi,
				.nb_segs = pkts[i]->nb_segs,
				.tci = pkts[i]->vlan_tci,
				.flags = pkts[i]->ol_flags,
				.timestamp = timestamp_of(pkts[i]),
			};
			rte_pktmbuf_free(pkts[i]);
		}
	}
	assert_int_equal(rx_rig.rxq.count.packets, nb);
	assert_int_equal(rx_rig.rxq.count.errors, 0);
	assert_int_equal(rx_rig.rxq.count.nombuf, 0);
}

/** @return the flags that an instance without the option leaves out. */
static uint64_t
flags_of(unsigned int opts, uint8_t runtime_opts)
{
	uint64_t flags = 0;

	if (opts & MDV_RX_CSUM)
		flags |= RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK;
	if (runtime_opts & MDV_RX_RUNTIME_VLAN)
		flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	if (opts & MDV_RX_HASH)
		flags |= RTE_MBUF_F_RX_RSS_HASH;
	if ((opts & MDV_RX_MARK) && (runtime_opts & MDV_RX_RUNTIME_MARK))
		flags |= RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;
	if (opts & MDV_RX_TIMESTAMP)
		flags |= rx_rig.rxq.timestamp_flag;
	return flags;
}

static void
assert_agrees(
	const struct seen *seen, const struct seen *want, unsigned int opts, uint8_t runtime_opts)
{
	assert_int_equal(seen->pkt_len, want->pkt_len);
	assert_int_equal(seen->ptype, want->ptype);
	/* No application uses timestamps with blocks; then only packets outside of blocks have
	 * one. */
	if ((runtime_opts & MDV_RX_RUNTIME_MINI) && !(seen->flags & rx_rig.rxq.timestamp_flag))
		opts &= ~MDV_RX_TIMESTAMP;
	assert_int_equal(seen->flags, want->flags & flags_of(opts, runtime_opts));
	if (seen->flags & RTE_MBUF_F_RX_VLAN)
		assert_int_equal(seen->tci, want->tci);
	if (seen->flags & RTE_MBUF_F_RX_RSS_HASH)
		assert_int_equal(seen->rss, want->rss);
	if (seen->flags & RTE_MBUF_F_RX_FDIR_ID)
		assert_int_equal(seen->mark, want->mark);
	if (seen->flags & rx_rig.rxq.timestamp_flag)
		assert_int_equal(seen->timestamp, want->timestamp);
}

/** Every instance delivers of @p nb frames the same as the scalar one of uncompressed frames. */
static void
check_instances(uint8_t log2_segs, unsigned int pool, bool alike, uint32_t block_max)
{
	const unsigned int nb = test_rounds(1000), all = MDV_RX_STRIDE - 1,
			   max_len = log2_segs ? 1400 : 256;
	const unsigned int first = log2_segs != 0 ? MDV_RX_SCATTER : 0;
	struct seen *want = calloc(nb, sizeof(*want)), *seen = calloc(nb, sizeof(*seen));
	unsigned int set, w, i;

	rx_rig_start(log2_segs, pool);
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
	run(all, 0, max_len, alike, nb, want);
	rx_rig_stop();
	for (set = 4 * first; set < 4 * (all + 1); set++) {
		const unsigned int opts = set / 4;

		for (w = 0; w < RTE_DIM(widths); w++) {
			rx_rig_start(log2_segs, pool);
			rx_rig.block.max = block_max;
			rx_rig.block.random = true;
			rx_rig.rxq.ring.runtime_opts =
				set % 4 | (block_max != 0 ? MDV_RX_RUNTIME_MINI : 0);
			assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
			run(opts, widths[w], max_len, alike, nb, seen);
			assert_int_equal(rx_rig.nb_blocks != 0, block_max != 0);
			rx_rig_stop();
			for (i = 0; i < nb; i++)
				assert_agrees(
					&seen[i], &want[i], opts, rx_rig.rxq.ring.runtime_opts);
		}
	}
	free(want);
	free(seen);
}

/**
 * The ring wraps many times; every instance delivers the same as the scalar one with all options.
 */
static void
every_instance_agrees_with_the_generic_one(void **state)
{
	(void)state;
	check_instances(0, 256, false, 0);
	check_instances(2, 600, false, 0);
	gap = MDV_HW_REAL_TIME_GAP;
	check_instances(0, 256, false, 0);
	gap = 0;
}

/** The same from blocks of all sizes, which wrap at any place of the ring. */
static void
blocks_are_what_their_packets_would_be(void **state)
{
	(void)state;
	check_instances(0, 256, true, 64);
	check_instances(0, 256, true, 5);
	check_instances(2, 600, true, 64);
}

/** Packets with as many segments as a slot has; one by one, in fours and in blocks. */
static void
long_frames_are_chained(void **state)
{
	const unsigned int nb = 500;
	struct seen *seen = calloc(nb, sizeof(*seen));
	unsigned int i, k;

	(void)state;
	for (k = 0; k < 2 * RTE_DIM(widths); k++) {
		unsigned int nb_chained = 0;

		rx_rig_start(2, 600);
		rx_rig.block.max = k % 2 * RX_RIG_WQES;
		rx_rig.rxq.ring.runtime_opts |= k % 2 != 0 ? MDV_RX_RUNTIME_MINI : 0;
		assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
		run(MDV_RX_SCATTER, widths[k / 2], 256 + 3 * RX_RIG_ROOM, k % 2 != 0, nb, seen);
		rx_rig_stop();
		for (i = 0; i < nb; i++)
			nb_chained += seen[i].nb_segs == 4;
		assert_true(nb_chained > 0);
	}
	free(seen);
}

/* clang-format off */
#define GOOD3 RTE_MBUF_F_RX_IP_CKSUM_GOOD
#define GOOD4 RTE_MBUF_F_RX_L4_CKSUM_GOOD
#define L2    RTE_PTYPE_L2_ETHER
#define V4    RTE_PTYPE_L3_IPV4_EXT_UNKNOWN
#define V6    RTE_PTYPE_L3_IPV6_EXT_UNKNOWN
#define IN4   RTE_PTYPE_INNER_L3_IPV4_EXT_UNKNOWN
/** The meaning of the CQE's bits, one case a row: OK bits as in hds_ip_ext. Without its bit a
 * checksum may be wrong or was not looked at: unknown. */
static const struct {
	uint8_t pkt_info, hds, hdr_type;
	uint64_t flags;
	uint32_t ptype;
} meanings[] = {
	/* IPv4 and UDP */
	{ 0, 7, 0x28, GOOD3 | GOOD4, L2 | V4 | RTE_PTYPE_L4_UDP },
	{ 0, 3, 0x28, GOOD3, L2 | V4 | RTE_PTYPE_L4_UDP },
	{ 0, 1, 0x28, 0, L2 | V4 | RTE_PTYPE_L4_UDP },
	{ 0, 5, 0x28, GOOD4, L2 | V4 | RTE_PTYPE_L4_UDP },
	/* IPv4 and TCP: plain, empty ACK, ACK with data */
	{ 0, 7, 0x18, GOOD3 | GOOD4, L2 | V4 | RTE_PTYPE_L4_TCP },
	{ 0, 3, 0x18, GOOD3, L2 | V4 | RTE_PTYPE_L4_TCP },
	{ 0, 3, 0x38, GOOD3, L2 | V4 | RTE_PTYPE_L4_TCP },
	{ 0, 7, 0x48, GOOD3 | GOOD4, L2 | V4 | RTE_PTYPE_L4_TCP },
	/* a fragment, other L4, no IP */
	{ 0, 3, 0x98, GOOD3, L2 | V4 | RTE_PTYPE_L4_FRAG },
	{ 0, 3, 0x08, GOOD3, L2 | V4 | RTE_PTYPE_L4_NONFRAG },
	{ 0, 1, 0x00, 0, L2 },
	/* IPv6 */
	{ 0, 7, 0x44, GOOD3 | GOOD4, L2 | V6 | RTE_PTYPE_L4_TCP },
	{ 0, 3, 0x14, GOOD3, L2 | V6 | RTE_PTYPE_L4_TCP },
	/* tunnels: the flags are about the inner headers */
	{ 1, 7, 0x28, GOOD3 | GOOD4, L2 | V4 | IN4 | RTE_PTYPE_INNER_L4_UDP },
	{ 3, 3, 0x28, GOOD3, L2 | V6 | IN4 | RTE_PTYPE_INNER_L4_UDP },
	{ 1, 1, 0x00, 0, L2 | V4 },
	{ 3, 3, 0x98, GOOD3, L2 | V6 | IN4 | RTE_PTYPE_INNER_L4_FRAG },
};
/* clang-format on */

/** Put the CQE in question into each lane of a vector in turn. */
static void
each_cqe_means_what_it_should(void **state)
{
	struct rte_mbuf *pkts[4];
	unsigned int i, w, k;

	(void)state;
	rx_rig_start(0, 256);
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
	for (i = 0; i < RTE_DIM(meanings) * RTE_DIM(widths); i++) {
		const unsigned int row = i / RTE_DIM(widths);
		struct rx_frame frame = {
			.len = 60,
			.pkt_info = meanings[row].pkt_info,
			.hds = meanings[row].hds,
			.hdr_type = meanings[row].hdr_type,
		};
		const struct rx_frame other = { .len = 60 };

		w = i % RTE_DIM(widths);
		for (k = 0; k < RTE_DIM(pkts); k++)
			assert_true(rx_rig_receive(k == row % 4 ? &frame : &other));
		assert_int_equal(mdv_rx_select(MDV_RX_CSUM, widths[w])(&rx_rig.rxq, pkts, 4), 4);
		assert_int_equal(pkts[row % 4]->ol_flags, meanings[row].flags);
		assert_int_equal(pkts[row % 4]->packet_type, meanings[row].ptype);
		rte_pktmbuf_free_bulk(pkts, 4);
	}
	rx_rig_stop();
}

static void
values_of_tag_hash_and_mark(void **state)
{
	struct rx_frame frame = { .len = 60,
		.hdr_type = 1,
		.tci = 0x6123,
		.hash = 0xdeadbeef,
		.hash_type = 0x04,
		.tag = 43 };
	eth_rx_burst_t burst = mdv_rx_select(MDV_RX_HASH | MDV_RX_MARK, 0);
	struct rte_mbuf *pkt;

	(void)state;
	rx_rig_start(0, 256);
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
	assert_true(rx_rig_receive(&frame));
	assert_int_equal(burst(&rx_rig.rxq, &pkt, 1), 1);
	assert_int_equal(pkt->ol_flags,
		RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_RSS_HASH |
			RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID);
	assert_int_equal(pkt->vlan_tci, 0x6123);
	assert_int_equal(pkt->hash.rss, 0xdeadbeef);
	assert_int_equal(pkt->hash.fdir.hi, 42);
	rte_pktmbuf_free(pkt);
	frame.tag = 0xffffff;
	assert_true(rx_rig_receive(&frame));
	assert_int_equal(burst(&rx_rig.rxq, &pkt, 1), 1);
	assert_int_equal(
		pkt->ol_flags & (RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID), RTE_MBUF_F_RX_FDIR);
	rte_pktmbuf_free(pkt);
	/* No rule tags and no stripping is on: the burst ignores both fields. */
	rx_rig.rxq.ring.runtime_opts = 0;
	assert_true(rx_rig_receive(&frame));
	assert_int_equal(burst(&rx_rig.rxq, &pkt, 1), 1);
	assert_int_equal(pkt->ol_flags, RTE_MBUF_F_RX_RSS_HASH);
	rte_pktmbuf_free(pkt);
	frame.timestamp = UINT64_C(0x123456789abcdef0);
	assert_true(rx_rig_receive(&frame));
	assert_int_equal(mdv_rx_select(MDV_RX_TIMESTAMP, 0)(&rx_rig.rxq, &pkt, 1), 1);
	assert_int_equal(pkt->ol_flags, rx_rig.rxq.timestamp_flag);
	assert_int_equal(timestamp_of(pkt), UINT64_C(0x123456789abcdef0));
	rte_pktmbuf_free(pkt);
	/* Seconds and nanoseconds of a real-time clock. */
	rx_rig.rxq.timestamp_gap = MDV_HW_REAL_TIME_GAP;
	frame.timestamp = UINT64_C(1764063600) << 32 | 123456789;
	assert_true(rx_rig_receive(&frame));
	assert_int_equal(mdv_rx_select(MDV_RX_TIMESTAMP, 0)(&rx_rig.rxq, &pkt, 1), 1);
	assert_int_equal(timestamp_of(pkt), UINT64_C(1764063600123456789));
	rte_pktmbuf_free(pkt);
	rx_rig_stop();
}

static void
counters_of_16_bits_wrap(void **state)
{
	struct rx_frame frame = { .len = 60 };
	struct rte_mbuf *pkts[8];
	unsigned int i, k;

	(void)state;
	rx_rig_start(0, 256);
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
	for (i = 0; i < 2 * 65536 / 8 + 100; i++) {
		for (k = 0; k < 8; k++)
			assert_true(rx_rig_receive(&frame));
		assert_int_equal(
			mdv_rx_select(0, widths[i % RTE_DIM(widths)])(&rx_rig.rxq, pkts, 8), 8);
		rte_pktmbuf_free_bulk(pkts, 8);
	}
	assert_int_equal(rx_rig.wq_ci, (uint16_t)rx_rig.rxq.pos.wqe_ci);
	rx_rig_stop();
}

static void
status_of_descriptors(void **state)
{
	struct rx_frame frame = { .len = 60 };
	struct rte_mbuf *pkts[4];

	(void)state;
	rx_rig_start(0, 256);
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
	assert_int_equal(mdv_rxq_count(&rx_rig.rxq), 0);
	assert_true(rx_rig_receive(&frame));
	assert_true(rx_rig_receive(&frame));
	assert_int_equal(mdv_rxq_count(&rx_rig.rxq), 2);
	assert_int_equal(mdv_rxq_descriptor_status(&rx_rig.rxq, 1), RTE_ETH_RX_DESC_DONE);
	assert_int_equal(mdv_rxq_descriptor_status(&rx_rig.rxq, 2), RTE_ETH_RX_DESC_AVAIL);
	assert_int_equal(mdv_rxq_descriptor_status(&rx_rig.rxq, RX_RIG_WQES), -EINVAL);
	assert_int_equal(mdv_rx_select(0, 0)(&rx_rig.rxq, pkts, 4), 2);
	assert_int_equal(
		mdv_rxq_descriptor_status(&rx_rig.rxq, RX_RIG_WQES - 1), RTE_ETH_RX_DESC_UNAVAIL);
	rte_pktmbuf_free_bulk(pkts, 2);
	rx_rig_stop();
	/* One that is not set up: ethdev does not look, and has these errors for it. */
	assert_int_equal((int)mdv_rxq_count(NULL), -EINVAL);
	assert_int_equal(mdv_rxq_descriptor_status(NULL, 0), -ENODEV);
}

/** Give the queue a mempool whose buffers are not beside the mbufs. @return the memory */
static void *
use_pinned_pool(unsigned int nb)
{
	struct rte_pktmbuf_extmem memory = {
		.elt_size = RX_RIG_ROOM,
		.buf_len = (size_t)nb * RX_RIG_ROOM,
	};

	memory.buf_ptr = rig_alloc(memory.buf_len);
	rte_mempool_free(rx_rig.pool);
	rx_rig.pool = rte_pktmbuf_pool_create_extbuf(
		"pinned", nb, 0, 0, RX_RIG_ROOM, SOCKET_ID_ANY, &memory, 1);
	assert_non_null(rx_rig.pool);
	rx_rig.rxq.pool = rx_rig.pool;
	rx_rig.rxq.buf_offset = mdv_rx_refill_offset(rx_rig.pool, RTE_PKTMBUF_HEADROOM);
	return memory.buf_ptr;
}

/** Whoever reads, clones or frees such an mbuf asks RTE_MBUF_F_EXTERNAL: the pool sets it once, and
 * nobody would again. */
static void
buffers_in_external_memory_stay_so(void **state)
{
	static const unsigned int opts[] = { 0, MDV_RX_HASH, MDV_RX_SCATTER,
		MDV_RX_SCATTER | MDV_RX_SPLIT };
	enum {
		NB = 40,
		MBUFS = 4 * RX_RIG_WQES
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(opts) * RTE_DIM(widths) * 2; i++) {
		const eth_rx_burst_t burst =
			mdv_rx_select(opts[i / 2 % RTE_DIM(opts)], widths[i / 2 / RTE_DIM(opts)]);
		const struct rx_frame frame = { .len = 100, .fill = 7, .hdr_type = 0x80 };
		struct rte_mbuf *pkts[NB];
		unsigned int k, nb = 0;
		void *memory;

		rx_rig_start(0, MBUFS);
		memory = use_pinned_pool(MBUFS);
		if (i % 2 == 1) {
			rx_rig.block.max = 16;
			rx_rig.rxq.ring.runtime_opts |= MDV_RX_RUNTIME_MINI;
		}
		assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
		for (k = 0; k < NB; k++)
			assert_true(rx_rig_receive(&frame));
		rx_rig_flush();
		while (nb < NB)
			nb += burst(&rx_rig.rxq, pkts + nb, 3);
		for (k = 0; k < NB; k++) {
			rx_rig_check(pkts[k], &frame);
			assert_true(RTE_MBUF_HAS_EXTBUF(pkts[k]));
			rte_pktmbuf_free(pkts[k]);
		}
		rx_rig_stop();
		free(memory);
	}
}

static void
instances_are_told_apart(void **state)
{
	struct rte_eth_burst_mode mode = { 0 };

	(void)state;
	assert_false(mdv_rx_select_describe(rte_eth_pkt_burst_dummy, &mode));
	assert_true(mdv_rx_select_describe(mdv_rx_select(MDV_RX_CSUM | MDV_RX_MARK, 0), &mode));
	assert_string_equal(mode.info, "Scalar, csum, mark");
#ifdef RTE_ARCH_X86
	assert_true(mdv_rx_select_describe(mdv_rx_select(MDV_RX_SCATTER, 128), &mode));
	assert_string_equal(mode.info, "Vector SSE, scattered");
	assert_true(mdv_rx_select_describe(mdv_rx_select(MDV_RX_HASH, 128), &mode));
	assert_string_equal(mode.info, "Vector SSE, hash");
	assert_true(mdv_rx_select_describe(mdv_rx_select(0, 256), &mode));
	assert_string_equal(mode.info,
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0 ? "Vector AVX2" : "Vector SSE");
#endif
}

/** The mbufs of an expanded block that nobody has received go back as they came. */
static void
pinned_buffers_of_a_stopped_queue_stay_external(void **state)
{
	enum {
		MBUFS = 4 * RX_RIG_WQES
	};
	const struct rx_frame frame = { .len = 100, .fill = 7, .hdr_type = 0x80 };
	struct rte_mbuf *pkts[MBUFS];
	unsigned int i;
	void *memory;

	(void)state;
	rx_rig_start(0, MBUFS);
	memory = use_pinned_pool(MBUFS);
	rx_rig.block.max = 16;
	rx_rig.rxq.ring.runtime_opts |= MDV_RX_RUNTIME_MINI;
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
	for (i = 0; i < 16; i++)
		assert_true(rx_rig_receive(&frame));
	rx_rig_flush();
	assert_int_equal(mdv_rx_select(0, 256)(&rx_rig.rxq, pkts, 3), 3);
	assert_int_equal(rx_rig.rxq.nb_ready, 13);
	rte_pktmbuf_free_bulk(pkts, 3);
	mdv_rx_drain(&rx_rig.rxq);
	assert_int_equal(rte_pktmbuf_alloc_bulk(rx_rig.pool, pkts, MBUFS), 0);
	for (i = 0; i < MBUFS; i++)
		assert_true(RTE_MBUF_HAS_EXTBUF(pkts[i]));
	rte_pktmbuf_free_bulk(pkts, MBUFS);
	rx_rig_stop();
	free(memory);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instance_agrees_with_the_generic_one),
		cmocka_unit_test(blocks_are_what_their_packets_would_be),
		cmocka_unit_test(long_frames_are_chained),
		cmocka_unit_test(each_cqe_means_what_it_should),
		cmocka_unit_test(values_of_tag_hash_and_mark),
		cmocka_unit_test(counters_of_16_bits_wrap),
		cmocka_unit_test(status_of_descriptors),
		cmocka_unit_test(buffers_in_external_memory_stay_so),
		cmocka_unit_test(pinned_buffers_of_a_stopped_queue_stay_external),
		cmocka_unit_test(instances_are_told_apart),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
