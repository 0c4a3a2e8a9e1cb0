/* SPDX-License-Identifier: BSD-3-Clause */
/* Extended statistics of a port whose device is a sysfs tree made here, and whose netdev answers
 * ioctls here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>

#include "kernel/netdev_stats.h"
#include "port/stats.h"
#include "port/xstats.h"
#include "rig.h"

static char root[] = "/tmp/drv_xstats_XXXXXX";

/** No netdev of this machine has it. */
#define FAKE_IFINDEX 0x7fffff

/** The netdev. */
static struct {
	uint32_t nb;
	struct {
		const char *name;
		uint64_t value;
	} stats[8];
	int32_t nb_later; /**< statistics that are added after the question for their number */
	int error;
} netdev;

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, struct ifreq *ifr);

/** @return whether so many bytes can be written: for the last byte write() gives the result of
 * copy_to_user(). */
static bool
fits(const void *start, size_t size)
{
	const void *last = (const char *)start + size - 1;
	int fds[2];
	bool fit;

	assert_int_equal(pipe(fds), 0);
	fit = write(fds[1], last, 1) == 1;
	close(fds[0]);
	close(fds[1]);
	return fit;
}

int
__wrap_ioctl(int fd, unsigned long request, struct ifreq *ifr)
{
	uint32_t *cmd = (uint32_t *)(void *)ifr->ifr_data, i;

	if (request == SIOCGIFNAME && ifr->ifr_ifindex == FAKE_IFINDEX) {
		strcpy(ifr->ifr_name, "fake0");
		return 0;
	}
	if (request != SIOCETHTOOL || strcmp(ifr->ifr_name, "fake0") != 0)
		return __real_ioctl(fd, request, ifr);
	if (netdev.error != 0) {
		errno = netdev.error;
		return -1;
	}
	if (*cmd == ETHTOOL_GSSET_INFO) {
		struct ethtool_sset_info *info = (void *)cmd;

		assert_int_equal(info->sset_mask, 1u << ETH_SS_STATS);
		info->data[0] = netdev.nb;
		netdev.nb += netdev.nb_later;
	} else if (*cmd == ETHTOOL_GSTRINGS) {
		struct ethtool_gstrings *names = (void *)cmd;

		names->len = netdev.nb;
		if (!fits(names->data, netdev.nb * ETH_GSTRING_LEN)) {
			errno = EFAULT;
			return -1;
		}
		for (i = 0; i < netdev.nb; i++)
			strncpy((char *)&names->data[i * ETH_GSTRING_LEN], netdev.stats[i].name,
				ETH_GSTRING_LEN);
	} else {
		struct ethtool_stats *stats = (void *)cmd;

		assert_int_equal(*cmd, ETHTOOL_GSTATS);
		stats->n_stats = netdev.nb;
		for (i = 0; i < netdev.nb; i++)
			stats->data[i] = netdev.stats[i].value;
	}
	return 0;
}

static void
tree_write(const char *file, const char *text)
{
	char path[256];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/ports/1/hw_counters/%s", root, file);
	stream = fopen(path, "w");
	assert_non_null(stream);
	fputs(text, stream);
	fclose(stream);
}

static int
tree_make(void **state)
{
	char command[128];

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command), "mkdir -p %s/ports/1/hw_counters", root);
	return system(command);
}

