/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mode=ibv: the receive burst around one that reads rings. */
#ifndef MDV_RX_IBV_BURST_H
#define MDV_RX_IBV_BURST_H

#include <stdint.h>

struct mdv_rxq;
struct rte_mbuf;

/** Choose the burst that reads the rings of a queue in this mode, before it is polled. */
void mdv_rx_ibv_burst_select(struct mdv_rxq *rxq);
/** The burst function of each port in this mode. */
uint16_t mdv_rx_ibv_burst(void *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts);

#endif /* MDV_RX_IBV_BURST_H */
