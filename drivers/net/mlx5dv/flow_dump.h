/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Prints an ibv_flow_attr: what is asked of the device, not what the application said. Pure.
 */
#ifndef MDV_FLOW_DUMP_H
#define MDV_FLOW_DUMP_H

#include <stdio.h>

#include "flow_build.h"

/** One line for the attribute and one a spec; @p hash names the destination's hash class. */
void mdv_flow_dump_attr(FILE *file, const struct mdv_flow_build *build, const char *hash);

/** At log level debug: all bytes, as ibv_create_flow() is about to get them. */
void mdv_flow_dump_log(uint16_t port_id, const struct mdv_flow_build *build);

#endif /* MDV_FLOW_DUMP_H */
