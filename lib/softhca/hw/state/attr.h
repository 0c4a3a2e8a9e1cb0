/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The device, its queues, TIRs and indirection tables as their owners see them: attributes,
 * counters and events. Rings and doorbell records are application memory, given by address.
 */
#ifndef SHCA_HW_STATE_ATTR_H
#define SHCA_HW_STATE_ATTR_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kernel.h"
#include "base/profile.h"
#include "hw/format/minicqe.h"

struct shca_context;
struct shca_cq;
struct shca_faults;
struct shca_findings;
struct shca_model;
struct shca_netdev;
struct shca_rq;
struct shca_rqt;
struct shca_wire;

/** A doorbell record: two words of 32 bits. */
#define SHCA_DBREC_BYTES 8

/** The maximum number of a device's ports: vports of a card with SHCA_PORTS_MAX functions. */
#define SHCA_DEVICE_PORTS_MAX 9
/** Of an e-switch's manager: the port of its own vport, which has no representor on its host. */
#define SHCA_PORT_WITHOUT_REP 1

struct shca_device_conf {
	const struct shca_model *model;
	uint8_t mac[6];
	bool is_vf;    /**< a virtual function, with its PCI id */
	bool has_devx; /**< contexts may be DevX ones */
	bool has_rtc;  /**< a real-time clock: completions may have the time of day */
	enum shca_kernel kernel_abi;
	enum shca_profile profile; /**< an older card's limits of rules */
	uint32_t speed_mbps;
	struct shca_wire *wire;   /**< borrowed; never NULL */
	struct shca_wire *kernel; /**< borrowed; NULL: no netdev beside the port */
	/** 0: it has one port. Else it is the manager of an e-switch with so many vports, and has a
	 * port for each (Linux mlx5_ib ib_rep.c): its own, one a function, last the uplink. The
	 * wire carries frames of all of them; `kernel` is the uplink's. */
	uint32_t nb_vports;
	/** Borrowed; netdevs of the functions' representors by port - 1; NULL: none. */
	struct shca_wire *rep[SHCA_DEVICE_PORTS_MAX];
	unsigned int index;             /**< i of mlx5_<i> */
	struct shca_findings *findings; /**< borrowed; NULL: not strict */
	struct shca_faults *faults;     /**< borrowed; NULL: no faults are injected */
	/**
	 * A counter that sysfs shows has changed. The device thread calls it (hw/device/thread.c)
	 * without the lock, at most some hundred times a second. May be NULL.
	 */
	void (*counter)(unsigned int index, const char *name, uint64_t count, void *arg);
	/** The port has become active or inactive. The lock is held. May be NULL. */
	void (*link)(unsigned int index, uint32_t port, bool up, void *arg);
	/** The netdev has another name, index, namespace or address; without a name: there is none
	 * any more. The lock is held, or no other thread has the device yet. May be NULL. */
	void (*netdev)(
		unsigned int index, uint32_t port, const struct shca_netdev *netdev, void *arg);
	/** The entries 2 * @p pair and 2 * @p pair + 1 of the port's GIDs have changed, by RoCE v1
	 * and v2; NULL: they are empty. Called as `netdev` is. May be NULL. */
	void (*gid)(unsigned int index, uint32_t pair, const uint8_t *gid, void *arg);
	void *arg;
};

static inline uint32_t
shca_conf_nb_ports(const struct shca_device_conf *conf)
{
	return conf->nb_vports != 0 ? conf->nb_vports : 1;
}

/** @return whether flows and queues may be of port @p port, of those that the device has. */
static inline bool
shca_conf_has_rep(const struct shca_device_conf *conf, uint32_t port)
{
	return conf->nb_vports == 0 || port != SHCA_PORT_WITHOUT_REP;
}

/** @param port 0: the only one @return its netdev; NULL: none. */
static inline struct shca_wire *
shca_conf_kernel(const struct shca_device_conf *conf, uint32_t port)
{
	return port == 0 || port == shca_conf_nb_ports(conf) ? conf->kernel : conf->rep[port - 1];
}

/** Counters of a port since it was opened; read under the lock. */
struct shca_device_stats {
	uint64_t rx_frames, rx_bytes; /**< from the wire */
	uint64_t tx_frames, tx_bytes; /**< onto the wire */
	uint64_t rx_steered;          /**< copies delivered to RQs */
	uint64_t rx_kernel;           /**< frames that the netdev got */
	uint64_t rx_kernel_lost;      /**< frames for it while it was down or its queue full */
	uint64_t rx_kernel_down;      /**< of those: while it was down at the last look */
	uint64_t rx_kernel_bytes;     /**< of the frames that it got */
	uint64_t tx_kernel, tx_kernel_bytes; /**< frames that it sent */
	uint64_t rx_unwanted;            /**< no rule and no netdev took it, or a DROP rule did */
	uint64_t rx_dropped;             /**< of those: by a DROP rule */
	uint64_t link_downs;             /**< how often the link went down */
	uint64_t out_of_buffer;          /**< no receive WQE was posted */
	uint64_t rx_errors, tx_errors;   /**< error completions */
	uint64_t rx_no_link, tx_no_link; /**< frames lost while the link was down */
	uint64_t tx_refused;             /**< of those onto the wire: from another address */
	uint64_t tirs, rqts;             /**< now: destinations of rules, and indirection tables */
	/** Commands to firmware for the tables of rules; those that wrote an entry again because
	 * the table behind it came or went. */
	uint64_t flow_commands, flow_rewrites;
};

