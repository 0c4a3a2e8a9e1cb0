/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The commands of the write interface, each in the file of its object. */
#ifndef SHCA_ABI_OBJECT_COMMANDS_H
#define SHCA_ABI_OBJECT_COMMANDS_H

#include "abi/core/command.h"

int shca_device_write_query(struct shca_write *write);
int shca_device_write_query_port(struct shca_write *write);
int shca_device_write_query_ex(struct shca_write *write);
int shca_ah_write_create(struct shca_write *write);
int shca_comp_channel_write_create(struct shca_write *write);
int shca_cq_write_resize(struct shca_write *write);
int shca_cq_write_modify(struct shca_write *write);
int shca_qp_write_attach_mcast(struct shca_write *write);
int shca_qp_write_detach_mcast(struct shca_write *write);
int shca_qp_write_open(struct shca_write *write);
int shca_qp_write_query(struct shca_write *write);
int shca_qp_write_modify(struct shca_write *write);
int shca_qp_write_modify_ex(struct shca_write *write);
int shca_srq_write_modify(struct shca_write *write);
int shca_srq_write_query(struct shca_write *write);
int shca_wq_write_modify(struct shca_write *write);
int shca_rwq_ind_write_create(struct shca_write *write);
int shca_flow_write_create(struct shca_write *write);

/** @return shca_qp_object.init_serial of the last QP of the process that got to INIT. */
uint64_t shca_qp_last_init(void);
/** Get what the QP has counted. */
void shca_qp_counts(const struct shca_qp_object *qp, struct shca_qp_counts *counts);
/** @return 0 or -EINVAL: a device has one port. */
int shca_qp_check_port(const struct shca_file *file, uint32_t handle, uint8_t port);

#endif /* SHCA_ABI_OBJECT_COMMANDS_H */
