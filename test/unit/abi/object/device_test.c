/* SPDX-License-Identifier: BSD-3-Clause */
/* Context, capabilities, port and GIDs. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/mlx5_user_ioctl_verbs.h>

#include "rig.h"

#define REQUEST struct mlx5_ib_alloc_ucontext_req_v2

static const REQUEST good_request = {
	.total_num_bfregs = 16,
	.num_low_latency_bfregs = 4,
	.max_cqe_version = 1,
	.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
};

/* clang-format off */
static const struct field_case context_cases[] = {
	FIELD(REQUEST, flags, MLX5_IB_ALLOC_UCTX_DEVX, -EINVAL),
	FIELD(REQUEST, flags, 2, -EOPNOTSUPP),
	FIELD(REQUEST, comp_mask, 1, -EOPNOTSUPP),
	FIELD(REQUEST, reserved0, 1, -EOPNOTSUPP),
	FIELD(REQUEST, reserved1, 1, -EOPNOTSUPP),
	FIELD(REQUEST, reserved2, 1, -EOPNOTSUPP),
	FIELD(REQUEST, lib_caps, MLX5_LIB_CAP_4K_UAR, 0),
	FIELD(REQUEST, flags, 0, 0),
};
/* clang-format on */

static void
test_context_requests(void **state)
{
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(context_cases) / sizeof(context_cases[0]); i++) {
		int fd;
		struct shca_file *file = rig_open(rig, &fd);
		REQUEST request = good_request;

		field_case_apply(&context_cases[i], &request);
		field_case_check(
			&context_cases[i], rig_get_context(file, &request, sizeof(request), NULL));
		shca_file_close(file);
		close(fd);
	}
}

static void
test_context_request_lengths(void **state)
{
	static const struct {
		size_t length;
		int expected;
	} rows[] = {
		{ 4, -EINVAL },
		{ 8, 0 },
		{ 12, -EINVAL },
		{ 16, 0 },
		{ 24, 0 },
		{ 32, 0 },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd;
		struct shca_file *file = rig_open(rig, &fd);

		assert_int_equal(rig_get_context(file, &good_request, rows[i].length, NULL),
			rows[i].expected);
		shca_file_close(file);
		close(fd);
	}
}

static void
test_second_context_is_refused(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(
		rig_get_context(rig->file, &good_request, sizeof(good_request), NULL), -EINVAL);
}

static void
test_context_answer(void **state)
{
	struct rig *rig = *state;
	struct mlx5_ib_alloc_ucontext_resp response;
	int fd;
	struct shca_file *file = rig_open(rig, &fd);

	assert_int_equal(rig_get_context(file, &good_request, sizeof(good_request), &response), 0);
	assert_int_equal(response.response_length, sizeof(response));
	assert_int_equal(response.tot_bfregs, 0);
	assert_int_equal(response.cqe_version, 1);
	assert_int_equal(response.num_ports, 1);
	assert_int_equal(response.comp_mask, MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET);
	assert_int_equal(response.hca_core_clock_offset, 0);
	assert_int_equal(response.clock_info_versions, 1 << MLX5_IB_CLOCK_INFO_V1);
	assert_int_equal(response.bf_reg_size, 512);
	assert_int_equal(response.cache_line_size, 64);
	assert_int_equal(response.log_uar_size, 12);
	assert_int_equal(response.num_uars_per_page, 1);
	assert_int_equal(response.eth_min_inline, rig->model.min_inline);
	assert_int_equal(response.max_send_wqebb, rig->model.max_send_wqebb);
	shca_file_close(file);
	close(fd);
}

