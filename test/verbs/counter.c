/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binds queue pairs to counters of their own by RDMA netlink, as `rdma statistic qp bind` does, and
 * loses frames: the counter has those since the binding, and goes with the last queue pair. Then
 * lets counters follow the queue pairs, as `rdma statistic qp set ... auto` does.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include "pair.h"

#define FRAME_BYTES 100
#define SEQ         7

static struct mnl_socket *netlink;
static _Alignas(8) char buffer[8192];

struct answer {
	int error;   /**< 0, or a negative errno */
	uint32_t id; /**< of the counter */
	uint32_t mode, mask;
	uint32_t type, pid; /**< by which a counter was found; -1: not told */
	unsigned int nb_messages, nb_qps, nb_values;
	uint64_t out_of_buffer;
	uint64_t writes, flushed; /**< rx_write_requests, resp_cqe_flush_error */
};

static void
take_value(const struct nlattr *entry, struct answer *answer)
{
	const struct nlattr *attr;
	const char *name = "";
	uint64_t value = 0;

	mnl_attr_for_each_nested(attr, entry)
	{
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME)
			name = mnl_attr_get_str(attr);
		else
			value = mnl_attr_get_u64(attr);
	}
	answer->nb_values++;
	if (strcmp(name, "out_of_buffer") == 0)
		answer->out_of_buffer = value;
	else if (strcmp(name, "rx_write_requests") == 0)
		answer->writes = value;
	else if (strcmp(name, "resp_cqe_flush_error") == 0)
		answer->flushed = value;
}

static void
take(const struct nlattr *attr, struct answer *answer)
{
	const struct nlattr *inner;

	switch (mnl_attr_get_type(attr)) {
	case RDMA_NLDEV_ATTR_STAT_COUNTER_ID:
		answer->id = mnl_attr_get_u32(attr);
		break;
	case RDMA_NLDEV_ATTR_STAT_MODE:
		answer->mode = mnl_attr_get_u32(attr);
		break;
	case RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK:
		answer->mask = mnl_attr_get_u32(attr);
		break;
	case RDMA_NLDEV_ATTR_RES_TYPE:
		answer->type = mnl_attr_get_u8(attr);
		break;
	case RDMA_NLDEV_ATTR_RES_PID:
		answer->pid = mnl_attr_get_u32(attr);
		break;
	case RDMA_NLDEV_ATTR_RES_QP_ENTRY:
		answer->nb_qps++;
		break;
	case RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY:
		take_value(attr, answer);
		break;
	case RDMA_NLDEV_ATTR_STAT_COUNTER:
	case RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY:
	case RDMA_NLDEV_ATTR_RES_QP:
	case RDMA_NLDEV_ATTR_STAT_HWCOUNTERS:
		mnl_attr_for_each_nested(inner, attr) take(inner, answer);
		break;
	default:
		break;
	}
}

static int
take_message(const struct nlmsghdr *message, void *arg)
{
	struct answer *answer = arg;
	const struct nlattr *attr;

	answer->nb_messages++;
	mnl_attr_for_each (attr, message, 0)
		take(attr, answer);
	return MNL_CB_OK;
}

/** Begin a request about port 1 of the first device. */
static struct nlmsghdr *
request(uint16_t command, uint16_t flags)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);

	message->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	message->nlmsg_seq = SEQ;
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	return message;
}

static struct answer
exchange(const struct nlmsghdr *message)
{
	struct answer answer = { .type = UINT32_MAX, .pid = UINT32_MAX };
	ssize_t length;
	int ret = MNL_CB_OK;

	if (mnl_socket_sendto(netlink, message, message->nlmsg_len) < 0)
		rig_die("mnl_socket_sendto");
	while (ret > 0) {
		length = mnl_socket_recvfrom(netlink, buffer, sizeof(buffer));
		if (length < 0)
			rig_die("mnl_socket_recvfrom");
		errno = 0;
		ret = mnl_cb_run(buffer, (size_t)length, SEQ, 0, take_message, &answer);
	}
	answer.error = ret < 0 ? -errno : 0;
	return answer;
}

/** @param mode,id,qpn 0: not named */
static struct answer
ask(uint16_t command, uint16_t flags, uint32_t mode, uint32_t qpn, uint32_t id)
{
	struct nlmsghdr *message = request(command, flags);

	if (mode != 0)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_MODE, mode);
	if (qpn != 0)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_LQPN, qpn);
	if (id != 0)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, id);
	return exchange(message);
}

/** Turn the port's auto mode on, or off with @p mask 0. @return 0 or a negative errno */
static int
set_auto(uint32_t mask)
{
	struct nlmsghdr *message = request(RDMA_NLDEV_CMD_STAT_SET, 0);

	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_AUTO);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, mask);
	return exchange(message).error;
}

