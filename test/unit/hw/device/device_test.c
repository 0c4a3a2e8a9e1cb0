/* SPDX-License-Identifier: BSD-3-Clause */
/* The round: wire to queues and netdev, netdev to wire, RSS over queues, send to receive over a
 * loop. */
#include "rig.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include "hw/format/rss.h"
#include "steering/match/param.h"
#include "steering/match/parse.h"
#include "steering/steering.h"

static const uint8_t own_mac[6] = { 2, 0, 0, 0, 0, 1 };

static uint32_t
frame_to(uint8_t *bytes, const uint8_t *mac)
{
	rig_frame(bytes, 60, 0);
	memcpy(bytes, mac, 6);
	return 60;
}

/** Without a rule the netdev gets what its filter takes; the rest is unwanted. */
static void
to_the_netdev(void **state)
{
	static const uint8_t broadcast[6] = { 255, 255, 255, 255, 255, 255 };
	static const uint8_t stranger[6] = { 2, 9, 9, 9, 9, 9 };
	const struct timespec pause = { .tv_nsec = 12000000 };
	const struct shca_device_stats *stats;
	uint8_t bytes[60];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.with_kernel = rig.no_rule = true;
	rig_open(&rig);
	stats = shca_device_stats(rig.dev);
	rig_come(&rig.wire, bytes, frame_to(bytes, own_mac));
	rig_come(&rig.wire, bytes, frame_to(bytes, broadcast));
	rig_come(&rig.wire, bytes, frame_to(bytes, stranger));
	rig_run(&rig);
	assert_int_equal(rig.kernel.nb_sent, 2);
	assert_memory_equal(rig.kernel.sent[0].bytes, own_mac, 6);
	assert_int_equal(stats->rx_kernel, 2);
	assert_int_equal(stats->rx_unwanted, 1);
	assert_int_equal(stats->rx_frames, 3);
	assert_int_equal(stats->rx_bytes, 180);
	/* Another address of the netdev, in place of the port's, is noticed. */
	memcpy(rig.kernel.mac, stranger, sizeof(stranger));
	nanosleep(&pause, NULL);
	rig_run(&rig);
	rig_come(&rig.wire, bytes, frame_to(bytes, stranger));
	rig_come(&rig.wire, bytes, frame_to(bytes, own_mac));
	rig_run(&rig);
	assert_int_equal(rig.kernel.nb_sent, 3);
	assert_memory_equal(rig.kernel.sent[2].bytes, stranger, 6);
	memcpy(rig.kernel.mac, own_mac, sizeof(own_mac));
	/* So is ifconfig promisc. */
	rig.kernel.promiscuous = true;
	nanosleep(&pause, NULL);
	rig_run(&rig);
	rig_come(&rig.wire, bytes, frame_to(bytes, stranger));
	rig_run(&rig);
	assert_int_equal(rig.kernel.nb_sent, 4);
	/* A netdev that does not keep up loses frames. */
	rig.kernel.room = 0;
	rig_come(&rig.wire, bytes, frame_to(bytes, own_mac));
	rig_run(&rig);
	assert_int_equal(stats->rx_kernel, 4);
	assert_int_equal(stats->rx_kernel_lost, 1);
	/* One that is down takes them, and loses them, too. */
	rig.kernel.room = UINT32_MAX;
	rig.kernel.is_down = true;
	rig_come(&rig.wire, bytes, frame_to(bytes, own_mac));
	rig_run(&rig);
	assert_int_equal(stats->rx_kernel, 4);
	assert_int_equal(stats->rx_kernel_lost, 2);
	assert_int_equal(rig.wire.nb_starts, 0);
	rig_close(&rig);
}

/** The netdev's frames go out, runts padded, each once, however slow the wire. */
static void
from_the_netdev(void **state)
{
	uint8_t bytes[100];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.with_kernel = true;
	rig_open(&rig);
	rig_frame(bytes, 100, 7);
	for (unsigned int i = 0; i < 70; i++)
		rig_come(&rig.kernel, bytes, i % 2 != 0 ? 100 : 42);
	for (unsigned int i = 0; i < 30; i++) {
		rig.wire.room = 3;
		rig_run(&rig);
	}
	assert_int_equal(rig.wire.nb_sent, 70);
	for (unsigned int i = 0; i < 70; i++) {
		assert_int_equal(rig.wire.sent[i].length, i % 2 != 0 ? 100 : 60);
		assert_memory_equal(rig.wire.sent[i].bytes, bytes, 42);
		assert_int_equal(rig.wire.sent[i].bytes[42], i % 2 != 0 ? bytes[42] : 0);
	}
	assert_int_equal(shca_device_stats(rig.dev)->tx_frames, 70);
	rig_close(&rig);
}

