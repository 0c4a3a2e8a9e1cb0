/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Connections of identifiers: what applications ask for, and what the CM tells. */
#ifndef SHCA_UCMA_CONNECT_H
#define SHCA_UCMA_CONNECT_H

#include "ucma/id.h"

/** @{ @return 0 or a negative errno, as the functions of core/cma.c. */
int shca_connect(struct shca_id *id, const struct rdma_ucm_conn_param *param);
/** @param param NULL: of an active side that has the response (rdma_establish()) */
int shca_connect_accept(struct shca_id *id, const struct rdma_ucm_conn_param *param);
int shca_connect_reject(struct shca_id *id, const struct rdma_ucm_reject *command);
int shca_connect_disconnect(struct shca_id *id);
int shca_connect_listen(struct shca_id *id, unsigned int backlog);
/** @} */
/** @return the type of queue pairs that a REQ asks for, of this side; 0: of no type. */
uint8_t shca_connect_type_asked(const struct shca_mad *req);
/** @{ For the CM: see struct shca_cm_ops; arg is the manager. */
void *shca_connect_on_request(
	void *arg, struct shca_cm_conn *conn, const struct shca_mad *mad, uint16_t *reason);
void shca_connect_on_event(
	void *arg, void *owner, enum shca_cm_happening what, const struct shca_mad *mad);
/** @} */
/** Write what a queue pair has to be set to for @p state. @return 0 or -EINVAL. */
int shca_connect_qp_attr(struct shca_id *id, uint32_t state, struct ib_uverbs_qp_attr *attr);
/** Write the way to the other side. */
void shca_connect_way(const struct shca_id *id, const uint8_t remote[SHCA_UCMA_GID_BYTES],
	struct ib_uverbs_ah_attr *ah);
/**
 * @param delay of the side that answers packets
 * @return the ACK timeout that its queue pairs have (core/cm.c cm_ack_timeout()).
 */
uint8_t shca_connect_ack_timeout(const struct shca_id *id, uint8_t delay);
/** Fix the way to the other side, whose address is known (cma_resolve_iboe_route()). */
void shca_connect_resolve_path(struct shca_id *id);

#endif /* SHCA_UCMA_CONNECT_H */
