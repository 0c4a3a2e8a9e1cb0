/* SPDX-License-Identifier: BSD-3-Clause */
/* The send burst with vectors of 128 bits, SSE4.2 or Neon, which every supported CPU has. */
#include "tx_burst.h"

MDV_TX_OPTS_PLAIN(MDV_TX_INSTANCE_VEC, tx_vec128)
MDV_TX_OPTS_SWP(MDV_TX_INSTANCE_VEC, tx_vec128)
MDV_TX_OPTS_COPY(MDV_TX_INSTANCE_VEC, tx_vec128)

const eth_tx_burst_t mdv_tx_vec128[MDV_TX_NB_OPTS] = { MDV_TX_OPTS_PLAIN(MDV_TX_ROW, tx_vec128)
		MDV_TX_OPTS_SWP(MDV_TX_ROW, tx_vec128) MDV_TX_OPTS_COPY(MDV_TX_ROW, tx_vec128) };
