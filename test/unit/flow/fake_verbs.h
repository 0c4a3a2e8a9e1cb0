/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A verbs context that only keeps books: which objects exist, what each flow asked for, and which
 * call fails next. A port stands on it, with queues that are nothing but WQs.
 *
 * The device's rule is kept: an object in use is not destroyed (EBUSY there, a failed test here).
 */
#ifndef FAKE_VERBS_H
#define FAKE_VERBS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rte_flow.h>

#include "flow/flow.h"
#include "flow/match/flow_build.h"
#include "flow/match/flow_feature.h"
#include "flow/rule/flow_default.h"
#include "flow/rule/flow_state.h"
#include "state/port.h"

#define FAKE_QUEUES 8
/** What the fake device can match: as ConnectX-5 on Linux 6.1. */
#define FAKE_FEATURES                                                                              \
	(MDV_FLOW_CAN_INNER | MDV_FLOW_CAN_VXLAN | MDV_FLOW_CAN_GRE | MDV_FLOW_CAN_MPLS |          \
		MDV_FLOW_CAN_MPLS_UDP | MDV_FLOW_CAN_MPLS_GRE)
/** What can be changed. */
#define FAKE_MODIFIES                                                                              \
	(MDV_FLOW_CAN_CHANGE | MDV_FLOW_CAN_CHANGE_SENT | MDV_FLOW_CAN_DECAP |                     \
		MDV_FLOW_CAN_DECAP_L3 | MDV_FLOW_CAN_ENCAP | MDV_FLOW_CAN_ENCAP_L3)

/** Tunnels inside which it hashes. */
#define FAKE_TUNNELS                                                                               \
	(MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN |                                            \
		MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE |                                       \
		MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE |                          \
		MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP)

struct fake_table {
	struct ibv_rwq_ind_table verbs;
	unsigned int users;
	unsigned int size;
	unsigned int queues[512];
};

struct fake_qp {
	struct ibv_qp verbs;
	struct fake_table *table; /**< NULL: a bare QP */
	bool receives;            /**< has a TIR */
	uint64_t fields;
	uint8_t key[40];
	bool tunnel; /**< made with MLX5DV_QP_CREATE_TUNNEL_OFFLOADS */
	unsigned int users;
};

/** @p reformat as in struct fake_action. */
#define FAKE_ACTION(table, reformat) (UINT32_C(1) << (5 * (table) + 1 + (reformat)))

/** A flow action of mlx5dv. */
struct fake_action {
	struct ibv_flow_action verbs;
	enum mlx5dv_flow_table_type table;
	int reformat; /**< enum mlx5dv_flow_action_packet_reformat_type, -1: fields */
	unsigned int nb_bytes;
	uint8_t bytes[256]; /**< headers, or steps */
	unsigned int users;
};

struct fake_flow {
	struct ibv_flow verbs;
	TAILQ_ENTRY(fake_flow) next;
	struct fake_qp *qp;
	struct ibv_counters *counters;
	struct fake_action *actions[2]; /**< NULL: none */
	struct mdv_flow_build build;    /**< attr and bytes only */
};

TAILQ_HEAD(fake_flows, fake_flow);

struct fake_verbs {
	struct verbs_context context;
	struct ibv_pd pd;
	struct ibv_wq wqs[FAKE_QUEUES];
	struct fake_flows flows; /**< in order of creation */
	unsigned int nb_flows, nb_qps, nb_tables, nb_counters, nb_cqs, nb_actions;
	uint32_t no_actions; /**< FAKE_ACTION()s that the device has not */
	void (*on_action)(const struct fake_action *action); /**< is told of each; NULL */
	unsigned int nb_created, nb_destroyed;               /**< flows ever */
	unsigned int max_flows;                              /**< most at one time */
	/** Flows made or destroyed while there was one of a later level, which had their packets.
	 */
	unsigned int nb_bypassed;
	unsigned int nb_levels; /**< priorities the device has */
	bool queues_started;
	bool marks_expected; /**< mdv_rxq_enable_marks() was called */
	uint64_t hits;       /**< what counters read */
	unsigned int calls,
		fail_at; /**< the fail_at-th fallible call since arming fails; 0: none */
	int fail_errno;
	void (*on_calloc)(void); /**< is called by the next calloc(), once; NULL */
	bool flows_untold;       /**< ibv_create_flow() fails and leaves errno as it is */
	struct mdv_port port;
	struct rte_eth_dev dev;
	struct rte_eth_dev_data data;
	struct rte_ether_addr macs[MDV_MAC_MAX];
};

extern struct fake_verbs fake;

/** A new world: four queues, MAC 02:00:00:00:00:01, RETA over all queues, no RSS types, nothing
 * installed. */
