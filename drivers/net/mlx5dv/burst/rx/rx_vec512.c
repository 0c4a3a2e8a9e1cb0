/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive burst by eights; meson.build requests AVX-512 with VBMI for this file alone.
 * Timestamps and packets in several mbufs are written one by one, so narrower vectors handle
 * them. */
#include "rx_eight.h"

#include "rx_burst.h"

#define BURST(name, opts) MDV_RX_INSTANCE(name, opts, true)
MDV_RX_AND_MARK(BURST, rx_vec512, 0)

const eth_rx_burst_t mdv_rx_vec512[] = { MDV_RX_AND_MARK(MDV_RX_ROW, rx_vec512, 0) };
