/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * mode=auto|dv|ibv: the device's rings are read and written by the bursts, or by verbs.
 */
#ifndef MDV_MODE_H
#define MDV_MODE_H

#include "devargs.h"

struct ibv_context;

/**
 * Choose the mode by the arguments and the device, and log the reason at info level.
 * @param name of the device, for messages
 * @param[out] mode MDV_MODE_DV or MDV_MODE_IBV
 * @return 0, -ENOTSUP if the arguments demand direct verbs and the device has none, or another
 * negative errno if the trial was inconclusive; logged.
 */
int mdv_mode_choose(
	enum mdv_mode wanted, struct ibv_context *ctx, const char *name, enum mdv_mode *mode);

#endif /* MDV_MODE_H */
