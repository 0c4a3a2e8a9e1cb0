/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The primary process tells the secondary ones when queues come and go.
 */
#ifndef MDV_PRIMARY_H
#define MDV_PRIMARY_H

#include <stdint.h>

struct mdv_port;

/** Call when all queues exist: the port is started. */
void mdv_primary_start(struct mdv_port *port);
/** Call when send queues of a running port have got other doorbells. */
void mdv_primary_doorbells(struct mdv_port *port);
/** The same for a port that may be stopped or closed meanwhile, with a descriptor of its device. */
void mdv_primary_tell_doorbells(uint16_t port_id, int device_fd);
/** Call before any queue is destroyed: when it returns, no secondary process polls them. */
void mdv_primary_stop(struct mdv_port *port);
/** Call when the port is being closed. */
void mdv_primary_close(struct mdv_port *port);

#endif /* MDV_PRIMARY_H */
