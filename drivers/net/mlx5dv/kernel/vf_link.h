/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The settings of virtual functions as the kernel tells them of the physical one's netdev.
 */
#ifndef MDV_VF_LINK_H
#define MDV_VF_LINK_H

#include <stddef.h>

struct mdv_vf;

/**
 * Ask for function vf->number of the netdev @p ifindex, and fill in what it may.
 * @return 0, -ENOENT when it is not told, or another negative errno.
 */
int mdv_vf_link_ask(unsigned int ifindex, struct mdv_vf *vf);
/** Read the answer, an RTM_NEWLINK message of @p length bytes. @return as mdv_vf_link_ask. */
int mdv_vf_link_parse(const void *message, size_t length, struct mdv_vf *vf);

#endif /* MDV_VF_LINK_H */
