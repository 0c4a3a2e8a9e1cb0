/* SPDX-License-Identifier: BSD-3-Clause */
/* The send burst with vectors of 256 bits; meson.build requests AVX2 for this file alone. */
#if defined(__GNUC__) && !defined(__clang__)
/* GCC 12 keeps the two 16-bit positions of a burst in a vector, 10 instructions for what takes 2.
 */
#pragma GCC optimize("no-tree-slp-vectorize")
#endif
#include "tx_burst.h"

MDV_TX_OPTS_PLAIN(MDV_TX_INSTANCE_VEC, tx_vec256)
MDV_TX_OPTS_SWP(MDV_TX_INSTANCE_VEC, tx_vec256)
MDV_TX_OPTS_COPY(MDV_TX_INSTANCE_VEC, tx_vec256)

const eth_tx_burst_t mdv_tx_vec256[MDV_TX_NB_OPTS] = { MDV_TX_OPTS_PLAIN(MDV_TX_ROW, tx_vec256)
		MDV_TX_OPTS_SWP(MDV_TX_ROW, tx_vec256) MDV_TX_OPTS_COPY(MDV_TX_ROW, tx_vec256) };
