/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The strict device and queue pairs with a transport: each mistake provoked and found;
 * without it, silence. The queue pair is connected to itself. */
#include "roce_strict_rig.h"

/** @{ States. */
static void
send_in_rtr(struct program *program, bool wrong)
{
	prepare(program, SHCA_ROCE_RC);
	make(program);
	to_state(program, SHCA_ROCE_INIT);
	to_state(program, SHCA_ROCE_RTR);
	if (!wrong)
		to_state(program, SHCA_ROCE_RTS);
	post_write(program, true);
	to_state(program, SHCA_ROCE_RTS);
}

static void
send_in_reset(struct program *program, bool wrong)
{
	prepare(program, SHCA_ROCE_UC);
	make(program);
	if (wrong)
		post_write(program, true);
	start(program);
	if (!wrong)
		post_write(program, true);
}

static void
receive_in_reset(struct program *program, bool wrong)
{
	prepare(program, SHCA_ROCE_RC);
	make(program);
	if (!wrong)
		to_state(program, SHCA_ROCE_INIT);
	post_receive(program, 0, rig_of(program)->mr->lkey, BYTES);
	start(program);
}

/** What was posted in a life before does not count: programs clear the record after the step. */
static void
old_record(struct program *program, bool wrong)
{
	begin(program, SHCA_ROCE_RC);
	post_receive(program, 0, rig_of(program)->mr->lkey, BYTES);
	post_write(program, true);
	to_state(program, SHCA_ROCE_RESET);
	rig_run(rig_of(program));
	if (!wrong)
		program->dbrec = 0;
	else
		record(program)[MLX5_SND_DBR] = 0;
	program->sq_pi = 0;
	start(program);
}

static void
receive_beside_srq(struct program *program, bool wrong)
{
	prepare(program, SHCA_ROCE_RC);
	program->attr.nb_wqes = wrong ? 0 : NB_WQES;
	make(program);
	start(program);
	post_receive(program, 0, rig_of(program)->mr->lkey, BYTES);
	rig_run(rig_of(program));
}
/** @} */

/** @{ Rings. */
static void
send_overrun(struct program *program, bool wrong)
{
	begin(program, SHCA_ROCE_RC);
	for (unsigned int i = 0; i < NB_WQEBBS; i++) {
		struct wqe wqe = wqe_of(MLX5_OPCODE_RDMA_WRITE, i % 4 == 3);

		add_remote(program, &wqe, FAR);
		put_as(program, &wqe, shca_roce_qp_number(program->qp), 2);
	}
	program->sq_pi += wrong;
	tell(program);
}

static void
send_order(struct program *program, bool wrong)
{
	begin(program, SHCA_ROCE_RC);
	for (unsigned int i = 0; i < 2; i++)
		post_write(program, true);
	if (wrong) {
		record(program)[MLX5_SND_DBR] = (__be32)htole32(3);
	}
	rig_run(rig_of(program));
}

/** The low half of the first counter is 0: nothing is sent, and nothing fails. */
static void
first_order(struct program *program, bool wrong)
{
	begin(program, SHCA_ROCE_RC);
	post_write(program, true);
	to_state(program, SHCA_ROCE_RESET);
	program->dbrec = 0;
	program->sq_pi = 0;
	start(program);
	if (wrong)
		record(program)[MLX5_SND_DBR] = (__be32)htole32(1);
	rig_run(rig_of(program));
}

static void
receive_order(struct program *program, bool wrong)
{
	begin(program, SHCA_ROCE_RC);
	post_receive(program, 0, rig_of(program)->mr->lkey, BYTES);
	if (wrong)
		record(program)[MLX5_RCV_DBR] = (__be32)htole32(1);
	rig_run(rig_of(program));
}

static void
receive_overrun(struct program *program, bool wrong)
{
	struct wqe wqe = wqe_of(MLX5_OPCODE_SEND, true);

	begin(program, SHCA_ROCE_RC);
	for (uint16_t i = 0; i < NB_WQES; i++)
		post_receive(program, i, rig_of(program)->mr->lkey, BYTES);
	if (wrong)
		record(program)[MLX5_RCV_DBR] = htobe32(NB_WQES + 1);
	add_buffer(program, &wqe, BYTES);
	post(program, &wqe);
}

