/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A key of another process is none of ours. Two programs on one card:
 *
 *     verbs-foreign-key hold              registers memory, prints its address and lkey; for each
 *                                         line of its input it sends a frame; at the end nothing is
 *                                         written to the memory
 *     verbs-foreign-key use ADDRESS LKEY  sends from it, says when it waits for a frame of the
 *                                         other's, and receives into it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define FRAME_BYTES 100
#define SEED        7

static enum ibv_wc_status
status_of_one(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	rig_poll(cq, &wc, 1);
	return wc.status;
}

static void
send_from(struct ibv_cq *cq, struct ibv_sge *sge)
{
	struct ibv_qp *qp = rig_qp(cq, 0);
	struct ibv_send_wr wr = {
		.sg_list = sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED
	};
	struct ibv_send_wr *bad;

	rig_must(ibv_post_send(qp, &wr, &bad), "ibv_post_send");
	CHECK(status_of_one(cq) == IBV_WC_LOC_PROT_ERR, sge->lkey);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
}

static void
receive_into(struct ibv_cq *cq, struct ibv_sge *sge)
{
	struct ibv_recv_wr wr = { .sg_list = sge, .num_sge = 1 };
	struct ibv_qp *qp = rig_qp(cq, 0);
	struct ibv_flow *flow = rig_take_own(qp);
	struct ibv_recv_wr *bad;

	rig_must(ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
	printf("waits\n");
	fflush(stdout);
	CHECK(status_of_one(cq) == IBV_WC_LOC_PROT_ERR, sge->lkey);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
}

static void
use(uint64_t address, uint32_t lkey)
{
	struct ibv_cq *cq = ibv_create_cq(rig_context, 16, NULL, NULL, 0);
	/* Memory of the other program, and what we have at an address of our own. */
	struct ibv_sge theirs = { address, RIG_BUFFER_BYTES, lkey };
	struct ibv_sge ours = { (uintptr_t)rig_buffer(1), RIG_BUFFER_BYTES, lkey };

	if (cq == NULL)
		rig_die("ibv_create_cq");
	CHECK(lkey != rig_mr->lkey, lkey);
	theirs.length = ours.length = FRAME_BYTES;
	send_from(cq, &theirs);
	send_from(cq, &ours);
	theirs.length = ours.length = RIG_BUFFER_BYTES;
	receive_into(cq, &theirs);
	receive_into(cq, &ours);
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
}

static void
hold(void)
{
	static const uint8_t nothing[RIG_BUFFER_BYTES];
	struct ibv_cq *cq = ibv_create_cq(rig_context, 16, NULL, NULL, 0);
	struct ibv_qp *qp;

	if (cq == NULL)
		rig_die("ibv_create_cq");
	qp = rig_qp(cq, 0);
	rig_frame(rig_buffer(1), FRAME_BYTES, SEED);
	memset(rig_buffer(0), 0, RIG_BUFFER_BYTES);
	printf("%#llx %#x\n", (unsigned long long)(uintptr_t)rig_buffer(0), rig_mr->lkey);
	fflush(stdout);
	while (getchar() != EOF) {
		rig_send(qp, 1, FRAME_BYTES);
		CHECK(status_of_one(cq) == IBV_WC_SUCCESS, 0);
	}
	CHECK(memcmp(rig_buffer(0), nothing, sizeof(nothing)) == 0, 0);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
}

int
main(int argc, char **argv)
{
	rig_open();
	if (argc == 4 && strcmp(argv[1], "use") == 0)
		use(strtoull(argv[2], NULL, 0), (uint32_t)strtoul(argv[3], NULL, 0));
	else
		hold();
	return rig_close();
}
