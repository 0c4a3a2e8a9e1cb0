/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: modify and query of their states. */
#include <errno.h>

#include <infiniband/verbs.h>
#include <rdma/mlx5-abi.h>

#include "abi/object/commands.h"
#include "abi/qp/qp_roce.h"
#include "abi/qp/qp_share.h"
#include "config/model.h"
#include "hw/queue/rq.h"
#include "hw/queue/sq.h"
#include "hw/roce/group.h"
#include "strict/findings.h"

#define NB_STATES (IBV_QPS_ERR + 1)
#define STANDARD_ATTRS                                                                             \
	((1u << 21) - 1) /* IB_QP_ATTR_STANDARD_BITS: STATE to DEST_QPN, in ib_verbs.h */

enum queue_step {
	STEP_NONE,
	STEP_RESET,   /* both queues */
	STEP_RECEIVE, /* the RQ gets ready */
	STEP_SEND,    /* the SQ gets ready */
	STEP_ERROR,   /* both queues */
};

/**
 * Transitions: attributes other than the state by drivers/infiniband/core/verbs.c qp_state_table,
 * the column of raw packet QPs; the step of the queues by hw/mlx5/qp.c modify_raw_packet_qp, which
 * has none from SQE to RTS.
 */
static const struct {
	bool is_allowed;
	uint32_t required;
	uint32_t optional;
	enum queue_step step;
} transitions[NB_STATES][NB_STATES] = {
	[IBV_QPS_RESET] = {
		[IBV_QPS_RESET] = { true, 0, 0, STEP_RESET },
		[IBV_QPS_INIT] = { true, IBV_QP_PORT, 0, STEP_RECEIVE },
	},
	[IBV_QPS_INIT] = {
		[IBV_QPS_RESET] = { true, 0, 0, STEP_RESET },
		[IBV_QPS_INIT] = { true, 0, 0, STEP_NONE },
		[IBV_QPS_RTR] = { true, 0, 0, STEP_NONE },
		[IBV_QPS_ERR] = { true, 0, 0, STEP_ERROR },
	},
	[IBV_QPS_RTR] = {
		[IBV_QPS_RESET] = { true, 0, 0, STEP_RESET },
		[IBV_QPS_RTS] = { true, 0, IBV_QP_RATE_LIMIT, STEP_SEND },
		[IBV_QPS_ERR] = { true, 0, 0, STEP_ERROR },
	},
	[IBV_QPS_RTS] = {
		[IBV_QPS_RESET] = { true, 0, 0, STEP_RESET },
		[IBV_QPS_RTS] = { true, 0, IBV_QP_RATE_LIMIT, STEP_NONE },
		[IBV_QPS_ERR] = { true, 0, 0, STEP_ERROR },
	},
	[IBV_QPS_SQE] = {
		[IBV_QPS_RESET] = { true, 0, 0, STEP_RESET },
		[IBV_QPS_ERR] = { true, 0, 0, STEP_ERROR },
	},
	[IBV_QPS_ERR] = {
		[IBV_QPS_RESET] = { true, 0, 0, STEP_RESET },
		[IBV_QPS_ERR] = { true, 0, 0, STEP_NONE },
	},
};

static void
set_queues(struct shca_qp_object *qp, enum shca_queue_state state)
{
	if (qp->rq != NULL)
		shca_rq_modify(qp->rq, state);
	if (qp->sq != NULL)
		shca_sq_modify(qp->sq, state);
}

/** @return whether a queue of the QP is in the error state */
static bool
has_failed(const struct shca_qp_object *qp)
{
	return (qp->sq != NULL && shca_sq_state(qp->sq) == SHCA_QUEUE_ERROR) ||
		(qp->rq != NULL && shca_rq_state(qp->rq) == SHCA_QUEUE_ERROR);
}

/**
 * Commands name the current states of the queues, as the kernel has them: set last, or seen by a
 * query (hw/mlx5/qp.c modify_raw_packet_qp_sq(), query_raw_packet_qp_sq_state()). Report a command
 * to a queue that has failed without the kernel's knowledge, unless the program asked right before:
 * between query and command a queue can always fail, so firmware's refusal is no mistake then.
 */
