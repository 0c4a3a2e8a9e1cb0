/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The device: what the firmware's commands create (CQ, SQ, RQ, RQT, TIR) and the engines that run
 * on them.
 *
 * One struct shca_device is one verbs device with one port. abi/ creates objects here; this room
 * never sees an ioctl, a handle or a file. Rings and doorbell records are application memory named
 * by address.
 *
 *     SQ --tx--> [walk_tx] --> wire          wire --> [walk_rx] --> TIR --rss--> RQ --> CQE
 *                                            kernel <──┘ │ ^ kernel's own frames go to the wire
 *
 * Ownership: an object belongs to its creator, who destroys users before what they use (rules,
 * TIRs, RQTs, RQs and SQs, CQs); nb_users counts are the caller's business (abi/object.h).
 *
 * Threads: every function here but lock and step wants the device lock held; step takes it itself.
 * A waiter for the lock is served before the next step.
 */
#ifndef SHCA_HW_DEVICE_H
#define SHCA_HW_DEVICE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct shca_cq;
struct shca_device;
struct shca_faults;
struct shca_findings;
struct shca_mem;
struct shca_model;
struct shca_rq;
struct shca_rates;
struct shca_rqt;
struct shca_sq;
struct shca_steering;
struct shca_tir;
struct shca_wire;
struct shca_dump_tir;
struct shca_packet;

/** @{ The device. */
struct shca_device_conf {
	const struct shca_model *model;
	uint8_t mac[6];
	bool is_vf;    /**< a virtual function, with its PCI id */
	bool has_devx; /**< contexts may be DevX ones */
	bool has_rtc;  /**< a real-time clock: completions may have the time of day */
	uint32_t speed_mbps;
	struct shca_wire *wire;         /**< borrowed; never NULL */
	struct shca_wire *kernel;       /**< borrowed; NULL: no netdev beside the port */
	unsigned int index;             /**< i of mlx5_<i> */
	struct shca_findings *findings; /**< borrowed; NULL: not strict */
	struct shca_faults *faults;     /**< borrowed; NULL: nothing goes wrong by itself */
	/**
	 * The count of packets lost for want of receive WQEs changed (sysfs shows it). Called by
	 * the device thread (hw/thread.c), lock not held, at most some hundred times a second. May
	 * be NULL.
	 */
	void (*out_of_buffer)(unsigned int index, uint64_t count, void *arg);
	/** The port is active, or no longer. The lock is held. May be NULL. */
	void (*link)(unsigned int index, bool up, void *arg);
	/** The netdev is called so; "": there is none any more. The lock is held, or nobody has the
	 * device yet. May be NULL. */
	void (*netdev)(unsigned int index, const char *name, void *arg);
	void *arg;
};

/** Counters of a port since it was opened; read under the lock. */
struct shca_device_stats {
	uint64_t rx_frames, rx_bytes;    /**< from the wire */
	uint64_t tx_frames, tx_bytes;    /**< onto the wire */
	uint64_t rx_steered;             /**< copies delivered to RQs */
	uint64_t rx_kernel;              /**< frames handed to the netdev */
	uint64_t rx_unwanted;            /**< no rule and no netdev took it, or a DROP rule did */
	uint64_t out_of_buffer;          /**< no receive WQE was posted */
	uint64_t rx_errors, tx_errors;   /**< error completions */
	uint64_t rx_no_link, tx_no_link; /**< frames lost while the link was down */
	uint64_t tx_refused;             /**< of those onto the wire: from another address */
	uint64_t tirs, rqts; /**< there are now: destinations of rules, and indirection tables */
};

int shca_device_create(const struct shca_device_conf *conf, struct shca_device **dev);
/** All objects must be gone. NULL is allowed. */
void shca_device_destroy(struct shca_device *dev);
void shca_device_lock(struct shca_device *dev);
void shca_device_unlock(struct shca_device *dev);
/**
 * One round over doorbells, engines and wires, each with a budget.
 * @return frames and WQEs handled; 0 when there was nothing to do.
 */
unsigned int shca_device_step(struct shca_device *dev);
/** @return when a frame may leave that the last step held back to pace it, in ns of
 * shca_clock_ns(); UINT64_MAX: there is none. For the thread that steps. */
uint64_t shca_device_due_ns(const struct shca_device *dev);
/**
 * Send what has been rung, as far as wire and queues take it: hardware is done with it before the
 * system call that takes the send queue away gets there, however late the device thread is.
 */
