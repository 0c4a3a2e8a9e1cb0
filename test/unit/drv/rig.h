/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Shared by the driver's tests: an EAL, a pool, a fake verbs library, rings in plain memory.
 */
#ifndef DRV_RIG_H
#define DRV_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ethdev_driver.h>

#include "base/hw.h"
#include "state/port.h"

/** lkey of all memory in tests that register none. */
#define RIG_LKEY 0x00abcd12u

/** Start an EAL of 64 MB without hugepages or buses; once a program. @return 0 */
int rig_eal_init(void **state);

/** Verbs calls of the driver, and results of the next ones. */
struct rig_verbs {
	int wq_states[8]; /**< in order of the calls */
	int qp_states[8];
	unsigned int nb_wq_states, nb_qp_states;
	int modify_result; /**< errno of the next modify calls */
	unsigned int nb_mrs;
	int optional_access; /**< of packet memory, besides that to write */
	int reg_result;      /**< errno of the next registrations */
};
extern struct rig_verbs rig_verbs;

/** A port without device: enough for queues to log their names. */
struct rig_port {
	struct mdv_port port;
	struct rte_eth_dev dev;
	struct rte_eth_dev_data data;
	struct ibv_wq *wq;
	struct ibv_qp *qp;
};
void rig_port_init(struct rig_port *rig);

/** @return a pool of @p nb mbufs with data rooms of @p room bytes, headroom included. */
struct rte_mempool *rig_pool(const char *name, unsigned int nb, uint16_t room);
/** @return zeroed memory on a cache line, freed with free(). */
void *rig_alloc(size_t size);
/** @return CQEs as libmlx5 leaves them: opcode INVALID. */
struct mdv_hw_cqe *rig_cqes(uint32_t nb);

#endif /* DRV_RIG_H */
