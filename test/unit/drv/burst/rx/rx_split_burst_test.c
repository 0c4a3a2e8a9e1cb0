/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that are split by lengths: where each byte ends up, and that each mbuf returns to its own
 * mempool, whatever goes wrong. */
#include <stdlib.h>
#include <string.h>

#include "rx_rig.h"

#define HEADS  256 /* bytes of a buffer of each pool, headroom included */
#define BODIES 1024
#define RESTS  320
#define POOL   (8 * RX_RIG_WQES + 128)

static const unsigned int widths[] = { 0, 128, 256, 512 };
static struct rte_mempool *heads, *bodies, *rests, *moved;

/** How packets are split, and with how many segments a WQE. */
struct form {
	uint8_t log2_segs;
	uint16_t nb;
	struct {
		struct rte_mempool **pool;
		uint16_t length, offset;
	} segs[4];
};

/* clang-format off */
static const struct form forms[] = {
	{ 1, 2, { { &heads, 64, 0 }, { &bodies, 0, 0 } } },
	{ 1, 2, { { &heads, 1, 127 }, { &bodies, 1000, 24 } } },
	{ 1, 2, { { &heads, 100, 5 }, { &heads, 256, 0 } } },
	{ 2, 3, { { &heads, 64, 0 }, { &rests, 200, 16 }, { &bodies, 900, 3 } } },
	{ 2, 4, { { &heads, 14, 2 }, { &heads, 20, 64 }, { &rests, 0, 0 }, { &bodies, 0, 0 } } },
	/* More than are described: the last pool, whole. */
	{ 2, 1, { { &rests, 60, 4 } } },
	{ 3, 2, { { &bodies, 40, 0 }, { &heads, 100, 100 } } },
	/* One segment, elsewhere in the mbuf. */
	{ 0, 1, { { &bodies, 600, 200 } } },
	/* Buffers that lie differently are asked for their place. */
	{ 1, 2, { { &moved, 32, 8 }, { &moved, 0, 64 } } },
};
/* clang-format on */

static void
move_buffer(struct rte_mempool *mempool, void *arg, void *object, unsigned int idx)
{
	struct rte_mbuf *mbuf = object;

	(void)mempool;
	(void)arg;
	if (idx % 2 != 0)
		mbuf->buf_addr = (char *)mbuf->buf_addr - 8;
}

static int
group_make(void **state)
{
	int ret = rig_eal_init(state);

	if (ret != 0)
		return ret;
	heads = rig_pool("heads", POOL, HEADS);
	bodies = rig_pool("bodies", POOL, BODIES);
	rests = rig_pool("rests", POOL, RESTS);
	moved = rte_pktmbuf_pool_create("moved", POOL, 0, 8, BODIES, SOCKET_ID_ANY);
	assert_non_null(moved);
	rte_mempool_obj_iter(moved, move_buffer, NULL);
	return 0;
}

static void
start(const struct form *form)
{
	union rte_eth_rxseg asked[RTE_DIM(form->segs)];

	memset(asked, 0, sizeof(asked));
	for (unsigned int i = 0; i < form->nb; i++)
		asked[i].split = (struct rte_eth_rxseg_split){
			.mp = *form->segs[i].pool,
			.length = form->segs[i].length,
			.offset = form->segs[i].offset,
		};
	rx_rig_start_split(form->log2_segs, asked, form->nb);
}

/** Free the queue's mbufs: all pools are complete. */
static void
stop_queue(void)
{
	rx_rig_stop();
	assert_true(rte_mempool_full(heads));
	assert_true(rte_mempool_full(bodies));
	assert_true(rte_mempool_full(rests));
	assert_true(rte_mempool_full(moved));
}

/** Where the @p nth segment's bytes are by rte_ethdev.h, not by the driver. */
static void
place_of(const struct form *form, unsigned int nth, struct rte_mempool **pool, uint32_t *length,
	uint32_t *data_off)
{
	const bool described = nth < form->nb;
	const unsigned int i = described ? nth : form->nb - 1u;

	*pool = *form->segs[i].pool;
	*data_off = (described ? form->segs[i].offset : 0) + (nth == 0 ? RTE_PKTMBUF_HEADROOM : 0);
	*length = described ? form->segs[i].length : 0;
	if (*length == 0)
		*length = rte_pktmbuf_data_room_size(*pool) - *data_off;
}

