/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of queues and ports that are set up in another way than for the other rows. */
#include <errno.h>

#include <rte_cycles.h>
#include <rte_errno.h>

#include "check.h"

#define SMALL_ROOM 512 /* bytes of a frame in one mbuf: three take the longest */
#define SMALL_POOL 16383
#define LONG_FRAME 1514
#define OTHER_POOL 4095
#define OTHER_RING (CHECK_RING / 2)
#define NB_SENT    1000

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

/** One frame is split where it should be, and all that come are whole. */
static enum check_result
receive_split(struct check *check)
{
	const struct rte_mempool *head_pool = check->port[CHECK_PORT].head_pool;
	const struct check_frame frame = { .size = LONG_FRAME };
	enum check_result result = CHECK_PASS;
	struct check_gots gots = { .nb = 0 };
	const int ret = check_traffic_exchange(check, CHECK_PEER, &frame, 1, &gots);
	const struct rte_mbuf *mbuf = gots.nb == 1 ? gots.got[0].mbuf : NULL;

	if (ret != 0 || mbuf == NULL)
		result =
			check_fail(check, "a frame came %u times: %s", gots.nb, rte_strerror(-ret));
	else if (mbuf->nb_segs != 2 || mbuf->data_len != CHECK_HEAD || mbuf->pkt_len != LONG_FRAME)
		result = check_fail(check, "%u bytes in %u mbufs, %u of them in the first",
			mbuf->pkt_len, mbuf->nb_segs, mbuf->data_len);
	else if (mbuf->pool != head_pool || mbuf->next->pool == head_pool)
		result = check_fail(check, "a segment is of the other mempool");
	check_traffic_free(&gots);
	if (result != CHECK_PASS)
		return result;
	return check_traffic_flood(check, CHECK_PEER, LONG_FRAME) == 0 ? CHECK_PASS : CHECK_FAIL;
}

/** Start the port with @p offload and, at @p place, a mempool of buffers with @p room bytes; let
 * the row look; and set it back. */
static enum check_result
with_pool(struct check *check, uint64_t offload, struct rte_mempool **place, uint16_t room,
	enum check_result (*look)(struct check *check))
{
	struct check_port *port = &check->port[CHECK_PORT];
	const uint64_t before = port->rx_offloads;
	struct rte_mempool *pool;
	enum check_result result;
	int ret;

	if (!(port->info.rx_offload_capa & offload))
		return check_absent(check, "no such offload");
	pool = rte_pktmbuf_pool_create("check_small", SMALL_POOL, 0, 0, RTE_PKTMBUF_HEADROOM + room,
		rte_eth_dev_socket_id(port->id));
	if (pool == NULL)
		return check_fail(check, "no memory for a mempool: %s", rte_strerror(rte_errno));
	*place = pool;
	port->rx_offloads |= offload;
	ret = check_port_again(port);
	result = ret == 0 ? look(check)
			  : check_fail(check, "cannot start it: %s", rte_strerror(-ret));
	*place = NULL;
	port->rx_offloads = before;
	ret = check_port_again(port);
	/* Queues that were not set up anew may still have it. */
	if (ret != 0)
		return check_fail(check, "setting it back: %s", rte_strerror(-ret));
	rte_mempool_free(pool);
	return result;
}

static enum check_result
split(struct check *check)
{
	return with_pool(check, RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT, &check->port[CHECK_PORT].head_pool,
		CHECK_HEAD, receive_split);
}

static enum check_result
scattered(struct check *check)
{
	return with_pool(check, RTE_ETH_RX_OFFLOAD_SCATTER, &check->port[CHECK_PORT].rx_pool,
		SMALL_ROOM, receive_chains);
}

