/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive burst on hand-made rings: a device of thirty lines writes packets and CQEs. */
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_udp.h>

#include "rig.h"
#include "rx.h"
#include "rxq.h"

#define NB_WQES 64
#define ROOM    (RTE_PKTMBUF_HEADROOM + 256)
#define SEED    20240607

/** What the wire brings and the device makes of it. */
struct frame {
	uint32_t len;
	uint8_t fill;
	uint8_t pkt_info, hds, hdr_type, hash_type;
	uint16_t tci;
	uint32_t hash, tag;
	bool udp_without_csum;
};

/** What an application can see of a packet. */
struct seen {
	uint32_t pkt_len, ptype, rss, mark;
	uint16_t nb_segs, tci;
	uint64_t flags;
};

static struct {
	struct rig_port port;
	struct mdv_rxq rxq;
	struct mdv_hw_cqe *cqes;
	struct mlx5_wqe_data_seg *wqes;
	__be32 cq_dbrec[2], wq_dbrec[2];
	struct rte_mempool *pool;
	unsigned int pool_size;
	/* the device */
	uint32_t cq_pi;
	uint16_t wq_ci;
} rig;

static void
rig_start(uint8_t log2_segs, unsigned int pool_size)
{
	struct mdv_rxq *rxq = &rig.rxq;
	const uint32_t nb_segs = NB_WQES << log2_segs;
	struct rte_mbuf rearm = { .data_off = RTE_PKTMBUF_HEADROOM, .nb_segs = 1, .port = 3 };
	static uint32_t generation;

	memset(&rig, 0, sizeof(rig));
	rig_port_init(&rig.port);
	rig.cqes = rig_cqes(NB_WQES);
	rig.wqes = rig_alloc(nb_segs * sizeof(*rig.wqes));
	rig.pool = rig_pool("rx", pool_size, ROOM);
	rig.pool_size = pool_size;
	rte_mbuf_refcnt_set(&rearm, 1);
	*rxq = (struct mdv_rxq){
		.cqes = rig.cqes,
		.wqes = rig.wqes,
		.mbufs = rig_alloc(nb_segs * sizeof(rxq->mbufs[0])),
		.cq_dbrec = &rig.cq_dbrec[0],
		.wq_dbrec = &rig.wq_dbrec[0],
		.pool = rig.pool,
		.mask = NB_WQES - 1,
		.log2_wqes = rte_log2_u32(NB_WQES),
		.log2_segs = log2_segs,
		.refill_min = 8,
		.lkey_be = rte_cpu_to_be_32(RIG_LKEY),
		.buf_offset = sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM,
		.headroom = RTE_PKTMBUF_HEADROOM,
		.room = ROOM,
		.port = &rig.port.port,
		.wq = rig.port.wq,
	};
	rxq->mr.table_generation = &generation;
	memcpy(&rxq->rearm, &rearm.rearm_data, sizeof(rxq->rearm));
}

static void
rig_stop(void)
{
	mdv_rx_drain(&rig.rxq);
	assert_int_equal(rte_mempool_avail_count(rig.pool), rig.pool_size);
	rte_mempool_free(rig.pool);
	free(rig.rxq.mbufs);
	free(rig.wqes);
	free(rig.cqes);
}

/** Byte @p at of a frame's contents. */
static uint8_t
content(const struct frame *frame, uint32_t at)
{
	struct {
		struct rte_ether_hdr eth;
		struct rte_ipv4_hdr ip;
		struct rte_udp_hdr udp;
	} head = {
		.eth.ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4),
		.ip = { .version_ihl = 0x45, .next_proto_id = IPPROTO_UDP },
		.udp.dgram_cksum = frame->udp_without_csum ? 0 : 0x1234,
	};

	return at < sizeof(head) ? ((uint8_t *)&head)[at] : (uint8_t)(frame->fill + at);
}

