/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Patterns, actions and attributes of rte_flow from a fuzzer's bytes: sensible, or anything.
 */
#ifndef FUZZ_RULES_H
#define FUZZ_RULES_H

#include <rte_flow.h>

#include "input.h"

/** Items of a pattern, or actions, END not included. */
#define FUZZ_RULES_MAX 12

/** @return NULL, or a list that ends with END */
struct rte_flow_item *fuzz_rules_pattern(struct fuzz_input *input);
struct rte_flow_action *fuzz_rules_actions(struct fuzz_input *input);
struct rte_flow_attr fuzz_rules_attr(struct fuzz_input *input);
/** Other values for the same items or actions. @return as above */
struct rte_flow_item *fuzz_rules_values(
	struct fuzz_input *input, const struct rte_flow_item pattern[]);
struct rte_flow_action *fuzz_rules_confs(
	struct fuzz_input *input, const struct rte_flow_action actions[]);

#endif /* FUZZ_RULES_H */
