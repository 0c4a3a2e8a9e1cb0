/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Driver arguments: one row a key in devargs.c; parsed to struct mdv_config. */
#ifndef MDV_DEVARGS_H
#define MDV_DEVARGS_H

#include <net/if.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/** What the port's default rules do with a packet. */
enum mdv_sniff {
	MDV_SNIFF_NONE, /**< take it */
	MDV_SNIFF_RX,   /**< copy it; the kernel gets it as well */
	MDV_SNIFF_ALL,  /**< copy it, and what the kernel sends, too */
};

/** How completions of received packets are compressed. */
enum mdv_cqe_comp {
	MDV_CQE_COMP_AUTO, /**< as well as the device and the offloads allow */
	MDV_CQE_COMP_OFF,
	MDV_CQE_COMP_HASH, /**< with a hash a packet, or not at all */
	MDV_CQE_COMP_CSUM, /**< with a checksum a packet, or not at all */
};

/** What may be done with PASSTHRU rules that stand in the way of a new rule. */
enum mdv_passthru_move {
	MDV_PASSTHRU_MOVE_OFF, /**< nothing: the new rule is refused */
	MDV_PASSTHRU_MOVE_ON,  /**< move them: a packet in that moment may be copied twice */
};

/** Who reads and writes the rings. */
enum mdv_mode {
	MDV_MODE_AUTO, /**< bursts if they can, else verbs */
	MDV_MODE_DV,   /**< bursts, by direct verbs */
	MDV_MODE_IBV,  /**< verbs: any device with work queues and flow steering */
};

struct mdv_config {
	char ibdev[IBV_SYSFS_NAME_MAX]; /**< verbs device name, "" when iface names it */
	char iface[IF_NAMESIZE];        /**< netdev name, "" when ibdev names it */
	enum mdv_sniff sniff;
	enum mdv_cqe_comp rx_cqe_comp;
	enum mdv_passthru_move passthru_move;
	/** Bytes that a paced queue may send at once, and of a usual frame; 0: the device's choice.
	 */
	uint32_t tx_max_burst_sz;
	uint16_t tx_typical_pkt_sz;
	enum mdv_mode mode;
};

/**
 * Parse the arguments of @p vdev_name ("" or NULL: none).
 * @return 0, or -EINVAL after a message that names the key or value and what is allowed.
 */
int mdv_devargs_parse(const char *vdev_name, const char *args, struct mdv_config *config);

#endif /* MDV_DEVARGS_H */