static void
report_state(const struct shca_qp_object *qp)
{
	const struct shca_device_conf *conf = shca_device_conf(qp->object.file->dev);
	struct shca_finding_site site = {
		.device = conf->index,
		.queue = "QP handle",
		.number = qp->object.handle,
		.context = &qp->object.file->context,
	};

	if (has_failed(qp) && !qp->error_known && qp->state != IBV_QPS_ERR &&
		(qp->queried == 0 || qp->queried + 1 != qp->object.file->nb_calls) &&
		conf->findings != NULL)
		shca_findings_report(conf->findings, SHCA_FINDING_QUEUE_STATE, &site);
}

static void
take_step(struct shca_qp_object *qp, enum queue_step step)
{
	if (step != STEP_NONE) {
		report_state(qp);
		qp->error_known = false;
	}
	switch (step) {
	case STEP_NONE:
		break;
	case STEP_RESET:
		if (qp->sq != NULL)
			shca_device_catch_up(qp->object.file->dev);
		set_queues(qp, SHCA_QUEUE_RESET);
		break;
	case STEP_RECEIVE:
		if (qp->rq != NULL)
			shca_rq_modify(qp->rq, SHCA_QUEUE_READY);
		break;
	case STEP_SEND:
		if (qp->sq != NULL)
			shca_sq_modify(qp->sq, SHCA_QUEUE_READY);
		break;
	case STEP_ERROR:
		if (qp->sq != NULL)
			shca_device_catch_up(qp->object.file->dev);
		set_queues(qp, SHCA_QUEUE_ERROR);
		break;
	}
}

int
shca_qp_check_port(const struct shca_file *file, uint32_t handle, uint8_t port)
{
	const struct shca_device_conf *conf = shca_device_conf(file->dev);
	struct shca_finding_site site = {
		.device = conf->index,
		.queue = "QP handle",
		.number = handle,
		.index = port,
		.context = &file->context,
	};

	if (port != 0 && port <= shca_conf_nb_ports(conf))
		return 0;
	if (conf->findings != NULL)
		shca_findings_report(conf->findings, SHCA_FINDING_FLOW_PORT, &site);
	return -EINVAL;
}

/** Initializations of queue pairs in this process. */
static uint64_t last_init;

uint64_t
shca_qp_last_init(void)
{
	return __atomic_load_n(&last_init, __ATOMIC_RELAXED);
}

void
shca_qp_counts(const struct shca_qp_object *qp, struct shca_qp_counts *counts)
{
	*counts = (struct shca_qp_counts){ 0 };
	if (qp->roce != NULL)
		shca_roce_qp_counts(qp->roce, counts);
	else if (qp->rq != NULL)
		counts->out_of_buffer = shca_rq_out_of_buffer(qp->rq);
}

/** Note what a counter that it is bound to in this moment needs (core/verbs.c _ib_modify_qp()). */
static void
note_init(struct shca_qp_object *qp)
{
	qp->init_serial = __atomic_add_fetch(&last_init, 1, __ATOMIC_RELAXED);
	shca_qp_counts(qp, &qp->init_counts);
}

/** A requested rate limit; a rate of 0 means none. */
struct rate {
	uint32_t kbps;
	struct mlx5_ib_burst_info burst;
};

/** As __mlx5_ib_modify_qp and mlx5_rl_add_rate: a limit that the model lacks is -EINVAL. */
static int
check_rate(const struct shca_model *model, const struct rate *rate)
{
	const bool has_burst = rate->burst.max_burst_sz != 0 || rate->burst.typical_pkt_sz != 0;

	if (has_burst && (rate->kbps == 0 || !model->paced_bursts))
		return -EINVAL;
	if (rate->kbps == 0)
		return 0;
	if (model->max_rate_kbps == 0 || rate->kbps < SHCA_MIN_RATE_KBPS ||
		rate->kbps > model->max_rate_kbps)
		return -EINVAL;
	return 0;
}

/** What an e-switch's manager sends leaves by its QP's port (hw/mlx5/ib_rep.c
 * create_flow_rule_vport_sq). */
