/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The table of a port's GIDs. */
#ifndef SHCA_HW_STATE_GID_H
#define SHCA_HW_STATE_GID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/node.h"

#define SHCA_NB_GIDS      SHCA_NODE_NB_GIDS
#define SHCA_GID_BYTES    SHCA_NODE_GID_BYTES
#define SHCA_NB_GID_PAIRS (SHCA_NB_GIDS / 2)

struct shca_gids {
	bool is_short; /**< the netdev has more addresses */
	struct {
		bool is_used;
		uint8_t gid[SHCA_GID_BYTES];
	} pair[SHCA_NB_GID_PAIRS];
};

#endif /* SHCA_HW_STATE_GID_H */
