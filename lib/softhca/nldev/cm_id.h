/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The command RES_CM_ID: identifiers of connections, which are the manager's and no
 * context's. */
#ifndef SHCA_NLDEV_CM_ID_H
#define SHCA_NLDEV_CM_ID_H

#include <stddef.h>

struct shca_nldev_call;

/** @return how many there are at a device. */
size_t shca_nldev_cm_id_count(const struct shca_nldev_call *call, unsigned int device);
/** As struct shca_nldev_command's. */
int shca_nldev_cm_id_doit(struct shca_nldev_call *call);
int shca_nldev_cm_id_dump(struct shca_nldev_call *call, unsigned int index);

#endif /* SHCA_NLDEV_CM_ID_H */
