/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The verbs device under a port: found, opened, and queried once for its capabilities.
 *
 * The driver learns everything about the hardware here, by verbs queries; no other file queries it.
 * Each port owns one struct mdv_device.
 */
#ifndef MDV_DEVICE_H
#define MDV_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <net/if.h>

#include "devargs.h"

/** The device's capabilities; constant after mdv_device_open(). */
struct mdv_caps {
	enum mdv_mode mode; /**< MDV_MODE_DV or MDV_MODE_IBV; in the latter, capabilities that verbs
			       cannot express are 0 */
	bool foreign;       /**< not an mlx5 device: the functions of mlx5dv.h do not apply */
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
	uint8_t tx_min_inline; /**< bytes of headers to be inlined: MDV_HW_ETH_INLINE_*, or 0 */
	bool tx_multi_packet;  /**< enhanced multi-packet WQEs (eMPW) */
	bool flow_steering;    /**< IBV_DEVICE_MANAGED_FLOW_STEERING */
	bool sw_parsing;       /**< SWP: the driver names headers' places, for checksums, TSO */
	uint32_t tunnel_offloads;
	uint32_t rate_min_kbps;    /**< of a paced send queue */
	uint32_t rate_max_kbps;    /**< 0: no pacing */
	uint64_t timestamp_mask;   /**< of a completion's timestamp; 0: no timestamps */
	bool real_time;            /**< they are of the real-time clock (real_time.h) */
	uint32_t clock_khz;        /**< of the counter that they else are of; 0: unknown */
	uint64_t max_dm_bytes;     /**< the largest allocation of device memory; 0: none */
	uint32_t cqe_comp_formats; /**< enum mlx5dv_cqe_comp_res_format; 0: no compression */
	struct {
		uint8_t bytes_min, bytes_max;     /**< log2 of a stride */
		uint8_t strides_min, strides_max; /**< log2 of a WQE's strides; 0: no such queues */
	} log2_striding;                          /**< of striding receive queues */
	char fw_version[64];
};

struct mdv_device {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	bool shares_rings; /**< rings and doorbell records are in memory that all processes share */
	bool relaxed;      /**< packet memory is registered with relaxed ordering */
	uint8_t port_num;  /**< physical port, from 1 */
	uint8_t nb_ports;  /**< of the RDMA device */
	char name[IBV_SYSFS_NAME_MAX];       /**< "mlx5_0" */
	char sysfs_path[IBV_SYSFS_PATH_MAX]; /**< the device's directory below class/infiniband */
	int numa_node;                       /**< SOCKET_ID_ANY: unknown */
	unsigned int ifindex;      /**< of the device's netdev; 0: none in this namespace */
	char ifname[IF_NAMESIZE];  /**< the netdev's name, "" without one; for messages */
	unsigned int bond_ifindex; /**< of the bond's netdev, where the device is a bonded one; else
				      0 */
	struct mdv_caps caps;
};

/**
 * Find the device that the arguments name (ibdev= or iface=), open it, allocate the PD, and fill in
 * the capabilities.
 *
 * @return 0, -ENODEV (no such device or netdev), -EACCES (the message names the node and the
 * permission), -ENOTSUP (not an Ethernet port, or the demanded mode does not work), another
 * negative errno; logged.
 */
int mdv_device_open(const struct mdv_config *config, struct mdv_device *device);
/** Close the device, after all its objects are destroyed. */
void mdv_device_close(struct mdv_device *device);
/** Query the port's state and speed. @return 0 or a negative errno. */
int mdv_device_query_link(const struct mdv_device *device, bool *up, uint32_t *speed_mbps);
/** Read the timestamps' clock, in ticks. @return 0; -ENOTSUP, also for a real-time clock, which
 * verbs does not read; another negative errno. */
int mdv_device_read_clock(const struct mdv_device *device, uint64_t *ticks);
/**
 * Convert @p ticks, as packets have them, to the time of day, by the relation that Linux keeps
 * (mlx5dv_get_clock_info()); those of a real-time clock are it.
 * @return 0, -ENOTSUP, or another negative errno.
 */
int mdv_device_ticks_to_ns(const struct mdv_device *device, uint64_t ticks, uint64_t *ns);
/**
 * @return the netdev that has the port's MTU and flags, 0 without one: on a bonded device
 * ("mlx5_bond_0") the bond's, which passes them on to its members, else the port's own.
 */
static inline unsigned int
mdv_device_upper_netdev(const struct mdv_device *device)
{
	return device->ifindex != 0 && device->bond_ifindex != 0 ? device->bond_ifindex
								 : device->ifindex;
}

/** Counts packets lost for want of receive WQEs, by all verbs users of the port together. */
#define MDV_DEVICE_OUT_OF_BUFFER "out_of_buffer"
/** Where the device has counters: for how many ms Linux may return an old value. */
#define MDV_DEVICE_LIFESPAN "lifespan"
/** Read one of the hw_counters, which are port-wide. @return 0, -ENOENT if not offered. */
int mdv_device_read_counter(const struct mdv_device *device, const char *name, uint64_t *count);

/**
 * Compute how much a device counter has grown since it was @p base. A counter has 32 bits (PRM:
 * QUERY_Q_COUNTER) and wraps; a base with more has gone round before. A decrease is a wrap if the
 * difference then is less than half of the range, as in RFC 1982; otherwise the counter was cleared
 * by a reset of the device, or @p now was read before @p base.
 * @return the difference; 0 after a decrease other than a wrap.
 */
static inline uint64_t
mdv_device_counted(uint64_t base, uint64_t now)
{
	const uint32_t wrapped = (uint32_t)now - (uint32_t)base;

	if (now >= base)
		return now - base;
	return wrapped <= INT32_MAX ? wrapped : 0;
}

/**
 * Follow a device counter around. Threads of all processes may do so at once.
 * @param seen its value without going round
 * @param before what @p seen had before the counter was read
 * @return the present value
 */
static inline uint64_t
mdv_device_follow(uint64_t *seen, uint64_t before, uint64_t now)
{
	const uint64_t after = before + mdv_device_counted(before, now);

	/* If it fails, another thread has followed the counter meanwhile. */
	(void)__atomic_compare_exchange_n(
		seen, &before, after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return after;
}

#endif /* MDV_DEVICE_H */
