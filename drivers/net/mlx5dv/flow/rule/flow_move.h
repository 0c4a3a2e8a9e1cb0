/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Moves rules, the application's and the default ones, to make room for others. */
#ifndef MDV_FLOW_MOVE_H
#define MDV_FLOW_MOVE_H

#include <stdint.h>

struct mdv_flow_shape;

/**
 * For mdv_flow_level_init(); @p context is the port.
 * @return 0, or a negative errno: all rules are where they were
 */
int mdv_flow_move(void *context, const struct mdv_flow_shape *shape, uint8_t level);

#endif /* MDV_FLOW_MOVE_H */
