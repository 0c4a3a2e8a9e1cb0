/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The objects of an open file: handles, types and use counts (drivers/infiniband/core/rdma_core.c).
 *
 *     DM <── MR
 *     PD <── MR, MW, QP, WQ, SRQ
 *     XRCD <── SRQ, QP
 *     CQ <── QP (send, receive), WQ
 *     SRQ <── QP
 *     WQ <── each slot of an indirection table <── hash QP
 *     QP, counters, matcher, flow action <── flow
 *
 * An arrow is a use. An object in use cannot be destroyed: -EBUSY, and it stays usable. All handles
 * of a file are one number space, the lowest free first. The device lock covers everything here.
 */
#ifndef SHCA_ABI_CORE_OBJECT_H
#define SHCA_ABI_CORE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "abi/core/bfreg.h"
#include "abi/core/eventq.h"
#include "abi/core/user.h"
#include "base/idtable.h"
#include "hw/check/doorbell.h"
#include "hw/device/clock_page.h"
#include "hw/device/device.h"
#include "hw/roce/gid.h"
#include "hw/roce/roce_qp.h"
#include "steering/match/param.h"
#include "steering/steering.h"

struct shca_file;
struct shca_model;
struct shca_object_methods;
struct shca_mr;

/** Limits of the model on the number of objects, per file. */
enum shca_limit {
	SHCA_LIMIT_NONE,
	SHCA_LIMIT_PD,
	SHCA_LIMIT_MR,
	SHCA_LIMIT_CQ,
	SHCA_LIMIT_QP,
	SHCA_LIMIT_WQ,
	SHCA_LIMIT_RWQ_IND,
	SHCA_LIMIT_COUNTERS,
	SHCA_LIMIT_MODIFY_HEADERS,
	SHCA_LIMIT_REFORMATS,
	SHCA_NB_LIMITS,
};

/** A queue pair's rings and doorbell records. */
#define SHCA_OBJECT_PINS_MAX 3

struct shca_object {
	const struct shca_object_class *class;
	struct shca_file *file;
	TAILQ_ENTRY(shca_object) link; /**< of a committed object */
	uint64_t user_handle;
	uint32_t handle;
	uint32_t nb_users;
	enum shca_limit limit; /**< that it counts for */
	/** The application's memory that the device keeps for it. */
	struct shca_pin pins[SHCA_OBJECT_PINS_MAX];
	unsigned int nb_pins;
};

/** One row an object type. */
struct shca_object_class {
	uint16_t type; /**< UVERBS_OBJECT_* or MLX5_IB_OBJECT_* */
	const char *name;
	size_t bytes; /**< of the struct that begins with struct shca_object */
	enum shca_limit limit;
	/** Give up what the program alone must give up before it may destroy the object; NULL:
	 * nothing. */
	void (*leave)(struct shca_object *object);
	/** Release all but the memory. The object has no users. */
	void (*destroy)(struct shca_object *object);
};

struct shca_file {
	struct shca_device *dev;
	struct shca_listener listener; /**< of the port's events */
	const struct shca_model *model;
	/** Of all objects, ended by an object without methods. */
	const struct shca_object_methods *methods;
	bool has_context;
	uint8_t cqe_version;
	uint16_t uid;                /**< of a DevX context; 0: none */
	struct shca_context context; /**< for those who ask whose an object is */
	uint32_t nb_comp_vectors;
	struct shca_idtable handles;
	TAILQ_HEAD(shca_object_list, shca_object) objects; /**< newest first */
	LIST_HEAD(shca_eventq_list, shca_eventq) eventqs;
	struct shca_eventq *async; /**< gets the events of objects that name no descriptor */
	uint8_t *watched;          /**< of a strict device: the first UAR pages */
	struct shca_clock_page clock;
	uint8_t *device_memory;   /**< as much as the model has; NULL: none */
	struct shca_idtable uars; /**< indices into the mmap space of UAR pages */
	struct shca_bfregs bfregs;
	uint32_t nb_objects[SHCA_NB_LIMITS];
	struct shca_program program; /**< the context's */
	uint64_t delay_ns;           /**< delay of the current call: an injected fault */
	bool is_run_again;           /**< the current call has waited: its faults are counted */
	uint64_t nb_calls;           /**< so far, the current one among them */
};

