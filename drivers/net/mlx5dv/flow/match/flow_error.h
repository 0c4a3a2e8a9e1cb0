/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Messages of refusals: they name the impossible thing, its object, and a possible alternative.
 *
 * rte_flow_error keeps a pointer to the text, so each thread has a buffer of its own: a message is
 * valid until the thread's next flow call fails. Every function accepts a NULL error.
 */
#ifndef MDV_FLOW_ERROR_H
#define MDV_FLOW_ERROR_H

#include <rte_flow.h>

/** @return -@p code, as rte_flow_error_set(); @p code is a positive errno. */
int mdv_flow_error_set(struct rte_flow_error *error, int code, enum rte_flow_error_type type,
	const void *cause, const char *format, ...) __rte_format_printf(5, 6) __rte_cold;

/**
 * Explain the kernel's refusal of a rule that the translation accepted, with advice for the user.
 *
 * @param code the errno of verbs, positive
 * @param what the object that could not be made, "the rule"
 * @return -@p code
 */
int mdv_flow_error_kernel(struct rte_flow_error *error, int code, const char *what) __rte_cold;

/** @return advice to the user for the kernel's @p code, never NULL. */
const char *mdv_flow_error_advice(int code);

#endif /* MDV_FLOW_ERROR_H */
