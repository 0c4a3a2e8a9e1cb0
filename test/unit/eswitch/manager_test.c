/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The manager of a switch: every frame passes by it, told apart by its ports. */
#include "wire_test.h"

#include <stdbool.h>

#include "eswitch/eswitch.h"
#include "eswitch/manager.h"

#define NB_FUNCTIONS 2
#define UPLINK_PORT  (2 + NB_FUNCTIONS)
#define LENGTH       60

static const uint8_t macs[NB_FUNCTIONS][6] = { { 2, 0, 0, 0, 0, 1 }, { 2, 0, 0, 0, 0, 2 } };

struct bench {
	struct shca_wire *network, *manager, *function[NB_FUNCTIONS];
};

static void
bench_open(struct bench *bench)
{
	const struct shca_wire_conf conf = { .arg = "uplink", .fd = -1 };
	struct shca_wire *uplink = open_wire("pair", &conf);

	bench->network = open_wire("pair", &conf);
	assert_int_equal(shca_eswitch_manage(uplink, UPLINK_PORT, &bench->manager), 0);
	for (unsigned int i = 0; i < NB_FUNCTIONS; i++) {
		const struct shca_eswitch_vport vport = {
			.mac = macs[i],
			.is_switchdev = true,
			.port = 2 + i,
		};

		assert_int_equal(shca_eswitch_join(bench->manager, &vport, &bench->function[i]), 0);
	}
}

static void
bench_close(struct bench *bench)
{
	bench->manager->ops->close(bench->manager);
	for (unsigned int i = 0; i < NB_FUNCTIONS; i++)
		bench->function[i]->ops->close(bench->function[i]);
	bench->network->ops->close(bench->network);
}

static void
send_frame(struct shca_wire *wire, uint8_t number, uint32_t port)
{
	uint8_t bytes[LENGTH];
	struct shca_frame frame = numbered_frame(bytes, number, sizeof(bytes));

	frame.port = port;
	assert_int_equal(wire->ops->tx(wire, &frame, 1), 1);
}

/** @return whether frame @p number came, by @p port; else none came. */
static bool
has_come(struct shca_wire *wire, uint8_t number, uint32_t port)
{
	uint8_t bytes[LENGTH];
	const struct shca_frame wanted = numbered_frame(bytes, number, sizeof(bytes));
	struct shca_frame frame;

	if (wire->ops->rx(wire, &frame, 1) == 0)
		return false;
	assert_int_equal(frame.length, LENGTH);
	assert_memory_equal(frame.bytes, wanted.bytes, LENGTH);
	assert_int_equal(frame.port, port);
	return true;
}

static void
test_all_vports_send_to_the_manager(void **state)
{
	unsigned int nb_by_port[UPLINK_PORT + 1] = { 0 };
	struct shca_frame frames[4];
	struct bench bench;

	(void)state;
	bench_open(&bench);
	send_frame(bench.function[1], 1, 0);
	assert_true(has_come(bench.manager, 1, 3));
	send_frame(bench.function[0], 2, 0);
	assert_true(has_come(bench.manager, 2, 2));
	send_frame(bench.network, 3, 0);
	assert_true(has_come(bench.manager, 3, UPLINK_PORT));
	assert_false(has_come(bench.manager, 0, 0));
	for (unsigned int i = 0; i < NB_FUNCTIONS; i++)
		assert_false(has_come(bench.function[i], 0, 0));
	assert_false(has_come(bench.network, 0, 0));
	/* Together. */
	send_frame(bench.network, 1, 0);
	send_frame(bench.function[0], 2, 0);
	send_frame(bench.function[1], 3, 0);
	assert_int_equal(bench.manager->ops->rx(bench.manager, frames, 4), 3);
	for (unsigned int i = 0; i < 3; i++)
		nb_by_port[frames[i].port]++;
	for (uint32_t port = 2; port <= UPLINK_PORT; port++)
		assert_int_equal(nb_by_port[port], 1);
	bench_close(&bench);
}

/** The cable is not behind functions that send more than the manager takes, nor are they behind it.
 */
static void
test_turns(void **state)
{
	unsigned int nb_by_port[UPLINK_PORT + 1] = { 0 };
	struct shca_frame frames[8];
	struct bench bench;

	(void)state;
	bench_open(&bench);
	for (unsigned int round = 0; round < 8; round++) {
		for (unsigned int i = 0; i < 8; i++) {
			send_frame(bench.network, 1, 0);
			send_frame(bench.function[0], 2, 0);
		}
		assert_int_equal(bench.manager->ops->rx(bench.manager, frames, 8), 8);
		for (unsigned int i = 0; i < 8; i++)
			nb_by_port[frames[i].port]++;
	}
	assert_int_equal(nb_by_port[UPLINK_PORT], 32);
	assert_int_equal(nb_by_port[2], 32);
	bench_close(&bench);
}

