/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local loopback between the netdev and the contexts of a port. That between contexts is
 * test/verbs/loopback.c's.
 */
#include "rig.h"

#include <endian.h>
#include <string.h>

#include "hw/queue/loopback.h"
#include "steering/steering.h"

#define FRAME_BYTES 60
#define RUNT_BYTES  42 /* Linux leaves padding to the card */
#define DONT_TRAP   2  /* IB_FLOW_ATTR_FLAGS_DONT_TRAP */

enum sender {
	NETDEV,
	QUEUE,
};

enum to {
	PORT,
	GROUP,
	EVERYBODY,
	STRANGER,
};

/** Whose the TIR is that a rule gives everything to. */
enum rule {
	NO_RULE,
	OF_THE_SENDER, /* the queue's context */
	OF_ANOTHER,
	OF_ANOTHER_DONT_TRAP,
	TAKES_OWN, /* of the queue's context, with both flags */
};

/** Who gets a frame. */
#define WIRE   1u
#define RULE   2u
#define LINUX  4u
#define NOBODY 0u

struct row {
	enum sender sender;
	unsigned int nb_contexts;
	enum rule rule;
	unsigned int gets[STRANGER + 1]; /* by enum to */
};

/* Linux counts contexts and TIRs with a flag, not its netdev (hw/mlx5/main.c mlx5_ib_enable_lb);
 * a TIR refuses its own domain's frames alone, and the netdev's domain is the netdev's (mlx5/core
 * en_common.c).
 */
static const struct row rows[] = {
	/* One context and the netdev: the port does not loop. */
	{ NETDEV, 1, NO_RULE, { WIRE, WIRE, WIRE, WIRE } },
	{ NETDEV, 1, OF_ANOTHER, { WIRE, WIRE, WIRE, WIRE } },
	{ QUEUE, 1, NO_RULE, { WIRE, WIRE, WIRE, WIRE } },
	/* The netdev gets nothing of its own, and what is for the port stays nevertheless. */
	{ NETDEV, 2, NO_RULE, { NOBODY, WIRE, WIRE, WIRE } },
	/* Any context's rule takes the netdev's frames: none is of its domain. */
	{ NETDEV, 2, OF_THE_SENDER, { RULE, WIRE | RULE, WIRE | RULE, WIRE } },
	{ NETDEV, 2, OF_ANOTHER, { RULE, WIRE | RULE, WIRE | RULE, WIRE } },
	{ NETDEV, 2, OF_ANOTHER_DONT_TRAP, { RULE, WIRE | RULE, WIRE | RULE, WIRE } },
	{ NETDEV, 1, TAKES_OWN, { RULE, WIRE | RULE, WIRE | RULE, WIRE } },
	/* The netdev gets what no rule takes, as it does of what comes in. */
	{ QUEUE, 2, NO_RULE, { LINUX, WIRE | LINUX, WIRE | LINUX, WIRE } },
	/* A rule whose TIR refuses the frame has taken it all the same. */
	{ QUEUE, 2, OF_THE_SENDER, { NOBODY, WIRE, WIRE, WIRE } },
	{ QUEUE, 2, OF_ANOTHER, { RULE, WIRE | RULE, WIRE | RULE, WIRE } },
	{ QUEUE, 2, OF_ANOTHER_DONT_TRAP,
		{ RULE | LINUX, WIRE | RULE | LINUX, WIRE | RULE | LINUX, WIRE } },
	{ QUEUE, 1, TAKES_OWN, { RULE, WIRE | RULE, WIRE | RULE, WIRE } },
};

/** By enum to. */
static const uint8_t address[][6] = { { 2, 0, 0, 0, 0, 1 }, { 1, 0, 0x5e, 0, 0, 9 },
	{ 255, 255, 255, 255, 255, 255 }, { 2, 9, 9, 9, 9, 9 } };

/** NULL: the device's. */
static const uint8_t *netdev_mac;

