/* SPDX-License-Identifier: BSD-3-Clause */
/* A port opened, closed and reset: the steps in their order, what is undone when one fails, and
 * what of the old port the new one keeps. */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "flow/flow.h"
#include "kernel/netdev.h"
#include "mem/dm.h"
#include "mem/mr.h"
#include "mp/primary.h"
#include "port/dev.h"
#include "port/event.h"
#include "port/mac_netdev.h"
#include "port/queue.h"
#include "port/stats.h"
#include "port/xstats.h"
#include "queue/rx/rxq.h"
#include "queue/tx/txq.h"
#include "state/port_list.h"
#include "trace.h"

static struct rig_port rig;
static struct mdv_port *first, *now; /* ports: as made here, and the last one opened */
static struct mdv_mr_table *table = (struct mdv_mr_table *)&table;
static struct mdv_config config = { .mode = MDV_MODE_IBV }, opened; /* of the last one opened */
static enum rte_proc_type_t process;
static int node;  /* the device's, of NUMA */
static int empty; /* this node has no memory for the EAL */

/** The old port is 1, that which comes after it 2. */
static unsigned int
port_nb(const struct mdv_port *port)
{
	return port == first ? 1 : 2;
}

TRACE_FAKE(enum rte_proc_type_t, rte_eal_process_type, void)
{
	return process;
}

void *__real_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket);
void *__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket);

void *
__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	return socket == empty ? NULL : __real_rte_zmalloc_socket(type, size, align, socket);
}

TRACE_FAKE(int, mdv_device_open, const struct mdv_config *wanted, struct mdv_device *device)
{
	now = RTE_PTR_SUB(device, offsetof(struct mdv_port, device));
	assert_int_equal(wanted->mode, MDV_MODE_IBV);
	opened = *wanted;
	assert_ptr_equal(now->dev, &rig.dev);
	device->ifindex = 5;
	device->numa_node = node;
	return trace_call("open %u", port_nb(now));
}

TRACE_FAKE(void, mdv_device_close, struct mdv_device *device)
{
	trace_call("close %u", port_nb(RTE_PTR_SUB(device, offsetof(struct mdv_port, device))));
}

TRACE_FAKE(struct mdv_mr_table *, mdv_mr_create, const struct mdv_device *device, uint16_t port_id)
{
	assert_non_null(device);
	return trace_call("mr create %u", port_id) == 0 ? table : NULL;
}

TRACE_FAKE(void, mdv_mr_destroy, struct mdv_mr_table *mr)
{
	assert_ptr_equal(mr, table);
	trace_call("mr destroy");
}

TRACE_FAKE(int, mdv_netdev_get_mtu, unsigned int ifindex, uint16_t *mtu)
{
	int ret = trace_call("mtu %u", ifindex);

	if (ret == 0)
		*mtu = 1777;
	return ret;
}

/* clang-format off */
#define FAKE_OF_PORT(type, name, word, end) \
	TRACE_FAKE(type, name, struct mdv_port *port) \
	{ \
		end trace_call(word " %u", port_nb(port)); \
	}
FAKE_OF_PORT(void, mdv_xstats_init, "xstats", )
FAKE_OF_PORT(int, mdv_flow_init, "flow init", return)
FAKE_OF_PORT(void, mdv_flow_fini, "flow fini", )
FAKE_OF_PORT(void, mdv_mac_netdev_release, "mac", )
FAKE_OF_PORT(void, mdv_dm_close, "dm", )
FAKE_OF_PORT(void, mdv_primary_stop, "primary stop", )
FAKE_OF_PORT(void, mdv_primary_close, "primary", )
FAKE_OF_PORT(void, mdv_flow_stop, "flow stop", )
FAKE_OF_PORT(void, mdv_stats_stop, "stats stop", )
FAKE_OF_PORT(void, mdv_port_list_add, "list", )
FAKE_OF_PORT(void, mdv_port_list_remove, "unlist", )
FAKE_OF_PORT(void, mdv_event_install, "events", )
FAKE_OF_PORT(void, mdv_event_remove, "no events", )
/* clang-format on */

TRACE_FAKE(void, mdv_rxq_release, struct rte_eth_dev *dev, uint16_t idx)
{
	assert_ptr_equal(dev, &rig.dev);
	trace_call("rx %u", idx);
}

TRACE_FAKE(void, mdv_txq_release, struct rte_eth_dev *dev, uint16_t idx)
{
	assert_ptr_equal(dev, &rig.dev);
	trace_call("tx %u", idx);
}

