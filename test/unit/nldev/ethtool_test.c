/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of ethtool whose structure another thread changes meanwhile. */
#include <errno.h>
#include <linux/ethtool.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <net/if.h>

#include "abi/core/user.h"
#include "config/options.h"
#include "hw/device/device.h"
#include "nldev/ethtool.h"
#include "nldev/nldev.h"
#include "rig.h"
#include "steering/ethtool.h"
#include "sysfs/tree.h"

#define NETDEV "softhca-eth"

static char dir[] = "/tmp/softhca-test-XXXXXX";
static struct shca_options options;
static struct rig rig;

/** What a thread of the program writes behind a copy. */
static struct {
	unsigned int copies; /* that are left before */
	uint32_t *at;
	uint32_t value;
} writes;

int __real_shca_user_copy_in(void *to, uint64_t from, size_t length);
int __wrap_shca_user_copy_in(void *to, uint64_t from, size_t length);

int
__wrap_shca_user_copy_in(void *to, uint64_t from, size_t length)
{
	const int ret = __real_shca_user_copy_in(to, from, length);

	if (writes.at != NULL && --writes.copies == 0) {
		*writes.at = writes.value;
		writes.at = NULL;
	}
	return ret;
}

static struct shca_device *
device_of(void *arg, unsigned int index)
{
	(void)arg;
	assert_int_equal(index, 0);
	return rig.dev;
}

static int
run(void *command)
{
	const struct shca_nldev nldev = { .options = &options, .dir = dir, .device = device_of };
	struct ifreq request = { .ifr_name = NETDEV, .ifr_data = command };

	return shca_nldev_ethtool(&nldev, &request);
}

static int
set_up(void **state)
{
	char error[128];

	(void)state;
	rig_init(&rig);
	rig.with_kernel = true;
	rig.no_rule = true;
	rig_open(&rig);
	shca_options_init(&options);
	if (mkdtemp(dir) == NULL ||
		shca_options_add_port(&options, "kernel=tap:" NETDEV, error, sizeof(error)) != 0)
		return -1;
	return shca_tree_create(&options, dir);
}

static int
tear_down(void **state)
{
	(void)state;
	rig_close(&rig);
	return shca_tree_remove(dir);
}

/** Whoever may ask may not set: the command is the one that was looked at, by the second copy. */
static void
test_command(void **state)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };

	(void)state;
	assert_int_equal(run(&channels), 0);
	assert_int_equal(channels.combined_count, SHCA_ETHTOOL_QUEUES);
	for (unsigned int copies = 2; copies <= 4; copies++) {
		channels =
			(struct ethtool_channels){ .cmd = ETHTOOL_GCHANNELS, .combined_count = 1 };
		writes.copies = copies;
		writes.at = &channels.cmd;
		writes.value = ETHTOOL_SCHANNELS;
		(void)run(&channels);
		writes.at = NULL;
		assert_int_equal(
			shca_ethtool_queues(shca_device_steering(rig.dev)), SHCA_ETHTOOL_QUEUES);
	}
}

/** What stands behind the structure is as long as the structure said. */
static void
test_count(void **state)
{
	union {
		struct ethtool_rxnfc head;
		uint8_t room[sizeof(struct ethtool_rxnfc) + 4 * sizeof(uint32_t)];
	} list;

	(void)state;
	for (unsigned int copies = 1; copies <= 4; copies++) {
		memset(&list, 0, sizeof(list));
		list.head.cmd = ETHTOOL_GRXCLSRLALL;
		writes.copies = copies;
		writes.at = &list.head.rule_cnt;
		writes.value = 4;
		assert_int_equal(run(&list), copies <= 2 ? -EINVAL : 0);
		writes.at = NULL;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_count),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
