/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * At the end: checks that a port is alive. It starts whatever is stopped, and leaves alone whatever
 * runs. Then each queue must send or receive again and each rule must be where it was, or the port
 * must report its removal.
 */
#include <string.h>
#include <time.h>

#include <rte_cycles.h>

#include "campaign.h"

/** UDP ports of the rules that reach each Rx queue; and one without a rule. */
#define DPORT_QUEUE 60000
#define DPORT_OTHER 59999

#define TRIES 300

/** Signs of life still missing. */
struct missing {
	unsigned int tx, rx;  /**< by 1 << queue */
	uint32_t rules;       /**< by 1 << slot */
	bool other;           /**< packets without a rule */
	uint32_t sent_before; /**< frames up to here do not count */
};

/** @return whether the device is gone and the event that reports it is still pending. */
static bool
soon_gone(const struct campaign_port *port)
{
	const time_t end = time(NULL) + CAMPAIGN_PATIENCE_S;

	while ((campaign.may & CAMPAIGN_MAY_FATAL) != 0 && !campaign_gone(port) && time(NULL) < end)
		rte_delay_us_sleep(1000);
	return campaign_gone(port);
}

/** Repeat an operation as long as faults explain its failure. */
static bool
insist(struct campaign_port *port, const char *what, int (*run)(struct campaign_port *port))
{
	int ret = -1;

	for (unsigned int i = 0; i < TRIES && ret != 0; i++) {
		if (campaign_gone(port))
			return false;
		ret = run(port);
		campaign_must(ret == 0 || campaign_excused(port, ret), "port %u: %s: %s", port->id,
			what, rte_strerror(-ret));
	}
	campaign_must(ret == 0 || soon_gone(port), "port %u: %s fails again and again: %s",
		port->id, what, rte_strerror(-ret));
	return ret == 0;
}

static int
start_queues(struct campaign_port *port)
{
	int ret = 0;

	for (uint16_t i = 0; i < port->nb_rxq && ret == 0; i++)
		ret = rte_eth_dev_rx_queue_start(port->id, i);
	for (uint16_t i = 0; i < port->nb_txq && ret == 0; i++)
		ret = rte_eth_dev_tx_queue_start(port->id, i);
	return ret;
}

/** Make room for one rule a queue. */
static int
remove_some(struct campaign_port *port)
{
	struct rte_flow_error error;
	int ret = 0;

	for (unsigned int i = 0; i < CAMPAIGN_QUEUES && ret == 0; i++) {
		if (port->rules[i].flow == NULL)
			continue;
		ret = rte_flow_destroy(port->id, port->rules[i].flow, &error);
		if (ret == 0)
			port->rules[i].flow = NULL;
	}
	return ret;
}

static int
add_rules(struct campaign_port *port)
{
	int ret = 0;

	for (uint16_t i = 0; i < port->nb_rxq && ret == 0; i++) {
		if (port->rules[i].flow == NULL)
			ret = campaign_rules_add(port, DPORT_QUEUE + i, 1u << i, 1 + i, 0);
	}
	return ret;
}

static struct missing
all_missing(struct campaign_port *port)
{
	struct missing missing = {
		.tx = (1u << campaign_peer(port)->nb_txq) - 1,
		.rx = (1u << port->nb_rxq) - 1,
		.other = !port->isolated && port->vlans == 0,
		.sent_before = campaign.sequence,
	};

	for (unsigned int i = 0; i < CAMPAIGN_RULES; i++)
		missing.rules |=
			port->rules[i].flow != NULL && port->rules[i].queues != 0 ? 1u << i : 0;
	return missing;
}

static bool
nothing_missing(const struct missing *missing)
{
	return missing->tx == 0 && missing->rx == 0 && missing->rules == 0 && !missing->other;
}

static void
account(struct campaign_port *port, uint16_t queue, const struct campaign_seen *seen,
	struct missing *missing)
{
	if (seen->sequence <= missing->sent_before || seen->port != campaign_peer(port)->id)
		return;
	missing->tx &= ~(1u << seen->queue);
	missing->rx &= ~(1u << queue);
	if (seen->dport == DPORT_OTHER)
		missing->other = false;
	for (unsigned int i = 0; i < CAMPAIGN_RULES; i++) {
		const struct campaign_rule *rule = &port->rules[i];

		if (rule->flow == NULL || rule->dport != seen->dport || rule->queues == 0)
			continue;
		if (rule->passthru && (rule->queues & 1u << queue) == 0)
			continue;
		campaign_must((rule->queues & 1u << queue) != 0,
			"port %u: a frame for UDP port %u in queue %u, its rule says %#x", port->id,
			seen->dport, queue, rule->queues);
		if (rule->mark == seen->mark)
			missing->rules &= ~(1u << i);
	}
}

static void
send_round(struct campaign_port *port, struct missing *missing)
{
	struct campaign_port *peer = campaign_peer(port);

	for (uint16_t queue = 0; queue < peer->nb_txq; queue++) {
		campaign_traffic_send(peer, queue, DPORT_OTHER, 60);
		campaign_traffic_send(peer, queue, DPORT_QUEUE + campaign_choose(port->nb_rxq), 60);
	}
	for (unsigned int i = 0; i < CAMPAIGN_RULES; i++) {
		if (missing->rules & 1u << i)
			campaign_traffic_send(
				peer, campaign_choose(peer->nb_txq), port->rules[i].dport, 60);
	}
}

static void
see_alive(struct campaign_port *port)
{
	const time_t end = time(NULL) + CAMPAIGN_PATIENCE_S;
	struct campaign_seen seen[CAMPAIGN_BURST];
	struct missing missing = all_missing(port);

	while (!nothing_missing(&missing) && !campaign_gone(port) &&
		!campaign_gone(campaign_peer(port))) {
		campaign_must(time(NULL) < end,
			"port %u: dead: its Rx queues %#x, Tx queues %#x of its peer, rules %#x%s",
			port->id, missing.rx, missing.tx, missing.rules,
			missing.other ? ", what no rule is for" : "");
		send_round(port, &missing);
		for (unsigned int i = 0; i < 8 * port->nb_rxq; i++) {
			const uint16_t queue = i % port->nb_rxq;
			unsigned int nb = campaign_traffic_receive(port, queue, seen);

			for (unsigned int k = 0; k < nb; k++)
				account(port, queue, &seen[k], &missing);
		}
	}
}

void
campaign_settle(struct campaign_port *port)
{
	struct campaign_port *peer = campaign_peer(port);

	for (unsigned int i = 0; i < campaign.nb_ports; i++) {
		struct campaign_port *each = &campaign.ports[i];

		if (!each->attached ||
			(!each->configured &&
				!insist(each, "configure", campaign_port_configure)) ||
			!insist(each, "start", campaign_port_start) ||
			!insist(each, "starting queues", start_queues))
			return;
	}
	if (port->attached && peer->attached && insist(port, "flow destroy", remove_some) &&
		insist(port, "flow create", add_rules))
		see_alive(port);
}