/** The frames of a patient wire wait for receive WQEs; a queue that is never filled holds up none.
 */
static void
patience(void **state)
{
	const struct shca_device_stats *stats;
	struct shca_cqe cqe;
	struct shca_rq_attr idle_attr;
	__be32 idle_dbrec[2] = { 0 };
	struct shca_rq *idle;
	uint8_t bytes[60];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.wire.patient = true;
	rig_open(&rig);
	stats = shca_device_stats(rig.dev);
	idle_attr = rig.rq_attr;
	idle_attr.dbrec = idle_dbrec;
	idle_attr.cq = rig.rx.cq;
	assert_int_equal(shca_rq_create(rig.dev, &idle_attr, &idle), 0);
	shca_rq_modify(idle, SHCA_QUEUE_READY);
	for (unsigned int i = 0; i < 20; i++)
		rig_come(&rig.wire, bytes, frame_to(bytes, own_mac));
	for (unsigned int i = 1; i <= 20; i++) {
		rig_fill_rx(&rig, 1);
		rig_run(&rig);
		assert_int_equal(stats->rx_frames, i);
		assert_true(rig_poll(&rig.rx, &cqe));
		assert_false(rig_poll(&rig.rx, &cqe));
	}
	assert_int_equal(stats->out_of_buffer, 0);
	/* Other wires do not wait. */
	rig.wire.patient = false;
	rig_come(&rig.wire, bytes, frame_to(bytes, own_mac));
	rig_run(&rig);
	assert_int_equal(stats->rx_frames, 21);
	assert_int_equal(stats->out_of_buffer, 1);
	shca_rq_destroy(idle);
	rig_close(&rig);
}

/** PASSTHRU in verbs: a DONT_TRAP rule copies to its queue, and the netdev still gets the frame. */
static void
dont_trap(void **state)
{
	struct shca_rule_attr attr = { .flags = 2 };
	struct shca_cqe cqe;
	uint8_t bytes[60];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.with_kernel = rig.no_rule = true;
	rig_open(&rig);
	attr.tir = rig.tir;
	assert_int_equal(shca_rule_add(shca_device_steering(rig.dev), &attr, &rig.rule), 0);
	shca_device_rules_changed(rig.dev);
	rig_fill_rx(&rig, 2);
	rig_come(&rig.wire, bytes, frame_to(bytes, own_mac));
	rig_run(&rig);
	assert_true(rig_poll(&rig.rx, &cqe));
	assert_memory_equal(rig.buffers, bytes, 60);
	assert_int_equal(rig.kernel.nb_sent, 1);
	assert_int_equal(rig.wire.nb_starts, 1);
	shca_device_rules_changed(rig.dev);
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_starts, 1);
	rig_close(&rig);
}

/** A sniffer gets what is sent too; its queue gets the received copy beside the netdev's. */
static void
sniffer(void **state)
{
	struct shca_rule_attr attr = { .type = 3 };
	struct shca_cqe cqe;
	uint8_t bytes[60];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.with_kernel = rig.no_rule = true;
	rig_open(&rig);
	attr.tir = rig.tir;
	assert_int_equal(shca_rule_add(shca_device_steering(rig.dev), &attr, &rig.rule), 0);
	rig_fill_rx(&rig, 4);
	rig_place(&rig, 0, bytes, frame_to(bytes, own_mac));
	rig_send(&rig, 0, 60, SHCA_CE_ALWAYS);
	rig_run(&rig);
	assert_true(rig_poll(&rig.rx, &cqe));
	assert_memory_equal(rig.buffers, bytes, 60);
	assert_int_equal(rig.wire.nb_sent, 1);
	rig_come(&rig.wire, bytes, 60);
	rig_run(&rig);
	assert_true(rig_poll(&rig.rx, &cqe));
	assert_false(rig_poll(&rig.rx, &cqe));
	assert_int_equal(rig.kernel.nb_sent, 1);
	rig_close(&rig);
}

