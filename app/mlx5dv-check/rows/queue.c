/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of queues: stopped, starved, waited for, paced; and the device's memory. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_interrupts.h>
#include <rte_malloc.h>

#include "check.h"
#include "model.h"

#define RATE_MBPS     200
#define RATE_FRAMES   800
#define RATE_SIZE     1500
#define DM_BYTES      64
#define STATUS_MBPS   20
#define STATUS_FRAMES 64
#define HELD_BURST    32
#define NETDEV_MS     20

/** @return whether one frame comes, and comes once; otherwise the row has failed. */
static bool
still_receives(struct check *check, const char *when)
{
	const struct check_frame frame = { .size = 128 };
	struct check_gots gots;
	const int ret = check_traffic_exchange(check, CHECK_PEER, &frame, 1, &gots);
	const unsigned int nb = ret == 0 ? gots.nb : 0;

	check_traffic_free(&gots);
	if (ret != 0)
		(void)check_fail(check, "%s: %s", when, rte_strerror(-ret));
	else if (nb != 1)
		(void)check_fail(check, "%s a frame came %u times", when, nb);
	return nb == 1;
}

/** Queue 0 has what RSS gives it, and what is sent. */
static enum check_result
stopped_queues(struct check *check)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	int ret = rte_eth_dev_rx_queue_stop(id, 0);

	if (ret == -ENOTSUP)
		return check_absent(check, "queues are not stopped one by one");
	if (ret == 0)
		ret = rte_eth_dev_tx_queue_stop(id, 0);
	if (ret == 0)
		ret = rte_eth_dev_tx_queue_start(id, 0);
	if (ret == 0)
		ret = rte_eth_dev_rx_queue_start(id, 0);
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	return still_receives(check, "after it") &&
			check_traffic_flood_some(check, CHECK_PORT, 256, 1000) == 0
		? CHECK_PASS
		: CHECK_FAIL;
}

/** Send frames that nobody waits for: they are of no row, as some may come late. */
static int
send_in_vain(struct check *check, unsigned int nb)
{
	const uint32_t row = check->row;
	const struct check_frame frame = { .size = 64 };
	const uint64_t end = check_wait_end(check);
	unsigned int sent = 0;

	check->row = CHECK_NO_ROW;
	while (sent < nb && check_wait_on(end)) {
		struct rte_mbuf *mbuf = check_traffic_frame(check, CHECK_PEER, &frame, sent);

		if (mbuf == NULL)
			continue;
		if (rte_eth_tx_burst(check->port[CHECK_PEER].id, 0, &mbuf, 1) == 1)
			sent++;
		else
			rte_pktmbuf_free(mbuf);
	}
	check->row = row;
	return sent == nb ? 0 : -EIO;
}

/** Take all that the port still gives. */
static void
drain(const struct check_port *port)
{
	struct rte_mbuf *mbufs[32];
	unsigned int idle = 0;

	while (idle < 100) {
		unsigned int nb = 0;

		for (uint16_t q = 0; q < port->nb_queues; q++) {
			const uint16_t got = rte_eth_rx_burst(port->id, q, mbufs, RTE_DIM(mbufs));

			rte_pktmbuf_free_bulk(mbufs, got);
			nb += got;
		}
		idle = nb == 0 ? idle + 1 : 0;
		if (nb == 0)
			rte_delay_us_block(100);
	}
}

/** While the pool is empty take what comes, and keep it, until a loss is counted: Linux shows
 * counts that are some milliseconds old (ib_core: lifespan). @return whether one was */
static bool
loses_frames(struct check *check, uint64_t imissed, struct rte_mbuf **held, unsigned int *nb)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	/* What a netdev sends may be lost on its way. */
	const uint64_t end = check->port[CHECK_PEER].ibdev[0] == '\0' ? check_wait_for(NETDEV_MS)
								      : check_wait_end(check);
	struct rte_eth_stats now;

	do {
		for (uint16_t q = 0; q < port->nb_queues; q++)
			*nb += rte_eth_rx_burst(port->id, q, held + *nb, HELD_BURST);
		if (rte_eth_stats_get(port->id, &now) == 0 && now.imissed != imissed)
			return true;
	} while (check_wait_on(end));
	return false;
}

