/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The commands "stats" and "pci". Internal to ctl/. */
#ifndef SHCA_CTL_STATS_H
#define SHCA_CTL_STATS_H

#include <stdio.h>

struct shca_target;
struct shca_request;

/** As struct shca_request_command's run. */
int shca_stats_run(struct shca_target *target, const struct shca_request *request, FILE *out);
/** As struct shca_request_command's run: count what crosses PCI, or do not. */
int shca_stats_set_pci(struct shca_target *target, const struct shca_request *request, FILE *out);

#endif /* SHCA_CTL_STATS_H */
