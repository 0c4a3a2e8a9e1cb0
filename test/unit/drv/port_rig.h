/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Shared by tests of whole ports on softhca: a pool, configurations of a port, packets. */
#ifndef DRV_PORT_RIG_H
#define DRV_PORT_RIG_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define NB_MBUFS 8191
/** Polls after which packets count as lost: a minute or more. Machines stand still for seconds. */
#define NB_POLLS 1000000000u

/** A configuration of the port. */
struct shape {
	uint16_t nb_queues, nb_desc, mtu, len;
	unsigned int nb_segs;
	uint64_t rx_offloads;
};
extern const struct shape port_rig_shapes[3];
/** Has NB_MBUFS mbufs. */
extern struct rte_mempool *port_rig_pool;

/** Initialise the EAL and create the pool; once a program. */
int port_rig_group_make(void **state);
struct rte_mempool *port_rig_pool_make(const char *name, unsigned int nb);
void port_rig_check_pool(const struct rte_mempool *mempool, unsigned int nb);
/** @return whether the environment's RIG_MODE is ibv. */
bool port_rig_is_ibv(void);
/** Probe a vdev of this name on mlx5_0, in the mode of the environment's RIG_MODE. */
uint16_t port_rig_open(const char *name);
/** The same with more driver arguments: ",key=value" or "". */
uint16_t port_rig_open_with(const char *name, const char *args);
void port_rig_configure(uint16_t port_id, const struct shape *shape);
/** A broadcast frame of @p nb_segs segments of @p len bytes. */
struct rte_mbuf *port_rig_packet(unsigned int nb_segs, uint16_t len);

#endif /* DRV_PORT_RIG_H */
