/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packets that are copied into send WQEs (tx_inline=N|auto): whether, up to which length, and the
 * larger rings that they need.
 */
#ifndef MDV_TX_INLINE_H
#define MDV_TX_INLINE_H

#include <stdint.h>

#include <rte_common.h>

#include "tx_wqe.h"

struct mdv_port;

/**
 * @return log2 of the WQEBBs of a packet with up to @p inline_max bytes inlined, in a WQE of its
 * own; 0: no packets are inlined. A ring has so many WQEBBs for each descriptor.
 */
static __rte_always_inline uint32_t
mdv_tx_inline_log2_bbs(uint32_t inline_max)
{
	const uint32_t ds = MDV_TX_WQE_DS_HEAD + mdv_tx_wqe_ds_data(inline_max);

	return inline_max == 0 ? 0 : rte_log2_u32(mdv_tx_wqe_bbs(ds));
}

/**
 * Choose what the port's queues inline, before they are created: by tx_inline=, and with auto by
 * the device, its PCI and the number of queues; the reason is logged.
 */
void mdv_tx_inline_choose(struct mdv_port *port);

#endif /* MDV_TX_INLINE_H */