/** Who knows no dynamic UAR pages gets registers with the context. */
static void
test_context_registers(void **state)
{
	static const struct {
		uint32_t nb, nb_low_latency;
		int expected;
		uint32_t given;
	} rows[] = {
		{ 16, 4, 0, 16 },
		{ 15, 4, 0, 16 },
		{ 512, 511, 0, 512 },
		{ 2, 0, 0, 2 },
		{ 0, 0, -EINVAL, 0 },
		{ 4, 4, -EINVAL, 0 },
		{ 513, 4, -ENOMEM, 0 },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mlx5_ib_alloc_ucontext_resp response = { 0 };
		REQUEST request = good_request;
		int fd;
		struct shca_file *file = rig_open(rig, &fd);

		request.lib_caps = MLX5_LIB_CAP_4K_UAR;
		request.total_num_bfregs = rows[i].nb;
		request.num_low_latency_bfregs = rows[i].nb_low_latency;
		assert_int_equal(rig_get_context(file, &request, sizeof(request), &response),
			rows[i].expected);
		assert_int_equal(response.tot_bfregs, rows[i].given);
		assert_int_equal(response.num_dyn_bfregs, rows[i].given != 0 ? 1024 : 0);
		/* A refused one has left nothing. */
		if (rows[i].expected != 0) {
			assert_int_equal(rig_get_context(file, &good_request, sizeof(good_request),
						 &response),
				0);
			assert_int_equal(response.tot_bfregs, 0);
		}
		shca_file_close(file);
		close(fd);
	}
}

static int
query_context(struct shca_file *file, struct mlx5_ib_alloc_ucontext_resp *response, size_t length)
{
	uint64_t core_support = 0;
	uint32_t nb_vectors = 0;
	struct frame frame;
	int ret;

	frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);
	frame_out(&frame, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &nb_vectors, 4);
	frame_out(&frame, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, &core_support, 8);
	frame_out(&frame, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, response, length);
	ret = frame_run(file, &frame);
	assert_int_equal(nb_vectors != 0, ret == 0);
	assert_int_equal(core_support, ret == 0 ? IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS : 0);
	return ret;
}

/** Who imports a context is told what its owner was told, registers and CQE version included. */
static void
test_context_queried(void **state)
{
	struct mlx5_ib_alloc_ucontext_resp given, queried;
	struct rig *rig = *state;
	REQUEST request = good_request;
	int fd;
	struct shca_file *file = rig_open(rig, &fd);

	assert_int_equal(query_context(file, &queried, sizeof(queried)), -EINVAL);
	request.lib_caps = MLX5_LIB_CAP_4K_UAR;
	request.max_cqe_version = 0;
	assert_int_equal(rig_get_context(file, &request, sizeof(request), &given), 0);
	assert_int_equal(query_context(file, &queried, sizeof(queried)), 0);
	assert_int_equal(queried.tot_bfregs, 16);
	assert_int_equal(queried.cqe_version, 0);
	assert_memory_equal(&queried, &given, sizeof(given));
	assert_int_equal(query_context(file, &queried, sizeof(queried) - 8), -EINVAL);
	shca_file_close(file);
	close(fd);
}

/** The counter's page and the page of its relation to the time of day, as libmlx5 maps them. */
static void
test_clock_pages(void **state)
{
	struct rig *rig = *state;
	const uint32_t *counter =
		mmap(NULL, 4096, PROT_READ, MAP_SHARED, rig->fd, MLX5_IB_MMAP_CORE_CLOCK << 20);
	const struct mlx5_ib_clock_info *info =
		mmap(NULL, 4096, PROT_READ, MAP_SHARED, rig->fd, MLX5_IB_MMAP_CLOCK_INFO << 20);
	uint64_t cycles;

	assert_ptr_not_equal(counter, MAP_FAILED);
	assert_ptr_not_equal(info, MAP_FAILED);
	shca_device_step(rig->dev);
	cycles = (uint64_t)be32toh(counter[0]) << 32 | be32toh(counter[1]);
	assert_true(cycles >= info->cycles && info->cycles != 0);
	assert_int_equal(info->sign & MLX5_IB_CLOCK_INFO_KERNEL_UPDATING, 0);
	munmap((void *)(uintptr_t)counter, 4096);
	munmap((void *)(uintptr_t)info, 4096);
}

