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
#include <sys/queue.h>

#include "base/idtable.h"
#include "config/model.h"
#include "hw/state/attr.h"
#include "hw/state/flow_cache.h"
#include "hw/state/out.h"
#include "hw/state/rate.h"
#include "wire/wire.h"

/** What a step is touching, so that a fault finds the culprit. */
enum shca_touch {
	SHCA_TOUCH_NONE,
	SHCA_TOUCH_CQ,
	SHCA_TOUCH_RQ_RING,
	SHCA_TOUCH_RQ_BUFFER,
	SHCA_TOUCH_SQ_RING,
	SHCA_TOUCH_SQ_BUFFER,
	SHCA_TOUCH_OUT, /**< the wire, sending */
};

struct shca_device {
	struct shca_device_conf conf;
	struct shca_mem *mem;
	struct shca_steering *steering;
	struct shca_device_stats stats;

	struct shca_idtable cq_numbers;
	struct shca_idtable queue_numbers; /**< SQs and RQs: no number means two queues */
	struct shca_idtable rqt_numbers, tir_numbers;
	LIST_HEAD(, shca_cq) cqs;
	LIST_HEAD(, shca_rq) rqs;
	LIST_HEAD(, shca_sq) sqs;
	LIST_HEAD(, shca_doorbell_page) doorbell_pages; /**< of a strict device */
	uint64_t nb_doorbells;                          /**< seen in them */
	uint64_t nb_created;                            /**< queues so far */
	struct {
		uint32_t sqs, rqs, cqs;
	} nb_made; /**< so far, each kind for itself */
	LIST_HEAD(, shca_clock_page) clock_pages;
	uint64_t clock_info_ticks; /**< when their relation was last written */
	uint64_t memic_pages;      /**< those taken, a bit each */
	struct shca_rates rates;

	struct shca_flow_cache flow_cache; /**< of received frames */
	struct shca_out out;
	uint64_t ticks;       /**< the free-running counter at the start of the step */
	uint64_t real_time;   /**< the real-time clock, if there is one, as completions have it */
	unsigned int nb_done; /**< of the step: frames and WQEs */
	uint64_t paced_ticks; /**< of the step: when the first paced frame that waits may leave */
	bool start_wire, is_wire_started;
	bool may_reflect;            /**< the wire is one that can: frames to be sent are copied */
	bool is_reflecting;          /**< in a round of such a wire: nothing is sent on it */
	unsigned int reflect_budget; /**< frames that may yet be received in the round */
	struct shca_netdev netdev;   /**< the kernel side's, as last looked at */
	bool is_link_disabled;       /**< shca_device_set_link() */
	bool has_link;               /**< as the netdev was last told */
	bool is_active;              /**< as listeners were last told */
	bool is_link_known;          /**< it was looked at */
	uint64_t link_checked_ticks;
	LIST_HEAD(, shca_listener) listeners;
	uint64_t netdev_ticks; /**< when it was looked at */

	bool may_fail; /**< faults of link or device concern it (hw/check/inject.h) */
	bool is_dead;  /**< device-fatal */
	bool is_down;  /**< the link is down for a while: until link_up_ticks, or the wire says */
	bool is_slow;  /**< it stands still until slow_ticks */
	uint64_t link_up_ticks; /**< UINT64_MAX: the wire says */
	uint64_t slow_ticks;

	enum shca_touch touch;
	void *touched;

	/* held is the lock. Whoever wants it waits in line at next and is counted; a step takes the
	 * place behind the line when there is one, and saves the second lock when there is none. */
	atomic_uint nb_waiting;
	pthread_mutex_t next, held;
};

/** Say what the accesses that follow touch. */
static inline void
shca_touch(struct shca_device *dev, enum shca_touch touch, void *touched)
{
	dev->touch = touch;
	dev->touched = touched;
	/* The accesses stay behind: a fault handler of this thread looks at the two. */
	atomic_signal_fence(memory_order_seq_cst);
}

/** @return whether what programs do wrong is to be reported (hw/check/strict.h). */
static inline bool
shca_is_strict(const struct shca_device *dev)
{
	return __builtin_expect(dev->conf.findings != NULL, 0);
}

/** Tell an owner, if it wants to know. */
static inline void
shca_notify(shca_event_fn event, void *owner, enum shca_event what)
{
	if (event != NULL)
		event(owner, what);
}

#endif /* SHCA_HW_STATE_DEVICE_H */
