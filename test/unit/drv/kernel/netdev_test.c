/* SPDX-License-Identifier: BSD-3-Clause */
/* The netdev's side, on the loopback device, which every namespace has. */
#include <errno.h>
#include <limits.h>

#include "kernel/netdev.h"
#include "rig.h"

static void
an_absent_netdev_is_enodev(void **state)
{
	static const unsigned int indices[] = { 0, INT_MAX };
	char name[IF_NAMESIZE];
	struct rte_ether_addr mac;
	uint32_t speed;
	uint16_t mtu;
	unsigned int i;
	bool up;

	(void)state;
	assert_int_equal(mdv_netdev_index(""), 0);
	assert_int_equal(mdv_netdev_index("no_such_netdev0"), 0);
	for (i = 0; i < RTE_DIM(indices); i++) {
		assert_int_equal(mdv_netdev_get_name(indices[i], name), -ENODEV);
		assert_int_equal(mdv_netdev_get_mtu(indices[i], &mtu), -ENODEV);
		assert_int_equal(mdv_netdev_set_mtu(indices[i], 1500), -ENODEV);
		assert_int_equal(mdv_netdev_get_mac(indices[i], &mac), -ENODEV);
		assert_int_equal(mdv_netdev_get_up(indices[i], &up), -ENODEV);
		assert_int_equal(mdv_netdev_set_up(indices[i], true), -ENODEV);
		assert_int_equal(mdv_netdev_get_speed(indices[i], &speed), -ENODEV);
	}
}

static void
the_loopback_device_answers(void **state)
{
	const unsigned int lo = mdv_netdev_index("lo");
	char name[IF_NAMESIZE];
	struct rte_ether_addr mac;
	uint32_t speed = 77;
	uint16_t mtu = 77;
	bool up;
	int ret;

	(void)state;
	assert_int_equal(lo, 1);
	assert_int_equal(mdv_netdev_get_name(lo, name), 0);
	assert_string_equal(name, "lo");
	/* 65536 does not fit ethdev's MTU; a smaller value that a user has set does. */
	ret = mdv_netdev_get_mtu(lo, &mtu);
	assert_true(ret == -ERANGE ? mtu == 77 : ret == 0);
	assert_int_equal(mdv_netdev_get_up(lo, &up), 0);
	/* Not an Ethernet device, and no speed to tell: outputs stay as they were. */
	assert_int_equal(mdv_netdev_get_mac(lo, &mac), -EINVAL);
	assert_int_not_equal(mdv_netdev_get_speed(lo, &speed), 0);
	assert_int_equal(speed, 77);
	/* A state that is already set needs no permission. */
	assert_int_equal(mdv_netdev_set_up(lo, up), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_absent_netdev_is_enodev),
		cmocka_unit_test(the_loopback_device_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
