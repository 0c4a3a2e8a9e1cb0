/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What the primary process does for the secondary ones: the verbs objects are its own, so it
 * registers memory, restarts queues and prints rules for them, and tells them when queues come and
 * go.
 */
#ifndef MDV_PRIMARY_H
#define MDV_PRIMARY_H

#include <stdbool.h>

struct mdv_port;

/** Of a port; survives its reset. */
struct mdv_primary {
	unsigned int nb_attached; /**< secondaries that have the port and did not say good-bye */
	bool serves;              /**< queues may be looked at on behalf of others */
};

/** Be there for them. @return 0 or a negative errno, logged */
int mdv_primary_listen(void);
/** The queues are what they will be: the port is started. */
void mdv_primary_start(struct mdv_port *port);
/** Send queues of a running port have others now. */
void mdv_primary_doorbells(struct mdv_port *port);
/** Before any queue goes: nobody polls them any more when this returns, or did so already. */
void mdv_primary_stop(struct mdv_port *port);
/** The port is closed. */
void mdv_primary_close(struct mdv_port *port);

#endif /* MDV_PRIMARY_H */
