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
#include <time.h>

#include <cmocka.h>

#include "ethtool/command.h"
#include "ethtool/offloads.h"
#include "hw/device/device.h"
#include "rig.h"

static _Alignas(8) uint8_t bytes[SHCA_ETHTOOL_MAX];
static struct ethtool_rxnfc *const rxnfc = (void *)bytes;

static struct rig *
prepare(void **state)
{
	static struct rig rig;

	rig_init(&rig);
	rig.with_kernel = true;
	rig.no_rule = true;
	*state = &rig;
	return &rig;
}

static int
setup(void **state)
{
	rig_open(prepare(state));
	return 0;
}

static int
setup_function(void **state)
{
	struct rig *rig = prepare(state);

	rig->is_vf = true;
	rig_open(rig);
	return 0;
}

static int
setup_empty_cage(void **state)
{
	struct rig *rig = prepare(state);

	strcpy(rig->model.module, "none");
	rig_open(rig);
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
set_offloads(struct rig *rig, uint32_t valid, uint32_t wanted)
{
	struct shca_offloads_set *set = (void *)bytes;

	set->size = 1;
	set->block = (struct ethtool_set_features_block){ valid, wanted };
	return run(rig, ETHTOOL_SFEATURES, 0);
}

/** @return those that are on; @p available are there. */
static uint32_t
active_offloads(struct rig *rig, uint32_t available)
{
	const struct shca_offloads_get *get = (const void *)bytes;

	assert_int_equal(run(rig, ETHTOOL_GFEATURES, 0), 0);
	assert_int_equal(get->block.available, available);
	assert_int_equal(get->block.requested, get->block.active);
	return get->block.active;
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

static int
set_channels(struct rig *rig, struct ethtool_channels channels)
{
	memcpy(bytes, &channels, sizeof(channels));
	return run(rig, ETHTOOL_SCHANNELS, 0);
}

static void
test_channels(void **state)
{
	const struct ethtool_channels *channels = (const void *)bytes;
	struct rig *rig = *state;

	assert_int_equal(run(rig, ETHTOOL_GCHANNELS, 0), 0);
	assert_int_equal(channels->max_combined, 8);
	assert_int_equal(channels->combined_count, 8);
	assert_int_equal(channels->max_rx | channels->max_tx | channels->max_other, 0);
	assert_int_equal(set_channels(rig, (struct ethtool_channels){ 0 }), -EINVAL);
	assert_int_equal(
		set_channels(rig, (struct ethtool_channels){ .combined_count = 9 }), -EINVAL);
	assert_int_equal(
		set_channels(rig, (struct ethtool_channels){ .combined_count = 1, .rx_count = 1 }),
		-EINVAL);
	assert_int_equal(set_channels(rig, (struct ethtool_channels){ .combined_count = 2 }), 0);
	assert_int_equal(run(rig, ETHTOOL_GRXRINGS, 0), 0);
	assert_int_equal(rxnfc->data, 2);
	*rxnfc = (struct ethtool_rxnfc){ .fs = { .flow_type = UDP_V4_FLOW, .ring_cookie = 2 } };
	assert_int_equal(run(rig, ETHTOOL_SRXCLSRLINS, 0), -EINVAL);
	rxnfc->fs.ring_cookie = 1;
	assert_int_equal(run(rig, ETHTOOL_SRXCLSRLINS, 0), 0);
}

/** @return the counter named @p name. */
static uint64_t
counter(struct rig *rig, const char *name)
{
	const struct ethtool_gstrings *strings = (const void *)bytes;
	const struct ethtool_stats *values = (const void *)bytes;
	uint32_t at = 0;

	*(struct ethtool_gstrings *)(void *)bytes =
		(struct ethtool_gstrings){ .string_set = ETH_SS_STATS };
	assert_int_equal(run(rig, ETHTOOL_GSTRINGS, 0), 0);
	while (strcmp((const char *)strings->data + at * ETH_GSTRING_LEN, name) != 0)
		if (++at == strings->len)
			fail_msg("no counter %s", name);
	assert_int_equal(run(rig, ETHTOOL_GSTATS, 0), 0);
	return values->data[at];
}

#define TO_NETDEV                                                                                  \
	{                                                                                          \
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0xb5                                     \
	}
#define TO_STRANGER                                                                                \
	{                                                                                          \
		2, 0, 0, 0, 0, 8, 2, 0, 0, 0, 0, 9, 0x88, 0xb5                                     \
	}

static void
test_counters(void **state)
{
	static const uint8_t frame[60] = TO_NETDEV, other[60] = TO_STRANGER;
	struct rig *rig = *state;

	assert_int_equal(counter(rig, "rx_packets_phy"), 0);
	rig_come(&rig->wire, frame, sizeof(frame));
	rig_come(&rig->wire, other, sizeof(other));
	rig_run(rig);
	assert_int_equal(counter(rig, "rx_packets_phy"), 2);
	assert_int_equal(counter(rig, "rx_bytes_phy"), 2 * 64);
	assert_int_equal(counter(rig, "tx_packets_phy"), 0);
	assert_int_equal(counter(rig, "rx_packets"), 1);
	assert_int_equal(counter(rig, "rx_bytes"), 60);
	assert_int_equal(counter(rig, "rx_csum_none"), 1);
	assert_int_equal(counter(rig, "rx0_packets"), 1);
	assert_int_equal(counter(rig, "rx0_bytes"), 60);
	assert_int_equal(counter(rig, "rx7_packets"), 0);
	assert_int_equal(counter(rig, "rx_steer_missed_packets"), 1);
	rig_come(&rig->kernel, frame, sizeof(frame));
	rig_run(rig);
	assert_int_equal(counter(rig, "tx_packets"), 1);
	assert_int_equal(counter(rig, "tx_bytes"), 60);
	assert_int_equal(counter(rig, "tx0_packets"), 1);
	assert_int_equal(counter(rig, "tx1_packets"), 0);
	assert_int_equal(counter(rig, "rx_prio7_marked"), 0);
}

/** A frame that a DROP rule takes has not missed the rules. */
static void
test_dropped_is_not_missed(void **state)
{
	static const uint8_t frame[60] = TO_NETDEV;
	struct rig *rig = *state;

	*rxnfc = (struct ethtool_rxnfc){ .fs = {
						 .flow_type = ETHER_FLOW,
						 .ring_cookie = RX_CLS_FLOW_DISC,
						 .h_u.ether_spec.h_dest = { 2, 0, 0, 0, 0, 1 },
						 .m_u.ether_spec.h_dest = { 255, 255, 255, 255, 255,
							 255 },
					 } };
	assert_int_equal(run(rig, ETHTOOL_SRXCLSRLINS, 0), 0);
	rig_come(&rig->wire, frame, sizeof(frame));
	rig_run(rig);
	assert_int_equal(counter(rig, "rx_packets_phy"), 1);
	assert_int_equal(counter(rig, "rx_packets"), 0);
	assert_int_equal(counter(rig, "rx_steer_missed_packets"), 0);
}

/** Lost while the netdev was down, or for lack of room in its queue. */
static void
test_counters_of_losses(void **state)
{
	static const uint8_t frame[60] = TO_NETDEV;
	/* The device looks at its netdev now and then. */
	static const struct timespec look = { .tv_nsec = 20000000 };
	struct rig *rig = *state;

	rig->kernel.room = 1;
	rig_come(&rig->wire, frame, sizeof(frame));
	rig_come(&rig->wire, frame, sizeof(frame));
	rig_come(&rig->wire, frame, sizeof(frame));
	rig_run(rig);
	assert_int_equal(counter(rig, "rx_packets"), 1);
	assert_int_equal(counter(rig, "rx_out_of_buffer"), 2);
	assert_int_equal(counter(rig, "rx_if_down_packets"), 0);
	rig->kernel.room = UINT32_MAX;
	rig->kernel.is_down = true;
	nanosleep(&look, NULL);
	rig_run(rig);
	rig_come(&rig->wire, frame, sizeof(frame));
	rig_run(rig);
	assert_int_equal(counter(rig, "rx_if_down_packets"), 1);
	assert_int_equal(counter(rig, "rx_out_of_buffer"), 2);
}

static void
test_counter_of_links(void **state)
{
	struct rig *rig = *state;

	for (unsigned int i = 0; i < 4; i++) {
		shca_device_lock(rig->dev);
		shca_device_set_link(rig->dev, i % 2 != 0);
		shca_device_unlock(rig->dev);
	}
	assert_int_equal(counter(rig, "link_down_events_phy"), 2);
}

/** Names are as many as GSSET_INFO says, of each there is one, and none is cut off. */
static void
test_counter_names(void **state)
{
	const struct ethtool_gstrings *strings = (const void *)bytes;
	struct ethtool_sset_info *info = (void *)bytes;
	struct rig *rig = *state;
	uint32_t nb;

	*info = (struct ethtool_sset_info){ .sset_mask = 1u << ETH_SS_STATS };
	assert_int_equal(run(rig, ETHTOOL_GSSET_INFO, 0), 0);
	assert_int_equal(info->sset_mask, 1u << ETH_SS_STATS);
	nb = info->data[0];
	/* Features are the TAP's. */
	info->sset_mask = 1u << ETH_SS_FEATURES;
	assert_int_equal(run(rig, ETHTOOL_GSSET_INFO, 0), -ENODEV);
	*(struct ethtool_gstrings *)(void *)bytes =
		(struct ethtool_gstrings){ .string_set = ETH_SS_STATS };
	assert_int_equal(run(rig, ETHTOOL_GSTRINGS, 0), 0);
	assert_int_equal(strings->len, nb);
	for (uint32_t i = 0; i < nb; i++) {
		const char *name = (const char *)strings->data + i * ETH_GSTRING_LEN;

		assert_true(strlen(name) > 0 && strlen(name) < ETH_GSTRING_LEN - 1);
		assert_null(strchr(name, '%'));
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(
				name, (const char *)strings->data + j * ETH_GSTRING_LEN);
	}
}

static void
test_offloads(void **state)
{
	struct rig *rig = *state;

	assert_string_equal(shca_offload_names[0].name, "rx-ntuple-filter");
	assert_string_equal(shca_offload_names[1].name, "rx-fcs");
	assert_string_equal(shca_offload_names[2].name, "rx-all");
	assert_int_equal(active_offloads(rig, 7), 0);
	for (uint32_t bit = 1; bit < 8; bit <<= 1) {
		assert_int_equal(set_offloads(rig, bit, 7), 0);
		assert_int_equal(active_offloads(rig, 7), bit);
		assert_int_equal(set_offloads(rig, bit, 0), 0);
		assert_int_equal(active_offloads(rig, 7), 0);
	}
	assert_int_equal(set_offloads(rig, 15, 15), -EINVAL);
	assert_int_equal(active_offloads(rig, 7), 0);
}

/** None is changed where one is missing. */
static void
test_offloads_of_a_function(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(set_offloads(rig, 5, 5), -EINVAL);
	assert_int_equal(active_offloads(rig, 3), 0);
	rig->model.scatter_fcs = false;
	assert_int_equal(set_offloads(rig, 2, 2), -EINVAL);
	assert_int_equal(active_offloads(rig, 1), 0);
}

static void
test_permanent_address(void **state)
{
	struct ethtool_perm_addr *address = (void *)bytes;
	struct rig *rig = *state;

	address->size = 6;
	assert_int_equal(run(rig, ETHTOOL_GPERMADDR, 0), 0);
	assert_int_equal(address->size, 6);
	assert_memory_equal(address->data, shca_device_conf(rig->dev)->mac, 6);
	address->size = 5;
	assert_int_equal(run(rig, ETHTOOL_GPERMADDR, 0), -525);
}

static void
test_pause(void **state)
{
	struct ethtool_pauseparam *pause = (void *)bytes;
	struct rig *rig = *state;

	assert_int_equal(run(rig, ETHTOOL_GPAUSEPARAM, 0), 0);
	assert_true(pause->rx_pause && pause->tx_pause && !pause->autoneg);
	*pause = (struct ethtool_pauseparam){ .tx_pause = 1, .autoneg = 1 };
	assert_int_equal(run(rig, ETHTOOL_SPAUSEPARAM, 0), -EINVAL);
	*pause = (struct ethtool_pauseparam){ .tx_pause = 1 };
	assert_int_equal(run(rig, ETHTOOL_SPAUSEPARAM, 0), 0);
	assert_int_equal(run(rig, ETHTOOL_GPAUSEPARAM, 0), 0);
	assert_true(!pause->rx_pause && pause->tx_pause);
}

/** The whole image, read in pieces of @p piece bytes. */
static void
read_module(struct rig *rig, uint8_t image[ETH_MODULE_SFF_8636_MAX_LEN], uint32_t piece)
{
	struct ethtool_eeprom *eeprom = (void *)bytes;

	for (uint32_t at = 0; at < ETH_MODULE_SFF_8636_MAX_LEN; at += piece) {
		*eeprom = (struct ethtool_eeprom){ .offset = at, .len = piece };
		assert_int_equal(run(rig, ETHTOOL_GMODULEEEPROM, 0), 0);
		assert_true(eeprom->len == piece && eeprom->offset == at);
		memcpy(image + at, bytes + sizeof(*eeprom), piece);
	}
}

static void
test_module(void **state)
{
	uint8_t image[ETH_MODULE_SFF_8636_MAX_LEN], again[ETH_MODULE_SFF_8636_MAX_LEN], sum = 0;
	const struct ethtool_modinfo *info = (const void *)bytes;
	struct rig *rig = *state;

	assert_int_equal(run(rig, ETHTOOL_GMODULEINFO, 0), 0);
	assert_int_equal(info->type, ETH_MODULE_SFF_8636);
	assert_int_equal(info->eeprom_len, sizeof(image));
	read_module(rig, image, sizeof(image));
	read_module(rig, again, 64);
	assert_memory_equal(image, again, sizeof(image));
	/* Both identifiers, and the sums of SFF-8636 6.3.18 and 6.3.24. */
	assert_true(image[0] == 0x11 && image[128] == 0x11);
	for (unsigned int i = 128; i < 191; i++)
		sum = (uint8_t)(sum + image[i]);
	assert_int_equal(image[191], sum);
	sum = 0;
	for (unsigned int i = 192; i < 223; i++)
		sum = (uint8_t)(sum + image[i]);
	assert_int_equal(image[223], sum);
	assert_memory_equal(image + 168, "SHCA-QSFP28-SR4 ", 16);
	assert_true(image[3] == 0 && image[34] != 0);
}

/** Without light nothing is received. */
static void
test_module_without_a_link(void **state)
{
	static const uint8_t dark[8];
	uint8_t image[ETH_MODULE_SFF_8636_MAX_LEN];
	struct rig *rig = *state;

	shca_device_lock(rig->dev);
	shca_device_set_link(rig->dev, false);
	shca_device_unlock(rig->dev);
	read_module(rig, image, sizeof(image));
	assert_int_equal(image[3], 0x0f);
	assert_memory_equal(image + 34, dark, sizeof(dark));
}

static void
test_module_limits(void **state)
{
	static const struct {
		uint32_t offset, length;
	} bad[] = { { 0, 0 }, { 640, 1 }, { 639, 2 }, { 0, 641 }, { UINT32_MAX, 2 },
		{ 5, UINT32_MAX } };
	struct ethtool_eeprom *eeprom = (void *)bytes;
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		*eeprom = (struct ethtool_eeprom){ .offset = bad[i].offset, .len = bad[i].length };
		assert_int_equal(run(rig, ETHTOOL_GMODULEEEPROM, 0), -EINVAL);
	}
}

static void
test_no_module(void **state)
{
	struct ethtool_eeprom *eeprom = (void *)bytes;
	struct rig *rig = *state;

	assert_int_equal(run(rig, ETHTOOL_GMODULEINFO, 0), -EIO);
	*eeprom = (struct ethtool_eeprom){ .len = 1 };
	assert_int_equal(run(rig, ETHTOOL_GMODULEEEPROM, 0), -EIO);
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
		cmocka_unit_test_setup_teardown(test_channels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped_is_not_missed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counters_of_losses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counter_of_links, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counter_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_offloads, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_offloads_of_a_function, setup_function, teardown),
		cmocka_unit_test_setup_teardown(test_permanent_address, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(test_module, setup, teardown),
		cmocka_unit_test_setup_teardown(test_module_without_a_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_module_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_module, setup_function, teardown),
		cmocka_unit_test_setup_teardown(test_no_module, setup_empty_cage, teardown),
		cmocka_unit_test_setup_teardown(test_bad_requests, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
