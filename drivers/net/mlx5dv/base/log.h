/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The driver's log type: "pmd.net.mlx5dv". Every line names its port or device. */
#ifndef MDV_LOG_H
#define MDV_LOG_H

#include <rte_log.h>

extern int mdv_log_type;

#define MDV_LOG(level, ...)                                                                        \
	rte_log(RTE_LOG_##level, mdv_log_type,                                                     \
		"mlx5dv: " RTE_FMT(RTE_FMT_HEAD(__VA_ARGS__, ) "\n", RTE_FMT_TAIL(__VA_ARGS__, )))

#endif /* MDV_LOG_H */