static int
tree_remove(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/** A port with two counters of the device, and three of the netdev, two of them in the table. */
static int
rig_make(void **state)
{
	static struct rig_port rig;

	rig_port_init(&rig);
	snprintf(rig.port.device.sysfs_path, sizeof(rig.port.device.sysfs_path), "%s", root);
	rig.port.device.ifindex = FAKE_IFINDEX;
	tree_write("out_of_buffer", "4294967290\n");
	tree_write("resp_cqe_error", "5\n");
	tree_write("lifespan", "0\n");
	memset(&netdev, 0, sizeof(netdev));
	netdev.nb = 3;
	netdev.stats[0].name = "tx_packets_phy";
	netdev.stats[0].value = 1ULL << 40;
	netdev.stats[1].name = "a_name_that_takes_all_32_bytes_.";
	netdev.stats[2].name = "rx_vport_unicast_bytes";
	netdev.stats[2].value = 100;
	mdv_xstats_init(&rig.port);
	*state = &rig;
	return 0;
}

/** All of them, in the order of the table. */
static const char *const expected[] = { "rx_out_of_buffer", "resp_cqe_error", "rx_unicast_bytes",
	"tx_phy_packets" };
#define NB RTE_DIM(expected)

static void
assert_values(struct rte_eth_dev *dev, const uint64_t *values)
{
	struct rte_eth_xstat xstats[NB];
	unsigned int i;

	assert_int_equal(mdv_xstats_get(dev, xstats, NB), NB);
	for (i = 0; i < NB; i++) {
		assert_int_equal(xstats[i].id, i);
		assert_int_equal(xstats[i].value, values[i]);
	}
}

static void
those_that_exist_have_names(void **state)
{
	struct rte_eth_dev *dev = &((struct rig_port *)*state)->dev;
	struct rte_eth_xstat_name names[NB];
	struct rte_eth_xstat values[NB];
	const uint64_t ids[] = { 3, 0, 3 }, none[] = { 0, NB };
	uint64_t by_id[] = { 7, 7, 7 };
	unsigned int i;

	assert_int_equal(mdv_xstats_get_names(dev, NULL, 0), NB);
	assert_int_equal(mdv_xstats_get_names(dev, names, NB - 1), NB);
	assert_int_equal(mdv_xstats_get(dev, NULL, 0), NB);
	assert_int_equal(mdv_xstats_get(dev, values, NB - 1), NB);
	assert_int_equal(mdv_xstats_get_names(dev, names, NB), NB);
	for (i = 0; i < NB; i++)
		assert_string_equal(names[i].name, expected[i]);

	assert_int_equal(mdv_xstats_get_names_by_id(dev, NULL, NULL, 0), NB);
	assert_int_equal(mdv_xstats_get_by_id(dev, NULL, NULL, 0), NB);
	assert_int_equal(mdv_xstats_get_names_by_id(dev, ids, names, 3), 3);
	assert_string_equal(names[0].name, "tx_phy_packets");
	assert_string_equal(names[1].name, "rx_out_of_buffer");
	assert_string_equal(names[2].name, "tx_phy_packets");
	netdev.stats[0].value += 9;
	assert_int_equal(mdv_xstats_get_by_id(dev, ids, by_id, 3), 3);
	assert_int_equal(by_id[0], 9);
	assert_int_equal(by_id[1], 0);
	assert_int_equal(by_id[2], 9);
	/* All ids are checked before anything is answered. */
	assert_int_equal(mdv_xstats_get_by_id(dev, none, by_id, 2), -EINVAL);
	assert_int_equal(by_id[1], 0);
	assert_int_equal(mdv_xstats_get_names_by_id(dev, none, names, 2), -EINVAL);
	assert_string_equal(names[0].name, "tx_phy_packets");
}

static void
they_count_from_the_reset_on(void **state)
{
	struct rte_eth_dev *dev = &((struct rig_port *)*state)->dev;

	assert_values(dev, (uint64_t[NB]){ 0, 0, 0, 0 });
	/* The device's counter goes round at 32 bits, the netdev's does not. */
	tree_write("out_of_buffer", "4\n");
	netdev.stats[0].value = (1ULL << 40) + 7;
	netdev.stats[2].value = 103;
	assert_values(dev, (uint64_t[NB]){ 10, 0, 3, 7 });
	assert_int_equal(mdv_xstats_reset(dev), 0);
	assert_values(dev, (uint64_t[NB]){ 0, 0, 0, 0 });
	tree_write("resp_cqe_error", "6\n");
	netdev.stats[2].value = 1000;
	assert_values(dev, (uint64_t[NB]){ 0, 1, 897, 0 });
	/* The device begins anew. */
	netdev.stats[2].value = 3;
	assert_values(dev, (uint64_t[NB]){ 0, 1, 0, 0 });
	assert_int_equal(mdv_xstats_reset(dev), 0);
	netdev.stats[2].value = 5;
	assert_values(dev, (uint64_t[NB]){ 0, 0, 2, 0 });
}

static void
one_of_32_bits_goes_round_often(void **state)
{
	const uint64_t first = 4294967290, step = 2000000000;
	struct rte_eth_dev *dev = &((struct rig_port *)*state)->dev;
	char text[32];
	uint64_t k;

	for (k = 1; k < 8; k++) {
		snprintf(text, sizeof(text), "%u\n", (uint32_t)(first + k * step));
		tree_write("out_of_buffer", text);
		assert_values(dev, (uint64_t[NB]){ k * step, 0, 0, 0 });
		assert_values(dev, (uint64_t[NB]){ k * step, 0, 0, 0 });
	}
	/* The device begins anew. */
	tree_write("out_of_buffer", "0\n");
	assert_int_equal(mdv_xstats_reset(dev), 0);
	tree_write("out_of_buffer", "3\n");
	assert_values(dev, (uint64_t[NB]){ 3, 0, 0, 0 });
}

static void
what_cannot_be_read_stays(void **state)
{
	static const int errors[] = { ENODEV, EOPNOTSUPP, EPERM };
	struct rte_eth_dev *dev = &((struct rig_port *)*state)->dev;
	char path[256];
	unsigned int i;

	netdev.stats[2].value = 103;
	assert_values(dev, (uint64_t[NB]){ 0, 0, 3, 0 });
	for (i = 0; i < RTE_DIM(errors); i++) {
		netdev.error = errors[i];
		assert_values(dev, (uint64_t[NB]){ 0, 0, 3, 0 });
	}
	snprintf(path, sizeof(path), "%s/ports/1/hw_counters/resp_cqe_error", root);
	assert_int_equal(remove(path), 0);
	netdev.error = 0;
	/* Its statistics have other places now. */
	netdev.stats[3] = netdev.stats[0];
	netdev.stats[0] = netdev.stats[2];
	netdev.stats[2] = netdev.stats[3];
	netdev.stats[0].value++;
	assert_values(dev, (uint64_t[NB]){ 0, 0, 4, 0 });
}

static void
never_seen(const char *name, uint64_t value, void *arg)
{
	(void)name;
	(void)value;
	(void)arg;
	fail();
}

static void
a_netdev_that_changes_meanwhile_is_read_again_later(void **state)
{
	(void)state;
	netdev.stats[3] = netdev.stats[0];
	netdev.nb_later = 1;
	assert_int_equal(mdv_netdev_stats_read(FAKE_IFINDEX, never_seen, NULL), -EAGAIN);
	netdev.nb_later = -1;
	assert_int_equal(mdv_netdev_stats_read(FAKE_IFINDEX, never_seen, NULL), -EAGAIN);
	netdev.nb = netdev.nb_later = 0;
	assert_int_equal(mdv_netdev_stats_read(FAKE_IFINDEX, never_seen, NULL), -EOPNOTSUPP);
	netdev.nb = UINT32_MAX;
	assert_int_equal(mdv_netdev_stats_read(FAKE_IFINDEX, never_seen, NULL), -E2BIG);
	assert_int_equal(mdv_netdev_stats_read(0, never_seen, NULL), -ENODEV);
	assert_int_equal(mdv_netdev_stats_read(FAKE_IFINDEX + 1, never_seen, NULL), -ENODEV);
	assert_int_equal(mdv_netdev_stats_read(1, never_seen, NULL), -EOPNOTSUPP); /* lo */
}

static void
assert_missed(struct rig_port *rig, uint64_t missed)
{
	struct rte_eth_stats stats = { 0 };

	assert_int_equal(mdv_stats_get(MDV_COMPAT_STATS_CALL(&rig->dev, &stats, NULL)), 0);
	assert_int_equal(stats.imissed, missed);
}

static void
only_a_started_port_misses_frames(void **state)
{
	struct rig_port *rig = *state;

	tree_write("out_of_buffer", "4294967292\n");
	assert_missed(rig, 0);
	mdv_stats_start(&rig->port);
	rig->port.started = true;
	assert_missed(rig, 0);
	tree_write("out_of_buffer", "1\n");
	assert_missed(rig, 5);
	rig->port.started = false;
	tree_write("out_of_buffer", "3\n");
	mdv_stats_stop(&rig->port);
	assert_missed(rig, 7);
	/* Frames of another user. */
	tree_write("out_of_buffer", "30\n");
	assert_missed(rig, 7);
	mdv_stats_start(&rig->port);
	rig->port.started = true;
	tree_write("out_of_buffer", "31\n");
	assert_missed(rig, 8);
	mdv_stats_reset(&rig->dev);
	assert_missed(rig, 0);
	tree_write("out_of_buffer", "33\n");
	assert_missed(rig, 2);
	/* After a reset that cannot read the count nothing is counted until the next one. */
	tree_write("out_of_buffer", "none\n");
	assert_missed(rig, 0);
	mdv_stats_reset(&rig->dev);
	tree_write("out_of_buffer", "40\n");
	assert_missed(rig, 0);
	mdv_stats_reset(&rig->dev);
	tree_write("out_of_buffer", "41\n");
	assert_missed(rig, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(those_that_exist_have_names, rig_make),
		cmocka_unit_test_setup(they_count_from_the_reset_on, rig_make),
		cmocka_unit_test_setup(one_of_32_bits_goes_round_often, rig_make),
		cmocka_unit_test_setup(what_cannot_be_read_stays, rig_make),
		cmocka_unit_test_setup(
			a_netdev_that_changes_meanwhile_is_read_again_later, rig_make),
		cmocka_unit_test_setup(only_a_started_port_misses_frames, rig_make),
	};

	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
