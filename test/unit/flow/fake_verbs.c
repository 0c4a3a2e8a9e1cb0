/* SPDX-License-Identifier: BSD-3-Clause */
/* The books of the fake context. */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "fake_verbs.h"
#include "flow/rule/flow_state.h"
#include "queue/rx/rxq.h"

struct fake_verbs fake;
int mdv_log_type = RTE_LOGTYPE_USER1;

void *__real_calloc(size_t nb, size_t size);
void *__wrap_calloc(size_t nb, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool
fake_fails(void)
{
	if (++fake.calls != fake.fail_at)
		return false;
	errno = fake.fail_errno;
	return true;
}

void *
__wrap_calloc(size_t nb, size_t size)
{
	void (*on_calloc)(void) = fake.on_calloc;

	if (on_calloc != NULL) {
		fake.on_calloc = NULL;
		on_calloc();
	}
	return fake.fail_at != 0 && fake_fails() ? NULL : __real_calloc(nb, size);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fake.fail_at != 0 && fake_fails() ? NULL : __real_aligned_alloc(alignment, size);
}

void
mdv_rxq_enable_marks(struct mdv_port *port)
{
	(void)port;
	fake.marks_expected = true;
}

struct ibv_wq *
mdv_rxq_wq(struct mdv_port *port, uint16_t idx)
{
	assert_ptr_equal(port, &fake.port);
	return fake.queues_started && idx < FAKE_QUEUES ? &fake.wqs[idx] : NULL;
}

static struct ibv_rwq_ind_table *
create_table(struct ibv_context *context, struct ibv_rwq_ind_table_init_attr *attr)
{
	struct fake_table *table;

	if (fake_fails())
		return NULL;
	table = __real_calloc(1, sizeof(*table));
	table->verbs.context = context;
	table->size = 1u << attr->log_ind_tbl_size;
	assert_uint_in_range(table->size, 1, RTE_DIM(table->queues));
	for (unsigned int i = 0; i < table->size; i++)
		table->queues[i] = attr->ind_tbl[i] - fake.wqs;
	fake.nb_tables++;
	return &table->verbs;
}

static int
destroy_table(struct ibv_rwq_ind_table *verbs)
{
	struct fake_table *table = (struct fake_table *)verbs;

	assert_int_equal(table->users, 0);
	free(table);
	fake.nb_tables--;
	return 0;
}

static struct ibv_qp *
create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct fake_qp *qp;

	if (fake_fails())
		return NULL;
	qp = __real_calloc(1, sizeof(*qp));
	qp->verbs.context = context;
	assert_int_equal(attr->qp_type, IBV_QPT_RAW_PACKET);
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE) != 0) {
		qp->table = (struct fake_table *)attr->rwq_ind_tbl;
		qp->table->users++;
		qp->fields = attr->rx_hash_conf.rx_hash_fields_mask;
		/* As drivers/infiniband/hw/mlx5/qp.c has it. */
		assert_int_equal(attr->rx_hash_conf.rx_hash_key_len, sizeof(qp->key));
		assert_true(qp->fields != 0 || qp->table->size == 1);
		memcpy(qp->key, attr->rx_hash_conf.rx_hash_key, sizeof(qp->key));
	}
	qp->receives = qp->table != NULL || attr->cap.max_recv_wr != 0;
	fake.nb_qps++;
	return &qp->verbs;
}

struct ibv_qp *
mlx5dv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
	struct mlx5dv_qp_init_attr *driver_attr)
{
	struct fake_qp *qp = (struct fake_qp *)create_qp(context, attr);

	assert_int_equal(driver_attr->comp_mask, MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS);
	assert_int_equal(driver_attr->create_flags, MLX5DV_QP_CREATE_TUNNEL_OFFLOADS);
	/* As drivers/infiniband/hw/mlx5/qp.c has it. */
	assert_int_not_equal(fake.port.device.caps.tunnel_offloads, 0);
	if (qp == NULL)
		return NULL;
	qp->tunnel = true;
	return &qp->verbs;
}

struct ibv_qp *
ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex attr_ex = { .qp_type = attr->qp_type, .cap = attr->cap };

	assert_ptr_equal(pd, &fake.pd);
	return create_qp(&fake.context.context, &attr_ex);
}

int
ibv_destroy_qp(struct ibv_qp *verbs)
{
	struct fake_qp *qp = (struct fake_qp *)verbs;

	assert_int_equal(qp->users, 0);
	if (qp->table != NULL)
		qp->table->users--;
	free(qp);
	fake.nb_qps--;
	return 0;
}