/** The row's rule takes frames to the last queue. @return whether one comes there as it should */
static bool
comes_on_last(struct check *check, bool wanted, const char *when, const struct rte_mempool *pool)
{
	const struct check_frame frame = { .src = CHECK_RULE_SRC };
	struct check_gots gots = { .nb = 0 };
	const int ret = check_traffic_exchange(check, CHECK_PEER, &frame, 1, &gots);
	const unsigned int nb = check_traffic_count(&gots, 0, CHECK_LAST_QUEUE);
	const bool from_pool = nb == 0 || pool == NULL || gots.got[0].mbuf->pool == pool;

	check_traffic_free(&gots);
	if (ret != 0)
		(void)check_fail(check, "%s: %s", when, rte_strerror(-ret));
	else if (nb != wanted)
		(void)check_fail(check, "%s the queue got %u frames, not %d", when, nb, wanted);
	else if (!from_pool)
		(void)check_fail(check, "%s the frame is in a buffer of another pool", when);
	return ret == 0 && nb == wanted && from_pool;
}

/** @return whether the port sends on its last queue */
static bool
sends_on_last(struct check *check)
{
	int ret;

	check->tx_queue = CHECK_LAST_QUEUE;
	ret = check_traffic_flood_some(check, CHECK_PORT, 256, NB_SENT);
	check->tx_queue = 0;
	return ret == 0;
}

/** Start and stop the receive queue, which a rule names, and start the send queue. */
static enum check_result
start_deferred(struct check *check)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	int ret;

	if (!comes_on_last(check, false, "before its start", NULL))
		return CHECK_FAIL;
	ret = rte_eth_dev_rx_queue_start(id, CHECK_LAST_QUEUE);
	if (ret == 0)
		ret = rte_eth_dev_tx_queue_start(id, CHECK_LAST_QUEUE);
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	if (!comes_on_last(check, true, "after its start", NULL) || !sends_on_last(check))
		return CHECK_FAIL;
	ret = rte_eth_dev_rx_queue_stop(id, CHECK_LAST_QUEUE);
	if (ret != 0)
		return check_fail(check, "stopping it again: %s", rte_strerror(-ret));
	return comes_on_last(check, false, "after its stop", NULL) ? CHECK_PASS : CHECK_FAIL;
}

/** Run @p row while a rule takes frames to the last queue. */
static enum check_result
under_rule(struct check *check, enum check_result (*row)(struct check *check))
{
	const struct check_rule rule = { .queue = CHECK_LAST_QUEUE };
	struct rte_flow *flow;
	enum check_result result = check_rules_create(check, &rule, 1, &flow);

	return result != CHECK_PASS ? result : check_rules_destroy(check, &flow, 1, row(check));
}

static enum check_result
deferred_start(struct check *check)
{
	struct check_port *port = &check->port[CHECK_PORT];
	enum check_result result;
	int ret;

	port->deferred = true;
	ret = check_port_again(port);
	if (ret == 0)
		result = under_rule(check, start_deferred);
	else if (ret == -ENOTSUP || ret == -EINVAL)
		result = check_absent(check, "%s", rte_strerror(-ret));
	else
		result = check_fail(check, "cannot start it: %s", rte_strerror(-ret));
	port->deferred = false;
	ret = check_port_again(port);
	return ret == 0 ? result : check_fail(check, "setting it back: %s", rte_strerror(-ret));
}

/** Stop the last receive queue, set it up and start it. @return 0 or a negative errno */
static int
setup_last_rx(const struct check_port *port, struct rte_mempool *pool)
{
	int ret = rte_eth_dev_rx_queue_stop(port->id, CHECK_LAST_QUEUE);

	if (ret == 0)
		ret = rte_eth_rx_queue_setup(port->id, CHECK_LAST_QUEUE, CHECK_RING, SOCKET_ID_ANY,
			&port->info.default_rxconf, pool);
	return ret != 0 ? ret : rte_eth_dev_rx_queue_start(port->id, CHECK_LAST_QUEUE);
}

