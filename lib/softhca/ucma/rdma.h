/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The manager of a set of devices, and its thread: what their ports' GIDs are, and the way of its
 * datagrams, which are those of QP1.
 */
#ifndef SHCA_UCMA_RDMA_H
#define SHCA_UCMA_RDMA_H

#include <stdbool.h>

struct shca_device;
struct shca_rdma;
struct shca_ucma;

struct shca_rdma_conf {
	struct shca_device *const *devices;
	unsigned int nb_devices;
};

/** @return 0 or a negative errno. */
int shca_rdma_create(const struct shca_rdma_conf *conf, struct shca_rdma **rdma);
/** Stops the thread. NULL is allowed. */
void shca_rdma_destroy(struct shca_rdma *rdma);
/** Start / stop the thread, all signals blocked. Idempotent; NULL is allowed. @return 0 or a
 * negative errno. */
int shca_rdma_start(struct shca_rdma *rdma);
void shca_rdma_stop(struct shca_rdma *rdma);
bool shca_rdma_is_running(const struct shca_rdma *rdma);
struct shca_ucma *shca_rdma_ucma(const struct shca_rdma *rdma);

#endif /* SHCA_UCMA_RDMA_H */
