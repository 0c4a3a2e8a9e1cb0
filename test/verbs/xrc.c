/* SPDX-License-Identifier: BSD-3-Clause */
/* XRC: domains by files, one connection to several shared receive queues, who may reach what,
 * a shared receive queue that goes while a message comes, and a target that two contexts have. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"

#define BYTES 100
#define HALF  1024 /* of a message: a packet */

static struct ibv_cq *cq;

static struct ibv_xrcd *
open_domain_of(struct ibv_context *context, int fd, int flags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = flags,
	};

	return ibv_open_xrcd(context, &attr);
}

static struct ibv_xrcd *
open_domain(int fd, int flags)
{
	return open_domain_of(rig_context, fd, flags);
}

static struct ibv_srq *
create_srq(struct ibv_xrcd *domain, struct ibv_pd *pd, struct ibv_cq *of)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 8, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = domain,
		.cq = of,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(pd->context, &attr);

	if (srq == NULL)
		rig_die("ibv_create_srq_ex");
	return srq;
}

static struct ibv_qp *
create_qp(enum ibv_qp_type type, struct ibv_xrcd *domain)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = type,
		.send_cq = domain == NULL ? cq : NULL,
		.cap = { .max_send_wr = 8, .max_send_sge = 2 },
		.comp_mask = domain == NULL ? IBV_QP_INIT_ATTR_PD : IBV_QP_INIT_ATTR_XRCD,
		.pd = rig_pd,
		.xrcd = domain,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(rig_context, &attr);

	if (qp == NULL)
		rig_die("ibv_create_qp_ex");
	return qp;
}

/** Linux core/uverbs_cmd.c ib_uverbs_open_xrcd(): O_CREAT and O_EXCL are about the domain. */
static struct ibv_xrcd *
domains_of_files(void)
{
	char path[] = "/tmp/verbs-xrc-XXXXXX";
	const int fd = mkstemp(path);
	struct ibv_xrcd *one, *again, *alone;

	if (fd < 0)
		rig_die("mkstemp");
	CHECK_REFUSED(open_domain(fd, 0), EAGAIN);
	CHECK_REFUSED(open_domain(9999, O_CREAT), EBADF);
	one = open_domain(fd, O_CREAT);
	again = open_domain(fd, 0);
	alone = open_domain(-1, O_CREAT);
	if (one == NULL || again == NULL || alone == NULL)
		rig_die("ibv_open_xrcd");
	CHECK_REFUSED(open_domain(fd, O_CREAT | O_EXCL), EINVAL);
	rig_must(ibv_close_xrcd(one), "ibv_close_xrcd");
	one = open_domain(fd, 0);
	CHECK(one != NULL, errno);
	rig_must(ibv_close_xrcd(one), "ibv_close_xrcd");
	rig_must(ibv_close_xrcd(alone), "ibv_close_xrcd");
	close(fd);
	unlink(path);
	return again;
}

static void
post(struct ibv_srq *srq, uint64_t id, struct ibv_mr *mr, unsigned int buffer)
{
	struct ibv_sge sge = rig_sge(buffer, 0, RIG_BUFFER_BYTES);
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	sge.lkey = mr->lkey;
	rig_must(ibv_post_srq_recv(srq, &wr, &bad), "ibv_post_srq_recv");
}

static void
send(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t srqn, const struct ibv_mr *remote,
	uint8_t content)
{
	struct ibv_sge sge = rig_sge(0, 0, BYTES);
	struct ibv_send_wr wr = pair_wr(opcode, 100, &sge);

	*rig_buffer(0) = content;
	wr.qp_type.xrc.remote_srqn = srqn;
	wr.wr.rdma.remote_addr = (uintptr_t)rig_buffer(9);
	wr.wr.rdma.rkey = remote->rkey;
	pair_post(qp, &wr);
}