/** @return whether Linux tells of packets that found no receive WQE, of the port or the device. */
static bool
tells_of_losses(const struct check_port *port)
{
	char path[64];

	snprintf(path, sizeof(path), "ports/%u/hw_counters/out_of_buffer",
		port->number != 0 ? port->number : 1);
	return check_model_has_file(port->ibdev, path) ||
		check_model_has_file(port->ibdev, "hw_counters/out_of_buffer");
}

/**
 * A slow device may still have some frames, which fill the queue again: what is sent behind them
 * may be lost, and is counted then, but not what is sent after that.
 * @return whether it is so; otherwise the row has failed
 */
static bool
receives_again(struct check *check)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	struct rte_eth_stats before, after;
	struct check_gots gots;
	int ret = rte_eth_stats_get(id, &before);
	const bool came = check_traffic_exchange(check, CHECK_PEER, NULL, 0, &gots) == 0;

	check_traffic_free(&gots);
	if (ret == 0)
		ret = rte_eth_stats_get(id, &after);
	if (ret != 0) {
		(void)check_fail(check, "%s", rte_strerror(-ret));
		return false;
	}
	if (!came && after.imissed == before.imissed && check->port[CHECK_PEER].ibdev[0] != '\0' &&
		tells_of_losses(&check->port[CHECK_PORT])) {
		(void)check_fail(check, "the first packet was lost when there were mbufs again");
		return false;
	}
	return still_receives(check, "when there were mbufs again");
}

/** The pool is empty while more frames come than the rings hold. */
static enum check_result
starved_queue(struct check *check)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	struct rte_mbuf **held =
		rte_malloc("held", (port->pool->size + HELD_BURST) * sizeof(*held), 0);
	struct rte_eth_stats before;
	unsigned int nb = 0;
	bool is_counted;
	int ret;

	if (held == NULL)
		return check_fail(check, "no memory");
	while ((held[nb] = rte_pktmbuf_alloc(port->pool)) != NULL)
		nb++;
	ret = rte_eth_stats_get(port->id, &before);
	if (ret == 0)
		ret = send_in_vain(check, 2 * CHECK_RING * port->nb_queues);
	is_counted = ret == 0 && loses_frames(check, before.imissed, held, &nb);
	rte_pktmbuf_free_bulk(held, nb);
	rte_free(held);
	drain(port);
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	if (!receives_again(check))
		return CHECK_FAIL;
	/* What a netdev sends may be lost on its way. */
	if (check->port[CHECK_PEER].ibdev[0] == '\0' || is_counted)
		return CHECK_PASS;
	if (!tells_of_losses(port))
		return check_absent(check, "Linux does not tell of lost packets here");
	return check_fail(check, "no lost packet was counted");
}

/** Let all queues ask for an interrupt, or none. @return 0 or a negative errno */
static int
interrupts_set(const struct check_port *port, bool on)
{
	int ret = 0;

	for (uint16_t q = 0; q < port->nb_queues && ret == 0; q++) {
		if (on)
			ret = rte_eth_dev_rx_intr_ctl_q(
				port->id, q, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL);
		if (ret == 0)
			ret = on ? rte_eth_dev_rx_intr_enable(port->id, q)
				 : rte_eth_dev_rx_intr_disable(port->id, q);
		if (!on && ret == 0)
			ret = rte_eth_dev_rx_intr_ctl_q(
				port->id, q, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_DEL, NULL);
	}
	return ret;
}

/** @return the number of events, 1 or 0. The kernel ends the wait of a program that was stopped. */
static int
await_event(const struct check *check)
{
	const uint64_t end = check_wait_end(check);
	struct rte_epoll_event event;
	int nb;

	do {
		nb = rte_epoll_wait_interruptible(
			RTE_EPOLL_PER_THREAD, &event, 1, (int)check->patience_ms);
	} while (nb < 0 && errno == EINTR && check_wait_on(end));
	return nb;
}

