/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of ethtool on a device with a netdev. */
#include <errno.h>
#include <linux/ethtool.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ethtool/command.h"
#include "rig.h"

static _Alignas(8) uint8_t bytes[SHCA_ETHTOOL_MAX];
static struct ethtool_rxnfc *const rxnfc = (void *)bytes;

static int
setup(void **state)
{
	static struct rig rig;

	rig_init(&rig);
	rig.with_kernel = true;
	rig_open(&rig);
	*state = &rig;
	return 0;
}

static int
teardown(void **state)
{
	rig_close(*state);
	return 0;
}

/** Run a command with the structure in @ref bytes and @p more bytes behind it. */
static int
run(struct rig *rig, uint32_t command, size_t more)
{
	const struct shca_ethtool_command *row = shca_ethtool_find(command);
	size_t length;

	assert_non_null(row);
	memcpy(bytes, &command, sizeof(command));
	length = row->size + more;
	return shca_ethtool_run(rig->dev, bytes, &length);
}

static int
insert(struct rig *rig, uint32_t location, uint16_t port)
{
	*rxnfc = (struct ethtool_rxnfc){
		.fs = {
			.flow_type = UDP_V4_FLOW,
			.location = location,
			.h_u.udp_ip4_spec.pdst = port,
			.m_u.udp_ip4_spec.pdst = port == 0 ? 0 : 0xffff,
		},
	};
	return run(rig, ETHTOOL_SRXCLSRLINS, 0);
}

static uint32_t
count(struct rig *rig)
{
	assert_int_equal(run(rig, ETHTOOL_GRXCLSRLCNT, 0), 0);
	return rxnfc->rule_cnt;
}

static void
test_rules(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(run(rig, ETHTOOL_GRXRINGS, 0), 0);
	assert_int_equal(rxnfc->data, 8);
	assert_int_equal(count(rig), 0);
	assert_int_equal(insert(rig, 9, 53), 0);
	assert_int_equal(insert(rig, 3, 54), 0);
	assert_int_equal(insert(rig, 3, 55), 0); /* in its place */
	assert_int_equal(insert(rig, 1024, 55), -ENOSPC);
	assert_int_equal(count(rig), 2);
	assert_false(rxnfc->data & RX_CLS_LOC_SPECIAL);

	rxnfc->rule_cnt = 2;
	assert_int_equal(run(rig, ETHTOOL_GRXCLSRLALL, 8), 0);
	assert_int_equal(rxnfc->data, 1024);
	assert_int_equal(rxnfc->rule_locs[0], 3);
	assert_int_equal(rxnfc->rule_locs[1], 9);
	rxnfc->rule_cnt = 1;
	assert_int_equal(run(rig, ETHTOOL_GRXCLSRLALL, 4), 0);
	rxnfc->rule_cnt = 3;
	assert_int_equal(run(rig, ETHTOOL_GRXCLSRLALL, 12), -EINVAL);

	rxnfc->fs.location = 3;
	assert_int_equal(run(rig, ETHTOOL_GRXCLSRULE, 0), 0);
	assert_int_equal(rxnfc->fs.h_u.udp_ip4_spec.pdst, 55);
	rxnfc->fs.location = 4;
	assert_int_equal(run(rig, ETHTOOL_GRXCLSRULE, 0), -ENOENT);
	assert_int_equal(run(rig, ETHTOOL_SRXCLSRLDEL, 0), -ENOENT);
	rxnfc->fs.location = 1024;
	assert_int_equal(run(rig, ETHTOOL_GRXCLSRULE, 0), -EINVAL);
	assert_int_equal(run(rig, ETHTOOL_SRXCLSRLDEL, 0), -ENOSPC);
	for (uint32_t location = 3; location <= 9; location += 6) {
		rxnfc->fs.location = location;
		assert_int_equal(run(rig, ETHTOOL_SRXCLSRLDEL, 0), 0);
	}
	assert_int_equal(count(rig), 0);
}

/** mlx5e_ethtool_flow_replace() returns the number of tuples, 0, for a rule that has none. */
static void
test_nothing_named(void **state)
{
	struct rig *rig = *state;

	*rxnfc = (struct ethtool_rxnfc){ .fs.flow_type = ETHER_FLOW };
	assert_int_equal(run(rig, ETHTOOL_SRXCLSRLINS, 0), 0);
	assert_int_equal(count(rig), 0);
	/* A value outside its mask. */
	*rxnfc = (struct ethtool_rxnfc){
		.fs = {
			.flow_type = UDP_V4_FLOW,
			.h_u.udp_ip4_spec.pdst = 0x0101,
			.m_u.udp_ip4_spec.pdst = 0x0001,
		},
	};
	assert_int_equal(run(rig, ETHTOOL_SRXCLSRLINS, 0), -EINVAL);
	assert_int_equal(count(rig), 0);
}

/** What comes over a socket is not trusted. */
static void
test_bad_requests(void **state)
{
	struct rig *rig = *state;
	size_t length = 3;

	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(shca_ethtool_run(rig->dev, bytes, &length), -EINVAL);
	length = sizeof(bytes);
	assert_int_equal(shca_ethtool_run(rig->dev, bytes, &length), -EOPNOTSUPP);
	rxnfc->cmd = ETHTOOL_GRXCLSRLALL;
	assert_int_equal(shca_ethtool_run(rig->dev, bytes, &length), -EINVAL);
	length = sizeof(*rxnfc) - 1;
	assert_int_equal(shca_ethtool_run(rig->dev, bytes, &length), -EINVAL);
	assert_int_equal(run(rig, ETHTOOL_GRXCLSRLCNT, 1), -EINVAL);
	assert_null(shca_ethtool_find(ETHTOOL_FLASHDEV));
	assert_int_equal(shca_ethtool_length(shca_ethtool_find(ETHTOOL_GRXCLSRLALL), bytes), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_named, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_requests, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
