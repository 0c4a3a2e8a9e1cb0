/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow specs of the kernel ABI (rdma/ib_user_verbs.h) -> match and actions, in the kernel's two
 * steps.
 *
 * shca_spec_unpack checks the bytes as ib_uverbs_ex_create_flow does: sizes, reserved bits, unknown
 * types. shca_spec_build translates the specs as mlx5_ib's parse_flow_attr does, and refuses those
 * that the device cannot match or that contradict each other. In between, rule.c checks the rule's
 * type and priority, hence two steps.
 */
#ifndef SHCA_STEERING_MATCH_SPEC_H
#define SHCA_STEERING_MATCH_SPEC_H

#include <rdma/ib_user_verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steering/match/modify.h"
#include "steering/match/field.h"

/** Specs of one rule at most, drivers/infiniband/core/uverbs_cmd.c ib_uverbs_ex_create_flow. */
#define SHCA_SPEC_MAX 10

union shca_spec_filter {
	struct ib_uverbs_flow_eth_filter eth;
	struct ib_uverbs_flow_ipv4_filter ipv4;
	struct ib_uverbs_flow_ipv6_filter ipv6;
	struct ib_uverbs_flow_tcp_udp_filter tcp_udp;
	struct ib_uverbs_flow_tunnel_filter tunnel;
	struct ib_uverbs_flow_spec_esp_filter esp;
	struct ib_uverbs_flow_gre_filter gre;
	struct ib_uverbs_flow_mpls_filter mpls;
};

/** One spec; bytes that the caller's filter lacked are zero. */
struct shca_spec {
	uint32_t type; /**< with the INNER flag */
	union shca_spec_filter value, mask;
	uint32_t tag_id; /**< of ACTION_TAG */
};

struct shca_spec_list {
	unsigned int nb;
	struct shca_spec spec[SHCA_SPEC_MAX];
};

/** Capabilities of the device that specs depend on. */
struct shca_spec_caps {
	uint32_t tunnel_offloads; /**< MLX5_IB_TUNNELED_OFFLOADS_* */
	bool inner_ip_version;    /**< ft_field_support.inner_ip_version */
	bool esp_spi;
};

struct shca_spec_action {
	bool drop;
	bool count;
	bool tag; /**< has an ACTION_TAG spec */
	uint32_t flow_tag;
	struct shca_modify_set modify_set;
};

/**
 * @param length bytes at @p bytes, which @p nb specs must use up.
 * @return 0, -EINVAL, or -EOPNOTSUPP (size of ACTION_HANDLE).
 */
int shca_spec_unpack(
	const void *bytes, size_t length, unsigned int nb, struct shca_spec_list *list);

/** @return true when mlx5_ib takes the rule for a multicast-only one, by its first spec alone. */
bool shca_spec_is_multicast_only(const struct shca_spec_list *list);

/**
 * @param modify_set of the ACTION_HANDLE specs in their order; NULL: mlx5 takes none of them
 * @param match may have value bits outside the mask, which shca_spec_check_values() refuses later.
 * @return 0, -EINVAL or -EOPNOTSUPP by the first offending spec.
 */
int shca_spec_build(const struct shca_spec_list *list, const struct shca_spec_caps *caps,
	const struct shca_modify *const *modify_set, struct shca_match *match,
	struct shca_spec_action *action);

/** @return 0, or -EINVAL when a value has bits outside its mask (fs_core's check_valid_spec). */
int shca_spec_check_values(const struct shca_match *match);

#endif /* SHCA_STEERING_MATCH_SPEC_H */
