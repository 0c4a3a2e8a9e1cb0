/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The methods of this room's objects; ended by a method without rows. */
#ifndef SHCA_ABI_MEMORY_METHODS_H
#define SHCA_ABI_MEMORY_METHODS_H

#include "abi/core/ioctl.h"

extern const struct shca_method shca_pd_methods[], shca_mr_methods[], shca_dm_methods[],
	shca_xrcd_methods[], shca_mw_methods[];

#endif /* SHCA_ABI_MEMORY_METHODS_H */
