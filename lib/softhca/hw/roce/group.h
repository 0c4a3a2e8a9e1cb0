/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Multicast groups, by their GIDs, and the UD queue pairs in them (IBTA 10.5). */
#ifndef SHCA_HW_ROCE_GROUP_H
#define SHCA_HW_ROCE_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/packet/roce.h"

struct shca_device;
struct shca_roce_qp;

/** Queue pairs of a group, and groups of a device (ibv_devinfo -v of a ConnectX-5). */
#define SHCA_GROUP_QPS 240
#define SHCA_NB_GROUPS 2097152

/** @return whether a GID is a group's (Linux rdma_is_multicast_addr()). */
static inline bool
shca_group_is(const uint8_t gid[16])
{
	return gid[0] == 0xff || (shca_roce_is_ipv4(gid) && gid[12] >> 4 == 0xe);
}

/** Once more is no error. @param nb_groups of the queue pair, which increases if the group is a new
 * one @return 0, -ENOMEM (also: the group is full). */
int shca_group_attach(struct shca_roce_qp *qp, const uint8_t gid[16], uint32_t *nb_groups);
/** @return 0 or -EINVAL: it is not in the group. */
int shca_group_detach(struct shca_roce_qp *qp, const uint8_t gid[16]);
/** @return of how many */
unsigned int shca_group_detach_all(struct shca_roce_qp *qp);

#endif /* SHCA_HW_ROCE_GROUP_H */
