/* SPDX-License-Identifier: BSD-3-Clause */
/* The chosen mode and its log message, by the device's properties. */
#include <errno.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <rte_log.h>

#include "base/log.h"
#include "device/mode.h"
#include "rig.h"

#define SILENT (-1) /* An error without errno. */

/* clang-format off */
/** The device's answers. */
static const struct device {
	bool is_mlx5;
	int cq_error, init_result;
	uint32_t cqe_size;
} mlx5 = { true, 0, 0, 64 }, other = { false, 0, 0, 64 }, no_cq = { true, EOPNOTSUPP, 0, 64 },
	busy = { true, ENOMEM, 0, 64 }, denied = { true, EPERM, 0, 64 }, silent = { true, SILENT, 0, 64 },
	 hidden = { true, 0, EOPNOTSUPP, 64 },
	wide = { true, 0, 0, 128 }, *device;

static const struct {
	enum mdv_mode wanted;
	const struct device *device;
	int result;
	enum mdv_mode mode;
	const char *says;
} cases[] = {
	{ MDV_MODE_AUTO, &mlx5, 0, MDV_MODE_DV, "dev: direct verbs: the device has them" },
	{ MDV_MODE_AUTO, &other, 0, MDV_MODE_IBV, "dev: plain verbs (ibv): it is not an mlx5 device" },
	{ MDV_MODE_AUTO, &no_cq, 0, MDV_MODE_IBV, "(ibv): it makes no completion queue" },
	{ MDV_MODE_AUTO, &hidden, 0, MDV_MODE_IBV, "(ibv): libmlx5 does not show its rings" },
	{ MDV_MODE_AUTO, &wide, 0, MDV_MODE_IBV, "(ibv): its completions are not of 64 bytes" },
	{ MDV_MODE_AUTO, &busy, -ENOMEM, 0, "dev: cannot make a completion queue to try direct verbs with: Cannot" },
	{ MDV_MODE_AUTO, &denied, -EPERM, 0, "Operation not permitted" },
	{ MDV_MODE_AUTO, &silent, -ENOMEM, 0, "Cannot allocate memory" },
	{ MDV_MODE_DV, &busy, -ENOMEM, 0, "Cannot allocate memory" },
	{ MDV_MODE_IBV, &busy, 0, MDV_MODE_IBV, "dev: plain verbs (ibv): as mode= says" },
	{ MDV_MODE_DV, &mlx5, 0, MDV_MODE_DV, "dev: direct verbs: as mode= says" },
	{ MDV_MODE_DV, &other, -ENOTSUP, 0, "dev: mode=dv, but the device has no direct verbs for us: it is not" },
	{ MDV_MODE_DV, &wide, -ENOTSUP, 0, "its completions are not of 64 bytes" },
	{ MDV_MODE_IBV, &mlx5, 0, MDV_MODE_IBV, "dev: plain verbs (ibv): as mode= says" },
	{ MDV_MODE_IBV, &other, 0, MDV_MODE_IBV, "dev: plain verbs (ibv): as mode= says" },
};
/* clang-format on */

static unsigned int nb_cqs;

bool
mlx5dv_is_supported(struct ibv_device *ibdev)
{
	(void)ibdev;
	return device->is_mlx5;
}

struct ibv_cq_ex *
mlx5dv_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr,
	struct mlx5dv_cq_init_attr *dv_attr)
{
	static struct ibv_cq_ex cq;

	(void)context;
	assert_null(attr->channel);
	/* The one vector that each device has. */
	assert_int_equal(attr->comp_vector, 0);
	assert_int_equal(dv_attr->comp_mask, MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE);
	assert_int_equal(dv_attr->cqe_size, 64);
	/* A device without direct verbs gets no call of them. */
	assert_true(device->is_mlx5);
	errno = device->cq_error == SILENT ? 0 : device->cq_error;
	nb_cqs += device->cq_error == 0;
	return device->cq_error == 0 ? &cq : NULL;
}

int
ibv_destroy_cq(struct ibv_cq *cq)
{
	assert_non_null(cq);
	nb_cqs--;
	return 0;
}

int
mlx5dv_init_obj(struct mlx5dv_obj *obj, uint64_t type)
{
	assert_int_equal(type, MLX5DV_OBJ_CQ);
	obj->cq.out->cqe_size = device->cqe_size;
	return device->init_result;
}

static void
each_device_in_each_mode(void **state)
{
	struct ibv_context context = { 0 };
	char *text = NULL;
	size_t size;
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		enum mdv_mode mode = MDV_MODE_AUTO;
		FILE *stream = open_memstream(&text, &size);

		device = cases[i].device;
		rte_openlog_stream(stream);
		rte_log_set_level(mdv_log_type, RTE_LOG_INFO);
		assert_int_equal(
			mdv_mode_choose(cases[i].wanted, &context, "dev", &mode), cases[i].result);
		rte_openlog_stream(NULL);
		fclose(stream);
		if (strstr(text, cases[i].says) == NULL)
			fail_msg("case %u: %s", i, text);
		assert_int_equal(mode, cases[i].mode);
		assert_int_equal(nb_cqs, 0);
		free(text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_device_in_each_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