static struct mdv_hw_cqe *
device_cqe(uint8_t opcode)
{
	struct mdv_hw_cqe *cqe = &rig.cqes[rig.cq_pi % NB_WQES];
	uint32_t lap = rig.cq_pi / NB_WQES & 1;

	/* The ring is never overrun: the consumer index has been told. */
	assert_true(
		((rig.cq_pi - rte_be_to_cpu_32(rig.cq_dbrec[0])) & MDV_HW_CQ_CI_MASK) < NB_WQES);
	memset(cqe, 0, sizeof(*cqe));
	cqe->wqe_counter = rte_cpu_to_be_16(rig.wq_ci);
	cqe->op_own = opcode << MDV_HW_CQE_OPCODE_SHIFT | lap;
	rig.cq_pi++;
	return cqe;
}

static bool
device_has_wqe(void)
{
	return (uint16_t)(rte_be_to_cpu_32(rig.wq_dbrec[0]) - rig.wq_ci) != 0;
}

/** @return whether there was a WQE for the frame. */
static bool
device_receive(const struct frame *frame)
{
	const uint32_t nb_segs = 1u << rig.rxq.log2_segs;
	const struct mlx5_wqe_data_seg *wqe =
		&rig.wqes[(uint32_t)(rig.wq_ci % NB_WQES) << rig.rxq.log2_segs];
	struct mdv_hw_cqe *cqe;
	uint32_t seg, at = 0;

	if (!device_has_wqe())
		return false;
	for (seg = 0; seg < nb_segs && at < frame->len; seg++) {
		uint8_t *to = (uint8_t *)(uintptr_t)rte_be_to_cpu_64(wqe[seg].addr);
		uint32_t room = rte_be_to_cpu_32(wqe[seg].byte_count), i;

		assert_int_equal(wqe[seg].lkey, rte_cpu_to_be_32(RIG_LKEY));
		for (i = 0; i < room && at < frame->len; i++)
			to[i] = content(frame, at++);
	}
	cqe = device_cqe(MLX5_CQE_RESP_SEND);
	if (at < frame->len) {
		cqe->op_own += (MLX5_CQE_RESP_ERR - MLX5_CQE_RESP_SEND) << MDV_HW_CQE_OPCODE_SHIFT;
		((struct mlx5_err_cqe *)cqe)->syndrome = MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR;
	} else {
		cqe->pkt_info = frame->pkt_info;
		cqe->hds_ip_ext = frame->hds;
		cqe->l4_l3_hdr_type = frame->hdr_type;
		cqe->rss_hash_type = frame->hash_type;
		cqe->rss_hash = rte_cpu_to_be_32(frame->hash);
		cqe->vlan_info = rte_cpu_to_be_16(frame->tci);
		cqe->sop_drop_qpn = rte_cpu_to_be_32(frame->tag | 0x5a000000);
		cqe->byte_cnt = rte_cpu_to_be_32(frame->len);
	}
	rig.wq_ci++;
	return true;
}

/** The device stops the WQ: an error CQE, and flushed WQEs behind it. */
static void
device_fail(uint8_t syndrome, unsigned int nb_flushed)
{
	((struct mlx5_err_cqe *)device_cqe(MLX5_CQE_RESP_ERR))->syndrome = syndrome;
	while (nb_flushed-- != 0)
		((struct mlx5_err_cqe *)device_cqe(MLX5_CQE_RESP_ERR))->syndrome =
			MLX5_CQE_SYNDROME_WR_FLUSH_ERR;
	rig.wq_ci = 0;
}

static struct frame
random_frame(uint32_t max_len)
{
	static const uint32_t tags[] = { 0, 0, 1, 0xfffffe, 0xffffff };
	struct frame frame = {
		.len = 60 + random() % (max_len - 59),
		.fill = random(),
		.pkt_info = random() & 3,
		.hds = random() & 7,
		.hdr_type = random(),
		.hash_type = random() % 2 ? 0x80 : 0,
		.tci = random(),
		.hash = random(),
		.tag = tags[random() % RTE_DIM(tags)],
		.udp_without_csum = random() % 2,
	};

	return frame;
}

