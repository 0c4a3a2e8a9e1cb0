/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet pacing: by the device's clock, frames leave no faster than ibv_modify_qp_rate_limit says.
 * Later frames only show a busy machine. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "rig.h"

#define FRAME     1000 /* bytes */
#define NB_FRAMES 16
#define KHZ       156250ull

static struct ibv_cq_ex *cq;
static struct ibv_qp *qp;

static int
limit(uint32_t kbps, uint32_t burst, uint16_t typical)
{
	struct ibv_qp_rate_limit_attr attr = {
		.rate_limit = kbps, .max_burst_sz = burst, .typical_pkt_sz = typical
	};

	return ibv_modify_qp_rate_limit(qp, &attr);
}

/** Post frames at once. @return ticks between the first and the last to leave */
static uint64_t
send_all(unsigned int nb)
{
	uint64_t first = 0, last = 0;
	unsigned int nb_sent = 0;

	for (unsigned int i = 0; i < nb; i++)
		rig_send(qp, 0, FRAME);
	while (nb_sent < nb) {
		rig_start_poll(cq);
		rig_check(cq->status == IBV_WC_SUCCESS, "success", cq->status);
		last = ibv_wc_read_completion_ts(cq);
		if (nb_sent++ == 0)
			first = last;
		ibv_end_poll(cq);
	}
	return last - first;
}

/** @return the time that @p nb frames take at a rate. */
static uint64_t
ticks_of(unsigned int nb, uint32_t kbps)
{
	return nb * FRAME * 8 * KHZ / kbps;
}

static void
test_rates(void)
{
	const uint32_t rates[] = { 1000, 20000, 500, 8000000 };

	for (unsigned int i = 0; i < 4; i++) {
		const unsigned int nb = rates[i] < 1000 ? 4 : NB_FRAMES;
		uint64_t took;

		rig_must(limit(rates[i], 0, 0), "ibv_modify_qp_rate_limit");
		took = send_all(nb);
		rig_check(took >= ticks_of(nb - 1, rates[i]) - 1, "not faster", (long long)took);
	}
	/* First a rate that would take an hour, then none: no frame waits by the old rate. */
	rig_must(limit(1, 0, 0), "ibv_modify_qp_rate_limit");
	rig_send(qp, 0, FRAME);
	rig_start_poll(cq);
	ibv_end_poll(cq);
	rig_must(limit(0, 0, 0), "ibv_modify_qp_rate_limit");
	send_all(NB_FRAMES);
}

/** Segments of a TSO WQE are paced like frames. */
static void
test_tso(void)
{
	uint8_t header[54];
	struct ibv_sge sge = rig_sge(0, 0, 4000);
	struct ibv_send_wr wr[2] = {
		{ .next = &wr[1],
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_TSO,
			.send_flags = IBV_SEND_SIGNALED,
			.tso = { .hdr = header, .hdr_sz = sizeof(header), .mss = 1000 } },
		{ .sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED },
	};
	const uint64_t segment = (1000 + sizeof(header)) * 8 * KHZ / 1000;
	struct ibv_values_ex now = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct ibv_send_wr *bad;
	uint64_t before, sent[2];

	rig_frame(header, sizeof(header), 0);
	sge.length = 4000;
	rig_must(limit(1000, 0, 0), "ibv_modify_qp_rate_limit");
	rig_must(ibv_query_rt_values_ex(rig_context, &now), "ibv_query_rt_values_ex");
	before = (uint64_t)now.raw_clock.tv_nsec;
	rig_must(ibv_post_send(qp, wr, &bad), "ibv_post_send");
	for (unsigned int i = 0; i < 2; i++) {
		rig_start_poll(cq);
		rig_check(cq->status == IBV_WC_SUCCESS, "success", cq->status);
		sent[i] = ibv_wc_read_completion_ts(cq);
		ibv_end_poll(cq);
	}
	/* A frame may leave late without delaying the next one, so count from the beginning. */
	CHECK(sent[0] - before >= 3 * segment - 1, sent[0] - before);
	CHECK(sent[1] - before >= 4 * segment - 1, sent[1] - before);
	rig_must(limit(0, 0, 0), "ibv_modify_qp_rate_limit");
}

