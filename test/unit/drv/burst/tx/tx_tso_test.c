/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that the device cuts up, on hand-made rings: the WQEs, and the refusals. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_errno.h>

#include "burst/tx/tx_tso.h"
#include "tx_rig.h"

#define SEED    20240915
#define MAX_TSO 4000

static const unsigned int widths[] = { 0, 128, 256 };

static const struct mdv_caps caps = {
	.max_tso_bytes = MAX_TSO,
	.tx_checksum = true,
	.tunnel_offloads = MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN |
		MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE,
};

static void
start(void)
{
	tx_rig_start();
	tx_rig.txq.limits = mdv_tx_limits_of(&caps,
		mdv_tx_limits_tso_offloads(&caps) | RTE_ETH_TX_OFFLOAD_MULTI_SEGS |
			RTE_ETH_TX_OFFLOAD_VLAN_INSERT);
}

/** The WQE's content and the counts that a packet must lead to. */
struct wanted {
	uint8_t bytes[TX_RIG_FRAME_MAX];
	uint32_t len;
	uint8_t cs_flags;
	uint32_t inlined; /**< of what is cut */
	uint16_t mss;
	uint32_t packets, counted;
};

/** Say that the packet is TCP with @p tcp bytes of header, in a tunnel or not. */
static void
make_tcp(struct rte_mbuf *mbuf, bool tunnel, unsigned int tcp, uint16_t mss)
{
	mbuf->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	mbuf->l2_len = 14;
	mbuf->l3_len = 20;
	mbuf->l4_len = tcp;
	mbuf->tso_segsz = mss;
	/* Without a tunnel the outer lengths mean nothing. */
	mbuf->outer_l2_len = 14;
	mbuf->outer_l3_len = 20;
	if (!tunnel)
		return;
	mbuf->ol_flags |= RTE_MBUF_F_TX_TUNNEL_VXLAN | RTE_MBUF_F_TX_OUTER_IPV4 |
		RTE_MBUF_F_TX_OUTER_IP_CKSUM;
	mbuf->l2_len = 8 + 8 + 14;
}

/** Packets are those of one connection, but for some. */
static bool alike;

/** A packet, to be cut or not. */
static struct rte_mbuf *
random_packet(unsigned int opts, struct wanted *want)
{
	const unsigned int others = alike ? 5 : 1, mss = alike ? 20 : 1 + random() % 200;
	const unsigned int nb_segs = (opts & MDV_TX_MULTI) && random() % (3 * others) == 0
		? 1 + random() % (alike ? 3 : 20)
		: 1;
	const bool tagged = (opts & MDV_TX_VLAN) && random() % (4 * others) == 0,
		   tunnel = random() % (4 * others) == 0;
	const unsigned int tcp = alike ? 20 : 20 + random() % 3 * 20,
			   header = 34 + (tunnel ? 50 : 0) + tcp;
	struct rte_mbuf *pkt = tx_rig_packet(nb_segs, 54 + random() % 400);

	pkt->vlan_tci = random();
	if (tagged)
		pkt->ol_flags |= RTE_MBUF_F_TX_VLAN;
	memset(want, 0, sizeof(*want));
	want->len = tx_rig_expected(pkt, tagged, want->bytes);
	want->packets = 1;
	want->counted = pkt->pkt_len;
	if (random() % (4 * others) == 0 || pkt->pkt_len < header) {
		/* Lengths that nobody asks to use, of an earlier life of the mbuf. */
		make_tcp(pkt, false, tcp, mss);
		pkt->ol_flags &= RTE_MBUF_F_TX_VLAN;
		return pkt;
	}
	make_tcp(pkt, tunnel, tcp, mss);
	want->cs_flags = tunnel ? 0x70 : 0xc0;
	if (pkt->pkt_len - header <= pkt->tso_segsz)
		return pkt;
	want->inlined = header + (tagged ? 4 : 0);
	want->mss = pkt->tso_segsz;
	want->packets = (pkt->pkt_len - header + want->mss - 1) / want->mss;
	want->counted += (want->packets - 1) * header;
	return pkt;
}

static void
check(const struct wanted *want)
{
	static struct tx_sent sent;

	assert_true(tx_rig_send(&sent));
	tx_rig_check(&sent, want->bytes, want->len);
	assert_int_equal(sent.cs_flags, want->cs_flags);
	assert_int_equal(sent.mss, want->mss);
	if (want->mss != 0) {
		assert_int_equal(sent.inlined, want->inlined);
		assert_false(sent.inserted);
	}
}

