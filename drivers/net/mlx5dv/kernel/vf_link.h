/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Settings of virtual functions, by rtnetlink from the physical function's netdev. */
#ifndef MDV_VF_LINK_H
#define MDV_VF_LINK_H

#include <stddef.h>

struct mdv_vf;

/**
 * Ask the netdev @p ifindex for the settings of virtual function vf->number.
 * @return 0; -ENOENT: the answer lacks them; another negative errno.
 */
int mdv_vf_link_ask(unsigned int ifindex, struct mdv_vf *vf);
/** Read the answer, an RTM_NEWLINK message of @p length bytes. @return as mdv_vf_link_ask. */
int mdv_vf_link_parse(void *message, size_t length, struct mdv_vf *vf);

#endif /* MDV_VF_LINK_H */
