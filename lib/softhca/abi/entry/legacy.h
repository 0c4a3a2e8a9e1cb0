/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Legacy commands: commands of the write interface that the ioctl interface has methods for.
 */
#ifndef SHCA_ABI_ENTRY_LEGACY_H
#define SHCA_ABI_ENTRY_LEGACY_H

#include "abi/object/commands.h"

int shca_legacy_get_context(struct shca_write *write);
int shca_legacy_dealloc_pd(struct shca_write *write);
int shca_legacy_dereg_mr(struct shca_write *write);
int shca_legacy_create_cq(struct shca_write *write);
int shca_legacy_create_cq_ex(struct shca_write *write);
int shca_legacy_destroy_cq(struct shca_write *write);
int shca_legacy_create_qp(struct shca_write *write);
int shca_legacy_create_qp_ex(struct shca_write *write);
int shca_legacy_destroy_qp(struct shca_write *write);
int shca_legacy_destroy_ah(struct shca_write *write);
int shca_legacy_create_srq(struct shca_write *write);
int shca_legacy_dealloc_mw(struct shca_write *write);
int shca_legacy_create_xsrq(struct shca_write *write);
int shca_legacy_close_xrcd(struct shca_write *write);
int shca_legacy_destroy_srq(struct shca_write *write);
int shca_legacy_create_wq(struct shca_write *write);
int shca_legacy_destroy_wq(struct shca_write *write);
int shca_legacy_destroy_rwq_ind(struct shca_write *write);
int shca_legacy_destroy_flow(struct shca_write *write);

#endif /* SHCA_ABI_ENTRY_LEGACY_H */
