/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The objects of all contexts of a device, as the kernel tracks them (core/restrack.c). */
#ifndef SHCA_ABI_ENTRY_RESTRACK_H
#define SHCA_ABI_ENTRY_RESTRACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hw/roce/roce_qp.h"

struct shca_device;

/** enum rdma_restrack_type; of the other types there are no objects here. */
enum shca_restrack_type {
	SHCA_RESTRACK_PD,
	SHCA_RESTRACK_CQ,
	SHCA_RESTRACK_QP,
	SHCA_RESTRACK_MR,
	SHCA_RESTRACK_SRQ,
	SHCA_RESTRACK_CTX,
	SHCA_RESTRACK_NB,
};

/** Members of other types are 0. */
struct shca_restrack {
	uint32_t id; /**< the type's own numbers on the device; of a QP what verbs tells */
	uint32_t ctxn, pdn;
	uint32_t srqn; /**< of a QP: its SRQ, or 0 */
	uint32_t cqn;  /**< of an XRC SRQ, or 0 */
	pid_t pid;     /**< of the process that opened the context */
	uint32_t nb_users;
	uint32_t cqe;    /**< of a CQ, as its creation answers */
	uint32_t key;    /**< lkey and rkey */
	uint64_t length; /**< bytes of an MR */
	uint8_t qp_type, qp_state, port;
	uint8_t path_mig_state;        /**< of a QP with a transport, as the next ones */
	uint32_t rqpn, sq_psn, rq_psn; /**< the other side's number */
	struct shca_qp_counts counts;  /**< of a QP */
	uint64_t serial;               /**< of a QP, which no other of the process ever has */
	/** Of a QP that has left RESET: which it was of the process's to do so, from 1 on, and
	 * counts then. */
	uint64_t init_serial;
	struct shca_qp_counts init_counts;
};

/**
 * List the objects of a type; old objects of a context come first. Takes the device lock, once.
 * @param[out] objects to be freed; NULL: there are none @return 0 or -ENOMEM
 */
int shca_restrack_list(struct shca_device *dev, enum shca_restrack_type type,
	struct shca_restrack **objects, size_t *nb);
/** @return what a QP has counted by mlx5's name; 0: it does not count such things. */
uint64_t shca_restrack_count(const struct shca_qp_counts *counts, const char *name);
/** @return init_serial of the last QP of the process that left RESET; 0: none has. */
uint64_t shca_restrack_init_serial(void);

#endif /* SHCA_ABI_ENTRY_RESTRACK_H */
