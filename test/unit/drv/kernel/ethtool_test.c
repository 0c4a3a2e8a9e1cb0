/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow control and module of a netdev that answers ioctls here. */
#include <errno.h>
#include <string.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>

#include "kernel/ethtool.h"
#include "rig.h"

/** No netdev of this machine has it. */
#define FAKE_IFINDEX 0x7fffff

/** The netdev. */
static struct {
	struct ethtool_pauseparam pause;
	uint8_t eeprom[256];
	unsigned int nb_asked;
	int error;
} netdev;

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, struct ifreq *ifr);

static int
eeprom_get(struct ethtool_eeprom *eeprom)
{
	/* As net/ethtool/ioctl.c has it. */
	if (eeprom->offset + eeprom->len <= eeprom->offset ||
		eeprom->offset + eeprom->len > sizeof(netdev.eeprom)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(eeprom->data, netdev.eeprom + eeprom->offset, eeprom->len);
	return 0;
}

int
__wrap_ioctl(int fd, unsigned long request, struct ifreq *ifr)
{
	uint32_t *cmd = (uint32_t *)(void *)ifr->ifr_data;

	if (request == SIOCGIFNAME && ifr->ifr_ifindex == FAKE_IFINDEX) {
		strcpy(ifr->ifr_name, "fake0");
		return 0;
	}
	if (request != SIOCETHTOOL || strcmp(ifr->ifr_name, "fake0") != 0)
		return __real_ioctl(fd, request, ifr);
	netdev.nb_asked++;
	if (netdev.error != 0) {
		errno = netdev.error;
		return -1;
	}
	switch (*cmd) {
	case ETHTOOL_GPAUSEPARAM:
		memcpy(cmd, &netdev.pause, sizeof(netdev.pause));
		return 0;
	case ETHTOOL_SPAUSEPARAM:
		memcpy(&netdev.pause, cmd, sizeof(netdev.pause));
		return 0;
	case ETHTOOL_GMODULEINFO:
		((struct ethtool_modinfo *)(void *)cmd)->type = ETH_MODULE_SFF_8636;
		((struct ethtool_modinfo *)(void *)cmd)->eeprom_len = sizeof(netdev.eeprom);
		return 0;
	case ETHTOOL_GMODULEEEPROM:
		return eeprom_get((void *)cmd);
	}
	fail();
	return -1;
}

static int
rig_make(void **state)
{
	static struct rig_port rig;
	unsigned int i;

	rig_port_init(&rig);
	memset(&netdev, 0, sizeof(netdev));
	for (i = 0; i < sizeof(netdev.eeprom); i++)
		netdev.eeprom[i] = i;
	rig.port.device.ifindex = FAKE_IFINDEX;
	*state = &rig.dev;
	return 0;
}

/* clang-format off */
static const struct {
	enum rte_eth_fc_mode mode;
	uint32_t rx, tx;
	uint8_t autoneg;
} modes[] = {
	{ RTE_ETH_FC_NONE, 0, 0, 1 },
	{ RTE_ETH_FC_RX_PAUSE, 1, 0, 0 },
	{ RTE_ETH_FC_TX_PAUSE, 0, 1, 1 },
	{ RTE_ETH_FC_FULL, 1, 1, 0 },
};
/* clang-format on */

static void
pauses_are_set_and_got(void **state)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(modes); i++) {
		struct rte_eth_fc_conf conf = { .mode = modes[i].mode,
			.autoneg = modes[i].autoneg };

		assert_int_equal(mdv_ethtool_flow_ctrl_set(*state, &conf), 0);
		assert_int_equal(netdev.pause.rx_pause, modes[i].rx);
		assert_int_equal(netdev.pause.tx_pause, modes[i].tx);
		assert_int_equal(netdev.pause.autoneg, modes[i].autoneg);
		memset(&conf, 0x5a, sizeof(conf));
		assert_int_equal(mdv_ethtool_flow_ctrl_get(*state, &conf), 0);
		assert_int_equal(conf.mode, modes[i].mode);
		assert_int_equal(conf.autoneg, modes[i].autoneg);
		assert_int_equal(conf.high_water, 0);
	}
}

static void
what_ethtool_cannot_say_is_refused(void **state)
{
	const struct rte_eth_fc_conf confs[] = { { .high_water = 1 }, { .low_water = 1 },
		{ .pause_time = 1 }, { .send_xon = 1 }, { .mac_ctrl_frame_fwd = 1 } };
	unsigned int i;

	for (i = 0; i < RTE_DIM(confs); i++) {
		struct rte_eth_fc_conf conf = confs[i];

		assert_int_equal(mdv_ethtool_flow_ctrl_set(*state, &conf), -EINVAL);
	}
	assert_int_equal(netdev.nb_asked, 0);
}

static void
a_module_is_read_in_pieces(void **state)
{
	struct rte_eth_dev_module_info module = { 0 };
	uint8_t data[100];
	struct rte_dev_eeprom_info info = { .data = data, .offset = 150, .length = sizeof(data) };
	unsigned int i;

	assert_int_equal(mdv_ethtool_module_info(*state, &module), 0);
	assert_int_equal(module.type, RTE_ETH_MODULE_SFF_8636);
	assert_int_equal(module.eeprom_len, sizeof(netdev.eeprom));
	assert_int_equal(mdv_ethtool_module_eeprom(*state, &info), 0);
	for (i = 0; i < sizeof(data); i++)
		assert_int_equal(data[i], 150 + i);
	memset(data, 0, sizeof(data));
	info.offset = 157;
	assert_int_equal(mdv_ethtool_module_eeprom(*state, &info), -EINVAL);
	info.length = UINT32_MAX;
	assert_int_equal(mdv_ethtool_module_eeprom(*state, &info), -EINVAL);
	assert_int_equal(data[0], 0);
}

static void
an_absent_offer_is_not_supported(void **state)
{
	static const struct {
		unsigned int ifindex;
		int error, result;
	} cases[] = {
		{ FAKE_IFINDEX, EOPNOTSUPP, -ENOTSUP }, { FAKE_IFINDEX, EPERM, -EPERM },
		{ 0, 0, -ENOTSUP }, { FAKE_IFINDEX + 1, 0, -ENOTSUP }, { 1, 0, -ENOTSUP }, /* lo */
	};
	struct rte_eth_dev *dev = *state;
	uint8_t data[8] = { 1 };
	unsigned int i;

	for (i = 0; i < RTE_DIM(cases); i++) {
		struct rte_dev_eeprom_info info = { .data = data, .length = sizeof(data) };
		struct rte_eth_fc_conf conf = { .pause_time = 7 };
		struct rte_eth_dev_module_info module = { .type = 7 };

		netdev.error = cases[i].error;
		mdv_port(dev)->device.ifindex = cases[i].ifindex;
		assert_int_equal(mdv_ethtool_flow_ctrl_get(dev, &conf), cases[i].result);
		assert_int_equal(conf.pause_time, 7);
		conf.pause_time = 0;
		assert_int_equal(mdv_ethtool_flow_ctrl_set(dev, &conf), cases[i].result);
		assert_int_equal(mdv_ethtool_module_info(dev, &module), cases[i].result);
		assert_int_equal(module.type, 7);
		assert_int_equal(mdv_ethtool_module_eeprom(dev, &info), cases[i].result);
		assert_int_equal(data[0], 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(pauses_are_set_and_got, rig_make),
		cmocka_unit_test_setup(what_ethtool_cannot_say_is_refused, rig_make),
		cmocka_unit_test_setup(a_module_is_read_in_pieces, rig_make),
		cmocka_unit_test_setup(an_absent_offer_is_not_supported, rig_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
