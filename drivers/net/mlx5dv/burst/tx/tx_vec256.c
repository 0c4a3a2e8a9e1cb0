/* SPDX-License-Identifier: BSD-3-Clause */
/* The send burst with vectors of 256 bits; meson.build requests AVX2 for this file alone. */
#include "tx_burst.h"

MDV_TX_OPTS_PLAIN(MDV_TX_INSTANCE_VEC, tx_vec256)
MDV_TX_OPTS_SWP(MDV_TX_INSTANCE_VEC, tx_vec256)
MDV_TX_OPTS_COPY(MDV_TX_INSTANCE_VEC, tx_vec256)

const eth_tx_burst_t mdv_tx_vec256[MDV_TX_NB_OPTS] = { MDV_TX_OPTS_PLAIN(MDV_TX_ROW, tx_vec256)
		MDV_TX_OPTS_SWP(MDV_TX_ROW, tx_vec256) MDV_TX_OPTS_COPY(MDV_TX_ROW, tx_vec256) };