static struct answer
bind_to(const struct ibv_qp *qp, uint32_t id)
{
	return ask(RDMA_NLDEV_CMD_STAT_SET, 0, RDMA_COUNTER_MODE_MANUAL, qp->qp_num, id);
}

/** Name a counter that no number is, instead of none. */
static int
bind_to_zero(const struct ibv_qp *qp)
{
	struct nlmsghdr *message = request(RDMA_NLDEV_CMD_STAT_SET, 0);

	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_MANUAL);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_LQPN, qp->qp_num);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, 0);
	return exchange(message).error;
}

static struct answer
unbind(const struct ibv_qp *qp, uint32_t id)
{
	return ask(RDMA_NLDEV_CMD_STAT_DEL, 0, 0, qp->qp_num, id);
}

/** @param id 0: how queue pairs are counted, for which any mode is named */
static struct answer
counter(uint32_t id)
{
	return ask(RDMA_NLDEV_CMD_STAT_GET, 0, id == 0 ? RDMA_COUNTER_MODE_MANUAL : 0, 0, id);
}

/** Send frames for which nothing is posted, and wait until they are sent. */
static void
lose(struct ibv_qp *qp, struct ibv_cq *cq, unsigned int nb)
{
	struct ibv_wc wc;

	for (unsigned int i = 0; i < nb; i++) {
		rig_frame(rig_buffer(0), FRAME_BYTES, (uint8_t)i);
		rig_send(qp, 0, FRAME_BYTES);
		rig_poll(cq, &wc, 1);
	}
}

/** @return the one counter that there is */
static struct answer
only_counter(void)
{
	return ask(RDMA_NLDEV_CMD_STAT_GET, NLM_F_DUMP, 0, 0, 0);
}

