/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random lives of a receive queue, each repeated with every instance of the burst: packets of all
 * kinds, errors among them, stops, a pool that runs dry, mbufs that come back in any order, bursts
 * of all sizes, counters about to wrap. Every instance delivers the same mbufs as the scalar one.
 */
#include <stdlib.h>
#include <string.h>

#include "rx_rig.h"

#define NB_STEPS   250
#define NB_MAX     (NB_STEPS * 40)
#define HELD_MAX   120
#define BLOCK_MAX  64
#define TOO_LONG   2000
#define POOL_EXTRA 180
#define POOL_MAX   (4 * RX_RIG_WQES + POOL_EXTRA)

static const unsigned int widths[] = { 0, 128, 256, 512 };
static const uint16_t sizes[] = { 1, 1, 1, 3, 4, 8, 9, 32, 64 };
/** Where counters start: of 16 bits, of 24 in the doorbell record, of 32. */
static const uint32_t starts[] = { 0, UINT16_MAX + 1u - 128, (1u << 24) - 128, 0u - 128 };

/** The fields of a packet that an application can see. */
struct seen {
	uint64_t ol_flags, timestamp;
	uint32_t packet_type, pkt_len, rss, mark;
	uint16_t data_len, data_off, refcnt, nb_segs, port, tci;
};

struct life {
	struct mdv_rx_counters count;
	unsigned int nb;
	struct seen seen[NB_MAX];
};

/** The properties of a life. */
struct kind {
	unsigned int opts;
	uint8_t log2_segs;
	uint8_t runtime_opts;
	uint32_t start;
};

static struct {
	struct life *life;
	eth_rx_burst_t burst;
	uint32_t len_max;
	struct rx_frame waiting[RX_RIG_WQES]; /**< that the device has placed */
	unsigned int nb_waiting;
	struct rte_mbuf *held[HELD_MAX + RX_RIG_WQES]; /**< by the application */
	unsigned int nb_held;
	void *hog[POOL_MAX];
	unsigned int nb_hog;
	struct rx_frame like;
} now;

static struct rx_frame
random_frame(void)
{
	static const uint32_t tags[] = { 0, 0, 1, 0xfffffe, 0xffffff };
	struct rx_frame *frame = &now.like;

	/* Most frames are like the last one, so that a device would compress them. */
	if (random() % 8 == 0)
		*frame = (struct rx_frame){
			.pkt_info = random() & 3,
			.hds = random() & 7,
			.hdr_type = random(),
			.hash_type = random() % 2 ? 0x80 : 0,
			.tci = random(),
			.tag = tags[random() % RTE_DIM(tags)],
		};
	frame->len = random() % 24 == 0 ? TOO_LONG : 60 + random() % (now.len_max - 59);
	frame->fill = random();
	frame->hash = random();
	frame->timestamp = (uint64_t)random() << 33 ^ random();
	return *frame;
}

static void
device_receives(void)
{
	unsigned int nb = 1 + random() % 40;

	while (nb-- != 0) {
		const struct rx_frame frame = random_frame();

		if (rx_rig_receive(&frame) && frame.len != TOO_LONG)
			now.waiting[now.nb_waiting++] = frame;
	}
	rx_rig_flush();
}

static struct seen
look_at(const struct rte_mbuf *mbuf, unsigned int opts)
{
	const struct mdv_rxq *rxq = &rx_rig.rxq;
	const uint64_t flags = mbuf->ol_flags;
	struct seen seen = {
		.ol_flags = flags,
		.packet_type = mbuf->packet_type,
		.pkt_len = mbuf->pkt_len,
		.data_len = mbuf->data_len,
		.data_off = mbuf->data_off,
		.refcnt = rte_mbuf_refcnt_read(mbuf),
		.nb_segs = mbuf->nb_segs,
		.port = mbuf->port,
	};

	if (opts & MDV_RX_HASH)
		seen.rss = mbuf->hash.rss;
	if (flags & RTE_MBUF_F_RX_FDIR_ID)
		seen.mark = mbuf->hash.fdir.hi;
	if (flags & RTE_MBUF_F_RX_VLAN)
		seen.tci = mbuf->vlan_tci;
	if (flags & rxq->timestamp_flag)
		seen.timestamp =
			*RTE_MBUF_DYNFIELD(mbuf, rxq->timestamp_at, const rte_mbuf_timestamp_t *);
	return seen;
}

static void
application_frees(unsigned int nb)
{
	while (nb-- != 0) {
		const unsigned int i = random() % now.nb_held;

		rte_pktmbuf_free(now.held[i]);
		now.held[i] = now.held[--now.nb_held];
	}
}

static void
application_polls(unsigned int opts, uint16_t want)
{
	struct rte_mbuf **pkts = &now.held[now.nb_held];
	const uint16_t nb = now.burst(&rx_rig.rxq, pkts, want);
	unsigned int i;

	assert_int_equal(nb, RTE_MIN(want, now.nb_waiting));
	for (i = 0; i < nb; i++) {
		assert_true(now.life->nb < NB_MAX);
		rx_rig_check(pkts[i], &now.waiting[i]);
		now.life->seen[now.life->nb++] = look_at(pkts[i], opts);
	}
	now.nb_held += nb;
	now.nb_waiting -= nb;
	memmove(now.waiting, &now.waiting[nb], now.nb_waiting * sizeof(now.waiting[0]));
	if (now.nb_held > HELD_MAX)
		application_frees(now.nb_held);
}

/** Take all mbufs out of the pool, or put them back. */
static void
somebody_hogs_the_pool(void)
{
	if (now.nb_hog != 0) {
		rte_mempool_put_bulk(rx_rig.pool, now.hog, now.nb_hog);
		now.nb_hog = 0;
		return;
	}
	while (rte_mempool_get(rx_rig.pool, &now.hog[now.nb_hog]) == 0)
		now.nb_hog++;
}