void fake_init(void);
/** The same and mdv_flow_init(). */
void fake_init_flow(void);
/** The same, and started, with no rules but those that the test makes. */
void fake_start_isolated(void);
/** The end of mdv_flow_init(): no verbs object is left. */
void fake_end_flow(void);
/** Fail the @p nth fallible call from now on, allocations included. */
void fake_arm(unsigned int nth, int code);
/** No verbs object is left. */
void fake_assert_empty(void);
/** The port's rules share no destination. */
void fake_assert_no_dests(void);
/** @return the number of specs' bytes in @p hex, which may have spaces, now in @p bytes. */
unsigned int fake_hex(const char *hex, uint8_t *bytes, unsigned int size);
/** Compare bytes with hex, and say where they part. */
void fake_assert_bytes(const char *name, const uint8_t *bytes, unsigned int nb, const char *hex);
/** @return the index-th flow in order of creation. */
struct fake_flow *fake_flow_at(unsigned int index);

/** Tables of patterns and actions. */
/* clang-format off */
#define PATTERN(...) \
	((const struct rte_flow_item[]){ __VA_ARGS__, { .type = RTE_FLOW_ITEM_TYPE_END } })
#define ACTIONS(...) \
	((const struct rte_flow_action[]){ __VA_ARGS__, { .type = RTE_FLOW_ACTION_TYPE_END } })
#define ITEM(t) { .type = RTE_FLOW_ITEM_TYPE_##t }
#define ITEM_SPEC(t, s) { .type = RTE_FLOW_ITEM_TYPE_##t, .spec = (s) }
#define ITEM_MASK(t, s, m) { .type = RTE_FLOW_ITEM_TYPE_##t, .spec = (s), .mask = (m) }
#define ITEM_LAST(t, s, l, m) \
	{ .type = RTE_FLOW_ITEM_TYPE_##t, .spec = (s), .last = (l), .mask = (m) }
#define ACTION(t) { .type = RTE_FLOW_ACTION_TYPE_##t }
#define ACTION_CONF(t, c) { .type = RTE_FLOW_ACTION_TYPE_##t, .conf = (c) }
/* clang-format on */

/**
 * ibv_flow specs in hexadecimal, value then mask, as verbs.h and uapi/rdma/ib_user_verbs.h lay them
 * out: written down apart from the driver, so that a wrong offset there is seen.
 */
#define HEX_ETH(value, mask)     "20000000 2800 " value mask "0000"
#define HEX_IPV4(value, mask)    "32000000 2000 0000" value mask
#define HEX_IPV6(value, mask)    "31000000 5800 0000" value mask
#define HEX_TCP(value, mask)     "40000000 1000 " value mask "0000"
#define HEX_UDP(value, mask)     "41000000 1000 " value mask "0000"
#define HEX_ESP(value, mask)     "34000000 1800 0000" value mask
#define HEX_VXLAN(value, mask)   "50000000 1000 0000" value mask
#define HEX_GRE(value, mask)     "51000000 1800 0000" value mask
#define HEX_MPLS(value, mask)    "60000000 1000 0000" value mask
#define HEX_IN_ETH(value, mask)  "20010000 2800 " value mask "0000"
#define HEX_IN_IPV4(value, mask) "32010000 2000 0000" value mask
#define HEX_IN_IPV6(value, mask) "31010000 5800 0000" value mask
#define HEX_IN_TCP(value, mask)  "40010000 1000 " value mask "0000"
#define HEX_IN_UDP(value, mask)  "41010000 1000 " value mask "0000"
#define HEX_IN_MPLS(value, mask) "60010000 1000 0000" value mask
#define HEX_TAG(tag)             "00100000 0c00 0000" tag
#define HEX_DROP                 "01100000 0800 0000"
#define HEX_0_2                  "0000"
#define HEX_0_4                  "00000000"
#define HEX_0_6                  "000000000000"
#define HEX_0_12                 "000000000000000000000000"
#define HEX_0_16                 "00000000000000000000000000000000"
#define HEX_0_40                 HEX_0_16 HEX_0_16 "0000000000000000"
#define HEX_ANY_ETH              HEX_ETH(HEX_0_16, HEX_0_16)
#define HEX_ANY_IPV4             HEX_IPV4(HEX_0_12, HEX_0_12)
#define HEX_ANY_IPV6             HEX_IPV6(HEX_0_40, HEX_0_40)
#define HEX_ANY_TCP              HEX_TCP(HEX_0_4, HEX_0_4)
#define HEX_ANY_UDP              HEX_UDP(HEX_0_4, HEX_0_4)

#endif /* FAKE_VERBS_H */