/** Send random packets; the device is slow now and then. */
static void
run(eth_tx_burst_t burst, unsigned int opts)
{
	static struct wanted want[40];
	uint64_t packets = 0, bytes = 0;
	unsigned int round, i;

	for (round = 0; round < 200; round++) {
		unsigned int nb = 1 + random() % RTE_DIM(want), done = 0;
		struct rte_mbuf *pkts[RTE_DIM(want)];
		struct tx_sent none;

		if (rte_mempool_avail_count(tx_rig.pool) < 20 * nb)
			nb = 1;
		for (i = 0; i < nb; i++) {
			pkts[i] = random_packet(opts, &want[i]);
			packets += want[i].packets;
			bytes += want[i].counted;
		}
		while (done < nb) {
			uint16_t n = burst(&tx_rig.txq, pkts + done, nb - done);

			for (i = done; i < done + n; i++)
				check(&want[i]);
			assert_false(tx_rig_send(&none));
			if (n == 0 || random() % 2)
				tx_rig_complete();
			done += n;
		}
	}
	assert_int_equal(tx_rig.txq.count.packets, packets);
	assert_int_equal(tx_rig.txq.count.bytes, bytes);
	assert_int_equal(tx_rig.txq.errors, 0);
}

/** Every instance but that of tx_swp_test.c, among packets that are not cut; headers are cut over
 * mbufs, WQEs over the ring's end. */
static void
every_instance_cuts_every_packet(void **state)
{
	unsigned int opts, w;

	alike = *state != NULL;
	for (opts = 0; opts < MDV_TX_SWP; opts++) {
		for (w = 0; w < RTE_DIM(widths) && opts & MDV_TX_TSO; w++) {
			srandom(SEED);
			start();
			run(mdv_tx_select(opts, widths[w]), opts);
			tx_rig_stop();
		}
	}
}

/** The headers end where the mbuf ends, and in each byte before and behind a border of two. */
static void
headers_are_split_anywhere(void **state)
{
	const eth_tx_burst_t burst = mdv_tx_select(MDV_TX_TSO | MDV_TX_MULTI, 0);
	static struct wanted want;
	uint32_t at;

	(void)state;
	start();
	for (at = 1; at < 120; at++) {
		struct rte_mbuf *pkt = tx_rig_packet(1, at);

		assert_int_equal(rte_pktmbuf_chain(pkt, tx_rig_packet(1, 240 - at)), 0);
		make_tcp(pkt, false, 32, 50);
		memset(&want, 0, sizeof(want));
		want.len = tx_rig_expected(pkt, false, want.bytes);
		want.cs_flags = 0xc0;
		want.mss = 50;
		want.inlined = 66;
		assert_int_equal(burst(&tx_rig.txq, &pkt, 1), 1);
		check(&want);
		tx_rig_complete();
	}
	tx_rig_stop();
}

/** Memory of which the last byte of headers is the last that can be read, until it is opened. */
struct guarded {
	uint8_t *pages;
	size_t page;
	void *buf_addr; /**< of the mbuf that has it for a while */
};

/** Move the packet's bytes to where @p header of them end before a page that nobody may read. */
static void
guard(struct guarded *guarded, struct rte_mbuf *mbuf, uint32_t header)
{
	uint8_t *to = guarded->pages + guarded->page - header;

	assert_int_equal(mprotect(guarded->pages, 2 * guarded->page, PROT_READ | PROT_WRITE), 0);
	memcpy(to, rte_pktmbuf_mtod(mbuf, const void *), mbuf->data_len);
	guarded->buf_addr = mbuf->buf_addr;
	mbuf->buf_addr = to - mbuf->data_off;
	assert_int_equal(mprotect(guarded->pages + guarded->page, guarded->page, PROT_NONE), 0);
}

/**
 * Send a packet with @p header bytes of headers and another byte pattern each time.
 * @param own the headers have an mbuf of their own, the shape of most stacks' packets
 */