static void
make_srq(struct program *program)
{
	struct rig *rig = rig_of(program);

	program->srq_attr = (struct shca_srq_attr){
		.ring = (uint8_t *)program->rq_ring,
		.dbrec = (__be32 *)&program->srq_dbrec,
		.nb_wqes = NB_WQES,
		.stride_bytes = STRIDE,
		.pdn = RIG_PDN,
	};
	for (unsigned int i = 0; i < NB_WQES; i++) {
		const struct {
			struct mlx5_wqe_srq_next_seg next;
			struct mlx5_wqe_data_seg data[2];
		} wqe = { .next.next_wqe_index = htobe16((uint16_t)((i + 1) % NB_WQES)),
			.data = { { htobe32(BYTES), htobe32(rig->mr->lkey),
					  htobe64((uintptr_t)rig->buffers + FAR) },
				{ 0, htobe32(MLX5_INVALID_LKEY), 0 } } };

		memcpy((uint8_t *)program->rq_ring + (size_t)i * STRIDE, &wqe, sizeof(wqe));
	}
	shca_device_lock(rig->dev);
	assert_int_equal(shca_srq_create(rig->dev, &program->srq_attr, &program->srq), 0);
	shca_device_unlock(rig->dev);
}

static void
shared_overrun(struct program *program, bool wrong)
{
	struct wqe wqe = wqe_of(MLX5_OPCODE_SEND, true);

	prepare(program, SHCA_ROCE_RC);
	make_srq(program);
	program->attr.srq = program->srq;
	program->attr.nb_wqes = 0;
	program->conf.rnr_retries = 0;
	make(program);
	start(program);
	program->srq_dbrec = htobe32(wrong ? NB_WQES + 1 : NB_WQES);
	add_buffer(program, &wqe, BYTES);
	post(program, &wqe);
}
/** @} */

/** @{ Send WQEs. */
static void
past_producer(struct program *program, bool wrong)
{
	struct wqe wqe = wqe_of(MLX5_OPCODE_RDMA_WRITE, true);

	begin(program, SHCA_ROCE_RC);
	add_remote(program, &wqe, FAR);
	put_as(program, &wqe, shca_roce_qp_number(program->qp), wrong ? 6 : 2);
	tell(program);
}

static void
of_another(struct program *program, bool wrong)
{
	struct wqe wqe = wqe_of(MLX5_OPCODE_RDMA_WRITE, true);

	begin(program, SHCA_ROCE_RC);
	add_remote(program, &wqe, FAR);
	put_as(program, &wqe, shca_roce_qp_number(program->qp) + wrong, 2);
	tell(program);
}

static void
opcode(struct program *program, bool wrong)
{
	struct wqe wqe = wqe_of(wrong ? MLX5_OPCODE_TSO : MLX5_OPCODE_NOP, true);

	begin(program, SHCA_ROCE_RC);
	post(program, &wqe);
}

static void
count(struct program *program, bool wrong)
{
	struct wqe wqe = wqe_of(MLX5_OPCODE_RDMA_WRITE, true);

	begin(program, SHCA_ROCE_RC);
	add_remote(program, &wqe, FAR);
	put_as(program, &wqe, shca_roce_qp_number(program->qp), wrong ? 1 : 2);
	tell(program);
}

static void
count_overflow(struct program *program, bool wrong)
{
	struct wqe wqe = wqe_of(MLX5_OPCODE_RDMA_WRITE, true);

	begin(program, SHCA_ROCE_RC);
	add_remote(program, &wqe, FAR);
	put_as(program, &wqe, shca_roce_qp_number(program->qp), wrong ? 64 + 2 : 2);
	tell(program);
}

static void
read_without_room(struct program *program, bool wrong)
{
	struct wqe wqe = wqe_of(MLX5_OPCODE_RDMA_READ, true);

	prepare(program, SHCA_ROCE_RC);
	program->conf.max_rd_atomic = wrong ? 0 : 1;
	program->conf.access |= IB_UVERBS_ACCESS_REMOTE_READ;
	make(program);
	start(program);
	add_remote(program, &wqe, FAR);
	add_buffer(program, &wqe, BYTES);
	post(program, &wqe);
}

static void
lkey(struct program *program, bool wrong)
{
	struct rig *rig = rig_of(program);
	struct wqe wqe = wqe_of(MLX5_OPCODE_RDMA_WRITE, true);

	begin(program, SHCA_ROCE_RC);
	add_remote(program, &wqe, FAR);
	add_data(&wqe, rig->mr->lkey + wrong, (uintptr_t)rig->buffers, BYTES);
	post(program, &wqe);
}

