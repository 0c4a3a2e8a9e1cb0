/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Commands below /mlx5dv/ of DPDK's telemetry: the process's ports, their queues, rules, memory.
 *
 * A command runs in a thread of telemetry's, at any time. So a port is shown from
 * mdv_telemetry_add() to mdv_telemetry_remove(), which waits for who looks at it, and of a port
 * only what has a lock, or is a number for anybody to read.
 */
#ifndef MDV_TELEMETRY_H
#define MDV_TELEMETRY_H

struct mdv_port;

/** The port is whole. */
void mdv_telemetry_add(struct mdv_port *port);
/** Before anything of it goes; nothing, if it is not there. The caller holds none of its locks. */
void mdv_telemetry_remove(struct mdv_port *port);

#endif /* MDV_TELEMETRY_H */