struct ibv_cq *
ibv_create_cq(struct ibv_context *context, int cqe, void *user, struct ibv_comp_channel *channel,
	int vector)
{
	struct ibv_cq *cq;

	(void)user, (void)channel, (void)vector, (void)cqe;
	if (fake_fails())
		return NULL;
	cq = __real_calloc(1, sizeof(*cq));
	cq->context = context;
	fake.nb_cqs++;
	return cq;
}

int
ibv_destroy_cq(struct ibv_cq *cq)
{
	free(cq);
	fake.nb_cqs--;
	return 0;
}

static struct ibv_flow_action *
create_action(struct ibv_context *context, enum mlx5dv_flow_table_type table, int reformat,
	const void *bytes, size_t nb)
{
	struct fake_action *action;

	if ((fake.no_actions & FAKE_ACTION(table, reformat)) != 0) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (fake_fails())
		return NULL;
	action = __real_calloc(1, sizeof(*action));
	action->verbs.context = context;
	action->table = table;
	action->reformat = reformat;
	assert_uint_in_range(nb, 0, sizeof(action->bytes));
	action->nb_bytes = nb;
	if (nb != 0)
		memcpy(action->bytes, bytes, nb);
	fake.nb_actions++;
	if (fake.on_action != NULL)
		fake.on_action(action);
	return &action->verbs;
}

struct ibv_flow_action *
mlx5dv_create_flow_action_modify_header(
	struct ibv_context *context, size_t nb, uint64_t *steps, enum mlx5dv_flow_table_type table)
{
	assert_true(nb != 0 && nb % sizeof(*steps) == 0);
	return create_action(context, table, -1, steps, nb);
}

struct ibv_flow_action *
mlx5dv_create_flow_action_packet_reformat(struct ibv_context *context, size_t nb, void *header,
	enum mlx5dv_flow_action_packet_reformat_type type, enum mlx5dv_flow_table_type table)
{
	/* As rdma-core's flow_action_packet_reformat has it. */
	assert_int_equal(nb == 0, header == NULL);
	return create_action(context, table, type, header, nb);
}

static int
destroy_action(struct ibv_flow_action *verbs)
{
	struct fake_action *action = (struct fake_action *)verbs;

	assert_int_equal(action->users, 0);
	free(action);
	fake.nb_actions--;
	return 0;
}

static void
use_action(struct fake_flow *flow, const struct ibv_flow_action *verbs)
{
	struct fake_action *action = (struct fake_action *)(uintptr_t)verbs;

	/* One of each kind: drivers/infiniband/hw/mlx5/fs.c parse_flow_flow_action. */
	assert_null(flow->actions[1]);
	if (flow->actions[0] != NULL)
		assert_true((flow->actions[0]->reformat < 0) != (action->reformat < 0));
	flow->actions[flow->actions[0] != NULL ? 1 : 0] = action;
	action->users++;
}

/** Copy the attribute and walk its specs as the library does, each by its own size. */
static void
record_attr(struct fake_flow *flow, const struct ibv_flow_attr *attr)
{
	bool receives = (attr->flags & IBV_FLOW_ATTR_FLAGS_EGRESS) == 0;
	unsigned int at = sizeof(*attr), nb;

	assert_uint_in_range(attr->size, sizeof(*attr), sizeof(flow->build.bytes));
	memcpy(flow->build.bytes, attr, attr->size);
	for (nb = 0; at < attr->size; nb++) {
		struct ibv_flow_spec spec;

		memcpy(&spec.hdr, &flow->build.bytes[at], sizeof(spec.hdr));
		if (spec.hdr.type == IBV_FLOW_SPEC_ACTION_COUNT) {
			memcpy(&spec, &flow->build.bytes[at], sizeof(spec.flow_count));
			flow->counters = spec.flow_count.counters;
		}
		if (spec.hdr.type == IBV_FLOW_SPEC_ACTION_HANDLE) {
			memcpy(&spec, &flow->build.bytes[at], sizeof(spec.handle));
			use_action(flow, spec.handle.action);
		}
		receives &= spec.hdr.type != IBV_FLOW_SPEC_ACTION_DROP;
		assert_true(spec.hdr.size >= 8);
		at += spec.hdr.size;
	}
	/* Firmware refuses an entry without a TIR. */
	assert_true(flow->qp->receives || !receives);
	assert_int_equal(at, attr->size);
	assert_int_equal(nb, attr->num_of_specs);
}

