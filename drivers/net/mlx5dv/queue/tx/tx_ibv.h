/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * mode=ibv: a send queue whose rings verbs empties and fills instead of the device.
 *
 *     packets ──> the burst ──> WQEs ──> ibv_wr_*()         completions ──> CQEs ──> the next burst
 *                 tx_burst.h             here               cq_ibv
 *
 * The driver allocates the ring, in the device's format; [ibv.posted, pc) waits to be posted by
 * verbs. Verbs cannot insert VLAN tags, so the burst writes the tag into the WQE with the L2
 * header, as for devices that need inlined headers; verbs then takes those bytes from the ring.
 */
#ifndef MDV_TX_IBV_H
#define MDV_TX_IBV_H

#include <stdint.h>

struct ibv_qp_init_attr_ex;
struct mdv_txq;

/** Segments of a packet, beside the L2 header, and of a WQE. */
#define MDV_TX_IBV_SEGS 15u
#define MDV_TX_IBV_SGES (MDV_TX_IBV_SEGS + 1)
/** WQEBBs of the largest WQE that verbs reserves: so many SGEs, and headers for TSO. */
#define MDV_TX_IBV_BBS 8u

/** Set attributes that only a QP driven by verbs needs. */
void mdv_tx_ibv_qp_attr(const struct mdv_txq *txq, struct ibv_qp_init_attr_ex *attr);
/** Make the ring of a queue that has its QP. @return 0 or a negative errno,
 * logged. */
int mdv_tx_ibv_attach(struct mdv_txq *txq);
/** Free the ring of a queue whose QP has been destroyed; it may have none. */
void mdv_tx_ibv_detach(struct mdv_txq *txq);

#endif /* MDV_TX_IBV_H */