static void
check_content(const struct rte_mbuf *mbuf, const struct frame *frame)
{
	uint32_t at = 0, i, nb_segs = 0;
	const struct rte_mbuf *seg;

	assert_int_equal(mbuf->port, 3);
	assert_int_equal(mbuf->data_off, RTE_PKTMBUF_HEADROOM);
	assert_int_equal(mbuf->pkt_len, frame->len);
	for (seg = mbuf; seg != NULL; seg = seg->next, nb_segs++) {
		const uint8_t *data = rte_pktmbuf_mtod(seg, const uint8_t *);

		assert_true(seg->data_off + seg->data_len <= ROOM);
		assert_int_equal(rte_mbuf_refcnt_read(seg), 1);
		for (i = 0; i < seg->data_len; i++, at++)
			assert_int_equal(data[i], content(frame, at));
	}
	assert_int_equal(at, frame->len);
	assert_int_equal(nb_segs, mbuf->nb_segs);
}

/** Run @p nb frames of the seed through an instance; @p seen gets what came out. */
static void
run(unsigned int opts, uint32_t max_len, unsigned int nb, struct seen *seen)
{
	eth_rx_burst_t burst = mdv_rx_select(opts);
	struct frame frames[NB_WQES];
	struct rte_mbuf *pkts[NB_WQES];
	unsigned int done = 0;

	srandom(SEED);
	while (done < nb) {
		unsigned int i, nb_frames = RTE_MIN(1 + random() % 40, nb - done), got = 0;

		for (i = 0; i < nb_frames; i++) {
			frames[i] = random_frame(max_len);
			assert_true(device_receive(&frames[i]));
		}
		while (got < nb_frames) {
			uint16_t want = 1 + random() % 40;
			uint16_t n = burst(&rig.rxq, &pkts[got], RTE_MIN(want, NB_WQES - got));

			assert_int_equal(n, RTE_MIN(want, nb_frames - got));
			got += n;
		}
		assert_int_equal(burst(&rig.rxq, pkts + got, 1), 0);
		for (i = 0; i < nb_frames; i++, done++) {
			check_content(pkts[i], &frames[i]);
			seen[done] = (struct seen){
				.pkt_len = pkts[i]->pkt_len,
				.ptype = pkts[i]->packet_type,
				.rss = pkts[i]->hash.rss,
				.mark = pkts[i]->hash.fdir.hi,
				.nb_segs = pkts[i]->nb_segs,
				.tci = pkts[i]->vlan_tci,
				.flags = pkts[i]->ol_flags,
			};
			rte_pktmbuf_free(pkts[i]);
		}
	}
	assert_int_equal(rig.rxq.count.packets, nb);
	assert_int_equal(rig.rxq.count.errors, 0);
	assert_int_equal(rig.rxq.count.nombuf, 0);
}

/** Flags that an instance without the option leaves out. */
static uint64_t
flags_of(unsigned int opts)
{
	uint64_t flags = 0;

	if (opts & MDV_RX_CSUM)
		flags |= RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK;
	if (opts & MDV_RX_VLAN)
		flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	if (opts & MDV_RX_HASH)
		flags |= RTE_MBUF_F_RX_RSS_HASH;
	if (opts & MDV_RX_MARK)
		flags |= RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;
	return flags;
}

/* Ring wraps many times; every instance sees what the one with all options sees. */
static void
every_instance_agrees_with_the_generic_one(void **state)
{
	const unsigned int nb = 1000, all = MDV_RX_NB_OPTS - 1;
	struct seen *want = calloc(nb, sizeof(*want)), *seen = calloc(nb, sizeof(*seen));
	unsigned int opts, i;

	(void)state;
	rig_start(0, 256);
	assert_int_equal(mdv_rx_fill(&rig.rxq), 0);
	run(all, 256, nb, want);
	rig_stop();
	for (opts = 0; opts < all; opts++) {
		rig_start(0, 256);
		assert_int_equal(mdv_rx_fill(&rig.rxq), 0);
		run(opts, 256, nb, seen);
		rig_stop();
		for (i = 0; i < nb; i++) {
			assert_int_equal(seen[i].pkt_len, want[i].pkt_len);
			assert_int_equal(seen[i].ptype, want[i].ptype);
			assert_int_equal(seen[i].flags, want[i].flags & flags_of(opts));
			if (seen[i].flags & RTE_MBUF_F_RX_VLAN)
				assert_int_equal(seen[i].tci, want[i].tci);
			if (seen[i].flags & RTE_MBUF_F_RX_RSS_HASH)
				assert_int_equal(seen[i].rss, want[i].rss);
			if (seen[i].flags & RTE_MBUF_F_RX_FDIR_ID)
				assert_int_equal(seen[i].mark, want[i].mark);
		}
	}
	free(want);
	free(seen);
}

