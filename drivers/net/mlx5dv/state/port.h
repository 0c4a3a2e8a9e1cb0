/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Control state of one port and ownership of everything below it. No data-path field lives here:
 * the burst functions see their queue only.
 *
 *     rte_eth_dev -> mdv_port -> mdv_device        verbs context, PD, caps
 *                             -> mdv_rxq[], mdv_txq[]  by rte_eth_dev_data's queue arrays
 *                             -> mdv_flow_state    rules, default rules, shared hash QPs
 *
 * Threads: the application serialises control operations of a port, as ethdev demands. Flow
 * operations take flow.lock and may be called from any thread (RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE).
 * EAL's interrupt thread handles the device's events and finds queues by the queue list.
 */
#ifndef MDV_PORT_H
#define MDV_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <ethdev_driver.h>
#include <rte_ether.h>

#include "device/devargs.h"
#include "device/device.h"
#include "queue_list.h"

/** MAC addresses a port can have, the primary included. */
#define MDV_MAC_MAX 128
/** Bytes of a Toeplitz key: verbs takes this length and no other. */
#define MDV_RSS_KEY_BYTES 40
/** Entries of the redirection table as ethdev shows it, unless the device has fewer. */
#define MDV_RETA_MAX 512
/** Largest MTU of the device family (Linux mlx5e: 10 KB of port MTU less headers). */
#define MDV_MTU_MAX 9978
/** Bytes of a frame beyond its MTU: Ethernet header and one VLAN tag. The FCS is not counted. */
#define MDV_FRAME_OVERHEAD (RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN)

struct mdv_flow_state;
struct mdv_mr_table;
struct mdv_rx_wake;
struct mdv_rxq;
struct mdv_txq;
struct rte_intr_handle;
struct rte_pmd_mlx5dv_dm;

LIST_HEAD(mdv_dm_list, rte_pmd_mlx5dv_dm);

/** The primary process's view of the secondary ones; survives a reset of the port. */
struct mdv_primary {
	unsigned int nb_attached; /**< secondaries that attached the port and did not detach it */
	bool serves;              /**< requests on queues are accepted */
};

/** Events of the device and the netdev (port/event.h). */
struct mdv_event {
	struct rte_intr_handle *handle; /**< of the device's events; NULL: not listening */
	struct rte_intr_handle *netdev; /**< of the netlink socket; NULL: not listening */
	uint16_t netdev_mtu;            /**< as last seen */
	bool up;                        /**< the link state last reported to the application */
	bool removed;                   /**< the device has failed for good or was taken away */
	bool other_logged;              /**< an event of an object other than a queue was logged */
};

/** The terms of RX-missed at one point in time. */
struct mdv_missed_terms {
	uint64_t before; /**< counted in earlier starts, since the last reset */
	uint64_t base;   /**< the device's count at the start, or at the last reset since then */
	uint64_t seen;   /**< the count as last read, which has gone round since base */
	bool counting;   /**< between start and stop, and base could be read */
};

/**
 * Frames that found no buffer in the port's queues. The device has one count for all verbs users of
 * the port, so the port counts all frames missed while it is started as its own.
 *
 * Start, stop and reset write the terms; any thread of any process reads them at the same time. No
 * thread waits for another, which may have died: terms[seq & 1] is valid, and a writer fills the
 * other one before it increments seq (Linux has this as seqcount_latch). Readers update seen alone.
 */
struct mdv_missed {
	uint32_t seq;
	struct mdv_missed_terms terms[2];
};

/** Most counters of a port. */
#define MDV_XSTATS_MAX 64

/** Shared with other processes. */
struct mdv_xstats {
	uint16_t nb;
	uint8_t rows[MDV_XSTATS_MAX];  /**< of the table in xstats.c, by id */
	uint64_t base[MDV_XSTATS_MAX]; /**< the counter's value at the last reset */
	uint64_t last[MDV_XSTATS_MAX]; /**< as last read; goes on where 32 bits wrap around */
};

struct mdv_mac_list {
	struct rte_ether_addr *macs;
	uint32_t nb;
};

struct mdv_port {
	struct rte_eth_dev *dev;
	struct mdv_config config;
	struct mdv_device device;
	struct mdv_mr_table *mr;
	struct mdv_dm_list dms; /**< changed while the port is held (port_list.h) */

	bool isolated;               /**< rte_flow_isolate(): no default rules */
	bool started;                /**< queues exist in the device, rules are applied */
	bool marks_in_use;           /**< a rule has tagged packets since the start */
	bool strides;                /**< the Rx queues are striding (rx_strides.h) */
	bool split;                  /**< an Rx queue may split packets (rx_split.h) */
	uint16_t tx_inline;          /**< longest frame that is inlined on send; 0: none */
	uint16_t mtu;                /**< bytes of L3 payload */
	uint64_t rx_metadata;        /**< RTE_ETH_RX_METADATA_* delivered to mbufs */
	uint16_t nb_reta;            /**< entries of reta, a power of two; 0 before configure */
	uint16_t reta[MDV_RETA_MAX]; /**< queue index */
	uint8_t rss_key[MDV_RSS_KEY_BYTES];
	uint64_t rss_types; /**< RTE_ETH_RSS_*, 0: no RSS, all to reta[0] */

	/* MACs are in dev->data->mac_addrs[MDV_MAC_MAX], all-zero where free. */
	struct rte_ether_addr *mc_list; /**< set_mc_addr_list; NULL when empty */
	uint32_t nb_mc;
	unsigned int netdev_flags;  /**< IFF_PROMISC and other flags that this port has set */
	struct mdv_mac_list listed; /**< on the netdev by this port (mac_netdev.h) */
	struct mdv_event event;
	struct mdv_queue_list queues;
	struct mdv_primary primary;
	struct mdv_missed missed;
	struct mdv_xstats xstats;

	struct mdv_rx_wake *rx_wakes; /**< by queue; NULL: no Rx interrupts */
	/* Under queues.lock. */
	struct mdv_rxq *parked;    /**< released Rx queues whose WQs are in use */
	struct mdv_txq *parked_tx; /**< released Tx queues, for their QPs */

	struct mdv_flow_state *flow; /**< memory of the primary process, not shared */
};

static inline struct mdv_port *
mdv_port(const struct rte_eth_dev *dev)
{
	return (struct mdv_port *)dev->data->dev_private;
}

#endif /* MDV_PORT_H */
