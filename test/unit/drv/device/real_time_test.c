/* SPDX-License-Identifier: BSD-3-Clause */
/* Which devices are taken to have no other clock, by what Linux answers to a trial queue. */
#include "device/real_time.h"

#include <errno.h>

#include <infiniband/mlx5dv.h>

#include "rig.h"

#define SILENT (-1) /* An error without errno. */

/* clang-format off */
static const struct answers {
	uint64_t flags;
	int query_result, cq_error, wq_error;
	int result;
	bool is_only;
	unsigned int nb_cqs; /**< made */
} cases[] = {
	{ .flags = MLX5DV_CONTEXT_FLAGS_CQE_V1 },
	{ .flags = MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS, .nb_cqs = 1 },
	{ .flags = MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS, .wq_error = EOPNOTSUPP, .is_only = true, .nb_cqs = 1 },
	{ .flags = MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS, .wq_error = ENOMEM, .result = -ENOMEM, .nb_cqs = 1 },
	{ .flags = MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS, .wq_error = SILENT, .result = -ENOMEM, .nb_cqs = 1 },
	{ .flags = MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS, .cq_error = EMFILE, .result = -EMFILE },
	{ .flags = MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS, .cq_error = SILENT, .result = -ENOMEM },
	{ .flags = MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS, .query_result = EIO, .result = -EIO },
}, *answers;
/* clang-format on */

static struct verbs_context context;
static struct ibv_pd pd;
static unsigned int nb_cqs, nb_cqs_made, nb_wqs;

static int
fails(int error)
{
	errno = error == SILENT ? 0 : error;
	return error != 0;
}

int
mlx5dv_query_device(struct ibv_context *ctx, struct mlx5dv_context *dv)
{
	assert_ptr_equal(ctx, &context.context);
	dv->flags = answers->flags;
	return answers->query_result;
}

static struct ibv_cq_ex *
create_cq_ex(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr)
{
	static struct ibv_cq_ex cq;

	assert_ptr_equal(ctx, &context.context);
	/* With both libmlx5 would take the counter, too, with the other one alone not. */
	assert_int_equal(attr->wc_flags, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
	if (fails(answers->cq_error))
		return NULL;
	nb_cqs++;
	nb_cqs_made++;
	return &cq;
}

int
ibv_destroy_cq(struct ibv_cq *cq)
{
	assert_non_null(cq);
	assert_int_equal(nb_wqs, 0);
	nb_cqs--;
	return 0;
}

static struct ibv_wq *
create_wq(struct ibv_context *ctx, struct ibv_wq_init_attr *attr)
{
	static struct ibv_wq wq;

	assert_ptr_equal(attr->pd, &pd);
	assert_int_equal(attr->wq_type, IBV_WQT_RQ);
	if (fails(answers->wq_error))
		return NULL;
	wq.context = ctx;
	nb_wqs++;
	return &wq;
}

static int
destroy_wq(struct ibv_wq *wq)
{
	assert_non_null(wq);
	nb_wqs--;
	return 0;
}

static void
each_answer(void **state)
{
	(void)state;
	context.sz = sizeof(context);
	context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	context.create_cq_ex = create_cq_ex;
	context.create_wq = create_wq;
	context.destroy_wq = destroy_wq;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		bool is_only = true;

		answers = &cases[i];
		nb_cqs_made = 0;
		assert_int_equal(
			mdv_real_time_try(&context.context, &pd, &is_only), cases[i].result);
		assert_int_equal(is_only, cases[i].is_only);
		assert_int_equal(nb_cqs_made, cases[i].nb_cqs);
		assert_int_equal(nb_cqs + nb_wqs, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
