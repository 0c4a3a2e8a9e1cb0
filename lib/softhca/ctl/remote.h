/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A request to the process below the same runner that has the devices open. */
#ifndef SHCA_CTL_REMOTE_H
#define SHCA_CTL_REMOTE_H

#include <stddef.h>

/**
 * Ask the first process of the runner's directory @p dir.
 * @param line the request, with its newline
 * @param answer as text, cut to @p size bytes with its end
 * @return 0; -ENODEV: no process has a device open, or it does not answer; -EREMOTEIO: it refuses.
 */
int shca_remote_ask(const char *dir, const char *line, char *answer, size_t size);

#endif /* SHCA_CTL_REMOTE_H */
