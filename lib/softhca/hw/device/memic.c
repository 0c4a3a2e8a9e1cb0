/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages of the device memory: a bit each. */
#include "hw/device/memic.h"

#include <errno.h>

#include "config/model.h"
#include "hw/state/device.h"

#define MOST_PAGES 64

static uint64_t
pages_mask(uint32_t first, uint32_t nb_pages)
{
	return (nb_pages == MOST_PAGES ? UINT64_MAX : (1ULL << nb_pages) - 1) << first;
}

int
shca_memic_take(struct shca_device *dev, uint32_t nb_pages, uint32_t *first)
{
	uint32_t most = dev->conf.model->max_dm_bytes / SHCA_MEMIC_PAGE_BYTES;

	if (most > MOST_PAGES)
		most = MOST_PAGES;
	for (uint32_t at = 0; nb_pages != 0 && nb_pages <= most && at <= most - nb_pages; at++) {
		if (dev->memic_pages & pages_mask(at, nb_pages))
			continue;
		dev->memic_pages |= pages_mask(at, nb_pages);
		*first = at;
		return 0;
	}
	return -ENOMEM;
}

void
shca_memic_give(struct shca_device *dev, uint32_t first, uint32_t nb_pages)
{
	dev->memic_pages &= ~pages_mask(first, nb_pages);
}
