/* SPDX-License-Identifier: BSD-3-Clause */
/* Header offsets and types for the software parser. */
#include "tx_swp.h"

/** Offsets of headers in bytes; 0: no such header. */
struct offsets {
	uint32_t outer_l3, outer_l4;
	uint32_t inner_l3, inner_l4;
};

static struct offsets
find_headers(const struct rte_mbuf *mbuf)
{
	const uint64_t flags = mbuf->ol_flags;
	struct offsets at = { 0 };
	uint32_t inner;

	/* The device counts a tag that it inserts (Linux en_accel.h
	 * mlx5e_eseg_swp_offsets_add_vlan).
	 */
	at.outer_l3 = mbuf->outer_l2_len + (flags & RTE_MBUF_F_TX_VLAN ? RTE_VLAN_HLEN : 0);
	inner = at.outer_l3 + mbuf->outer_l3_len;
	if ((flags & RTE_MBUF_F_TX_TUNNEL_MASK) == RTE_MBUF_F_TX_TUNNEL_UDP)
		at.outer_l4 = inner;
	inner += mbuf->l2_len;
	if (flags & (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6))
		at.inner_l3 = inner;
	if (flags & (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG))
		at.inner_l4 = inner + mbuf->l3_len;
	return at;
}

static uint8_t
find_types(uint64_t ol_flags)
{
	const bool is_udp = (ol_flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_UDP_CKSUM;
	uint8_t types = 0;

	types |= ol_flags & RTE_MBUF_F_TX_OUTER_IPV6 ? MDV_HW_SWP_OUTER_L3_IPV6 : 0;
	types |= (ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) == RTE_MBUF_F_TX_TUNNEL_UDP
		? MDV_HW_SWP_OUTER_L4_UDP
		: 0;
	types |= ol_flags & RTE_MBUF_F_TX_IPV6 ? MDV_HW_SWP_INNER_L3_IPV6 : 0;
	types |= is_udp ? MDV_HW_SWP_INNER_L4_UDP : 0;
	return types;
}

void
mdv_tx_swp_put(void *wqe, const struct rte_mbuf *mbuf)
{
	struct mlx5_wqe_eth_seg *eth = (void *)((struct mlx5_wqe_ctrl_seg *)wqe + 1);
	const struct offsets at = find_headers(mbuf);
	/* In units of 2 bytes (Linux mlx5/qp.h struct mlx5_wqe_eth_seg). */
	const uint8_t bytes[4] = { at.outer_l4 / 2, at.outer_l3 / 2, at.inner_l4 / 2,
		at.inner_l3 / 2 };

	memcpy(&eth->rsvd0, bytes, sizeof(bytes));
	eth->rsvd1 = find_types(mbuf->ol_flags);
}

bool
mdv_tx_swp_fits(const struct rte_mbuf *mbuf)
{
	const struct offsets at = find_headers(mbuf);

	return ((at.outer_l3 | at.outer_l4 | at.inner_l3 | at.inner_l4) & 1) == 0 &&
		RTE_MAX(at.inner_l3, at.inner_l4) <= UINT8_MAX * 2;
}
