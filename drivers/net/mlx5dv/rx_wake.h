/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What an application waits for: a descriptor that is readable when packets have come.
 *
 *     mode=dv   fd ──> completion channel
 *     mode=ibv  fd ──> epoll ──> completion channel   packets that verbs has
 *                           └──> self                 packets that were fetched and not taken
 *
 * In mode=ibv whoever counts packets fetches them, and verbs fires for none of these.
 */
#ifndef MDV_RX_WAKE_H
#define MDV_RX_WAKE_H

#include <stdbool.h>

struct ibv_comp_channel;
struct ibv_context;

struct mdv_rx_wake {
	struct ibv_comp_channel *channel;
	int self; /**< eventfd; -1: none */
	int fd;   /**< to be waited for */
};

/** @param fetched there may be packets that were fetched. @return 0 or a negative errno. */
int mdv_rx_wake_open(struct ibv_context *ctx, bool fetched, struct mdv_rx_wake *wake);
/** No CQ uses it any more. @return 0 or a negative errno: the channel is still there. */
int mdv_rx_wake_close(struct mdv_rx_wake *wake);
/** Make the descriptor readable. */
void mdv_rx_wake_now(const struct mdv_rx_wake *wake);
/** Undo it. */
void mdv_rx_wake_clear(const struct mdv_rx_wake *wake);

#endif /* MDV_RX_WAKE_H */