/** UAR pages are distinct, mappable where the answer says, and reusable. */
static void
test_uar_pages(void **state)
{
	struct rig *rig = *state;
	struct frame frame;
	uint64_t offset;
	uint32_t length, page;

	assert_int_equal(rig->uar_offset, 0x900000);
	for (unsigned int round = 0; round < 2; round++) {
		frame_init(&frame, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
		frame_handle(&frame, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0);
		frame_const(&frame, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 0);
		frame_out(&frame, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, 8);
		frame_out(&frame, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, 4);
		frame_out(&frame, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &page, 4);
		assert_int_equal(frame_run(rig->file, &frame), 0);
		assert_int_equal(offset, 0x901000);
		assert_int_equal(page, rig->uar_page + 1);
		assert_int_equal(
			frame_handle_only(rig->file, MLX5_IB_OBJECT_UAR,
				MLX5_IB_METHOD_UAR_OBJ_DESTROY, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE,
				(uint32_t)frame.attrs[0].data),
			0);
	}
	frame.attrs[1].data = 2;
	assert_int_equal(frame_run(rig->file, &frame), -EOPNOTSUPP);
}

static void
test_query_device(void **state)
{
	struct rig *rig = *state;
	const struct ib_uverbs_query_device request = { 0 };
	struct ib_uverbs_query_device_resp response;
	const struct command command = {
		.number = IB_USER_VERBS_CMD_QUERY_DEVICE,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
	};
	static const uint8_t guid[8] = { 2, 0, 0, 0xff, 0xfe, 0, 0, 1 };

	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(response.vendor_id, 0x2c9);
	assert_int_equal(response.vendor_part_id, rig->model.pci_device_id);
	assert_int_equal(response.fw_ver, rig->model.fw_ver);
	assert_int_equal(response.max_qp_wr, rig->model.max_qp_wr);
	assert_int_equal(response.phys_port_cnt, 1);
	assert_int_equal(response.max_pkeys, 128);
	assert_int_equal(response.local_ca_ack_delay, 16);
	assert_int_equal(response.max_raw_ethy_qp, 0);
	assert_memory_equal(&response.node_guid, guid, sizeof(guid));
	assert_int_equal(response.device_cap_flags & IB_UVERBS_DEVICE_RAW_IP_CSUM,
		IB_UVERBS_DEVICE_RAW_IP_CSUM);
}

static void
test_query_device_ex(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_ex_query_device request = { 0 };
	struct ib_uverbs_ex_query_device_resp response;
	/* A later libmlx5 may have members behind ours. */
	struct {
		struct mlx5_ib_query_device_resp resp;
		uint8_t behind[32];
	} later = { .behind = { 0 } };
	const struct mlx5_ib_query_device_resp *const driver = &later.resp;
	struct command command = {
		.number = EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
		.driver_out = &later.resp,
		.driver_out_length = sizeof(later.resp),
	};

	rig->model.max_tso_bytes = 262144;
	rig->model.cqe_comp_max = 0;
	rig->model.checksum = false;
	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(response.response_length, 304);
	assert_int_equal(response.rss_caps.supported_qpts, 1 << 8);
	assert_int_equal(response.raw_packet_caps & IB_UVERBS_RAW_PACKET_CAP_IP_CSUM, 0);
	assert_int_equal(response.base.device_cap_flags & IB_UVERBS_DEVICE_RAW_IP_CSUM, 0);
	assert_int_equal(driver->response_length, sizeof(*driver));
	assert_int_equal(driver->tso_caps.max_tso, 262144);
	assert_int_equal(driver->tso_caps.supported_qpts, 1 << 8);
	assert_int_equal(driver->cqe_comp_caps.max_num, 0);
	assert_int_equal(driver->cqe_comp_caps.supported_format, 0);
	assert_int_equal(driver->flags, rig->model.cqe_128b_pad ? 2 : 0);
	rig->model.cqe_comp_max = 16;
	rig->model.cqe_comp_formats = 5;
	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(driver->cqe_comp_caps.max_num, 16);
	assert_int_equal(driver->cqe_comp_caps.supported_format, 5);
	command.driver_out_length = sizeof(later);
	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(driver->response_length, sizeof(*driver));
	/* Shorter answers say how much of them is filled: rdma-core 44's, and one of long ago. */
	command.driver_out_length = 104;
	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(driver->response_length, 104);
	command.out_length = 232;
	command.driver_out_length = 24;
	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(response.response_length, 232);
	assert_int_equal(driver->response_length, 24);
	command.driver_out_length = 4;
	assert_int_equal(command_run(rig->file, &command), -EINVAL);
	request.comp_mask = 1;
	assert_int_equal(command_run(rig->file, &command), -EINVAL);
}

static void
test_query_port_speed(void **state)
{
	static const struct {
		uint32_t mbps;
		uint8_t width, speed;
	} rows[] = {
		{ 1000, 1, 1 },
		{ 10000, 1, 4 },
		{ 25000, 1, 32 },
		{ 40000, 2, 4 },
		{ 50000, 16, 32 },
		{ 100000, 2, 32 },
		{ 200000, 2, 64 },
		{ 400000, 2, 128 },
		{ 2500, 1, 1 },
		{ 5000, 1, 2 },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct shca_device_conf conf = *shca_device_conf(rig->dev);
		struct ib_uverbs_query_port_resp_ex response;
		struct shca_device *dev;
		struct shca_file *file;
		struct frame frame;
		int fd;

		conf.speed_mbps = rows[i].mbps;
		assert_int_equal(shca_device_create(&conf, &dev), 0);
		assert_int_equal(shca_file_open(dev, true, &file, &fd), 0);
		assert_int_equal(
			rig_get_context(file, &good_request, sizeof(good_request), NULL), 0);
		frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
		frame_const(&frame, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1);
		frame_out(&frame, UVERBS_ATTR_QUERY_PORT_RESP, &response, sizeof(response));
		assert_int_equal(frame_run(file, &frame), 0);
		assert_int_equal(response.legacy_resp.active_width, rows[i].width);
		assert_int_equal(response.legacy_resp.active_speed, rows[i].speed);
		assert_int_equal(response.legacy_resp.state, 4);
		assert_int_equal(response.legacy_resp.link_layer, 2);
		shca_file_close(file);
		close(fd);
		shca_device_destroy(dev);
	}
}

static int
query_gid(struct rig *rig, uint32_t port, uint32_t index, struct ib_uverbs_gid_entry *entry)
{
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
	frame_const(&frame, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, port);
	frame_const(&frame, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, index);
	frame_u32(&frame, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0);
	frame_out(&frame, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, entry, sizeof(*entry));
	return frame_run(rig->file, &frame);
}

/** Numbers of 8 bytes, and flags although there are none. */
static void
test_attributes_of_a_gid(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_gid_entry entry;
	struct frame frame;

	for (unsigned int short_one = 0; short_one < 2; short_one++) {
		frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
		frame_const(&frame, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 1);
		frame_const(&frame, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 0);
		frame_out(&frame, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry, sizeof(entry));
		assert_int_equal(frame_run(rig->file, &frame), -EINVAL);
		frame_u32(&frame, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0);
		assert_int_equal(frame_run(rig->file, &frame), 0);
		frame.attrs[short_one].len = sizeof(uint32_t);
		assert_int_equal(frame_run(rig->file, &frame), -EINVAL);
	}
}

static void
test_gids(void **state)
{
	static const uint8_t gid[16] = { 0xfe, 0x80, [8] = 0, 0, 0, 0xff, 0xfe, 0, 0, 1 };
	struct rig *rig = *state;
	struct ib_uverbs_gid_entry entries[4];
	uint64_t nb_entries = 0;
	struct frame frame;

	assert_int_equal(query_gid(rig, 1, 0, entries), 0);
	assert_memory_equal(entries[0].gid, gid, sizeof(gid));
	assert_int_equal(entries[0].gid_type, IB_UVERBS_GID_TYPE_ROCE_V1);
	assert_int_equal(query_gid(rig, 1, 1, entries), 0);
	assert_int_equal(entries[0].gid_type, IB_UVERBS_GID_TYPE_ROCE_V2);
	assert_int_equal(query_gid(rig, 2, 0, entries), -EINVAL);
	assert_int_equal(query_gid(rig, 1, 2, entries), -ENODATA);
	assert_int_equal(query_gid(rig, 1, 32, entries), -EINVAL);

	frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE);
	frame_const(&frame, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, sizeof(entries[0]));
	frame_u32(&frame, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0);
	frame_out(&frame, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries, sizeof(entries));
	frame_out(&frame, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &nb_entries, 8);
	assert_int_equal(frame_run(rig->file, &frame), 0);
	assert_int_equal(nb_entries, 2);
	assert_int_equal(entries[1].gid_index, 1);
	assert_int_equal(entries[1].port_num, 1);
	frame.attrs[2].len = 2 * sizeof(entries[0]);
	assert_int_equal(frame_run(rig->file, &frame), 0);
	frame.attrs[2].len = 3 * sizeof(entries[0]) - 8;
	assert_int_equal(frame_run(rig->file, &frame), -EINVAL);
	frame.attrs[2].len = sizeof(entries[0]);
	assert_int_equal(frame_run(rig->file, &frame), -EINVAL);
	frame.attrs[2].len = sizeof(entries);
	frame.attrs[0].data = 0;
	assert_int_equal(frame_run(rig->file, &frame), -EINVAL);
}

