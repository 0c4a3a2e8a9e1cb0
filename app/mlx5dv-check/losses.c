/* SPDX-License-Identifier: BSD-3-Clause */
/* Where packets of a flood have gone, by what both ends have counted. */
#include <inttypes.h>
#include <string.h>

#include <rte_cycles.h>

#include "check.h"

#define SETTLE_MS 20 /* what is on its way has come by then */

void
check_losses_begin(const struct check *check, struct check_losses *losses)
{
	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++)
		losses->is_known[side] =
			rte_eth_stats_get(check->port[side].id, &losses->before[side]) == 0;
}

/** Take what is still on its way: the row has looked at none behind the first that was wrong. */
static void
settle(const struct check_port *port)
{
	const uint64_t end = rte_get_timer_cycles() + SETTLE_MS * rte_get_timer_hz() / 1000;
	struct rte_mbuf *mbufs[32];

	while (check_wait_on(end))
		for (uint16_t q = 0; q < port->nb_queues; q++)
			rte_pktmbuf_free_bulk(
				mbufs, rte_eth_rx_burst(port->id, q, mbufs, RTE_DIM(mbufs)));
}

void
check_losses_explain(struct check *check, enum check_side from, const struct check_losses *losses)
{
	struct rte_eth_stats now[CHECK_NB_SIDES];
	const struct rte_eth_stats *before = losses->before;
	const size_t at = strlen(check->why);
	uint64_t sent, failed, arrived, no_descriptor, no_mbuf, broken;

	settle(&check->port[!from]);
	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++)
		if (!losses->is_known[side] ||
			rte_eth_stats_get(check->port[side].id, &now[side]) != 0)
			return;
	sent = now[from].opackets - before[from].opackets;
	failed = now[from].oerrors - before[from].oerrors;
	arrived = now[!from].ipackets - before[!from].ipackets;
	no_descriptor = now[!from].imissed - before[!from].imissed;
	no_mbuf = now[!from].rx_nombuf - before[!from].rx_nombuf;
	broken = now[!from].ierrors - before[!from].ierrors;
	snprintf(check->why + at, sizeof(check->why) - at,
		"; by the ports' counters %" PRIu64 " were sent and %" PRIu64
		" failed to be, %" PRIu64 " came, %" PRIu64 " found no descriptor and %" PRIu64
		" no mbuf, %" PRIu64 " were broken, %" PRId64 " are lost between the ports",
		sent, failed, arrived, no_descriptor, no_mbuf, broken,
		(int64_t)(sent - arrived - no_descriptor - broken));
}