static int
set_sending_port(struct shca_qp_object *qp, uint8_t port)
{
	const struct shca_device_conf *conf = shca_device_conf(qp->object.file->dev);

	if (!shca_conf_has_rep(conf, port))
		return -EINVAL;
	if (conf->nb_vports != 0)
		shca_sq_set_port(qp->sq, port);
	return 0;
}

static int
modify_roce(struct shca_qp_object *qp, const struct ib_uverbs_modify_qp *request)
{
	const uint8_t from = qp->state;
	const int ret = shca_qp_modify_roce(qp, request);

	if (ret == 0 && from == IBV_QPS_RESET && qp->state == IBV_QPS_INIT)
		note_init(qp);
	return ret;
}

static int
modify(struct shca_file *file, const struct ib_uverbs_modify_qp *request, const struct rate *rate)
{
	struct shca_object *object;
	struct shca_qp_object *qp;
	uint32_t attrs = request->attr_mask & ~(uint32_t)IBV_QP_STATE;
	uint8_t to;
	int ret;

	ret = shca_object_find(file, &shca_qp_class, request->qp_handle, &object);
	if (ret != 0)
		return ret;
	qp = shca_qp_share_owner((struct shca_qp_object *)object);
	if (attrs & IBV_QP_PORT)
		ret = shca_qp_check_port(file, request->qp_handle, request->port_num);
	if (ret != 0)
		return ret;
	if (qp->rwq_ind != NULL)
		return -ENOSYS;
	if (qp->roce != NULL)
		return modify_roce(qp, request);
	to = request->attr_mask & IBV_QP_STATE ? request->qp_state : qp->state;
	if (to >= NB_STATES || !transitions[qp->state][to].is_allowed)
		return -EINVAL;
	if ((attrs & transitions[qp->state][to].required) != transitions[qp->state][to].required ||
		(attrs &
			~(transitions[qp->state][to].required |
				transitions[qp->state][to].optional)))
		return -EINVAL;
	if (attrs & IBV_QP_RATE_LIMIT)
		ret = check_rate(file->model, rate);
	if (ret == 0 && (attrs & IBV_QP_PORT) && qp->sq != NULL)
		ret = set_sending_port(qp, request->port_num);
	if (ret != 0)
		return ret;
	if (attrs & IBV_QP_PORT)
		qp->port = request->port_num;
	if (qp->state == IBV_QPS_RESET && to == IBV_QPS_INIT)
		note_init(qp);
	take_step(qp, transitions[qp->state][to].step);
	qp->state = to;
	if ((attrs & IBV_QP_RATE_LIMIT) && qp->sq != NULL)
		shca_sq_set_rate(qp->sq, rate->kbps, rate->burst.max_burst_sz);
	return 0;
}

/** ATTACH_MCAST and DETACH_MCAST, whose requests are alike; as ib_attach_mcast() of core/verbs.c,
 * for which RoCE has no LIDs. */
static int
find_member(struct shca_write *write, struct ib_uverbs_attach_mcast *request,
	struct shca_qp_object **qp)
{
	struct shca_object *object;
	int ret = shca_user_read(write->in, 0, request, sizeof(*request));

	if (ret == 0)
		ret = shca_object_find(write->file, &shca_qp_class, request->qp_handle, &object);
	if (ret != 0)
		return ret;
	*qp = (struct shca_qp_object *)object;
	return (*qp)->type == IBV_QPT_UD && shca_group_is(request->gid) ? 0 : -EINVAL;
}

int
shca_qp_write_attach_mcast(struct shca_write *write)
{
	struct ib_uverbs_attach_mcast request;
	struct shca_qp_object *qp;
	int ret = find_member(write, &request, &qp);

	return ret != 0 ? ret : shca_group_attach(qp->roce, request.gid, &qp->object.nb_users);
}

int
shca_qp_write_detach_mcast(struct shca_write *write)
{
	struct ib_uverbs_attach_mcast request;
	struct shca_qp_object *qp;
	int ret = find_member(write, &request, &qp);

	if (ret == 0)
		ret = shca_group_detach(qp->roce, request.gid);
	if (ret == 0)
		qp->object.nb_users--;
	return ret;
}