static enum check_result
interrupt(struct check *check)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	const struct check_frame frame = { .size = 128 };
	int ret, nb = 0;

	if (!port->has_interrupts)
		return check_absent(check, "the port starts without them only");
	drain(port);
	ret = interrupts_set(port, true);
	if (ret == 0) {
		ret = check_traffic_send(check, CHECK_PEER, &frame);
		nb = ret == 0 ? await_event(check) : 0;
	}
	(void)interrupts_set(port, false);
	drain(port);
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	return nb == 1 ? CHECK_PASS : check_fail(check, "a packet woke nobody");
}

/** Send RATE_FRAMES, and wait for them. @return the microseconds that took, or a negative errno */
static int64_t
timed_frames(struct check *check)
{
	const uint64_t start = rte_get_timer_cycles();
	const int ret = check_traffic_flood_some(check, CHECK_PORT, RATE_SIZE, RATE_FRAMES);

	return ret != 0
		? ret
		: (int64_t)((rte_get_timer_cycles() - start) * 1000000 / rte_get_timer_hz());
}

/** Slower than asked for is the machine's business, faster is the device's. */
static enum check_result
rate_limit(struct check *check)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	const int64_t least = (int64_t)RATE_FRAMES * RATE_SIZE * 8 / RATE_MBPS;
	int64_t took;
	int ret = rte_eth_set_queue_rate_limit(id, 0, RATE_MBPS);

	if (ret == -ENOTSUP)
		return check_absent(check, "send queues have no rate");
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	took = timed_frames(check);
	ret = rte_eth_set_queue_rate_limit(id, 0, 0);
	if (took < 0)
		return CHECK_FAIL;
	if (ret != 0)
		return check_fail(check, "taking it off: %s", rte_strerror(-ret));
	/* A paced queue may begin with a burst. */
	if (took < least * 3 / 4)
		return check_fail(check, "%d packets took %" PRId64 " us, not %" PRId64,
			RATE_FRAMES, took, least);
	return CHECK_PASS;
}

/** @return how many descriptors of send queue 0 are in use, or a negative errno. Drivers count
 * offsets from the oldest packet or from the next one. */
static int
nb_full(const struct check_port *port)
{
	int nb = 0;

	for (uint16_t offset = 0; offset < CHECK_RING; offset++) {
		const int status = rte_eth_tx_descriptor_status(port->id, 0, offset);

		if (status < 0)
			return status;
		nb += status == RTE_ETH_TX_DESC_FULL;
	}
	return nb;
}

/** Send packets on the slow queue, and wait for them. @return how many were in use meanwhile, or a
 * negative errno; *is_early: they could not have left when that was asked */
static int
full_meanwhile(struct check *check, bool *is_early)
{
	const struct check_frame frame = { .size = RATE_SIZE };
	const uint64_t leave_us = (uint64_t)STATUS_FRAMES * RATE_SIZE * 8 / STATUS_MBPS;
	const uint64_t start = rte_get_timer_cycles();
	struct check_gots gots = { .nb = 0 };
	int nb, ret = 0;

	for (unsigned int i = 0; i < STATUS_FRAMES && ret == 0; i++)
		ret = check_traffic_send(check, CHECK_PORT, &frame);
	nb = nb_full(&check->port[CHECK_PORT]);
	*is_early = (rte_get_timer_cycles() - start) * US_PER_S / rte_get_timer_hz() < leave_us / 2;
	if (ret == 0)
		ret = check_traffic_exchange(check, CHECK_PORT, NULL, 0, &gots);
	check_traffic_free(&gots);
	return ret != 0 ? ret : nb;
}

