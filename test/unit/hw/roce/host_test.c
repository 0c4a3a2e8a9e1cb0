/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What a connected queue pair counts of messages that find no receive WQE, what it still
 * answers in ERROR, and that it cannot do without its CQs. */
#include "roce_end.h"

#include <rdma/ib_user_ioctl_verbs.h>

#include "hw/roce/state.h"

static uint64_t
nb_lost(const struct end *end)
{
	return shca_device_stats(end->rig.dev)->out_of_buffer;
}

/** A message without bytes, which takes a receive WQE all the same. */
static void
message(struct end *end, uint8_t opcode, uint32_t psn)
{
	come(end, &(struct shca_bth){ .opcode = opcode, .psn = psn, .ack_req = true });
	rig_run(&end->rig);
}

/** mlx5's out_of_buffer counts each time that a sender is told to come again. */
static void
a_reliable_one_is_counted_each_time(void **state)
{
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	message(&end, SHCA_BTH_SEND_ONLY, PSN);
	assert_int_equal(sent(&end, 0).syndrome & SHCA_AETH_KIND_MASK, SHCA_AETH_RNR);
	assert_int_equal(nb_lost(&end), 1);
	/* Those behind it are out of sequence. */
	message(&end, SHCA_BTH_SEND_ONLY, PSN + 1);
	assert_int_equal(nb_lost(&end), 1);
	message(&end, SHCA_BTH_WRITE_ONLY_IMM, PSN);
	assert_int_equal(nb_lost(&end), 2);
	end.record[MLX5_RCV_DBR] = htobe32(1);
	message(&end, SHCA_BTH_SEND_ONLY, PSN);
	assert_int_equal(nb_lost(&end), 2);
	disconnect_end(&end);
}

static void
an_unreliable_one_is_lost(void **state)
{
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_UC);
	message(&end, SHCA_BTH_UC | SHCA_BTH_WRITE_ONLY, PSN);
	assert_int_equal(nb_lost(&end), 0);
	message(&end, SHCA_BTH_UC | SHCA_BTH_SEND_ONLY, PSN + 1);
	assert_int_equal(nb_lost(&end), 1);
	assert_int_equal(end.rig.wire.nb_sent, 0);
	disconnect_end(&end);
}

/** Requests that the responder has taken, and not answered. */
static void
take_request(struct end *end, uint8_t opcode, uint32_t psn)
{
	shca_responder_receive(&end->qp->responder,
		&(struct shca_bth){ .opcode = opcode, .psn = psn, .ack_req = true });
}

/** A program that gets its queue pair to ERROR has its memory back: what was done is acknowledged,
 * a read is not answered any more. */
static void
in_error_it_reads_no_more(void **state)
{
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	end.qp->responder.conf.max_dest_rd_atomic = 1;
	end.qp->conf.access = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ;
	take_request(&end, SHCA_BTH_WRITE_ONLY, PSN);
	take_request(&end, SHCA_BTH_READ_REQUEST, PSN + 1);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_ERROR, &end.conf);
	rig_run(&end.rig);
	assert_int_equal(end.rig.wire.nb_sent, 1);
	assert_int_equal(sent(&end, 0).opcode, SHCA_BTH_ACK);
	assert_int_equal(sent(&end, 0).psn, PSN);
	disconnect_end(&end);
}

/** One that an error has brought there says why, behind the reads before it. */
static void
in_error_it_says_why(void **state)
{
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	end.qp->responder.conf.max_dest_rd_atomic = 1;
	end.qp->conf.access = IB_UVERBS_ACCESS_REMOTE_READ;
	take_request(&end, SHCA_BTH_READ_REQUEST, PSN);
	take_request(&end, SHCA_BTH_SEND_MIDDLE, PSN + 1);
	assert_int_equal(shca_roce_qp_state(end.qp), SHCA_ROCE_ERROR);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_ERROR, &end.conf);
	rig_run(&end.rig);
	assert_int_equal(end.rig.wire.nb_sent, 2);
	assert_int_equal(sent(&end, 0).opcode, SHCA_BTH_READ_ONLY);
	assert_int_equal(sent(&end, 1).syndrome, SHCA_AETH_NAK | SHCA_NAK_INVALID_REQUEST);
	disconnect_end(&end);
}

static unsigned int nb_fatal;

static void
on_event(void *owner, enum shca_event event)
{
	(void)owner;
	nb_fatal += event == SHCA_EVENT_QP_FATAL;
}

/** Connect an end whose fatal events are counted. */
static void
connect_heard(struct end *end, enum shca_roce_type type)
{
	nb_fatal = 0;
	connect_end(end, type);
	end->qp->attr.event = on_event;
}

/** A CQ that has failed takes no completion: the queue pair that has one for it is in ERROR, and
 * its owner hears that once. One that has nothing to complete there goes on. */
static void
a_cq_has_failed(void **state)
{
	struct end end;

	(void)state;
	connect_heard(&end, SHCA_ROCE_RC);
	end.record[MLX5_RCV_DBR] = htobe32(NB_WQES);
	shca_cq_fail(end.rig.rx.cq);
	message(&end, SHCA_BTH_WRITE_ONLY, PSN);
	assert_int_equal(shca_roce_qp_state(end.qp), SHCA_ROCE_RTS);
	assert_int_equal(nb_fatal, 0);
	message(&end, SHCA_BTH_SEND_ONLY, PSN + 1);
	assert_int_equal(shca_roce_qp_state(end.qp), SHCA_ROCE_ERROR);
	/* Those that are flushed have no other. */
	assert_int_equal(nb_fatal, 1);
	assert_int_equal(end.qp->rq_ci, NB_WQES);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_RESET, &end.conf);
	assert_false(end.qp->cannot_complete);
	disconnect_end(&end);
}

/** The same for what it sends. */
static void
the_other_cq_has_failed(void **state)
{
	struct end end;

	(void)state;
	connect_heard(&end, SHCA_ROCE_UC);
	memcpy(end.sq_ring,
		&(struct mlx5_wqe_ctrl_seg){
			.opmod_idx_opcode = htobe32(MLX5_OPCODE_SEND),
			.qpn_ds = htobe32(shca_roce_qp_number(end.qp) << 8 | 1),
			.fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE,
		},
		sizeof(struct mlx5_wqe_ctrl_seg));
	end.record[MLX5_SND_DBR] = htobe32(1);
	shca_cq_fail(end.rig.tx.cq);
	rig_run(&end.rig);
	assert_int_equal(end.rig.wire.nb_sent, 1);
	assert_int_equal(shca_roce_qp_state(end.qp), SHCA_ROCE_ERROR);
	assert_int_equal(nb_fatal, 1);
	disconnect_end(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reliable_one_is_counted_each_time),
		cmocka_unit_test(an_unreliable_one_is_lost),
		cmocka_unit_test(in_error_it_reads_no_more),
		cmocka_unit_test(in_error_it_says_why),
		cmocka_unit_test(a_cq_has_failed),
		cmocka_unit_test(the_other_cq_has_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
