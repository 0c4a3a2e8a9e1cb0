/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Carries out the commands of request.h on the devices of a process. No socket, no thread: a
 * request goes in, text comes out.
 */
#ifndef SHCA_CTL_COMMANDS_H
#define SHCA_CTL_COMMANDS_H

#include <stdio.h>

struct shca_request;
struct shca_target;

/** Run a parsed request. @return 0, or a negative errno with a message in @p out. */
int shca_commands_run(struct shca_target *target, const struct shca_request *request, FILE *out);

#endif /* SHCA_CTL_COMMANDS_H */