static void
messages(struct ibv_qp *ini, struct ibv_srq *const srqs[2], struct ibv_mr *const mrs[2])
{
	uint32_t srqn[2];
	struct ibv_wc wc;

	for (unsigned int i = 0; i < 2; i++) {
		rig_must(ibv_get_srq_num(srqs[i], &srqn[i]), "ibv_get_srq_num");
		for (unsigned int j = 0; j < 4; j++)
			post(srqs[i], 10 * i + j, mrs[i], 1 + 4 * i + j);
	}
	for (unsigned int j = 0; j < 4; j++) {
		for (unsigned int i = 0; i < 2; i++) {
			send(ini, IBV_WR_SEND, srqn[i], mrs[i], (uint8_t)(10 * i + j));
			wc = pair_poll(cq, IBV_WC_SUCCESS);
			if (wc.opcode == IBV_WC_SEND)
				wc = pair_poll(cq, IBV_WC_SUCCESS);
			else
				pair_poll(cq, IBV_WC_SUCCESS);
			CHECK(wc.wr_id == 10 * i + j && wc.byte_len == BYTES, wc.wr_id);
			CHECK(*rig_buffer(1 + 4 * i + j) == 10 * i + j, *rig_buffer(1 + 4 * i + j));
		}
	}
	/* Memory is of the PD of the SRQ that a request names. */
	for (unsigned int i = 0; i < 2; i++) {
		send(ini, IBV_WR_RDMA_WRITE, srqn[i], mrs[i], (uint8_t)(50 + i));
		pair_poll(cq, IBV_WC_SUCCESS);
		CHECK(*rig_buffer(9) == 50 + i, *rig_buffer(9));
		send(ini, IBV_WR_RDMA_READ, srqn[i], mrs[i], 0);
		pair_poll(cq, IBV_WC_SUCCESS);
		CHECK(*rig_buffer(0) == 50 + i, *rig_buffer(0));
	}
}

/** @return how the send ends; both queue pairs are broken then. */
static enum ibv_wc_status
broken_by(
	struct ibv_xrcd *domain, enum ibv_wr_opcode opcode, uint32_t srqn, const struct ibv_mr *mr)
{
	struct ibv_qp *ini = create_qp(IBV_QPT_XRC_SEND, NULL);
	struct ibv_qp *tgt = create_qp(IBV_QPT_XRC_RECV, domain);
	struct ibv_wc wc;

	pair_connect(ini, tgt);
	send(ini, opcode, srqn, mr, 1);
	rig_poll(cq, &wc, 1);
	CHECK(pair_state(ini) == IBV_QPS_ERR && pair_state(tgt) == IBV_QPS_ERR, wc.status);
	rig_must(ibv_destroy_qp(ini), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(tgt), "ibv_destroy_qp");
	return wc.status;
}

/** The message's second half has no memory to come from, and its target holds a WQE of the SRQ.
 * That one has no users: it may go, and its CQ after it. */
static void
gone_within_a_message(struct ibv_xrcd *domain, struct ibv_mr *mr)
{
	struct ibv_sge sge[2] = { rig_sge(0, 0, HALF), rig_sge(0, HALF, HALF) };
	struct ibv_send_wr wr = pair_wr(IBV_WR_SEND, 100, sge);
	struct ibv_qp *ini = create_qp(IBV_QPT_XRC_SEND, NULL);
	struct ibv_qp *tgt = create_qp(IBV_QPT_XRC_RECV, domain);
	struct ibv_cq *of = pair_cq();
	struct ibv_srq *srq = create_srq(domain, rig_pd, of);
	struct ibv_async_event event;

	pair_connect(ini, tgt);
	post(srq, 1, mr, 1);
	*rig_buffer(0) = 0x77;
	*rig_buffer(1) = 0;
	sge[1].lkey = 0x77777700;
	wr.num_sge = 2;
	rig_must(ibv_get_srq_num(srq, &wr.qp_type.xrc.remote_srqn), "ibv_get_srq_num");
	pair_post(ini, &wr);
	pair_poll(cq, IBV_WC_LOC_PROT_ERR);
	while (__atomic_load_n(rig_buffer(1), __ATOMIC_ACQUIRE) != 0x77)
		;
	rig_must(ibv_destroy_srq(srq), "ibv_destroy_srq");
	CHECK(pair_state(tgt) == IBV_QPS_ERR, pair_state(tgt));
	rig_must(ibv_destroy_cq(of), "ibv_destroy_cq");
	event = pair_event(IBV_EVENT_QP_FATAL);
	CHECK(event.element.qp == tgt, 0);
	event = pair_event(IBV_EVENT_QP_LAST_WQE_REACHED);
	CHECK(event.element.qp == tgt, 0);
	rig_must(ibv_destroy_qp(ini), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(tgt), "ibv_destroy_qp");
}

static struct ibv_qp *
open_target(struct ibv_xrcd *domain, uint32_t number, enum ibv_qp_type type)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = number,
		.xrcd = domain,
		.qp_type = type,
	};

	return ibv_open_qp(domain->context, &attr);
}