/**
 * Reserve a handle and a zeroed object, which no look-up finds before shca_object_commit().
 * @return 0, -ENOMEM (also: the model's limit is reached).
 */
int shca_object_reserve(
	struct shca_file *file, const struct shca_object_class *class, struct shca_object **object);
/** Count a reserved object of a class without limit for one. @return 0, -ENOMEM: it is reached. */
int shca_object_charge(struct shca_file *file, struct shca_object *object, enum shca_limit limit);
void shca_object_commit(struct shca_file *file, struct shca_object *object);
/** Free a reserved object whose creation failed; does not call its destroy(). */
void shca_object_abort(struct shca_file *file, struct shca_object *object);
/** @return 0, -ENOENT (no such handle), -EINVAL (another type). */
int shca_object_find(struct shca_file *file, const struct shca_object_class *class, uint64_t handle,
	struct shca_object **object);
/** Give up for the program what it must give up before it may destroy the object. */
void shca_object_leave(struct shca_object *object);
/**
 * Destroy an object but keep its memory for the answer; the caller frees it.
 * @return 0 or -EBUSY.
 */
int shca_object_destroy(struct shca_object *object);
/**
 * Keep the application's memory (shca_user_pin()) as long as the object is there.
 * @param[out] start where the device finds it
 */
int shca_object_pin(
	struct shca_object *object, uint64_t address, uint64_t length, bool write, uint8_t **start);
/** Replace the object's pin of @p start, which must be one, by @p pin. */
void shca_object_repin(
	struct shca_object *object, const uint8_t *start, const struct shca_pin *pin);
/** Destroy all objects of the file. */
void shca_object_destroy_all(struct shca_file *file);

/** @{ The types. The file of an object defines the class of the same name; abi/memory/classes.h
 * has those of that room. */
struct shca_pd_object {
	struct shca_object object;
	uint32_t pdn;
};

struct shca_xrcd_object {
	struct shca_object object;
	struct shca_xrc_domain *domain;
	uint32_t xrcdn;
};

struct shca_dm_object {
	struct shca_object object;
	uint64_t length;
	uint32_t first_page, nb_pages;
	uint8_t *start;
};

struct shca_mr_object {
	struct shca_object object;
	struct shca_pd_object *pd;
	struct shca_dm_object *dm; /**< or NULL: the application's memory */
	struct shca_mr *mr;
	uint64_t user_start; /**< the application's address of its first byte */
	uint64_t pinned_bytes;
	pid_t pinned_by; /**< the process for whose limit they count */
};

struct shca_mw_object {
	struct shca_object object;
	struct shca_pd_object *pd;
	struct shca_window *window;
};

struct shca_cq_object {
	struct shca_object object;
	struct shca_cq *cq;
	uint32_t nb_cqes;
	struct shca_eventq *channel; /**< or NULL */
	struct shca_eventq *async;   /**< or NULL */
	uint32_t nb_comp_events;     /**< sent; after destruction: read by the application */
	uint32_t nb_async_events;
};

struct shca_wq_object {
	struct shca_object object;
	struct shca_pd_object *pd;
	struct shca_cq_object *cq;
	struct shca_rq *rq;
	struct shca_eventq *async;
	uint32_t state; /**< IBV_WQS_*, as last requested */
	uint32_t nb_async_events;
};

struct shca_rwq_ind_object {
	struct shca_object object;
	struct shca_rqt *rqt;
	uint32_t nb_wqs;
	struct shca_wq_object **wqs;
};

struct shca_srq_object {
	struct shca_object object;
	struct shca_pd_object *pd;
	struct shca_xrcd_object *xrcd; /**< and CQ: of an XRC SRQ, else NULL */
	struct shca_cq_object *cq;
	struct shca_srq *srq;
	struct shca_eventq *async;
	uint32_t max_wr, max_sge;
	uint32_t nb_async_events;
};