static void
note_bypassed(const struct fake_flow *flow)
{
	const struct fake_flow *other;

	TAILQ_FOREACH (other, &fake.flows, next)
		if (other->build.attr.priority > flow->build.attr.priority)
			break;
	fake.nb_bypassed += other != NULL;
}

static struct ibv_flow *
create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct fake_flow *flow;

	if (fake.flows_untold)
		return NULL;
	if (fake_fails())
		return NULL;
	if (attr->priority >= fake.nb_levels) {
		errno = ENOMEM; /* sic: drivers/infiniband/hw/mlx5/fs.c */
		return NULL;
	}
	if (attr->type == IBV_FLOW_ATTR_ALL_DEFAULT &&
		(attr->flags & IBV_FLOW_ATTR_FLAGS_EGRESS) != 0) {
		errno = EINVAL; /* before anything is made: the same */
		return NULL;
	}
	flow = __real_calloc(1, sizeof(*flow));
	flow->verbs.context = qp->context;
	flow->qp = (struct fake_qp *)qp;
	flow->qp->users++;
	/* The device looks into tunnels for a QP that says so, only there. */
	assert_int_equal(flow->qp->tunnel,
		flow->qp->table != NULL && fake.port.device.caps.tunnel_offloads != 0);
	assert_true(flow->qp->tunnel || (flow->qp->fields & IBV_RX_HASH_INNER) == 0);
	record_attr(flow, attr);
	note_bypassed(flow);
	TAILQ_INSERT_TAIL(&fake.flows, flow, next);
	fake.nb_flows++;
	fake.nb_created++;
	if (fake.nb_flows > fake.max_flows)
		fake.max_flows = fake.nb_flows;
	return &flow->verbs;
}

static int
destroy_flow(struct ibv_flow *verbs)
{
	struct fake_flow *flow = (struct fake_flow *)verbs;

	flow->qp->users--;
	note_bypassed(flow);
	for (unsigned int i = 0; i < RTE_DIM(flow->actions); i++)
		if (flow->actions[i] != NULL)
			flow->actions[i]->users--;
	TAILQ_REMOVE(&fake.flows, flow, next);
	free(flow);
	fake.nb_flows--;
	fake.nb_destroyed++;
	return 0;
}

/** Counters of a flow, and which of their two points are attached. */
struct fake_counters {
	struct ibv_counters verbs;
	unsigned int points;
};

static struct ibv_counters *
create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr)
{
	struct fake_counters *counters;

	assert_int_equal(attr->comp_mask, 0);
	if (fake_fails())
		return NULL;
	counters = __real_calloc(1, sizeof(*counters));
	counters->verbs.context = context;
	fake.nb_counters++;
	return &counters->verbs;
}

static int
destroy_counters(struct ibv_counters *counters)
{
	struct fake_flow *flow;

	TAILQ_FOREACH (flow, &fake.flows, next)
		assert_ptr_not_equal(flow->counters, counters);
	free(counters);
	fake.nb_counters--;
	return 0;
}

static int
attach_counters(
	struct ibv_counters *counters, struct ibv_counter_attach_attr *attr, struct ibv_flow *flow)
{
	assert_non_null(counters);
	assert_null(flow);
	assert_int_equal(attr->comp_mask, 0);
	if (fake_fails() && fake.fail_errno != 0)
		return fake.fail_errno;
	assert_int_equal(
		attr->counter_desc, attr->index == 0 ? IBV_COUNTER_PACKETS : IBV_COUNTER_BYTES);
	((struct fake_counters *)counters)->points |= 1u << attr->index;
	return 0;
}

static int
read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t nb, uint32_t flags)
{
	assert_non_null(counters);
	assert_int_equal(nb, 2);
	assert_int_equal(flags, 0);
	assert_int_equal(((struct fake_counters *)counters)->points, 3);
	if (fake.fail_at != 0 && fake_fails())
		return fake.fail_errno;
	values[0] = fake.hits;
	values[1] = fake.hits * 64;
	return 0;
}