/** @return the bytes that @p nb segments take. */
static uint32_t
bytes_of(const struct form *form, unsigned int nb)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < nb; i++) {
		struct rte_mempool *pool;
		uint32_t length, data_off;

		place_of(form, i, &pool, &length, &data_off);
		sum += length;
	}
	return sum;
}

static void
check(const struct form *form, const struct rte_mbuf *mbuf, const struct rx_frame *frame)
{
	const struct rte_mbuf *seg = mbuf;
	uint32_t at = 0, nth = 0;

	assert_int_equal(mbuf->pkt_len, frame->len);
	assert_int_equal(mbuf->port, 3);
	assert_int_equal(mbuf->hash.rss, frame->hash);
	for (; seg != NULL; seg = seg->next, nth++) {
		struct rte_mempool *pool;
		uint32_t length, data_off;

		place_of(form, nth, &pool, &length, &data_off);
		assert_ptr_equal(seg->pool, pool);
		assert_int_equal(seg->data_off, data_off);
		assert_int_equal(seg->data_len, RTE_MIN(length, frame->len - at));
		assert_int_equal(rte_mbuf_refcnt_read(seg), 1);
		for (uint32_t i = 0; i < seg->data_len; i++, at++)
			assert_int_equal(rte_pktmbuf_mtod(seg, const uint8_t *)[i],
				rx_rig_content(frame, at));
		/* No segment that it could do without. */
		assert_true(seg->data_len != 0);
	}
	assert_int_equal(at, frame->len);
	assert_int_equal(mbuf->nb_segs, nth);
}

static eth_rx_burst_t
burst_of(unsigned int width)
{
	return mdv_rx_select(MDV_RX_SCATTER | MDV_RX_SPLIT | MDV_RX_HASH, width);
}

/** Frames that end at each border, before it and behind it. */
static void
each_byte_is_in_its_segment(void **state)
{
	struct rte_mbuf *pkts[1];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(forms); i++) {
		const struct form *form = &forms[i];

		start(form);
		assert_int_equal(mdv_rx_split_fill(&rx_rig.rxq), 0);
		for (unsigned int k = 0; k < 3u << form->log2_segs; k++) {
			struct rx_frame frame = { .len = bytes_of(form, k / 3 + 1) + k % 3 - 1,
				.fill = k,
				.hash = 77 * k,
				.hash_type = 0x80 };

			if (frame.len == 0 || frame.len > bytes_of(form, 1u << form->log2_segs))
				continue;
			assert_true(rx_rig_receive(&frame));
			assert_int_equal(burst_of(widths[k % 4])(&rx_rig.rxq, pkts, 1), 1);
			check(form, pkts[0], &frame);
			rte_pktmbuf_free(pkts[0]);
		}
		assert_int_equal(rx_rig.rxq.count.errors, 0);
		stop_queue();
	}
}

static void
too_long_a_frame_costs_no_mbuf(void **state)
{
	struct rte_mbuf *pkts[4];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(forms); i++) {
		const struct form *form = &forms[i];
		struct rx_frame longest = { .len = bytes_of(form, 1u << form->log2_segs) };
		struct rx_frame longer = { .len = longest.len + 1 };

		start(form);
		assert_int_equal(mdv_rx_split_fill(&rx_rig.rxq), 0);
		for (unsigned int k = 0; k < 3 * RX_RIG_WQES; k++) {
			assert_true(rx_rig_receive(&longer));
			assert_true(rx_rig_receive(&longest));
			assert_int_equal(burst_of(512)(&rx_rig.rxq, pkts, 4), 1);
			check(form, pkts[0], &longest);
			rte_pktmbuf_free(pkts[0]);
		}
		assert_int_equal(rx_rig.rxq.count.errors, 3 * RX_RIG_WQES);
		stop_queue();
	}
}