struct shca_qp_object {
	struct shca_object object;
	struct shca_pd_object *pd;
	struct shca_cq_object *send_cq;
	struct shca_cq_object *recv_cq;
	struct shca_rwq_ind_object *rwq_ind; /**< a hash QP */
	struct shca_srq_object *srq;         /**< or NULL */
	struct shca_xrcd_object *xrcd;       /**< of an XRC target, which has no PD, else NULL */
	struct shca_sq *sq;
	struct shca_rq *rq;
	struct shca_tir *tir;      /**< NULL: no flow can have it as destination */
	struct shca_roce_qp *roce; /**< one with a transport: it has none of the above */
	/** Of an XRC target that is open more than once: the next of those, in a circle. */
	struct shca_qp_object *next_open;
	struct shca_roce_qp_conf roce_conf;
	struct ib_uverbs_qp_dest dest; /**< of it, as set last */
	uint8_t type;                  /**< IBV_QPT_* */
	uint16_t pkey_index;
	struct shca_eventq *async;
	struct ib_uverbs_qp_cap cap;
	uint32_t rq_wqes, rq_segments; /**< of its receive queue: WQEs, and pointers of each */
	uint32_t bfreg;                /**< or SHCA_BFREG_NONE */
	bool signal_all;
	bool blocks_own;  /**< as of struct shca_roce_qp_attr */
	uint8_t state;    /**< IBV_QPS_* */
	uint8_t port;     /**< as set last */
	bool error_known; /**< a query has told the kernel that a queue failed */
	uint64_t queried; /**< the file's call that was the last query; 0: none */
	uint32_t nb_async_events;
	uint64_t serial; /**< the how manieth QP of the process it is; its number is used again */
	/** When it last got from RESET to INIT: the how manieth of the process, and its counts
	 * then.
	 */
	uint64_t init_serial;
	struct shca_qp_counts init_counts;
};

/** A value of a counters object. */
struct shca_counter_point {
	uint32_t description; /**< 0 packets, 1 bytes */
	uint32_t index;
};

struct shca_counters_object {
	struct shca_object object;
	struct shca_flow_counter count;
	struct shca_counter_point *points; /**< NULL: not bound */
	uint32_t nb_points;
	uint64_t nb_values; /**< highest index + 1 */
};

struct shca_matcher_object {
	struct shca_object object;
	struct shca_param mask;
	uint8_t type; /**< MLX5_IB_FLOW_TYPE_* */
	uint8_t criteria;
	uint16_t priority;
	bool egress;
};

struct shca_flow_action_object {
	struct shca_object object;
	struct shca_modify modify;
};

struct shca_flow_object {
	struct shca_object object;
	struct shca_qp_object *qp;                /**< NULL: a matcher's flow without destination */
	struct shca_matcher_object *matcher;      /**< or NULL */
	struct shca_counters_object *counters;    /**< or NULL */
	struct shca_flow_action_object **actions; /**< NULL: none */
	unsigned int nb_actions;
	struct shca_rule *rule;
};

/** An address handle. What it says is in WQEs, too. */
struct shca_ah_object {
	struct shca_object object;
	struct shca_pd_object *pd;
	struct shca_ah ah;
};

struct shca_uar_object {
	struct shca_object object;
	uint32_t index;
	bool is_watched;
	struct shca_doorbell_page doorbells;
};

struct shca_pp_object {
	struct shca_object object;
	uint16_t index; /**< in the device's table */
};

extern const struct shca_object_class shca_cq_class, shca_wq_class, shca_rwq_ind_class,
	shca_qp_class, shca_counters_class, shca_flow_class, shca_uar_class, shca_matcher_class,
	shca_flow_action_class, shca_pp_class, shca_ah_class, shca_srq_class;
/** @} */

#endif /* SHCA_ABI_CORE_OBJECT_H */