static void
address(struct program *program, bool wrong)
{
	struct rig *rig = rig_of(program);
	struct wqe wqe = wqe_of(MLX5_OPCODE_RDMA_WRITE, true);

	begin(program, SHCA_ROCE_RC);
	add_remote(program, &wqe, FAR);
	add_data(&wqe, rig->mr->lkey,
		(uintptr_t)rig->buffers + RIG_BUFFERS_BYTES - (wrong ? BYTES - 1 : BYTES), BYTES);
	post(program, &wqe);
}

static void
unsignaled(struct program *program, bool wrong)
{
	begin(program, SHCA_ROCE_RC);
	for (unsigned int i = 0; i < 3 * MAX_SEND_WR; i++)
		post_write(program,
			i % MAX_SEND_WR == MAX_SEND_WR - 1u &&
				(!wrong || i != 2 * MAX_SEND_WR - 1));
}

static void
long_datagram(struct program *program, bool wrong)
{
	struct wqe wqe = wqe_of(MLX5_OPCODE_SEND, true);

	begin(program, SHCA_ROCE_UD);
	add_address(program, &wqe, program->gid, 64);
	add_buffer(program, &wqe, wrong ? 1025 : 1024);
	post(program, &wqe);
}

static void
atomic(struct program *program, bool wrong)
{
	const struct mlx5_wqe_atomic_seg operands = { .swap_add = htobe64(1) };
	struct wqe wqe = wqe_of(MLX5_OPCODE_ATOMIC_FA, true);

	begin(program, SHCA_ROCE_RC);
	add_remote(program, &wqe, wrong ? FAR + 4 : FAR + 8);
	add(&wqe, &operands, sizeof(operands));
	add_buffer(program, &wqe, 8);
	post(program, &wqe);
}

static void
post_datagram(struct program *program, const uint8_t *gid, uint8_t hop_limit)
{
	struct wqe wqe = wqe_of(MLX5_OPCODE_SEND, true);

	add_address(program, &wqe, gid, hop_limit);
	add_buffer(program, &wqe, BYTES);
	post(program, &wqe);
}

static void
foreign_handle(struct program *program, bool wrong)
{
	struct shca_ah own = { .pdn = RIG_PDN, .sgid_index = GID_INDEX };

	begin(program, SHCA_ROCE_UD);
	program->ah = (struct shca_ah){ .pdn = OTHER_PDN, .sgid_index = GID_INDEX };
	memcpy(program->ah.dgid, program->gid, sizeof(program->gid));
	memcpy(own.dgid, program->gid, sizeof(program->gid));
	shca_ah_add(rig_of(program)->dev, &program->ah);
	/* Two domains may have handles of one address. */
	if (!wrong)
		shca_ah_add(rig_of(program)->dev, &own);
	post_datagram(program, program->gid, 64);
	shca_ah_remove(&program->ah);
	if (!wrong)
		shca_ah_remove(&own);
}

static void
no_hops(struct program *program, bool wrong)
{
	begin(program, SHCA_ROCE_UD);
	post_datagram(program, program->gid, wrong ? 0 : 1);
}

static void
other_family(struct program *program, bool wrong)
{
	const uint8_t ipv4[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1 };

	begin(program, SHCA_ROCE_UD);
	post_datagram(program, wrong ? ipv4 : program->gid, 64);
}
/** @} */

/** @{ Attributes. */
static void
path_of_group(struct program *program, bool wrong)
{
	prepare(program, SHCA_ROCE_UC);
	make(program);
	if (wrong)
		program->conf.path.dgid[0] = 0xff;
	start(program);
}

static void
path_to_nobody(struct program *program, bool wrong)
{
	prepare(program, SHCA_ROCE_RC);
	make(program);
	if (wrong)
		memset(program->conf.path.dgid, 0, sizeof(program->conf.path.dgid));
	start(program);
}

static void
mtu(struct program *program, bool wrong)
{
	prepare(program, SHCA_ROCE_RC);
	program->conf.mtu = wrong ? 2048 : 1024;
	make(program);
	start(program);
}

static void
destination(struct program *program, bool wrong)
{
	prepare(program, SHCA_ROCE_RC);
	make(program);
	program->conf.dest_qpn = wrong ? 1 : 2;
	start(program);
}

/** What nobody asks for needs no room. */
static void
reads(struct program *program, bool wrong)
{
	const struct mlx5_wqe_atomic_seg operands = { .swap_add = htobe64(1) };
	struct wqe wqe = wqe_of(wrong ? MLX5_OPCODE_ATOMIC_FA : MLX5_OPCODE_RDMA_WRITE, true);

	prepare(program, SHCA_ROCE_RC);
	program->conf.max_dest_rd_atomic = 0;
	make(program);
	start(program);
	add_remote(program, &wqe, FAR);
	if (wrong)
		add(&wqe, &operands, sizeof(operands));
	add_buffer(program, &wqe, 8);
	post(program, &wqe);
}

