/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Driver arguments: one row a key in devargs.c, parsed into struct mdv_config. */
#ifndef MDV_DEVARGS_H
#define MDV_DEVARGS_H

#include <net/if.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/** The effect of the port's default rules on a packet. */
enum mdv_sniff {
	MDV_SNIFF_NONE, /**< take the packet */
	MDV_SNIFF_RX,   /**< copy the packet; the kernel gets it as well */
	MDV_SNIFF_ALL,  /**< copy received packets and those that the kernel sends */
};

/** How completions of received packets are compressed. */
enum mdv_cqe_comp {
	MDV_CQE_COMP_AUTO, /**< by a format that suits the device and the offloads */
	MDV_CQE_COMP_OFF,
	MDV_CQE_COMP_HASH, /**< with a hash for each packet, else no compression */
	MDV_CQE_COMP_CSUM, /**< with a checksum for each packet, else no compression */
};

/** Whether PASSTHRU rules may move to make room for a new rule. */
enum mdv_passthru_move {
	MDV_PASSTHRU_MOVE_OFF, /**< no: the new rule is refused */
	MDV_PASSTHRU_MOVE_ON,  /**< yes: a packet that passes meanwhile may be copied twice */
};

/** The party that reads and writes the device's rings. */
enum mdv_mode {
	MDV_MODE_AUTO, /**< the bursts where direct verbs work, else verbs */
	MDV_MODE_DV,   /**< the bursts, by direct verbs */
	MDV_MODE_IBV,  /**< verbs: needs work queues and flow steering, on any device */
};

/** Whether packet memory is registered with IBV_ACCESS_RELAXED_ORDERING. */
enum mdv_relaxed {
	MDV_RELAXED_AUTO, /**< by the CPU */
	MDV_RELAXED_ON,
	MDV_RELAXED_OFF,
};

/** How the doorbell registers of send queues are mapped. */
enum mdv_sq_db_nc {
	MDV_SQ_DB_NC_AUTO, /**< by the CPU's architecture */
	MDV_SQ_DB_NC_OFF,  /**< write-combining: each doorbell is flushed */
	MDV_SQ_DB_NC_ON,   /**< non-cached: no flush */
};

/** Headers that send WQEs inline at least, as a host may demand of a ConnectX-4 function (devlink
 * eswitch inline-mode). */
enum mdv_inline_min {
	MDV_INLINE_MIN_AUTO, /**< by the device: L2 headers or none */
	MDV_INLINE_MIN_L2,
	MDV_INLINE_MIN_NETWORK,   /**< with an IPv6 header */
	MDV_INLINE_MIN_TRANSPORT, /**< with a TCP header, too */
};

/** Whether receive queues are striding. */
enum mdv_mprq {
	MDV_MPRQ_OFF,
	MDV_MPRQ_AUTO, /**< where it pays: doc/design/fastpath.md has the table */
	MDV_MPRQ_ON,   /**< or the port does not start */
};

/** Whether mempools are registered before packets of theirs are sent. */
enum mdv_mempool_reg {
	MDV_MEMPOOL_REG_ON, /**< when the port starts, or they are made */
	MDV_MEMPOOL_REG_OFF,
};

/** The longest frame that a send WQE can inline: the DPDK in-tree driver's limit, too (mlx5_prm.h
 * MLX5_EMPW_MAX_INLINE_LEN). */
#define MDV_TX_INLINE_MAX 924u
/** tx_inline=auto: where it pays; doc/design/fastpath.md has the table. */
#define MDV_TX_INLINE_AUTO UINT16_MAX

struct mdv_config {
	char ibdev[IBV_SYSFS_NAME_MAX]; /**< verbs device name, "" when iface names it */
	char iface[IF_NAMESIZE];        /**< netdev name, "" when ibdev names it */
	uint8_t port;                   /**< of ibdev, from 1; 0: its only one */
	enum mdv_sniff sniff;
	enum mdv_cqe_comp rx_cqe_comp;
	enum mdv_passthru_move passthru_move;
	/**
	 * For a paced queue: bytes of one burst, and of a typical frame. 0: the device's choice.
	 */
	uint32_t tx_max_burst_sz;
	uint16_t tx_typical_pkt_sz;
	enum mdv_mode mode;
	enum mdv_relaxed relaxed_ordering;
	enum mdv_sq_db_nc sq_db_nc;
	enum mdv_inline_min txq_inline_min;
	enum mdv_mprq mprq;
	enum mdv_mempool_reg mr_mempool_reg_en;
	uint16_t tx_inline; /**< longest frame that is inlined on send; 0: none; MDV_TX_INLINE_AUTO
			     */
};

/**
 * Parse the arguments of @p vdev_name ("" or NULL: none).
 * @return 0, or -EINVAL after a message that names the key or value and what is allowed.
 */
int mdv_devargs_parse(const char *vdev_name, const char *args, struct mdv_config *config);

#endif /* MDV_DEVARGS_H */
