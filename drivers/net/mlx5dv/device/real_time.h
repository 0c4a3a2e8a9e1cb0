/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * By which clock completions are stamped: the counter, or the device's real-time clock.
 */
#ifndef MDV_REAL_TIME_H
#define MDV_REAL_TIME_H

#include <stdbool.h>

struct ibv_context;
struct ibv_pd;

/**
 * Find out by a trial queue whether the device stamps by its real-time clock alone.
 * @return 0, or a negative errno if the trial was inconclusive
 */
int mdv_real_time_try(struct ibv_context *ctx, struct ibv_pd *pd, bool *is_only);

#endif /* MDV_REAL_TIME_H */