/** Some are in use while the slow queue has packets, and none when all have come. */
static enum check_result
see_full(struct check *check)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	uint64_t end = check_wait_end(check);
	struct check_gots gots;
	bool is_early;
	int nb;

	/* A busy machine may keep the program from looking in time. */
	do {
		nb = full_meanwhile(check, &is_early);
	} while (nb == 0 && !is_early && check_wait_on(end));
	if (nb < 0)
		return check_fail(check, "%s", rte_strerror(-nb));
	if (nb == 0)
		return check_fail(check, "%d packets wait in no descriptor", STATUS_FRAMES);
	end = check_wait_end(check);
	/* Drivers let the device tell of some only: the last may wait for those behind them. */
	while ((nb = nb_full(port)) > STATUS_FRAMES / 2 && check_wait_on(end)) {
		const int ret = check_traffic_exchange(check, CHECK_PORT, NULL, 0, &gots);

		check_traffic_free(&gots);
		if (ret != 0)
			return check_fail(check, "%s", rte_strerror(-ret));
	}
	if (nb < 0)
		return check_fail(check, "%s", rte_strerror(-nb));
	return nb <= STATUS_FRAMES / 2 ? CHECK_PASS
				       : check_fail(check, "%d are in use when all has come", nb);
}

static enum check_result
tx_descriptor_status(struct check *check)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	enum check_result result;
	int ret = rte_eth_tx_descriptor_status(id, 0, 0);

	if (ret == -ENOTSUP)
		return check_absent(check, "the driver does not tell");
	ret = rte_eth_set_queue_rate_limit(id, 0, STATUS_MBPS);
	if (ret == -ENOTSUP)
		return check_absent(check, "send queues have no rate: nothing waits in them");
	result = ret == 0 ? see_full(check) : check_fail(check, "%s", rte_strerror(-ret));
	ret = rte_eth_set_queue_rate_limit(id, 0, 0);
	return ret == 0 ? result : check_fail(check, "taking the rate off: %s", rte_strerror(-ret));
}

/** Write and read it. @return 0 or an errno */
static int
memory_compare(struct ibv_context *ctx, bool *same)
{
	struct ibv_alloc_dm_attr attr = { .length = DM_BYTES };
	struct ibv_dm *dm = ibv_alloc_dm(ctx, &attr);
	uint8_t wrote[DM_BYTES], read[DM_BYTES] = { 0 };
	int ret;

	if (dm == NULL)
		return errno;
	for (unsigned int i = 0; i < DM_BYTES; i++)
		wrote[i] = (uint8_t)(i * 37 + 1);
	ret = ibv_memcpy_to_dm(dm, 0, wrote, DM_BYTES);
	if (ret == 0)
		ret = ibv_memcpy_from_dm(read, dm, 0, DM_BYTES);
	*same = memcmp(wrote, read, DM_BYTES) == 0;
	ibv_free_dm(dm);
	return ret;
}

static enum check_result
device_memory(struct check *check)
{
	struct ibv_context *ctx = check_verbs_open(check->port[CHECK_PORT].ibdev);
	struct ibv_device_attr_ex attr = { .max_dm_size = 0 };
	enum check_result result;
	bool same = false;
	int ret;

	if (ctx == NULL)
		return check_fail(check, "the device cannot be opened once more");
	ret = ibv_query_device_ex(ctx, NULL, &attr);
	if (ret == 0 && attr.max_dm_size == 0) {
		result = check_absent(check, "the device has none");
	} else {
		if (ret == 0)
			ret = memory_compare(ctx, &same);
		result = ret != 0 ? check_fail(check, "%s", rte_strerror(ret))
			: same    ? CHECK_PASS
				  : check_fail(check, "other bytes were read than written");
	}
	ibv_close_device(ctx);
	return result;
}

const struct check_row check_rows_queue[] = {
	{ "queues stop and start", "packets come and go afterwards", stopped_queues },
	{ "starved receive queue", "losses are counted, and packets come afterwards",
		starved_queue },
	{ "Rx interrupt", "a packet wakes who waits for it", interrupt },
	{ "rate limit", "a send queue is no faster than it may be", rate_limit },
	{ "Tx descriptor status", "packets that wait in a slow queue are seen",
		tx_descriptor_status },
	{ "device memory", "what is written is read", device_memory },
	{ NULL, NULL, NULL },
};
