/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast groups of UD queue pairs: who gets what is sent to one, and what is refused. */
#include <errno.h>
#include <string.h>

#include "pair.h"

#define BYTES  100
#define NB_QPS 3

static struct ibv_cq *cq;
static struct ibv_qp *qps[NB_QPS];
static const union ibv_gid group = { .raw = { 0xff, 0x0e, [14] = 1, [15] = 2 } };
static const union ibv_gid group_of_none = { .raw = { 0xff, 0x0e, [14] = 1, [15] = 3 } };

static struct ibv_ah *
address(const union ibv_gid *gid, uint8_t sgid_index)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = *gid, .sgid_index = sgid_index, .hop_limit = 1 },
	};
	struct ibv_ah *ah = ibv_create_ah(rig_pd, &attr);

	if (ah == NULL)
		rig_die("ibv_create_ah");
	return ah;
}

static void
post_receives(void)
{
	for (unsigned int i = 0; i < NB_QPS; i++) {
		struct ibv_sge sge = rig_sge(1 + i, 0, RIG_BUFFER_BYTES);

		pair_receive(qps[i], i, &sge);
	}
}

/** From the first queue pair. @return a bit for each that gets it */
static unsigned int
send_to(const union ibv_gid *gid, uint8_t sgid_index, uint32_t key, unsigned int nb_wanted)
{
	static uint8_t content;
	struct ibv_ah *ah = address(gid, sgid_index);
	struct ibv_sge sge = rig_sge(0, 0, BYTES);
	struct ibv_send_wr wr = pair_wr(IBV_WR_SEND, 100, &sge);
	unsigned int got = 0;
	struct ibv_wc wc;

	*rig_buffer(0) = ++content;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = 0xffffff;
	wr.wr.ud.remote_qkey = key;
	pair_post(qps[0], &wr);
	for (unsigned int i = 0; i < nb_wanted + 1; i++) {
		wc = pair_poll(cq, IBV_WC_SUCCESS);
		if (wc.wr_id == 100)
			continue;
		CHECK(wc.byte_len == 40 + BYTES && (wc.wc_flags & IBV_WC_GRH), wc.byte_len);
		CHECK(wc.src_qp == qps[0]->qp_num, wc.src_qp);
		/* Of RoCE a CQE has there which header it was: a GRH, or IPv6. */
		CHECK(wc.sl == (sgid_index == 0 ? 0 : 1), wc.sl);
		CHECK(rig_buffer(1 + (unsigned int)wc.wr_id)[40] == content, wc.wr_id);
		/* The destination's address is in the GRH. */
		CHECK(memcmp(rig_buffer(1 + (unsigned int)wc.wr_id) + 24, gid->raw, 16) == 0,
			wc.wr_id);
		got |= 1u << wc.wr_id;
	}
	CHECK(ibv_poll_cq(cq, 1, &wc) == 0, wc.wr_id);
	rig_must(ibv_destroy_ah(ah), "ibv_destroy_ah");
	return got;
}

static void
refusals(void)
{
	const union ibv_gid unicast = { .raw = { 0xfe, 0x80, [15] = 1 } };
	struct ibv_qp *connected = pair_qp(IBV_QPT_RC, cq, NULL);

	CHECK(ibv_attach_mcast(qps[0], &unicast, 0) == EINVAL, errno);
	CHECK(ibv_attach_mcast(connected, &group, 0) == EINVAL, errno);
	CHECK(ibv_detach_mcast(qps[0], &group, 0) == EINVAL, errno);
	rig_must(ibv_destroy_qp(connected), "ibv_destroy_qp");
}

static struct ibv_qp *
try_type(enum ibv_qp_type type, uint32_t flags)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 16, 16, 1, 1, 0 },
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = rig_pd,
		.create_flags = flags,
	};

	return ibv_create_qp_ex(rig_context, &attr);
}

static struct ibv_qp *
create(uint32_t flags)
{
	struct ibv_qp *qp = try_type(IBV_QPT_UD, flags);

	if (qp == NULL)
		rig_die("ibv_create_qp_ex");
	return qp;
}

/** Each type has flags of its own (Linux core/uverbs_std_types_qp.c check_creation_flags()). */
static void
flags_of_others(void)
{
	static const struct {
		enum ibv_qp_type type;
		uint32_t flags;
	} rows[] = {
		{ IBV_QPT_RC, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB },
		{ IBV_QPT_UC, IBV_QP_CREATE_PCI_WRITE_END_PADDING },
		{ IBV_QPT_UD, IBV_QP_CREATE_SCATTER_FCS },
		{ IBV_QPT_UD, IBV_QP_CREATE_CVLAN_STRIPPING },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		errno = 0;
		CHECK(try_type(rows[i].type, rows[i].flags) == NULL && errno == EINVAL, i);
	}
}

int
main(void)
{
	rig_open();
	cq = pair_cq();
	for (unsigned int i = 0; i < NB_QPS; i++) {
		qps[i] = create(i == 0 ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0);
		pair_start(qps[i], 0);
	}
	refusals();
	flags_of_others();
	post_receives();
	CHECK(send_to(&group, PAIR_GID, PAIR_KEY, 0) == 0, 0);
	for (unsigned int i = 0; i < NB_QPS; i++)
		rig_must(ibv_attach_mcast(qps[i], &group, 0), "ibv_attach_mcast");
	/* Once more is no error, and once is enough to leave. */
	rig_must(ibv_attach_mcast(qps[1], &group, 0), "ibv_attach_mcast");
	CHECK(ibv_destroy_qp(qps[1]) == EBUSY, errno);
	/* The first one does not want its own. */
	CHECK(send_to(&group, PAIR_GID, PAIR_KEY, 2) == 6, 0);
	post_receives();
	CHECK(send_to(&group, 0, PAIR_KEY, 2) == 6, 0);
	post_receives();
	CHECK(send_to(&group_of_none, PAIR_GID, PAIR_KEY, 0) == 0, 0);
	CHECK(send_to(&group, PAIR_GID, PAIR_KEY + 1, 0) == 0, 0);
	rig_must(ibv_detach_mcast(qps[1], &group, 0), "ibv_detach_mcast");
	CHECK(ibv_detach_mcast(qps[1], &group, 0) == EINVAL, errno);
	CHECK(send_to(&group, PAIR_GID, PAIR_KEY, 1) == 4, 0);
	rig_must(ibv_detach_mcast(qps[2], &group, 0), "ibv_detach_mcast");
	rig_must(ibv_destroy_qp(qps[1]), "ibv_destroy_qp");
	rig_must(ibv_destroy_qp(qps[2]), "ibv_destroy_qp");
	/* The first one is in the group when its context ends. */
	return rig_summary();
}