static void
timeout(struct program *program, bool wrong)
{
	prepare(program, SHCA_ROCE_RC);
	program->conf.timeout = wrong ? 0 : 1;
	make(program);
	start(program);
}
/** @} */

/** @{ Receive WQEs. */
static void
send_to_receive(struct program *program, uint32_t key, uint32_t room, uint64_t offset)
{
	struct wqe wqe = wqe_of(MLX5_OPCODE_SEND, true);

	begin(program, SHCA_ROCE_RC);
	post_receive_at(program, 0, rig_of(program)->mr->lkey + key, room, offset);
	add_buffer(program, &wqe, BYTES);
	post(program, &wqe);
}

static void
truncated(struct program *program, bool wrong)
{
	send_to_receive(program, 0, wrong ? BYTES - 1 : BYTES, FAR);
}

static void
receive_lkey(struct program *program, bool wrong)
{
	send_to_receive(program, wrong, BYTES, FAR);
}

static void
receive_address(struct program *program, bool wrong)
{
	send_to_receive(program, 0, BYTES, RIG_BUFFERS_BYTES - BYTES / (wrong ? 2 : 1));
}
/** @} */

static const struct mistake {
	enum shca_finding finding;
	void (*run)(struct program *program, bool wrong);
	const char *said; /* the evidence */
} mistakes[] = {
	{ SHCA_FINDING_SEND_STATE, send_in_rtr, "producer counter 1\n" },
	{ SHCA_FINDING_SEND_STATE, send_in_reset, "producer counter 1\n" },
	{ SHCA_FINDING_RECEIVE_STATE, receive_in_reset, "producer counter 1\n" },
	{ SHCA_FINDING_RECEIVE_STATE, old_record, "producer counter 1\n" },
	{ SHCA_FINDING_RECEIVE_QUEUE, receive_beside_srq, "producer counter 1\n" },
	{ SHCA_FINDING_RING_OVERRUN, send_overrun, "device at 0, ring of 16" },
	{ SHCA_FINDING_RECORD_ORDER, send_order, "(record 0x03000000), device at 2" },
	{ SHCA_FINDING_RECORD_ORDER, first_order, "(record 0x01000000), device at 0" },
	{ SHCA_FINDING_RECORD_ORDER, receive_order, "device at 0, ring of 8" },
	{ SHCA_FINDING_RING_OVERRUN, receive_overrun, "device at 0, ring of 8" },
	{ SHCA_FINDING_RING_OVERRUN, shared_overrun, "SRQ 0x1 index 9: " },
	{ SHCA_FINDING_WQE_PAST_PRODUCER, past_producer, "opcode 0x08 index 0 qpn" },
	{ SHCA_FINDING_WQE_STALE, of_another, "opcode 0x08 index 0 qpn" },
	{ SHCA_FINDING_WQE_OPCODE, opcode, "opcode 0x0e index 0" },
	{ SHCA_FINDING_WQE_DS, count, "ds 1 ce 2" },
	{ SHCA_FINDING_WQE_DS_OVERFLOW, count_overflow, "ds 2 ce 2" },
	{ SHCA_FINDING_WQE_FORM, read_without_room, "opcode 0x10 index 0" },
	{ SHCA_FINDING_LKEY, lkey, "+64 lkey 0x" },
	{ SHCA_FINDING_ADDRESS, address, "+64 lkey 0x" },
	{ SHCA_FINDING_SEND_UNSIGNALED, unsignaled, "index 7: send-unsignaled" },
	{ SHCA_FINDING_SEND_LENGTH, long_datagram, "length 1025 [0x" },
	{ SHCA_FINDING_ATOMIC_ADDRESS, atomic, "opcode 0x12 index 0" },
	{ SHCA_FINDING_AH_DOMAIN, foreign_handle, "opcode 0x0a index 0" },
	{ SHCA_FINDING_PATH, no_hops, "opcode 0x0a index 0" },
	{ SHCA_FINDING_PATH, other_family, "opcode 0x0a index 0" },
	{ SHCA_FINDING_PATH, path_of_group, "destination a group, hop limit 64" },
	{ SHCA_FINDING_PATH, path_to_nobody, "RoCE v2, source IPv6, destination IPv6" },
	{ SHCA_FINDING_PATH_MTU, mtu, "path MTU 2048, the port's is 1024" },
	{ SHCA_FINDING_QP_DESTINATION, destination, "dest_qp_num 0x1\n" },
	{ SHCA_FINDING_QP_READS, reads, "qp_access_flags 0xa, opcode 0x14 in the BTH\n" },
	{ SHCA_FINDING_QP_TIMEOUT, timeout, "retry_cnt 0\n" },
	{ SHCA_FINDING_RX_TRUNCATED, truncated, "64 bytes and more, segments [0x" },
	{ SHCA_FINDING_LKEY, receive_lkey, "64 bytes and more, segments [0x" },
	{ SHCA_FINDING_ADDRESS, receive_address, "+64 lkey 0x" },
};
#define NB_MISTAKES (sizeof(mistakes) / sizeof(mistakes[0]))

