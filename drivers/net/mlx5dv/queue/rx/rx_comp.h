/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Decides whether completions of received packets are compressed, with the reason if not. */
#ifndef MDV_RX_COMP_H
#define MDV_RX_COMP_H

#include <stdint.h>

struct mdv_port;

/**
 * Choose the format of the CQs of the port's Rx queues, by its configuration.
 * @param why text for a log: the format, or the reason against it
 * @return enum mlx5dv_cqe_comp_res_format, 0: not compressed
 */
uint32_t mdv_rx_comp_choose(const struct mdv_port *port, const char **why);

#endif /* MDV_RX_COMP_H */