/** A frame that a sniffer got is not unwanted because a rule has changed it since. */
static void
sniffed_and_changed(void **state)
{
	const struct shca_modify change = { .kind = SHCA_MODIFY_HEADER };
	const struct shca_param any = { { 0 } };
	const struct shca_raw_rule_attr raw = {
		.default_miss = true, .mask = &any, .value = &any, .modify_set.modify = &change
	};
	struct shca_rule_attr attr = { .type = 3 };
	const struct shca_device_stats *stats;
	struct shca_rule *rule;
	uint8_t bytes[60];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.no_rule = true;
	rig_open(&rig);
	stats = shca_device_stats(rig.dev);
	assert_int_equal(shca_rule_add_raw(shca_device_steering(rig.dev), &raw, &rule), 0);
	shca_device_rules_changed(rig.dev);
	rig_come(&rig.wire, bytes, frame_to(bytes, own_mac));
	rig_run(&rig);
	assert_int_equal(stats->rx_unwanted, 1);
	attr.tir = rig.tir;
	assert_int_equal(shca_rule_add(shca_device_steering(rig.dev), &attr, &rig.rule), 0);
	rig_fill_rx(&rig, 1);
	rig_come(&rig.wire, bytes, frame_to(bytes, own_mac));
	rig_run(&rig);
	assert_int_equal(stats->rx_steered, 1);
	assert_int_equal(stats->rx_unwanted, 1);
	shca_rule_del(shca_device_steering(rig.dev), rule);
	rig_close(&rig);
}

/** A rule that forbids sending: nothing leaves, the WQE completes, and a queue behind it is not
 * stopped. */
static void
egress_drop(void **state)
{
	static const struct ib_uverbs_flow_spec_hdr drop = {
		.type = IBV_FLOW_SPEC_ACTION_DROP,
		.size = sizeof(drop),
	};
	struct shca_rule_attr attr = {
		.flags = IBV_FLOW_ATTR_FLAGS_EGRESS,
		.nb_specs = 1,
		.specs = &drop,
		.specs_length = sizeof(drop),
	};
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.no_rule = true;
	rig_open(&rig);
	assert_int_equal(shca_rule_add(shca_device_steering(rig.dev), &attr, &rig.rule), 0);
	for (unsigned int i = 0; i < 10; i++)
		rig_send(&rig, 0, 60, SHCA_CE_ALWAYS);
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 0);
	for (unsigned int i = 0; i < 10; i++) {
		assert_true(rig_poll(&rig.tx, &cqe));
		assert_int_equal(be16toh(cqe.wqe_counter), i);
	}
	assert_int_equal(shca_device_stats(rig.dev)->tx_frames, 0);
	rig_close(&rig);
}

enum {
	QUEUES = 3,
	ENTRIES = 8,
	RSS_WQES = 128,
};

/** Receive queue @p i with a CQ of its own, in the send area of the buffers; all WQEs posted. */
static struct shca_rq *
open_rss_queue(struct rig *rig, unsigned int i, struct rig_cq *cq)
{
	uint8_t *memory = rig->buffers + RIG_TX_OFFSET + i * 0x10000;
	struct mlx5_wqe_data_seg *wqe = (void *)(memory + 0xa000);
	struct shca_cq_attr cq_attr = {
		.ring = memory,
		.dbrec = (__be32 *)(void *)(memory + 0x8000),
		.nb_cqes = RSS_WQES,
		.cqe_bytes = 64,
	};
	struct shca_rq_attr rq_attr = rig->rq_attr;
	struct shca_rq *rq;

	*cq = (struct rig_cq){
		.ring = memory,
		.dbrec = cq_attr.dbrec,
		.nb_cqes = RSS_WQES,
		.cqe_bytes = 64,
	};
	for (unsigned int j = 0; j < RSS_WQES; j++) {
		memory[j * 64 + 63] = MLX5_CQE_INVALID << 4;
		wqe[j] = rig_segment(2048, rig->mr->lkey, (uintptr_t)rig->buffers);
	}
	assert_int_equal(shca_cq_create(rig->dev, &cq_attr, &cq->cq), 0);
	rq_attr.ring = memory + 0xa000;
	rq_attr.dbrec = cq_attr.dbrec + 4;
	rq_attr.nb_wqes = RSS_WQES;
	rq_attr.cq = cq->cq;
	rq_attr.dbrec[0] = htobe32(RSS_WQES);
	assert_int_equal(shca_rq_create(rig->dev, &rq_attr, &rq), 0);
	shca_rq_modify(rq, SHCA_QUEUE_READY);
	return rq;
}

