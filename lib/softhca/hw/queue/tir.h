/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Receive destinations: TIR and indirection table. */
#ifndef SHCA_HW_QUEUE_TIR_H
#define SHCA_HW_QUEUE_TIR_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/state/attr.h"

struct shca_device;
struct shca_dump_tir;
struct shca_packet;
struct shca_tir;

/** @{ For the owners. */
/** @param rqs 2^n receive queues, repeats allowed; copied. */
int shca_rqt_create(struct shca_device *dev, struct shca_rq *const *rqs, uint32_t nb_rqs,
	struct shca_rqt **rqt);
void shca_rqt_destroy(struct shca_rqt *rqt);
uint32_t shca_rqt_number(const struct shca_rqt *rqt);
uint32_t shca_rqt_size(const struct shca_rqt *rqt);

int shca_tir_create(
	struct shca_device *dev, const struct shca_tir_attr *attr, struct shca_tir **tir);
void shca_tir_destroy(struct shca_tir *tir);
/** Describe the TIR @p tir for dumps and traces (steering/dump.h). */
void shca_tir_describe(
	const void *tir, const struct shca_packet *packet, struct shca_dump_tir *description);
/** @} */

/** @return the queue that takes @p packet, with the hash and its type. */
struct shca_rq *shca_tir_choose(const struct shca_tir *tir, const struct shca_packet *packet,
	uint32_t *hash, uint8_t *type);

#endif /* SHCA_HW_QUEUE_TIR_H */