static void
a_stopped_queue_is_restarted(void **state)
{
	struct rte_mbuf *pkts[8];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(forms); i++) {
		struct rx_frame frame = { .len = bytes_of(&forms[i], 1u << forms[i].log2_segs) };

		start(&forms[i]);
		assert_int_equal(mdv_rx_split_fill(&rx_rig.rxq), 0);
		for (unsigned int k = 0; k < 5; k++)
			assert_true(rx_rig_receive(&frame));
		rx_rig_fail(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 10);
		assert_int_equal(burst_of(0)(&rx_rig.rxq, pkts, 8), 5);
		rte_pktmbuf_free_bulk(pkts, 5);
		assert_int_equal(rig_verbs.nb_wq_states, 2);
		assert_int_equal(rte_be_to_cpu_32(rx_rig.wq_dbrec[0]), RX_RIG_WQES);
		assert_true(rx_rig_receive(&frame));
		assert_int_equal(burst_of(0)(&rx_rig.rxq, pkts, 8), 1);
		check(&forms[i], pkts[0], &frame);
		rte_pktmbuf_free(pkts[0]);
		stop_queue();
	}
}

/** Take all but @p left mbufs of @p pool. @return their number */
static unsigned int
hog(struct rte_mempool *pool, unsigned int left, struct rte_mbuf **held)
{
	const unsigned int nb = rte_mempool_avail_count(pool) - left;

	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, held, nb), 0);
	return nb;
}

/** Of one pool the ring has few mbufs more than it needs: it runs down, and comes back. */
static void
an_empty_pool_loses_nothing(void **state)
{
	struct rte_mempool **const pools[] = { &heads, &rests, &bodies };
	const struct form *form = &forms[3];
	struct rx_frame frame = { .len = 700 };
	struct rte_mbuf *held[POOL], *kept[RX_RIG_WQES + 8], *pkts[RX_RIG_WQES];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(pools); i++) {
		unsigned int nb_held, nb;

		start(form);
		assert_int_equal(mdv_rx_split_fill(&rx_rig.rxq), 0);
		nb_held = hog(*pools[i], 5, held);
		for (nb = 0; rx_rig_receive(&frame); nb++)
			assert_int_equal(burst_of(0)(&rx_rig.rxq, &kept[nb], 1), 1);
		/* Five packets more than WQEs: each took one mbuf of this pool. */
		assert_int_equal(nb, RX_RIG_WQES + 5);
		assert_int_equal(rte_mempool_avail_count(*pools[i]), 0);
		assert_true(rx_rig.rxq.count.nombuf > 0);
		assert_int_equal(burst_of(0)(&rx_rig.rxq, pkts, 1), 0);
		for (unsigned int k = 0; k < nb; k++) {
			check(form, kept[k], &frame);
			rte_pktmbuf_free(kept[k]);
		}
		assert_int_equal(burst_of(0)(&rx_rig.rxq, pkts, 1), 0);
		for (nb = 0; rx_rig_receive(&frame); nb++)
			;
		assert_int_equal(nb, RX_RIG_WQES);
		assert_int_equal(burst_of(0)(&rx_rig.rxq, pkts, RX_RIG_WQES), RX_RIG_WQES);
		rte_pktmbuf_free_bulk(pkts, nb);
		rte_pktmbuf_free_bulk(held, nb_held);
		stop_queue();
	}
}

