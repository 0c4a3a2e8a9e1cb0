/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The commands RES_*: how many objects there are, and each of them; and STAT_GET of memory
 * regions, which have counters one by one. */
#ifndef SHCA_NLDEV_RES_H
#define SHCA_NLDEV_RES_H

struct shca_nldev_call;

/** As struct shca_nldev_command's. The command's own number tells the type. */
int shca_nldev_res_count_doit(struct shca_nldev_call *call);
int shca_nldev_res_count_dump(struct shca_nldev_call *call, unsigned int index);
int shca_nldev_res_doit(struct shca_nldev_call *call);
int shca_nldev_res_dump(struct shca_nldev_call *call, unsigned int index);
/** The same for the objects as the firmware sees them, of which it says nothing. */
int shca_nldev_res_raw_doit(struct shca_nldev_call *call);
int shca_nldev_res_raw_dump(struct shca_nldev_call *call, unsigned int index);

#endif /* SHCA_NLDEV_RES_H */
