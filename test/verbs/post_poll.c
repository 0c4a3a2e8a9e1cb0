/* SPDX-License-Identifier: BSD-3-Clause */
/* libmlx5's own post and poll: ibv_post_send, ibv_wr_*, ibv_poll_cq, ibv_next_poll; and errors. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "rig.h"

#define FRAME 200 /* bytes */

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_wc wc[16];

static bool
is_same(unsigned int got, unsigned int sent, size_t length)
{
	return memcmp(rig_buffer(got), rig_buffer(sent), length) == 0;
}

static void
test_plain(void)
{
	struct ibv_wc *sent, *received;

	rig_frame(rig_buffer(0), FRAME, 1);
	rig_receive(qp, 10, RIG_BUFFER_BYTES);
	rig_send(qp, 0, FRAME);
	rig_poll(cq, wc, 2);
	sent = rig_find(wc, 2, IBV_WC_SEND);
	received = rig_find(wc, 2, IBV_WC_RECV);
	CHECK(sent != NULL && received != NULL, wc[0].opcode);
	if (sent == NULL || received == NULL)
		return;
	CHECK(sent->status == IBV_WC_SUCCESS && sent->wr_id == 0, sent->status);
	CHECK(received->status == IBV_WC_SUCCESS && received->wr_id == 10, received->status);
	CHECK(received->byte_len == FRAME, received->byte_len);
	CHECK(sent->qp_num == qp->qp_num, sent->qp_num);
	CHECK(is_same(10, 0, FRAME), 0);
	CHECK(ibv_poll_cq(cq, 1, wc) == 0, 0);
}

/** One post each: gathered from three places, inlined, unsignalled, signalled; scattered over
 * three places. */
static void
test_lists(void)
{
	struct ibv_sge pieces[3] = { rig_sge(0, 0, 30), rig_sge(0, 30, 70),
		rig_sge(0, 100, FRAME - 100) };
	struct ibv_sge places[3] = { rig_sge(10, 0, 17), rig_sge(10, 17, 3),
		rig_sge(10, 20, RIG_BUFFER_BYTES - 20) };
	struct ibv_sge small[2] = { rig_sge(1, 0, 50), rig_sge(1, 50, 30) };
	struct ibv_send_wr wr[3] = {
		{ .wr_id = 1, .next = &wr[1], .sg_list = pieces, .num_sge = 3 },
		{ .wr_id = 2, .next = &wr[2], .sg_list = small, .num_sge = 2 },
		{ .wr_id = 3, .sg_list = pieces, .num_sge = 3 },
	};
	struct ibv_recv_wr recv = { .wr_id = 10, .sg_list = places, .num_sge = 3 };
	struct ibv_send_wr *bad_send;
	struct ibv_recv_wr *bad_recv;
	uint8_t inlined[80];
	struct ibv_wc *sent;

	for (unsigned int i = 0; i < 3; i++)
		wr[i].opcode = IBV_WR_SEND;
	wr[1].send_flags = IBV_SEND_INLINE;
	wr[2].send_flags = IBV_SEND_SIGNALED;
	rig_frame(rig_buffer(0), FRAME, 2);
	rig_frame(rig_buffer(1), sizeof(inlined), 3);
	memcpy(inlined, rig_buffer(1), sizeof(inlined));
	rig_must(ibv_post_recv(qp, &recv, &bad_recv), "ibv_post_recv");
	rig_receive(qp, 11, RIG_BUFFER_BYTES);
	rig_receive(qp, 12, RIG_BUFFER_BYTES);
	rig_must(ibv_post_send(qp, wr, &bad_send), "ibv_post_send");
	memset(rig_buffer(1), 0xee, sizeof(inlined));
	rig_poll(cq, wc, 4);
	sent = rig_find(wc, 4, IBV_WC_SEND);
	CHECK(sent != NULL && sent->wr_id == 3, sent != NULL ? sent->wr_id : 0);
	CHECK(is_same(10, 0, FRAME), 0);
	CHECK(memcmp(rig_buffer(11), inlined, sizeof(inlined)) == 0, 0);
	CHECK(is_same(12, 0, FRAME), 0);
	CHECK(ibv_poll_cq(cq, 1, wc) == 0, 0);
}

