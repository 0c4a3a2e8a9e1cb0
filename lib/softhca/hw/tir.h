/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Receive destinations: TIR and indirection table. Internal to hw/. */
#ifndef SHCA_HW_TIR_H
#define SHCA_HW_TIR_H

#include <stdint.h>

#include "hw/device.h"
#include "hw/rss.h"

struct shca_packet;

struct shca_rqt {
	struct shca_device *dev;
	uint32_t number;
	uint32_t nb_rqs; /**< power of two */
	struct shca_rq *rq[];
};

struct shca_tir {
	struct shca_device *dev;
	struct shca_tir_attr attr;
	uint32_t number;
	struct shca_rss rss;
};

/** @return the queue that takes @p packet, with the hash that chose it and the hash's type. */
struct shca_rq *shca_tir_choose(const struct shca_tir *tir, const struct shca_packet *packet,
	uint32_t *hash, uint8_t *type);

#endif /* SHCA_HW_TIR_H */