TRACE_FAKE(void, mdv_queue_stop_all, struct rte_eth_dev *dev)
{
	assert_ptr_equal(dev, &rig.dev);
	trace_call("queues stop");
}

#define CLOSE(n) "flow fini " n "; mac " n "; rx 0; rx 1; tx 0; dm " n "; mr destroy; close " n "; "
#define OPEN(n)  "open " n "; mr create 3; mtu 5; xstats " n "; flow init " n "; "

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	trace_clear();
	process = RTE_PROC_PRIMARY;
	empty = RTE_MAX_NUMA_NODES;
	/* A reset frees it. */
	first = rte_zmalloc(NULL, sizeof(*first), 0);
	assert_non_null(first);
	rig.data.dev_private = first;
	rig.data.nb_rx_queues = 2;
	rig.data.nb_tx_queues = 1;
	assert_int_equal(mdv_dev_open(&rig.dev, &config), 0);
	return 0;
}

static int
port_free(void **state)
{
	(void)state;
	rte_free(mdv_port(&rig.dev)->mc_list);
	rte_free(rig.data.dev_private);
	return 0;
}

static void
a_port_is_opened(void **state)
{
	(void)state;
	trace_check(OPEN("1"));
	assert_int_equal(first->mtu, 1777);
	assert_ptr_equal(first->mr, table);
	assert_int_equal(
		first->rx_metadata, RTE_ETH_RX_METADATA_USER_FLAG | RTE_ETH_RX_METADATA_USER_MARK);
	assert_int_equal(first->config.mode, MDV_MODE_IBV);
	/* Without a netdev there is a usual one. */
	trace.fails = "mtu 5";
	trace.result = -ENODEV;
	assert_int_equal(mdv_dev_open(&rig.dev, &config), 0);
	assert_int_equal(first->mtu, RTE_ETHER_MTU);
}

/** ethdev tells applications of it, which take mempools and lcores there; where the device has
 * none, the bus knows better. */
static void
a_port_is_on_its_device_s_node(void **state)
{
	static const struct {
		int device, before, after;
	} cases[] = { { 0, 3, 0 }, { 5, 0, 5 }, { SOCKET_ID_ANY, 3, 3 } };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		node = cases[i].device;
		rig.data.numa_node = cases[i].before;
		assert_int_equal(mdv_dev_open(&rig.dev, &config), 0);
		assert_int_equal(rig.data.numa_node, cases[i].after);
	}
	node = 0;
}

static void
what_was_opened_is_closed_when_a_step_fails(void **state)
{
	static const struct {
		const char *fails;
		int result;
		const char *calls;
	} cases[] = {
		{ "open 1", -EACCES, "open 1; " },
		{ "mr create 3", -ENOMEM, "open 1; mr create 3; close 1; " },
		{ "flow init 1", -EACCES, OPEN("1") "mr destroy; close 1; " },
	};

	(void)state;
	trace_clear();
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		trace.fails = cases[i].fails;
		trace.result = -EACCES;
		assert_int_equal(mdv_dev_open(&rig.dev, &config), cases[i].result);
		trace_check(cases[i].calls);
	}
}

static void
a_port_is_closed_by_its_owner(void **state)
{
	(void)state;
	trace_clear();
	first->mc_list = rte_zmalloc(NULL, sizeof(*first->mc_list), 0);
	first->nb_mc = 1;
	process = RTE_PROC_SECONDARY;
	assert_int_equal(mdv_dev_close(&rig.dev), 0);
	trace_check("");
	process = RTE_PROC_PRIMARY;
	first->started = true;
	assert_int_equal(mdv_dev_close(&rig.dev), 0);
	trace_check("primary stop 1; flow stop 1; queues stop; stats stop 1; primary 1; unlist 1; "
		    "no events 1; " CLOSE("1"));
	assert_int_equal(rig.data.nb_rx_queues, 0);
	assert_int_equal(rig.data.nb_tx_queues, 0);
	assert_null(first->mr);
	assert_null(first->mc_list);
	assert_int_equal(first->nb_mc, 0);
}

