/* SPDX-License-Identifier: BSD-3-Clause */
/* A port configured, started, stopped, given an MTU: the steps in their order, and what is undone
 * when one fails. */
#include <errno.h>
#include <string.h>

#include "burst/burst_select.h"
#include "flow/flow.h"
#include "kernel/netdev.h"
#include "mp/primary.h"
#include "port/dev.h"
#include "port/event.h"
#include "port/mac_netdev.h"
#include "port/queue.h"
#include "port/reta.h"
#include "port/stats.h"
#include "port/vlan.h"
#include "queue/rx/rxq.h"
#include "trace.h"

#define NETDEV 5
#define BOND   8
#define START                                                                                      \
	"get mtu; set up 1; list; queues start; select; log; stats start; flow start; "            \
	"primary start; event start; "

static struct rig_port rig;
/** The netdev that has MTU and flags. */
static unsigned int upper;
static uint16_t netdev_mtu, buf_size;

TRACE_FAKE(int, mdv_reta_configure, struct rte_eth_dev *dev)
{
	assert_ptr_equal(dev, &rig.dev);
	return trace_call("reta");
}

TRACE_FAKE(int, mdv_vlan_offload_set, struct rte_eth_dev *dev, int mask)
{
	assert_ptr_equal(dev, &rig.dev);
	assert_int_equal(mask, RTE_ETH_VLAN_STRIP_MASK);
	return trace_call("strip");
}

TRACE_FAKE(int, mdv_netdev_get_mtu, unsigned int ifindex, uint16_t *mtu)
{
	assert_int_equal(ifindex, upper);
	*mtu = netdev_mtu;
	return trace_call("get mtu");
}

TRACE_FAKE(int, mdv_netdev_set_mtu, unsigned int ifindex, uint16_t mtu)
{
	assert_int_equal(ifindex, upper);
	/* The netlink handler hears of it now, and compares. */
	assert_int_equal(rig.port.mtu, mtu);
	return trace_call("set mtu %u", mtu);
}

TRACE_FAKE(int, mdv_netdev_set_up, unsigned int ifindex, bool up)
{
	assert_int_equal(ifindex, upper);
	return trace_call("set up %u", up);
}

TRACE_FAKE(int, mdv_mac_netdev_list, struct rte_eth_dev *dev)
{
	assert_ptr_equal(dev, &rig.dev);
	return trace_call("list");
}

TRACE_FAKE(int, mdv_queue_start_all, struct rte_eth_dev *dev)
{
	assert_ptr_equal(dev, &rig.dev);
	return trace_call("queues start");
}

TRACE_FAKE(void, mdv_queue_stop_all, struct rte_eth_dev *dev)
{
	assert_ptr_equal(dev->rx_pkt_burst, rte_eth_pkt_burst_dummy);
	assert_ptr_equal(dev->tx_pkt_burst, rte_eth_pkt_burst_dummy);
	trace_call("queues stop");
}

TRACE_FAKE(void, mdv_rxq_info_get, struct rte_eth_dev *dev, uint16_t idx,
	struct rte_eth_rxq_info *info)
{
	assert_ptr_equal(dev, &rig.dev);
	info->rx_buf_size = idx == 1 ? buf_size : UINT16_MAX;
}

TRACE_FAKE(int, mdv_rxq_check_mtu, const struct mdv_port *port, uint16_t idx, uint16_t mtu)
{
	assert_ptr_equal(port, &rig.port);
	return trace_call("check %u %u", idx, mtu);
}

TRACE_FAKE(void, mdv_burst_select, struct rte_eth_dev *dev)
{
	dev->rx_pkt_burst = NULL;
	dev->tx_pkt_burst = NULL;
	trace_call("select");
}

TRACE_FAKE(void, mdv_burst_log, const struct rte_eth_dev *dev)
{
	assert_ptr_equal(dev, &rig.dev);
	trace_call("log");
}

/* clang-format off */
#define FAKE_OF_PORT(type, name, word, end) \
	TRACE_FAKE(type, name, struct mdv_port *port) \
	{ \
		assert_ptr_equal(port, &rig.port); \
		end trace_call(word); \
	}
