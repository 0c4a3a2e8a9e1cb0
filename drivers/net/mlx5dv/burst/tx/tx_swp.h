/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packets in tunnels that the device does not know: the WQE gives the places of the headers to the
 * device's software parser.
 */
#ifndef MDV_TX_SWP_H
#define MDV_TX_SWP_H

#include "queue/tx/tx_wqe.h"
#include "tx.h"

/** Options of the two instances that use the software parser. They serve rare packets, so both
 * have all options. */
#define MDV_TX_SWP_OPTS (MDV_TX_SWP | MDV_TX_TSO | MDV_TX_CSUM | MDV_TX_VLAN | MDV_TX_MULTI)
/** Offloads of ethdev that need the software parser. */
#define MDV_TX_SWP_OFFLOADS (RTE_ETH_TX_OFFLOAD_UDP_TNL_TSO | RTE_ETH_TX_OFFLOAD_IP_TNL_TSO)

/** @return whether the packet's flags name some tunnel over UDP or over IP. */
static __rte_always_inline bool
mdv_tx_swp_wanted(uint64_t ol_flags)
{
	const uint64_t tunnel = ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK;

	return tunnel == RTE_MBUF_F_TX_TUNNEL_UDP || tunnel == RTE_MBUF_F_TX_TUNNEL_IP;
}

/** Complete the WQE of a packet that is mdv_tx_swp_wanted(), with its tag if it has one. */
void mdv_tx_swp_put(void *wqe, const struct rte_mbuf *mbuf);
/** @return whether the segment has room for the packet's offsets. */
bool mdv_tx_swp_fits(const struct rte_mbuf *mbuf);

#endif /* MDV_TX_SWP_H */
