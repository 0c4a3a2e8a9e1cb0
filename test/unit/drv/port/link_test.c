/* SPDX-License-Identifier: BSD-3-Clause */
/* The link from what verbs and the netdev say of it, and the netdev set up and down. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kernel/netdev.h"
#include "port/link.h"
#include "rig.h"

#define NETDEV 5
#define BOND   8

/* In place of the driver's, by the linker's --wrap. */
int __wrap_mdv_device_query_link(const struct mdv_device *device, bool *up, uint32_t *speed_mbps);
int __wrap_mdv_netdev_get_up(unsigned int ifindex, bool *up);
int __wrap_mdv_netdev_set_up(unsigned int ifindex, bool up);
int __wrap_mdv_netdev_get_speed(unsigned int ifindex, uint32_t *speed_mbps);

/** The device and its netdev. */
static struct {
	int device_result, get_result, set_result, speed_result;
	unsigned int nb_queries;
	unsigned int up_at;   /**< the query that first says that it is up; 0: all do */
	unsigned int fail_at; /**< the query that fails; 0: as device_result says */
	bool down;
	uint32_t speed;
	bool netdev_up;
	uint32_t netdev_speed;
} now;
static struct rig_port rig;
/** The netdev that has MTU and flags. */
static unsigned int upper;

int
__wrap_mdv_device_query_link(const struct mdv_device *device, bool *up, uint32_t *speed_mbps)
{
	assert_ptr_equal(device, &rig.port.device);
	now.nb_queries++;
	*up = !now.down && now.nb_queries >= now.up_at;
	*speed_mbps = now.speed;
	return now.nb_queries == now.fail_at ? -EIO : now.device_result;
}

int
__wrap_mdv_netdev_get_up(unsigned int ifindex, bool *up)
{
	assert_int_equal(ifindex, upper);
	*up = now.netdev_up;
	return now.get_result;
}

int
__wrap_mdv_netdev_set_up(unsigned int ifindex, bool up)
{
	assert_int_equal(ifindex, upper);
	if (now.set_result == 0)
		now.netdev_up = up;
	return now.set_result;
}

int
__wrap_mdv_netdev_get_speed(unsigned int ifindex, uint32_t *speed_mbps)
{
	assert_int_equal(ifindex, NETDEV);
	*speed_mbps = now.netdev_speed;
	return now.speed_result;
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	memset(&now, 0, sizeof(now));
	upper = rig.port.device.ifindex = NETDEV;
	now.netdev_up = true;
	now.speed = 25000;
	return 0;
}

static int
bonded_make(void **state)
{
	port_make(state);
	upper = rig.port.device.bond_ifindex = BOND;
	return 0;
}

