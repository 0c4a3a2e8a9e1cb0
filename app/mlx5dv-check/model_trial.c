/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device takes, tried. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_common.h>

#include "model.h"

#define ACTIONS_MOST 64
#define HEADER_MOST  512
#define HEADER_LEAST 14 /* of Ethernet */
/** Of what all programs share: with so many there is enough, and none is taken from others. */
#define SHARED_MOST 64
/* A send WQE with headers inlined is blocks; PRM: control and Ethernet segment, and a length. */
#define WQEBB_BYTES   64
#define SQ_DESC_MOST  1024
#define SQ_HEAD_BYTES (48 + 4)
#define RQ_DESC_MOST  512
#define SEGMENT_BYTES 16
#define BURST_BYTES   4096
#define PACKET_BYTES  1000

/** A rule of frames to an address that nobody has, with what may stand behind the match. */
struct rule {
	struct ibv_flow_attr attr;
	uint8_t specs[sizeof(struct ibv_flow_spec_eth) +
		2 * sizeof(struct ibv_flow_spec_action_handle) +
		sizeof(struct ibv_flow_spec_counter_action)];
};

/** Write what a trial told: errno of the refusal, or 0. */
static void
put_trial(FILE *out, const char *key, int error)
{
	if (error == 0 || error == EOPNOTSUPP || error == EINVAL)
		fprintf(out, "%s = %s\n", key, error == 0 ? "yes" : "no");
	else
		fprintf(out, "# %s: the trial ended with %s\n", key, strerror(error));
}

/** Write how many of something there are, if that is fewer than were tried. */
static void
put_number(FILE *out, const char *key, unsigned int nb)
{
	if (nb < SHARED_MOST)
		fprintf(out, "%s = %u\n", key, nb);
	else
		fprintf(out, "# %s: %u or more\n", key, nb);
}

static void
rule_append(struct rule *rule, const void *spec, uint16_t size)
{
	memcpy(rule->specs + rule->attr.size - sizeof(rule->attr), spec, size);
	rule->attr.size += size;
	rule->attr.num_of_specs++;
}

static void
rule_begin(struct rule *rule, enum ibv_flow_attr_type type, uint32_t flags)
{
	const struct ibv_flow_spec_eth eth = { .type = IBV_FLOW_SPEC_ETH,
		.size = sizeof(eth),
		.val.dst_mac = { 0x02, 0x6d, 0x6c, 0x78, 0x35, 0x63 },
		.mask.dst_mac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };

	*rule = (struct rule){
		.attr = { .type = type, .size = sizeof(rule->attr), .port = 1, .flags = flags },
	};
	if (type == IBV_FLOW_ATTR_NORMAL)
		rule_append(rule, &eth, sizeof(eth));
}

/** @return 0 or an errno */
static int
rule_create(struct ibv_qp *qp, struct rule *rule, struct ibv_flow **flow)
{
	errno = 0;
	*flow = ibv_create_flow(qp, &rule->attr);
	if (*flow == NULL)
		return errno != 0 ? errno : EIO;
	return 0;
}

static int
rule_try(struct ibv_qp *qp, struct rule *rule)
{
	struct ibv_flow *flow;
	const int ret = rule_create(qp, rule, &flow);

	if (ret == 0)
		ibv_destroy_flow(flow);
	return ret;
}

static int
try_kind(const struct check_device *device, enum ibv_flow_attr_type type, uint32_t flags)
{
	struct rule rule;

	rule_begin(&rule, type, flags);
	return rule_try(device->qp, &rule);
}

/** @return a QP in RESET that takes @p cap, or NULL with errno */
static struct ibv_qp *
make_qp(const struct check_device *device, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RAW_PACKET,
		.send_cq = device->cq,
		.recv_cq = device->cq,
		.cap = cap };

	errno = EIO;
	return ibv_create_qp(device->pd, &init);
}

static int
try_qp(const struct check_device *device, struct ibv_qp_cap cap)
{
	struct ibv_qp *qp = make_qp(device, cap);

	if (qp == NULL)
		return errno;
	ibv_destroy_qp(qp);
	return 0;
}

/** @return a QP in INIT, whose receive queue has no requests, or NULL with errno */
static struct ibv_qp *
make_receiver(const struct check_device *device)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp = make_qp(device, cap);
	const int ret = qp == NULL ? errno : ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT);

	if (qp != NULL && ret != 0) {
		ibv_destroy_qp(qp);
		qp = NULL;
	}
	errno = ret;
	return qp;
}

/** The largest of either direction, which libmlx5 compares with what the kernel has told it. */
static void
put_descriptors(FILE *out, const struct check_device *device)
{
	uint32_t sq = SQ_DESC_MOST, rq = RQ_DESC_MOST;

	while (sq > WQEBB_BYTES &&
		try_qp(device,
			(struct ibv_qp_cap){ .max_send_wr = 1,
				.max_send_sge = 1,
				.max_inline_data = sq - SQ_HEAD_BYTES }) != 0)
		sq -= WQEBB_BYTES;
	while (rq > SEGMENT_BYTES &&
		try_qp(device,
			(struct ibv_qp_cap){ .max_send_wr = 1,
				.max_send_sge = 1,
				.max_recv_wr = 1,
				.max_recv_sge = rq / SEGMENT_BYTES }) != 0)
		rq /= 2;
	fprintf(out, "max_sq_desc_bytes = %" PRIu32 "\nmax_rq_desc_bytes = %" PRIu32 "\n", sq, rq);
}

