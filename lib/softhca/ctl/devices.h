/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The command "devices". Internal to ctl/. */
#ifndef SHCA_CTL_DEVICES_H
#define SHCA_CTL_DEVICES_H

#include <stdio.h>

struct shca_target;
struct shca_request;

/** As struct shca_request_command's run. */
int shca_devices_run(struct shca_target *target, const struct shca_request *request, FILE *out);

#endif /* SHCA_CTL_DEVICES_H */