static void
test_refused(const struct ibv_packet_pacing_caps *caps, bool has_bursts)
{
	struct ibv_qp_rate_limit_attr unknown = { .rate_limit = 1000, .comp_mask = 1 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .rate_limit = 2000 };

	CHECK(limit(caps->qp_rate_limit_max, 0, 0) == 0, 0);
	CHECK(limit(caps->qp_rate_limit_max + 1, 0, 0) == EINVAL, 0);
	CHECK(limit(1000, 5000, 0) == (has_bursts ? 0 : EINVAL), 0);
	CHECK(limit(1000, 5000, 500) == (has_bursts ? 0 : EINVAL), 0);
	CHECK(limit(0, 5000, 0) == EINVAL, 0);
	CHECK(ibv_modify_qp_rate_limit(qp, &unknown) == EINVAL, 0);
	/* Allowed in state RTS, and on the way to it. */
	rig_to_state(qp, IBV_QPS_RESET);
	CHECK(limit(1000, 0, 0) == EINVAL, 0);
	rig_to_state(qp, IBV_QPS_INIT);
	CHECK(limit(1000, 0, 0) == EINVAL, 0);
	rig_to_state(qp, IBV_QPS_RTR);
	CHECK(limit(1000, 0, 0) == EINVAL, 0);
	rig_must(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_RATE_LIMIT), "ibv_modify_qp");
	CHECK(send_all(4) >= ticks_of(3, 2000) - 1, 0);
}

/** Allocate a pacing entry of @p kbps. */
static struct mlx5dv_pp *
alloc_entry(uint32_t kbps, uint32_t flags)
{
	const uint32_t limit[12] = { htobe32(kbps) };

	return mlx5dv_pp_alloc(rig_context, sizeof(limit), limit, flags);
}

/** Entries are for DevX queues: equal ones are shared, except dedicated ones. */
static void
test_entries(uint32_t max_kbps)
{
	struct mlx5dv_pp *entry[4] = {
		alloc_entry(100, 0),
		alloc_entry(100, 0),
		alloc_entry(100, MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX),
		alloc_entry(max_kbps, 0),
	};

	for (unsigned int i = 0; i < 4; i++)
		if (entry[i] == NULL)
			rig_die("mlx5dv_pp_alloc");
	CHECK(entry[0]->index != 0, entry[0]->index);
	CHECK(entry[0]->index == entry[1]->index, entry[1]->index);
	CHECK(entry[0]->index != entry[2]->index, entry[2]->index);
	CHECK(entry[0]->index != entry[3]->index, entry[3]->index);
	for (unsigned int i = 0; i < 4; i++)
		mlx5dv_pp_free(entry[i]);
	CHECK_REFUSED(alloc_entry(0, 0), EINVAL);
	CHECK_REFUSED(alloc_entry(max_kbps + 1, 0), EINVAL);
	CHECK_REFUSED(alloc_entry(100, 2), EOPNOTSUPP); /* libmlx5 refuses this */
}

static void
test_uars(void)
{
	struct mlx5dv_devx_uar *uar[4];

	for (unsigned int i = 0; i < 4; i++) {
		uar[i] = mlx5dv_devx_alloc_uar(
			rig_context, i < 2 ? MLX5DV_UAR_ALLOC_TYPE_BF : MLX5DV_UAR_ALLOC_TYPE_NC);
		if (uar[i] == NULL)
			rig_die("mlx5dv_devx_alloc_uar");
		rig_check(uar[i]->reg_addr != NULL && uar[i]->base_addr != NULL, "mapped", i);
		*(volatile uint64_t *)uar[i]->reg_addr = 0;
	}
	CHECK(uar[0]->reg_addr != uar[1]->reg_addr, 0);
	CHECK(uar[0]->page_id != uar[2]->page_id, uar[0]->page_id);
	CHECK(uar[2]->page_id == uar[3]->page_id, uar[3]->page_id);
	for (unsigned int i = 0; i < 4; i++)
		mlx5dv_devx_free_uar(uar[i]);
	CHECK_REFUSED(mlx5dv_devx_alloc_uar(rig_context, 1u << 30), EOPNOTSUPP);
}

/** With an argument the port's contexts are DevX ones. */
int
main(int argc, char **argv)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 64,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP };
	struct ibv_device_attr_ex device;

	(void)argv;
	rig_open();
	rig_must(ibv_query_device_ex(rig_context, NULL, &device), "ibv_query_device_ex");
	CHECK(device.packet_pacing_caps.supported_qpts == 1 << IBV_QPT_RAW_PACKET, 0);
	CHECK(device.packet_pacing_caps.qp_rate_limit_min == 1, 0);
	CHECK(device.packet_pacing_caps.qp_rate_limit_max >= 50000000, 0);
	cq = ibv_create_cq_ex(rig_context, &attr);
	if (cq == NULL)
		rig_die("ibv_create_cq_ex");
	qp = rig_qp(ibv_cq_ex_to_cq(cq), 0);
	rig_frame(rig_buffer(0), FRAME, 1);
	test_rates();
	test_tso();
	test_refused(&device.packet_pacing_caps, device.orig_attr.vendor_part_id != 0x1015);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "ibv_destroy_cq");
	test_uars();
	if (argc > 1)
		test_entries(device.packet_pacing_caps.qp_rate_limit_max);
	else
		CHECK_REFUSED(alloc_entry(100, 0), EPROTONOSUPPORT);
	return rig_close();
}