static void
guarded_send(struct guarded *guarded, unsigned int opts, uint32_t header, bool own)
{
	const uint32_t len = header + 100;
	const bool tagged = (opts & MDV_TX_VLAN) != 0;
	struct rte_mbuf *pkt = tx_rig_packet(1, own ? header : len);
	static struct wanted want;

	if (own)
		assert_int_equal(rte_pktmbuf_chain(pkt, tx_rig_packet(1, len - header)), 0);
	make_tcp(pkt, false, 20, 50);
	pkt->l3_len = header - 34;
	pkt->vlan_tci = random();
	if (tagged)
		pkt->ol_flags |= RTE_MBUF_F_TX_VLAN;
	memset(&want, 0, sizeof(want));
	want.len = tx_rig_expected(pkt, tagged, want.bytes);
	want.cs_flags = 0xc0;
	want.mss = 50;
	want.inlined = header + (tagged ? 4 : 0);
	guard(guarded, pkt, header);
	assert_int_equal(mdv_tx_select(opts, 0)(&tx_rig.txq, &pkt, 1), 1);
	assert_int_equal(mprotect(guarded->pages, 2 * guarded->page, PROT_READ | PROT_WRITE), 0);
	check(&want);
	pkt->buf_addr = guarded->buf_addr;
	tx_rig_complete();
}

/** A line behind the headers is one more that the CPU waits for; every length, at every place of
 * the ring's end, among those of packets that are read nowhere else. */
