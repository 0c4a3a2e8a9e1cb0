/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA netlink tells a process of its objects: counted, listed, one by its number. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include "config/options.h"
#include "nldev/nldev.h"
#include "rig.h"

#include "../capability.h"
#include "../padding.h"

#define MR_BYTES       8192
#define NLDEV(command) RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_##command)

static struct shca_options options;

static struct {
	_Alignas(8) uint8_t bytes[16 * SHCA_NLDEV_DATAGRAM_MAX];
	size_t length;
	struct shca_device *dev; /* NULL: not opened */
	void (*then)(void);      /* called once, behind the first datagram, or NULL */
} sent;

static int
take(void *arg, const void *bytes, size_t length)
{
	assert_ptr_equal(arg, &sent);
	assert_true(length <= 4096 && length <= sizeof(sent.bytes) - sent.length);
	test_padding(bytes, length, 0);
	memcpy(sent.bytes + sent.length, bytes, length);
	sent.length += length;
	if (sent.then != NULL)
		sent.then();
	sent.then = NULL;
	return 0;
}

static struct shca_device *
device_of(void *arg, unsigned int index)
{
	assert_ptr_equal(arg, &sent);
	assert_int_equal(index, 0);
	return sent.dev;
}

/** The attributes of a request besides the device's. */
struct asked {
	uint16_t type, flags, attr; /* attr 0: none */
	uint32_t value;
	uint32_t counted; /* what has counters, or 0 */
	uint32_t port;    /* or 0: not given */
};

static void
ask(const struct asked *asked)
{
	const struct shca_nldev nldev = { .options = &options,
		.dir = "/",
		.portid = 1,
		.send = take,
		.device = device_of,
		.arg = &sent };
	_Alignas(8) uint8_t bytes[256];
	struct nlmsghdr *message = mnl_nlmsg_put_header(bytes);

	message->nlmsg_type = asked->type;
	message->nlmsg_flags = NLM_F_REQUEST | asked->flags;
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	if (asked->attr != 0)
		mnl_attr_put_u32(message, asked->attr, asked->value);
	if (asked->counted != 0)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_RES, asked->counted);
	if (asked->port != 0)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, asked->port);
	sent.length = 0;
	assert_int_equal(shca_nldev_answer(&nldev, bytes, message->nlmsg_len), 0);
}

/** @return message @p index of the answer, or NULL. */
static const struct nlmsghdr *
answer_at(unsigned int index)
{
	const struct nlmsghdr *message = (const void *)sent.bytes;
	int left = (int)sent.length;

	for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left))
		if (index-- == 0)
			return message;
	return NULL;
}

/** @return the result of a dump that has @p nb messages, or the errno of another answer. */
static int
result_of(unsigned int nb)
{
	const struct nlmsghdr *last = answer_at(nb);

	assert_non_null(last);
	assert_true(last->nlmsg_type == NLMSG_DONE || last->nlmsg_type == NLMSG_ERROR);
	assert_null(answer_at(nb + 1));
	return *(const int *)mnl_nlmsg_get_payload(last);
}

