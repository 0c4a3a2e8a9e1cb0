/* SPDX-License-Identifier: BSD-3-Clause */
/* The bus finds the driver by its name: versions, processes, and a port made and undone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bus_vdev_driver.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_version.h>

#include "burst/tx/tx.h"
#include "ethdev/ethdev.h"
#include "ethdev/secondary.h"
#include "ethdev/server.h"
#include "kernel/vf.h"
#include "mem/mr.h"
#include "port/dev.h"
#include "port/event.h"
#include "port/mac.h"
#include "port/recover.h"
#include "queue/rx/rxq.h"
#include "state/port_list.h"
#include "trace.h"

#define NAME "net_mlx5dv7"
#define ARGS "ibdev=mlx5_7"

static const char *version;
static enum rte_proc_type_t process;
static bool is_probed; /* the port is complete */

TRACE_FAKE(const char *, rte_version, void)
{
	return version;
}

TRACE_FAKE(enum rte_proc_type_t, rte_eal_process_type, void)
{
	return process;
}

TRACE_FAKE(void, mdv_recover_register, void)
{
	trace_call("recover");
}

TRACE_FAKE(int, mdv_server_listen, void)
{
	return trace_call("listen");
}

TRACE_FAKE(int, mdv_secondary_probe, struct rte_vdev_device *vdev, const struct eth_dev_ops *ops)
{
	assert_string_equal(rte_vdev_device_name(vdev), NAME);
	assert_ptr_equal(ops, &mdv_ethdev_secondary_ops);
	return trace_call("secondary");
}

TRACE_FAKE(int, mdv_secondary_remove, struct rte_vdev_device *vdev)
{
	assert_string_equal(rte_vdev_device_name(vdev), NAME);
	return trace_call("secondary gone");
}

TRACE_FAKE(int, mdv_dev_open, struct rte_eth_dev *dev, const struct mdv_config *config)
{
	struct mdv_port *port = mdv_port(dev);

	assert_string_equal(dev->data->name, NAME);
	assert_string_equal(config->ibdev, "mlx5_7");
	assert_int_equal(port->mtu, 0);
	port->dev = dev;
	port->mtu = 1777;
	return trace_call("open");
}

TRACE_FAKE(int, mdv_dev_close, struct rte_eth_dev *dev)
{
	assert_string_equal(dev->data->name, NAME);
	return trace_call("close");
}

TRACE_FAKE(int, mdv_mac_init, struct rte_eth_dev *dev)
{
	assert_int_equal(mdv_port(dev)->mtu, 1777);
	return trace_call("mac");
}

TRACE_FAKE(void, mdv_vf_tell, const char *name, const struct mdv_device *device)
{
	assert_non_null(device);
	trace_call("tell %s", name);
}

TRACE_FAKE(void, mdv_event_install, struct mdv_port *port)
{
	/* Events find all operations. */
	assert_ptr_equal(port->dev->dev_ops, &mdv_ethdev_ops);
	trace_call("events");
}

TRACE_FAKE(void, mdv_port_list_add, struct mdv_port *port)
{
	is_probed = port->dev->state == RTE_ETH_DEV_ATTACHED;
	trace_call("list");
}

static struct mdv_mr_table *table = (struct mdv_mr_table *)&table;
static _Alignas(4096) char memory[4096];

TRACE_FAKE(void, mdv_mr_memory_event, enum rte_mem_event event, const void *addr, size_t len,
	void *arg)
{
	assert_int_equal(event, RTE_MEM_EVENT_FREE);
	assert_ptr_equal(addr, memory);
	assert_ptr_equal(arg, table);
	trace_call("forget %zu", len);
}

#define OPEN "recover; listen; open; mac; "

static int
probe_clear(void **state)
{
	(void)state;
	trace_clear();
	version = "DPDK " MDV_BUILD_DPDK_VERSION;
	process = RTE_PROC_PRIMARY;
	is_probed = false;
	return 0;
}

static void
check_refused(int result, const char *calls)
{
	assert_int_equal(rte_vdev_init(NAME, ARGS), result);
	trace_check(calls);
	assert_null(rte_eth_dev_allocated(NAME));
}

static void
a_port_comes_and_goes(void **state)
{
	const struct rte_eth_dev *dev;

	(void)state;
	assert_int_equal(rte_vdev_init(NAME, ARGS), 0);
	trace_check(OPEN "tell " NAME "; events; list; ");
	assert_true(is_probed);
	dev = rte_eth_dev_allocated(NAME);
	assert_non_null(dev);
	assert_ptr_equal(dev->dev_ops, &mdv_ethdev_ops);
	assert_ptr_equal(dev->rx_pkt_burst, rte_eth_pkt_burst_dummy);
	assert_ptr_equal(dev->tx_pkt_burst, rte_eth_pkt_burst_dummy);
	assert_ptr_equal(dev->rx_queue_count, mdv_rxq_count);
	assert_ptr_equal(dev->rx_descriptor_status, mdv_rxq_descriptor_status);
	assert_ptr_equal(dev->tx_descriptor_status, mdv_tx_done_status);
	assert_int_equal(dev->data->mtu, 1777);
	assert_true(dev->data->dev_flags & RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS);
	assert_true(dev->data->dev_flags & RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE);
	assert_int_equal(rte_vdev_uninit(NAME), 0);
	trace_check("close; ");
	assert_null(rte_eth_dev_allocated(NAME));
}

/** Closed before it is removed. */
static void
a_closed_port_is_removed(void **state)
{
	(void)state;
	assert_int_equal(rte_vdev_init(NAME, ARGS), 0);
	assert_int_equal(rte_eth_dev_release_port(rte_eth_dev_allocated(NAME)), 0);
	trace_check(OPEN "tell " NAME "; events; list; ");
	assert_int_equal(rte_vdev_uninit(NAME), 0);
	trace_check("");
}

