/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Queue pairs with a transport for the verbs programs: both ends at the rig's port. */
#ifndef TEST_VERBS_PAIR_H
#define TEST_VERBS_PAIR_H

#include "rig.h"

/** RoCE v2 of the MAC's link-local address. */
#define PAIR_GID 1
#define PAIR_KEY 0x11111111
/** What a connected queue pair allows unless a program says otherwise. */
#define PAIR_ACCESS                                                                                \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
		IBV_ACCESS_REMOTE_ATOMIC)

struct ibv_cq *pair_cq(void);
/** In RESET; @p srq may be NULL. */
struct ibv_qp *pair_qp(enum ibv_qp_type type, struct ibv_cq *cq, struct ibv_srq *srq);
/** @{ Attributes of a step, for programs that change one. @return the mask. */
int pair_init_attr(enum ibv_qp_type type, struct ibv_qp_attr *attr);
int pair_rtr_attr(enum ibv_qp_type type, uint32_t dest_qpn, struct ibv_qp_attr *attr);
int pair_rts_attr(enum ibv_qp_type type, struct ibv_qp_attr *attr);
/** @} */
/** RESET to RTS, to @p dest_qpn of this port (a UD queue pair does not care). */
void pair_start(struct ibv_qp *qp, uint32_t dest_qpn);
/** Start both, connected. */
void pair_connect(struct ibv_qp *one, struct ibv_qp *other);
void pair_to_state(struct ibv_qp *qp, enum ibv_qp_state state);
enum ibv_qp_state pair_state(struct ibv_qp *qp);
/** To this port. */
struct ibv_ah *pair_ah(void);
/** The rig's buffers once more, with these rights. */
struct ibv_mr *pair_mr(int access);

/** A signalled WR of one buffer; programs fill the rest. */
struct ibv_send_wr pair_wr(enum ibv_wr_opcode opcode, uint64_t id, struct ibv_sge *sge);
void pair_post(struct ibv_qp *qp, struct ibv_send_wr *wr);
void pair_receive(struct ibv_qp *qp, uint64_t id, struct ibv_sge *sge);
/** Wait for the next completion, and check its status. @return it */
struct ibv_wc pair_poll(struct ibv_cq *cq, enum ibv_wc_status status);
/** Wait for an asynchronous event, check its type, and acknowledge it. @return it */
struct ibv_async_event pair_event(enum ibv_event_type type);
/** @return whether an asynchronous event waits. */
bool pair_has_event(void);

#endif /* TEST_VERBS_PAIR_H */