static void
nothing_behind_the_headers_is_read(void **state)
{
	const unsigned int opts[] = { MDV_TX_TSO | MDV_TX_MULTI,
		MDV_TX_TSO | MDV_TX_MULTI | MDV_TX_VLAN };
	struct guarded guarded = { .page = sysconf(_SC_PAGESIZE) };
	uint32_t header, i, n;

	(void)state;
	guarded.pages = mmap(
		NULL, 2 * guarded.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(guarded.pages, MAP_FAILED);
	for (i = 0; i < RTE_DIM(opts) * 2; i++) {
		start();
		for (header = MDV_TX_TSO_HEADER_MIN;
			header <= MDV_TX_TSO_HEADER_MAX - RTE_VLAN_HLEN; header++)
			/* Once around the ring, with WQEs of 2 WQEBBs and more. */
			for (n = 0; n < TX_RIG_BBS / 2; n++)
				guarded_send(&guarded, opts[i % 2], header, i / 2 != 0);
		tx_rig_stop();
	}
	assert_int_equal(munmap(guarded.pages, 2 * guarded.page), 0);
}

/** A broken packet, of fewer bytes than it says: a data segment of length 0 would be 2^31 bytes. */
static void
headers_without_the_payload_are_dropped(void **state)
{
	uint32_t header;

	(void)state;
	for (header = MDV_TX_TSO_HEADER_MIN; header < MDV_TX_TSO_HEADER_MIN + 20; header++) {
		struct rte_mbuf *pkt;

		start();
		pkt = tx_rig_packet(1, header);
		make_tcp(pkt, false, 20, 50);
		pkt->l3_len = header - 34;
		pkt->pkt_len = header + 100;
		assert_int_equal(
			mdv_tx_select(MDV_TX_TSO | MDV_TX_MULTI, 0)(&tx_rig.txq, &pkt, 1), 1);
		assert_int_equal(tx_rig.txq.errors, 1);
		assert_int_equal(tx_rig.pc, rte_be_to_cpu_32(tx_rig.dbrec[1]));
		tx_rig_stop();
	}
}

/* clang-format off */
static const struct {
	const char *what;
	uint32_t len;                   /**< of the packet */
	unsigned int nb_segs;           /**< beyond the first */
	unsigned int l2, l3, l4;
	unsigned int outer_l2, outer_l3; /**< 0: no tunnel */
	uint16_t mss;
	bool good;
} cases[] = {
	{ .what = "a usual one", .len = 400, .l2 = 14, .l3 = 20, .l4 = 20, .mss = 100, .good = true },
	{ .what = "no segment size", .len = 400, .l2 = 14, .l3 = 20, .l4 = 20 },
	{ .what = "no TCP header", .len = 400, .l2 = 14, .l3 = 40, .l4 = 0, .mss = 100 },
	{ .what = "half a TCP header", .len = 400, .l2 = 14, .l3 = 40, .l4 = 19, .mss = 100 },
	{ .what = "too long a TCP header", .len = 400, .l2 = 14, .l3 = 20, .l4 = 64, .mss = 100 },
	{ .what = "no Ethernet header", .len = 400, .l2 = 0, .l3 = 40, .l4 = 20, .mss = 100 },
	{ .what = "headers longer than the packet", .len = 60, .l2 = 14, .l3 = 40, .l4 = 20, .mss = 1 },
	{ .what = "the longest headers", .len = 500, .l2 = 30, .l3 = 40, .l4 = 60, .outer_l2 = 18,
		.outer_l3 = 40, .mss = 100, .good = true },
	{ .what = "headers too long to be inlined", .len = 500, .l2 = 30, .l3 = 40, .l4 = 60,
		.outer_l2 = 19, .outer_l3 = 40, .mss = 100 },
	{ .what = "as much as the device takes", .len = 54 + MAX_TSO, .l2 = 14, .l3 = 20, .l4 = 20,
		.mss = 1000, .good = true },
	{ .what = "more than the device takes", .len = 54 + MAX_TSO + 1, .l2 = 14, .l3 = 20, .l4 = 20,
		.mss = 1000 },
	{ .what = "the longest segments", .len = 400, .l2 = 14, .l3 = 20, .l4 = 20,
		.mss = MDV_TX_FRAME_MAX - 54, .good = true },
	{ .what = "segments longer than a frame", .len = 400, .l2 = 14, .l3 = 20, .l4 = 20,
		.mss = MDV_TX_FRAME_MAX - 53 },
	{ .what = "as many mbufs as always fit", .len = 300, .nb_segs = MDV_TX_TSO_SEGS_MAX - 1, .l2 = 30,
		.l3 = 40, .l4 = 60, .outer_l2 = 18, .outer_l3 = 40, .mss = 100, .good = true },
	{ .what = "too many mbufs", .len = 300, .nb_segs = MDV_TX_TSO_SEGS_MAX, .l2 = 30, .l3 = 40,
		.l4 = 60, .outer_l2 = 18, .outer_l3 = 40, .mss = 100 },
};
/* clang-format on */

static struct rte_mbuf *
case_packet(unsigned int k)
{
	struct rte_mbuf *mbuf = tx_rig_packet(1, RTE_MIN(cases[k].len, 512u));
	unsigned int i;

	for (i = 0; i < cases[k].nb_segs; i++)
		assert_int_equal(rte_pktmbuf_chain(mbuf, tx_rig_packet(1, 7)), 0);
	/* Longer than its buffer, but the device here does not look. */
	if (cases[k].len > 512)
		mbuf->data_len = mbuf->pkt_len = cases[k].len;
	make_tcp(mbuf, cases[k].outer_l2 != 0, cases[k].l4, cases[k].mss);
	mbuf->l2_len = cases[k].l2;
	mbuf->l3_len = cases[k].l3;
	mbuf->outer_l2_len = cases[k].outer_l2;
	mbuf->outer_l3_len = cases[k].outer_l3;
	return mbuf;
}

/** tx_prepare refuses it with a reason; the burst drops it, and sends the next one. */
static void
what_cannot_be_cut_is_refused(void **state)
{
	const eth_tx_burst_t burst = mdv_tx_select(MDV_TX_TSO | MDV_TX_MULTI, 256);
	struct rte_mbuf *pkts[3];
	unsigned int k, i;

	(void)state;
	for (k = 0; k < RTE_DIM(cases); k++) {
		const bool dropped = !cases[k].good && strcmp(cases[k].what, "no Ethernet header");

		start();
		for (i = 0; i < RTE_DIM(pkts); i++)
			pkts[i] = case_packet(i == 1 ? k : 0);
		rte_errno = 0;
		if (mdv_tx_prepare(&tx_rig.txq, pkts, 3) != (cases[k].good ? 3 : 1) ||
			rte_errno != (cases[k].good ? 0 : EINVAL))
			fail_msg("%s: not prepared as it should be", cases[k].what);
		assert_int_equal(burst(&tx_rig.txq, pkts, 3), 3);
		if (tx_rig.txq.errors != dropped)
			fail_msg("%s: %u errors", cases[k].what, (unsigned int)tx_rig.txq.errors);
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool),
			3 - dropped + (dropped ? 0 : cases[k].nb_segs));
		assert_int_equal(tx_rig.txq.pos.head, rte_mempool_in_use_count(tx_rig.pool));
		tx_rig_stop();
	}
}

