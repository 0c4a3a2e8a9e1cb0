/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The primary process tells the secondary ones when queues come and go.
 */
#ifndef MDV_PRIMARY_H
#define MDV_PRIMARY_H

struct mdv_port;

/** The queues are what they will be: the port is started. */
void mdv_primary_start(struct mdv_port *port);
/** Send queues of a running port have others now. */
void mdv_primary_doorbells(struct mdv_port *port);
/** The same, by a caller that holds the port (port_list.h). */
void mdv_primary_tell_doorbells(const struct mdv_port *port);
/** Before any queue goes: nobody polls them any more when this returns, or did so already. */
void mdv_primary_stop(struct mdv_port *port);
/** The port is closed. */
void mdv_primary_close(struct mdv_port *port);

#endif /* MDV_PRIMARY_H */