/** Only targets, and those of the same domain. */
static void
refused_to_open(const struct ibv_qp *ini, const struct ibv_qp *tgt, struct ibv_xrcd *domain)
{
	struct ibv_xrcd *alone = open_domain_of(domain->context, -1, O_CREAT);

	if (alone == NULL)
		rig_die("ibv_open_xrcd");
	CHECK_REFUSED(open_target(domain, ini->qp_num, IBV_QPT_XRC_RECV), EINVAL);
	CHECK_REFUSED(open_target(domain, tgt->qp_num, IBV_QPT_XRC_SEND), EINVAL);
	CHECK_REFUSED(open_target(domain, 0x777777, IBV_QPT_XRC_RECV), EINVAL);
	CHECK_REFUSED(open_target(alone, tgt->qp_num, IBV_QPT_XRC_RECV), EINVAL);
	rig_must(ibv_close_xrcd(alone), "ibv_close_xrcd");
}

static void
check_event(struct ibv_qp *qp, enum ibv_event_type type)
{
	struct ibv_async_event event;

	rig_must(ibv_get_async_event(qp->context, &event), "ibv_get_async_event");
	CHECK(event.event_type == type && event.element.qp == qp, event.event_type);
	ibv_ack_async_event(&event);
}

/** Another context, as another program has one. What it has of a domain is reached by the target
 * that this one has made, also when this one has given it up. */
struct other {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_xrcd *domain;
	struct ibv_srq *srq;
};

static void
open_other(struct other *other, int fd)
{
	other->context = ibv_open_device(rig_context->device);
	if (other->context == NULL)
		rig_die("ibv_open_device");
	other->pd = ibv_alloc_pd(other->context);
	other->cq = ibv_create_cq(other->context, 16, NULL, NULL, 0);
	other->domain = open_domain_of(other->context, fd, 0);
	if (other->pd == NULL || other->cq == NULL || other->domain == NULL)
		rig_die("ibv_open_xrcd");
	other->mr = ibv_reg_mr(
		other->pd, rig_buffer(0), (size_t)RIG_NB_BUFFERS * RIG_BUFFER_BYTES, PAIR_ACCESS);
	if (other->mr == NULL)
		rig_die("ibv_reg_mr");
	other->srq = create_srq(other->domain, other->pd, other->cq);
}

static void
send_to_other(struct ibv_qp *ini, const struct other *other, uint64_t id)
{
	struct ibv_wc wc;
	uint32_t srqn;

	rig_must(ibv_get_srq_num(other->srq, &srqn), "ibv_get_srq_num");
	post(other->srq, id, other->mr, 1);
	send(ini, IBV_WR_SEND, srqn, other->mr, (uint8_t)id);
	pair_poll(cq, IBV_WC_SUCCESS);
	wc = pair_poll(other->cq, IBV_WC_SUCCESS);
	CHECK(wc.wr_id == id && *rig_buffer(1) == id, wc.wr_id);
}

/** libmlx5 cannot destroy a queue pair that it has opened (mlx5_free_db() does not expect that
 * there is no record), but its context can end. */
static void
target_of_two(void)
{
	char path[] = "/tmp/verbs-xrc-XXXXXX";
	const int fd = mkstemp(path);
	struct ibv_xrcd *domain = open_domain(fd, O_CREAT);
	struct ibv_qp *ini, *tgt, *opened, *again;
	struct other other, last;
	uint32_t number;

	if (domain == NULL)
		rig_die("ibv_open_xrcd");
	open_other(&other, fd);
	open_other(&last, fd);
	ini = create_qp(IBV_QPT_XRC_SEND, NULL);
	tgt = create_qp(IBV_QPT_XRC_RECV, domain);
	number = tgt->qp_num;
	refused_to_open(ini, tgt, other.domain);
	opened = open_target(other.domain, number, IBV_QPT_XRC_RECV);
	again = open_target(last.domain, number, IBV_QPT_XRC_RECV);
	if (opened == NULL || again == NULL)
		rig_die("ibv_open_qp");
	CHECK(opened->qp_num == number, opened->qp_num);
	CHECK(ibv_close_xrcd(other.domain) == EBUSY, errno);
	/* Each may take it to its states, and all see them. */
	pair_connect(ini, opened);
	CHECK(pair_state(tgt) == IBV_QPS_RTS && pair_state(again) == IBV_QPS_RTS, pair_state(tgt));
	send_to_other(ini, &other, 1);
	send_to_other(ini, &last, 2);
	rig_must(ibv_destroy_qp(tgt), "ibv_destroy_qp");
	CHECK(pair_state(opened) == IBV_QPS_RTS, pair_state(opened));
	rig_must(ibv_close_xrcd(domain), "ibv_close_xrcd");
	send_to_other(ini, &other, 3);
	/* A request that it does not take. */
	send(ini, IBV_WR_SEND, 0x777777, other.mr, 1);
	pair_poll(cq, IBV_WC_REM_INV_REQ_ERR);
	check_event(opened, IBV_EVENT_QP_REQ_ERR);
	check_event(again, IBV_EVENT_QP_REQ_ERR);
	rig_must(ibv_close_device(other.context), "ibv_close_device");
	CHECK(pair_state(again) == IBV_QPS_ERR, pair_state(again));
	rig_must(ibv_close_device(last.context), "ibv_close_device");
	domain = open_domain(fd, O_CREAT);
	if (domain == NULL)
		rig_die("ibv_open_xrcd");
	CHECK_REFUSED(open_target(domain, number, IBV_QPT_XRC_RECV), EINVAL);
	rig_must(ibv_destroy_qp(ini), "ibv_destroy_qp");
	rig_must(ibv_close_xrcd(domain), "ibv_close_xrcd");
	close(fd);
	unlink(path);
}

