/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Questions about all netdevs: the kernel's answer, with the devices' in the places of their
 * netdevs, and at the end those about netdevs of which the kernel knows nothing. */
#ifndef SHCA_ETHNL_DUMP_H
#define SHCA_ETHNL_DUMP_H

struct shca_ethnl_call;
struct shca_ethnl_message;

/** Answer. @param room SHCA_REPLY_MAX bytes @return as shca_ethnl_answer() */
int shca_dump_run(struct shca_ethnl_call *call, const struct shca_ethnl_message *row, void *room);

#endif /* SHCA_ETHNL_DUMP_H */
