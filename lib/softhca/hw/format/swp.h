/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Software parser: a send WQE says where headers are, for the sake of those that the device's own
 * parser does not reach (tunnels it does not know). Pure.
 *
 * From ConnectX-5 on it only adds to what the device has found itself (DPDK mlx5_tx.h
 * txq_mbuf_to_swp).
 */
#ifndef SHCA_HW_FORMAT_SWP_H
#define SHCA_HW_FORMAT_SWP_H

#include <stdbool.h>
#include <stdint.h>

struct shca_packet;

/** As the ethernet segment has it; offsets in units of 2 bytes from the frame's start, a tag that
 * is inserted included, and 0 where there is no such header. */
struct shca_swp {
	uint8_t outer_l4, outer_l3;
	uint8_t inner_l4, inner_l3;
	uint8_t flags; /**< SHCA_SWP_* */
};

/** @return whether the WQE says anything. */
static inline bool
shca_swp_is_used(const struct shca_swp *swp)
{
	return (swp->outer_l3 | swp->inner_l3) != 0;
}

/** Add to @p packet the headers that are where @p swp says, fit in the frame, and were not found.
 */
void shca_swp_apply(const struct shca_swp *swp, struct shca_packet *packet);

#endif /* SHCA_HW_FORMAT_SWP_H */