void
fake_init(void)
{
	/* For what needs no more of the flow engine than its fields. */
	static struct mdv_flow_state flow_state;

	memset(&fake, 0, sizeof(fake));
	memset(&flow_state, 0, sizeof(flow_state));
	fake.port.flow = &flow_state;
	TAILQ_INIT(&fake.flows);
	fake.context.sz = sizeof(fake.context);
	fake.context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	fake.context.create_rwq_ind_table = create_table;
	fake.context.destroy_rwq_ind_table = destroy_table;
	fake.context.create_qp_ex = create_qp;
	fake.context.ibv_create_flow = create_flow;
	fake.context.ibv_destroy_flow = destroy_flow;
	fake.context.destroy_flow_action = destroy_action;
	fake.context.create_counters = create_counters;
	fake.context.destroy_counters = destroy_counters;
	fake.context.attach_counters_point_flow = attach_counters;
	fake.context.read_counters = read_counters;
	fake.pd.context = &fake.context.context;
	fake.nb_levels = 16;
	fake.queues_started = true;
	fake.data.nb_rx_queues = 4;
	fake.data.dev_private = &fake.port;
	fake.data.mac_addrs = fake.macs;
	fake.macs[0] = (struct rte_ether_addr){ { 2, 0, 0, 0, 0, 1 } };
	fake.dev.data = &fake.data;
	fake.port.dev = &fake.dev;
	fake.port.device.ctx = &fake.context.context;
	fake.port.device.pd = &fake.pd;
	fake.port.device.port_num = 1;
	fake.port.device.caps.flow_steering = true;
	fake.port.device.caps.max_rwq_ind_table_size = 512;
	fake.port.device.caps.rx_hash_fields = 0xff | IBV_RX_HASH_INNER;
	fake.port.device.caps.tunnel_offloads = FAKE_TUNNELS;
	flow_state.rss_types = mdv_rss_types(&fake.port.device.caps);
	fake.port.nb_reta = 4;
	for (unsigned int i = 0; i < 4; i++)
		fake.port.reta[i] = i;
	memset(fake.port.rss_key, 0x5a, sizeof(fake.port.rss_key));
}

void
fake_init_flow(void)
{
	fake_init();
	assert_int_equal(mdv_flow_init(&fake.port), 0);
	assert_int_equal(fake.port.flow->nb_priorities, 16);
	fake_assert_empty();
	fake.nb_created = 0;
	fake.nb_destroyed = 0;
	fake.max_flows = 0;
	fake.nb_bypassed = 0;
}

void
fake_arm(unsigned int nth, int code)
{
	fake.calls = 0;
	fake.fail_at = nth;
	fake.fail_errno = code;
}

void
fake_assert_empty(void)
{
	assert_int_equal(fake.nb_flows, 0);
	assert_int_equal(fake.nb_qps, 0);
	assert_int_equal(fake.nb_tables, 0);
	assert_int_equal(fake.nb_counters, 0);
	assert_int_equal(fake.nb_actions, 0);
	assert_int_equal(fake.nb_cqs, 0);
}

void
fake_assert_no_dests(void)
{
	const struct mdv_flow_dests *dests = &fake.port.flow->dests;

	for (unsigned int i = 0; i < MDV_FLOW_DEST_BUCKETS; i++)
		assert_true(LIST_EMPTY(&dests->buckets[i]));
	assert_true(LIST_EMPTY(&dests->bare));
}

void
fake_start_isolated(void)
{
	fake_init_flow();
	fake.port.isolated = true;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
}

void
fake_end_flow(void)
{
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

unsigned int
fake_hex(const char *hex, uint8_t *bytes, unsigned int size)
{
	unsigned int nb = 0;

	for (; *hex != '\0'; hex++) {
		char pair[3] = { hex[0], hex[1] };

		if (isspace((unsigned char)*hex))
			continue;
		assert_true(nb < size && isxdigit((unsigned char)hex[0]) &&
			isxdigit((unsigned char)hex[1]));
		bytes[nb++] = strtoul(pair, NULL, 16);
		hex++;
	}
	return nb;
}

void
fake_assert_bytes(const char *name, const uint8_t *bytes, unsigned int nb, const char *hex)
{
	uint8_t expected[MDV_FLOW_BUILD_BYTES];
	unsigned int nb_expected = fake_hex(hex, expected, sizeof(expected));

	if (nb != nb_expected)
		fail_msg("%s: %u bytes, expected %u", name, nb, nb_expected);
	for (unsigned int i = 0; i < nb; i++)
		if (bytes[i] != expected[i])
			fail_msg("%s: byte %u is 0x%02x, expected 0x%02x", name, i, bytes[i],
				expected[i]);
}

struct fake_flow *
fake_flow_at(unsigned int index)
{
	struct fake_flow *flow = TAILQ_FIRST(&fake.flows);

	while (flow != NULL && index-- != 0)
		flow = TAILQ_NEXT(flow, next);
	assert_non_null(flow);
	return flow;
}