static void
run(struct program *program, const struct mistake *mistake, bool wrong)
{
	struct rig *rig = rig_of(program);

	memset(program, 0, sizeof(*program));
	strict_rig_start(&program->strict_rig);
	mistake->run(program, wrong);
	rig_run(rig);
	shca_device_lock(rig->dev);
	shca_roce_qp_destroy(program->qp);
	shca_srq_destroy(program->srq);
	shca_device_unlock(rig->dev);
	strict_rig_end(&program->strict_rig);
}

static void
each_mistake_is_found(void **state)
{
	static struct program program;

	(void)state;
	for (size_t i = 0; i < NB_MISTAKES; i++) {
		const struct mistake *mistake = &mistakes[i];
		const struct shca_finding_row *row = &shca_finding_rows[mistake->finding];
		const struct strict_rig *said = &program.strict_rig;
		char rule[256];

		run(&program, mistake, true);
		snprintf(rule, sizeof(rule), ": %s: %s\nsofthca: strict:   hardware: %s\n",
			row->name, row->what, row->hardware);
		for (unsigned int j = 0; j < SHCA_NB_FINDINGS; j++)
			if (said->count[j] != (j == mistake->finding))
				fail_msg("mistake %zu (%s): %s %" PRIu64 " times\n%s", i, row->name,
					shca_finding_rows[j].name, said->count[j], said->said);
		if (strstr(said->said, rule) == NULL || strstr(said->said, mistake->said) == NULL)
			fail_msg("mistake %zu: no '%s' in\n%s", i, mistake->said, said->said);
	}
}

static void
without_it_silence(void **state)
{
	static struct program program;

	(void)state;
	for (size_t i = 0; i < NB_MISTAKES; i++) {
		run(&program, &mistakes[i], false);
		if (program.strict_rig.said[0] != '\0')
			fail_msg("mistake %zu, not made:\n%s", i, program.strict_rig.said);
	}
}

/** The others are raw queues', too: hw/check/strict_test.c. */
static void
every_rule_of_the_transport_is_reached(void **state)
{
	bool is_reached[SHCA_NB_FINDINGS] = { false };

	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
		is_reached[mistakes[i].finding] = true;
	for (unsigned int i = SHCA_FINDING_SEND_STATE; i < SHCA_NB_FINDINGS; i++)
		if (!is_reached[i])
			fail_msg("%s has no mistake here", shca_finding_rows[i].name);
}

/** A step looks at the record before it is taken; without one the next round ends the queue pair.
 */
static void
record_is_gone(void **state)
{
	static struct program program;
	struct shca_device *dev;
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	memset(&program, 0, sizeof(program));
	strict_rig_start(&program.strict_rig);
	prepare(&program, SHCA_ROCE_RC);
	program.attr.dbrec = page;
	make(&program);
	dev = rig_of(&program)->dev;
	for (unsigned int i = 0; i < 256; i++)
		shca_device_step(dev); /* cmocka's handler gives way to the guard's */
	munmap(page, 4096);
	shca_device_lock(dev);
	shca_roce_qp_modify(program.qp, SHCA_ROCE_INIT, &program.conf);
	shca_device_unlock(dev);
	shca_device_step(dev);
	assert_int_equal(shca_roce_qp_state(program.qp), SHCA_ROCE_ERROR);
	shca_device_lock(dev);
	shca_roce_qp_destroy(program.qp);
	shca_device_unlock(dev);
	strict_rig_end(&program.strict_rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mistake_is_found),
		cmocka_unit_test(without_it_silence),
		cmocka_unit_test(every_rule_of_the_transport_is_reached),
		cmocka_unit_test(record_is_gone),
	};

	return cmocka_run_group_tests_name("roce_strict", tests, NULL, NULL);
}
