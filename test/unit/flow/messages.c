/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked with --wrap=rte_flow_error_set: what a unit test makes the driver refuse is added to the
 * file that MDV_MESSAGES names, where test/system/test_flow_messages.py reads it.
 */

#include <stdio.h>
#include <stdlib.h>

#include <rte_flow.h>
#include <rte_flow_driver.h>

int __real_rte_flow_error_set(struct rte_flow_error *error, int code, enum rte_flow_error_type type,
	const void *cause, const char *message);
int __wrap_rte_flow_error_set(struct rte_flow_error *error, int code, enum rte_flow_error_type type,
	const void *cause, const char *message);

int
__wrap_rte_flow_error_set(struct rte_flow_error *error, int code, enum rte_flow_error_type type,
	const void *cause, const char *message)
{
	const char *path = getenv("MDV_MESSAGES");
	FILE *file = path != NULL ? fopen(path, "a") : NULL;

	if (file != NULL) {
		fprintf(file, "%s\n", message);
		fclose(file);
	}
	return __real_rte_flow_error_set(error, code, type, cause, message);
}
