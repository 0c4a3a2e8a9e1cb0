/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of what a port tells unasked. */
#include <errno.h>

#include <rte_errno.h>

#include "check.h"

/** EAL's interrupt thread calls it. */
static int
count_event(uint16_t id, enum rte_eth_event_type type, void *arg, void *ret)
{
	unsigned int *nb_events = arg;

	(void)id;
	(void)type;
	(void)ret;
	__atomic_add_fetch(nb_events, 1, __ATOMIC_RELEASE);
	return 0;
}

/** Wait for another event, and that the link is as it should be. */
static bool
hears(struct check *check, const unsigned int *nb_events, unsigned int before, uint16_t status)
{
	const uint64_t end = check_wait_end(check);
	struct rte_eth_link link = { 0 };
	unsigned int nb;
	int ret;

	do {
		nb = __atomic_load_n(nb_events, __ATOMIC_ACQUIRE);
		ret = rte_eth_link_get_nowait(check->port[CHECK_PORT].id, &link);
		if (ret == 0 && nb != before && link.link_status == status)
			return true;
	} while (check_wait_on(end));
	(void)check_fail(check, "%s: %u events, and the link is %s",
		status == RTE_ETH_LINK_UP ? "when it was set up" : "when it was set down",
		nb - before, link.link_status == RTE_ETH_LINK_UP ? "up" : "down");
	return false;
}

/** Down and up. The link is up in the end, whatever was heard. */
static enum check_result
set_link(struct check *check, const unsigned int *nb_events)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	unsigned int before = __atomic_load_n(nb_events, __ATOMIC_ACQUIRE);
	int ret = rte_eth_dev_set_link_down(id);
	bool good;

	if (ret != 0)
		return check_absent(
			check, "the driver cannot take the link down: %s", rte_strerror(-ret));
	good = hears(check, nb_events, before, RTE_ETH_LINK_DOWN);
	before = __atomic_load_n(nb_events, __ATOMIC_ACQUIRE);
	ret = rte_eth_dev_set_link_up(id);
	if (ret != 0)
		return check_fail(check, "setting it up: %s", rte_strerror(-ret));
	if (!good || !hears(check, nb_events, before, RTE_ETH_LINK_UP))
		return CHECK_FAIL;
	/* The peer's went down with it, and need not be up at the same moment. */
	if (check_links(check) != CHECK_PASS)
		return CHECK_FAIL;
	return check_comes(check, NULL, 1, "with the link again") ? CHECK_PASS : CHECK_FAIL;
}

static enum check_result
link_events(struct check *check)
{
	static unsigned int nb_events;
	struct check_port *port = &check->port[CHECK_PORT];
	enum check_result result;
	int ret;

	if (!(*port->info.dev_flags & RTE_ETH_DEV_INTR_LSC))
		return check_absent(check, "the port has none");
	port->events = true;
	ret = rte_eth_dev_callback_register(
		port->id, RTE_ETH_EVENT_INTR_LSC, count_event, &nb_events);
	if (ret == 0)
		ret = check_port_again(port);
	result = ret == 0 ? set_link(check, &nb_events)
			  : check_fail(check, "cannot start it: %s", rte_strerror(-ret));
	port->events = false;
	(void)rte_eth_dev_callback_unregister(
		port->id, RTE_ETH_EVENT_INTR_LSC, count_event, &nb_events);
	ret = check_port_again(port);
	return ret == 0 ? result : check_fail(check, "setting it back: %s", rte_strerror(-ret));
}

const struct check_row check_rows_event[] = {
	{ "link events", "the application hears of a link that goes down and up", link_events },
	{ NULL, NULL, NULL },
};
