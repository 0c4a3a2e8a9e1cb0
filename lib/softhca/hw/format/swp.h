/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Software parser: a send WQE gives the offsets of headers, among them headers that the device's
 * own parser cannot reach (in tunnels it does not know). Pure.
 *
 * From ConnectX-5 on it only adds headers to those that the device has found itself (DPDK mlx5_tx.h
 * txq_mbuf_to_swp).
 */
#ifndef SHCA_HW_FORMAT_SWP_H
#define SHCA_HW_FORMAT_SWP_H

#include <stdbool.h>
#include <stdint.h>

struct shca_packet;

/** Part of the ethernet segment. Offsets count units of 2 bytes from the frame's start, including
 * an inserted tag; 0: there is no such header. */
struct shca_swp {
	uint8_t outer_l4, outer_l3;
	uint8_t inner_l4, inner_l3;
	uint8_t flags; /**< SHCA_SWP_* */
};

/** @return whether the WQE gives any offset. */
static inline bool
shca_swp_is_used(const struct shca_swp *swp)
{
	return (swp->outer_l3 | swp->inner_l3) != 0;
}

/** Add to @p packet the headers that @p swp points out, if they fit in the frame and the parser has
 * not found them. */
void shca_swp_apply(const struct shca_swp *swp, struct shca_packet *packet);

#endif /* SHCA_HW_FORMAT_SWP_H */
