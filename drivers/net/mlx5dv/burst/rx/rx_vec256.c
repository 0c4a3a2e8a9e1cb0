/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive burst with vectors of 256 bits; meson.build requests AVX2 for this file alone. */
#include "rx_burst.h"

#define BURST(name, opts) MDV_RX_INSTANCE(name, opts, true)
MDV_RX_OPTS_PLAIN(BURST, rx_vec256)
MDV_RX_OPTS_SCATTER(BURST, rx_vec256)
MDV_RX_OPTS_STRIDE(BURST, rx_vec256)

const eth_rx_burst_t mdv_rx_vec256[] = { MDV_RX_OPTS_PLAIN(MDV_RX_ROW, rx_vec256)
		MDV_RX_OPTS_SCATTER(MDV_RX_ROW, rx_vec256)
			MDV_RX_OPTS_STRIDE(MDV_RX_ROW, rx_vec256) };