/** No event tells of external memory that an application takes back. */
static void
memory_that_is_taken_back_is_forgotten(void **state)
{
	struct rte_device *device;

	(void)state;
	assert_int_equal(rte_extmem_register(memory, sizeof(memory), NULL, 0, 4096), 0);
	assert_int_equal(rte_vdev_init(NAME, ARGS), 0);
	mdv_port(rte_eth_dev_allocated(NAME))->mr = table;
	device = rte_eth_dev_allocated(NAME)->device;
	trace_clear();
	assert_int_equal(rte_dev_dma_map(device, memory, 0, sizeof(memory)), 0);
	trace_check("");
	assert_int_equal(rte_dev_dma_unmap(device, memory, 0, sizeof(memory)), 0);
	trace_check("forget 4096; ");
	/* Of a secondary process; of a port that is closed. */
	process = RTE_PROC_SECONDARY;
	assert_int_equal(rte_dev_dma_map(device, memory, 0, sizeof(memory)), -1);
	assert_int_equal(rte_dev_dma_unmap(device, memory, 0, sizeof(memory)), -1);
	assert_int_equal(rte_errno, ENOTSUP);
	process = RTE_PROC_PRIMARY;
	assert_int_equal(rte_eth_dev_release_port(rte_eth_dev_allocated(NAME)), 0);
	assert_int_equal(rte_dev_dma_map(device, memory, 0, sizeof(memory)), -1);
	assert_int_equal(rte_dev_dma_unmap(device, memory, 0, sizeof(memory)), -1);
	assert_int_equal(rte_errno, ENODEV);
	trace_check("");
	assert_int_equal(rte_vdev_uninit(NAME), 0);
	assert_int_equal(rte_extmem_unregister(memory, sizeof(memory)), 0);
}

static void
what_fails_is_undone(void **state)
{
	static const struct {
		const char *fails, *calls;
	} cases[] = {
		{ "listen", "recover; listen; " },
		{ "open", "recover; listen; open; " },
		{ "mac", OPEN "close; " },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		trace.fails = cases[i].fails;
		trace.result = -ENOTSUP;
		check_refused(-ENOTSUP, cases[i].calls);
	}
	trace.fails = NULL;
	assert_int_equal(rte_vdev_init(NAME, "nonsense=1"), -EINVAL);
	trace_check("recover; listen; ");
}

static void
a_name_has_one_port(void **state)
{
	struct rte_eth_dev *other = rte_eth_dev_allocate(NAME);

	(void)state;
	assert_non_null(other);
	assert_int_equal(rte_vdev_init(NAME, ARGS), -EEXIST);
	trace_check("recover; listen; ");
	assert_int_equal(rte_eth_dev_release_port(other), 0);
}

static void
a_secondary_process_has_its_own(void **state)
{
	(void)state;
	process = RTE_PROC_SECONDARY;
	trace.fails = "secondary";
	trace.result = -ENODEV;
	check_refused(-ENODEV, "recover; secondary; ");
	trace.fails = "secondary gone";
	assert_int_equal(rte_vdev_init(NAME, ARGS), 0);
	trace_check("recover; secondary; ");
	assert_int_equal(rte_vdev_uninit(NAME), -ENODEV);
	trace_check("secondary gone; ");
	trace.fails = NULL;
	assert_int_equal(rte_vdev_uninit(NAME), 0);
}

/** The release must be the same; a fix of it, or a text without a number, may differ. */
static void
releases_are_compared(void **state)
{
	unsigned int year = 0, month = 0, minor = 0;
	char texts[7][32];
	const bool runs[] = { true, true, false, false, false, false, true };

	(void)state;
	assert_true(sscanf(MDV_BUILD_DPDK_VERSION, "%u.%u.%u", &year, &month, &minor) >= 2);
	snprintf(texts[0], sizeof(texts[0]), "DPDK %u.%02u.%u", year, month, minor + 1);
	snprintf(texts[1], sizeof(texts[1]), "DPDK %u.%02u.%u-rc4", year, month, minor);
	snprintf(texts[2], sizeof(texts[2]), "DPDK %u.%02u.%u", year, month + 1, minor);
	snprintf(texts[3], sizeof(texts[3]), "DPDK %u.%02u.%u", year + 1, month, minor);
	snprintf(texts[4], sizeof(texts[4]), "DPDK %u.%02u.%u", year - 1, month, minor);
	snprintf(texts[5], sizeof(texts[5]), "DPDK %u.%02u", year + 1, month);
	snprintf(texts[6], sizeof(texts[6]), "DPDK of ours");
	for (unsigned int i = 0; i < RTE_DIM(texts); i++) {
		version = texts[i];
		if (!runs[i]) {
			check_refused(-ENOTSUP, "");
			continue;
		}
		assert_int_equal(rte_vdev_init(NAME, ARGS), 0);
		assert_int_equal(rte_vdev_uninit(NAME), 0);
		trace_clear();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_port_comes_and_goes, probe_clear),
		cmocka_unit_test_setup(a_closed_port_is_removed, probe_clear),
		cmocka_unit_test_setup(memory_that_is_taken_back_is_forgotten, probe_clear),
		cmocka_unit_test_setup(what_fails_is_undone, probe_clear),
		cmocka_unit_test_setup(a_name_has_one_port, probe_clear),
		cmocka_unit_test_setup(a_secondary_process_has_its_own, probe_clear),
		cmocka_unit_test_setup(releases_are_compared, probe_clear),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
