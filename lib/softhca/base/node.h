/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What names a device: its node, its GUID. */
#ifndef SHCA_BASE_NODE_H
#define SHCA_BASE_NODE_H

#include <stdint.h>
#include <string.h>

/** ib_uverbs' device numbers (core/uverbs_main.c IB_UVERBS_MAJOR, IB_UVERBS_BASE_MINOR). */
#define SHCA_NODE_MAJOR 231
#define SHCA_NODE_MINOR 192 /**< of uverbs0 */
/** Instead of a port's number: the node of connections. */
#define SHCA_NODE_RDMA_CM 0x10000
/** Its numbers: a misc device (core/ucma.c), whose minor Linux chooses. */
#define SHCA_NODE_RDMA_CM_MAJOR 10
#define SHCA_NODE_RDMA_CM_MINOR 122

#define SHCA_NODE_GID_BYTES 16
/** Entries of a port's table of GIDs: an address has one as RoCE v1, and behind it one as v2. The
 * first two are the MAC's. */
#define SHCA_NODE_NB_GIDS 32

/** @return the node GUID that firmware derives from the MAC: an EUI-64, with ff:fe in the middle;
 * in host order. */
static inline uint64_t
shca_node_guid(const uint8_t *mac)
{
	return (uint64_t)mac[0] << 56 | (uint64_t)mac[1] << 48 | (uint64_t)mac[2] << 40 |
		UINT64_C(0xfffe) << 24 | (uint64_t)mac[3] << 16 | (uint64_t)mac[4] << 8 | mac[5];
}

/** Write the link-local GID of the MAC: fe80::/64 and a modified EUI-64 (RFC 4291, appendix A). */
static inline void
shca_node_gid(const uint8_t *mac, uint8_t gid[static SHCA_NODE_GID_BYTES])
{
	const uint8_t bytes[SHCA_NODE_GID_BYTES] = { 0xfe, 0x80, [8] = mac[0] ^ 2, mac[1], mac[2],
		0xff, 0xfe, mac[3], mac[4], mac[5] };

	memcpy(gid, bytes, sizeof(bytes));
}

#endif /* SHCA_BASE_NODE_H */
