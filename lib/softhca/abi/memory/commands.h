/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The commands of this room, each in the file of its object. */
#ifndef SHCA_ABI_MEMORY_COMMANDS_H
#define SHCA_ABI_MEMORY_COMMANDS_H

#include "abi/core/command.h"

int shca_pd_write_alloc(struct shca_write *write);
int shca_mr_write_reg(struct shca_write *write);
int shca_mr_write_rereg(struct shca_write *write);
int shca_mw_write_alloc(struct shca_write *write);
int shca_xrcd_write_open(struct shca_write *write);

#endif /* SHCA_ABI_MEMORY_COMMANDS_H */