/** @return whether the size of a burst can be given, as errno: libmlx5 asks the kernel's bit */
static int
try_bursts(const struct check_device *device)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS };
	struct ibv_qp_rate_limit_attr rate = {
		.rate_limit = device->attr.packet_pacing_caps.qp_rate_limit_max,
		.max_burst_sz = BURST_BYTES,
		.typical_pkt_sz = PACKET_BYTES,
	};
	struct ibv_qp *qp =
		make_qp(device, (struct ibv_qp_cap){ .max_send_wr = 1, .max_send_sge = 1 });
	int ret = qp == NULL ? errno : 0;

	if (rate.rate_limit == 0)
		ret = EOPNOTSUPP;
	for (unsigned int i = 0; i < RTE_DIM(states) && ret == 0; i++) {
		struct ibv_qp_attr to = { .qp_state = states[i], .port_num = 1 };

		ret = ibv_modify_qp(
			qp, &to, IBV_QP_STATE | (states[i] == IBV_QPS_INIT ? IBV_QP_PORT : 0));
	}
	if (ret == 0)
		ret = ibv_modify_qp_rate_limit(qp, &rate);
	if (qp != NULL)
		ibv_destroy_qp(qp);
	return ret;
}

static struct ibv_flow_action *
make_modify(const struct check_device *device, unsigned int nb)
{
	uint64_t actions[ACTIONS_MOST];

	/* Set 16 bits of the source address (PRM, SET of OUT_SMAC_15_0). */
	for (unsigned int i = 0; i < nb; i++)
		actions[i] = rte_cpu_to_be_64(1ull << 60 | 2ull << 48 | 16ull << 32);
	return mlx5dv_create_flow_action_modify_header(
		device->ctx, nb * sizeof(actions[0]), actions, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
}

static struct ibv_flow_action *
make_encap(const struct check_device *device, size_t bytes)
{
	uint8_t header[HEADER_MOST] = { 0 };

	return mlx5dv_create_flow_action_packet_reformat(device->ctx, bytes, header,
		MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
		MLX5DV_FLOW_TABLE_TYPE_NIC_TX);
}

static struct ibv_flow_action *
make_decap(const struct check_device *device)
{
	return mlx5dv_create_flow_action_packet_reformat(device->ctx, 0, NULL,
		MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2,
		MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
}

/** @return whether the device makes the action, which nobody uses */
static bool
try_action(struct ibv_flow_action *action)
{
	if (action == NULL)
		return false;
	ibv_destroy_flow_action(action);
	return true;
}

/** @return how many of them there are at a time */
static unsigned int
count_actions(const struct check_device *device, bool is_encap)
{
	struct ibv_flow_action *actions[SHARED_MOST];
	unsigned int nb = 0, i;

	while (nb < RTE_DIM(actions)) {
		actions[nb] = is_encap ? make_encap(device, HEADER_LEAST) : make_modify(device, 1);
		if (actions[nb] == NULL)
			break;
		nb++;
	}
	for (i = 0; i < nb; i++)
		ibv_destroy_flow_action(actions[i]);
	return nb;
}

static void
put_actions(FILE *out, const struct check_device *device)
{
	size_t nb = ACTIONS_MOST, bytes = HEADER_MOST;

	while (nb != 0 && !try_action(make_modify(device, nb)))
		nb--;
	while (bytes >= HEADER_LEAST && !try_action(make_encap(device, bytes)))
		bytes -= 2;
	fprintf(out, "modify_header_actions = %zu\n", nb);
	fprintf(out, "packet_reformat_bytes = %zu\n", bytes < HEADER_LEAST ? 0 : bytes);
	if (nb != 0)
		put_number(out, "modify_headers", count_actions(device, false));
	if (bytes >= HEADER_LEAST)
		put_number(out, "packet_reformats", count_actions(device, true));
}

/** @return 0 or the errno of a rule that takes a tunnel off and does something else, too */
static int
try_decap(const struct check_device *device, uint32_t flags, bool modifies)
{
	struct ibv_flow_spec_action_handle spec = { .type = IBV_FLOW_SPEC_ACTION_HANDLE,
		.size = sizeof(spec) };
	struct ibv_flow_action *decap = make_decap(device),
			       *modify = modifies ? make_modify(device, 1) : NULL;
	int ret = decap == NULL || (modifies && modify == NULL) ? EOPNOTSUPP : 0;
	struct rule rule;

	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, flags);
	spec.action = decap;
	rule_append(&rule, &spec, sizeof(spec));
	spec.action = modify;
	if (modifies)
		rule_append(&rule, &spec, sizeof(spec));
	if (ret == 0)
		ret = rule_try(device->qp, &rule);
	(void)try_action(decap);
	(void)try_action(modify);
	return ret;
}

/** One destination of an entry, a TIR: 64 QPs of their own would take rings, whose memory
 * libibverbs before 51 looks up in smaps, one after the other. */
struct member {
	struct ibv_qp *qp;
	struct ibv_counters *counters;
	struct ibv_flow *flow;
};

static struct ibv_qp *
make_tir(const struct check_device *device)
{
	static uint8_t key[40];
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE,
		.pd = device->pd,
		.rwq_ind_tbl = device->table,
		.rx_hash_conf = { IBV_RX_HASH_FUNC_TOEPLITZ, sizeof(key), key, 0 },
	};

	return ibv_create_qp_ex(device->ctx, &attr);
}