/** Send packet @p n and see it in the queue that the low bits of the hash name. @return that queue
 */
static unsigned int
expect_rss(struct rig *rig, const struct shca_rss *rss, struct rig_cq *cq, unsigned int n)
{
	/* Every fifth is TCP: not hashed, entry 0. */
	enum rig_packet kind = n % 5 == 4 ? RIG_IPV4_TCP : RIG_IPV4_UDP;
	uint8_t bytes[100], input[12];
	uint32_t length = rig_packet(bytes, kind, false, 20);
	uint32_t hash = 0;
	struct shca_cqe cqe;

	rig_put16(bytes + 34, (uint16_t)(n * 77));
	memcpy(input, bytes + 26, 8);
	memcpy(input + 8, bytes + 34, 4);
	if (kind == RIG_IPV4_UDP)
		hash = shca_rss_hash(rss, input, 12);
	rig_come(&rig->wire, bytes, length);
	rig_run(rig);
	assert_true(rig_poll(&cq[hash % ENTRIES % QUEUES], &cqe));
	assert_int_equal(be32toh(cqe.rss_hash), hash);
	assert_int_equal(cqe.rss_hash_type,
		kind == RIG_IPV4_UDP ? SHCA_RSS_TYPE_IPV4 | SHCA_RSS_TYPE_UDP : 0);
	return hash % ENTRIES % QUEUES;
}

/** RSS over an indirection table with repeats. */
static void
rss(void **state)
{
	struct shca_rq *rq[QUEUES], *entries[ENTRIES];
	struct shca_rule_attr attr = { 0 };
	unsigned int nb[QUEUES] = { 0 };
	struct rig_cq cq[QUEUES];
	struct shca_rss expected;
	struct shca_rqt *rqt;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.no_rule = true;
	rig_open(&rig);
	shca_tir_destroy(rig.tir);
	for (unsigned int i = 0; i < QUEUES; i++)
		rq[i] = open_rss_queue(&rig, i, &cq[i]);
	for (unsigned int i = 0; i < ENTRIES; i++)
		entries[i] = rq[i % QUEUES];
	assert_int_equal(shca_rqt_create(rig.dev, entries, 6, &rqt), -EINVAL);
	assert_int_equal(shca_rqt_create(rig.dev, entries, ENTRIES, &rqt), 0);
	assert_int_equal(shca_rqt_size(rqt), ENTRIES);
	rig.tir_attr.rqt = rqt;
	assert_int_equal(shca_tir_create(rig.dev, &rig.tir_attr, &rig.tir), -EINVAL);
	rig.tir_attr.rq = NULL;
	rig.tir_attr.hash_fields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
		IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;
	assert_int_equal(shca_tir_create(rig.dev, &rig.tir_attr, &rig.tir), 0);
	attr.tir = rig.tir;
	assert_int_equal(shca_rule_add(shca_device_steering(rig.dev), &attr, &rig.rule), 0);
	shca_rss_init(&expected, rig.tir_attr.key);
	for (unsigned int n = 0; n < 100; n++)
		nb[expect_rss(&rig, &expected, cq, n)]++;
	for (unsigned int i = 0; i < QUEUES; i++)
		assert_uint_in_range(nb[i], 5, 90);
	shca_rule_del(shca_device_steering(rig.dev), rig.rule);
	rig.rule = NULL;
	shca_tir_destroy(rig.tir);
	rig.tir = NULL;
	shca_rqt_destroy(rqt);
	for (unsigned int i = 0; i < QUEUES; i++) {
		shca_rq_destroy(rq[i]);
		shca_cq_destroy(cq[i].cq);
	}
	rig_close(&rig);
}

