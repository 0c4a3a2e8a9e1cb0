/* SPDX-License-Identifier: BSD-3-Clause */
/* ibv_start_poll and ibv_next_poll, in batches; wc_fields.c tests all fields. */
#include <errno.h>
#include <string.h>

#include "rig.h"

#define FRAME 100 /* bytes */
#define TAG   0xabcde
#define TCI   0x6123

static struct ibv_cq_ex *cq;
static struct ibv_qp *qp;

static struct ibv_cq_ex *
create_cq(uint64_t wc_flags, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 60,
		.wc_flags = wc_flags,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = flags,
	};

	return ibv_create_cq_ex(rig_context, &attr);
}

/** A rule for all UDP with a tag, behind the rule that takes all. */
static struct ibv_flow *
tag_rule(void)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
		struct ibv_flow_spec_action_tag tag;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(rule),
			.num_of_specs = 2,
			.port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			.size = sizeof(rule.eth),
			.val.dst_mac = { 2, 0, 0, 0, 0, 1 },
			.mask.dst_mac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
		.tag = { .type = IBV_FLOW_SPEC_ACTION_TAG,
			.size = sizeof(rule.tag),
			.tag_id = TAG },
	};
	struct ibv_flow *flow = ibv_create_flow(qp, &rule.attr);

	if (flow == NULL)
		rig_die("ibv_create_flow");
	return flow;
}

static void
check_received(unsigned int *nb_received, size_t length, uint16_t tci)
{
	CHECK(cq->status == IBV_WC_SUCCESS, cq->status);
	CHECK(ibv_wc_read_byte_len(cq) == length, ibv_wc_read_byte_len(cq));
	CHECK(ibv_wc_read_flow_tag(cq) == TAG, ibv_wc_read_flow_tag(cq));
	CHECK(ibv_wc_read_cvlan(cq) == tci, ibv_wc_read_cvlan(cq));
	CHECK(cq->wr_id == 10 + *nb_received, cq->wr_id);
	(*nb_received)++;
}

static void
check_sent(unsigned int *nb_sent)
{
	CHECK(cq->status == IBV_WC_SUCCESS, cq->status);
	CHECK(ibv_wc_read_opcode(cq) == IBV_WC_SEND, ibv_wc_read_opcode(cq));
	CHECK(ibv_wc_read_qp_num(cq) == qp->qp_num, ibv_wc_read_qp_num(cq));
	(*nb_sent)++;
}

/** Five frames: ten completions in batches as they come, in order on each side. */
static void
test_batches(void)
{
	unsigned int nb_sent = 0, nb_received = 0;

	for (unsigned int i = 0; i < 5; i++)
		rig_receive(qp, 10 + i, RIG_BUFFER_BYTES);
	rig_frame(rig_buffer(0), FRAME, 1);
	for (unsigned int i = 0; i < 5; i++)
		rig_send(qp, 0, FRAME);
	while (nb_sent + nb_received < 10) {
		int ret;

		rig_start_poll(cq);
		do {
			if (ibv_wc_read_opcode(cq) == IBV_WC_RECV)
				check_received(&nb_received, FRAME, 0);
			else
				check_sent(&nb_sent);
		} while ((ret = ibv_next_poll(cq)) == 0);
		CHECK(ret == ENOENT, ret);
		ibv_end_poll(cq);
	}
	CHECK(nb_sent == 5 && nb_received == 5, nb_sent);
}

/** A frame with a VLAN tag: it is stripped and reported. */
static void
test_cvlan(void)
{
	const uint8_t tag[4] = { 0x81, 0, TCI >> 8, TCI & 0xff };
	unsigned int nb_sent = 0, nb_received = 0;
	uint8_t *frame = rig_buffer(0);

	rig_frame(frame, FRAME, 2);
	memmove(frame + 16, frame + 12, FRAME - 12);
	memcpy(frame + 12, tag, sizeof(tag));
	rig_receive(qp, 10, RIG_BUFFER_BYTES);
	rig_send(qp, 0, FRAME + 4);
	while (nb_sent + nb_received < 2) {
		rig_start_poll(cq);
		if (ibv_wc_read_opcode(cq) == IBV_WC_RECV)
			check_received(&nb_received, FRAME, TCI);
		else
			check_sent(&nb_sent);
		ibv_end_poll(cq);
	}
	CHECK(memcmp(rig_buffer(10), frame, 12) == 0, 0);
	CHECK(memcmp(rig_buffer(10) + 12, frame + 16, FRAME - 12) == 0, 0);
}

static void
test_error(void)
{
	struct ibv_sge sge = rig_sge(0, 0, FRAME);
	struct ibv_send_wr wr = { .wr_id = 7,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND },
			   *bad;

	sge.lkey ^= 0x4200;
	rig_must(ibv_post_send(qp, &wr, &bad), "ibv_post_send");
	rig_start_poll(cq);
	CHECK(cq->status == IBV_WC_LOC_PROT_ERR && cq->wr_id == 7, cq->status);
	(void)ibv_wc_read_vendor_err(cq);
	ibv_end_poll(cq);
}

static void
test_refused(void)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 60, .comp_vector = 100000 };

	/* A flag that libmlx5 does not know, and one that the device does not support. */
	CHECK_REFUSED(create_cq(1ull << 40, 0), EOPNOTSUPP);
	CHECK_REFUSED(create_cq(0, 1u << 20), EINVAL);
	CHECK_REFUSED(ibv_create_cq_ex(rig_context, &attr), EINVAL);
}

int
main(void)
{
	const uint64_t fields =
		IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG;
	/* With libmlx5's lock and without: other functions. */
	const uint32_t flags[2] = { 0, IBV_CREATE_CQ_ATTR_SINGLE_THREADED };

	rig_open();
	for (unsigned int i = 0; i < 2; i++) {
		struct ibv_flow *flow;

		cq = create_cq(fields, flags[i]);
		if (cq == NULL)
			rig_die("ibv_create_cq_ex");
		qp = rig_qp(ibv_cq_ex_to_cq(cq), IBV_QP_CREATE_CVLAN_STRIPPING);
		flow = tag_rule();
		test_batches();
		test_cvlan();
		test_error();
		rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
		rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
		rig_must(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "ibv_destroy_cq");
	}
	test_refused();
	return rig_close();
}
