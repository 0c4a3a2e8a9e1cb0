/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Hides tunnels that a model does not look into. Internal to hw/, and for traces.
 */
#ifndef SHCA_HW_FORMAT_TUNNELS_H
#define SHCA_HW_FORMAT_TUNNELS_H

#include <infiniband/mlx5dv.h>
#include <stdint.h>

#include "steering/match/parse.h"

/**
 * Remove inner headers from @p packet unless its tunnel is one of @p offloads
 * (MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_*): to such a device they are payload.
 */
static inline void
shca_tunnels_limit(struct shca_packet *packet, uint32_t offloads)
{
	static const uint8_t needed[] = {
		[SHCA_TUNNEL_NONE] = 0,
		[SHCA_TUNNEL_VXLAN] = MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN,
		[SHCA_TUNNEL_GRE] = MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE,
		[SHCA_TUNNEL_MPLS_GRE] = MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE,
		[SHCA_TUNNEL_MPLS_UDP] = MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP,
	};

	if ((needed[packet->tunnel] & ~offloads) == 0)
		return;
	/* A GRE header in front of a label stack remains a GRE header. */
	packet->tunnel =
		packet->tunnel == SHCA_TUNNEL_MPLS_GRE && (offloads & needed[SHCA_TUNNEL_GRE]) != 0
		? SHCA_TUNNEL_GRE
		: SHCA_TUNNEL_NONE;
	packet->has_mpls = false;
	packet->inner = (struct shca_headers){ .valid = false };
}

#endif /* SHCA_HW_FORMAT_TUNNELS_H */