/** One among packets that are alike but for where they are. */
static void
memory_of_nobody_among_others_is_refused(void **state)
{
	const eth_tx_burst_t burst = mdv_tx_select(MDV_TX_TSO, 256);
	uint8_t *unknown = rig_alloc(4096);
	struct mdv_mr_table *table;
	struct rte_mbuf *pkts[4];
	void *buf_addr;
	unsigned int i;

	(void)state;
	start();
	table = mdv_mr_create(&tx_rig.port.port.device, 0);
	mdv_mr_cache_init(&tx_rig.txq.mr, table);
	for (i = 0; i < RTE_DIM(pkts); i++)
		pkts[i] = case_packet(0);
	buf_addr = pkts[2]->buf_addr;
	memcpy(unknown, buf_addr, 1024);
	pkts[2]->buf_addr = unknown;
	assert_int_equal(burst(&tx_rig.txq, pkts, RTE_DIM(pkts)), RTE_DIM(pkts));
	pkts[2]->buf_addr = buf_addr;
	assert_int_equal(tx_rig.txq.errors, 1);
	/* 346 bytes of payload, by hundreds. */
	assert_int_equal(tx_rig.txq.count.packets, 3 * 4);
	assert_int_equal(tx_rig.txq.pos.pc, 3 * 2);
	tx_rig_stop();
	mdv_mr_destroy(table);
	free(unknown);
}

/** The device cuts less than a segment: that is no packet to be cut. */
static void
a_device_that_takes_little_gets_nothing(void **state)
{
	struct rte_mbuf *pkts[2];
	unsigned int i;

	(void)state;
	start();
	for (i = 0; i < RTE_DIM(pkts); i++)
		pkts[i] = case_packet(0);
	assert_int_equal(mdv_tx_select(MDV_TX_TSO, 0)(&tx_rig.txq, pkts, 1), 1);
	tx_rig.txq.limits.tso_max = 99;
	assert_int_equal(mdv_tx_select(MDV_TX_TSO, 0)(&tx_rig.txq, pkts + 1, 1), 1);
	assert_int_equal(tx_rig.txq.errors, 1);
	assert_int_equal(tx_rig.txq.pos.pc, 2);
	tx_rig_stop();
}

/** A queue without the offload cuts no bytes. */
static void
another_queues_offload_is_not_ours(void **state)
{
	struct rte_mbuf *pkt;

	(void)state;
	start();
	tx_rig.txq.limits = mdv_tx_limits_of(&caps, RTE_ETH_TX_OFFLOAD_TCP_CKSUM);
	pkt = case_packet(0);
	assert_int_equal(mdv_tx_prepare(&tx_rig.txq, &pkt, 1), 0);
	assert_int_equal(rte_errno, ENOTSUP);
	assert_int_equal(mdv_tx_select(MDV_TX_TSO, 0)(&tx_rig.txq, &pkt, 1), 1);
	assert_int_equal(tx_rig.txq.errors, 1);
	tx_rig_stop();
}

/** A WQE needs several WQEBBs: the ring is full early, and drains. */
static void
a_full_ring_takes_no_more_and_drains(void **state)
{
	const eth_tx_burst_t burst = mdv_tx_select(MDV_TX_TSO, 0);
	struct rte_mbuf *pkts[TX_RIG_BBS];
	static struct tx_sent sent;
	unsigned int i, n, round;

	(void)state;
	start();
	for (i = 0; i < RTE_DIM(pkts); i++)
		pkts[i] = case_packet(0);
	/* An odd WQEBB is in use: what is left is odd, too. */
	pkts[0]->ol_flags = 0;
	n = burst(&tx_rig.txq, pkts, RTE_DIM(pkts));
	assert_int_equal(n, 1 + (TX_RIG_BBS - 1) / 2);
	assert_int_equal(burst(&tx_rig.txq, pkts + n, RTE_DIM(pkts) - n), 0);
	for (round = 0; n < RTE_DIM(pkts); round++) {
		assert_true(round < 10);
		while (tx_rig_send(&sent))
			;
		tx_rig_complete();
		n += burst(&tx_rig.txq, pkts + n, RTE_DIM(pkts) - n);
	}
	assert_int_equal(tx_rig.txq.errors, 0);
	tx_rig_stop();
}