/** Send queue to receive queue over the real loop wire, several laps of all rings. */
static void
loop(void **state)
{
	const struct shca_wire_ops *ops = shca_wire_find("loop", 4);
	const struct shca_wire_conf conf = { .arg = "", .fd = -1 };
	unsigned int nb_sent = 0, nb_done = 0, nb_received = 0;
	struct shca_device_conf *device_conf;
	struct shca_wire *wire;
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	assert_non_null(ops);
	assert_int_equal(ops->open(&conf, &wire), 0);
	/* The rig's wire is no loop: swap it before anything runs. */
	device_conf = (struct shca_device_conf *)(uintptr_t)shca_device_conf(rig.dev);
	device_conf->wire = wire;
	rig_fill_rx(&rig, 8);
	while (nb_received < 1000) {
		for (; nb_sent - nb_done < 4; nb_sent++) {
			uint8_t frame[100];
			uint32_t slot = nb_sent % 16;

			rig_place(&rig, slot * 128, frame, rig_frame(frame, 100, (uint8_t)nb_sent));
			rig_send(&rig, slot * 128, 100, SHCA_CE_ALWAYS);
		}
		shca_device_step(rig.dev);
		while (rig_poll(&rig.tx, &cqe))
			nb_done++;
		while (rig_poll(&rig.rx, &cqe)) {
			uint8_t frame[100];

			rig_frame(frame, 100, (uint8_t)nb_received);
			assert_int_equal(be32toh(cqe.byte_count), 100);
			assert_memory_equal(
				rig.buffers + nb_received % 8 * RIG_RX_BYTES, frame, 100);
			nb_received++;
			rig_fill_rx(&rig, 1);
		}
	}
	assert_int_equal(shca_device_stats(rig.dev)->out_of_buffer, 0);
	device_conf->wire = &rig.wire.wire;
	ops->close(wire);
	rig_close(&rig);
}

/** A whole ring is rung and no step was made yet: it is all out once the device has caught up. */
static void
what_was_rung_is_sent(void **state)
{
	const unsigned int nb = 100;
	struct rig rig;
	unsigned int i;

	(void)state;
	rig_init(&rig);
	rig.sq_attr.nb_wqebbs = 128;
	rig_open(&rig);
	for (i = 0; i < nb; i++)
		rig_send(&rig, 0, 60, SHCA_CE_ON_FIRST_ERROR);
	assert_int_equal(rig.wire.nb_sent, 0);
	shca_device_lock(rig.dev);
	shca_device_catch_up(rig.dev);
	shca_device_unlock(rig.dev);
	assert_int_equal(shca_device_stats(rig.dev)->tx_frames, nb);
	rig_close(&rig);
}

/** So are the completions written, compressed ones, too. */
static void
what_was_rung_is_complete(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.tx_mini = SHCA_MINI_CSUM;
	rig_open(&rig);
	for (unsigned int i = 0; i < 3; i++)
		rig_send(&rig, 0, 60, SHCA_CE_ALWAYS);
	shca_device_lock(rig.dev);
	shca_device_catch_up(rig.dev);
	shca_device_unlock(rig.dev);
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(be32toh(cqe.byte_count), 3);
	rig_close(&rig);
}

/** A rule changes frames of the netdev, as long and as many as it gives at once. */
static void
many_rewritten(void **state)
{
	static uint8_t bytes[9014];
	const struct shca_modify change = { .kind = SHCA_MODIFY_HEADER,
		.egress = true,
		.nb_steps = 1,
		.step = { { .type = SHCA_MODIFY_SET,
			.field = 0x02,
			.nb_bits = 16,
			.data = 0x1234 } } };
	const struct shca_param any = { { 0 } };
	const struct shca_raw_rule_attr attr = {
		.egress = true, .mask = &any, .value = &any, .modify_set.modify = &change
	};
	struct shca_rule *rule;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.with_kernel = rig.no_rule = true;
	rig_open(&rig);
	assert_int_equal(shca_rule_add_raw(shca_device_steering(rig.dev), &attr, &rule), 0);
	for (unsigned int i = 0; i < 32; i++) {
		rig_frame(bytes, sizeof(bytes), (uint8_t)i);
		rig_come(&rig.kernel, bytes, sizeof(bytes));
	}
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 32);
	for (unsigned int i = 0; i < 32; i++)
		assert_int_equal(rig_get16(rig.wire.sent[i].bytes + 10), 0x1234);
	shca_rule_del(shca_device_steering(rig.dev), rule);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_rung_is_sent),
		cmocka_unit_test(what_was_rung_is_complete),
		cmocka_unit_test(to_the_netdev),
		cmocka_unit_test(many_rewritten),
		cmocka_unit_test(from_the_netdev),
		cmocka_unit_test(patience),
		cmocka_unit_test(dont_trap),
		cmocka_unit_test(sniffer),
		cmocka_unit_test(sniffed_and_changed),
		cmocka_unit_test(egress_drop),
		cmocka_unit_test(rss),
		cmocka_unit_test(loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
