/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The commands about rules, functions for run of struct shca_request_command. Internal to
 * ctl/. */
#ifndef SHCA_CTL_RULES_H
#define SHCA_CTL_RULES_H

#include <stdio.h>

struct shca_target;
struct shca_request;

int shca_rules_dump(struct shca_target *target, const struct shca_request *request, FILE *out);

/** Trace one frame, which the request has in hexadecimal. */
int shca_rules_trace(struct shca_target *target, const struct shca_request *request, FILE *out);

#endif /* SHCA_CTL_RULES_H */