static enum check_result
other_pool(struct check *check)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	struct rte_mempool *other = rte_pktmbuf_pool_create("check_other", OTHER_POOL, 0, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, rte_eth_dev_socket_id(port->id));
	bool good;
	int ret;

	if (other == NULL)
		return check_fail(check, "no memory for a mempool: %s", rte_strerror(rte_errno));
	ret = setup_last_rx(port, other);
	if (ret != 0)
		(void)check_fail(check, "%s", rte_strerror(-ret));
	good = ret == 0 && comes_on_last(check, true, "with another mempool", other);
	ret = setup_last_rx(port, port->pool);
	/* A queue that was not set up anew may still have it. */
	if (ret != 0)
		return check_fail(check, "setting it back: %s", rte_strerror(-ret));
	rte_mempool_free(other);
	return good && comes_on_last(check, true, "with its mempool again", port->pool)
		? CHECK_PASS
		: CHECK_FAIL;
}

static enum check_result
runtime_rx_setup(struct check *check)
{
	return check->port[CHECK_PORT].info.dev_capa & RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP
		? under_rule(check, other_pool)
		: check_absent(check, "the port does not claim it");
}

/** Likewise the last send queue. */
static int
setup_last_tx(const struct check_port *port, uint16_t ring)
{
	int ret = rte_eth_dev_tx_queue_stop(port->id, CHECK_LAST_QUEUE);

	if (ret == 0)
		ret = rte_eth_tx_queue_setup(port->id, CHECK_LAST_QUEUE, ring, SOCKET_ID_ANY,
			&port->info.default_txconf);
	return ret != 0 ? ret : rte_eth_dev_tx_queue_start(port->id, CHECK_LAST_QUEUE);
}

static enum check_result
runtime_tx_setup(struct check *check)
{
	static const uint16_t rings[] = { OTHER_RING, CHECK_RING };
	const struct check_port *port = &check->port[CHECK_PORT];

	if (!(port->info.dev_capa & RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP))
		return check_absent(check, "the port does not claim it");
	for (unsigned int i = 0; i < RTE_DIM(rings); i++) {
		const int ret = setup_last_tx(port, rings[i]);

		if (ret != 0)
			return check_fail(
				check, "%u descriptors: %s", rings[i], rte_strerror(-ret));
		if (!sends_on_last(check))
			return CHECK_FAIL;
	}
	return CHECK_PASS;
}

/** Packets leave, and their buffers come back at the latest when the port stops. */
static enum check_result
send_freed(struct check *check)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	int ret;

	if (check_traffic_flood(check, CHECK_PORT, 256) != 0)
		return CHECK_FAIL;
	ret = rte_eth_dev_stop(port->id);
	if (ret != 0)
		return check_fail(check, "stopping it: %s", rte_strerror(-ret));
	return rte_mempool_full(port->pool) ? CHECK_PASS
					    : check_fail(check, "%u mbufs did not come back",
						      rte_mempool_in_use_count(port->pool));
}

/** Without chains, which such queues cannot have. */
static enum check_result
fast_free(struct check *check)
{
	struct check_port *port = &check->port[CHECK_PORT];
	const uint64_t before = port->tx_offloads;
	enum check_result result;
	int ret;

	if (!(port->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE))
		return check_absent(check, "no such offload");
	port->tx_offloads = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	ret = check_port_again(port);
	result = ret == 0 ? send_freed(check)
			  : check_fail(check, "cannot start it: %s", rte_strerror(-ret));
	port->tx_offloads = before;
	ret = check_port_again(port);
	return ret == 0 ? result : check_fail(check, "setting it back: %s", rte_strerror(-ret));
}

const struct check_row check_rows_setup[] = {
	{ "scattered Rx", "a frame in several mbufs, and all of them whole", scattered },
	{ "buffer split", "a frame's first bytes in a mempool of their own", split },
	{ "fast free", "packets leave, and all buffers come back", fast_free },
	{ "deferred start", "a queue that waits or is stopped has no packets", deferred_start },
	{ "run-time Rx queue setup", "another mempool while the port runs", runtime_rx_setup },
	{ "run-time Tx queue setup", "another ring while the port runs", runtime_tx_setup },
	{ NULL, NULL, NULL },
};