static int
keep(const struct nlattr *attr, void *data)
{
	const struct nlattr **attrs = data;

	attrs[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static const struct nlattr *
child_of(const struct nlattr *nest, uint16_t type)
{
	const struct nlattr *attrs[RDMA_NLDEV_ATTR_MAX] = { 0 };

	mnl_attr_parse_nested(nest, keep, attrs);
	return attrs[type];
}

static const struct nlattr *
attr_of(const struct nlmsghdr *message, uint16_t type)
{
	const struct nlattr *attrs[RDMA_NLDEV_ATTR_MAX] = { 0 };

	mnl_attr_parse(message, 0, keep, attrs);
	return attrs[type];
}

/** Of the one entry of message @p index of a dump. */
static const struct nlattr *
member(unsigned int index, uint16_t table, uint16_t entry, uint16_t type)
{
	const struct nlattr *nest = attr_of(answer_at(index), table);

	assert_non_null(nest);
	nest = child_of(nest, entry);
	assert_non_null(nest);
	return child_of(nest, type);
}

#define MEMBER(index, type, name)                                                                  \
	mnl_attr_get_u32(member(index, RDMA_NLDEV_ATTR_RES_##type,                                 \
		RDMA_NLDEV_ATTR_RES_##type##_ENTRY, RDMA_NLDEV_ATTR_RES_##name))

/** One object of each type, and a second context. */
struct world {
	struct rig *rig;
	uint32_t cqn, qpn, pdn, lkey;
	struct shca_file *other;
	int other_fd;
};

static void
make_world(struct world *world, struct rig *rig)
{
	struct mlx5_ib_alloc_ucontext_req_v2 request = { .total_num_bfregs = 16,
		.num_low_latency_bfregs = 4,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR };
	struct mlx5_ib_alloc_ucontext_resp response;
	const struct ib_uverbs_reg_mr mr = { .start = (uintptr_t)rig->ring[0],
		.hca_va = (uintptr_t)rig->ring[0],
		.length = MR_BYTES,
		.pd_handle = rig->pd,
		.access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE };
	struct ib_uverbs_reg_mr_resp mr_answer;
	const struct command command = { .number = IB_USER_VERBS_CMD_REG_MR,
		.in = &mr,
		.in_length = sizeof(mr),
		.out = &mr_answer,
		.out_length = sizeof(mr_answer) };
	struct cq_request cq;
	struct qp_request qp;
	char error[128];

	if (options.nb_ports == 0) {
		shca_options_init(&options);
		assert_int_equal(shca_options_add_port(&options, "", error, sizeof(error)), 0);
	}
	world->rig = rig;
	sent.dev = rig->dev;
	cq_request_init(rig, &cq);
	assert_int_equal(cq_request_run(rig, &cq), 0);
	world->cqn = cq.cqn;
	qp_request_init(rig, &qp, cq.handle, -1);
	assert_int_equal(qp_request_run(rig, &qp), 0);
	world->qpn = qp.number;
	/* A hash QP has no number, so it is not tracked. */
	{
		const uint32_t wq = rig_wq(rig, cq.handle);

		rig_hash_qp(rig, rig_table(rig, &wq, 0));
	}
	assert_int_equal(command_run(rig->file, &command), 0);
	world->lkey = mr_answer.lkey;
	world->other = rig_open(rig, &world->other_fd);
	assert_int_equal(rig_get_context(world->other, &request, sizeof(request), &response), 0);
}

static void
end_world(struct world *world)
{
	shca_file_close(world->other);
	close(world->other_fd);
}

static void
check_counts(unsigned int pd, unsigned int cq, unsigned int qp, unsigned int mr, unsigned int ctx)
{
	const struct {
		const char *name;
		unsigned int nb;
	} rows[] = { { "pd", pd }, { "cq", cq }, { "qp", qp }, { "cm_id", 0 }, { "mr", mr },
		{ "ctx", ctx }, { "srq", 0 } };
	const struct nlattr *summary;
	struct nlattr *entry;
	unsigned int i = 0;

	summary = attr_of(answer_at(0), RDMA_NLDEV_ATTR_RES_SUMMARY);
	assert_non_null(summary);
	mnl_attr_for_each_nested(entry, summary)
	{
		assert_string_equal(
			mnl_attr_get_str(child_of(entry, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME)),
			rows[i].name);
		assert_int_equal(
			mnl_attr_get_u64(child_of(entry, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR)),
			rows[i].nb);
		i++;
	}
	assert_int_equal(i, sizeof(rows) / sizeof(rows[0]));
}

static void
test_counts(void **state)
{
	const struct asked all = { NLDEV(RES_GET), NLM_F_DUMP, 0, 0 }, one = { NLDEV(RES_GET) };
	struct world world;

	make_world(&world, *state);
	ask(&all);
	check_counts(1, 1, 1, 1, 2);
	assert_int_equal(result_of(1), 0);
	ask(&one);
	check_counts(1, 1, 1, 1, 2);
	end_world(&world);
	ask(&one);
	check_counts(1, 1, 1, 1, 1);
	/* A process that has opened no node has no objects, and gets no device for that. */
	sent.dev = NULL;
	ask(&one);
	check_counts(0, 0, 0, 0, 0);
}

static void
test_lists(void **state)
{
	struct world world;

	make_world(&world, *state);
	ask(&(const struct asked){ NLDEV(RES_PD_GET), NLM_F_DUMP, 0, 0 });
	assert_int_equal(result_of(1), 0);
	world.pdn = MEMBER(0, PD, PDN);
	assert_int_equal(MEMBER(0, PD, PID), getpid());
	ask(&(const struct asked){ NLDEV(RES_CQ_GET), NLM_F_DUMP, 0, 0 });
	assert_int_equal(result_of(1), 0);
	assert_int_equal(MEMBER(0, CQ, CQN), world.cqn);
	/* As create and resize answer (Linux hw/mlx5/cq.c): one less than the ring has. */
	assert_int_equal(MEMBER(0, CQ, CQE), 63);
	ask(&(const struct asked){ NLDEV(RES_QP_GET), NLM_F_DUMP, 0, 0 });
	assert_int_equal(result_of(1), 0);
	assert_int_equal(MEMBER(0, QP, LQPN), world.qpn);
	assert_int_equal(MEMBER(0, QP, PDN), world.pdn);
	assert_int_equal(mnl_attr_get_u8(member(0, RDMA_NLDEV_ATTR_RES_QP,
				 RDMA_NLDEV_ATTR_RES_QP_ENTRY, RDMA_NLDEV_ATTR_RES_TYPE)),
		IBV_QPT_RAW_PACKET);
	assert_int_equal(mnl_attr_get_u8(member(0, RDMA_NLDEV_ATTR_RES_QP,
				 RDMA_NLDEV_ATTR_RES_QP_ENTRY, RDMA_NLDEV_ATTR_RES_STATE)),
		IBV_QPS_RESET);
	/* It has no port yet. */
	assert_null(member(0, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
		RDMA_NLDEV_ATTR_PORT_INDEX));
	ask(&(const struct asked){ NLDEV(RES_MR_GET), NLM_F_DUMP, 0, 0 });
	assert_int_equal(result_of(1), 0);
	assert_int_equal(MEMBER(0, MR, PDN), world.pdn);
	assert_int_equal(mnl_attr_get_u64(member(0, RDMA_NLDEV_ATTR_RES_MR,
				 RDMA_NLDEV_ATTR_RES_MR_ENTRY, RDMA_NLDEV_ATTR_RES_MRLEN)),
		MR_BYTES);
	assert_int_equal(MEMBER(0, MR, MRN), world.lkey >> 8);
	ask(&(const struct asked){ NLDEV(RES_CTX_GET), NLM_F_DUMP, 0, 0 });
	assert_int_equal(result_of(2), 0);
	assert_int_not_equal(MEMBER(0, CTX, CTXN), MEMBER(1, CTX, CTXN));
	ask(&(const struct asked){ NLDEV(RES_SRQ_GET), NLM_F_DUMP, 0, 0 });
	assert_int_equal(result_of(0), 0);
	ask(&(const struct asked){ NLDEV(RES_QP_GET), NLM_F_DUMP, RDMA_NLDEV_ATTR_PORT_INDEX, 1 });
	assert_int_equal(result_of(0), 0);
	ask(&(const struct asked){ NLDEV(RES_QP_GET), NLM_F_DUMP, RDMA_NLDEV_ATTR_PORT_INDEX, 2 });
	assert_int_equal(result_of(0), -EINVAL);
	end_world(&world);
}

static const struct nlattr *
key_of_pd(void)
{
	ask(&(const struct asked){ NLDEV(RES_PD_GET), NLM_F_DUMP, 0, 0 });
	return member(0, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
		RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY);
}

static const struct nlattr *
key_of_mr(void)
{
	ask(&(const struct asked){ NLDEV(RES_MR_GET), NLM_F_DUMP, 0, 0 });
	return member(
		0, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY, RDMA_NLDEV_ATTR_RES_LKEY);
}

/** Keys are for those with the privilege; the domain of a program has none of the kernel's own. */
static void
test_keys(void **state)
{
	struct world world;

	make_world(&world, *state);
	assert_non_null(key_of_pd());
	assert_int_equal(mnl_attr_get_u32(key_of_pd()), 0);
	assert_non_null(key_of_mr());
	assert_int_equal(mnl_attr_get_u32(key_of_mr()), world.lkey);
	test_capability(CAP_NET_ADMIN, false);
	assert_null(key_of_pd());
	assert_null(key_of_mr());
	test_capability(CAP_NET_ADMIN, true);
	end_world(&world);
}

static void
test_one(void **state)
{
	struct world world;

	make_world(&world, *state);
	ask(&(const struct asked){ NLDEV(RES_CQ_GET), 0, RDMA_NLDEV_ATTR_RES_CQN, world.cqn });
	assert_int_equal(answer_at(0)->nlmsg_type, NLDEV(RES_CQ_GET));
	assert_int_equal(
		mnl_attr_get_u32(attr_of(answer_at(0), RDMA_NLDEV_ATTR_RES_CQN)), world.cqn);
	assert_null(answer_at(1));
	ask(&(const struct asked){ NLDEV(RES_CQ_GET), 0, RDMA_NLDEV_ATTR_RES_CQN, 1 << 23 });
	assert_int_equal(result_of(0), -ENOENT);
	ask(&(const struct asked){ NLDEV(RES_CQ_GET) });
	assert_int_equal(result_of(0), -EINVAL);
	ask(&(const struct asked){ NLDEV(RES_SRQ_GET) });
	assert_int_equal(result_of(0), -EINVAL);
	end_world(&world);
}

/** Queue pairs and identifiers of connections are a port's, other objects the device's. */
static void
test_one_of_a_port(void **state)
{
	struct asked qp = { NLDEV(RES_QP_GET), 0, RDMA_NLDEV_ATTR_RES_LQPN, 0, 0, 1 };
	struct asked cq = { NLDEV(RES_CQ_GET), 0, RDMA_NLDEV_ATTR_RES_CQN, 0, 0, 1 };
	struct asked cm_id = { NLDEV(RES_CM_ID_GET), 0, RDMA_NLDEV_ATTR_RES_CM_IDN, 1, 0, 1 };
	struct qp_request request;
	struct world world;

	make_world(&world, *state);
	cq.value = world.cqn;
	ask(&cq);
	assert_int_equal(result_of(0), -EINVAL);
	ask(&cm_id);
	assert_int_equal(result_of(0), -ENOENT);
	cm_id.port = 0;
	ask(&cm_id);
	assert_int_equal(result_of(0), -EINVAL);
	qp_request_init(*state, &request, rig_cq(*state), -1);
	assert_int_equal(qp_request_run(*state, &request), 0);
	qp.value = request.number;
	ask(&qp);
	assert_int_equal(result_of(0), -EAGAIN);
	rig_modify_qp(*state, request.handle, IBV_QP_STATE | IBV_QP_PORT, IBV_QPS_INIT);
	ask(&qp);
	assert_int_equal(answer_at(0)->nlmsg_type, NLDEV(RES_QP_GET));
	qp.port = 0;
	ask(&qp);
	assert_int_equal(result_of(0), -EINVAL);
	end_world(&world);
}

/** Raw content of an object is the firmware's to tell, and this one's tells none. */
static void
test_raw(void **state)
{
	struct rig *rig = *state;
	struct world world;

	sent.dev = rig->dev;
	ask(&(const struct asked){ NLDEV(RES_QP_GET_RAW), NLM_F_DUMP, 0, 0 });
	assert_int_equal(result_of(0), 0);
	make_world(&world, rig);
	ask(&(const struct asked){ NLDEV(RES_QP_GET_RAW), NLM_F_DUMP, 0, 0 });
	assert_int_equal(answer_at(0)->nlmsg_type, NLMSG_DONE);
	assert_int_equal(result_of(0), -EOPNOTSUPP);
	ask(&(const struct asked){ NLDEV(RES_MR_GET_RAW), NLM_F_DUMP, 0, 0 });
	assert_int_equal(result_of(0), -EOPNOTSUPP);
	ask(&(const struct asked){ NLDEV(RES_CQ_GET_RAW), 0, RDMA_NLDEV_ATTR_RES_CQN, world.cqn });
	assert_int_equal(result_of(0), -EOPNOTSUPP);
	ask(&(const struct asked){ NLDEV(RES_CQ_GET_RAW), 0, RDMA_NLDEV_ATTR_RES_CQN, 1 << 23 });
	assert_int_equal(result_of(0), -ENOENT);
	end_world(&world);
}

/** Without on-demand paging a memory region has no counters: it is told of by its number alone. */
static void
test_counted(void **state)
{
	const uint32_t counted = RDMA_NLDEV_ATTR_RES_MR;
	struct world world;
	uint32_t number;

	make_world(&world, *state);
	ask(&(const struct asked){ NLDEV(RES_MR_GET), NLM_F_DUMP, 0, 0 });
	number = MEMBER(0, MR, MRN);
	ask(&(const struct asked){ NLDEV(STAT_GET), NLM_F_DUMP, 0, 0, counted });
	assert_int_equal(result_of(1), 0);
	assert_int_equal(answer_at(0)->nlmsg_type, NLDEV(STAT_GET));
	assert_int_equal(MEMBER(0, MR, MRN), number);
	assert_null(member(
		0, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY, RDMA_NLDEV_ATTR_RES_PID));
	ask(&(const struct asked){ NLDEV(STAT_GET), 0, RDMA_NLDEV_ATTR_RES_MRN, number, counted });
	assert_int_equal(mnl_attr_get_u32(attr_of(answer_at(0), RDMA_NLDEV_ATTR_RES_MRN)), number);
	assert_null(attr_of(answer_at(0), RDMA_NLDEV_ATTR_RES_MRLEN));
	ask(&(const struct asked){
		NLDEV(STAT_GET), 0, RDMA_NLDEV_ATTR_RES_MRN, number + 1, counted });
	assert_int_equal(result_of(0), -ENOENT);
	ask(&(const struct asked){ NLDEV(STAT_GET), NLM_F_DUMP, 0, 0, RDMA_NLDEV_ATTR_RES_PD });
	assert_int_equal(result_of(0), -EINVAL);
	end_world(&world);
}

/** A queue pair gets its port with its first state, and keeps it when reset. */
static void
test_port(void **state)
{
	const struct asked at_port = { NLDEV(RES_QP_GET), NLM_F_DUMP, RDMA_NLDEV_ATTR_PORT_INDEX,
		1 };
	const struct {
		uint32_t mask;
		uint8_t state;
	} steps[] = { { IBV_QP_STATE | IBV_QP_PORT, IBV_QPS_INIT },
		{ IBV_QP_STATE, IBV_QPS_RESET } };
	struct world world;
	struct qp_request qp;

	make_world(&world, *state);
	qp_request_init(*state, &qp, rig_cq(*state), -1);
	assert_int_equal(qp_request_run(*state, &qp), 0);
	ask(&at_port);
	assert_int_equal(result_of(0), 0);
	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		assert_int_equal(
			rig_modify_qp(*state, qp.handle, steps[i].mask, steps[i].state), 0);
		ask(&at_port);
		assert_int_equal(result_of(1), 0);
		assert_int_equal(MEMBER(0, QP, LQPN), qp.number);
		assert_int_equal(mnl_attr_get_u32(member(0, RDMA_NLDEV_ATTR_RES_QP,
					 RDMA_NLDEV_ATTR_RES_QP_ENTRY, RDMA_NLDEV_ATTR_PORT_INDEX)),
			1);
	}
	end_world(&world);
}

/** Of a queue pair: the member of a byte. */
static uint8_t
byte_of(unsigned int index, uint16_t type)
{
	return mnl_attr_get_u8(
		member(index, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY, type));
}

static void
test_transport(void **state)
{
	struct world world;
	struct qp_request qp;

	make_world(&world, *state);
	qp_request_init(*state, &qp, rig_cq(*state), -1);
	qp.type = IB_UVERBS_QPT_RC;
	assert_int_equal(qp_request_run(*state, &qp), 0);
	ask(&(const struct asked){ NLDEV(RES_QP_GET), NLM_F_DUMP, 0, 0 });
	assert_int_equal(result_of(2), 0);
	assert_int_equal(MEMBER(0, QP, LQPN), world.qpn);
	assert_null(member(
		0, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY, RDMA_NLDEV_ATTR_RES_RQPN));
	assert_int_equal(MEMBER(1, QP, LQPN), qp.number);
	assert_int_equal(MEMBER(1, QP, PDN), MEMBER(0, QP, PDN));
	assert_int_equal(MEMBER(1, QP, RQPN), 0);
	assert_int_equal(MEMBER(1, QP, RQ_PSN), 0);
	assert_int_equal(MEMBER(1, QP, SQ_PSN), 0);
	assert_int_equal(byte_of(1, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE), IBV_MIG_MIGRATED);
	assert_int_equal(byte_of(1, RDMA_NLDEV_ATTR_RES_TYPE), IBV_QPT_RC);
	assert_int_equal(byte_of(1, RDMA_NLDEV_ATTR_RES_STATE), IBV_QPS_RESET);
	end_world(&world);
}

/** @return the number. */
static uint32_t
make_srq(struct rig *rig, uint32_t *handle)
{
	const struct mlx5_ib_create_srq driver = { .buf_addr = (uintptr_t)rig->ring[1],
		.db_addr = (uintptr_t)rig->dbrec[1] };
	struct mlx5_ib_create_srq_resp response = { 0 };
	uint32_t max_wr, max_sge;
	struct ib_uverbs_attr *object;
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
	object = frame_handle(&frame, UVERBS_ATTR_CREATE_SRQ_HANDLE, 0);
	frame_handle(&frame, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, rig->pd);
	frame_const(&frame, UVERBS_ATTR_CREATE_SRQ_TYPE, IB_UVERBS_SRQT_BASIC);
	frame_const(&frame, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 0);
	frame_u32(&frame, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 3);
	frame_u32(&frame, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 1);
	frame_u32(&frame, UVERBS_ATTR_CREATE_SRQ_LIMIT, 0);
	frame_out(&frame, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &max_wr, sizeof(max_wr));
	frame_out(&frame, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &max_sge, sizeof(max_sge));
	frame_in(&frame, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
	frame_out(&frame, UVERBS_ATTR_UHW_OUT, &response, sizeof(response));
	assert_int_equal(frame_run(rig->file, &frame), 0);
	*handle = (uint32_t)object->data;
	return response.srqn;
}

/** @return the number of a queue pair that receives by an SRQ. */
static uint32_t
make_user(struct rig *rig, uint32_t cq, uint32_t srq)
{
	struct ib_uverbs_create_qp_resp response;
	struct mlx5_ib_create_qp_resp driver;
	struct qp_request qp;
	const struct ib_uverbs_create_qp request = { .pd_handle = rig->pd,
		.send_cq_handle = cq,
		.recv_cq_handle = cq,
		.srq_handle = srq,
		.max_send_wr = 1,
		.max_send_sge = 1,
		.qp_type = IB_UVERBS_QPT_RC,
		.is_srq = 1 };
	const struct command command = { .number = IB_USER_VERBS_CMD_CREATE_QP,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
		.driver_in = &qp.driver,
		.driver_in_length = sizeof(qp.driver),
		.driver_out = &driver,
		.driver_out_length = sizeof(driver) };

	qp_request_init(rig, &qp, cq, -1);
	qp.driver.rq_wqe_count = qp.driver.rq_wqe_shift = 0;
	assert_int_equal(command_run(rig->file, &command), 0);
	return response.qpn;
}

/** @return a member of the one entry of an SRQ's queue pairs. */
static const struct nlattr *
user_member(uint16_t type)
{
	const struct nlattr *users = attr_of(answer_at(0), RDMA_NLDEV_ATTR_RES_QP);

	assert_non_null(users);
	users = child_of(users, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	return users != NULL ? child_of(users, type) : NULL;
}

static void
test_shared_queue(void **state)
{
	struct world world;
	uint32_t cq, srq, first, last;
	struct asked one = { NLDEV(RES_SRQ_GET), 0, RDMA_NLDEV_ATTR_RES_SRQN, 0 };

	make_world(&world, *state);
	one.value = make_srq(*state, &srq);
	ask(&(const struct asked){ NLDEV(RES_SRQ_GET), NLM_F_DUMP, 0, 0 });
	assert_int_equal(result_of(1), 0);
	assert_int_equal(MEMBER(0, SRQ, SRQN), one.value);
	assert_non_null(member(0, RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQ_ENTRY,
		RDMA_NLDEV_ATTR_RES_PDN));
	ask(&one);
	assert_null(user_member(RDMA_NLDEV_ATTR_RES_LQPN));
	cq = rig_cq(*state);
	first = make_user(*state, cq, srq);
	ask(&one);
	assert_int_equal(mnl_attr_get_u32(user_member(RDMA_NLDEV_ATTR_RES_LQPN)), first);
	last = make_user(*state, cq, srq);
	assert_int_equal(last, first + 1);
	ask(&one);
	assert_int_equal(mnl_attr_get_u32(user_member(RDMA_NLDEV_ATTR_MIN_RANGE)), first);
	assert_int_equal(mnl_attr_get_u32(user_member(RDMA_NLDEV_ATTR_MAX_RANGE)), last);
	ask(&(const struct asked){ NLDEV(RES_GET), NLM_F_DUMP, 0, 0 });
	assert_int_equal(result_of(1), 0);
	end_world(&world);
}

#define NB_DOMAINS 200

static struct {
	struct rig *rig;
	uint32_t handle[NB_DOMAINS], pdn[NB_DOMAINS];
} domains;

static void
make_domains(struct rig *rig)
{
	domains.rig = rig;
	for (unsigned int i = 0; i < NB_DOMAINS; i++) {
		const struct ib_uverbs_alloc_pd request = { .response = 0 };
		struct ib_uverbs_alloc_pd_resp response;
		struct mlx5_ib_alloc_pd_resp driver;
		const struct command command = { .number = IB_USER_VERBS_CMD_ALLOC_PD,
			.in = &request,
			.in_length = sizeof(request),
			.out = &response,
			.out_length = sizeof(response),
			.driver_out = &driver,
			.driver_out_length = sizeof(driver) };

		assert_int_equal(command_run(rig->file, &command), 0);
		domains.handle[i] = response.pd_handle;
		domains.pdn[i] = driver.pdn;
	}
}

static void
destroy_first(void)
{
	assert_int_equal(
		frame_handle_only(domains.rig->file, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
			UVERBS_ATTR_DESTROY_PD_HANDLE, domains.handle[0]),
		0);
}

/** An object that goes meanwhile takes no other one out of the list. */
static void
test_going(void **state)
{
	struct world world;
	unsigned int nb = 0;

	make_world(&world, *state);
	make_domains(*state);
	sent.then = destroy_first;
	ask(&(const struct asked){ NLDEV(RES_PD_GET), NLM_F_DUMP, 0, 0 });
	assert_null(sent.then);
	for (unsigned int i = 0; answer_at(i)->nlmsg_type != NLMSG_DONE; i++)
		for (unsigned int j = 1; j < NB_DOMAINS; j++)
			nb += domains.pdn[j] == MEMBER(i, PD, PDN);
	assert_int_equal(nb, NB_DOMAINS - 1);
	end_world(&world);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_counts, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_lists, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_keys, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_one, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_one_of_a_port, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_raw, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_counted, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_port, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_transport, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_shared_queue, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_going, rig_setup, rig_teardown),
	};

	test_padding_set_up();
	rig_skip_without_privilege();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
