/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A device's table of packet pacing entries (drivers/net/ethernet/mellanox/mlx5/core/rl.c). A
 * second user of the same limit gets the same entry, unless it asks for one of its own. Pure.
 */
#ifndef SHCA_HW_STATE_RATE_H
#define SHCA_HW_STATE_RATE_H

#include <stdbool.h>
#include <stdint.h>

/** PRM set_pp_rate_limit_context: the rate in kb/s, big-endian, and the other parameters of a
 * limit.
 */
#define SHCA_RATE_BYTES 48
/** Entry 0 is for queues without a limit. */
#define SHCA_RATE_LAST 127

struct shca_rates {
	struct {
		uint8_t limit[SHCA_RATE_BYTES];
		uint16_t uid; /**< the DevX context's */
		bool is_dedicated;
		uint32_t nb_users; /**< 0: the entry is free */
	} entry[SHCA_RATE_LAST + 1];
};

/** @return 0, -ENOSPC (no entry is free). */
int shca_rate_add(struct shca_rates *rates, const uint8_t *limit, uint16_t uid, bool is_dedicated,
	uint16_t *index);
void shca_rate_remove(struct shca_rates *rates, uint16_t index);

#endif /* SHCA_HW_STATE_RATE_H */
