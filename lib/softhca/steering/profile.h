/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What rules may say on older cards ("steering="). Tables, walks and priorities stay the model's: a
 * profile refuses rules, and forgets the fields that such a card ignores.
 *
 * cx4-exp: Linux 4.5 mlx5_ib, with the limits of MLNX_OFED 3.1: ETH specs, four priorities.
 * dmfs: Linux mlx4_ib_create_flow and mlx4_en_validate_flow, and of the firmware what the MLNX_EN
 * manual says ("Flow Steering"): a mask is all ones or all zeros.
 * a0: "A0 Static Device Managed Flow Steering" there, over dmfs. What is beyond its limits is
 * ENXIO (mlx4_flow_attach). The limits are those of unicast addresses.
 */
#ifndef SHCA_STEERING_PROFILE_H
#define SHCA_STEERING_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/profile.h"

/** "Only 62 such rules could be created". */
#define SHCA_PROFILE_A0_RULES 62

struct shca_ethtool_attr;
struct shca_rule;
struct shca_rule_attr;
struct shca_spec_list;

/** Rules of a unicast address, of which static A0 has few. */
struct shca_profile_a0 {
	unsigned int nb;
	struct {
		const struct shca_rule *rule;
		const void *tir;
		uint8_t mac[6];
	} unicast[SHCA_PROFILE_A0_RULES];
};

/**
 * Check a rule of verbs, and clear those fields of @p list that the card ignores.
 * @return 0 or a negative errno.
 */
int shca_profile_check(
	enum shca_profile profile, const struct shca_rule_attr *attr, struct shca_spec_list *list);
/** @return whether the rule with @p list is one of static A0's. */
bool shca_profile_is_a0(enum shca_profile profile, const struct shca_rule_attr *attr,
	const struct shca_spec_list *list);
/** @return 0; -ENXIO: the address or the queue has a rule, or all are taken. */
int shca_profile_check_a0(const struct shca_profile_a0 *a0, const uint8_t mac[6], const void *tir);
/** Note a rule after shca_profile_check_a0(). */
void shca_profile_add_a0(struct shca_profile_a0 *a0, const struct shca_rule *rule,
	const uint8_t mac[6], const void *tir);
/** Forget a rule; others than those of A0 are allowed. */
void shca_profile_del_a0(struct shca_profile_a0 *a0, const struct shca_rule *rule);
/**
 * Check a rule of the netdev.
 * @param why if not 0: what the card does take
 * @return 0, -EINVAL or -ENXIO.
 */
int shca_profile_check_ethtool(
	enum shca_profile profile, const struct shca_ethtool_attr *attr, const char **why);

#endif /* SHCA_STEERING_PROFILE_H */