FAKE_OF_PORT(void, mdv_stats_start, "stats start", )
FAKE_OF_PORT(void, mdv_stats_stop, "stats stop", )
FAKE_OF_PORT(int, mdv_flow_start, "flow start", return)
FAKE_OF_PORT(void, mdv_flow_stop, "flow stop", )
FAKE_OF_PORT(void, mdv_primary_start, "primary start", )
FAKE_OF_PORT(void, mdv_primary_stop, "primary stop", )
FAKE_OF_PORT(void, mdv_event_start, "event start", )
/* clang-format on */

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	trace_clear();
	upper = rig.port.device.ifindex = NETDEV;
	rig.port.mtu = 1500;
	rig.data.mtu = 1500;
	rig.data.nb_rx_queues = 3;
	netdev_mtu = 1500;
	buf_size = UINT16_MAX;
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
a_port_is_configured(void **state)
{
	static const struct {
		enum rte_eth_rx_mq_mode rx;
		enum rte_eth_tx_mq_mode tx;
		uint32_t loopback;
		int result;
	} cases[] = {
		{ RTE_ETH_MQ_RX_NONE, RTE_ETH_MQ_TX_NONE, 0, 0 },
		{ RTE_ETH_MQ_RX_RSS, RTE_ETH_MQ_TX_NONE, 0, 0 },
		{ RTE_ETH_MQ_RX_RSS, RTE_ETH_MQ_TX_NONE, 1, 0 },
		{ RTE_ETH_MQ_RX_DCB, RTE_ETH_MQ_TX_NONE, 0, -EINVAL },
		{ RTE_ETH_MQ_RX_DCB_RSS, RTE_ETH_MQ_TX_NONE, 0, -EINVAL },
		{ RTE_ETH_MQ_RX_VMDQ_ONLY, RTE_ETH_MQ_TX_NONE, 0, -EINVAL },
		{ RTE_ETH_MQ_RX_NONE, RTE_ETH_MQ_TX_DCB, 0, -EINVAL },
		{ RTE_ETH_MQ_RX_RSS, RTE_ETH_MQ_TX_VMDQ_ONLY, 0, -EINVAL },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		rig.data.dev_conf.rxmode.mq_mode = cases[i].rx;
		rig.data.dev_conf.txmode.mq_mode = cases[i].tx;
		rig.data.dev_conf.lpbk_mode = cases[i].loopback;
		rig.data.mtu = 1600 + i;
		rig.port.mtu = 1500;
		assert_int_equal(mdv_dev_configure(&rig.dev), cases[i].result);
		trace_check(cases[i].result == 0 ? "reta; strip; " : "");
		assert_int_equal(rig.port.mtu, cases[i].result == 0 ? 1600 + i : 1500);
	}
	rig.data.dev_conf.txmode.mq_mode = RTE_ETH_MQ_TX_NONE;
	rig.port.mtu = 1500;
	trace.fails = "reta";
	trace.result = -EINVAL;
	assert_int_equal(mdv_dev_configure(&rig.dev), -EINVAL);
	assert_int_equal(rig.port.mtu, 1500);
	trace.fails = "strip";
	assert_int_equal(mdv_dev_configure(&rig.dev), -EINVAL);
	assert_int_equal(rig.port.mtu, 1500);
}

static void
a_port_starts_and_stops(void **state)
{
	(void)state;
	assert_int_equal(mdv_dev_stop(&rig.dev), 0);
	trace_check("");
	assert_int_equal(mdv_dev_start(&rig.dev), 0);
	trace_check(START);
	assert_true(rig.port.started);
	assert_null(rig.dev.rx_pkt_burst);
	assert_int_equal(mdv_dev_stop(&rig.dev), 0);
	trace_check("primary stop; flow stop; queues stop; stats stop; ");
	assert_false(rig.port.started);
	assert_int_equal(mdv_dev_stop(&rig.dev), 0);
	trace_check("");
}

static void
a_start_that_fails_is_undone(void **state)
{
	(void)state;
	trace.result = -EIO;
	trace.fails = "queues start";
	assert_int_equal(mdv_dev_start(&rig.dev), -EIO);
	trace_check("get mtu; set up 1; list; queues start; ");
	trace.fails = "flow start";
	assert_int_equal(mdv_dev_start(&rig.dev), -EIO);
	trace_check("get mtu; set up 1; list; queues start; select; log; stats start; flow start; "
		    "queues stop; stats stop; ");
	assert_false(rig.port.started);
}

