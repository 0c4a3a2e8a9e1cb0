/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues by a fake verbs library: what is asked for, what is taken, what is undone; and
 * the names of syndromes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_log.h>

#include "base/log.h"
#include "device/device.h"
#include "queue/cq.h"
#include "rig.h"

static struct ibv_context context;
static struct ibv_cq_ex made;
static struct ibv_comp_channel channel;
static const struct mdv_device device = { .ctx = &context, .name = "fake" };

static struct {
	int cqe;         /* asked for */
	uint32_t format; /* 0: not compressed */
	int create_errno, init_result, destroy_result;
	unsigned int nb;
	struct mlx5dv_cq dv;
} fake;

static struct ibv_cq *
make(int cqe, struct ibv_comp_channel *with, uint32_t format)
{
	assert_ptr_equal(with, &channel);
	fake.cqe = cqe;
	fake.format = format;
	errno = RTE_MAX(fake.create_errno, 0);
	if (fake.create_errno != 0)
		return NULL;
	fake.nb++;
	return ibv_cq_ex_to_cq(&made);
}

struct ibv_cq_ex *
mlx5dv_create_cq(
	struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr, struct mlx5dv_cq_init_attr *dv)
{
	assert_ptr_equal(ctx, &context);
	/* Whatever MLX5_CQE_SIZE says. */
	assert_true(dv->comp_mask & MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE);
	assert_int_equal(dv->cqe_size, 64);
	assert_int_equal((dv->comp_mask & MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE) != 0,
		dv->cqe_comp_res_format != 0);
	assert_int_equal(attr->comp_vector, 0);
	assert_int_equal(attr->wc_flags, 0);
	return make(attr->cqe, attr->channel, dv->cqe_comp_res_format) == NULL ? NULL : &made;
}

int
ibv_destroy_cq(struct ibv_cq *cq)
{
	assert_ptr_equal(cq, ibv_cq_ex_to_cq(&made));
	fake.nb--;
	return fake.destroy_result;
}

int
mlx5dv_init_obj(struct mlx5dv_obj *obj, uint64_t type)
{
	assert_int_equal(type, MLX5DV_OBJ_CQ);
	assert_ptr_equal(obj->cq.in, ibv_cq_ex_to_cq(&made));
	*obj->cq.out = fake.dv;
	return fake.init_result;
}

static int
fake_make(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.dv.cqe_size = 64;
	fake.dv.cqe_cnt = 128;
	fake.dv.cqn = 0x4711;
	fake.dv.buf = &fake;
	fake.dv.dbrec = (__be32 *)&context;
	fake.dv.cq_uar = &made;
	return 0;
}

static void
a_cq_is_made_plain_or_compressed(void **state)
{
	static const struct {
		uint32_t nb, format;
		int cqe;
	} cases[] = { { 0, 0, 1 }, { 1, 0, 1 }, { 2, 0, 1 }, { 3, 0, 2 }, { 128, 0, 127 },
		{ 128, 1, 127 }, { 128, 2, 127 } };
	struct mdv_cq cq;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		memset(&cq, 0x55, sizeof(cq));
		assert_int_equal(
			mdv_cq_create(&device, cases[i].nb, cases[i].format, &channel, &cq), 0);
		assert_int_equal(fake.cqe, cases[i].cqe);
		assert_int_equal(fake.format, cases[i].format);
		assert_ptr_equal(cq.ibv_cq, ibv_cq_ex_to_cq(&made));
		assert_ptr_equal(cq.cqes, &fake);
		assert_ptr_equal(cq.dbrec, &context);
		assert_ptr_equal(cq.uar, &made);
		assert_int_equal(cq.cqe_cnt, 128);
		assert_int_equal(cq.log2_cqes, 7);
		assert_int_equal(cq.cqn, 0x4711);
		assert_int_equal(cq.compressed, cases[i].format != 0);
		assert_true(cq.arm_sn == 0 && cq.ex == NULL && cq.wc_flags == 0 && cq.pi == 0);
		assert_int_equal(fake.nb, 1);
		fake.destroy_result = i % 2 == 0 ? EBUSY : 0;
		mdv_cq_destroy(&device, &cq);
		assert_int_equal(fake.nb, 0);
		assert_null(cq.ibv_cq);
		assert_null(cq.cqes);
		/* Not twice. */
		mdv_cq_destroy(&device, &cq);
		assert_int_equal(fake.nb, 0);
	}
}

