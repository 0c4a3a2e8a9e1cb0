/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Trial rules find out the steering capabilities that no verbs query reports: the number of
 * priorities, and the matches that not every device and kernel supports.
 *
 * A trial rule matches MAC addresses that no frame carries, and goes at once: a port that the
 * kernel uses as well loses no packet meanwhile.
 */
#ifndef MDV_FLOW_PROBE_H
#define MDV_FLOW_PROBE_H

#include <stdint.h>

struct mdv_port;

/**
 * Fill in port->flow->nb_priorities and features.
 * @return 0, or a negative errno: the device took no rule at all
 */
int mdv_flow_probe(struct mdv_port *port);

#endif /* MDV_FLOW_PROBE_H */
