/* SPDX-License-Identifier: BSD-3-Clause */
/* A port of the primary process is attached to this one, and detached. No other process polls its
 * queues. */
#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#include "sweep.h"

SWEEP_OPERATION(detach, rte_vdev_uninit(SWEEP_PORT))
SWEEP_OPERATION(close_port, rte_eth_dev_close(sweep_port))

/** Attach in this process alone, unlike rte_dev_probe(). */
static int
attach(void)
{
	struct rte_eth_rxq_info info;
	int ret = rte_vdev_init(SWEEP_PORT, sweep_devargs);

	if (ret != 0)
		return ret;
	sweep_must(rte_eth_dev_get_port_by_name(SWEEP_PORT, &sweep_port) == 0, "no port");
	sweep_must(rte_eth_rx_queue_info_get(sweep_port, 0, &info) == 0, "no queue");
	sweep_pool = info.mp;
	return 0;
}

static int
attach_again(void)
{
	int ret = detach();

	return ret != 0 ? ret : attach();
}

static int
dump_rules(void)
{
	struct rte_flow_error error = { 0 };
	FILE *sink = fopen("/dev/null", "w");
	int ret = rte_flow_dev_dump(sweep_port, NULL, sink, &error);

	fclose(sink);
	return ret;
}

/* clang-format off */
const struct sweep_operation sweep_attaching[] = {
	{ "attach", attach, detach, SWEEP_OPENS },
	{ "dev_dump", dump_rules, NULL, 0 },
	{ NULL },
};

const struct sweep_operation sweep_detaching[] = {
	{ "detach", detach, attach, SWEEP_QUIET | SWEEP_OPENS },
	{ "attach (again)", attach, detach, SWEEP_OPENS },
	{ "dev_close", close_port, attach_again, SWEEP_QUIET | SWEEP_OPENS },
	{ "detach (closed)", detach, attach, SWEEP_QUIET | SWEEP_OPENS },
	{ NULL },
};
/* clang-format on */