/** Counters follow the queue pairs that get to INIT from then on; those of before have none. */
static void
check_auto(struct ibv_cq *cq, struct ibv_qp *before)
{
	struct ibv_qp *qp = rig_qp(cq, 0), *other;
	struct answer answer;

	CHECK(set_auto(1 << 7) == -EINVAL, set_auto(1 << 7));
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	CHECK(set_auto(RDMA_COUNTER_MASK_QP_TYPE) == 0, set_auto(RDMA_COUNTER_MASK_QP_TYPE));
	answer = counter(0);
	CHECK(answer.mode == RDMA_COUNTER_MODE_AUTO && answer.mask == RDMA_COUNTER_MASK_QP_TYPE,
		answer.mask);
	CHECK(only_counter().nb_messages == 0, only_counter().nb_messages);
	/* No queue pair is counted yet: another mask may take its place. */
	CHECK(set_auto(RDMA_COUNTER_MASK_PID) == 0 && set_auto(RDMA_COUNTER_MASK_QP_TYPE) == 0, 0);

	qp = rig_qp(cq, 0);
	other = rig_qp(cq, 0);
	answer = only_counter();
	CHECK(answer.nb_messages == 1 && answer.nb_qps == 2, answer.nb_qps);
	CHECK(answer.mode == RDMA_COUNTER_MODE_AUTO && answer.pid == UINT32_MAX, answer.mode);
	CHECK(answer.type == IBV_QPT_RAW_PACKET, answer.type);
	CHECK(set_auto(RDMA_COUNTER_MASK_PID) == -EBUSY, set_auto(RDMA_COUNTER_MASK_PID));
	CHECK(set_auto(RDMA_COUNTER_MASK_QP_TYPE) == 0, 0); /* it is */
	CHECK(bind_to(before, 0).error == -EINVAL, bind_to(before, 0).error);
	CHECK(unbind(qp, answer.id).error == -EINVAL, 0);

	/* Off: what is bound stays, and goes by hand from then on. */
	CHECK(set_auto(0) == 0, 0);
	CHECK(counter(0).mode == RDMA_COUNTER_MODE_MANUAL, counter(0).mode);
	CHECK(only_counter().nb_qps == 2, only_counter().nb_qps);
	CHECK(unbind(other, answer.id).error == 0, 0);
	rig_must(ibv_destroy_qp(other), "ibv_destroy_qp");
	other = rig_qp(cq, 0);
	CHECK(only_counter().nb_qps == 1, only_counter().nb_qps);
	rig_must(ibv_destroy_qp(other), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	CHECK(counter(0).mode == RDMA_COUNTER_MODE_NONE, counter(0).mode);
}

/** It has all that was lost since INIT, whenever somebody asks first. */
static void
check_auto_counts(struct ibv_cq *cq)
{
	struct ibv_qp *qp;
	struct ibv_flow *flow;
	struct answer answer;

	CHECK(set_auto(RDMA_COUNTER_MASK_PID) == 0, 0);
	qp = rig_qp(cq, 0);
	flow = rig_take_all(qp);
	lose(qp, cq, 4);
	answer = only_counter();
	CHECK(answer.out_of_buffer == 4, (long long)answer.out_of_buffer);
	CHECK(answer.pid == (uint32_t)getpid() && answer.type == UINT32_MAX, answer.pid);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	CHECK(counter(0).mode == RDMA_COUNTER_MODE_AUTO, counter(0).mode);
	CHECK(set_auto(0) == 0 && counter(0).mode == RDMA_COUNTER_MODE_NONE, counter(0).mode);
}

/** Messages of a transport are counted, too; each takes no more than one receive WQE. */
static void
check_transport(struct ibv_cq *cq)
{
	struct ibv_qp *qp = pair_qp(IBV_QPT_UC, cq, NULL), *other = pair_qp(IBV_QPT_UC, cq, NULL);
	struct ibv_sge sge = rig_sge(0, 0, 2 * RIG_BUFFER_BYTES);
	struct ibv_send_wr wr = pair_wr(IBV_WR_SEND, 1, &sge);
	struct answer answer;

	pair_connect(qp, other);
	pair_post(qp, &wr);
	pair_poll(cq, IBV_WC_SUCCESS);
	answer = bind_to(other, 0);
	CHECK(counter(answer.id).out_of_buffer == 0, counter(answer.id).out_of_buffer);
	for (unsigned int i = 0; i < 3; i++) {
		pair_post(qp, &wr);
		pair_poll(cq, IBV_WC_SUCCESS);
	}
	CHECK(counter(answer.id).out_of_buffer == 3, counter(answer.id).out_of_buffer);
	pair_receive(other, 2, &sge);
	pair_post(qp, &wr);
	pair_poll(cq, IBV_WC_SUCCESS);
	pair_poll(cq, IBV_WC_SUCCESS);
	CHECK(counter(answer.id).out_of_buffer == 3, counter(answer.id).out_of_buffer);
	rig_must(ibv_destroy_qp(other), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");

	CHECK(set_auto(RDMA_COUNTER_MASK_QP_TYPE) == 0, 0);
	qp = pair_qp(IBV_QPT_UD, cq, NULL);
	pair_start(qp, 0);
	wr.wr.ud.ah = pair_ah();
	wr.wr.ud.remote_qpn = qp->qp_num;
	wr.wr.ud.remote_qkey = PAIR_KEY;
	sge.length = FRAME_BYTES;
	pair_post(qp, &wr);
	pair_poll(cq, IBV_WC_SUCCESS);
	CHECK(only_counter().out_of_buffer == 1, only_counter().out_of_buffer);
	rig_must(ibv_destroy_ah(wr.wr.ud.ah), "ibv_destroy_ah");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	CHECK(set_auto(0) == 0, 0);
}

/** All that a transport counts of a queue pair is its counter's, but what it counted before. */
static void
check_transport_counts(struct ibv_cq *cq)
{
	struct ibv_qp *qp = pair_qp(IBV_QPT_RC, cq, NULL), *other = pair_qp(IBV_QPT_RC, cq, NULL);
	struct ibv_sge sge = rig_sge(0, 0, FRAME_BYTES), to = rig_sge(1, 0, FRAME_BYTES);
	struct ibv_send_wr wr = pair_wr(IBV_WR_RDMA_WRITE, 1, &sge);
	struct ibv_mr *mr = pair_mr(PAIR_ACCESS);
	struct answer answer;
	uint32_t id;

	pair_connect(qp, other);
	wr.wr.rdma.remote_addr = to.addr;
	wr.wr.rdma.rkey = mr->rkey;
	pair_post(qp, &wr);
	pair_poll(cq, IBV_WC_SUCCESS);
	id = bind_to(other, 0).id;
	for (unsigned int i = 0; i < 2; i++) {
		pair_post(qp, &wr);
		pair_poll(cq, IBV_WC_SUCCESS);
	}
	answer = counter(id);
	CHECK(answer.writes == 2 && answer.flushed == 0, (long long)answer.writes);
	/* The other end's are not its. */
	CHECK(bind_to(qp, id).error == 0 && counter(id).writes == 2, counter(id).writes);
	for (unsigned int i = 0; i < 3; i++)
		pair_receive(other, i, &to);
	pair_to_state(other, IBV_QPS_ERR);
	for (unsigned int i = 0; i < 3; i++)
		pair_poll(cq, IBV_WC_WR_FLUSH_ERR);
	CHECK(counter(id).flushed == 3, counter(id).flushed);
	rig_must(ibv_destroy_qp(other), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
}

/** The number of a queue pair that is gone may be that of a new one, which nobody has bound. */
static void
check_reuse(struct ibv_cq *cq)
{
	struct ibv_qp *qp = rig_qp(cq, 0);
	const uint32_t number = qp->qp_num;
	struct answer answer = bind_to(qp, 0);

	CHECK(answer.error == 0, answer.error);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	qp = rig_qp(cq, 0);
	CHECK(qp->qp_num == number, qp->qp_num);
	CHECK(only_counter().nb_messages == 0, only_counter().nb_messages);
	CHECK(counter(0).mode == RDMA_COUNTER_MODE_NONE, counter(0).mode);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");

	CHECK(set_auto(RDMA_COUNTER_MASK_PID) == 0, 0);
	qp = rig_qp(cq, 0);
	answer = only_counter();
	CHECK(answer.nb_messages == 1 && qp->qp_num == number, answer.nb_messages);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	qp = rig_qp(cq, 0);
	CHECK(qp->qp_num == number && only_counter().id > answer.id, only_counter().id);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	CHECK(set_auto(0) == 0, 0);
}

int
main(void)
{
	struct ibv_cq *cq;
	struct ibv_qp *qp, *other;
	struct ibv_flow *flow;
	struct answer answer;
	uint32_t id;

	rig_open();
	netlink = mnl_socket_open2(NETLINK_RDMA, SOCK_CLOEXEC);
	if (netlink == NULL || mnl_socket_bind(netlink, 0, MNL_SOCKET_AUTOPID) != 0)
		rig_die("a socket of NETLINK_RDMA");
	cq = ibv_create_cq(rig_context, 64, NULL, NULL, 0);
	if (cq == NULL)
		rig_die("ibv_create_cq");
	qp = rig_qp(cq, 0);
	other = rig_qp(cq, 0);
	flow = rig_take_all(qp);
	lose(qp, cq, 3);

	CHECK(counter(0).mode == RDMA_COUNTER_MODE_NONE, counter(0).mode);
	answer = bind_to(qp, 0);
	id = answer.id;
	CHECK(answer.error == 0 && id != 0, answer.error);
	CHECK(counter(0).mode == RDMA_COUNTER_MODE_MANUAL, counter(0).mode);
	/* One more makes alloc_and_bind() fail, whatever for; one that there is does not. */
	CHECK(bind_to(qp, 0).error == -ENOMEM, bind_to(qp, 0).error);
	CHECK(bind_to(qp, id).error == -EINVAL, bind_to(qp, id).error);
	CHECK(bind_to(other, id + 1000).error == -ENOENT, bind_to(other, id + 1000).error);
	CHECK(bind_to_zero(other) == -ENOENT, bind_to_zero(other));
	CHECK(set_auto(RDMA_COUNTER_MASK_QP_TYPE) == -EBUSY, 0);
	answer = counter(id);
	CHECK(answer.error == 0 && answer.nb_qps == 1 && answer.nb_values > 5, answer.nb_values);
	CHECK(answer.mode == RDMA_COUNTER_MODE_MANUAL && answer.pid == UINT32_MAX, answer.pid);
	CHECK(answer.out_of_buffer == 0, (long long)answer.out_of_buffer);
	lose(qp, cq, 5);
	CHECK(counter(id).out_of_buffer == 5, (long long)counter(id).out_of_buffer);

	/* Two of one counter, and a list of one. */
	CHECK(bind_to(other, id).error == 0, 0);
	answer = ask(RDMA_NLDEV_CMD_STAT_GET, NLM_F_DUMP, 0, 0, 0);
	CHECK(answer.error == 0 && answer.nb_messages == 1 && answer.nb_qps == 2, answer.nb_qps);
	CHECK(answer.id == id && answer.out_of_buffer == 5, (long long)answer.out_of_buffer);

	CHECK(unbind(qp, id + 1000).error == -EINVAL, 0);
	CHECK(unbind(qp, id).error == 0, 0);
	CHECK(unbind(qp, id).error == -EINVAL, 0);
	CHECK(counter(id).nb_qps == 1, counter(id).nb_qps);
	/* The counter goes with its last queue pair. */
	rig_must(ibv_destroy_qp(other), "ibv_destroy_qp");
	CHECK(counter(id).error == -ENOENT, counter(id).error);
	CHECK(counter(0).mode == RDMA_COUNTER_MODE_NONE, counter(0).mode);
	answer = bind_to(qp, 0);
	CHECK(answer.error == 0 && answer.id != id, answer.id);

	CHECK(unbind(qp, answer.id).error == 0, 0);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	check_auto(cq, qp);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	check_auto_counts(cq);
	check_transport(cq);
	check_transport_counts(cq);
	check_reuse(cq);
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	mnl_socket_close(netlink);
	return rig_close();
}