void shca_device_catch_up(struct shca_device *dev);
const struct shca_device_conf *shca_device_conf(const struct shca_device *dev);
struct shca_mem *shca_device_mem(struct shca_device *dev);
struct shca_rates *shca_device_rates(struct shca_device *dev);
struct shca_steering *shca_device_steering(struct shca_device *dev);
const struct shca_device_stats *shca_device_stats(const struct shca_device *dev);
/** @return whether a fault has ended it: it does nothing more, and no command can be given. */
bool shca_device_is_dead(const struct shca_device *dev);
/** Tell the wire when the first receiving rule is in place. Call after every rule change. */
void shca_device_rules_changed(struct shca_device *dev);
/** @} */

/** @{ What would become of a frame once rules have let it go. */
#define SHCA_DEVICE_FATE_MAX 8
struct shca_device_fate {
	const char *what; /**< in words */
	bool is_lost;
	const struct shca_wire *to[SHCA_DEVICE_FATE_MAX]; /**< conf.wire of ports that receive it */
	unsigned int nb_to;
};
/** Nothing is sent. The lock is held. */
void shca_device_foretell(struct shca_device *dev, const uint8_t *bytes, uint32_t length,
	struct shca_device_fate *fate);
/** @} */

/** What a queue has done since it was made. */
struct shca_queue_count {
	uint64_t packets, bytes; /**< received, or taken by the wire */
	uint64_t out_of_buffer;  /**< of an RQ: no WQE was posted */
	uint64_t errors;         /**< error completions */
};

/** A queue as statistics show it. */
struct shca_queue_info {
	const char *kind; /**< "RQ", "SQ" or "CQ" */
	uint32_t number;
	uint32_t cq_number; /**< of an RQ and an SQ */
	const char *state;
	struct shca_queue_count count; /**< of a CQ: packets are completions */
};
/**
 * All queues, by kind and number.
 * @param list to be freed
 * @return 0 or -ENOMEM.
 */
int shca_device_list_queues(
	const struct shca_device *dev, struct shca_queue_info **list, size_t *nb_queues);

/** Asynchronous events of an object; numbers are ib_event_type's. */
enum shca_event {
	SHCA_EVENT_CQ_ERR = 0,
	SHCA_EVENT_QP_FATAL = 1,
	SHCA_EVENT_DEVICE_FATAL = 8,
	SHCA_EVENT_PORT_ACTIVE = 9,
	SHCA_EVENT_PORT_ERR = 10,
	SHCA_EVENT_WQ_FATAL = 19,
	SHCA_EVENT_COMPLETION = 0x100, /**< the CQ was armed and has a completion */
};
/** Called by the device thread with the lock held; must not block nor call back into hw/. */
typedef void (*shca_event_fn)(void *owner, enum shca_event event);

/** @{ The link. It is up unless the wire has no carrier or somebody takes it down. */
/** Look at it now; a change is told. @return whether it is up. */
bool shca_device_link(struct shca_device *dev);
/** As the former. @return whether verbs may call the port active: with a netdev that is up
 * (hw/link.h). */
bool shca_device_is_active(struct shca_device *dev);
/** Take the link down, or no longer: listeners, the netdev and a link partner see it. */
void shca_device_set_link(struct shca_device *dev, bool up);
/** Who wants to know what happens to the port; the caller's. */
struct shca_listener {
	LIST_ENTRY(shca_listener) link;
	shca_event_fn event; /**< called by any thread with the lock held */
	void *owner;
};
void shca_device_listen(struct shca_device *dev, struct shca_listener *listener);
void shca_device_unlisten(struct shca_listener *listener);
/** @} */

enum shca_queue_state {
	SHCA_QUEUE_RESET,
	SHCA_QUEUE_READY,
	SHCA_QUEUE_ERROR,
};

/** @{ Completion queue. */
/** What a mini CQE says besides the length (hw/minicqe.h). */
enum shca_mini_format {
	SHCA_MINI_NONE, /**< no compression */
	SHCA_MINI_HASH,
	SHCA_MINI_CSUM,
	SHCA_MINI_CSUM_STRIDX,
};

