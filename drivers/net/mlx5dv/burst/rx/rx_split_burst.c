/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive burst for queues that split packets by lengths (queue/rx/rx_split.h). A file of its
 * own, for what all instances of a file share would otherwise ask for it. Segments are chained one
 * by one, so there are no vectors. */
#include "rx_burst.h"

#define BURST(name, opts) MDV_RX_INSTANCE(name, opts, false)
MDV_RX_OPTS_SPLIT(BURST, rx_scalar)

/* clang-format off */
#define ROW(name, opts) [(opts) & ~(MDV_RX_SCATTER | MDV_RX_SPLIT)] = name,
const eth_rx_burst_t mdv_rx_split_burst[MDV_RX_NB_OPTS_SPLIT] = { MDV_RX_OPTS_SPLIT(ROW, rx_scalar) };
/* clang-format on */