/** The MTU is raised, never lowered; a netdev that stays down is no reason not to start. */
static void
the_netdev_is_prepared(void **state)
{
	static const struct {
		uint16_t mtu;
		const char *fails;
		int result, started;
		const char *calls;
	} cases[] = {
		{ 1500, NULL, 0, 0, START },
		{ 1501, NULL, 0, 0, START },
		{ 9000, NULL, 0, 0, START },
		{ 1499, NULL, 0, 0, "get mtu; set mtu 1500; set up 1; list; queues start; " },
		{ 1499, "set mtu 1500", -EPERM, -EPERM, "get mtu; set mtu 1500; " },
		{ 1500, "set up 1", -EPERM, 0, START },
		/* There is none, or it does not tell. */
		{ 1, "get mtu", -ENODEV, 0, "get mtu; list; queues start; " },
		{ 1, "get mtu", -ERANGE, -ERANGE, "get mtu; " },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		netdev_mtu = cases[i].mtu;
		trace_clear();
		trace.fails = cases[i].fails;
		trace.result = cases[i].result;
		assert_int_equal(mdv_dev_start(&rig.dev), cases[i].started);
		assert_memory_equal(trace.calls, cases[i].calls, strlen(cases[i].calls));
		if (cases[i].started != 0)
			assert_string_equal(trace.calls, cases[i].calls);
	}
}

static void
small_buffers_are_scattered_to(void **state)
{
	(void)state;
	rig.data.mtu = 1600;
	buf_size = 1600 + MDV_FRAME_OVERHEAD;
	assert_int_equal(mdv_dev_start(&rig.dev), 0);
	assert_int_equal(rig.data.scattered_rx, 0);
	buf_size--;
	assert_int_equal(mdv_dev_start(&rig.dev), 0);
	assert_int_equal(rig.data.scattered_rx, 1);
	/* Queues that there are not have no buffers. */
	rig.data.nb_rx_queues = 1;
	assert_int_equal(mdv_dev_start(&rig.dev), 0);
	assert_int_equal(rig.data.scattered_rx, 0);
}

static void
an_mtu_is_set_if_all_queues_take_it(void **state)
{
	static const struct {
		const char *fails;
		int error, result;
		const char *calls;
	} cases[] = {
		{ NULL, 0, 0, "check 0 2000; check 1 2000; check 2 2000; set mtu 2000; " },
		{ "check 1 2000", -EBUSY, -EBUSY, "check 0 2000; check 1 2000; " },
		{ "check 2 2000", -EINVAL, -EINVAL, "check 0 2000; check 1 2000; check 2 2000; " },
		{ "set mtu 2000", -EPERM, -EPERM,
			"check 0 2000; check 1 2000; check 2 2000; set mtu 2000; " },
		{ "set mtu 2000", -ENODEV, 0,
			"check 0 2000; check 1 2000; check 2 2000; set mtu 2000; " },
	};

	(void)state;
	rig.port.started = true;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		rig.port.mtu = 1500;
		trace.fails = cases[i].fails;
		trace.result = cases[i].error;
		assert_int_equal(mdv_dev_mtu_set(&rig.dev, 2000), cases[i].result);
		trace_check(cases[i].calls);
		assert_int_equal(rig.port.mtu, cases[i].result == 0 ? 2000 : 1500);
	}
}

static void
queues_of_a_stopped_port_are_not_asked_about_the_mtu(void **state)
{
	(void)state;
	assert_int_equal(mdv_dev_mtu_set(&rig.dev, 2000), 0);
	trace_check("set mtu 2000; ");
	assert_int_equal(rig.port.mtu, 2000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_port_is_configured, port_make),
		cmocka_unit_test_setup(a_port_starts_and_stops, port_make),
		cmocka_unit_test_setup(a_start_that_fails_is_undone, port_make),
		cmocka_unit_test_setup(the_netdev_is_prepared, port_make),
		cmocka_unit_test_setup(the_netdev_is_prepared, bonded_make),
		cmocka_unit_test_setup(small_buffers_are_scattered_to, port_make),
		cmocka_unit_test_setup(an_mtu_is_set_if_all_queues_take_it, port_make),
		cmocka_unit_test_setup(an_mtu_is_set_if_all_queues_take_it, bonded_make),
		cmocka_unit_test_setup(
			queues_of_a_stopped_port_are_not_asked_about_the_mtu, port_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
