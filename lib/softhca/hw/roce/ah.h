/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Address handles, as far as the device knows of them: a WQE has a copy of the address, which does
 * not say of which protection domain it is. A strict device looks for it here.
 */
#ifndef SHCA_HW_ROCE_AH_H
#define SHCA_HW_ROCE_AH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct shca_device;
struct shca_gid_route;

/** The owner's memory. */
struct shca_ah {
	LIST_ENTRY(shca_ah) link;
	uint32_t pdn;
	uint8_t dgid[16];
	uint8_t sgid_index;
};

/** The device lock is held, here and below. */
void shca_ah_add(struct shca_device *dev, struct shca_ah *ah);
void shca_ah_remove(struct shca_ah *ah);
/** @return whether handles of that address are there, and none of domain @p pdn. */
bool shca_ah_is_of_another(
	const struct shca_device *dev, uint32_t pdn, const struct shca_gid_route *route);

#endif /* SHCA_HW_ROCE_AH_H */