static void
test_the_manager_sends_by_ports(void **state)
{
	struct bench bench;

	(void)state;
	bench_open(&bench);
	send_frame(bench.manager, 1, 2);
	send_frame(bench.manager, 2, 3);
	send_frame(bench.manager, 3, UPLINK_PORT);
	send_frame(bench.manager, 4, 1); /* its own vport */
	send_frame(bench.manager, 5, 0);
	send_frame(bench.manager, 6, UPLINK_PORT + 1);
	assert_true(has_come(bench.function[0], 1, 0));
	assert_true(has_come(bench.function[1], 2, 0));
	assert_true(has_come(bench.network, 3, 0));
	for (unsigned int i = 0; i < NB_FUNCTIONS; i++)
		assert_false(has_come(bench.function[i], 0, 0));
	assert_false(has_come(bench.network, 0, 0));
	bench_close(&bench);
}

/** The uplink's is the cable's; a function's the cable's, until its representor has one. */
static void
test_links(void **state)
{
	struct bench bench;
	struct shca_wire *manager;

	(void)state;
	bench_open(&bench);
	manager = bench.manager;
	for (unsigned int i = 0; i < NB_FUNCTIONS; i++)
		assert_true(bench.function[i]->ops->link(bench.function[i]));
	manager->ops->set_vport_link(manager, 2, false);
	assert_false(bench.function[0]->ops->link(bench.function[0]));
	assert_true(bench.function[1]->ops->link(bench.function[1]));
	send_frame(manager, 1, 2);
	assert_false(has_come(bench.function[0], 0, 0));
	manager->ops->set_vport_link(manager, 2, true);
	manager->ops->set_vport_link(manager, 9, true);
	bench.network->ops->set_carrier(bench.network, false);
	assert_false(manager->ops->link(manager));
	assert_true(bench.function[0]->ops->link(bench.function[0]));
	assert_false(bench.function[1]->ops->link(bench.function[1]));
	/* Between manager and functions nothing changes. */
	send_frame(manager, 2, 2);
	assert_true(has_come(bench.function[0], 2, 0));
	bench.network->ops->set_carrier(bench.network, true);
	manager->ops->set_carrier(manager, false);
	assert_false(manager->ops->link(manager));
	send_frame(manager, 3, UPLINK_PORT);
	assert_false(has_come(bench.network, 0, 0));
	bench_close(&bench);
}

static void
test_explain(void **state)
{
	const uint8_t bytes[LENGTH] = { 0 };
	struct shca_frame frame = { bytes, LENGTH, 3 };
	struct shca_wire_path path = { .what = "" };
	struct bench bench;

	(void)state;
	bench_open(&bench);
	bench.manager->ops->explain(bench.manager, &frame, &path);
	assert_int_equal(path.nb_to, 1);
	assert_ptr_equal(path.to[0], bench.function[1]);
	frame.port = 1;
	path = (struct shca_wire_path){ .what = "" };
	bench.manager->ops->explain(bench.manager, &frame, &path);
	assert_true(path.is_lost);
	path = (struct shca_wire_path){ .what = "" };
	bench.function[0]->ops->explain(bench.function[0], &frame, &path);
	assert_int_equal(path.nb_to, 1);
	assert_ptr_equal(path.to[0], bench.manager);
	bench_close(&bench);
}

/** A function's ring is full: the manager waits, as it does for a slow cable. */
static void
test_a_full_function_holds_the_manager(void **state)
{
	uint8_t bytes[SHCA_FRAME_MAX] = { 0 };
	const struct shca_frame frame = { bytes, sizeof(bytes), 2 };
	struct shca_frame out[32];
	struct bench bench;
	unsigned int nb = 0, nb_out, nb_came = 0;

	(void)state;
	bench_open(&bench);
	while (bench.manager->ops->tx(bench.manager, &frame, 1) == 1)
		assert_true(++nb < 1000);
	assert_true(nb > 0);
	while ((nb_out = bench.function[0]->ops->rx(bench.function[0], out, 32)) != 0)
		nb_came += nb_out;
	assert_int_equal(nb_came, nb);
	assert_int_equal(bench.manager->ops->tx(bench.manager, &frame, 1), 1);
	bench_close(&bench);
}

/** An end whose device is dead, or stands still, is not waited for by the other. */
static void
test_who_rests_holds_nobody(void **state)
{
	uint8_t bytes[SHCA_FRAME_MAX] = { 0 };
	const struct shca_frame frame = { bytes, sizeof(bytes), 2 };
	struct bench bench;

	(void)state;
	bench_open(&bench);
	bench.function[0]->ops->set_resting(bench.function[0], true);
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(bench.manager->ops->tx(bench.manager, &frame, 1), 1);
	send_frame(bench.manager, 7, UPLINK_PORT);
	assert_true(has_come(bench.network, 7, 0));
	bench.manager->ops->set_resting(bench.manager, true);
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(bench.function[1]->ops->tx(bench.function[1], &frame, 1), 1);
	bench_close(&bench);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_vports_send_to_the_manager),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_the_manager_sends_by_ports),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_a_full_function_holds_the_manager),
		cmocka_unit_test(test_who_rests_holds_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