/** At the start, too, and it is said which pool it was. */
static void
a_pool_too_small_for_the_ring_is_named(void **state)
{
	struct rte_mbuf *held[POOL], *pkts[1];
	struct rx_frame frame = { .len = 700 };
	const struct form *form = &forms[3];
	uint32_t nb_needed = 0;

	(void)state;
	for (unsigned int left = 0; left < 2 * RX_RIG_WQES; left++) {
		unsigned int nb;

		start(form);
		/* Two of a WQE's four segments are bodies: one described, and one that fills up. */
		nb = hog(bodies, left, held);
		assert_int_equal(mdv_rx_split_fill(&rx_rig.rxq), -ENOMEM);
		assert_ptr_equal(mdv_rx_split_lacks(&rx_rig.rxq, &nb_needed), bodies);
		assert_int_equal(nb_needed, 2 * RX_RIG_WQES);
		rte_pktmbuf_free_bulk(held, nb);
		/* The next bursts fill in what was missing. */
		assert_int_equal(burst_of(0)(&rx_rig.rxq, pkts, 1), 0);
		if (rx_rig.rxq.pos.wqe_pi < RX_RIG_WQES) {
			assert_true(rx_rig.rxq.pos.wqe_pi > RX_RIG_WQES - 8u);
		} else {
			assert_null(mdv_rx_split_lacks(&rx_rig.rxq, &nb_needed));
		}
		assert_true(rx_rig_receive(&frame));
		assert_int_equal(burst_of(0)(&rx_rig.rxq, pkts, 1), 1);
		check(form, pkts[0], &frame);
		rte_pktmbuf_free(pkts[0]);
		stop_queue();
	}
}

/** Pools of several regions: each segment is looked up. */
static void
regions_are_looked_up(void **state)
{
	struct rx_frame frame = { .len = 700 };
	struct mdv_rxq *rxq = &rx_rig.rxq;
	struct rte_mbuf *pkts[1];

	(void)state;
	start(&forms[3]);
	rxq->split->segs[1].lkey_be = MDV_MR_LKEY_NONE;
	rx_rig.lkeys[1] = rte_cpu_to_be_32(0x4711);
	rxq->mr.last = (struct mdv_mr_hit){ .size = UINT64_MAX, .lkey_be = rx_rig.lkeys[1] };
	assert_int_equal(mdv_rx_split_fill(rxq), 0);
	for (unsigned int k = 0; k < 3 * RX_RIG_WQES; k++) {
		assert_true(rx_rig_receive(&frame));
		assert_int_equal(burst_of(0)(rxq, pkts, 1), 1);
		check(&forms[3], pkts[0], &frame);
		rte_pktmbuf_free(pkts[0]);
	}
	stop_queue();
}

/** Queues of the same port that do not split: the burst serves them, too. */
static void
other_queues_have_the_same_burst(void **state)
{
	struct rte_mbuf *pkts[RX_RIG_WQES];
	unsigned int nb;

	(void)state;
	for (uint8_t log2_segs = 0; log2_segs < 3; log2_segs++) {
		struct rx_frame frame = { .len = 256 + (RX_RIG_ROOM * log2_segs) };

		rx_rig_start(log2_segs, 8 * RX_RIG_WQES);
		assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
		for (unsigned int k = 0; k < 5; k++) {
			for (nb = 0; rx_rig_receive(&frame); nb++)
				;
			assert_int_equal(burst_of(0)(&rx_rig.rxq, pkts, RX_RIG_WQES), nb);
			assert_true(nb != 0);
			for (unsigned int i = 0; i < nb; i++)
				rx_rig_check(pkts[i], &frame);
			rte_pktmbuf_free_bulk(pkts, nb);
		}
		rx_rig_stop();
	}
}

/** A device that tells more bytes than it was given. */
static void
a_length_beyond_the_segments_takes_those_of_the_slot(void **state)
{
	struct rx_frame frame = { .len = 60 };
	struct rte_mbuf *pkts[1];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(forms); i++) {
		struct mdv_hw_cqe *cqe;

		start(&forms[i]);
		assert_int_equal(mdv_rx_split_fill(&rx_rig.rxq), 0);
		cqe = &rx_rig.cqes[rx_rig.cq_pi % RX_RIG_WQES];
		assert_true(rx_rig_receive(&frame));
		cqe->byte_cnt = rte_cpu_to_be_32(50000);
		assert_int_equal(burst_of(0)(&rx_rig.rxq, pkts, 1), 1);
		assert_int_equal(pkts[0]->nb_segs, 1u << forms[i].log2_segs);
		rte_pktmbuf_free(pkts[0]);
		stop_queue();
	}
}

