/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The ports of this process by number, for those who come from elsewhere at any time: telemetry's
 * threads, other processes.
 */
#ifndef MDV_PORT_LIST_H
#define MDV_PORT_LIST_H

#include <stdint.h>

struct mdv_port;

/** The port is whole. */
void mdv_port_list_add(struct mdv_port *port);
/** Before anything of it goes: waits for who holds it. Nothing, if it is not there. The caller
 * holds none of its locks. */
void mdv_port_list_remove(struct mdv_port *port);
/** @return the port, which stays until mdv_port_list_release(), or NULL: there is none, and
 * nothing to release. */
struct mdv_port *mdv_port_list_hold(uint32_t port_id);
void mdv_port_list_release(void);

#endif /* MDV_PORT_LIST_H */
