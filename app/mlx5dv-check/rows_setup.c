/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of queues that are set up in another way than those of the other rows. */
#include <errno.h>

#include <rte_errno.h>

#include "check.h"

#define SMALL_ROOM 512 /* bytes of a frame in one mbuf: three take the longest */
#define SMALL_POOL 16383
#define LONG_FRAME 1514

/** Stop the port and start it as its struct now says. @return 0 or a negative errno */
static int
start_again(struct check_port *port)
{
	const int ret = rte_eth_dev_stop(port->id);

	return ret != 0 ? ret : check_port_restart(port, CHECK_PORT);
}

/** One frame is a chain that fits together, and all that come are whole. */
static enum check_result
receive_chains(struct check *check)
{
	const struct check_frame frame = { .size = LONG_FRAME };
	enum check_result result = CHECK_PASS;
	struct check_gots gots = { .nb = 0 };
	const char *reason = NULL;
	const int ret = check_traffic_exchange(check, CHECK_PEER, &frame, 1, &gots);

	if (ret != 0 || gots.nb != 1)
		result =
			check_fail(check, "a frame came %u times: %s", gots.nb, rte_strerror(-ret));
	else if (rte_mbuf_check(gots.got[0].mbuf, 1, &reason) != 0)
		result = check_fail(check, "no chain of mbufs: %s", reason);
	else if (gots.got[0].mbuf->nb_segs < 2 || gots.got[0].mbuf->pkt_len != LONG_FRAME)
		result = check_fail(check, "%u bytes in %u mbufs", gots.got[0].mbuf->pkt_len,
			gots.got[0].mbuf->nb_segs);
	check_traffic_free(&gots);
	if (result != CHECK_PASS)
		return result;
	return check_traffic_flood(check, CHECK_PEER, LONG_FRAME) == 0 ? CHECK_PASS : CHECK_FAIL;
}

static enum check_result
scattered(struct check *check)
{
	struct check_port *port = &check->port[CHECK_PORT];
	const uint64_t before = port->rx_offloads;
	struct rte_mempool *small;
	enum check_result result;
	int ret;

	if (!(port->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER))
		return check_absent(check, "no such offload");
	small = rte_pktmbuf_pool_create("check_small", SMALL_POOL, 0, 0,
		RTE_PKTMBUF_HEADROOM + SMALL_ROOM, rte_eth_dev_socket_id(port->id));
	if (small == NULL)
		return check_fail(check, "no memory for a mempool: %s", rte_strerror(rte_errno));
	port->rx_pool = small;
	port->rx_offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
	ret = start_again(port);
	result = ret == 0 ? receive_chains(check)
			  : check_fail(check, "cannot start it: %s", rte_strerror(-ret));
	port->rx_pool = NULL;
	port->rx_offloads = before;
	ret = start_again(port);
	/* Queues that were not set up anew may still have it. */
	if (ret != 0)
		return check_fail(check, "setting it back: %s", rte_strerror(-ret));
	rte_mempool_free(small);
	return result;
}

const struct check_row check_rows_setup[] = {
	{ "scattered Rx", "a frame in several mbufs, and all of them whole", scattered },
	{ NULL, NULL, NULL },
};