static int
query_vport(struct rig *rig, uint32_t port, struct mlx5_ib_uapi_query_port *info)
{
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT);
	frame_u32(&frame, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, port);
	frame_out(&frame, MLX5_IB_ATTR_QUERY_PORT, info, sizeof(*info));
	memset(info, 0xff, sizeof(*info));
	return frame_run(rig->file, &frame);
}

/** fill_switchdev_info() of hw/mlx5/std_types.c: the manager's port 1 has no representor, and the
 * uplink is no function. */
static void
test_query_vport(void **state)
{
	static const struct mlx5_ib_uapi_query_port nothing;
	struct rig *rig = *state;
	const struct shca_device_conf *conf = shca_device_conf(rig->dev);
	struct mlx5_ib_uapi_query_port info;
	const uint32_t nb_vports = 4;

	assert_int_equal(query_vport(rig, 1, &info), 0);
	assert_memory_equal(&info, &nothing, sizeof(info));
	assert_int_equal(query_vport(rig, 0, &info), -EINVAL);
	assert_int_equal(query_vport(rig, 2, &info), -EINVAL);

	/* Now it is an e-switch's manager. */
	memcpy((void *)(uintptr_t)&conf->nb_vports, &nb_vports, sizeof(nb_vports));
	assert_int_equal(query_vport(rig, 1, &info), -EOPNOTSUPP);
	assert_int_equal(query_vport(rig, 3, &info), 0);
	assert_int_equal(info.flags,
		MLX5_IB_UAPI_QUERY_PORT_VPORT | MLX5_IB_UAPI_QUERY_PORT_VPORT_VHCA_ID |
			MLX5_IB_UAPI_QUERY_PORT_ESW_OWNER_VHCA_ID);
	assert_int_equal(info.vport, 2);
	assert_int_equal(info.vport_vhca_id, 2);
	assert_int_equal(info.esw_owner_vhca_id, 0);
	assert_int_equal(info.reg_c0.mask, 0);
	assert_int_equal(query_vport(rig, 4, &info), 0);
	assert_int_equal(info.flags,
		MLX5_IB_UAPI_QUERY_PORT_VPORT | MLX5_IB_UAPI_QUERY_PORT_ESW_OWNER_VHCA_ID);
	assert_int_equal(info.vport, 0xffff);
	assert_int_equal(query_vport(rig, 5, &info), -EINVAL);
	memset((void *)(uintptr_t)&conf->nb_vports, 0, sizeof(conf->nb_vports));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_context_requests),
		TEST(test_context_request_lengths),
		TEST(test_second_context_is_refused),
		TEST(test_context_answer),
		TEST(test_context_registers),
		TEST(test_context_queried),
		TEST(test_clock_pages),
		TEST(test_uar_pages),
		TEST(test_query_device),
		TEST(test_query_device_ex),
		TEST(test_query_port_speed),
		TEST(test_attributes_of_a_gid),
		TEST(test_gids),
		TEST(test_query_vport),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
