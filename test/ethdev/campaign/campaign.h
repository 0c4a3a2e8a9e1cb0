/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A campaign: the random traffic and control operations of one seed on ports of which much may
 * fail, and the properties that hold all the same. Uses only ethdev.
 *
 *     main.c    ── chooses the next operation; attaches, detaches, and settles the accounts at the
 *     end
 *     port.c    ── control operations as rows
 *     rules.c   ── rte_flow rules, and the queue that must get each packet
 *     traffic.c ── frames that can be told apart, sent and checked
 *     settle.c  ── shows that a port is alive, or that it reports its removal
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

/** Effects of faults: with one of these an error is not the port's mistake. */
enum campaign_may {
	CAMPAIGN_MAY_VERBS = 1 << 0,  /**< any verb may fail */
	CAMPAIGN_MAY_DAMAGE = 1 << 1, /**< received frames may differ from the sent ones */
	CAMPAIGN_MAY_FATAL = 1 << 2,  /**< a device may die */
};

struct campaign_rule {
	struct rte_flow *flow; /**< NULL: free */
	uint16_t dport;        /**< of UDP: no other rule matches it */
	uint16_t queues;       /**< by 1 << index; 0: DROP */
	uint32_t mark;         /**< 0: none */
	bool passthru;         /**< others get the packet as well */
};

struct campaign_port {
	uint16_t id;
	char args[128];  /**< for the probe */
	bool attached;   /**< the port exists */
	bool configured; /**< its queues are set up */
	bool started;
	bool isolated;
	uint16_t nb_rxq, nb_txq;
	uint16_t rx_desc[CAMPAIGN_QUEUES];
	struct rte_mempool *rx_pool[CAMPAIGN_QUEUES];
	uint16_t rx_first[CAMPAIGN_QUEUES]; /**< bytes of a packet that a small buffer takes, of a
					       queue that splits packets; 0: none */
	uint16_t tx_desc[CAMPAIGN_QUEUES];
	uint64_t tx_offloads;
	uint32_t vlans; /**< in the filter, by 1 << id: with any, the port receives only these */
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
	int refusal; /**< a negative errno that the port may return without any fault, or 0 */
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
/** @return whether the port has reported that its device is gone. */
bool campaign_gone(const struct campaign_port *port);
/** @return whether faults explain that @p port returns @p ret, an error that nothing else
 * explains. */
bool campaign_excused(const struct campaign_port *port, int ret);
/** @return the port that receives the frames of @p port. */
struct campaign_port *campaign_peer(const struct campaign_port *port);

/** Start or stop the port. */
int campaign_port_start(struct campaign_port *port);
int campaign_port_stop(struct campaign_port *port);
/** Configure the port with random queues and offloads; all queues are set up. */
int campaign_port_configure(struct campaign_port *port);
/** Forget the application's rules, which have gone. */
void campaign_rules_forget(struct campaign_port *port);
/** Make a rule for @p dport. @return 0 or a negative errno */
int campaign_rules_add(struct campaign_port *port, uint16_t dport, uint16_t queues, uint32_t mark,
	unsigned int more);

/** Send one frame to @p dport, @p length bytes, to the peer. @return its number, 0: not sent */
uint32_t campaign_traffic_send(
	struct campaign_port *port, uint16_t queue, uint16_t dport, uint32_t length);
/** The content of a received frame. */
struct campaign_seen {
	uint32_t sequence;
	uint16_t dport;
	uint8_t port, queue; /**< that sent it */
	uint32_t mark;       /**< 0: none */
};
/**
 * Receive a burst and check each frame.
 * @param seen gets the campaign's complete frames, CAMPAIGN_BURST at most
 * @return the number of frames in @p seen
 */
unsigned int campaign_traffic_receive(
	struct campaign_port *port, uint16_t queue, struct campaign_seen *seen);
/** Give mbufs back that were taken out of pools. */
void campaign_traffic_release(void);

/** Start whatever is stopped, and check that all of it works, rules included, or that the port
 * reports its removal. */
void campaign_settle(struct campaign_port *port);

#endif /* CAMPAIGN_H */
