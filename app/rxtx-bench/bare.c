/* SPDX-License-Identifier: BSD-3-Clause */
/* A port without a driver. */
#include <errno.h>

#include "bench.h"

int
bench_bare_start(
	struct bench_port *port, const struct bench_case *how, const struct bench_bare *bare)
{
	*port = (struct bench_port){
		.id = RTE_MAX_ETHPORTS,
		.nth = BENCH_PORTS,
		.nb_queues = how->nb_queues,
		.driver = "bare",
		.is_bare = true,
	};
	switch (how->what) {
	case BENCH_RX:
		return bench_bare_rx_start(port, how, bare);
	case BENCH_TX:
		return bench_bare_tx_start(port, how, bare->copies);
	default:
		return -ENOTSUP;
	}
}

void
bench_bare_stop(struct bench_port *port)
{
	bench_bare_rx_stop();
	bench_bare_tx_stop();
	rte_mempool_free(port->pool);
	rte_mempool_free(port->tx_pool);
	port->pool = NULL;
	port->tx_pool = NULL;
}
