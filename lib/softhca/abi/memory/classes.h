/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The classes of this room's objects, for those who find or use one. */
#ifndef SHCA_ABI_MEMORY_CLASSES_H
#define SHCA_ABI_MEMORY_CLASSES_H

#include "abi/core/object.h"

extern const struct shca_object_class shca_pd_class, shca_mr_class, shca_dm_class, shca_xrcd_class,
	shca_mw_class;

#endif /* SHCA_ABI_MEMORY_CLASSES_H */
