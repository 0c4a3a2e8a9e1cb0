/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles: what the provider is told, and has to have room for. */
#include <errno.h>
#include <string.h>

#include "hw/roce/gid.h"
#include "rig.h"

#define MAC_END (offsetof(struct mlx5_ib_create_ah_resp, dmac) + 6)

/** @return 0 or a negative errno; then @p answer has the provider's part. */
static int
create_from(struct rig *rig, uint8_t sgid_index, size_t room, struct mlx5_ib_create_ah_resp *answer,
	uint32_t *handle)
{
	struct ib_uverbs_create_ah request = {
		.pd_handle = rig->pd,
		.attr = { .is_global = 1, .port_num = 1, .grh = { .sgid_index = sgid_index } },
	};
	struct ib_uverbs_create_ah_resp response;
	const struct command command = {
		.number = IB_USER_VERBS_CMD_CREATE_AH,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
		.driver_out = answer,
		.driver_out_length = room,
	};
	bool is_v2;
	int ret;

	assert_true(shca_gid_get(rig->dev, 1, request.attr.grh.dgid, &is_v2));
	ret = command_run(rig->file, &command);
	*handle = response.ah_handle;
	return ret;
}

static int
create(struct rig *rig, size_t room, struct mlx5_ib_create_ah_resp *answer, uint32_t *handle)
{
	return create_from(rig, 1, room, answer, handle);
}

/** As mlx5_ib_create_ah(): libmlx5 needs the MAC, which is the last that the kernel knows of. */
static void
room_for_the_mac(void **state)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
	struct mlx5_ib_create_ah_resp answer;
	struct rig *rig = *state;
	uint32_t handle;

	assert_int_equal(create(rig, 0, NULL, &handle), -EINVAL);
	assert_int_equal(create(rig, MAC_END - 1, &answer, &handle), -EINVAL);
	for (size_t room = MAC_END; room <= sizeof(answer); room++) {
		memset(&answer, 0xff, sizeof(answer));
		assert_int_equal(create(rig, room, &answer, &handle), 0);
		assert_int_equal(answer.response_length, MAC_END);
		assert_memory_equal(answer.dmac, mac, sizeof(mac));
		assert_int_equal(
			frame_handle_only(rig->file, UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY,
				UVERBS_ATTR_DESTROY_AH_HANDLE, handle),
			0);
	}
}

/** As rdma_get_gid_attr(): an entry may be empty, or none of the table. */
static void
no_gid(void **state)
{
	struct mlx5_ib_create_ah_resp answer;
	struct rig *rig = *state;
	const uint8_t nb = (uint8_t)shca_gid_nb(rig->dev);
	uint32_t handle;

	assert_int_equal(create_from(rig, nb - 1, sizeof(answer), &answer, &handle), -ENODATA);
	assert_int_equal(create_from(rig, nb, sizeof(answer), &answer, &handle), -EINVAL);
}

/** The domain is looked up before the address (ib_uverbs_create_ah()), which may take a second. */
static void
no_domain(void **state)
{
	struct mlx5_ib_create_ah_resp answer;
	struct rig *rig = *state;
	const uint8_t empty = (uint8_t)shca_gid_nb(rig->dev) - 1;
	const uint32_t pd = rig->pd;
	uint32_t handle;

	rig->pd = 999;
	assert_int_equal(create_from(rig, empty, sizeof(answer), &answer, &handle), -EINVAL);
	rig->pd = pd;
	assert_int_equal(create_from(rig, empty, sizeof(answer), &answer, &handle), -ENODATA);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_gid, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(no_domain, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(room_for_the_mac, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
