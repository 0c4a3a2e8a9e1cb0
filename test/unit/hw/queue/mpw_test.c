/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enhanced multi-packet sends, sound and unsound, do the same whether their segments are walked
 * where they lie or decoded first, frame by frame: two devices get the same WQEs, and one of them a
 * rule on sent frames, which makes it look at each.
 */
#include "../../rounds.h"
#include "rig.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include "hw/state/device.h"
#include "steering/steering.h"

#define NB_TRIALS   400
#define NB_WQES     5
#define MAX_NUMBER  61 /* of segments */
#define NB_RX       64
#define TX_BYTES    (RIG_BUFFERS_BYTES - RIG_TX_OFFSET)
#define LONG_FRAMES 20000

enum kind {
	POINTER,
	INLINED,
	STRANGE_KEY,
	OUTSIDE,
};

struct segment {
	enum kind kind;
	uint32_t offset, length;
};

struct order {
	struct segment segment[MAX_NUMBER];
	unsigned int nb;
	uint8_t cs_flags, opmod;
	enum shca_ce ce;
	bool is_misnumbered;
};

static bool
reflects(const struct shca_wire *wire)
{
	(void)wire;
	return true;
}

static bool
one_in(int nb)
{
	return rand() % nb == 0;
}

/** Mostly what drivers send. @param unsound: one in so many segments is not */
static void
invent(struct order *order, int unsound)
{
	const uint32_t common = one_in(3) ? 14 + (uint32_t)rand() % 1500 : 64;

	*order = (struct order){
		.nb = 1 + (unsigned int)rand() % (one_in(3) ? MAX_NUMBER : 16),
		.cs_flags = one_in(10) ? SHCA_ETH_CSUM_L3 | SHCA_ETH_CSUM_L4 : 0,
		.opmod = one_in(60) ? 1 : 0,
		.ce = one_in(2) ? SHCA_CE_ALWAYS : SHCA_CE_ON_FIRST_ERROR,
		.is_misnumbered = one_in(60),
	};
	for (unsigned int i = 0; i < order->nb; i++) {
		struct segment *segment = &order->segment[i];

		*segment = (struct segment){ POINTER, (uint32_t)rand() % 4096, common };
		if (one_in(8))
			segment->length = 14 + (uint32_t)rand() % 100;
		if (!one_in(unsound))
			continue;
		segment->kind = (enum kind)(rand() % 4);
		if (segment->kind == POINTER)
			segment->length =
				one_in(2) ? (uint32_t)rand() % 14 : (uint32_t)rand() % LONG_FRAMES;
		else if (segment->kind == INLINED) {
			segment->length = 14 + (uint32_t)rand() % 30;
			order->nb = i + 1; /* what is longer need not fit */
		}
	}
}

static void
open_one(struct rig *rig, bool is_looked_at, struct shca_wire_ops *loop, struct shca_rule **egress)
{
	/* Drops what is never sent. */
	const struct {
		struct ib_uverbs_flow_spec_eth eth;
		struct ib_uverbs_flow_spec_hdr drop;
	} specs = {
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			.size = sizeof(specs.eth),
			.val.ether_type = htobe16(0x1234),
			.mask.ether_type = UINT16_MAX },
		.drop = { .type = IBV_FLOW_SPEC_ACTION_DROP, .size = sizeof(specs.drop) },
	};
	const struct shca_rule_attr attr = {
		.flags = IBV_FLOW_ATTR_FLAGS_EGRESS,
		.nb_specs = 2,
		.specs = &specs,
		.specs_length = sizeof(specs),
	};

	rig_init(rig);
	rig->sq_attr.nb_wqebbs = 128;
	rig->rq_attr.nb_wqes = NB_RX;
	rig->nb_cqes = 128;
	if (loop != NULL) {
		*loop = *rig->wire.wire.ops;
		loop->reflects = reflects;
		rig->wire.wire.ops = loop;
	}
	rig_open(rig);
	for (uint32_t i = 0; i < TX_BYTES; i++)
		rig->buffers[RIG_TX_OFFSET + i] = (uint8_t)(i * 7 + i / 256);
	*egress = NULL;
	if (!is_looked_at)
		return;
	shca_device_lock(rig->dev);
	assert_int_equal(shca_rule_add(shca_device_steering(rig->dev), &attr, egress), 0);
	shca_device_unlock(rig->dev);
}

static void
close_one(struct rig *rig, struct shca_rule *egress)
{
	shca_device_lock(rig->dev);
	shca_rule_del(shca_device_steering(rig->dev), egress);
	shca_device_unlock(rig->dev);
	rig_close(rig);
}