/** @return whether it is a destination more, with a counter of its own if @p counted */
static bool
member_add(const struct check_device *device, struct member *member, bool counted)
{
	struct ibv_counters_init_attr init = { 0 };
	struct ibv_counter_attach_attr attach = { .counter_desc = IBV_COUNTER_PACKETS };
	struct ibv_flow_spec_counter_action count = { .type = IBV_FLOW_SPEC_ACTION_COUNT,
		.size = sizeof(count) };
	struct rule rule;

	*member = (struct member){ .qp = make_tir(device) };
	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0);
	if (counted) {
		member->counters = ibv_create_counters(device->ctx, &init);
		if (member->counters == NULL ||
			ibv_attach_counters_point_flow(member->counters, &attach, NULL) != 0)
			return false;
		count.counters = member->counters;
		rule_append(&rule, &count, sizeof(count));
	}
	return member->qp != NULL && rule_create(member->qp, &rule, &member->flow) == 0;
}

static void
member_remove(struct member *member)
{
	if (member->flow != NULL)
		ibv_destroy_flow(member->flow);
	if (member->counters != NULL)
		ibv_destroy_counters(member->counters);
	if (member->qp != NULL)
		ibv_destroy_qp(member->qp);
}

/** @return how many destinations, or counters, an entry has */
static unsigned int
count_members(const struct check_device *device, bool counted)
{
	struct member members[SHARED_MOST];
	unsigned int nb = 0, nb_made = 0;

	while (nb == nb_made && nb_made < RTE_DIM(members))
		nb += member_add(device, &members[nb_made++], counted);
	while (nb_made > 0)
		member_remove(&members[--nb_made]);
	return nb;
}

/** A table of one work queue without requests, for TIRs. @return 0 or an errno */
static int
open_table(struct check_device *device)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 1, .max_sge = 1, .pd = device->pd, .cq = device->cq
	};
	struct ibv_wq_attr ready = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
	struct ibv_rwq_ind_table_init_attr table = { .ind_tbl = &device->wq };
	int ret;

	errno = EIO;
	device->wq = ibv_create_wq(device->ctx, &attr);
	if (device->wq == NULL)
		return errno;
	ret = ibv_modify_wq(device->wq, &ready);
	if (ret != 0)
		return ret;
	device->table = ibv_create_rwq_ind_table(device->ctx, &table);
	return device->table == NULL ? errno : 0;
}

static void
put_members(FILE *out, struct check_device *device)
{
	const int ret = open_table(device);

	if (ret != 0) {
		fprintf(out, "# no work queue to count destinations with: %s\n", strerror(ret));
		return;
	}
	put_number(out, "fte_destinations", count_members(device, false));
	put_number(out, "fte_counters", count_members(device, true));
}

/** What all trials need. @return 0 or an errno */
static int
open_queue(struct check_device *device)
{
	errno = 0;
	device->pd = ibv_alloc_pd(device->ctx);
	device->cq = ibv_create_cq(device->ctx, 2, NULL, NULL, 0);
	if (device->pd == NULL || device->cq == NULL)
		return errno;
	device->qp = make_receiver(device);
	return device->qp == NULL ? errno : 0;
}

void
check_model_try(FILE *out, struct check_device *device)
{
	int ret = open_queue(device), passthru;

	if (ret != 0) {
		fprintf(out, "# no QP of raw packets to try rules with: %s\n", strerror(ret));
		return;
	}
	put_descriptors(out, device);
	put_trial(out, "rate_limit_bursts", try_bursts(device));
	passthru = try_kind(device, IBV_FLOW_ATTR_NORMAL, IBV_FLOW_ATTR_FLAGS_DONT_TRAP);
	put_trial(out, "dont_trap", passthru);
	put_trial(out, "sniffer", try_kind(device, IBV_FLOW_ATTR_SNIFFER, 0));
	put_actions(out, device);
	/* A rule that lets frames go on is an entry that leads to a table. */
	if (passthru == 0)
		put_trial(out, "reformat_and_fwd_to_table",
			try_decap(device, IBV_FLOW_ATTR_FLAGS_DONT_TRAP, false));
	put_trial(out, "reformat_and_modify_action", try_decap(device, 0, true));
	put_members(out, device);
}