static void
long_frames_are_chained(void **state)
{
	const unsigned int nb = 500;
	struct seen *seen = calloc(nb, sizeof(*seen));
	unsigned int i, nb_chained = 0;

	(void)state;
	rig_start(2, 600);
	assert_int_equal(mdv_rx_fill(&rig.rxq), 0);
	run(MDV_RX_SCATTER, 256 + 3 * ROOM, nb, seen);
	rig_stop();
	for (i = 0; i < nb; i++)
		nb_chained += seen[i].nb_segs == 4;
	assert_true(nb_chained > 0);
	free(seen);
}

/* clang-format off */
#define GOOD3 RTE_MBUF_F_RX_IP_CKSUM_GOOD
#define BAD3  RTE_MBUF_F_RX_IP_CKSUM_BAD
#define GOOD4 RTE_MBUF_F_RX_L4_CKSUM_GOOD
#define BAD4  RTE_MBUF_F_RX_L4_CKSUM_BAD
#define L2    RTE_PTYPE_L2_ETHER
#define V4    RTE_PTYPE_L3_IPV4_EXT_UNKNOWN
#define V6    RTE_PTYPE_L3_IPV6_EXT_UNKNOWN
#define IN4   RTE_PTYPE_INNER_L3_IPV4_EXT_UNKNOWN
/** What the bits of the CQE mean, one case a row: OK bits as in hds_ip_ext. */
static const struct {
	uint8_t pkt_info, hds, hdr_type;
	bool udp_without_csum;
	uint64_t flags;
	uint32_t ptype;
} meanings[] = {
	/* IPv4 and UDP */
	{ 0, 7, 0x28, false, GOOD3 | GOOD4, L2 | V4 | RTE_PTYPE_L4_UDP },
	{ 0, 3, 0x28, false, GOOD3 | BAD4, L2 | V4 | RTE_PTYPE_L4_UDP },
	{ 0, 3, 0x28, true, GOOD3 | GOOD4, L2 | V4 | RTE_PTYPE_L4_UDP },
	{ 0, 1, 0x28, false, BAD3, L2 | V4 | RTE_PTYPE_L4_UDP },
	{ 0, 5, 0x28, false, BAD3 | GOOD4, L2 | V4 | RTE_PTYPE_L4_UDP },
	/* IPv4 and TCP: plain, empty ACK, ACK with data */
	{ 0, 7, 0x18, false, GOOD3 | GOOD4, L2 | V4 | RTE_PTYPE_L4_TCP },
	{ 0, 3, 0x18, false, GOOD3 | BAD4, L2 | V4 | RTE_PTYPE_L4_TCP },
	{ 0, 3, 0x38, false, GOOD3 | BAD4, L2 | V4 | RTE_PTYPE_L4_TCP },
	{ 0, 7, 0x48, false, GOOD3 | GOOD4, L2 | V4 | RTE_PTYPE_L4_TCP },
	/* a fragment, other L4, no IP */
	{ 0, 3, 0x98, false, GOOD3, L2 | V4 | RTE_PTYPE_L4_FRAG },
	{ 0, 3, 0x08, false, GOOD3, L2 | V4 | RTE_PTYPE_L4_NONFRAG },
	{ 0, 1, 0x00, false, 0, L2 },
	/* IPv6 */
	{ 0, 7, 0x44, false, GOOD3 | GOOD4, L2 | V6 | RTE_PTYPE_L4_TCP },
	{ 0, 3, 0x14, false, GOOD3 | BAD4, L2 | V6 | RTE_PTYPE_L4_TCP },
	/* tunnels: the flags are about the inner headers, a UDP checksum there is not looked at */
	{ 1, 7, 0x28, false, GOOD3 | GOOD4, L2 | V4 | IN4 | RTE_PTYPE_INNER_L4_UDP },
	{ 3, 3, 0x28, false, GOOD3, L2 | V6 | IN4 | RTE_PTYPE_INNER_L4_UDP },
	{ 1, 1, 0x00, false, 0, L2 | V4 },
	{ 3, 3, 0x98, false, GOOD3, L2 | V6 | IN4 | RTE_PTYPE_INNER_L4_FRAG },
};
/* clang-format on */

