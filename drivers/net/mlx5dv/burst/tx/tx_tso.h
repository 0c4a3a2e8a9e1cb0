/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packets that the device cuts into TCP segments (TSO), one WQE each.
 *
 *     0     16             32                            any WQEBB, the ring's first too
 *     ctrl  eth, mss  2    all headers, in full units    data    data ...
 *
 * The headers are inlined, with a tag to be inserted, because the device writes them again for each
 * segment; the data segments have the payload.
 */
#ifndef MDV_TX_TSO_H
#define MDV_TX_TSO_H

#include <rte_ip.h>
#include <rte_tcp.h>

#include "queue/tx/tx_wqe.h"
#include "tx.h"

/** Ethernet, IPv4 and TCP without options. */
#define MDV_TX_TSO_HEADER_MIN                                                                      \
	(RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_tcp_hdr))
/** Data offset of 4 bits, in words. */
#define MDV_TX_TSO_TCP_MAX 60u

/** @return the bit of mdv_tx_csum_index() of a TSO packet, which needs a TCP checksum. */
static __rte_always_inline uint32_t
mdv_tx_tso_csum(uint64_t ol_flags)
{
	static_assert(RTE_MBUF_F_TX_TCP_SEG == 1ULL << 50, "to bit 0");

	return ol_flags >> 50 & 1;
}

/**
 * @return the bytes of all headers of the packet, or 0 if the device cannot cut such a packet up.
 */
uint32_t mdv_tx_tso_header(const struct rte_mbuf *mbuf);

/**
 * @return the bytes on the wire beyond the packet's own; add the frames beyond one to @p frames.
 */
uint64_t mdv_tx_tso_more(const struct rte_mbuf *mbuf, uint64_t *frames);

/**
 * Build the WQEs of the packets to be cut up at the front of @p nb, in at most @p room WQEBBs; the
 * first has RTE_MBUF_F_TX_TCP_SEG.
 * @param insert_vlan those with RTE_MBUF_F_TX_VLAN get a tag
 * @return MDV_TX_SENT: at least one packet, and @p pos has moved past all that were sent; otherwise
 * nothing was touched. MDV_TX_WHOLE: the first packet is one segment as it is.
 */
enum mdv_tx_status mdv_tx_tso(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb,
	uint32_t room, bool insert_vlan, struct mdv_tx_pos *pos);

#endif /* MDV_TX_TSO_H */