static void
what_cannot_be_read_is_not_kept(void **state)
{
	static const struct {
		int create_errno, init_result;
		uint32_t cqe_size, cqe_cnt;
		int result;
	} cases[] = {
		{ ENOSPC, 0, 64, 128, -ENOSPC },
		{ -1, 0, 64, 128, -ENOMEM },
		{ 0, EINVAL, 64, 128, -EINVAL },
		{ 0, EINVAL, 128, 128, -EINVAL },
		{ 0, 0, 128, 128, -ENOTSUP },
		{ 0, 0, 64, 127, -EIO },
		{ 0, 0, 64, 0, -EIO },
	};
	struct mdv_cq cq = { .cqn = 1 };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases) * 2; i++) {
		const unsigned int k = i / 2;

		fake.create_errno = cases[k].create_errno;
		fake.init_result = cases[k].init_result;
		fake.dv.cqe_size = cases[k].cqe_size;
		fake.dv.cqe_cnt = cases[k].cqe_cnt;
		assert_int_equal(
			mdv_cq_create(&device, 128, i % 2, &channel, &cq), cases[k].result);
		assert_int_equal(fake.nb, 0);
		assert_int_equal(cq.cqn, 1);
	}
}

/** As libmlx5 tells them (its mlx5_handle_error_cqe()). */
static void
syndromes_have_names(void **state)
{
	static const struct {
		uint8_t syndrome;
		enum ibv_wc_status status;
		const char *begins;
	} cases[] = {
		{ 0x01, IBV_WC_LOC_LEN_ERR, "local length" },
		{ 0x02, IBV_WC_LOC_QP_OP_ERR, "local QP operation" },
		{ 0x04, IBV_WC_LOC_PROT_ERR, "local protection" },
		{ 0x05, IBV_WC_WR_FLUSH_ERR, "flushed" },
		{ 0x06, IBV_WC_MW_BIND_ERR, "memory window bind" },
		{ 0x10, IBV_WC_BAD_RESP_ERR, "bad response" },
		{ 0x11, IBV_WC_LOC_ACCESS_ERR, "local access" },
		{ 0x12, IBV_WC_REM_INV_REQ_ERR, "remote invalid request" },
		{ 0x13, IBV_WC_REM_ACCESS_ERR, "remote access" },
		{ 0x14, IBV_WC_REM_OP_ERR, "remote operation" },
		{ 0x15, IBV_WC_RETRY_EXC_ERR, "transport retries" },
		{ 0x16, IBV_WC_RNR_RETRY_EXC_ERR, "receiver-not-ready" },
		{ 0x22, IBV_WC_REM_ABORT_ERR, "remote aborted" },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		assert_int_equal(mdv_cq_syndrome_of(cases[i].status), cases[i].syndrome);
		assert_ptr_equal(strstr(mdv_cq_syndrome(cases[i].syndrome), cases[i].begins),
			mdv_cq_syndrome(cases[i].syndrome));
	}
	assert_string_equal(mdv_cq_syndrome(0x77), "unknown");
	assert_int_equal(mdv_cq_syndrome_of(IBV_WC_FATAL_ERR), UINT8_MAX);
}

/** Loud once for each syndrome. */
static void
a_syndrome_is_logged_once(void **state)
{
	static const uint8_t syndromes[] = { 4, 4, 5, 4, 68, 63, 63 };
	static const bool loud[] = { true, false, true, false, false, true, false };
	uint64_t logged = 0, wanted = 0;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	assert_non_null(stream);
	rte_openlog_stream(stream);
	for (unsigned int i = 0; i < RTE_DIM(syndromes); i++) {
		const size_t before = size;

		mdv_cq_log_error("Rx", 3, 5, syndromes[i], &logged);
		fflush(stream);
		wanted |= UINT64_C(1) << syndromes[i] % 64;
		assert_int_equal(logged, wanted);
		assert_int_equal(size > before, loud[i]);
		assert_int_equal(
			size > before && strstr(text + before, "port 3 Rx queue 5") != NULL,
			loud[i]);
	}
	rte_openlog_stream(NULL);
	fclose(stream);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_cq_is_made_plain_or_compressed, fake_make),
		cmocka_unit_test_setup(what_cannot_be_read_is_not_kept, fake_make),
		cmocka_unit_test(syndromes_have_names),
		cmocka_unit_test(a_syndrome_is_logged_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