static void
open_row(struct rig *rig, const struct row *row)
{
	struct shca_rule_attr attr = { .flags = DONT_TRAP };

	rig_init(rig);
	rig->with_kernel = true;
	if (netdev_mac != NULL)
		memcpy(rig->kernel.mac, netdev_mac, sizeof(rig->kernel.mac));
	rig->no_rule = row->rule == NO_RULE || row->rule == OF_ANOTHER_DONT_TRAP;
	rig->tir_attr.tdn = row->rule == OF_ANOTHER || row->rule == OF_ANOTHER_DONT_TRAP ? 1 : 0;
	rig->tir_attr.takes_own_unicast = row->rule == TAKES_OWN;
	rig->tir_attr.takes_own_multicast = row->rule == TAKES_OWN;
	rig_open(rig);
	for (unsigned int i = 0; i < row->nb_contexts; i++)
		shca_loopback_count_domain(rig->dev, 1);
	if (row->rule == OF_ANOTHER_DONT_TRAP) {
		attr.tir = rig->tir;
		assert_int_equal(
			shca_rule_add(shca_device_steering(rig->dev), &attr, &rig->rule), 0);
		shca_device_rules_changed(rig->dev);
	}
	rig_fill_rx(rig, 8);
}

/** @return what @p wire has got, which is @p frame or nothing. */
static unsigned int
got(const struct rig_wire *wire, unsigned int who, const uint8_t *frame)
{
	if (wire->nb_sent == 0)
		return NOBODY;
	assert_int_equal(wire->nb_sent, 1);
	assert_int_equal(wire->sent[0].length, FRAME_BYTES);
	assert_memory_equal(wire->sent[0].bytes, frame, FRAME_BYTES);
	return who;
}

/** The same of the receive queue. @param nb_before  frames that it has had */
static unsigned int
received(struct rig *rig, unsigned int nb_before, const uint8_t *frame)
{
	struct shca_cqe cqe;

	if (!rig_poll(&rig->rx, &cqe))
		return NOBODY;
	assert_int_equal(be32toh(cqe.byte_count), FRAME_BYTES);
	assert_memory_equal(rig->buffers + (size_t)nb_before * RIG_RX_BYTES, frame, FRAME_BYTES);
	assert_false(rig_poll(&rig->rx, &cqe));
	return RULE;
}

static void
check_row(const struct row *row)
{
	unsigned int nb_received = 0, gets;
	uint8_t frame[FRAME_BYTES];
	struct rig rig;

	open_row(&rig, row);
	for (unsigned int to = 0; to <= STRANGER; to++) {
		rig_frame(frame, FRAME_BYTES, (uint8_t)to);
		memcpy(frame, address[to], sizeof(address[to]));
		memset(frame + RUNT_BYTES, 0, FRAME_BYTES - RUNT_BYTES);
		if (row->sender == NETDEV) {
			rig_come(&rig.kernel, frame, RUNT_BYTES);
		} else {
			rig_place(&rig, 0, frame, FRAME_BYTES);
			rig_send(&rig, 0, FRAME_BYTES, SHCA_CE_ON_ERROR);
		}
		rig_run(&rig);
		gets = received(&rig, nb_received, frame);
		nb_received += gets == RULE;
		gets |= got(&rig.wire, WIRE, frame) | got(&rig.kernel, LINUX, frame);
		if (gets != row->gets[to])
			fail_msg("sender %d, %u contexts, rule %d, address %u: %u, not %u",
				row->sender, row->nb_contexts, row->rule, to, gets, row->gets[to]);
		rig_forget(&rig.wire);
		rig_forget(&rig.kernel);
	}
	rig_close(&rig);
}

/** The netdev may get another address, and then the device's is a stranger's. */
static void
address_of_the_netdev(void **state)
{
	static const struct row row = { QUEUE, 2, OF_ANOTHER,
		{ WIRE, WIRE | RULE, WIRE | RULE, RULE } };

	(void)state;
	netdev_mac = address[STRANGER];
	check_row(&row);
	netdev_mac = NULL;
}

static void
between_netdev_and_contexts(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between_netdev_and_contexts),
		cmocka_unit_test(address_of_the_netdev),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