/** More frames than the ring holds, over its end, several rounds. */
static void
test_many(void)
{
	unsigned int nb_sent = 0, nb_received = 0;

	for (unsigned int i = 0; i < 16; i++)
		rig_receive(qp, 10 + i, RIG_BUFFER_BYTES);
	for (unsigned int round = 0; round < 100; round++) {
		size_t length = 60 + round * 13;

		rig_frame(rig_buffer(0), length, (uint8_t)round);
		for (unsigned int i = 0; i < 4; i++)
			rig_send(qp, 0, length);
		rig_poll(cq, wc, 8);
		for (unsigned int i = 0; i < 8; i++) {
			rig_check(wc[i].status == IBV_WC_SUCCESS, "success", wc[i].status);
			if (wc[i].opcode != IBV_WC_RECV) {
				nb_sent++;
				continue;
			}
			nb_received++;
			rig_check(wc[i].byte_len == length, "length", wc[i].byte_len);
			rig_check(is_same((unsigned int)wc[i].wr_id, 0, length), "bytes", round);
			rig_receive(qp, (unsigned int)wc[i].wr_id, RIG_BUFFER_BYTES);
		}
	}
	CHECK(nb_sent == 400 && nb_received == 400, nb_received);
	/* Posted requests that are left are flushed and dropped. */
	rig_to_state(qp, IBV_QPS_ERR);
	rig_poll(cq, wc, 16);
	CHECK(wc[0].status == IBV_WC_WR_FLUSH_ERR && wc[15].status == IBV_WC_WR_FLUSH_ERR,
		wc[0].status);
	rig_to_state(qp, IBV_QPS_RESET);
	rig_start(qp);
}

static void
test_checksum(void)
{
	struct ibv_sge sge = rig_sge(0, 0, FRAME);
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM },
			   *bad;
	struct ibv_wc *received;

	rig_frame(rig_buffer(0), FRAME, 5);
	for (unsigned int i = 0; i < 2; i++) {
		rig_receive(qp, 10 + i, RIG_BUFFER_BYTES);
		rig_must(ibv_post_send(qp, &wr, &bad), "ibv_post_send");
		rig_poll(cq, wc, 2);
		received = rig_find(wc, 2, IBV_WC_RECV);
		rig_check(received != NULL &&
				(received->wc_flags & IBV_WC_IP_CSUM_OK) ==
					(i == 0 ? IBV_WC_IP_CSUM_OK : 0),
			"checksum verdict", i);
		/* First the received frame with its checksums; then with wrong ones. */
		memcpy(rig_buffer(0), rig_buffer(10), FRAME);
		rig_buffer(0)[24] ^= 1;
		wr.send_flags = IBV_SEND_SIGNALED;
	}
}

static void
test_wr_api(void)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	struct ibv_sge pieces[2] = { rig_sge(0, 0, 64), rig_sge(0, 64, FRAME - 64) };
	struct ibv_data_buf bufs[2] = { { rig_buffer(1), 20 }, { rig_buffer(1) + 20, 60 } };
	struct ibv_wc *sent[3] = { NULL };
	unsigned int nb = 0;

	rig_frame(rig_buffer(0), FRAME, 6);
	rig_frame(rig_buffer(1), 80, 7);
	for (unsigned int i = 0; i < 4; i++)
		rig_receive(qp, 10 + i, RIG_BUFFER_BYTES);
	/* An aborted batch sends no frame. */
	ibv_wr_start(ex);
	ex->wr_id = 99;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, rig_mr->lkey, (uintptr_t)rig_buffer(1), 80);
	ibv_wr_abort(ex);
	ibv_wr_start(ex);
	ex->wr_id = 20;
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, rig_mr->lkey, (uintptr_t)rig_buffer(0), FRAME);
	ex->wr_id = 21;
	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, 2, pieces);
	ex->wr_id = 22;
	ex->wr_flags = 0;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, rig_buffer(1), 80);
	ex->wr_id = 23;
	ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data_list(ex, 2, bufs);
	rig_must(ibv_wr_complete(ex), "ibv_wr_complete");
	rig_poll(cq, wc, 7);
	for (unsigned int i = 0; i < 7; i++)
		if (wc[i].opcode == IBV_WC_SEND && nb < 3)
			sent[nb++] = &wc[i];
	CHECK(nb == 3, nb);
	if (nb == 3)
		CHECK(sent[0]->wr_id == 20 && sent[1]->wr_id == 21 && sent[2]->wr_id == 23,
			sent[2]->wr_id);
	CHECK(is_same(10, 0, FRAME), 0);
	CHECK(is_same(11, 0, FRAME), 0);
	CHECK(is_same(12, 1, 80), 0);
	CHECK(memcmp(rig_buffer(13) + RIG_HEADER_BYTES, rig_buffer(1) + RIG_HEADER_BYTES,
		      80 - RIG_HEADER_BYTES) == 0 &&
			rig_buffer(13)[24] != 0,
		rig_buffer(13)[24]);
}

