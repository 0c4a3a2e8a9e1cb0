/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats refusals, and turns the kernel's errno into advice. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "flow_error.h"

static __thread char flow_error_text[512];

struct kernel_advice {
	int code;
	const char *text;
};

/**
 * The meaning of each errno for a well-formed rule, and advice: errnos of mlx5_ib and fs_core
 * (drivers/infiniband/hw/mlx5/fs.c, drivers/net/ethernet/mellanox/mlx5/core/fs_core.c), of commands
 * that firmware refuses (core/cmd.c cmd_status_to_err), and of ib_uverbs.
 */
/* clang-format off */
static const struct kernel_advice advice_rows[] = {
	{ EEXIST, "a rule with the same match and priority drops or marks otherwise; destroy it or use another priority" },
	{ ENOSPC, "the device's table for this priority is full; destroy rules or use another priority" },
	{ ENOMEM, "the device or the kernel is out of memory, or does not have this priority; destroy rules or use a lower priority number" },
	{ EAGAIN, "the device is out of resources; destroy rules" },
	{ EINVAL, "the device finds the rule contradictory; leave out fields or actions until it is taken" },
	{ EOPNOTSUPP, "the device or the kernel cannot do this; try without PASSTHRU or COUNT, or with fewer match fields" },
	{ EPERM, "the process lacks CAP_NET_RAW; start it as root or with that capability" },
	{ EACCES, "the process may not do this to the device; start it as root" },
	{ EBUSY, "the device object is in use; destroy what uses it, or try again" },
	{ EINTR, "a signal came in between; try again" },
	{ ENODEV, "an Rx queue it names is not started; start it" },
	{ ENOENT, "an object that the rule needs is gone; stop and start the port" },
	{ ETIMEDOUT, "the device does not answer; reset the port" },
	{ EIO, "the device is gone; reset the port or close it" },
};
/* clang-format on */

int
mdv_flow_error_set(struct rte_flow_error *error, int code, enum rte_flow_error_type type,
	const void *cause, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(flow_error_text, sizeof(flow_error_text), format, args);
	va_end(args);
	return rte_flow_error_set(error, code, type, cause, flow_error_text);
}

const char *
mdv_flow_error_advice(int code)
{
	for (unsigned int i = 0; i < RTE_DIM(advice_rows); i++)
		if (advice_rows[i].code == code)
			return advice_rows[i].text;
	return strerror(code);
}

int
mdv_flow_error_kernel(struct rte_flow_error *error, int code, const char *what)
{
	return mdv_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
		"%s was refused (errno %d): %s", what, code, mdv_flow_error_advice(code));
}
