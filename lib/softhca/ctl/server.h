/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The control socket of a process and the thread that answers on it.
 *
 *     softhca ctl ── DIR/ctl.<pid>.0 ──> this thread ── commands.c ──> devices, device thread
 *
 * The thread makes one answer at a time; while a client is slow to ask or to read it serves others.
 * It disconnects one that is silent for some seconds or does not read its answer, so that there is
 * room for the next.
 */
#ifndef SHCA_CTL_SERVER_H
#define SHCA_CTL_SERVER_H

#include <sched.h>

#include "ctl/target.h"

struct shca_server;

/**
 * Listen in the runner's directory @p dir.
 * @param target copied; what it points to outlives the server
 * @return 0 or a negative errno.
 */
int shca_server_start(const char *dir, const struct shca_target *target, const cpu_set_t *cpus,
	struct shca_server **server);
/** Ends the thread and removes the socket. NULL is allowed. */
void shca_server_stop(struct shca_server *server);
/** In a child after fork(): close the parent's descriptors, and do no more. */
void shca_server_forked(struct shca_server *server);

#endif /* SHCA_CTL_SERVER_H */
