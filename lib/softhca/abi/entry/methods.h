/* SPDX-License-Identifier: BSD-3-Clause */
/** @file All methods of the ioctl interface, by object. */
#ifndef SHCA_ABI_ENTRY_METHODS_H
#define SHCA_ABI_ENTRY_METHODS_H

#include "abi/core/ioctl.h"

#define SHCA_METHODS_NB_OBJECTS 21
/** Ended by an object without methods. */
extern const struct shca_object_methods shca_methods_objects[SHCA_METHODS_NB_OBJECTS + 1];

#endif /* SHCA_ABI_ENTRY_METHODS_H */