static void
each_cqe_means_what_it_should(void **state)
{
	struct rte_mbuf *pkt;
	unsigned int i;

	(void)state;
	rig_start(0, 256);
	assert_int_equal(mdv_rx_fill(&rig.rxq), 0);
	for (i = 0; i < RTE_DIM(meanings); i++) {
		struct frame frame = {
			.len = 60,
			.pkt_info = meanings[i].pkt_info,
			.hds = meanings[i].hds,
			.hdr_type = meanings[i].hdr_type,
			.udp_without_csum = meanings[i].udp_without_csum,
		};

		assert_true(device_receive(&frame));
		assert_int_equal(mdv_rx_select(MDV_RX_CSUM)(&rig.rxq, &pkt, 1), 1);
		assert_int_equal(pkt->ol_flags, meanings[i].flags);
		assert_int_equal(pkt->packet_type, meanings[i].ptype);
		rte_pktmbuf_free(pkt);
	}
	rig_stop();
}

static void
values_of_tag_hash_and_mark(void **state)
{
	struct frame frame = { .len = 60,
		.hdr_type = 1,
		.tci = 0x6123,
		.hash = 0xdeadbeef,
		.hash_type = 0x04,
		.tag = 43 };
	eth_rx_burst_t burst = mdv_rx_select(MDV_RX_VLAN | MDV_RX_HASH | MDV_RX_MARK);
	struct rte_mbuf *pkt;

	(void)state;
	rig_start(0, 256);
	assert_int_equal(mdv_rx_fill(&rig.rxq), 0);
	assert_true(device_receive(&frame));
	assert_int_equal(burst(&rig.rxq, &pkt, 1), 1);
	assert_int_equal(pkt->ol_flags,
		RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_RSS_HASH |
			RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID);
	assert_int_equal(pkt->vlan_tci, 0x6123);
	assert_int_equal(pkt->hash.rss, 0xdeadbeef);
	assert_int_equal(pkt->hash.fdir.hi, 42);
	rte_pktmbuf_free(pkt);
	frame.tag = 0xffffff;
	assert_true(device_receive(&frame));
	assert_int_equal(burst(&rig.rxq, &pkt, 1), 1);
	assert_int_equal(
		pkt->ol_flags & (RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID), RTE_MBUF_F_RX_FDIR);
	rte_pktmbuf_free(pkt);
	rig_stop();
}

static void
counters_of_16_bits_wrap(void **state)
{
	struct frame frame = { .len = 60 };
	struct rte_mbuf *pkts[8];
	unsigned int i, k;

	(void)state;
	rig_start(0, 256);
	assert_int_equal(mdv_rx_fill(&rig.rxq), 0);
	for (i = 0; i < 2 * 65536 / 8 + 100; i++) {
		for (k = 0; k < 8; k++)
			assert_true(device_receive(&frame));
		assert_int_equal(mdv_rx_select(0)(&rig.rxq, pkts, 8), 8);
		rte_pktmbuf_free_bulk(pkts, 8);
	}
	assert_int_equal(rig.wq_ci, (uint16_t)rig.rxq.wqe_ci);
	rig_stop();
}

