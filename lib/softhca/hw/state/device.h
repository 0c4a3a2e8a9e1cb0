/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The device as the engines of this room see it. Internal to hw/.
 */
#ifndef SHCA_HW_STATE_DEVICE_H
#define SHCA_HW_STATE_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>

#include "base/idtable.h"
#include "config/model.h"
#include "hw/state/attr.h"
#include "hw/state/flow_cache.h"
#include "hw/state/gid.h"
#include "hw/state/kernel_side.h"
#include "hw/state/out.h"
#include "hw/state/qp1.h"
#include "hw/state/rate.h"
#include "hw/state/roce_count.h"
#include "wire/wire.h"

/** Memory that a step accesses, so that a fault handler finds the object at fault. */
enum shca_touch {
	SHCA_TOUCH_NONE,
	SHCA_TOUCH_CQ,
	SHCA_TOUCH_RQ_RING,
	SHCA_TOUCH_RQ_BUFFER,
	SHCA_TOUCH_SQ_RING,
	SHCA_TOUCH_SQ_BUFFER,
	SHCA_TOUCH_OUT,  /**< the wire, sending */
	SHCA_TOUCH_ROCE, /**< a queue pair with a transport: rings, buffers, remote memory */
};

/** A port as verbs number them. */
struct shca_port {
	struct shca_netdev netdev; /**< at the last look */
	bool is_active;            /**< as last reported to listeners */
};

struct shca_device {
	struct shca_device_conf conf;
	struct shca_mem *mem;
	struct shca_steering *steering;
	struct shca_device_stats stats;
	struct shca_pci *pci; /**< what crosses PCI; NULL: it is not counted */
	struct shca_pause pause;
	struct shca_kernel_side kernel_side;

	struct shca_idtable cq_numbers;
	struct shca_idtable queue_numbers; /**< SQs and RQs: no number means two queues */
	struct shca_idtable rqt_numbers, tir_numbers;
	LIST_HEAD(, shca_cq) cqs;
	LIST_HEAD(, shca_rq) rqs;
	LIST_HEAD(, shca_sq) sqs;
	struct shca_sq *sq_turn; /**< whom the next round begins with; NULL: the first */
	/** Queue pairs with a transport (hw/roce/): numbers of their own, so that a packet finds
	 * nothing else by its. */
	struct shca_idtable roce_numbers;
	LIST_HEAD(, shca_roce_qp) roce_qps;
	struct shca_roce_qp *roce_turn;     /**< whom the next round begins with; NULL: the first */
	bool is_roces_turn;                 /**< they run before the send queues */
	STAILQ_HEAD(, shca_late) roce_late; /**< what those owed that are gone */
	uint64_t roce_count[SHCA_NB_ROCE_COUNTS];
	struct shca_roce_traffics roce_traffic;
	struct shca_qp1 qp1;
	struct shca_gids gids;
	struct shca_idtable srq_numbers;
	LIST_HEAD(, shca_ah) ahs;
	LIST_HEAD(, shca_roce_group) roce_groups;
	uint64_t nb_roce_changes; /**< of groups and GIDs, which take frames before the rules */
	/** Take a frame for one of the port's GIDs; NULL: it has none. */
	bool (*take_roce)(struct shca_device *dev, const struct shca_frame *frame);
	LIST_HEAD(, shca_doorbell_page) doorbell_pages; /**< of a strict device */
	uint64_t nb_doorbells;                          /**< seen in doorbell_pages */
	uint64_t nb_created;                            /**< queues since the device's creation */
	struct {
		uint32_t sqs, rqs, cqs;
	} nb_made; /**< since the device's creation, counted by type */
	LIST_HEAD(, shca_clock_page) clock_pages;
	uint64_t clock_info_ticks; /**< of the last update of clock_pages */
	uint64_t memic_pages;      /**< a bit for each page that is allocated */
	struct shca_rates rates;
	struct {
		uint32_t nb_domains; /**< contexts, each with a transport domain */
		uint32_t nb_tirs;    /**< that take frames of their own domain */
		bool is_on;
	} loopback; /**< hw/queue/loopback.h */

