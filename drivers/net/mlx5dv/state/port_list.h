/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The ports of this process by number, for threads that may come at any time: those of telemetry
 * and of other processes' messages.
 */
#ifndef MDV_PORT_LIST_H
#define MDV_PORT_LIST_H

#include <stdint.h>

struct mdv_port;

/** Call when the port is complete. */
void mdv_port_list_add(struct mdv_port *port);
/** Call before any part of the port is freed: waits until no thread holds the port. Does nothing
 * for a port that is not in the list. The caller holds none of the port's locks. */
void mdv_port_list_remove(struct mdv_port *port);
/** @return the port, which stays in the list until mdv_port_list_release(); NULL: no such port, and
 * nothing to release. */
struct mdv_port *mdv_port_list_hold(uint32_t port_id);
void mdv_port_list_release(void);

#endif /* MDV_PORT_LIST_H */
