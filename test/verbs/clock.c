/* SPDX-License-Identifier: BSD-3-Clause */
/* The device's time: the counter, its relation to the time of day, and completions of both kinds.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "rig.h"

#define FRAME 100 /* bytes */
/** How far apart two clocks of the time of day may be read under load. */
#define SLACK_NS 60000000000ull

static uint64_t
read_counter(void)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	rig_must(ibv_query_rt_values_ex(rig_context, &values), "ibv_query_rt_values_ex");
	CHECK(values.comp_mask == IBV_VALUES_MASK_RAW_CLOCK, values.comp_mask);
	return (uint64_t)values.raw_clock.tv_nsec;
}

static uint64_t
real_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/** libmlx5 returns times of a real-time clock as the device writes them: seconds, nanoseconds. */
static uint64_t
wall_ns(uint64_t wall, uint64_t fields)
{
	struct mlx5dv_context attr = { 0 };

	rig_must(mlx5dv_query_device(rig_context, &attr), "mlx5dv_query_device");
	if (!(attr.flags & MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS) ||
		(fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP))
		return wall;
	CHECK((uint32_t)wall < 1000000000, wall);
	return (wall >> 32) * 1000000000 + (uint32_t)wall;
}

static bool
is_near(uint64_t a, uint64_t b)
{
	return a > b ? a - b < SLACK_NS : b - a < SLACK_NS;
}

static void
wait_beyond(uint64_t counter)
{
	time_t end = time(NULL) + RIG_PATIENCE;

	while (read_counter() <= counter)
		if (time(NULL) > end) {
			errno = ETIMEDOUT;
			rig_die("the counter stands still");
		}
}

static void
get_info(struct mlx5dv_clock_info *info)
{
	int ret;

	/* EBUSY: the page is being written. */
	while ((ret = mlx5dv_get_clock_info(rig_context, info)) == EBUSY)
		;
	rig_must(ret, "mlx5dv_get_clock_info");
}

static void
test_counter(void)
{
	struct mlx5dv_context attr = { .comp_mask = MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK |
			MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE };
	struct mlx5dv_clock_info info, later;
	struct ibv_device_attr_ex device;
	uint64_t first = read_counter();
	time_t end = time(NULL) + RIG_PATIENCE;

	rig_must(ibv_query_device_ex(rig_context, NULL, &device), "ibv_query_device_ex");
	CHECK(device.hca_core_clock == 156250, device.hca_core_clock);
	CHECK(device.completion_timestamp_mask == INT64_MAX, 0);
	wait_beyond(first);
	rig_must(mlx5dv_query_device(rig_context, &attr), "mlx5dv_query_device");
	CHECK(attr.comp_mask & MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK, attr.comp_mask);
	CHECK(attr.hca_core_clock != NULL, 0);
	CHECK(attr.comp_mask & MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE, attr.comp_mask);
	CHECK(attr.max_clock_info_update_nsec == 1000000000, attr.max_clock_info_update_nsec);
	get_info(&info);
	CHECK(is_near(mlx5dv_ts_to_ns(&info, read_counter()), real_ns()), info.nsec);
	/* The page is written again after a while, and the time stays the same. */
	do
		get_info(&later);
	while (later.last_cycles == info.last_cycles && time(NULL) < end);
	CHECK(later.last_cycles > info.last_cycles, later.last_cycles);
	first = read_counter();
	CHECK(is_near(mlx5dv_ts_to_ns(&info, first), mlx5dv_ts_to_ns(&later, first)), 0);
}

struct times {
	uint64_t raw[2], wall[2]; /* sent, received */
};

/** Send one frame, and read the times of the two completions. */
static void
pass(struct ibv_cq_ex *cq, struct ibv_qp *qp, uint64_t fields, struct times *times)
{
	rig_receive(qp, 10, RIG_BUFFER_BYTES);
	rig_send(qp, 0, FRAME);
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int side;

		rig_start_poll(cq);
		rig_check(cq->status == IBV_WC_SUCCESS, "success", cq->status);
		side = ibv_wc_read_opcode(cq) == IBV_WC_RECV;
		if (fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
			times->raw[side] = ibv_wc_read_completion_ts(cq);
		if (fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
			times->wall[side] = ibv_wc_read_completion_wallclock_ns(cq);
		ibv_end_poll(cq);
	}
}

static void
test_completions(uint64_t fields)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 64, .wc_flags = fields };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(rig_context, &attr);
	struct times times = { { 0 } }, last;
	struct ibv_flow *flow;
	struct ibv_qp *qp;

	if (cq == NULL)
		rig_die("ibv_create_cq_ex");
	qp = rig_qp(ibv_cq_ex_to_cq(cq), 0);
	flow = rig_take_all(qp);
	rig_frame(rig_buffer(0), FRAME, 1);
	for (unsigned int i = 0; i < 50; i++) {
		uint64_t before = read_counter();

		last = times;
		pass(cq, qp, fields, &times);
		if (fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) {
			rig_check(times.raw[0] >= before && times.raw[1] >= times.raw[0],
				"in order", (long long)times.raw[0]);
			rig_check(times.raw[1] <= read_counter(), "not in the future", i);
			rig_check(times.raw[0] >= last.raw[1], "later than the last", i);
		}
		if (fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
			rig_check(is_near(wall_ns(times.wall[0], fields), real_ns()) &&
					is_near(wall_ns(times.wall[1], fields), real_ns()),
				"time of day", (long long)times.wall[1]);
	}
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "ibv_destroy_cq");
}

/** A CQ can be made, a queue on it cannot. */
static void
test_refused(uint64_t fields)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 64, .wc_flags = fields };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(rig_context, &attr);
	struct ibv_qp_init_attr qp = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_wq_init_attr wq = { .wq_type = IBV_WQT_RQ, .max_wr = 1, .max_sge = 1 };

	if (cq == NULL)
		rig_die("ibv_create_cq_ex");
	qp.send_cq = qp.recv_cq = wq.cq = ibv_cq_ex_to_cq(cq);
	wq.pd = rig_pd;
	errno = 0;
	CHECK(ibv_create_qp(rig_pd, &qp) == NULL && errno == EOPNOTSUPP, errno);
	errno = 0;
	CHECK(ibv_create_wq(rig_context, &wq) == NULL && errno == EOPNOTSUPP, errno);
	rig_must(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "ibv_destroy_cq");
}

/** @p argv "real-time-only": the device stamps by no other clock. */
int
main(int argc, char **argv)
{
	const bool is_only = argc > 1 && strcmp(argv[1], "real-time-only") == 0;
	void (*const counted)(uint64_t) = is_only ? test_refused : test_completions;

	rig_open();
	test_counter();
	counted(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
	test_completions(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
	counted(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
		IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
	return rig_close();
}
