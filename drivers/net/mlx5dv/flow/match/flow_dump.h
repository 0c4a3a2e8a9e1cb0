/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Prints ibv_flow_attrs in the form of mlx_fs_dump: the request to the device, and not the
 * application's rule. Pure.
 *
 *     FT: 0x11 (level: 0x11, type: NIC_RX)
 *     |-- FG: 0x0 (OUTER)
 *       |-- FTE: 0x0 (FWD) to (TIR: queue 1) tag:0x8
 *         |-- out.ip_version:0x4
 */
#ifndef MDV_FLOW_DUMP_H
#define MDV_FLOW_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include "base/log.h"
#include "flow_build.h"

/** @param table its place in the order of all: twice the verbs priority, and one more for taking
 * rules */
void mdv_flow_dump_table(FILE *file, unsigned int table, const char *type);
/** Print a group of the mask of @p build. */
void mdv_flow_dump_group(FILE *file, unsigned int group, const struct mdv_flow_build *build);
/** Begin an entry; print its destinations, which may be many, then mdv_flow_dump_match(). */
void mdv_flow_dump_entry(FILE *file, unsigned int entry, bool drop);
/** End the entry's line, and print its fields. @param more further facts about the entry */
void mdv_flow_dump_match(FILE *file, const struct mdv_flow_build *build, const char *more);

/** Log all bytes that ibv_create_flow() will get. */
void mdv_flow_dump_bytes(uint16_t port_id, const struct mdv_flow_build *build);
/** The same at log level debug only. */
static inline void
mdv_flow_dump_log(uint16_t port_id, const struct mdv_flow_build *build)
{
	if (rte_log_can_log(mdv_log_type, RTE_LOG_DEBUG))
		mdv_flow_dump_bytes(port_id, build);
}

#endif /* MDV_FLOW_DUMP_H */