static void
post(struct rig *rig, const struct order *order)
{
	struct rig_wqe wqe;

	rig_wqe_start(&wqe, SHCA_OPCODE_ENHANCED_MPSW, order->ce);
	rig_wqe_eth(&wqe, order->cs_flags, 0, "", 0);
	for (unsigned int i = 0; i < order->nb; i++) {
		const struct segment *segment = &order->segment[i];
		const uint8_t *at = rig->buffers + RIG_TX_OFFSET + segment->offset;
		uint32_t lkey = rig->mr->lkey + (segment->kind == STRANGE_KEY);

		if (segment->kind == OUTSIDE)
			at = rig->buffers + RIG_BUFFERS_BYTES - segment->length / 2;
		if (segment->kind == INLINED)
			rig_wqe_inline(&wqe, at, segment->length);
		else
			rig_wqe_pointer(&wqe, lkey, (uintptr_t)at, segment->length);
	}
	wqe.bytes[0] = order->opmod;
	rig_number(rig, &wqe);
	if (order->is_misnumbered)
		wqe.bytes[2] ^= 1;
	rig_post_raw(rig, &wqe, (wqe.length + 63) / 64);
}

static void
compare_completions(struct rig_cq *one, struct rig_cq *other, const struct rig *rigs)
{
	struct shca_cqe a, b;

	while (rig_poll(one, &a)) {
		assert_true(rig_poll(other, &b));
		a.timestamp = b.timestamp = 0;
		assert_memory_equal(&a, &b, sizeof(a));
	}
	assert_false(rig_poll(other, &b));
	assert_int_equal(shca_sq_state(rigs[0].sq), shca_sq_state(rigs[1].sq));
}

static void
compare(struct rig *rigs)
{
	const struct shca_device_stats *one = shca_device_stats(rigs[0].dev);
	const struct shca_device_stats *other = shca_device_stats(rigs[1].dev);

	compare_completions(&rigs[0].tx, &rigs[1].tx, rigs);
	compare_completions(&rigs[0].rx, &rigs[1].rx, rigs);
	assert_memory_equal(rigs[0].buffers, rigs[1].buffers, (size_t)NB_RX * RIG_RX_BYTES);
	assert_int_equal(rigs[0].wire.nb_sent, rigs[1].wire.nb_sent);
	for (unsigned int i = 0; i < rigs[0].wire.nb_sent; i++) {
		assert_int_equal(rigs[0].wire.sent[i].length, rigs[1].wire.sent[i].length);
		assert_memory_equal(rigs[0].wire.sent[i].bytes, rigs[1].wire.sent[i].bytes,
			rigs[0].wire.sent[i].length);
	}
	assert_int_equal(one->tx_frames, other->tx_frames);
	assert_int_equal(one->tx_bytes, other->tx_bytes);
	assert_int_equal(one->tx_errors, other->tx_errors);
	assert_int_equal(one->rx_frames, other->rx_frames);
	assert_int_equal(one->out_of_buffer, other->out_of_buffer);
}

static void
compare_ways(bool is_loop)
{
	const unsigned int nb_trials = test_rounds(NB_TRIALS);
	uint64_t nb_sent = 0, nb_errors = 0;

	srand(3);
	for (unsigned int trial = 0; trial < nb_trials; trial++) {
		const int unsound = trial % 2 == 0 ? 40 : 100000;
		struct shca_wire_ops loop;
		struct shca_rule *egress[2];
		struct rig rigs[2];

		for (unsigned int i = 0; i < 2; i++)
			open_one(&rigs[i], i != 0, is_loop ? &loop : NULL, &egress[i]);
		for (unsigned int wqe = 0; wqe < NB_WQES; wqe++) {
			unsigned int room = one_in(2) ? (unsigned int)rand() % 80 : 400;
			struct order order;

			invent(&order, unsound);
			for (unsigned int i = 0; i < 2; i++) {
				rig_fill_rx(&rigs[i],
					NB_RX - (uint16_t)(rigs[i].rq_pi - rigs[i].rx.ci));
				rigs[i].wire.room = room;
				post(&rigs[i], &order);
				rig_run(&rigs[i]);
			}
			compare(rigs);
		}
		nb_sent += shca_device_stats(rigs[0].dev)->tx_frames;
		nb_errors += shca_device_stats(rigs[0].dev)->tx_errors;
		for (unsigned int i = 0; i < 2; i++)
			close_one(&rigs[i], egress[i]);
	}
	assert_uint_in_range(nb_sent, nb_trials * 10, UINT64_MAX);
	assert_uint_in_range(nb_errors, nb_trials / 10, UINT64_MAX);
}

static void
to_a_wire(void **state)
{
	(void)state;
	compare_ways(false);
}

static void
to_a_loop(void **state)
{
	(void)state;
	compare_ways(true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(to_a_wire),
		cmocka_unit_test(to_a_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
