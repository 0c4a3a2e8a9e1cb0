/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * "softhca ctl ntuple": rules of the netdev beside a port, as "ethtool -N" gives them to mlx5e,
 * from outside softhca run, where ethtool would ask the TAP.
 */
#ifndef SHCA_CTL_NTUPLE_H
#define SHCA_CTL_NTUPLE_H

#include <stdio.h>

struct shca_target;
struct shca_ethtool_attr;
struct shca_refusal;
struct shca_request;

/**
 * Parse "flow-type=udp4,dst-port=53,action=-1,loc=3".
 * @param text modified
 * @return 0, or -EINVAL with a message in @p refusal.
 */
int shca_ntuple_parse(
	char *text, struct shca_ethtool_attr *attr, const struct shca_refusal *refusal);
/** Run the command: a rule, or "delete=N". */
int shca_ntuple_run(struct shca_target *target, const struct shca_request *request, FILE *out);

#endif /* SHCA_CTL_NTUPLE_H */