static void
a_reset_opens_anew_and_keeps_settings(void **state)
{
	struct rte_ether_addr *list = rte_zmalloc(NULL, sizeof(*list), 0);
	struct mdv_port *after;

	(void)state;
	trace_clear();
	first->isolated = true;
	first->mc_list = list;
	first->nb_mc = 1;
	first->primary.nb_attached = 2;
	first->primary.serves = true;
	first->rx_metadata = 0;
	first->event.removed = true;
	rig.dev.state = RTE_ETH_DEV_REMOVED; /* by rte_eth_dev_is_removed() */
	assert_int_equal(mdv_dev_reset(&rig.dev), 0);
	assert_int_equal(mdv_port(&rig.dev)->event.removed, 0);
	assert_int_equal(rig.dev.state, RTE_ETH_DEV_ATTACHED);
	trace_check("unlist 1; no events 1; " OPEN("2") CLOSE("1") "events 2; list 2; ");
	after = mdv_port(&rig.dev);
	assert_ptr_equal(after, now);
	assert_ptr_not_equal(after, first);
	assert_true(after->isolated);
	assert_ptr_equal(after->mc_list, list);
	assert_int_equal(after->nb_mc, 1);
	assert_int_equal(after->primary.nb_attached, 2);
	assert_true(after->primary.serves);
	assert_int_equal(after->rx_metadata, 0);
	assert_int_equal(after->config.mode, MDV_MODE_IBV);
}

/** Which may have another name by now, and its old one be another netdev's; or be gone. */
static void
a_reset_finds_the_netdev_again(void **state)
{
	static const struct {
		const char *iface, *ifname;
		bool removed;
		const char *iface_after, *ibdev_after;
		uint8_t port_after;
	} cases[] = {
		{ "ens1f0", "lan0", false, "lan0", "", 0 },
		{ "ens1f0", "ens1f0", true, "ens1f0", "", 0 },
		/* With its device: what comes back has the name of before, or none. */
		{ "ens1f0", "", true, "ens1f0", "", 0 },
		{ "ens1f0", "", false, "", "mlx5_7", 2 },
		/* The arguments have an ibdev. */
		{ "", "lan0", false, "", "", 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct mdv_port *before = mdv_port(&rig.dev);
		const struct mdv_config *after;

		before->config = config;
		strcpy(before->config.iface, cases[i].iface);
		strcpy(before->device.ifname, cases[i].ifname);
		strcpy(before->device.name, "mlx5_7");
		before->device.port_num = 2;
		before->event.removed = cases[i].removed;
		assert_int_equal(mdv_dev_reset(&rig.dev), 0);
		assert_string_equal(opened.iface, cases[i].iface_after);
		assert_string_equal(opened.ibdev, cases[i].ibdev_after);
		assert_int_equal(opened.port, cases[i].port_after);
		/* The next reset may need the arguments as they were given. */
		after = &mdv_port(&rig.dev)->config;
		assert_string_equal(after->iface, cases[i].iface);
		assert_string_equal(after->ibdev, "");
		assert_int_equal(after->port, 0);
	}
}

/** Memory on the device's node is better, but another node's does. */
static void
a_reset_needs_no_memory_of_the_node(void **state)
{
	(void)state;
	trace_clear();
	rig.data.numa_node = empty = 1;
	assert_int_equal(mdv_dev_reset(&rig.dev), 0);
	trace_check("unlist 1; no events 1; " OPEN("2") CLOSE("1") "events 2; list 2; ");
	empty = SOCKET_ID_ANY;
	rig.data.numa_node = SOCKET_ID_ANY;
	assert_int_equal(mdv_dev_reset(&rig.dev), -ENOMEM);
	trace_check("");
}

static void
a_reset_that_fails_changes_nothing(void **state)
{
	struct rte_ether_addr *list = rte_zmalloc(NULL, sizeof(*list), 0);

	(void)state;
	trace_clear();
	first->mc_list = list;
	first->started = true;
	assert_int_equal(mdv_dev_reset(&rig.dev), -EBUSY);
	trace_check("");
	first->started = false;
	trace.fails = "open 2";
	trace.result = -ENODEV;
	assert_int_equal(mdv_dev_reset(&rig.dev), -ENODEV);
	trace_check("unlist 1; no events 1; open 2; events 1; list 1; ");
	assert_ptr_equal(mdv_port(&rig.dev), first);
	assert_ptr_equal(first->mc_list, list);
	assert_ptr_equal(first->mr, table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_port_is_opened, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_port_is_on_its_device_s_node, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			what_was_opened_is_closed_when_a_step_fails, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_port_is_closed_by_its_owner, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_reset_opens_anew_and_keeps_settings, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_reset_finds_the_netdev_again, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_reset_needs_no_memory_of_the_node, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_reset_that_fails_changes_nothing, port_make, port_free),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
