/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What tests of whole ports on softhca share: a pool, ways of configuring a port, packets.
 */
#ifndef DRV_LIFE_KIT_H
#define DRV_LIFE_KIT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define NB_MBUFS 8191
/** Polls after which packets count as lost: seconds, with a device thread on the same CPU. */
#define NB_POLLS 20000000

/** One row a way of configuring the port. */
struct shape {
	uint16_t nb_queues, nb_desc, mtu, len;
	unsigned int nb_segs;
	uint64_t rx_offloads;
};
extern const struct shape life_shapes[3];
/** Of NB_MBUFS. */
extern struct rte_mempool *life_pool;

/** Once a program: an EAL, and the pool. */
int life_group_make(void **state);
struct rte_mempool *life_pool_make(const char *name, unsigned int nb);
void life_check_pool(const struct rte_mempool *mempool, unsigned int nb);
/** Is it mode=ibv that the environment's LIFE_MODE says? */
bool life_is_ibv(void);
/** A vdev of this name on mlx5_0, in the mode of the environment's LIFE_MODE. */
uint16_t life_port_open(const char *name);
/** The same with more driver arguments: ",key=value" or "". */
uint16_t life_port_open_with(const char *name, const char *args);
void life_configure(uint16_t port_id, const struct shape *shape);
/** A broadcast frame of @p nb_segs segments of @p len bytes. */
struct rte_mbuf *life_packet(unsigned int nb_segs, uint16_t len);

#endif /* DRV_LIFE_KIT_H */
