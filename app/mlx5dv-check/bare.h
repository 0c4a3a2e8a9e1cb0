/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A verbs process beside the ports, for experiments that ethdev has no words for: a context of its
 * own, a work queue that receives, and as many TIRs as are wanted, which all lead to it.
 */
#ifndef CHECK_BARE_H
#define CHECK_BARE_H

#include <infiniband/verbs.h>

#include "check.h"

#define CHECK_BARE_TIRS  64
#define CHECK_BARE_RULES 64
#define CHECK_BARE_RECVS 64
#define CHECK_BARE_BYTES 2048

/** What is NULL or 0 is not there, and closing passes over it. */
struct check_bare {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_wq *wq;
	struct ibv_rwq_ind_table *table;
	struct ibv_mr *mr;
	uint8_t *memory; /**< of the receives, and behind them of one send */
	struct ibv_qp *tirs[CHECK_BARE_TIRS];
	struct ibv_counters *counters[CHECK_BARE_RULES];
	struct ibv_flow *rules[CHECK_BARE_RULES];
	unsigned int nb_tirs, nb_counters, nb_rules;
	uint8_t port;
};

/** A rule in the bytes that verbs takes, where specs follow each other without a gap: one frame's
 * source address, and what counts. */
struct check_bare_attr {
	struct ibv_flow_attr attr;
	uint8_t specs[sizeof(struct ibv_flow_spec_eth) +
		sizeof(struct ibv_flow_spec_counter_action)];
};

/** Open all but TIRs and rules. @return CHECK_PASS, or how the row ends; the caller closes it in
 * any case */
enum check_result check_bare_open(struct check *check, struct check_bare *bare);
void check_bare_close(struct check_bare *bare);
/** @return one more TIR, or NULL with errno */
struct ibv_qp *check_bare_tir(struct check_bare *bare);
/** @return the same with offloads in tunnels, which its completions tell of */
struct ibv_qp *check_bare_tunnel_tir(struct check_bare *bare);
/** @return one more counter of packets, or NULL with errno */
struct ibv_counters *check_bare_counter(struct check_bare *bare);
/** Write a rule of frames from 02:00:00:00:01:CHECK_RULE_SRC. @param counter NULL: none */
void check_bare_write(
	const struct check_bare *bare, struct check_bare_attr *attr, struct ibv_counters *counter);
/** Add a rule. @return 0 or an errno */
int check_bare_rule(struct check_bare *bare, struct ibv_qp *tir, struct check_bare_attr *attr);
/** @return how many of the packets that have come begin with @p bytes */
unsigned int check_bare_count(struct check_bare *bare, const uint8_t *bytes, unsigned int nb_bytes);
/** @return a raw packet QP that sends, by @p cq, or NULL with errno */
struct ibv_qp *check_bare_sender(struct check_bare *bare, struct ibv_cq *cq);
/** Send @p bytes, whose completion is the caller's. @return 0 or an errno */
int check_bare_send(
	struct check_bare *bare, struct ibv_qp *qp, const uint8_t *bytes, uint32_t nb_bytes);

#endif /* CHECK_BARE_H */