static void
device_stops_the_queue(unsigned int opts)
{
	while (now.nb_waiting != 0)
		application_polls(opts, 64);
	/* Errors may still be in the ring, and take places. */
	application_polls(opts, 1);
	rx_rig_fail(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, random() % 8);
	application_polls(opts, 1);
	rig_verbs.nb_wq_states = 0;
}

static void
start_at(uint32_t start)
{
	struct mdv_rxq *rxq = &rx_rig.rxq;

	rxq->pos.cq_ci += start;
	rxq->pos.wqe_ci += start;
	rxq->pos.wqe_pi += start;
	rx_rig.cq_pi += start;
	rx_rig.wq_ci += start >> rxq->strides.log2_strides;
	rx_rig.cq_dbrec[0] = rte_cpu_to_be_32(rxq->pos.cq_ci & MDV_HW_CQ_CI_MASK);
	rx_rig.wq_dbrec[0] =
		rte_cpu_to_be_32(rxq->pos.wqe_pi >> rxq->strides.log2_strides & UINT16_MAX);
}

/** Every other set of options has a pool with a cache. */
static void
give_a_pool(const struct kind *kind)
{
	const unsigned int nb = (RX_RIG_WQES << kind->log2_segs) + POOL_EXTRA;
	struct rte_mempool *pool;

	if (kind->opts & MDV_RX_STRIDE)
		rx_rig_start_strides(nb);
	else
		rx_rig_start(kind->log2_segs, nb);
	if (kind->opts % 2 == 0)
		return;
	pool = rte_pktmbuf_pool_create("cached", nb, 32, 0, RX_RIG_ROOM, SOCKET_ID_ANY);
	assert_non_null(pool);
	rte_mempool_free(rx_rig.pool);
	rx_rig.pool = pool;
	rx_rig.rxq.pool = pool;
}

static void
live(const struct kind *kind, unsigned int simd_bits, struct life *life)
{
	unsigned int step;

	srandom(kind->opts * 4 + kind->runtime_opts + 20241121);
	memset(&now, 0, sizeof(now));
	memset(life, 0, sizeof(*life));
	now.life = life;
	now.burst = mdv_rx_select(kind->opts, simd_bits);
	now.len_max = kind->log2_segs != 0 ? 256 + 3 * RX_RIG_ROOM : 256;
	give_a_pool(kind);
	rx_rig.rxq.ring.runtime_opts = kind->runtime_opts;
	rx_rig.block.max = kind->runtime_opts & MDV_RX_RUNTIME_MINI ? BLOCK_MAX : 0;
	rx_rig.block.random = true;
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
	start_at(kind->start);
	for (step = 0; step < NB_STEPS; step++) {
		const unsigned int what = random() % 64;

		if (what < 28)
			device_receives();
		else if (what < 58)
			application_polls(kind->opts, sizes[random() % RTE_DIM(sizes)]);
		else if (what < 60)
			application_frees(now.nb_held);
		else if (what < 63)
			somebody_hogs_the_pool();
		else
			device_stops_the_queue(kind->opts);
	}
	life->count = rx_rig.rxq.count;
	application_frees(now.nb_held);
	if (now.nb_hog != 0)
		somebody_hogs_the_pool();
	rx_rig_stop();
}

static void
check_kind(const struct kind *kind)
{
	static struct life scalar, other;
	unsigned int w, i;

	live(kind, 0, &scalar);
	assert_true(scalar.nb > 300);
	assert_true(scalar.count.errors > 0 && scalar.count.nombuf > 0);
	for (w = 1; w < RTE_DIM(widths); w++) {
		live(kind, widths[w], &other);
		assert_int_equal(other.nb, scalar.nb);
		for (i = 0; i < scalar.nb; i++)
			assert_memory_equal(&other.seen[i], &scalar.seen[i], sizeof(struct seen));
		assert_memory_equal(&other.count, &scalar.count, sizeof(scalar.count));
	}
}

static void
check_all(unsigned int first, unsigned int end, uint8_t log2_segs, uint8_t mini)
{
	struct kind kind = { .log2_segs = log2_segs };

	for (kind.opts = first; kind.opts < end; kind.opts++) {
		kind.start = starts[(kind.opts ^ kind.opts >> 2) % RTE_DIM(starts)];
		kind.runtime_opts = mini;
		check_kind(&kind);
		kind.runtime_opts = mini | MDV_RX_RUNTIME_MARK | MDV_RX_RUNTIME_VLAN;
		check_kind(&kind);
	}
}

static void
one_completion_a_packet(void **state)
{
	(void)state;
	check_all(0, MDV_RX_STRIDE, 0, 0);
}

static void
compressed_completions(void **state)
{
	(void)state;
	check_all(0, MDV_RX_STRIDE, 0, MDV_RX_RUNTIME_MINI);
}

static void
packets_in_several_mbufs(void **state)
{
	(void)state;
	check_all(MDV_RX_SCATTER, MDV_RX_STRIDE, 2, 0);
	check_all(MDV_RX_SCATTER, MDV_RX_STRIDE, 2, MDV_RX_RUNTIME_MINI);
}

static void
many_packets_a_wqe(void **state)
{
	(void)state;
	check_all(MDV_RX_STRIDE, MDV_RX_NB_OPTS, 0, 0);
	check_all(MDV_RX_STRIDE, MDV_RX_NB_OPTS, 0, MDV_RX_RUNTIME_MINI);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_completion_a_packet),
		cmocka_unit_test(compressed_completions),
		cmocka_unit_test(packets_in_several_mbufs),
		cmocka_unit_test(many_packets_a_wqe),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
