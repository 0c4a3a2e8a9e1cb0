/* SPDX-License-Identifier: BSD-3-Clause */
/* The fakes of mode=ibv. Functions of libibverbs defined here win over the library's. */
#include <errno.h>
#include <string.h>

#include "ibv_rig.h"

struct ibv_rig ibv_rig;

static const struct ibv_rig_wc *
current(const struct ibv_cq_ex *cq)
{
	assert_ptr_equal(cq, &ibv_rig.cq);
	assert_true(ibv_rig.polling);
	return &ibv_rig.wcs[ibv_rig.wcs_taken % IBV_RIG_DEPTH];
}

static int
show(struct ibv_cq_ex *cq)
{
	if (ibv_rig.wcs_taken == ibv_rig.nb_wcs)
		return ENOENT;
	cq->wr_id = current(cq)->wr_id;
	cq->status = current(cq)->status;
	return 0;
}

static int
start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	int ret;

	assert_int_equal(attr->comp_mask, 0);
	assert_false(ibv_rig.polling);
	ibv_rig.polling = true;
	ret = show(cq);
	/* After a failed start the caller must not call end_poll. */
	ibv_rig.polling = ret == 0;
	return ret;
}

static int
next_poll(struct ibv_cq_ex *cq)
{
	assert_true(ibv_rig.polling);
	ibv_rig.wcs_taken++;
	return show(cq);
}

/** Takes the completion that is shown. */
static void
end_poll(struct ibv_cq_ex *cq)
{
	assert_ptr_equal(cq, &ibv_rig.cq);
	assert_true(ibv_rig.polling);
	ibv_rig.polling = false;
	ibv_rig.wcs_taken += ibv_rig.wcs_taken != ibv_rig.nb_wcs;
}

static uint32_t
read_byte_len(struct ibv_cq_ex *cq)
{
	return current(cq)->byte_len;
}

static uint32_t
read_vendor_err(struct ibv_cq_ex *cq)
{
	return current(cq)->status == IBV_WC_SUCCESS ? 0 : 0x88;
}

static uint16_t
read_cvlan(struct ibv_cq_ex *cq)
{
	assert_true(ibv_rig.asked.wc_flags & IBV_WC_EX_WITH_CVLAN);
	return current(cq)->tci;
}

static uint32_t
read_flow_tag(struct ibv_cq_ex *cq)
{
	assert_true(ibv_rig.asked.wc_flags & IBV_WC_EX_WITH_FLOW_TAG);
	return current(cq)->tag;
}

static uint64_t
read_completion_ts(struct ibv_cq_ex *cq)
{
	assert_true(ibv_rig.asked.wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
	return current(cq)->timestamp;
}

static struct ibv_cq_ex *
create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	ibv_rig.asked = *attr;
	errno = RTE_MAX(ibv_rig.cq_errno, 0);
	if (ibv_rig.cq_errno != 0)
		return NULL;
	ibv_rig.cq = (struct ibv_cq_ex){
		.context = context,
		.start_poll = start_poll,
		.next_poll = next_poll,
		.end_poll = end_poll,
		.read_byte_len = read_byte_len,
		.read_vendor_err = read_vendor_err,
		.read_cvlan = read_cvlan,
		.read_flow_tag = read_flow_tag,
		.read_completion_ts = read_completion_ts,
	};
	return &ibv_rig.cq;
}

int
ibv_destroy_cq(struct ibv_cq *cq)
{
	assert_ptr_equal(cq, ibv_cq_ex_to_cq(&ibv_rig.cq));
	return 0;
}

static int
post_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)wq;
	for (; wr != NULL; wr = wr->next) {
		struct ibv_rig_wr *posted = &ibv_rig.wrs[ibv_rig.nb_wrs];

		*bad = wr;
		if (ibv_rig.room == 0)
			return ENOMEM;
		ibv_rig.room--;
		assert_true(ibv_rig.nb_wrs++ < IBV_RIG_DEPTH);
		posted->wr_id = wr->wr_id;
		posted->nb_sges = wr->num_sge;
		memcpy(posted->sges, wr->sg_list, wr->num_sge * sizeof(posted->sges[0]));
	}
	return 0;
}

static void
wr_start(struct ibv_qp_ex *qp)
{
	assert_ptr_equal(qp, &ibv_rig.qp);
	ibv_rig.nb_started = 0;
}

static void
wr_send_tso(struct ibv_qp_ex *qp, void *header, uint16_t len, uint16_t mss)
{
	struct ibv_rig_wr *posted = &ibv_rig.wrs[ibv_rig.nb_wrs++];

	assert_true(ibv_rig.nb_wrs <= IBV_RIG_DEPTH && len <= sizeof(posted->header));
	ibv_rig.nb_started++;
	*posted = (struct ibv_rig_wr){
		.wr_id = qp->wr_id,
		.flags = qp->wr_flags,
		.header_len = len,
		.mss = mss,
	};
	memcpy(posted->header, header, len);
}

static void
wr_send(struct ibv_qp_ex *qp)
{
	wr_send_tso(qp, &qp->wr_id, 0, 0);
}

static void
wr_set_sge_list(struct ibv_qp_ex *qp, size_t nb, const struct ibv_sge *sges)
{
	struct ibv_rig_wr *posted = &ibv_rig.wrs[ibv_rig.nb_wrs - 1];

	(void)qp;
	assert_true(nb != 0 && nb <= RTE_DIM(posted->sges));
	posted->nb_sges = nb;
	memcpy(posted->sges, sges, nb * sizeof(sges[0]));
}

/** Posts all work requests since ibv_wr_start(), or none. */
static int
wr_complete(struct ibv_qp_ex *qp)
{
	(void)qp;
	if (ibv_rig.room < ibv_rig.nb_started) {
		ibv_rig.nb_wrs -= ibv_rig.nb_started;
		return ENOMEM;
	}
	ibv_rig.room -= ibv_rig.nb_started;
	return 0;
}

struct ibv_qp_ex *
ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	(void)qp;
	return &ibv_rig.qp;
}

void
ibv_rig_init(struct rig_port *port)
{
	struct ibv_context *context = port->wq->context;

	memset(&ibv_rig, 0, sizeof(ibv_rig));
	ibv_rig.room = UINT32_MAX;
	ibv_rig.qp = (struct ibv_qp_ex){
		.wr_start = wr_start,
		.wr_send = wr_send,
		.wr_send_tso = wr_send_tso,
		.wr_set_sge_list = wr_set_sge_list,
		.wr_complete = wr_complete,
	};
	verbs_get_ctx(context)->create_cq_ex = create_cq_ex;
	port->wq->post_recv = post_recv;
	port->port.device.ctx = context;
	port->port.device.caps.mode = MDV_MODE_IBV;
	port->port.device.caps.max_sge = 30;
}

void
ibv_rig_complete(const struct ibv_rig_wc *wc)
{
	assert_true(ibv_rig.nb_wcs - ibv_rig.wcs_taken < IBV_RIG_DEPTH);
	ibv_rig.wcs[ibv_rig.nb_wcs++ % IBV_RIG_DEPTH] = *wc;
}

void
ibv_rig_forget(void)
{
	ibv_rig.nb_wrs = 0;
}
