/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The descriptor that an application waits for: readable when packets have come.
 *
 *     fd ──> epoll ──> completion channel   packets that the device has
 *                 └──> self                 events without a CQ event
 *
 * The driver makes `self` readable for a CQ in error, and for packets that have come before it arms
 * and no burst has taken; in mode=ibv these are those that rx_queue_count has fetched from verbs.
 */
#ifndef MDV_RX_WAKE_H
#define MDV_RX_WAKE_H

struct ibv_comp_channel;
struct ibv_context;

struct mdv_rx_wake {
	struct ibv_comp_channel *channel;
	int self; /**< eventfd */
	int fd;   /**< the descriptor to wait for */
};

/** @return 0 or a negative errno. */
int mdv_rx_wake_open(struct ibv_context *ctx, struct mdv_rx_wake *wake);
/** Close the descriptors, which no CQ uses any more. @return 0, or a negative errno: the channel
 * still exists. */
int mdv_rx_wake_close(struct mdv_rx_wake *wake);
/** Make the descriptor readable. */
void mdv_rx_wake_now(const struct mdv_rx_wake *wake);
/** Make the descriptor unreadable again. */
void mdv_rx_wake_clear(const struct mdv_rx_wake *wake);

#endif /* MDV_RX_WAKE_H */
