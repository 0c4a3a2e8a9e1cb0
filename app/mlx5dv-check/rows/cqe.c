/* SPDX-License-Identifier: BSD-3-Clause */
/* Experiments that look at the bytes of completions, and at the clock behind their stamps. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <rte_cycles.h>
#include <rte_errno.h>

#include "bare.h"

#define CLOCK_MS 20

/** PRM, "completion queue entry": the opcode before the device has written it. */
#define OPCODE_NONE (MLX5_CQE_INVALID << 4)

/** Bytes of a CQE that tell of headers. */
struct told {
	uint8_t pkt_info; /**< bit 0: tunneled, bit 1: the outer header is IPv6 */
	uint8_t types;    /**< l4_hdr_type_etc */
	uint8_t ok;       /**< of hds_ip_ext: L2, L3, L4 */
};

/** Read completion @p index, the first of its slot. @return whether it came */
static bool
read_cqe(const struct check *check, struct check_bare *bare, unsigned int index, struct told *told)
{
	const uint64_t end = check_wait_end(check);
	struct mlx5dv_cq ring = { 0 };
	struct mlx5dv_obj object = { .cq = { .in = bare->cq, .out = &ring } };
	const volatile struct mlx5_cqe64 *cqe;

	if (mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ) != 0 || index >= ring.cqe_cnt)
		return false;
	/* Of a CQE of 128 bytes it is the second half. */
	cqe = (const volatile struct mlx5_cqe64 *)((const uint8_t *)ring.buf +
		(index + 1) * ring.cqe_size - sizeof(*cqe));
	while ((cqe->op_own & 0xf0) == OPCODE_NONE)
		if (!check_wait_on(end))
			return false;
	rte_rmb();
	*told = (struct told){ cqe->rsvd0[0], cqe->l4_hdr_type_etc,
		cqe->hds_ip_ext & (MLX5_CQE_L2_OK | MLX5_CQE_L3_OK | MLX5_CQE_L4_OK) };
	return true;
}

/** Frames in VXLAN, the second with a wrong checksum inside, for a TIR of @p bare. Add to @p text
 * what their completions tell. @return false: the row has failed */
static bool
tell(struct check *check, struct check_bare *bare, struct ibv_qp *tir, char *text, size_t size)
{
	const struct check_frame frames[] = {
		{ .src = CHECK_RULE_SRC, .vxlan = true },
		{ .src = CHECK_RULE_SRC, .vxlan = true, .bad_l4 = true },
	};
	struct told told[RTE_DIM(frames)];
	struct check_bare_attr attr;
	struct check_gots gots;
	int ret;

	check_bare_write(bare, &attr, NULL);
	ret = tir == NULL ? errno : check_bare_rule(bare, tir, &attr);
	if (ret != 0) {
		snprintf(text, size, "refused: %s", strerror(ret));
		return true;
	}
	ret = check_traffic_exchange(check, CHECK_PEER, frames, RTE_DIM(frames), &gots);
	check_traffic_free(&gots);
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret)) == CHECK_PASS;
	for (unsigned int i = 0; i < RTE_DIM(told); i++)
		if (!read_cqe(check, bare, i, &told[i]))
			return check_fail(check, "a frame did not come") == CHECK_PASS;
	snprintf(text, size, "pkt_info 0x%02x, types 0x%02x, ok 0x%x, with a wrong checksum 0x%x",
		told[0].pkt_info, told[0].types, told[0].ok, told[1].ok);
	return true;
}

/** Q11: the same frames by a TIR that asked for offloads in tunnels, and by one that did not. */
static enum check_result
tunnel_not_asked(struct check *check)
{
	struct ibv_qp *(*const make[])(
		struct check_bare *) = { check_bare_tir, check_bare_tunnel_tir };
	char text[RTE_DIM(make)][100];
	enum check_result result = CHECK_PASS;

	for (unsigned int i = 0; i < RTE_DIM(make) && result == CHECK_PASS; i++) {
		struct check_bare bare;

		result = check_bare_open(check, &bare);
		if (result == CHECK_PASS &&
			!tell(check, &bare, make[i](&bare), text[i], sizeof(text[i])))
			result = CHECK_FAIL;
		check_bare_close(&bare);
	}
	return result != CHECK_PASS
		? result
		: check_seen(check, "not asked for: %s; asked for: %s", text[0], text[1]);
}

/** @return 0 or an errno; *ticks is the counter */
static int
read_counter(struct ibv_context *ctx, uint64_t *ticks)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	const int ret = ibv_query_rt_values_ex(ctx, &values);

	/* libmlx5 gives the counter where its name is nanoseconds. */
	*ticks = (uint64_t)values.raw_clock.tv_sec * NS_PER_S + (uint64_t)values.raw_clock.tv_nsec;
	return ret;
}

/** Q12: does the counter run where completions are not stamped by it? */
static enum check_result
counter_runs(struct check *check)
{
	static const char *const names[] = {
		[CHECK_CLOCK_COUNTER] = "the counter",
		[CHECK_CLOCK_EITHER] = "the counter, or the real-time clock where a CQ asks",
		[CHECK_CLOCK_REAL_TIME_ALONE] = "the real-time clock alone",
	};
	struct ibv_context *ctx = check_verbs_open(check->port[CHECK_PORT].ibdev);
	struct ibv_device_attr_ex attr = { 0 };
	uint64_t first = 0, last = 0, begin;
	enum check_clock clock = CHECK_CLOCK_COUNTER;
	int ret = ctx == NULL ? errno : check_clock_find(ctx, &clock);

	if (ret == 0)
		ret = ibv_query_device_ex(ctx, NULL, &attr);
	begin = rte_get_timer_cycles();
	if (ret == 0)
		ret = read_counter(ctx, &first);
	while (ret == 0 &&
		rte_get_timer_cycles() - begin < CLOCK_MS * rte_get_timer_hz() / MS_PER_S)
		ret = read_counter(ctx, &last);
	if (ctx != NULL)
		ibv_close_device(ctx);
	return ret != 0
		? check_absent(check, "the counter cannot be read: %s", strerror(ret))
		: check_seen(check,
			  "completions are stamped by %s; the counter, of %" PRIu64
			  " kHz by its report, %s",
			  names[clock], attr.hca_core_clock, last != first ? "runs" : "stands");
}

const struct check_row check_rows_cqe[] = {
	{ "Q11: tunnel not asked for", "what completions tell of it", tunnel_not_asked },
	{ "Q12: counter", "whether it runs, and stamps completions", counter_runs },
	{ NULL, NULL, NULL },
};
