/* SPDX-License-Identifier: BSD-3-Clause */
/* The drivers of netdevs, as ethtool -i asks for them. */
#include <linux/ethtool.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <net/if.h>

#include "config/options.h"
#include "ethtool/statistics.h"
#include "nldev/drvinfo.h"
#include "nldev/nldev.h"
#include "sysfs/tree.h"

static char dir[] = "/tmp/softhca-test-XXXXXX";
static struct shca_options options;

static int
set_up(void **state)
{
	static const char *const ports[] = { "wire=null,switchdev=on,kernel=tap:shca-uplink",
		"wire=null,switchdev=on,vf=on,rep=tap:shca-rep,kernel=tap:shca-vf" };
	char error[256];

	(void)state;
	shca_options_init(&options);
	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		if (shca_options_add_port(&options, ports[i], error, sizeof(error)) != 0)
			return -1;
	return mkdtemp(dir) == NULL ? -1 : shca_tree_create(&options, dir);
}

static int
tear_down(void **state)
{
	(void)state;
	return shca_tree_remove(dir);
}

/** Linux's representors have a driver's name of their own (en_rep.c); the uplink is the physical
 * function's netdev. The TAP answers for a representor's counters: it has none. */
static void
test_names(void **state)
{
	static const struct {
		const char *netdev, *driver, *bus;
		bool has_stats;
	} cases[] = {
		{ "shca-uplink", "mlx5_core", "5ca0:00:00.0", true },
		{ "shca-rep", "mlx5e_rep", "5ca0:00:00.0", false },
		{ "shca-vf", "mlx5_core", "5ca0:00:01.0", true },
		{ "shca-other", "tun", "tap", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct shca_nldev nldev = { .options = &options, .dir = dir };
		struct ethtool_drvinfo info = {
			.cmd = ETHTOOL_GDRVINFO, .driver = "tun", .bus_info = "tap"
		};
		struct ifreq request = { .ifr_data = (char *)&info };

		strcpy(request.ifr_name, cases[i].netdev);
		shca_drvinfo_answer(&nldev, &request);
		assert_string_equal(info.driver, cases[i].driver);
		assert_string_equal(info.bus_info, cases[i].bus);
		assert_int_equal(info.n_stats, cases[i].has_stats ? shca_statistics_count() : 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
