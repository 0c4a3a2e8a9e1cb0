/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet pacing entries, shared by users of equal limits. */
#include "hw/state/rate.h"

#include <errno.h>
#include <string.h>

/** find_rl_entry. @return the entry of the same limit, else the first free one, else 0. */
static uint16_t
find(const struct shca_rates *rates, const uint8_t *limit, uint16_t uid, bool is_dedicated)
{
	uint16_t vacant = 0;

	for (uint16_t i = SHCA_RATE_LAST; i != 0; i--) {
		if (rates->entry[i].nb_users == 0)
			vacant = i;
		else if (!is_dedicated && !rates->entry[i].is_dedicated &&
			rates->entry[i].uid == uid &&
			memcmp(rates->entry[i].limit, limit, SHCA_RATE_BYTES) == 0)
			return i;
	}
	return vacant;
}

int
shca_rate_add(struct shca_rates *rates, const uint8_t *limit, uint16_t uid, bool is_dedicated,
	uint16_t *index)
{
	*index = find(rates, limit, uid, is_dedicated);
	if (*index == 0)
		return -ENOSPC;
	if (rates->entry[*index].nb_users == 0) {
		memcpy(rates->entry[*index].limit, limit, SHCA_RATE_BYTES);
		rates->entry[*index].uid = uid;
		rates->entry[*index].is_dedicated = is_dedicated;
	}
	rates->entry[*index].nb_users++;
	return 0;
}

void
shca_rate_remove(struct shca_rates *rates, uint16_t index)
{
	rates->entry[index].nb_users--;
}
