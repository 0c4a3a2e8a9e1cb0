/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The verbs device under a port: found, opened, asked once for what it can do.
 *
 * Everything the driver knows about the hardware it learns here through verbs queries; no other
 * file asks. One struct mdv_device a port, owned by it.
 */
#ifndef MDV_DEVICE_H
#define MDV_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <net/if.h>

#include "devargs.h"

/** What the device can do; constant after mdv_device_open(). */
struct mdv_caps {
	enum mdv_mode
		mode; /**< MDV_MODE_DV, MDV_MODE_IBV; the latter hides what verbs cannot say */
	bool foreign; /**< not an mlx5 device: no function of mlx5dv.h is for it */
	uint32_t max_qp;
	uint32_t max_qp_wr; /**< Tx descriptors, and Rx WQEs */
	uint32_t max_sge;
	uint32_t max_cqe;
	uint32_t max_rwq_ind_table_size; /**< entries of an indirection table */
	uint32_t max_wq;
	uint64_t max_mr_size;
	uint64_t rx_hash_fields; /**< IBV_RX_HASH_* */
	uint32_t max_tso_bytes;  /**< 0: none */
	bool rx_checksum, tx_checksum;
	bool cvlan_strip, scatter_fcs;
	bool tx_min_inline_l2; /**< headers must be inlined (18 bytes): ConnectX-4 Lx */
	bool tx_multi_packet;  /**< a WQE may carry many packets (enhanced multi-packet send) */
	bool flow_steering;    /**< IBV_DEVICE_MANAGED_FLOW_STEERING */
	bool sw_parsing;       /**< it may be told where headers are, for checksums and TSO */
	uint32_t tunnel_offloads;
	uint32_t rate_min_kbps;    /**< of a paced send queue */
	uint32_t rate_max_kbps;    /**< 0: send queues cannot be paced */
	uint64_t timestamp_mask;   /**< of a completion's timestamp; 0: there is none */
	uint32_t clock_khz;        /**< of the clock it is taken from; 0: not told */
	uint64_t max_dm_bytes;     /**< of an allocation of the device's own memory; 0: none */
	uint32_t cqe_comp_formats; /**< enum mlx5dv_cqe_comp_res_format; 0: no compression */
	char fw_version[64];
};

struct mdv_device {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	bool shares_rings;                   /**< they are in memory of all processes */
	uint8_t port_num;                    /**< physical port, from 1 */
	char name[IBV_SYSFS_NAME_MAX];       /**< "mlx5_0" */
	char sysfs_path[IBV_SYSFS_PATH_MAX]; /**< the device's directory below class/infiniband */
	unsigned int ifindex;     /**< of the netdev beside it, 0 when there is none here */
	char ifname[IF_NAMESIZE]; /**< its name, "" when there is none here: for people */
	struct mdv_caps caps;
};

/**
 * Find the device that the arguments name (ibdev= or iface=), open it, allocate the PD, fill the
 * caps.
 *
 * @return 0, -ENODEV (no such device or netdev), -EACCES (the message names the node and the
 * permission), -ENOTSUP (not an Ethernet port, or not in the mode demanded), another negative
 * errno; logged.
 */
int mdv_device_open(const struct mdv_config *config, struct mdv_device *device);
/** Everything made on it must be gone. */
void mdv_device_close(struct mdv_device *device);
/** Port state and speed as verbs reports them. @return 0 or a negative errno. */
int mdv_device_query_link(const struct mdv_device *device, bool *up, uint32_t *speed_mbps);
/** The clock of the timestamps, in ticks. @return 0, -ENOTSUP, or another negative errno. */
int mdv_device_read_clock(const struct mdv_device *device, uint64_t *ticks);
/**
 * The time of day of @p ticks of that clock, as Linux relates the two (mlx5dv_get_clock_info()).
 * @return 0, -ENOTSUP, or another negative errno.
 */
int mdv_device_ticks_to_ns(const struct mdv_device *device, uint64_t ticks, uint64_t *ns);
/** Lost for want of receive WQEs, by all verbs users of the port together. */
#define MDV_DEVICE_OUT_OF_BUFFER "out_of_buffer"
/** How long Linux may show a counter as it was, in ms, where the device has counters. */
#define MDV_DEVICE_LIFESPAN "lifespan"
/** One of the port's hw_counters, all of which are port-wide. @return 0, -ENOENT when not offered.
 */
int mdv_device_read_counter(const struct mdv_device *device, const char *name, uint64_t *count);

/**
 * How much one of the device's counters has grown since it was @p base. A counter has 32 bits (PRM:
 * QUERY_Q_COUNTER) and wraps. A decrease is a wrap if it makes the difference less than half of the
 * range, as in RFC 1982; otherwise the counter was cleared (the device was reset) or @p now was
 * read before @p base.
 * @return the difference; 0 after a decrease that is no wrap.
 */
static inline uint64_t
mdv_device_counted(uint64_t base, uint64_t now)
{
	const uint32_t wrapped = (uint32_t)now - (uint32_t)base;

	if (now >= base)
		return now - base;
	return base <= UINT32_MAX && wrapped <= INT32_MAX ? wrapped : 0;
}

#endif /* MDV_DEVICE_H */
