/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions: the methods that need on-demand paging, which no model reports; and memory of the
 * device. */
#include <errno.h>

#include "rig.h"

/** An attribute that is left out. */
#define NOTHING 0xffff

struct advice {
	uint32_t pd;
	uint64_t advice;
	uint32_t flags;
	uint32_t list_bytes;
	uint16_t without;
};

/* clang-format off */
static const struct field_case advice_cases[] = {
	FIELD(struct advice, advice, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, -EOPNOTSUPP),
	FIELD(struct advice, advice, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE, -EOPNOTSUPP),
	FIELD(struct advice, advice, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, -EOPNOTSUPP),
	FIELD(struct advice, advice, 77, -EOPNOTSUPP),
	FIELD(struct advice, flags, IB_UVERBS_ADVISE_MR_FLAG_FLUSH, -EOPNOTSUPP),
	FIELD(struct advice, flags, 2, -EOPNOTSUPP),
	FIELD(struct advice, list_bytes, 24, -EOPNOTSUPP),
	FIELD(struct advice, list_bytes, 8, -EINVAL),
	FIELD(struct advice, pd, 999, -ENOENT),
	FIELD(struct advice, pd, 0, -EINVAL),
	FIELD(struct advice, without, UVERBS_ATTR_ADVISE_MR_PD_HANDLE, -EINVAL),
	FIELD(struct advice, without, UVERBS_ATTR_ADVISE_MR_ADVICE, -EINVAL),
	FIELD(struct advice, without, UVERBS_ATTR_ADVISE_MR_FLAGS, -EINVAL),
	FIELD(struct advice, without, UVERBS_ATTR_ADVISE_MR_SGE_LIST, -EINVAL),
};
/* clang-format on */

/** Handle 0 is the UAR page. */
static void
test_advise(void **state)
{
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(advice_cases) / sizeof(advice_cases[0]); i++) {
		const struct ib_uverbs_sge list[2] = { { .addr = (uintptr_t)rig->ring[0] } };
		struct advice advice = { .pd = rig->pd, .list_bytes = 16, .without = NOTHING };
		struct frame frame;

		field_case_apply(&advice_cases[i], &advice);
		frame_init(&frame, UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR);
		if (advice.without != UVERBS_ATTR_ADVISE_MR_PD_HANDLE)
			frame_handle(&frame, UVERBS_ATTR_ADVISE_MR_PD_HANDLE, advice.pd);
		if (advice.without != UVERBS_ATTR_ADVISE_MR_ADVICE)
			frame_const(&frame, UVERBS_ATTR_ADVISE_MR_ADVICE, advice.advice);
		if (advice.without != UVERBS_ATTR_ADVISE_MR_FLAGS)
			frame_u32(&frame, UVERBS_ATTR_ADVISE_MR_FLAGS, advice.flags);
		if (advice.without != UVERBS_ATTR_ADVISE_MR_SGE_LIST)
			frame_in(&frame, UVERBS_ATTR_ADVISE_MR_SGE_LIST, list, advice.list_bytes);
		field_case_check(&advice_cases[i], frame_run(rig->file, &frame));
	}
}

struct dmabuf {
	uint32_t pd;
	uint64_t offset, length, iova;
	uint32_t fd;
	uint32_t access;
};

/* clang-format off */
static const struct field_case dmabuf_cases[] = {
	FIELD(struct dmabuf, access, IB_UVERBS_ACCESS_LOCAL_WRITE, -EOPNOTSUPP),
	FIELD(struct dmabuf, access, 0, -EOPNOTSUPP),
	FIELD(struct dmabuf, access, IB_UVERBS_ACCESS_RELAXED_ORDERING, -EOPNOTSUPP),
	FIELD(struct dmabuf, access, IB_UVERBS_ACCESS_REMOTE_WRITE, -EINVAL),
	FIELD(struct dmabuf, access, IB_UVERBS_ACCESS_MW_BIND, -EINVAL),
	FIELD(struct dmabuf, access, IB_UVERBS_ACCESS_ON_DEMAND, -EINVAL),
	FIELD(struct dmabuf, iova, 0x5010, -EINVAL),
	FIELD(struct dmabuf, offset, 0x10, -EINVAL),
	FIELD(struct dmabuf, fd, -1, -EOPNOTSUPP),
	FIELD(struct dmabuf, length, 0, -EOPNOTSUPP),
	FIELD(struct dmabuf, pd, 999, -ENOENT),
};
/* clang-format on */

static int
reg_dmabuf(const struct rig *rig, const struct dmabuf *dmabuf)
{
	uint32_t lkey, rkey;
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR);
	frame_handle(&frame, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0);
	frame_handle(&frame, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, dmabuf->pd);
	frame_const(&frame, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, dmabuf->offset);
	frame_const(&frame, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, dmabuf->length);
	frame_const(&frame, UVERBS_ATTR_REG_DMABUF_MR_IOVA, dmabuf->iova);
	frame_u32(&frame, UVERBS_ATTR_REG_DMABUF_MR_FD, dmabuf->fd);
	frame_u32(&frame, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, dmabuf->access);
	frame_out(&frame, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, &lkey, sizeof(lkey));
	frame_out(&frame, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, &rkey, sizeof(rkey));
	return frame_run(rig->file, &frame);
}

/** What is refused leaves nothing: the next object has its handle. */
static void
test_reg_dmabuf(void **state)
{
	struct rig *rig = *state;
	const uint32_t next = rig_cq(rig);

	for (size_t i = 0; i < sizeof(dmabuf_cases) / sizeof(dmabuf_cases[0]); i++) {
		struct dmabuf dmabuf = { .pd = rig->pd, .length = 4096, .fd = (uint32_t)rig->fd };

		field_case_apply(&dmabuf_cases[i], &dmabuf);
		field_case_check(&dmabuf_cases[i], reg_dmabuf(rig, &dmabuf));
	}
	assert_int_equal(rig_cq(rig), next + 1);
}

/** mlx5_ib says in which page it is; who does not ask gets none, and nothing stays taken. */
static void
test_page_of_device_memory(void **state)
{
	struct rig *rig = *state;
	uint16_t page = 0xffff;
	uint64_t offset;
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
	frame_handle(&frame, UVERBS_ATTR_ALLOC_DM_HANDLE, 0);
	frame_const(&frame, UVERBS_ATTR_ALLOC_DM_LENGTH, 4096);
	frame_u32(&frame, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0);
	frame_out(&frame, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &offset, sizeof(offset));
	assert_int_equal(frame_run(rig->file, &frame), -ENOENT);
	frame_out(&frame, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, &page, sizeof(page));
	assert_int_equal(frame_run(rig->file, &frame), 0);
	assert_int_equal(page, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_advise),
		TEST(test_reg_dmabuf),
		TEST(test_page_of_device_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