static void
too_long_a_frame_is_counted_and_skipped(void **state)
{
	/* A scattering instance also serves queues of one segment. */
	static const struct {
		uint8_t log2_segs;
		unsigned int opts;
	} cases[] = { { 0, 0 }, { 1, MDV_RX_SCATTER }, { 0, MDV_RX_SCATTER } };
	struct frame frame = { .len = 60 };
	struct rte_mbuf *pkts[4];
	unsigned int i, k;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		eth_rx_burst_t burst = mdv_rx_select(cases[i].opts);

		rig_start(cases[i].log2_segs, 256);
		assert_int_equal(mdv_rx_fill(&rig.rxq), 0);
		assert_true(device_receive(&frame));
		frame.len = 2000;
		assert_true(device_receive(&frame));
		frame.len = 61;
		assert_true(device_receive(&frame));
		assert_int_equal(burst(&rig.rxq, pkts, 4), 2);
		assert_int_equal(pkts[0]->pkt_len, 60);
		assert_int_equal(pkts[1]->pkt_len, 61);
		assert_int_equal(rig.rxq.count.errors, 1);
		assert_int_equal(rig.rxq.count.packets, 2);
		assert_int_equal(rig_verbs.nb_wq_states, 0);
		/* The CQE of an error alone is given back, too. */
		frame.len = 2000;
		assert_true(device_receive(&frame));
		assert_int_equal(burst(&rig.rxq, pkts + 2, 2), 0);
		assert_int_equal(rte_be_to_cpu_32(rig.cq_dbrec[0]), rig.cq_pi);
		frame.len = 60;
		/* The slots are used again, by buffers of their own. */
		for (k = 0; k < 2 * NB_WQES; k++) {
			assert_true(device_receive(&frame));
			assert_int_equal(burst(&rig.rxq, pkts + 2, 1), 1);
			check_content(pkts[2], &frame);
			rte_pktmbuf_free(pkts[2]);
		}
		rte_pktmbuf_free_bulk(pkts, 2);
		rig_stop();
	}
}

static void
a_stopped_queue_is_started_anew(void **state)
{
	static const uint8_t syndromes[] = { MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR,
		MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR };
	struct rte_mbuf *pkts[8];
	unsigned int i, k;

	(void)state;
	for (i = 0; i < 2 * RTE_DIM(syndromes); i++) {
		uint8_t log2_segs = i / RTE_DIM(syndromes);
		eth_rx_burst_t burst = mdv_rx_select(log2_segs ? MDV_RX_SCATTER : 0);
		struct frame frame = { .len = 60 };

		rig_start(log2_segs, 256);
		assert_int_equal(mdv_rx_fill(&rig.rxq), 0);
		for (k = 0; k < 5; k++)
			assert_true(device_receive(&frame));
		device_fail(syndromes[i % RTE_DIM(syndromes)], 10);
		assert_int_equal(burst(&rig.rxq, pkts, 8), 5);
		rte_pktmbuf_free_bulk(pkts, 5);
		assert_int_equal(rig_verbs.nb_wq_states, 2);
		assert_int_equal(rig_verbs.wq_states[0], IBV_WQS_RESET);
		assert_int_equal(rig_verbs.wq_states[1], IBV_WQS_RDY);
		assert_int_equal(rte_be_to_cpu_32(rig.wq_dbrec[0]), NB_WQES);
		for (k = 0; k < 3; k++) {
			frame.len++;
			assert_true(device_receive(&frame));
		}
		assert_int_equal(burst(&rig.rxq, pkts, 8), 3);
		check_content(pkts[2], &frame);
		rte_pktmbuf_free_bulk(pkts, 3);
		rig_stop();
	}
}

/* With a device that will not even reset, each error CQE is taken and nothing else happens. */
static void
a_queue_that_cannot_be_reset_stays_harmless(void **state)
{
	struct rte_mbuf *pkts[8];

	(void)state;
	rig_start(0, 256);
	assert_int_equal(mdv_rx_fill(&rig.rxq), 0);
	rig_verbs.modify_result = EIO;
	device_fail(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 3);
	assert_int_equal(mdv_rx_select(0)(&rig.rxq, pkts, 8), 0);
	assert_int_equal(rig.rxq.count.errors, 4);
	assert_int_equal(rig.rxq.cq_ci, 4);
	rig_stop();
}

