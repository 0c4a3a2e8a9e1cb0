/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Receive destinations: TIR and indirection table. Internal to hw/. */
#ifndef SHCA_HW_STATE_TIR_H
#define SHCA_HW_STATE_TIR_H

#include <stdint.h>

#include "hw/format/rss.h"
#include "hw/state/attr.h"

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

#endif /* SHCA_HW_STATE_TIR_H */
