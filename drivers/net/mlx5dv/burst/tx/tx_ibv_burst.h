/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mode=ibv: the send burst around one that writes rings. */
#ifndef MDV_TX_IBV_BURST_H
#define MDV_TX_IBV_BURST_H

#include <stdint.h>

struct mdv_txq;
struct rte_mbuf;

/** Choose the burst that writes the ring of a queue in this mode, before it is polled. */
void mdv_tx_ibv_burst_select(struct mdv_txq *txq);
/** The burst function of each port in this mode. */
uint16_t mdv_tx_ibv_burst(void *txq, struct rte_mbuf **pkts, uint16_t nb_pkts);

#endif /* MDV_TX_IBV_BURST_H */
