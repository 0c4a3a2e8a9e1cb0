/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A campaign: one seed's traffic and control operations at random on ports of which much may fail,
 * and what must hold all the same. Knows nothing but ethdev.
 *
 *     main.c    ── the choice of what comes next; attaching, detaching, the accounts in the end
 *     port.c    ── control operations as rows
 *     rules.c   ── rte_flow rules, and which queue must get what
 *     traffic.c ── frames that can be told apart, sent and checked
 *     settle.c  ── the proof that a port is alive, or says that it is gone
 */
#ifndef CAMPAIGN_H
#define CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_mempool.h>

#define CAMPAIGN_PORTS      2
#define CAMPAIGN_QUEUES     4
#define CAMPAIGN_RULES      24
#define CAMPAIGN_BURST      32
#define CAMPAIGN_PATIENCE_S 60

/** What faults may have struck: an error is then not a mistake of the port's. */
enum campaign_may {
	CAMPAIGN_MAY_VERBS = 1 << 0,  /**< any verb may fail */
	CAMPAIGN_MAY_DAMAGE = 1 << 1, /**< frames may be other than what was sent */
	CAMPAIGN_MAY_FATAL = 1 << 2,  /**< a device may die */
};

struct campaign_rule {
	struct rte_flow *flow; /**< NULL: free */
	uint16_t dport;        /**< of UDP: what it matches, no other rule does */
	uint16_t queues;       /**< by 1 << index; 0: DROP */
	uint32_t mark;         /**< 0: none */
	bool passthru;         /**< others get it as well */
};

struct campaign_port {
	uint16_t id;
	char args[128];  /**< to probe it with */
	bool attached;   /**< there is such a port */
	bool configured; /**< its queues are set up */
	bool started;
	bool isolated;
	uint16_t nb_rxq, nb_txq;
	uint16_t rx_desc[CAMPAIGN_QUEUES];
	struct rte_mempool *rx_pool[CAMPAIGN_QUEUES];
	uint16_t tx_desc[CAMPAIGN_QUEUES];
	uint64_t tx_offloads;
	uint32_t vlans; /**< in the filter, by 1 << id: none else is let in, if any */
	struct campaign_rule rules[CAMPAIGN_RULES];
};

struct campaign {
	uint64_t seed, random;
	unsigned int step, may;
	struct campaign_port ports[CAMPAIGN_PORTS];
	unsigned int nb_ports;
	struct rte_mempool *pool, *small_pool; /**< of large and of small buffers */
	struct rte_mbuf **hoard;               /**< taken out of a pool, so that it runs dry */
	unsigned int nb_hoard;
	uint32_t sequence; /**< of the last frame */
	uint16_t dport;    /**< of the last rule */
};

/** One operation. @return 0, or the negative errno with which the port refuses */
typedef int (*campaign_fn)(struct campaign_port *port);

enum campaign_when {
	CAMPAIGN_ALWAYS,
	CAMPAIGN_STOPPED,
	CAMPAIGN_STARTED
};

struct campaign_row {
	const char *name;
	unsigned int weight;
	enum campaign_when when;
	campaign_fn run;
	int refusal; /**< a negative errno with which it may be refused without any fault, or 0 */
};

extern struct campaign campaign;

/** Rows that are ended by one without a name. */
extern const struct campaign_row campaign_port_rows[];
extern const struct campaign_row campaign_rules_rows[];
extern const struct campaign_row campaign_traffic_rows[];

/** End with a message unless @p ok. */
__rte_format_printf(2, 3) void campaign_must(bool ok, const char *format, ...);
/** @return 0 to @p nb - 1 */
unsigned int campaign_choose(unsigned int nb);
/** The port has said that its device is gone. */
bool campaign_gone(const struct campaign_port *port);
/** @return whether it is no mistake that @p port says @p ret, where nothing but faults explains it.
 */
bool campaign_excused(const struct campaign_port *port, int ret);
/** What a port sends arrives there. */
struct campaign_port *campaign_peer(const struct campaign_port *port);

/** Start or stop it. */
int campaign_port_start(struct campaign_port *port);
int campaign_port_stop(struct campaign_port *port);
/** Configure with queues and offloads by chance; all queues are set up. */
int campaign_port_configure(struct campaign_port *port);
/** The application's rules are no more. */
void campaign_rules_forget(struct campaign_port *port);
/** Make a rule for @p dport. @return 0 or a negative errno */
int campaign_rules_add(struct campaign_port *port, uint16_t dport, uint16_t queues, uint32_t mark,
	unsigned int more);

/** Send one frame to @p dport, @p length bytes, to the peer. @return its number, 0: not sent */
uint32_t campaign_traffic_send(
	struct campaign_port *port, uint16_t queue, uint16_t dport, uint32_t length);
/** What a received frame was found to be. */
struct campaign_seen {
	uint32_t sequence;
	uint16_t dport;
	uint8_t port, queue; /**< that sent it */
	uint32_t mark;       /**< 0: none */
};
/**
 * Receive a burst and look at each frame.
 * @param seen gets those that are ours and whole, CAMPAIGN_BURST at most
 * @return how many
 */
unsigned int campaign_traffic_receive(
	struct campaign_port *port, uint16_t queue, struct campaign_seen *seen);
/** Give back what was taken out of pools. */
void campaign_traffic_release(void);

/** Start what is stopped, and see all of it live, rules too; or the port say that it is gone. */
void campaign_settle(struct campaign_port *port);

#endif /* CAMPAIGN_H */
