/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The limits of packets that a send queue takes. */
#ifndef MDV_TX_LIMITS_H
#define MDV_TX_LIMITS_H

#include <stdint.h>

#include "tx_wqe.h"
#include "txq.h"

/** Longest headers, with the tag: those of VXLAN over IPv6 with all TCP options fit. DPDK's mlx5
 * driver requires the same of the hardware (mlx5_defs.h MLX5_MAX_TSO_HEADER). */
#define MDV_TX_TSO_HEADER_MAX 192u
/** Segments that a TSO packet may always have. */
#define MDV_TX_TSO_SEGS_MAX                                                                        \
	(MDV_TX_DS_MAX - MDV_TX_WQE_DS_HEAD -                                                      \
		(MDV_TX_TSO_HEADER_MAX - MDV_TX_WQE_INLINE_START + 15) / 16)

/** @return the greatest number of segments of a packet that is sent as it is. */
uint16_t mdv_tx_limits_segs(const struct mdv_caps *caps);
/** @return the offloads of ethdev by which the device cuts packets up. */
uint64_t mdv_tx_limits_tso_offloads(const struct mdv_caps *caps);
/** @return the limits of a queue with these offloads. */
struct mdv_tx_limits mdv_tx_limits_of(const struct mdv_caps *caps, uint64_t offloads);
/** @return the tunnel type that the packet's flags name, below 16; 0: none. */
static __rte_always_inline uint32_t
mdv_tx_tunnel(uint64_t ol_flags)
{
	static_assert(RTE_MBUF_F_TX_TUNNEL_MASK == 0xfULL << 45, "a type of 4 bits");

	return (ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) >> 45;
}

/** @return the L4 checksum that the packet's flags ask for, below 4; 0: none. It is a number: UDP's
 * has the bits of TCP's and of SCTP's. */
static __rte_always_inline uint32_t
mdv_tx_l4_csum(uint64_t ol_flags)
{
	static_assert(RTE_MBUF_F_TX_L4_MASK == 3ULL << 52, "a number of 2 bits");

	return (ol_flags & RTE_MBUF_F_TX_L4_MASK) >> 52;
}

#endif /* MDV_TX_LIMITS_H */
