/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles: a list, which only a strict device walks. */
#include "hw/roce/ah.h"

#include <string.h>

#include "hw/roce/gid.h"
#include "hw/state/device.h"

void
shca_ah_add(struct shca_device *dev, struct shca_ah *ah)
{
	LIST_INSERT_HEAD(&dev->ahs, ah, link);
}

void
shca_ah_remove(struct shca_ah *ah)
{
	LIST_REMOVE(ah, link);
}

bool
shca_ah_is_of_another(
	const struct shca_device *dev, uint32_t pdn, const struct shca_gid_route *route)
{
	const struct shca_ah *ah;
	bool is_found = false;

	LIST_FOREACH (ah, &dev->ahs, link) {
		if (ah->sgid_index != route->sgid_index ||
			memcmp(ah->dgid, route->dgid, sizeof(ah->dgid)) != 0)
			continue;
		if (ah->pdn == pdn)
			return false;
		is_found = true;
	}
	return is_found;
}
