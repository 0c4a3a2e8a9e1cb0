/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive burst by eights: AVX-512 with VBMI, asked for by meson.build for this file alone.
 * Timestamps and packets in several mbufs, which are written one by one, are left to narrower
 * vectors. */
#include "rx_eight.h"

#include "rx_burst.h"

#define BURST(name, opts) MDV_RX_INSTANCE(name, opts, true)
MDV_RX_AND_MARK(BURST, rx_vec512, 0)

const eth_rx_burst_t mdv_rx_vec512[] = { MDV_RX_AND_MARK(MDV_RX_ROW, rx_vec512, 0) };
