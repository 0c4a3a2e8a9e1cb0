/* SPDX-License-Identifier: BSD-3-Clause */
/* TSO, FCS, VLAN stripping, counters through verbs. */
#include <errno.h>
#include <string.h>

#include "rig.h"

#define FRAME       100 /* bytes */
#define TCP_HEADERS 54
#define MSS         300
#define PAYLOAD     1000
#define NB_SEGMENTS 4

static struct ibv_cq *cq;
static struct ibv_wc wc[16];

/** IEEE 802.3, 3.2.9. */
static uint32_t
crc32(const uint8_t *bytes, size_t length)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < length; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

/** A TCP packet for TSO: sequence number 1000, PSH and FIN. */
static void
make_tcp(uint8_t *header)
{
	const uint8_t head[TCP_HEADERS] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0,
		40, 0, 7, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 4, 0, 0, 80, 0, 0, 1000 >> 8,
		1000 & 0xff, 0, 0, 0, 0, 0x50, 0x19, 0x20 };

	memcpy(header, head, sizeof(head));
}

static void
check_segments(void)
{
	for (unsigned int i = 0; i < NB_SEGMENTS; i++) {
		const uint8_t *frame = rig_buffer(10 + i);
		const size_t payload = i < NB_SEGMENTS - 1 ? MSS : PAYLOAD - i * MSS;
		const uint8_t flags = frame[47];

		rig_check(rig_be16(frame + 16) == 40 + payload, "IP length", i);
		rig_check(rig_be16(frame + 18) == 7 + i, "IP identification", i);
		rig_check(rig_be32(frame + 38) == 1000 + i * MSS, "sequence number", i);
		rig_check(flags == (i < NB_SEGMENTS - 1 ? 0x10 : 0x19), "TCP flags", flags);
		rig_check(memcmp(frame + TCP_HEADERS, rig_buffer(0) + i * MSS, payload) == 0,
			"payload", i);
	}
}

/** Once by ibv_post_send, once by ibv_wr_send_tso. */
static void
test_tso(struct ibv_qp *qp)
{
	uint8_t header[TCP_HEADERS];
	struct ibv_sge sge = rig_sge(0, 0, PAYLOAD);
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_TSO,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM,
		.tso = { .hdr = header, .hdr_sz = sizeof(header), .mss = MSS },
	};
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	struct ibv_send_wr *bad;

	make_tcp(header);
	for (unsigned int i = 0; i < PAYLOAD; i++)
		rig_buffer(0)[i] = (uint8_t)(i * 7);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < NB_SEGMENTS; i++)
			rig_receive(qp, 10 + i, RIG_BUFFER_BYTES);
		if (round == 0) {
			rig_must(ibv_post_send(qp, &wr, &bad), "ibv_post_send");
		} else {
			ibv_wr_start(ex);
			ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM;
			ibv_wr_send_tso(ex, header, sizeof(header), MSS);
			ibv_wr_set_sge(ex, rig_mr->lkey, (uintptr_t)rig_buffer(0), PAYLOAD);
			rig_must(ibv_wr_complete(ex), "ibv_wr_complete");
		}
		rig_poll(cq, wc, NB_SEGMENTS + 1);
		for (unsigned int i = 0; i < NB_SEGMENTS + 1; i++)
			rig_check(wc[i].status == IBV_WC_SUCCESS &&
					(wc[i].opcode == IBV_WC_TSO ||
						(wc[i].wc_flags & IBV_WC_IP_CSUM_OK) != 0),
				"segment", wc[i].opcode);
		CHECK(rig_find(wc, NB_SEGMENTS + 1, IBV_WC_TSO) != NULL, wc[0].opcode);
		check_segments();
	}
	/* The library keeps to the requested sizes. */
	wr.tso.hdr_sz = 65;
	CHECK(ibv_post_send(qp, &wr, &bad) == EINVAL, 0);
}

static void
pass(struct ibv_qp *qp, size_t length)
{
	rig_receive(qp, 10, RIG_BUFFER_BYTES);
	rig_send(qp, 0, length);
	rig_poll(cq, wc, 2);
}

static void
test_fcs(void)
{
	struct ibv_qp *qp = rig_qp(cq, IBV_QP_CREATE_SCATTER_FCS);
	struct ibv_flow *flow = rig_take_all(qp);
	const struct ibv_wc *received;
	uint32_t fcs;

	rig_frame(rig_buffer(0), FRAME, 4);
	pass(qp, FRAME);
	received = rig_find(wc, 2, IBV_WC_RECV);
	CHECK(received != NULL && received->byte_len == FRAME + 4, 0);
	memcpy(&fcs, rig_buffer(10) + FRAME, sizeof(fcs));
	CHECK(fcs == crc32(rig_buffer(0), FRAME), fcs);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
}