int
main(void)
{
	struct ibv_xrcd *domain, *other_domain;
	struct ibv_srq *srqs[2], *elsewhere;
	struct ibv_qp *ini, *tgt;
	struct ibv_pd *pd;
	struct ibv_mr *mrs[2];
	uint32_t srqn, srqn_elsewhere;

	rig_open();
	cq = pair_cq();
	domain = domains_of_files();
	other_domain = open_domain(-1, O_CREAT);
	pd = ibv_alloc_pd(rig_context);
	if (pd == NULL || other_domain == NULL)
		rig_die("ibv_alloc_pd");
	mrs[0] = pair_mr(PAIR_ACCESS);
	mrs[1] = ibv_reg_mr(
		pd, rig_buffer(0), (size_t)RIG_NB_BUFFERS * RIG_BUFFER_BYTES, PAIR_ACCESS);
	if (mrs[1] == NULL)
		rig_die("ibv_reg_mr");
	srqs[0] = create_srq(domain, rig_pd, cq);
	srqs[1] = create_srq(domain, pd, cq);
	elsewhere = create_srq(other_domain, rig_pd, cq);
	ini = create_qp(IBV_QPT_XRC_SEND, NULL);
	tgt = create_qp(IBV_QPT_XRC_RECV, domain);
	CHECK(ibv_close_xrcd(domain) == EBUSY, errno);
	pair_connect(ini, tgt);
	messages(ini, srqs, mrs);
	rig_must(ibv_get_srq_num(srqs[0], &srqn), "ibv_get_srq_num");
	rig_must(ibv_get_srq_num(elsewhere, &srqn_elsewhere), "ibv_get_srq_num");
	CHECK(broken_by(domain, IBV_WR_SEND, srqn_elsewhere, mrs[0]) == IBV_WC_REM_INV_REQ_ERR, 0);
	CHECK(broken_by(domain, IBV_WR_SEND, 0x777777, mrs[0]) == IBV_WC_REM_INV_REQ_ERR, 0);
	CHECK(broken_by(domain, IBV_WR_RDMA_WRITE, srqn, mrs[1]) == IBV_WC_REM_ACCESS_ERR, 0);
	CHECK(broken_by(domain, IBV_WR_RDMA_READ, srqn_elsewhere, mrs[0]) == IBV_WC_REM_ACCESS_ERR,
		0);
	gone_within_a_message(domain, mrs[0]);
	target_of_two();
	rig_must(ibv_destroy_qp(ini), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(tgt), "ibv_destroy_qp");
	rig_must(ibv_destroy_srq(srqs[0]), "ibv_destroy_srq");
	rig_must(ibv_destroy_srq(srqs[1]), "ibv_destroy_srq");
	rig_must(ibv_destroy_srq(elsewhere), "ibv_destroy_srq");
	rig_must(ibv_close_xrcd(domain), "ibv_close_xrcd");
	rig_must(ibv_close_xrcd(other_domain), "ibv_close_xrcd");
	rig_must(ibv_dereg_mr(mrs[0]), "ibv_dereg_mr");
	rig_must(ibv_dereg_mr(mrs[1]), "ibv_dereg_mr");
	rig_must(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}