	struct shca_flow_cache flow_cache; /**< of received frames */
	struct shca_out out;
	uint64_t ticks;       /**< free-running counter at the start of the step */
	uint64_t real_time;   /**< real-time clock in the format of completions, if there is one */
	unsigned int nb_done; /**< of the step: number of frames and WQEs */
	uint64_t paced_ticks; /**< of the step: when the first waiting paced frame may leave */
	bool start_wire, is_wire_started;
	bool is_watched;    /**< shca_is_watched() */
	bool may_reflect;   /**< the wire may return sent frames: copy them */
	bool is_behind;     /**< frames have come that no round has looked at */
	bool netdev_waits;  /**< while queues send: its frames have filled the wire */
	bool has_looked;    /**< for frames since the queue pairs with a transport ran last */
	bool is_reflecting; /**< in a round of such a wire: the device sends nothing on it */
	unsigned int reflect_budget; /**< frames that the device may still receive in the round */
	struct shca_port port[SHCA_DEVICE_PORTS_MAX];
	bool is_link_disabled; /**< shca_device_set_link() */
	bool has_link;         /**< as last reported to the netdev */
	bool carries;          /**< has a link, or other ports than the cable's */
	bool is_link_known;    /**< link_checked_ticks is valid */
	uint64_t link_checked_ticks;
	LIST_HEAD(, shca_listener) listeners;
	uint64_t netdev_ticks; /**< of the last look */

	bool may_fail;          /**< faults of link or device apply to it (hw/check/inject.h) */
	bool is_dead;           /**< device-fatal */
	bool is_down;           /**< by a fault, until link_up_ticks or until the wire ends it */
	bool is_slow;           /**< a fault stalls the device until slow_ticks */
	uint64_t link_up_ticks; /**< UINT64_MAX: the wire ends it */
	uint64_t slow_ticks;

	enum shca_touch touch;
	void *touched;

	/* `held` is the lock. A thread that wants it queues at `next` and is counted. A step queues
	 * behind such threads; if there are none it takes `held` alone. */
	atomic_uint nb_waiting;
	pthread_mutex_t next, held;
};

/** Note which memory the following accesses touch. */
static inline void
shca_touch(struct shca_device *dev, enum shca_touch touch, void *touched)
{
	dev->touch = touch;
	dev->touched = touched;
	/* Keep the accesses behind the stores: the fault handler of this thread reads both. */
	atomic_signal_fence(memory_order_seq_cst);
}

/** @return the port's address: its netdev begins with the device's, and may get another (Linux
 * en_main.c mlx5e_set_mac(), core/roce_gid_mgmt.c netdevice_event()). */
static inline const uint8_t *
shca_own_mac(const struct shca_device *dev)
{
	static const uint8_t unknown[sizeof(dev->conf.mac)];
	const uint8_t *mac = dev->port[0].netdev.mac;

	return dev->conf.nb_vports == 0 && memcmp(mac, unknown, sizeof(unknown)) != 0
		? mac
		: dev->conf.mac;
}

/** @return whether the device reports errors of programs (hw/check/strict.h). */
static inline bool
shca_is_strict(const struct shca_device *dev)
{
	return __builtin_expect(dev->conf.findings != NULL, 0);
}

/** @return whether someone looks at CQs each round: a strict device, or one that counts what
 * crosses PCI. */
static inline bool
shca_is_watched(const struct shca_device *dev)
{
	return __builtin_expect(dev->is_watched, 0);
}

/** Report an event to an owner that has a callback. */
static inline void
shca_notify(shca_event_fn event, void *owner, enum shca_event what)
{
	if (event != NULL)
		event(owner, what);
}

#endif /* SHCA_HW_STATE_DEVICE_H */
