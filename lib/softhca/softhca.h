/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * softhca: a software ConnectX below libibverbs and libmlx5. The set connects its parts.
 *
 *     application ── libibverbs/libmlx5 ── ioctl, mmap ──> preload ──> client
 *          │                                                             │ keeper/message.h
 *          │                                            keeper ──> abi ──> hw ──> steering
 *     rings, doorbell records (shared memory) <── device thread ───────────┘ └──> wires
 *
 * A set holds the ports of one card: port i is the verbs device mlx5_i, the node
 * /dev/infiniband/uverbs<i>. The card's keeper opens it, and it lives as long as the card. With
 * SOFTHCA_KEEPER=0 the first open of a node in a process opens one there, without client and
 * keeper, which lives as long as the process. A device thread serves all ports, or several do
 * (hw/device/threads.h).
 */
#ifndef SHCA_SOFTHCA_H
#define SHCA_SOFTHCA_H

#include <stdbool.h>

struct shca_device;
struct shca_options;
struct shca_set;
struct shca_ucma;

/**
 * Open the wires and create a device a port; no device thread runs yet.
 * @return 0 or a negative errno after a message; nothing is left open on failure.
 */
int shca_set_open(const struct shca_options *options, struct shca_set **set);
/**
 * Start / stop the device threads and, below a runner, the control socket. Idempotent. @return 0 or
 * a negative errno. */
int shca_set_start(struct shca_set *set);
void shca_set_stop(struct shca_set *set);
/** End the set's threads, and wait until the kernel, too, has forgotten them. @return whether there
 * were any */
bool shca_set_pause(struct shca_set *set);
/** Start what shca_set_pause() has ended; a device that was frozen is frozen. @return 0 or a
 * negative errno: the devices stand still. */
int shca_set_resume(struct shca_set *set);
/** In a child after fork(), which does not own the set: close descriptors that it must not share.
 */
void shca_set_forked(struct shca_set *set);
/** Stops the threads, destroys the devices, closes the wires. NULL is allowed. */
void shca_set_close(struct shca_set *set);
/** @return port @p idx's device, or NULL when there is no such port. */
struct shca_device *shca_set_device(struct shca_set *set, unsigned int idx);
/** @return what answers on the node of connections, with its thread running, or NULL after a
 * message. Made by the first call. */
struct shca_ucma *shca_set_ucma(struct shca_set *set);
/** @return the same, or NULL: nobody has called for it. */
struct shca_ucma *shca_set_has_ucma(struct shca_set *set);
/** For tests, which have no device thread: one step of every device. @return work done, 0: idle. */
unsigned int shca_set_step(struct shca_set *set);

#endif /* SHCA_SOFTHCA_H */
