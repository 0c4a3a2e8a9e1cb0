/* SPDX-License-Identifier: BSD-3-Clause */
/** @file "softhca ctl arfs": flows of the netdev beside a port, by hand or as Linux answers them.
 */
#ifndef SHCA_CTL_ARFS_H
#define SHCA_CTL_ARFS_H

#include <stdio.h>

struct shca_target;
struct shca_request;

/** Run the command: "on", "off" or a flow. */
int shca_arfs_run(struct shca_target *target, const struct shca_request *request, FILE *out);

#endif /* SHCA_CTL_ARFS_H */
