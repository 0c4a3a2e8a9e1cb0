/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers the log type. */
#include "log.h"

RTE_LOG_REGISTER(mdv_log_type, pmd.net.mlx5dv, NOTICE)