static void
both_sides_make_the_link(void **state)
{
	static const struct {
		bool up, netdev_up;
		int get_result;
		uint32_t speed, netdev_speed;
		int speed_result;
		bool is_up;
		uint32_t is_speed;
	} cases[] = {
		{ true, true, 0, 25000, 0, 0, true, 25000 },
		{ true, false, 0, 25000, 0, 0, false, 25000 },
		{ false, true, 0, 25000, 0, 0, false, 25000 },
		/* Without a netdev verbs says it alone. */
		{ true, false, -ENODEV, 25000, 0, 0, true, 25000 },
		/* A 2.5 may be a 1, if the netdev says so. */
		{ true, true, 0, 2500, 1000, 0, true, 1000 },
		{ true, true, 0, 2500, 100, 0, true, 100 },
		{ true, true, 0, 2500, 2500, 0, true, 2500 },
		{ true, true, 0, 2500, 10000, 0, true, 2500 },
		{ true, true, 0, 2500, 1000, -ENODATA, true, 2500 },
		{ true, true, 0, 25000, 1000, 0, true, 25000 },
		/* Lanes of 100 may be ones of 200. */
		{ true, true, 0, 400000, 800000, 0, true, 800000 },
		{ true, true, 0, 100000, 200000, 0, true, 200000 },
		{ true, true, 0, 400000, 400000, 0, true, 400000 },
		{ true, true, 0, 400000, 100000, 0, true, 400000 },
		{ true, true, 0, 400000, 800000, -ENODATA, true, 400000 },
		/* A 40 may be any that mlx5_ib does not know. */
		{ true, true, 0, 40000, 400000, 0, true, 400000 },
		{ true, true, 0, 40000, 10000, 0, true, 10000 },
		{ true, true, 0, 40000, 40000, 0, true, 40000 },
		{ true, true, 0, 40000, 400000, -ENODATA, true, 40000 },
		{ true, true, 0, 50000, 100000, 0, true, 50000 },
		/* An unknown one may be any; and the netdev may not say. */
		{ true, true, 0, 0, 1600000, 0, true, 1600000 },
		{ true, true, 0, 0, 100000, -ENODATA, true, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		uint32_t speed = 0;
		bool up = false;

		now.down = !cases[i].up;
		now.netdev_up = cases[i].netdev_up;
		now.get_result = cases[i].get_result;
		now.speed = cases[i].speed;
		now.netdev_speed = cases[i].netdev_speed;
		now.speed_result = cases[i].speed_result;
		assert_int_equal(mdv_link_query(&rig.port, &up, &speed), 0);
		assert_int_equal(up, cases[i].is_up);
		assert_int_equal(speed, cases[i].is_speed);
	}
	assert_int_equal(now.nb_queries, RTE_DIM(cases));
}

static void
a_removed_device_is_not_asked(void **state)
{
	uint32_t speed = 7;
	bool up = true;

	(void)state;
	rig.port.event.removed = true;
	assert_int_equal(mdv_link_query(&rig.port, &up, &speed), 0);
	assert_false(up);
	assert_int_equal(speed, 0);
	assert_int_equal(now.nb_queries, 0);
	rig.port.event.removed = false;
	now.device_result = -EIO;
	assert_int_equal(mdv_link_query(&rig.port, &up, &speed), -EIO);
}

static void
the_link_is_shown_as_it_is(void **state)
{
	struct rte_eth_link *link = &rig.data.dev_link;

	(void)state;
	/* ethdev's result: 0 for a change, -1 where all is as before. */
	assert_int_equal(mdv_link_update(&rig.dev, 0), 0);
	assert_int_equal(link->link_status, RTE_ETH_LINK_UP);
	assert_int_equal(link->link_speed, 25000);
	assert_int_equal(link->link_duplex, RTE_ETH_LINK_FULL_DUPLEX);
	assert_int_equal(link->link_autoneg, RTE_ETH_LINK_AUTONEG);
	assert_int_equal(mdv_link_update(&rig.dev, 0), -1);
	rig.data.dev_conf.link_speeds = RTE_ETH_LINK_SPEED_FIXED | RTE_ETH_LINK_SPEED_25G;
	assert_int_equal(mdv_link_update(&rig.dev, 1), -1);
	assert_int_equal(link->link_autoneg, RTE_ETH_LINK_FIXED);
	assert_int_equal(now.nb_queries, 3);
	now.speed = 0;
	now.speed_result = -ENODATA;
	assert_int_equal(mdv_link_update(&rig.dev, 0), -1);
	assert_int_equal(link->link_speed, RTE_ETH_SPEED_NUM_UNKNOWN);
	now.speed = 25000;
	assert_int_equal(mdv_link_update(&rig.dev, 0), -1);
	now.nb_queries = 3;
	/* It stays as it was. */
	now.device_result = -EIO;
	assert_int_equal(mdv_link_update(&rig.dev, 0), -EIO);
	assert_int_equal(link->link_status, RTE_ETH_LINK_UP);
	now.device_result = 0;
	now.down = true;
	assert_int_equal(mdv_link_update(&rig.dev, 0), 0);
	assert_int_equal(now.nb_queries, 5);
	assert_int_equal(link->link_status, RTE_ETH_LINK_DOWN);
	assert_int_equal(link->link_speed, RTE_ETH_SPEED_NUM_NONE);
}

/** Pauses are waited for in nobody's time but the test's. */
int
usleep(useconds_t pause)
{
	assert_int_equal(pause, 100000);
	return 0;
}

static void
one_that_waits_asks_again(void **state)
{
	static const struct {
		int wait;
		unsigned int up_at, fail_at, nb_queries;
		int result;
	} cases[] = {
		{ 0, 2, 0, 1, -1 },
		{ 1, 1, 0, 1, 0 },
		{ 1, 2, 0, 2, 0 },
		{ 1, 11, 0, 11, 0 },
		{ 1, 12, 0, 11, -1 },
		{ 1, 5, 3, 3, -EIO },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		rig.data.dev_link = (struct rte_eth_link){ .link_speed = 7 };
		now.nb_queries = 0;
		now.up_at = cases[i].up_at;
		now.fail_at = cases[i].fail_at;
		assert_int_equal(mdv_link_update(&rig.dev, cases[i].wait), cases[i].result);
		assert_int_equal(now.nb_queries, cases[i].nb_queries);
		if (cases[i].result != -EIO)
			assert_int_equal(rig.data.dev_link.link_status,
				cases[i].up_at <= cases[i].nb_queries);
		else
			assert_int_equal(rig.data.dev_link.link_speed, 7);
	}
}

static void
the_netdev_is_set(void **state)
{
	(void)state;
	assert_int_equal(mdv_link_set_down(&rig.dev), 0);
	assert_false(now.netdev_up);
	assert_int_equal(mdv_link_set_up(&rig.dev), 0);
	assert_true(now.netdev_up);
	now.set_result = -EPERM;
	assert_int_equal(mdv_link_set_down(&rig.dev), -EPERM);
	assert_int_equal(mdv_link_set_up(&rig.dev), -EPERM);
	now.set_result = -ENODEV;
	assert_int_equal(mdv_link_set_down(&rig.dev), -ENOTSUP);
	assert_int_equal(mdv_link_set_up(&rig.dev), -ENOTSUP);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(both_sides_make_the_link, port_make),
		cmocka_unit_test_setup(both_sides_make_the_link, bonded_make),
		cmocka_unit_test_setup(a_removed_device_is_not_asked, port_make),
		cmocka_unit_test_setup(the_link_is_shown_as_it_is, port_make),
		cmocka_unit_test_setup(one_that_waits_asks_again, port_make),
		cmocka_unit_test_setup(the_netdev_is_set, port_make),
		cmocka_unit_test_setup(the_netdev_is_set, bonded_make),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