/** Whether the port obeys pause frames, and sends them: settings without frames. */
struct shca_pause {
	bool rx, tx;
};

/** Asynchronous events of an object; numbers are ib_event_type's. */
enum shca_event {
	SHCA_EVENT_CQ_ERR = 0,
	SHCA_EVENT_QP_FATAL = 1,
	SHCA_EVENT_QP_REQ_ERR = 2,
	SHCA_EVENT_QP_ACCESS_ERR = 3,
	SHCA_EVENT_COMM_EST = 4,
	SHCA_EVENT_DEVICE_FATAL = 8,
	SHCA_EVENT_PORT_ACTIVE = 9,
	SHCA_EVENT_PORT_ERR = 10,
	SHCA_EVENT_SRQ_ERR = 14,
	SHCA_EVENT_SRQ_LIMIT_REACHED = 15,
	SHCA_EVENT_QP_LAST_WQE_REACHED = 16,
	SHCA_EVENT_GID_CHANGE = 18,
	SHCA_EVENT_WQ_FATAL = 19,
	SHCA_EVENT_COMPLETION = 0x100, /**< the CQ was armed and has a completion */
};
/** Called by the device thread with the lock held; must not block nor call back into hw/. */
typedef void (*shca_event_fn)(void *owner, enum shca_event event);

/** Counters of a queue since its creation. */
struct shca_queue_count {
	uint64_t packets, bytes; /**< received, or taken by the wire */
	uint64_t out_of_buffer;  /**< of an RQ: no WQE was posted */
	uint64_t errors;         /**< error completions */
};

enum shca_queue_state {
	SHCA_QUEUE_RESET,
	SHCA_QUEUE_READY,
	SHCA_QUEUE_ERROR,
};

/** Completion queue. */
struct shca_cq_attr {
	uint8_t *ring;      /**< nb_cqes * cqe_bytes of application memory */
	__be32 *dbrec;      /**< [0] consumer index, [1] arm word */
	uint32_t nb_cqes;   /**< power of two */
	uint32_t cqe_bytes; /**< 64 or 128 */
	bool ignore_overrun;
	bool pad;        /**< write the first half of a CQE of 128 bytes, too */
	bool timestamps; /**< its queues stamp completions by the free-running counter ... */
	bool real_time;  /**< ... or, which goes first, by the real-time clock */
	enum shca_mini_format mini_format;
	const struct shca_context *context; /**< whose it is, for people to read; NULL: nobody's */
	shca_event_fn event;
	void *owner;
};

/** An event of a completion queue comes with so many completions, or so long after the last. */
struct shca_cq_moderation {
	uint16_t count, period_us; /**< one of them 0: with each completion */
};

/** Linux mlx5/cq.h MLX5_MAX_CQ_PERIOD. */
#define SHCA_CQ_PERIOD_MAX_US 4095

/** Receive queue: a WQ, or the RQ of a raw packet QP. */
struct shca_rq_attr {
	uint8_t *ring;
	__be32 *dbrec;         /**< [0] producer counter */
	uint32_t nb_wqes;      /**< power of two */
	uint32_t stride_bytes; /**< of a WQE, power of two >= 16 */
	uint32_t pdn;
	uint32_t user_index; /**< into the CQE, 24 bits */
	bool cvlan_strip;
	bool scatter_fcs;
	bool has_signature; /**< the first 16 bytes of a WQE are a signature segment */
	/** Striding: a WQE's buffer has 2^log_strides strides, and a frame takes as many as it
	 * fills. A next segment of 16 bytes precedes the data segments. 0: a frame takes a WQE. */
	uint8_t log_strides;
	uint8_t log_stride_bytes; /**< of a stride */
	bool two_byte_shift;      /**< a frame begins 2 bytes into its first stride */
	struct shca_cq *cq;
	const struct shca_context *context; /**< whose it is, for people to read; NULL: nobody's */
	shca_event_fn event;
	void *owner;
};

/** Send queue. */
struct shca_sq_attr {
	uint8_t *ring;
	__be32 *dbrec;      /**< [1] producer counter, in WQEBBs */
	uint32_t nb_wqebbs; /**< power of two */
	uint32_t pdn;
	uint32_t user_index;
	uint32_t tdn;    /**< transport domain: one a context */
	bool signal_all; /**< every WQE completes, whatever its CE bits */
	struct shca_cq *cq;
	const struct shca_context *context; /**< whose it is, for people to read; NULL: nobody's */
	shca_event_fn event;
	void *owner;
};

/** Receive destination of a rule. */
struct shca_tir_attr {
	struct shca_rq *rq;   /**< direct, or NULL */
	struct shca_rqt *rqt; /**< indirect, or NULL */
	uint64_t hash_fields; /**< IBV_RX_HASH_*, 1 << 31 INNER; 0: no hash, entry 0 */
	uint8_t key[40];      /**< Toeplitz */
	uint32_t tdn;         /**< transport domain: one a context */
	const struct shca_context *context; /**< as of queues */
	/** PRM tunneled_offload_en: completions tell of a tunnel's inner headers, and their
	 * checksums are checked. */
	bool tunneled_offload;
	/** It takes frames of its own domain when local loopback is on (hw/queue/loopback.h). */
	bool takes_own_unicast, takes_own_multicast;
};

#endif /* SHCA_HW_STATE_ATTR_H */
