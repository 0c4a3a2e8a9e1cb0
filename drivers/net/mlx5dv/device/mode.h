/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * mode=auto|dv|ibv: whether bursts read and write the device's own rings, or verbs does.
 */
#ifndef MDV_MODE_H
#define MDV_MODE_H

#include "devargs.h"

struct ibv_context;

/**
 * Choose by what the arguments say and the device has; why is told at info level.
 * @param name of the device, for messages
 * @param[out] mode MDV_MODE_DV or MDV_MODE_IBV
 * @return 0, -ENOTSUP: direct verbs are demanded and not to be had, or another negative errno: this
 * cannot be found out now; logged.
 */
int mdv_mode_choose(
	enum mdv_mode wanted, struct ibv_context *ctx, const char *name, enum mdv_mode *mode);

#endif /* MDV_MODE_H */