int
shca_qp_write_modify(struct shca_write *write)
{
	struct ib_uverbs_modify_qp request;
	int ret = shca_user_read(write->in, 0, &request, sizeof(request));

	if (ret != 0)
		return ret;
	if (request.attr_mask & ~STANDARD_ATTRS)
		return -EOPNOTSUPP;
	return modify(write->file, &request, NULL);
}

int
shca_qp_write_modify_ex(struct shca_write *write)
{
	const struct ib_uverbs_ex_modify_qp_resp response = {
		.response_length = sizeof(response),
	};
	struct mlx5_ib_modify_qp driver_request;
	struct ib_uverbs_ex_modify_qp request;
	struct rate rate;
	int ret;

	ret = shca_user_read(write->in, 0, &request, sizeof(request));
	if (ret == 0)
		ret = shca_user_read(write->driver_in, 0, &driver_request, sizeof(driver_request));
	if (ret != 0)
		return ret;
	if (request.base.attr_mask & ~(STANDARD_ATTRS | (uint32_t)IBV_QP_RATE_LIMIT))
		return -EOPNOTSUPP;
	if (write->driver_in->length != 0 && write->driver_in->length < sizeof(driver_request))
		return -EINVAL;
	if (driver_request.comp_mask != 0 || driver_request.burst_info.reserved != 0 ||
		shca_user_check_clear(write->driver_in, sizeof(driver_request)) != 0)
		return -EOPNOTSUPP;
	rate = (struct rate){ .kbps = request.rate_limit, .burst = driver_request.burst_info };
	ret = modify(write->file, &request.base, &rate);
	return ret != 0 ? ret : shca_user_write(write->out, &response, sizeof(response));
}

/** Learn what the queues did by themselves, as the kernel does by a query: SQE when only the send
 * queue of two failed, ERR when no queue of the QP works, and no name for one that only sends
 * (hw/mlx5/qp.c sqrq_state_to_qp_state(), mlx5_ib_query_qp()). */
static int
learn_state(struct shca_qp_object *qp)
{
	const bool sq_failed = qp->sq != NULL && shca_sq_state(qp->sq) == SHCA_QUEUE_ERROR;
	const bool rq_failed = qp->rq != NULL && shca_rq_state(qp->rq) == SHCA_QUEUE_ERROR;

	qp->error_known = sq_failed || rq_failed;
	qp->queried = qp->object.file->nb_calls;
	if (rq_failed && qp->sq != NULL && !sq_failed)
		return -EINVAL;
	if (rq_failed)
		qp->state = IBV_QPS_ERR;
	else if (sq_failed && qp->rq != NULL)
		qp->state = IBV_QPS_SQE;
	return 0;
}

int
shca_qp_write_query(struct shca_write *write)
{
	struct ib_uverbs_query_qp_resp response = { 0 };
	struct ib_uverbs_query_qp request;
	struct shca_object *object;
	struct shca_qp_object *qp;
	int ret;

	ret = shca_user_read(write->in, 0, &request, sizeof(request));
	if (ret == 0)
		ret = shca_object_find(write->file, &shca_qp_class, request.qp_handle, &object);
	if (ret != 0)
		return ret;
	qp = shca_qp_share_owner((struct shca_qp_object *)object);
	if (qp->rwq_ind != NULL)
		return -ENOSYS;
	/* As mlx5_ib_query_qp(): the limits of sends are 0, libmlx5 knows them itself. */
	response.max_recv_wr = qp->rq_wqes;
	response.max_recv_sge = qp->rq_segments;
	response.sq_sig_all = qp->signal_all;
	if (qp->roce != NULL) {
		response.port_num = qp->port;
		shca_qp_query_roce(qp, &response);
		return shca_user_write(write->out, &response, sizeof(response));
	}
	ret = learn_state(qp);
	if (ret != 0)
		return ret;
	response.port_num = 1;
	response.qp_state = response.cur_qp_state = qp->state;
	return shca_user_write(write->out, &response, sizeof(response));
}
