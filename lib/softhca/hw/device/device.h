/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The device: the objects that firmware commands create (CQ, SQ, RQ, RQT, TIR) and the engines that
 * run on them.
 *
 * One struct shca_device is one verbs device with one port, or as an e-switch's manager with a port
 * for each vport. abi/ creates objects here; this room never sees an ioctl, a handle or a file.
 * Rings and doorbell records are application memory, given by address.
 *
 *     SQ --tx--> [walk_tx] --> wire          wire --> [walk_rx] --> TIR --rss--> RQ --> CQE
 *                                            kernel <──┘ │ ^ kernel's own frames go to the wire
 *
 * Ownership: an object belongs to its creator, who destroys users before what they use (rules,
 * TIRs, RQTs, RQs and SQs, CQs); the caller keeps the nb_users counts (abi/core/object.h).
 *
 * Threads: the caller of every function here but lock and step holds the device lock; step takes it
 * itself. A waiter for the lock is served before the next step.
 */
#ifndef SHCA_HW_DEVICE_DEVICE_H
#define SHCA_HW_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/context.h"
#include "hw/state/attr.h"

struct shca_device;
struct shca_mem;
struct shca_pci;
struct shca_rates;
struct shca_steering;

/** @{ The device. */
int shca_device_create(const struct shca_device_conf *conf, struct shca_device **dev);
/** Call when all objects are destroyed. NULL is allowed. */
void shca_device_destroy(struct shca_device *dev);
void shca_device_lock(struct shca_device *dev);
void shca_device_unlock(struct shca_device *dev);
/**
 * Run one round over doorbells, engines and wires, each with a budget.
 * @return frames and WQEs handled; 0 when there was nothing to do.
 */
unsigned int shca_device_step(struct shca_device *dev);
/** @return when the first frame that pacing held back in the last step may leave, in ns of
 * shca_clock_ns(); UINT64_MAX: there is none. For the thread that steps. */
uint64_t shca_device_due_ns(const struct shca_device *dev);
/**
 * Send and complete what has been posted, of all queues, as far as wire and queues take it.
 * Hardware has done so before a system call that stops or destroys the queue reaches it; the device
 * thread may be later than that.
 */
void shca_device_catch_up(struct shca_device *dev);
const struct shca_device_conf *shca_device_conf(const struct shca_device *dev);
/** @return the port's address: its netdev's, which may have become another one than conf's. */
const uint8_t *shca_device_mac(const struct shca_device *dev);
struct shca_mem *shca_device_mem(struct shca_device *dev);
struct shca_rates *shca_device_rates(struct shca_device *dev);
struct shca_steering *shca_device_steering(struct shca_device *dev);
const struct shca_device_stats *shca_device_stats(const struct shca_device *dev);
/** @return what has crossed PCI since shca_device_count_pci(); NULL: it is not counted. */
const struct shca_pci *shca_device_pci(const struct shca_device *dev);
/** Count what crosses PCI, from zero on, or end that. @return 0 or -ENOMEM. */
int shca_device_count_pci(struct shca_device *dev, bool on);
struct shca_pause *shca_device_pause(struct shca_device *dev);
/** End the device, as a removal does: contexts get the event DEVICE_FATAL. */
void shca_device_die(struct shca_device *dev);
/** @return whether the device has ended: it does nothing more and takes no commands. */
bool shca_device_is_dead(const struct shca_device *dev);
/** Start the wire with the first receiving rule. Call after every rule change. */
void shca_device_rules_changed(struct shca_device *dev);
/** @} */

/** @return the name of the netdev beside the port, of a manager that of the uplink; "": none, or it
 * is gone. */
const char *shca_device_netdev(const struct shca_device *dev);

/** @return its ifindex in its namespace; 0: there is none. */
unsigned int shca_device_ifindex(const struct shca_device *dev);

/** A queue in statistics. */
struct shca_queue_info {
	const char *kind; /**< "RQ", "SQ" or "CQ" */
	uint32_t number;
	uint32_t cq_number; /**< of an RQ and an SQ */
	const char *state;
	/** Of @a size: WQEs posted and not taken, WQEBBs not executed, completions not read. */
	uint32_t fill, size;
	/** Where this process sees the ring and the word of the doorbell record. */
	uintptr_t ring, record;
	uint64_t ring_bytes;
	struct shca_context context;   /**< whose it is; pid 0: nobody's */
	struct shca_queue_count count; /**< of a CQ: packets are completions */
};
/**
 * List all queues, by kind and number.
 * @param list the caller frees it
 * @return 0 or -ENOMEM.
 */
int shca_device_list_queues(
	const struct shca_device *dev, struct shca_queue_info **list, size_t *nb_queues);
/** List all contexts, old ones first. @param list the caller frees it @return 0 or -ENOMEM. */
int shca_device_list_contexts(
	const struct shca_device *dev, struct shca_context **list, size_t *nb_contexts);

/** @{ The link. It is up unless the wire has no carrier or a user takes it down. */
/** Check the link now and report a change. @return whether it is up. */
bool shca_device_link(struct shca_device *dev);
/** As shca_device_link(). @return whether verbs may call a port of the device active: with a netdev
 * that is up. */
bool shca_device_is_active(struct shca_device *dev, uint32_t port);
/** Take the link down, or up again: listeners, the netdev and a link partner see it. */
void shca_device_set_link(struct shca_device *dev, bool up);
/** A listener to events of the ports; the caller owns it. */
struct shca_listener {
	LIST_ENTRY(shca_listener) link;
	/** Called by any thread with the lock held. */
	void (*event)(void *owner, uint32_t port, enum shca_event event);
	void *owner;
	const struct shca_context *context; /**< that listens; NULL: none yet */
};
void shca_device_listen(struct shca_device *dev, struct shca_listener *listener);
void shca_device_unlisten(struct shca_listener *listener);
/** Call a function for each listener, the newest first. */
void shca_device_each_listener(struct shca_device *dev,
	void (*function)(struct shca_listener *listener, void *arg), void *arg);
/** @} */

#endif /* SHCA_HW_DEVICE_DEVICE_H */