static void
an_empty_pool_loses_nothing(void **state)
{
	struct frame frame = { .len = 100 };
	struct rte_mbuf *kept[NB_WQES + 40], *pkts[NB_WQES];
	unsigned int log2_segs, i, nb;

	(void)state;
	for (log2_segs = 0; log2_segs < 2; log2_segs++) {
		unsigned int in_ring = NB_WQES << log2_segs;
		eth_rx_burst_t burst = mdv_rx_select(log2_segs ? MDV_RX_SCATTER : 0);

		rig_start(log2_segs, in_ring + 4);
		assert_int_equal(mdv_rx_fill(&rig.rxq), 0);
		/* 4 are left, then none: the ring runs down to the last WQE, all of it received. */
		for (nb = 0; device_receive(&frame); nb++)
			assert_int_equal(burst(&rig.rxq, &kept[nb], 1), 1);
		assert_int_equal(nb, NB_WQES + 4);
		assert_true(rig.rxq.count.nombuf > 0);
		assert_int_equal(rig.rxq.count.packets, nb);
		assert_int_equal(burst(&rig.rxq, pkts, 1), 0);
		/* Buffers come back: so does the ring. */
		for (i = 0; i < nb; i++) {
			check_content(kept[i], &frame);
			rte_pktmbuf_free(kept[i]);
		}
		assert_int_equal(burst(&rig.rxq, pkts, 1), 0);
		assert_true(device_receive(&frame));
		assert_int_equal(burst(&rig.rxq, pkts, 1), 1);
		rte_pktmbuf_free(pkts[0]);
		rig_stop();
	}
}

static void
a_pool_too_small_for_the_ring_is_reported(void **state)
{
	(void)state;
	rig_start(0, NB_WQES - 1);
	assert_int_equal(mdv_rx_fill(&rig.rxq), -ENOMEM);
	rig_stop();
	rig_start(1, 2 * NB_WQES - 1);
	assert_int_equal(mdv_rx_fill(&rig.rxq), -ENOMEM);
	rig_stop();
}

static void
status_of_descriptors(void **state)
{
	struct frame frame = { .len = 60 };
	struct rte_mbuf *pkts[4];

	(void)state;
	rig_start(0, 256);
	assert_int_equal(mdv_rx_fill(&rig.rxq), 0);
	assert_int_equal(mdv_rxq_count(&rig.rxq), 0);
	assert_true(device_receive(&frame));
	assert_true(device_receive(&frame));
	assert_int_equal(mdv_rxq_count(&rig.rxq), 2);
	assert_int_equal(mdv_rxq_descriptor_status(&rig.rxq, 1), RTE_ETH_RX_DESC_DONE);
	assert_int_equal(mdv_rxq_descriptor_status(&rig.rxq, 2), RTE_ETH_RX_DESC_AVAIL);
	assert_int_equal(mdv_rxq_descriptor_status(&rig.rxq, NB_WQES), -EINVAL);
	assert_int_equal(mdv_rx_select(0)(&rig.rxq, pkts, 4), 2);
	assert_int_equal(mdv_rxq_descriptor_status(&rig.rxq, NB_WQES - 1), RTE_ETH_RX_DESC_UNAVAIL);
	rte_pktmbuf_free_bulk(pkts, 2);
	rig_stop();
}

static void
instances_are_told_apart(void **state)
{
	char text[128];
	unsigned int opts;

	(void)state;
	for (opts = 0; opts < MDV_RX_NB_OPTS; opts++)
		assert_int_equal(mdv_rx_select_opts(mdv_rx_select(opts)), opts);
	assert_int_equal(mdv_rx_select_opts(rte_eth_pkt_burst_dummy), -1);
	mdv_rx_select_describe(MDV_RX_CSUM | MDV_RX_MARK, text, sizeof(text));
	assert_string_equal(text, "Scalar, csum, mark");
	mdv_rx_select_describe(MDV_RX_NB_OPTS - 1, text, 10);
	assert_string_equal(text, "Scalar, s");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instance_agrees_with_the_generic_one),
		cmocka_unit_test(long_frames_are_chained),
		cmocka_unit_test(each_cqe_means_what_it_should),
		cmocka_unit_test(values_of_tag_hash_and_mark),
		cmocka_unit_test(counters_of_16_bits_wrap),
		cmocka_unit_test(too_long_a_frame_is_counted_and_skipped),
		cmocka_unit_test(a_stopped_queue_is_started_anew),
		cmocka_unit_test(a_queue_that_cannot_be_reset_stays_harmless),
		cmocka_unit_test(an_empty_pool_loses_nothing),
		cmocka_unit_test(a_pool_too_small_for_the_ring_is_reported),
		cmocka_unit_test(status_of_descriptors),
		cmocka_unit_test(instances_are_told_apart),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
