/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Commands of the write interface, which is older than ioctl's: by write(2), or by method
 * INVOKE_WRITE.
 */
#ifndef SHCA_ABI_ENTRY_WRITE_H
#define SHCA_ABI_ENTRY_WRITE_H

#include "abi/core/ioctl.h"

/** The method that carries a command, INVOKE_WRITE; ended by one without rows. */
extern const struct shca_method shca_write_methods[];
/** Check the headers at @p bytes and run their command; the device lock is held. */
int shca_write_run(struct shca_file *file, const void *bytes, size_t length);

#endif /* SHCA_ABI_ENTRY_WRITE_H */
