/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Ports of port spaces, and the device's port that an address belongs to. */
#ifndef SHCA_UCMA_BIND_H
#define SHCA_UCMA_BIND_H

#include "ucma/id.h"

/** @return 0, or -EAFNOSUPPORT, -EINVAL, -EADDRNOTAVAIL, -ENODEV (nobody's here or no port of
 * ours), -EADDRINUSE, or -EADDRNOTAVAIL where an identifier is for any address, -EACCES,
 * -EPROTONOSUPPORT (rdma_bind_addr()). */
int shca_bind_address(struct shca_id *id, const struct shca_address *address);
/** @return 0, or -EADDRINUSE, -EADDRNOTAVAIL: another one has its port, though it may be reused. */
int shca_bind_alone(const struct shca_id *id);
/** Bind the identifier to the port that has this entry. */
void shca_bind_gid(struct shca_id *id, const struct shca_ucma_gid *gid);
/** Find the GID of a path: its port, its version. @return whether there is one. */
bool shca_bind_find_path(
	struct shca_ucma *ucma, const struct shca_cm_path *path, struct shca_ucma_gid *out);
/** Resolve and bind to @p dst, which has a family (rdma_resolve_addr()). @param src family 0: none
 * @return 0, when an event tells the result, or -EINVAL, -ENETUNREACH and what else Linux says of
 * a route, or as shca_bind_address() */
int shca_bind_resolve(struct shca_id *id, const struct shca_address *src,
	const struct shca_address *dst, uint32_t timeout_ms);
/** Look again for other sides that Linux asks for. @return when to do so next. */
uint64_t shca_bind_step(struct shca_ucma *ucma, uint64_t now);
/** @return the port space that an identifier's port is of. */
uint16_t shca_bind_space(const struct shca_id *id);
/** @return the service ID that it connects to, or listens at. */
uint64_t shca_bind_service(const struct shca_id *id, const struct shca_address *address);

#endif /* SHCA_UCMA_BIND_H */
