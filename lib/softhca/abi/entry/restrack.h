/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The objects of all contexts of a device, as the kernel tracks them (core/restrack.c). */
#ifndef SHCA_ABI_ENTRY_RESTRACK_H
#define SHCA_ABI_ENTRY_RESTRACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
	uint32_t cqes;
	uint32_t key;    /**< lkey and rkey */
	uint64_t length; /**< bytes of an MR */
	uint8_t qp_type, qp_state, port;
	uint8_t path_mig_state;        /**< of a QP with a transport, as the next ones */
	uint32_t rqpn, sq_psn, rq_psn; /**< the other side's number */
	uint64_t out_of_buffer;        /**< of a QP: packets that found no receive WQE */
	uint64_t serial;               /**< of a QP, which no other of the process ever has */
	/** Of a QP that has left RESET: which it was of the process's to do so, from 1 on, and
	 * out_of_buffer then. */
	uint64_t init_serial, init_out_of_buffer;
};

/**
 * List the objects of a type; old objects of a context come first. Takes the device lock, once.
 * @param[out] objects to be freed; NULL: there are none @return 0 or -ENOMEM
 */
int shca_restrack_list(struct shca_device *dev, enum shca_restrack_type type,
	struct shca_restrack **objects, size_t *nb);
/** @return init_serial of the last QP of the process that left RESET; 0: none has. */
uint64_t shca_restrack_init_serial(void);

#endif /* SHCA_ABI_ENTRY_RESTRACK_H */
