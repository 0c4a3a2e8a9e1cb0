/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet pacing entries: to whom they are given, and what is refused. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <rdma/mlx5_user_ioctl_verbs.h>

#include "rig.h"
#include "hw/state/rate.h"

static struct shca_file *
open_file(struct shca_device *dev, uint32_t flags, int *fd)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 request = {
		.total_num_bfregs = 16,
		.max_cqe_version = 1,
		.flags = flags,
		.lib_caps = MLX5_LIB_CAP_DYN_UAR,
	};
	struct shca_file *file;

	assert_int_equal(shca_file_open(dev, true, &file, fd), 0);
	assert_int_equal(rig_get_context(file, &request, sizeof(request), NULL), 0);
	return file;
}

static int
alloc(struct shca_file *file, uint32_t kbps, uint32_t flags, uint16_t *index, uint32_t *handle)
{
	uint8_t limit[SHCA_RATE_BYTES] = { 0 };
	struct frame frame;
	int ret;

	kbps = htobe32(kbps);
	memcpy(limit, &kbps, sizeof(kbps));
	frame_init(&frame, MLX5_IB_OBJECT_PP, MLX5_IB_METHOD_PP_OBJ_ALLOC);
	frame_handle(&frame, MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE, 0);
	frame_in(&frame, MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX, limit, sizeof(limit));
	frame_u32(&frame, MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS, flags);
	frame_out(&frame, MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, index, sizeof(*index));
	ret = frame_run(file, &frame);
	*handle = (uint32_t)frame.attrs[0].data;
	return ret;
}

static int
destroy(struct shca_file *file, uint32_t handle)
{
	return frame_handle_only(file, MLX5_IB_OBJECT_PP, MLX5_IB_METHOD_PP_OBJ_DESTROY,
		MLX5_IB_ATTR_PP_OBJ_DESTROY_HANDLE, handle);
}

static void
test_without_devx(void **state)
{
	struct rig *rig = *state;
	uint32_t handle;
	uint16_t index;

	assert_int_equal(alloc(rig->file, 100, 0, &index, &handle), -EPROTONOSUPPORT);
}

/** Two contexts of one device: what is alike is shared within each; closing gives all back. */
static void
test_entries(void **state)
{
	struct rig *rig = *state;
	struct shca_device_conf conf = *shca_device_conf(rig->dev);
	struct shca_file *plain, *one, *other;
	uint32_t handle, first;
	uint16_t index, again;
	struct shca_device *dev;
	int fd[3];

	conf.has_devx = true;
	assert_int_equal(shca_device_create(&conf, &dev), 0);
	plain = open_file(dev, 0, &fd[0]);
	one = open_file(dev, MLX5_IB_ALLOC_UCTX_DEVX, &fd[1]);
	other = open_file(dev, MLX5_IB_ALLOC_UCTX_DEVX, &fd[2]);
	assert_int_equal(alloc(plain, 100, 0, &index, &handle), -EINVAL);
	assert_int_equal(alloc(one, 0, 0, &index, &handle), -EINVAL);
	assert_int_equal(alloc(one, rig->model.max_rate_kbps + 1, 0, &index, &handle), -EINVAL);
	assert_int_equal(alloc(one, 100, 2, &index, &handle), -EINVAL);
	assert_int_equal(alloc(one, 100, 0, NULL, &handle), -EFAULT);
	assert_int_equal(alloc(one, 100, 0, &index, &first), 0);
	assert_int_equal(index, 1);
	assert_int_equal(alloc(one, 100, 0, &again, &handle), 0);
	assert_int_equal(again, index);
	assert_int_equal(alloc(other, 100, 0, &again, &handle), 0);
	assert_int_not_equal(again, index);
	assert_int_equal(destroy(one, first), 0);
	assert_int_equal(destroy(one, first), -ENOENT);
	assert_int_equal(shca_device_rates(dev)->entry[index].nb_users, 1);
	shca_file_close(one);
	assert_int_equal(shca_device_rates(dev)->entry[index].nb_users, 0);
	shca_file_close(other);
	shca_file_close(plain);
	for (unsigned int i = 0; i < 3; i++)
		close(fd[i]);
	shca_device_destroy(dev);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_without_devx),
		TEST(test_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
