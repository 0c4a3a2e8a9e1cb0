/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair in error ends what is posted, and no more than its rings have at once: a program
 * that posts on and on does not keep the device from the others. */
#include "roce_end.h"

#include "hw/queue/cq.h"
#include "hw/roce/state.h"

#define NB_POSTS 1000

static struct end end;
static unsigned int nb_posts; /* that the program makes, one for each completion */

void __real_shca_cq_push(struct shca_cq *cq, struct shca_cqe *cqe, bool solicited);
void __wrap_shca_cq_push(struct shca_cq *cq, struct shca_cqe *cqe, bool solicited);

void
__wrap_shca_cq_push(struct shca_cq *cq, struct shca_cqe *cqe, bool solicited)
{
	__real_shca_cq_push(cq, cqe, solicited);
	if (nb_posts == 0)
		return;
	nb_posts--;
	end.record[MLX5_RCV_DBR] = htobe32(end.qp->rq_ci + 1u);
	end.record[MLX5_SND_DBR] = htobe32(end.qp->sq_ci + 1u);
}

static void
test_posting_for_ever(void **state)
{
	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_ERROR, &end.conf);
	end.record[MLX5_RCV_DBR] = htobe32(1);
	end.record[MLX5_SND_DBR] = htobe32(1);
	nb_posts = NB_POSTS;
	assert_uint_in_range(shca_roce_flush(end.qp), 2, NB_WQEBBS + NB_WQES + 1);
	/* The rest comes in the next rounds. */
	assert_true(nb_posts != 0);
	while (shca_roce_flush(end.qp) != 0)
		;
	assert_int_equal(nb_posts, 0);
	disconnect_end(&end);
}

/** Without such a program nothing is left. */
static void
test_all(void **state)
{
	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	end.record[MLX5_RCV_DBR] = htobe32(NB_WQES);
	end.record[MLX5_SND_DBR] = htobe32(NB_WQEBBS);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_ERROR, &end.conf);
	assert_int_equal(shca_roce_flush(end.qp), NB_WQES + NB_WQEBBS);
	assert_int_equal(shca_roce_flush(end.qp), 0);
	disconnect_end(&end);
}

static uint8_t
next_vendor_syndrome(void)
{
	struct shca_cqe_error error;
	struct shca_cqe cqe;

	assert_true(rig_poll(&end.rig.tx, &cqe));
	memcpy(&error, &cqe, sizeof(error));
	assert_int_equal(error.syndrome, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	return error.vendor_err_synd;
}

/** The one that was under way when the program chose ERROR has a vendor's syndrome of its own. */
static void
test_vendor_syndromes(void **state)
{
	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	for (uint32_t i = 0; i < 3; i++)
		memcpy(&end.sq_ring[i * SHCA_WQEBB_BYTES / 8],
			&(struct mlx5_wqe_ctrl_seg){
				.opmod_idx_opcode = htobe32(i << 8 | MLX5_OPCODE_SEND),
				.qpn_ds = htobe32(shca_roce_qp_number(end.qp) << 8 | 1),
			},
			sizeof(struct mlx5_wqe_ctrl_seg));
	end.record[MLX5_SND_DBR] = htobe32(2);
	shca_device_step(end.rig.dev);
	assert_int_equal(end.rig.wire.nb_sent, 2);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_ERROR, &end.conf);
	assert_int_equal(shca_roce_flush(end.qp), 2);
	assert_int_equal(next_vendor_syndrome(), 0xf5);
	assert_int_equal(next_vendor_syndrome(), 0xf9);
	end.record[MLX5_SND_DBR] = htobe32(3);
	assert_int_equal(shca_roce_flush(end.qp), 1);
	assert_int_equal(next_vendor_syndrome(), 0xf9);
	disconnect_end(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_posting_for_ever),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_vendor_syndromes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
