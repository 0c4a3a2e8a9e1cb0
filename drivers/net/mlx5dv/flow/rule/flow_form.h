/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The form of a rule: its plan but for the values. Applications make many rules of one form, and a
 * rule of the form of the one before it needs only its values put into that one's plan.
 *
 *     rule 1     eth / ipv4 dst 10.0.0.1 / udp dst 53, queue 1   -> plan, in full; its form
 *     rule 2     eth / ipv4 dst 10.0.0.2 / udp dst 80, queue 3   -> the form, with 10.0.0.2 and 80
 *
 * Actions are parsed if they differ from those of the rule before; a form has one effect of them.
 * Whoever has the form sees to it that one thread at a time uses it.
 */
#ifndef MDV_FLOW_FORM_H
#define MDV_FLOW_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

#include "flow/action/flow_copy.h"
#include "flow/match/flow_values.h"
#include "flow_plan.h"

/** All zero: fits no rule. */
struct mdv_flow_form {
	struct mdv_flow_values values;
	unsigned int nb_missed; /**< rules since the last one that it fitted */
	uint32_t features;      /**< of the environment */
	uint8_t port_num;
	struct rte_flow_attr attr;
	uint16_t tag_at; /**< of the TAG in the attribute; 0: none */
	/** Of a rule that fitted; NULL: none yet. flow_rule.c makes it. */
	struct mdv_flow_copy_image *image;
	bool is_like;       /**< the actions of the latest rule that fitted are like the image's */
	bool has_confs;     /**< plan.actions are of configurations in confs */
	uint16_t nb_queues; /**< of the environment that they were parsed in */
	uint8_t confs[64] __rte_aligned(sizeof(uint64_t));
	struct mdv_flow_plan plan; /**< of the latest rule that fitted; has one part */
};

/**
 * As mdv_flow_plan_make(), and learn the form of a rule that does not fit.
 * @param room for a plan in full
 * @return the form's own plan, valid until the next call; @p room, if the rule does not fit; NULL:
 *         refused, with @p error filled and rte_errno set
 */
struct mdv_flow_plan *mdv_flow_form_plan(struct mdv_flow_form *form,
	const struct mdv_flow_plan_env *env, const struct mdv_flow_plan_rule *rule,
	struct mdv_flow_plan *room, struct rte_flow_error *error);

/** @return whether the rule's items and attributes are those of the form; its actions may differ.
 */
bool mdv_flow_form_fits(const struct mdv_flow_form *form, const struct mdv_flow_plan_env *env,
	const struct mdv_flow_plan_rule *rule);

/** Free what the form has. */
void mdv_flow_form_fini(struct mdv_flow_form *form);

#endif /* MDV_FLOW_FORM_H */