/** The library refuses more pieces than requested, and more requests than fit while none
 * completes. */
static void
test_refused_posts(void)
{
	struct ibv_sge pieces[9];
	struct ibv_send_wr wr = { .sg_list = pieces, .num_sge = 9, .opcode = IBV_WR_SEND }, *bad;
	unsigned int nb = 0;
	int ret;

	for (unsigned int i = 0; i < 9; i++)
		pieces[i] = rig_sge(0, i * 16, 16);
	ret = ibv_post_send(qp, &wr, &bad);
	CHECK(ret == ENOMEM || ret == EINVAL, ret);
	CHECK(bad == &wr, 0);
	wr.num_sge = 4;
	while ((ret = ibv_post_send(qp, &wr, &bad)) == 0 && nb < 10000)
		nb++;
	CHECK(ret == ENOMEM && nb >= 32, nb);
	rig_to_state(qp, IBV_QPS_RESET);
	rig_start(qp);
}

/** An unknown key: an error, a flush of the later requests, and back by RESET. */
static void
test_send_error(void)
{
	struct ibv_sge good = rig_sge(0, 0, FRAME), wrong = good;
	struct ibv_send_wr wr[2] = {
		{ .wr_id = 30,
			.next = &wr[1],
			.sg_list = &wrong,
			.num_sge = 1,
			.opcode = IBV_WR_SEND },
		{ .wr_id = 31,
			.sg_list = &good,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED },
	};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_send_wr *bad;

	wrong.lkey ^= 0x4200;
	rig_must(ibv_post_send(qp, wr, &bad), "ibv_post_send");
	rig_poll(cq, wc, 2);
	CHECK(wc[0].status == IBV_WC_LOC_PROT_ERR && wc[0].wr_id == 30, wc[0].status);
	CHECK(wc[0].qp_num == qp->qp_num, wc[0].qp_num);
	CHECK(wc[1].status == IBV_WC_WR_FLUSH_ERR && wc[1].wr_id == 31, wc[1].status);
	rig_must(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
	CHECK(attr.qp_state == IBV_QPS_SQE, attr.qp_state);
	rig_to_state(qp, IBV_QPS_RESET);
	rig_start(qp);
	test_plain();
}

/** Too small a buffer: that frame is lost, the queue goes on. */
static void
test_receive_error(void)
{
	rig_frame(rig_buffer(0), FRAME, 8);
	rig_receive(qp, 10, FRAME - 1);
	rig_receive(qp, 11, FRAME);
	rig_send(qp, 0, FRAME);
	rig_send(qp, 0, FRAME);
	rig_poll(cq, wc, 4);
	for (unsigned int i = 0; i < 4; i++)
		if (wc[i].wr_id == 10)
			rig_check(wc[i].status == IBV_WC_LOC_LEN_ERR, "too long", wc[i].status);
		else
			rig_check(wc[i].status == IBV_WC_SUCCESS, "success", wc[i].status);
	CHECK(is_same(11, 0, FRAME), 0);
}

int
main(void)
{
	struct ibv_flow *flow;

	rig_open();
	cq = ibv_create_cq(rig_context, 128, NULL, NULL, 0);
	if (cq == NULL)
		rig_die("ibv_create_cq");
	qp = rig_qp(cq, 0);
	flow = rig_take_all(qp);
	test_plain();
	test_lists();
	test_many();
	test_checksum();
	test_wr_api();
	test_refused_posts();
	test_send_error();
	test_receive_error();
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}
