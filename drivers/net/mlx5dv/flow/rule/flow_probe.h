/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What no verbs query tells of steering, asked by trial rules: how many priorities there are, and
 * what not every device and kernel can match.
 *
 * A trial matches MAC addresses that no frame carries, and is gone at once, so that a port which
 * the kernel uses as well loses nothing meanwhile.
 */
#ifndef MDV_FLOW_PROBE_H
#define MDV_FLOW_PROBE_H

#include <stdint.h>

struct mdv_port;

/** Fill in port->flow->nb_priorities and features. @return 0 or a negative errno: no rule at all */
int mdv_flow_probe(struct mdv_port *port);

#endif /* MDV_FLOW_PROBE_H */
