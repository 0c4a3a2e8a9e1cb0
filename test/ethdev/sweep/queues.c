/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of a running port: stopped and started, set up again, waited for, limited. */
#include <errno.h>

#include <rte_ethdev.h>
#include <rte_flow.h>

#include "sweep.h"

/** The queue that comes and goes, at which no rule of the port points. */
#define QUEUE (SWEEP_NB_QUEUES - 1)

int
sweep_queues_set_up_rx(uint16_t queue, uint16_t nb_desc)
{
	return rte_eth_rx_queue_setup(sweep_port, queue, nb_desc, 0, NULL, sweep_pool);
}

int
sweep_queues_set_up_tx(uint16_t queue, uint16_t nb_desc)
{
	return rte_eth_tx_queue_setup(sweep_port, queue, nb_desc, 0, NULL);
}

SWEEP_OPERATION(stop_rx, rte_eth_dev_rx_queue_stop(sweep_port, QUEUE))
SWEEP_OPERATION(start_rx, rte_eth_dev_rx_queue_start(sweep_port, QUEUE))
SWEEP_OPERATION(set_up_rx, sweep_queues_set_up_rx(QUEUE, SWEEP_NB_DESC))
SWEEP_OPERATION(set_up_large_rx, sweep_queues_set_up_rx(QUEUE, 2 * SWEEP_NB_DESC))
SWEEP_OPERATION(stop_tx, rte_eth_dev_tx_queue_stop(sweep_port, QUEUE))
SWEEP_OPERATION(start_tx, rte_eth_dev_tx_queue_start(sweep_port, QUEUE))
SWEEP_OPERATION(set_up_tx, sweep_queues_set_up_tx(QUEUE, SWEEP_NB_DESC))
SWEEP_OPERATION(set_up_large_tx, sweep_queues_set_up_tx(QUEUE, 2 * SWEEP_NB_DESC))
SWEEP_OPERATION(isolate, rte_flow_isolate(sweep_port, 1, NULL))
SWEEP_OPERATION(join, rte_flow_isolate(sweep_port, 0, NULL))
SWEEP_OPERATION(limit_rate, rte_eth_set_queue_rate_limit(sweep_port, 0, 5000))
SWEEP_OPERATION(lift_rate, rte_eth_set_queue_rate_limit(sweep_port, 0, 0))
SWEEP_OPERATION(arm, rte_eth_dev_rx_intr_enable(sweep_port, 0))
SWEEP_OPERATION(disarm, rte_eth_dev_rx_intr_disable(sweep_port, 0))

/* clang-format off */
const struct sweep_operation sweep_queues[] = {
	{ "rx_queue_stop", stop_rx, start_rx, SWEEP_QUIET },
	{ "rx_queue_start", start_rx, stop_rx, 0 },
	{ "rx_queue_stop (to set it up)", stop_rx, start_rx, SWEEP_QUIET },
	{ "rx_queue_release rx_queue_setup (while the port runs)", set_up_rx, NULL,
		SWEEP_QUIET | SWEEP_STEPS },
	{ "rx_queue_start (again)", start_rx, stop_rx, 0 },
	{ "tx_queue_stop", stop_tx, start_tx, SWEEP_QUIET },
	{ "tx_queue_start", start_tx, stop_tx, 0 },
	{ "tx_queue_stop (to set it up)", stop_tx, start_tx, SWEEP_QUIET },
	{ "tx_queue_release tx_queue_setup (while the port runs)", set_up_tx, NULL,
		SWEEP_QUIET | SWEEP_STEPS },
	{ "tx_queue_setup (of another size)", set_up_large_tx, set_up_tx, SWEEP_QUIET | SWEEP_STEPS },
	{ "tx_queue_start (again)", start_tx, stop_tx, 0 },
	/* Nothing points at it. */
	{ "isolate", isolate, join, SWEEP_QUIET },
	{ "rx_queue_stop (in isolation)", stop_rx, start_rx, SWEEP_QUIET },
	{ "rx_queue_setup (of another size)", set_up_large_rx, set_up_rx, SWEEP_QUIET | SWEEP_STEPS },
	{ "rx_queue_start (in isolation)", start_rx, stop_rx, SWEEP_QUIET },
	{ "isolate (no more)", join, isolate, 0 },
	{ "set_queue_rate_limit", limit_rate, lift_rate, 0 },
	{ "set_queue_rate_limit (no more)", lift_rate, limit_rate, 0 },
	{ "rx_queue_intr_enable", arm, disarm, 0 },
	{ "rx_queue_intr_disable", disarm, arm, 0 },
	{ NULL },
};
/* clang-format on */
