/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The control socket of a process and the thread that answers on it.
 *
 *     softhca ctl ── DIR/ctl.<pid>.0 ──> this thread ── commands.c ──> devices, device thread
 *
 * One client is served at a time. A client that neither asks nor takes its answer for some seconds
 * is sent away, so the next one, and the end of the process, wait no longer than that for it.
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
/** In a child after fork(): let go of the parent's descriptors, and of nothing else. */
void shca_server_forked(struct shca_server *server);

#endif /* SHCA_CTL_SERVER_H */
