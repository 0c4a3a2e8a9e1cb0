/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A request of RDMA_NL_NLDEV with the answer in the making, and what most answers begin
 * with. */
#ifndef SHCA_NLDEV_CALL_H
#define SHCA_NLDEV_CALL_H

#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include "nldev/nldev.h"

/** Bytes that one message of an answer may have. */
#define SHCA_NLDEV_MESSAGE_MAX 2048

struct shca_nldev_call {
	const struct shca_nldev *nldev;
	const struct nlmsghdr *request;
	const struct nlattr *attrs[RDMA_NLDEV_ATTR_MAX]; /**< of the request; NULL: not there */
	struct nlmsghdr *message; /**< room for SHCA_NLDEV_MESSAGE_MAX bytes; begun */
	/** What the answer is about, of one moment; freed with the call. */
	struct shca_restrack *objects;
	size_t nb_objects;
	struct shca_restrack *qps; /**< of SRQs: queue pairs by number */
	size_t nb_qps;
	struct shca_ucma_tracked *cm_ids; /**< of RES_CM_ID, in the place of objects */
	size_t nb_cm_ids;
};

/** @return how many ports a device has. */
unsigned int shca_nldev_nb_ports(const struct shca_nldev_call *call, unsigned int device);
/** Find the device that DEV_INDEX names. @return 0 or -EINVAL. */
int shca_nldev_find_device(const struct shca_nldev_call *call, unsigned int *device);
/** Check PORT_INDEX, if it is there. @return 0 or -EINVAL. */
int shca_nldev_check_port(const struct shca_nldev_call *call, unsigned int device);
/** Find the device and the port of a request about one object. @param port out: 0 if it is the
 * device's, not a port's @return 0 or -EINVAL */
int shca_nldev_find_place(
	const struct shca_nldev_call *call, bool is_of_port, unsigned int *device, uint32_t *port);
/** Put index and name of a device. */
void shca_nldev_put_handle(struct nlmsghdr *message, unsigned int device);

#endif /* SHCA_NLDEV_CALL_H */
