/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The commands STAT_*: the counters of a port, and how queue pairs are counted. */
#ifndef SHCA_NLDEV_STAT_H
#define SHCA_NLDEV_STAT_H

struct shca_nldev_call;

/** As struct shca_nldev_command's. */
int shca_nldev_stat_get_doit(struct shca_nldev_call *call);
int shca_nldev_stat_set_doit(struct shca_nldev_call *call);
int shca_nldev_stat_del_doit(struct shca_nldev_call *call);
int shca_nldev_stat_status_doit(struct shca_nldev_call *call);
int shca_nldev_stat_get_dump(struct shca_nldev_call *call, unsigned int index);

#endif /* SHCA_NLDEV_STAT_H */
