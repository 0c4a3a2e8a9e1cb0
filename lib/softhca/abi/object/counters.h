/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Counters objects, as flows use them. */
#ifndef SHCA_ABI_OBJECT_COUNTERS_H
#define SHCA_ABI_OBJECT_COUNTERS_H

#include <stdint.h>

struct shca_counters_object;

/**
 * Describe an object with the application's array of {description, index} at @p address;
 * @p nb_points 0: keep the earlier description.
 * @return 0, -EINVAL (described twice or not at all, unknown description), -EFAULT, -ENOMEM.
 */
int shca_counters_bind(struct shca_counters_object *counters, uint64_t address, uint32_t nb_points);
/** The last flow is gone: the next may give another description. The counter keeps its value. */
void shca_counters_unbind(struct shca_counters_object *counters);

#endif /* SHCA_ABI_OBJECT_COUNTERS_H */