/** A work queue behind a hash QP: its VLAN stripping is switched while it runs. */
static void
test_strip_switch(struct ibv_qp *sender)
{
	struct ibv_wq_init_attr wq_attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1, .pd = rig_pd, .cq = cq
	};
	struct ibv_wq_attr ready = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
	struct ibv_wq_attr strip = { .attr_mask = IBV_WQ_ATTR_FLAGS,
		.flags_mask = IBV_WQ_FLAGS_CVLAN_STRIPPING };
	struct ibv_wq *wq = ibv_create_wq(rig_context, &wq_attr);
	struct ibv_rwq_ind_table_init_attr table_attr = { .ind_tbl = &wq };
	struct ibv_rwq_ind_table *table = ibv_create_rwq_ind_table(rig_context, &table_attr);
	uint8_t key[40] = { 1 };
	struct ibv_qp_init_attr_ex qp_attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.pd = rig_pd,
		.rwq_ind_tbl = table,
		.rx_hash_conf = { IBV_RX_HASH_FUNC_TOEPLITZ, sizeof(key), key, 0 },
	};
	struct ibv_qp *hash = ibv_create_qp_ex(rig_context, &qp_attr);
	struct ibv_flow *flow;
	const uint8_t tag[4] = { 0x81, 0, 0, 5 };
	uint8_t *frame = rig_buffer(0);

	if (hash == NULL)
		rig_die("ibv_create_qp_ex");
	rig_must(ibv_modify_wq(wq, &ready), "ibv_modify_wq");
	flow = rig_take_all(hash);
	rig_frame(frame, FRAME, 5);
	memmove(frame + 16, frame + 12, FRAME - 12);
	memcpy(frame + 12, tag, sizeof(tag));
	for (unsigned int round = 0; round < 3; round++) {
		const bool on = round == 1;
		struct ibv_sge sge = rig_sge(10, 0, RIG_BUFFER_BYTES);
		struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
		const struct ibv_wc *received;

		strip.flags = on ? IBV_WQ_FLAGS_CVLAN_STRIPPING : 0;
		rig_must(ibv_modify_wq(wq, &strip), "ibv_modify_wq");
		rig_must(ibv_post_wq_recv(wq, &wr, &bad), "ibv_post_wq_recv");
		rig_send(sender, 0, FRAME + 4);
		rig_poll(cq, wc, 2);
		received = rig_find(wc, 2, IBV_WC_RECV);
		rig_check(received != NULL && received->byte_len == (on ? FRAME : FRAME + 4),
			"length by stripping", on);
	}
	strip.flags_mask = IBV_WQ_FLAGS_PCI_WRITE_END_PADDING;
	CHECK(ibv_modify_wq(wq, &strip) == EOPNOTSUPP, 0);
	CHECK(ibv_destroy_wq(wq) == EBUSY, 0);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(hash), "ibv_destroy_qp");
	rig_must(ibv_destroy_rwq_ind_table(table), "ibv_destroy_rwq_ind_table");
	rig_must(ibv_destroy_wq(wq), "ibv_destroy_wq");
}

static void
test_counters(struct ibv_qp *qp)
{
	struct ibv_counters_init_attr init = { 0 };
	struct ibv_counters *counters = ibv_create_counters(rig_context, &init);
	struct ibv_counter_attach_attr bytes = { IBV_COUNTER_BYTES, 2, 0 };
	struct ibv_counter_attach_attr packets = { IBV_COUNTER_PACKETS, 0, 0 };
	/* Specs follow each other without a gap. */
	struct __attribute__((packed)) {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
		struct ibv_flow_spec_counter_action count;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(rule),
			.num_of_specs = 2,
			.port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) },
		.count = { .type = IBV_FLOW_SPEC_ACTION_COUNT,
			.size = sizeof(rule.count),
			.counters = counters },
	};
	uint64_t values[3] = { 0 };
	struct ibv_flow *flow;
	void *start = &rule;

	if (counters == NULL)
		rig_die("ibv_create_counters");
	CHECK(ibv_read_counters(counters, values, 3, 0) == EINVAL, 0);
	rig_must(ibv_attach_counters_point_flow(counters, &packets, NULL), "attach");
	rig_must(ibv_attach_counters_point_flow(counters, &bytes, NULL), "attach");
	flow = ibv_create_flow(qp, start);
	if (flow == NULL)
		rig_die("ibv_create_flow");
	rig_frame(rig_buffer(0), FRAME, 6);
	for (unsigned int i = 0; i < 3; i++)
		pass(qp, FRAME);
	rig_must(ibv_read_counters(counters, values, 3, 0), "ibv_read_counters");
	CHECK(values[0] == 3, values[0]);
	CHECK(values[1] == 0, values[1]);
	CHECK(values[2] == 3 * FRAME, values[2]);
	CHECK(ibv_read_counters(counters, values, 2, 0) == EINVAL, 0);
	CHECK(ibv_destroy_counters(counters) == EBUSY, 0);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_counters(counters), "ibv_destroy_counters");
}

int
main(void)
{
	struct ibv_flow *flow;
	struct ibv_qp *qp;

	rig_open();
	cq = ibv_create_cq(rig_context, 128, NULL, NULL, 0);
	if (cq == NULL)
		rig_die("ibv_create_cq");
	qp = rig_qp(cq, 0);
	flow = rig_take_all(qp);
	test_tso(qp);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	test_fcs();
	test_strip_switch(qp);
	test_counters(qp);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}