/** Packets wait, single or compressed, errors among them, and the application keeps some. */
static void
live(const struct form *form, unsigned int max_block)
{
	static struct rx_frame waiting[RX_RIG_WQES], kept_frames[200];
	static struct rte_mbuf *kept[RTE_DIM(kept_frames)];
	unsigned int nb_waiting = 0, nb_kept = 0;

	start(form);
	rx_rig.rxq.ring.runtime_opts |= max_block != 0 ? MDV_RX_RUNTIME_MINI : 0;
	rx_rig.block.max = max_block;
	rx_rig.block.random = true;
	assert_int_equal(mdv_rx_split_fill(&rx_rig.rxq), 0);
	for (unsigned int step = 0; step < 400; step++) {
		const uint32_t longest = bytes_of(form, 1u << form->log2_segs);
		struct rte_mbuf *pkts[RX_RIG_WQES];
		unsigned int nb = random() % 12, got;

		while (nb-- != 0) {
			struct rx_frame frame = { .len = 1 + random() % longest,
				.fill = random(),
				.hash = random(),
				.hash_type = 0x80 };

			frame.len += random() % 20 == 0 ? longest : 0;
			if (rx_rig_receive(&frame) && frame.len <= longest)
				waiting[nb_waiting++] = frame;
		}
		rx_rig_flush();
		got = burst_of(0)(&rx_rig.rxq, pkts, 1 + random() % RTE_DIM(pkts));
		assert_true(got <= nb_waiting);
		for (unsigned int i = 0; i < got; i++) {
			if (nb_kept == RTE_DIM(kept) || random() % 3 == 0) {
				check(form, pkts[i], &waiting[i]);
				rte_pktmbuf_free(pkts[i]);
				continue;
			}
			kept_frames[nb_kept] = waiting[i];
			kept[nb_kept++] = pkts[i];
		}
		nb_waiting -= got;
		memmove(waiting, waiting + got, nb_waiting * sizeof(waiting[0]));
		while (nb_kept != 0 && random() % 4 != 0) {
			nb_kept--;
			check(form, kept[nb_kept], &kept_frames[nb_kept]);
			rte_pktmbuf_free(kept[nb_kept]);
		}
	}
	assert_true(rx_rig.rxq.count.errors != 0 && rx_rig.rxq.count.packets > 800);
	assert_true(max_block == 0 || rx_rig.nb_blocks > 100);
	while (nb_kept-- != 0)
		rte_pktmbuf_free(kept[nb_kept]);
	stop_queue();
}

static void
random_lives(void **state)
{
	static const unsigned int max_blocks[] = { 0, 7, 32 };

	(void)state;
	srandom(1904);
	for (unsigned int i = 0; i < RTE_DIM(forms); i++) {
		for (unsigned int k = 0; k < RTE_DIM(max_blocks); k++)
			live(&forms[i], max_blocks[k]);
	}
}

static void
the_burst_is_named(void **state)
{
	struct rte_eth_burst_mode mode = { 0 };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(widths); i++) {
		assert_ptr_equal(burst_of(widths[i]), burst_of(0));
		assert_string_equal(
			mdv_rx_select_limited_by(MDV_RX_SCATTER | MDV_RX_SPLIT, widths[i]),
			"packets are split");
	}
	assert_true(mdv_rx_select_describe(burst_of(512), &mode));
	assert_string_equal(mode.info, "Scalar, scattered, split, hash");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_is_in_its_segment),
		cmocka_unit_test(too_long_a_frame_costs_no_mbuf),
		cmocka_unit_test(a_stopped_queue_is_restarted),
		cmocka_unit_test(an_empty_pool_loses_nothing),
		cmocka_unit_test(a_pool_too_small_for_the_ring_is_named),
		cmocka_unit_test(regions_are_looked_up),
		cmocka_unit_test(other_queues_have_the_same_burst),
		cmocka_unit_test(a_length_beyond_the_segments_takes_those_of_the_slot),
		cmocka_unit_test(random_lives),
		cmocka_unit_test(the_burst_is_named),
	};

	return cmocka_run_group_tests(tests, group_make, NULL);
}
