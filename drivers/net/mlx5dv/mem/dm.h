/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Memory of the device, for packets that are sent: rte_pmd_mlx5dv.h is its contract.
 *
 *     application ──── struct rte_pmd_mlx5dv_dm ──── verbs DM, mapped, and its MR (mr.h)
 *     mbufs ─ shared ──────┘        │
 *                          port->dms, until the port closes
 *
 * The struct lives until the application frees it, which mbufs of it prevent; the memory lives
 * until then or until the port closes. The mapping only provides addresses, by which a burst finds
 * the MR. The CPU accesses the memory only by ibv_memcpy_*_dm(), in whole words (libmlx5 verbs.c
 * mlx5_access_dm).
 *
 * Secondary processes have the mbufs, but not the mapping: they may send the data, as the device
 * counts from the start of the memory, but must not read it.
 */
#ifndef MDV_DM_H
#define MDV_DM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_mbuf.h>

struct mdv_port;
struct rte_pmd_mlx5dv_dm;

/** The caller holds the port. @return 0 or a negative errno, logged. */
int mdv_dm_alloc(struct mdv_port *port, size_t size, size_t align, struct rte_pmd_mlx5dv_dm **dm);
/** @return 0, -EBUSY: there are mbufs of it. */
int mdv_dm_free(struct rte_pmd_mlx5dv_dm *dm);
/** Free the memory of a port that closes; no queue of the port uses it any more. */
void mdv_dm_close(struct mdv_port *port);
/** Each returns 0, -EINVAL, or -ENODEV after mdv_dm_close(). */
int mdv_dm_write(struct rte_pmd_mlx5dv_dm *dm, size_t offset, const void *from, size_t len);
int mdv_dm_read(const struct rte_pmd_mlx5dv_dm *dm, size_t offset, void *to, size_t len);
/** @return the same, or -EAGAIN: too many mbufs. */
int mdv_dm_attach(struct rte_pmd_mlx5dv_dm *dm, size_t offset, uint16_t len, struct rte_mbuf *mbuf);

#endif /* MDV_DM_H */