/** Lost frames leave the counters by the same amounts by which they entered. */
static void
a_wqe_to_be_cut_fails(void **state)
{
	const eth_tx_burst_t burst = mdv_tx_select(MDV_TX_TSO, 0);
	struct rte_mbuf *pkts[4];
	unsigned int i;

	(void)state;
	start();
	for (i = 0; i < RTE_DIM(pkts); i++)
		pkts[i] = case_packet(0);
	/* 400 bytes with 54 of headers: 4 frames of 100 bytes at most. */
	assert_int_equal(burst(&tx_rig.txq, pkts, 3), 3);
	assert_int_equal(tx_rig.txq.count.packets, 12);
	assert_int_equal(tx_rig.txq.count.bytes, 3 * (346 + 4 * 54));
	((struct mlx5_err_cqe *)tx_rig_cqe(MLX5_CQE_REQ_ERR, 2))->syndrome =
		MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
	assert_int_equal(burst(&tx_rig.txq, pkts + 3, 1), 1);
	assert_int_equal(tx_rig.txq.errors, 2);
	assert_int_equal(tx_rig.txq.count.packets, 8);
	assert_int_equal(tx_rig.txq.count.bytes, 2 * (346 + 4 * 54));
	tx_rig_stop();
}

/** Frames and bytes beyond those of the packet itself; none of what cannot be cut. */
static void
frames_are_counted_by_segments(void **state)
{
	static const struct {
		uint32_t len;
		unsigned int l4;
		uint16_t mss;
		uint64_t frames;
	} lengths[] = {
		{ 54, 20, 100, 0 },
		{ 55, 20, 100, 0 },
		{ 154, 20, 100, 0 },
		{ 155, 20, 100, 1 },
		{ 254, 20, 100, 1 },
		{ 255, 20, 100, 2 },
		{ 54 + 77, 20, 1, 76 },
		/* No segment size, no TCP header. */
		{ 400, 20, 0, 0 },
		{ 400, 0, 100, 0 },
	};

	(void)state;
	start();
	for (unsigned int i = 0; i < RTE_DIM(lengths); i++) {
		struct rte_mbuf *mbuf = tx_rig_packet(1, lengths[i].len);
		uint64_t frames = 1000;

		make_tcp(mbuf, false, lengths[i].l4, lengths[i].mss);
		assert_int_equal(mdv_tx_tso_more(mbuf, &frames), lengths[i].frames * 54);
		assert_int_equal(frames, 1000 + lengths[i].frames);
		rte_pktmbuf_free(mbuf);
	}
	tx_rig_stop();
}

/** An instance without tags does not look for them. */
static void
tags_are_inserted_by_instances_that_do(void **state)
{
	static const unsigned int opts[] = { MDV_TX_TSO, MDV_TX_TSO | MDV_TX_VLAN };
	static struct tx_sent sent;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(opts) * RTE_DIM(widths); i++) {
		struct rte_mbuf *pkt;

		start();
		pkt = case_packet(0);
		pkt->ol_flags |= RTE_MBUF_F_TX_VLAN;
		assert_int_equal(
			mdv_tx_select(opts[i % 2], widths[i / 2])(&tx_rig.txq, &pkt, 1), 1);
		assert_true(tx_rig_send(&sent));
		assert_int_equal(sent.inlined, i % 2 == 0 ? 54 : 58);
		tx_rig_stop();
	}
}

static void
instances_have_checksums(void **state)
{
	struct rte_eth_burst_mode mode = { 0 };

	(void)state;
	assert_ptr_equal(mdv_tx_select(MDV_TX_TSO, 0), mdv_tx_select(MDV_TX_TSO | MDV_TX_CSUM, 0));
	assert_true(mdv_tx_select_describe(mdv_tx_select(MDV_TX_TSO, 0), &mode));
	assert_string_equal(mode.info, "Scalar, csum, tso");
	assert_false(mdv_tx_select_describe(NULL, &mode));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instance_cuts_every_packet),
		{ "every_instance_cuts_packets_that_are_alike", every_instance_cuts_every_packet,
			NULL, NULL, &alike },
		cmocka_unit_test(headers_are_split_anywhere),
		cmocka_unit_test(nothing_behind_the_headers_is_read),
		cmocka_unit_test(headers_without_the_payload_are_dropped),
		cmocka_unit_test(what_cannot_be_cut_is_refused),
		cmocka_unit_test(memory_of_nobody_among_others_is_refused),
		cmocka_unit_test(a_device_that_takes_little_gets_nothing),
		cmocka_unit_test(another_queues_offload_is_not_ours),
		cmocka_unit_test(a_full_ring_takes_no_more_and_drains),
		cmocka_unit_test(a_wqe_to_be_cut_fails),
		cmocka_unit_test(frames_are_counted_by_segments),
		cmocka_unit_test(tags_are_inserted_by_instances_that_do),
		cmocka_unit_test(instances_have_checksums),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
