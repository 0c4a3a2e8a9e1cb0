/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes which packets a send queue takes, by the device's capabilities and the queue's
 * offloads. */
#include <rte_common.h>

#include "device/device.h"
#include "tx_ibv.h"
#include "tx_limits.h"

/** Flags that describe the packet and request nothing. */
#define DESCRIBE                                                                                   \
	(RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_OUTER_IPV4 |                      \
		RTE_MBUF_F_TX_OUTER_IPV6 | RTE_MBUF_F_TX_TUNNEL_MASK)

/* clang-format off */
/** Flags that request an offload. */
static const struct {
	uint64_t offload, ol_flags;
} offload_flags[] = {
	{ RTE_ETH_TX_OFFLOAD_VLAN_INSERT, RTE_MBUF_F_TX_VLAN },
	{ RTE_ETH_TX_OFFLOAD_IPV4_CKSUM, RTE_MBUF_F_TX_IP_CKSUM },
	{ RTE_ETH_TX_OFFLOAD_UDP_CKSUM, RTE_MBUF_F_TX_UDP_CKSUM },
	{ RTE_ETH_TX_OFFLOAD_TCP_CKSUM, RTE_MBUF_F_TX_TCP_CKSUM },
	{ RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM, RTE_MBUF_F_TX_OUTER_IP_CKSUM },
};

/** Tunnels in which the device finds the inner headers if it has the capability; without it the
 * WQE gives their places. */
static const struct {
	uint64_t ol_flags;
	uint32_t capability;
	uint64_t tso_offload;
} tunnels[] = {
	{ RTE_MBUF_F_TX_TUNNEL_VXLAN, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN,
		RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO },
	{ RTE_MBUF_F_TX_TUNNEL_GRE, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE,
		RTE_ETH_TX_OFFLOAD_GRE_TNL_TSO },
	{ RTE_MBUF_F_TX_TUNNEL_GENEVE, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE,
		RTE_ETH_TX_OFFLOAD_GENEVE_TNL_TSO },
	{ RTE_MBUF_F_TX_TUNNEL_MPLSINUDP, MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP,
		0 },
	{ RTE_MBUF_F_TX_TUNNEL_UDP, 0, RTE_ETH_TX_OFFLOAD_UDP_TNL_TSO },
	{ RTE_MBUF_F_TX_TUNNEL_IP, 0, RTE_ETH_TX_OFFLOAD_IP_TNL_TSO },
};
/* clang-format on */

/** @return whether inner headers can be found in packets of row @p i of the tunnels. Only a burst
 * that was chosen for it, by @p tso offloads, writes their places into WQEs. */
static bool
finds_headers(const struct mdv_caps *caps, unsigned int i, uint64_t tso)
{
	if (tunnels[i].capability == 0)
		return caps->sw_parsing && (tso & tunnels[i].tso_offload) != 0;
	return (caps->tunnel_offloads & tunnels[i].capability) != 0;
}

uint64_t
mdv_tx_limits_tso_offloads(const struct mdv_caps *caps)
{
	uint64_t offloads = RTE_ETH_TX_OFFLOAD_TCP_TSO;
	unsigned int i;

	/* TSO without checksums is useless. */
	if (caps->max_tso_bytes == 0 || !caps->tx_checksum)
		return 0;
	for (i = 0; i < RTE_DIM(tunnels); i++)
		offloads |= finds_headers(caps, i, UINT64_MAX) ? tunnels[i].tso_offload : 0;
	return offloads;
}

uint16_t
mdv_tx_limits_segs(const struct mdv_caps *caps)
{
	if (caps->mode == MDV_MODE_IBV)
		return RTE_MIN(caps->max_sge - 1, MDV_TX_IBV_SEGS);
	if (caps->tx_min_inline > MDV_HW_ETH_INLINE_L2)
		return MDV_TX_DS_MAX - mdv_tx_wqe_ds_inline(caps->tx_min_inline);
	return MDV_TX_SEGS_MAX;
}

struct mdv_tx_limits
mdv_tx_limits_of(const struct mdv_caps *caps, uint64_t offloads)
{
	const uint64_t tso = offloads & mdv_tx_limits_tso_offloads(caps);
	struct mdv_tx_limits limits = {
		.ol_flags = DESCRIBE,
		.l4_csums = 1u << mdv_tx_l4_csum(0),
		.multi = (offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0,
		.tunnels = 1,
		.segs = mdv_tx_limits_segs(caps),
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(offload_flags); i++) {
		if (!(offloads & offload_flags[i].offload))
			continue;
		limits.ol_flags |= offload_flags[i].ol_flags;
		limits.l4_csums |= 1u << mdv_tx_l4_csum(offload_flags[i].ol_flags);
	}
	for (i = 0; i < RTE_DIM(tunnels); i++) {
		const uint16_t bit = 1u << mdv_tx_tunnel(tunnels[i].ol_flags);

		limits.tunnels |= finds_headers(caps, i, tso) ? bit : 0;
		limits.tso_tunnels |= tso & tunnels[i].tso_offload ? bit : 0;
	}
	if (tso != 0) {
		/* TSO implies the checksums of the segments. */
		limits.ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM |
			RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_OUTER_IP_CKSUM;
		limits.l4_csums |= 1u << mdv_tx_l4_csum(RTE_MBUF_F_TX_TCP_CKSUM);
		limits.tso_max = caps->max_tso_bytes;
	}
	limits.tso_tunnels |= tso & RTE_ETH_TX_OFFLOAD_TCP_TSO ? 1 : 0;
	return limits;
}