struct shca_cq_attr {
	uint8_t *ring;      /**< nb_cqes * cqe_bytes of application memory */
	__be32 *dbrec;      /**< [0] consumer index, [1] arm word */
	uint32_t nb_cqes;   /**< power of two */
	uint32_t cqe_bytes; /**< 64 or 128 */
	bool ignore_overrun;
	bool pad;       /**< write the first half of a CQE of 128 bytes, too */
	bool real_time; /**< its queues stamp completions by the real-time clock */
	enum shca_mini_format mini_format;
	shca_event_fn event;
	void *owner;
};
/** @return 0, -EINVAL (geometry), -EFAULT (ring or record not mapped), -ENOMEM, -ENOSPC. */
int shca_cq_create(struct shca_device *dev, const struct shca_cq_attr *attr, struct shca_cq **cq);
void shca_cq_destroy(struct shca_cq *cq);
uint32_t shca_cq_number(const struct shca_cq *cq);
/** Move to another ring, as ibv_resize_cq: writes the RESIZE CQE into the old one. */
int shca_cq_resize(struct shca_cq *cq, uint8_t *ring, uint32_t nb_cqes, uint32_t cqe_bytes);
/** @} */

/** @{ Receive queue: a WQ, or the RQ of a raw packet QP. */
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
	/** A WQE's buffer is cut into 2^log_strides strides, a frame takes as many as it fills; 0:
	 * one WQE a frame. The segments follow a next segment of 16 bytes then. */
	uint8_t log_strides;
	uint8_t log_stride_bytes; /**< of a stride */
	bool two_byte_shift;      /**< a frame begins 2 bytes into its first stride */
	struct shca_cq *cq;
	shca_event_fn event;
	void *owner;
};
/** Starts in RESET. @return as shca_cq_create. */
int shca_rq_create(struct shca_device *dev, const struct shca_rq_attr *attr, struct shca_rq **rq);
void shca_rq_destroy(struct shca_rq *rq);
uint32_t shca_rq_number(const struct shca_rq *rq);
enum shca_queue_state shca_rq_state(const struct shca_rq *rq);
/** RESET forgets all posted WQEs; ERROR flushes them as completions with syndrome 5. */
void shca_rq_modify(struct shca_rq *rq, enum shca_queue_state state);
void shca_rq_set_cvlan_strip(struct shca_rq *rq, bool on);
/** @} */

/** @{ Send queue. */
struct shca_sq_attr {
	uint8_t *ring;
	__be32 *dbrec;      /**< [1] producer counter, in WQEBBs */
	uint32_t nb_wqebbs; /**< power of two */
	uint32_t pdn;
	uint32_t user_index;
	bool signal_all; /**< every WQE completes, whatever its CE bits */
	struct shca_cq *cq;
	shca_event_fn event;
	void *owner;
};
int shca_sq_create(struct shca_device *dev, const struct shca_sq_attr *attr, struct shca_sq **sq);
void shca_sq_destroy(struct shca_sq *sq);
uint32_t shca_sq_number(const struct shca_sq *sq);
enum shca_queue_state shca_sq_state(const struct shca_sq *sq);
/** Leaving READY ends a rate limit. */
void shca_sq_modify(struct shca_sq *sq, enum shca_queue_state state);
/** Send at @p kbps at most, 0: as fast as may be, and so much at once after a pause. */
void shca_sq_set_rate(struct shca_sq *sq, uint32_t kbps, uint32_t burst_bytes);
/** @} */

/** @{ Receive destinations: indirection table and TIR. */
/** @param rqs 2^n receive queues, repeats allowed; copied. */
int shca_rqt_create(struct shca_device *dev, struct shca_rq *const *rqs, uint32_t nb_rqs,
	struct shca_rqt **rqt);
void shca_rqt_destroy(struct shca_rqt *rqt);
uint32_t shca_rqt_number(const struct shca_rqt *rqt);
uint32_t shca_rqt_size(const struct shca_rqt *rqt);

struct shca_tir_attr {
	struct shca_rq *rq;   /**< direct, or NULL */
	struct shca_rqt *rqt; /**< indirect, or NULL */
	uint64_t hash_fields; /**< IBV_RX_HASH_*, 1 << 31 INNER; 0: no hash, entry 0 */
	uint8_t key[40];      /**< Toeplitz */
	bool allow_self_loopback;
};
int shca_tir_create(
	struct shca_device *dev, const struct shca_tir_attr *attr, struct shca_tir **tir);
void shca_tir_destroy(struct shca_tir *tir);
uint32_t shca_tir_number(const struct shca_tir *tir);
/** What dumps and traces (steering/dump.h) say of the TIR @p tir. */
void shca_tir_describe(
	const void *tir, const struct shca_packet *packet, struct shca_dump_tir *description);
/** @} */

#endif /* SHCA_HW_DEVICE_H */
