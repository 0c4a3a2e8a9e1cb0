/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The GIDs of a port (IBTA A16.4, A17.4; Linux core/roce_gid_mgmt.c): the link-local one of its
 * MAC, which is its netdev's, and the addresses of the netdev beside it, IPv4 ones mapped; each as
 * RoCE v1 and as v2. An entry keeps its index as long as its address is there, and no other address
 * of the netdev gets it as long as address handles or queue pairs name it. And the active MTU,
 * which is the netdev's too.
 */
#ifndef SHCA_HW_ROCE_GID_H
#define SHCA_HW_ROCE_GID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "hw/state/gid.h"
#include "transport/packet/roce.h"

struct shca_device;

/** Make the MAC's entries. Ports of an e-switch's manager have none (mlx5_port_rep_immutable). */
void shca_gid_init(struct shca_device *dev);
/** Take over the netdev's present addresses, its MAC among them. @return whether entries have
 * changed. */
bool shca_gid_update(struct shca_device *dev);
/** @return entries of the table, used or not. */
uint32_t shca_gid_nb(const struct shca_device *dev);
/** @return false: there is no such entry. */
bool shca_gid_get(const struct shca_device *dev, uint32_t index, uint8_t gid[16], bool *is_v2);
/** @return whether the port has that address. */
bool shca_gid_is_own(const struct shca_device *dev, const uint8_t gid[16]);
/**
 * Find the MAC of a GID, as ib_resolve_eth_dmac() does. One that has a MAC in it needs nobody else.
 * @return 0; -EINPROGRESS: Linux asks the network for it, look again; -EHOSTUNREACH: nobody knows
 * it; or as find_way() of struct shca_wire_ops.
 */
int shca_gid_resolve(struct shca_device *dev, const uint8_t gid[16], uint8_t mac[6]);
/** Find the port's own GID towards another one, by Linux' routes. @return 0 or a negative errno. */
int shca_gid_find_source(struct shca_device *dev, const uint8_t gid[16], uint8_t source[16]);

/** The longest payload of a packet at a path MTU of enum ibv_mtu. */
#define SHCA_MTU_BYTES(mtu) (128u << (mtu))
/**
 * The port's active MTU as enum ibv_mtu: what of the netdev's MTU is left for a payload behind all
 * headers (Linux rdma/ib_addr.h iboe_get_mtu), 0 where that is less than the least; and without a
 * netdev as beside one of 1500 bytes. The device lock is held.
 */
uint8_t shca_gid_port_mtu(const struct shca_device *dev);

/** How long an acknowledgement takes at most, as 4.096 us * 2^n: QUERY_HCA_CAP of cards says so. */
#define SHCA_ACK_DELAY 16

/** What a program says of a path: an address handle's attributes. */
struct shca_gid_route {
	uint8_t dgid[16];
	uint32_t flow_label;
	uint8_t sgid_index, hop_limit, traffic_class;
	uint16_t udp_source; /**< v2 */
};
/** Fill a path; the MAC of the destination is the caller's. @return false: no such entry. */
bool shca_gid_path(const struct shca_device *dev, const struct shca_gid_route *route,
	struct shca_roce_path *path);

/** An address handle, in its owner's memory. A WQE has a copy of the address, which does not say of
 * which protection domain it is: a strict device looks here. */
struct shca_ah {
	LIST_ENTRY(shca_ah) link;
	uint32_t pdn;
	uint8_t dgid[16];
	uint8_t sgid_index;
};

/** The device lock is held, here and below. */
void shca_ah_add(struct shca_device *dev, struct shca_ah *ah);
void shca_ah_remove(struct shca_ah *ah);
/** @return whether handles of that address are there, and none of domain @p pdn. */
bool shca_ah_is_of_another(
	const struct shca_device *dev, uint32_t pdn, const struct shca_gid_route *route);

#endif /* SHCA_HW_ROCE_GID_H */
