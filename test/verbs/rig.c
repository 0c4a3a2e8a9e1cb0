/* SPDX-License-Identifier: BSD-3-Clause */
/* The common parts of the verbs programs. */
#include "rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define BUFFERS_BYTES ((size_t)RIG_NB_BUFFERS * RIG_BUFFER_BYTES)

struct ibv_context *rig_context;
struct ibv_pd *rig_pd;
struct ibv_mr *rig_mr;
uint8_t rig_address = 1;

static uint8_t (*buffers)[RIG_BUFFER_BYTES];
static unsigned int nb_checks, nb_failed;

void
rig_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

void
rig_must(int error, const char *what)
{
	errno = error;
	if (error != 0)
		rig_die(what);
}

void
rig_check(bool is_so, const char *what, long long value)
{
	nb_checks++;
	if (is_so)
		return;
	nb_failed++;
	printf("NOT SO: %s (%lld)\n", what, value);
}

void
rig_check_refused(const void *object, int wanted, const char *what)
{
	rig_check(object == NULL && errno == wanted, what, object == NULL ? errno : 0);
}

void
rig_open(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);

	if (devices == NULL || devices[0] == NULL)
		rig_die("ibv_get_device_list");
	rig_context = ibv_open_device(devices[0]);
	ibv_free_device_list(devices);
	if (rig_context == NULL)
		rig_die("ibv_open_device");
	rig_pd = ibv_alloc_pd(rig_context);
	if (rig_pd == NULL)
		rig_die("ibv_alloc_pd");
	/* Mapped at each call: after ibv_fork_init() a child does not have the buffers of its
	 * parent. */
	buffers = mmap(
		NULL, BUFFERS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffers == MAP_FAILED)
		rig_die("mmap");
	rig_mr = ibv_reg_mr(rig_pd, buffers, BUFFERS_BYTES, IBV_ACCESS_LOCAL_WRITE);
	if (rig_mr == NULL)
		rig_die("ibv_reg_mr");
}

int
rig_summary(void)
{
	printf("%u checks, %u failed\n", nb_checks, nb_failed);
	fflush(stdout);
	return nb_failed != 0;
}

int
rig_close(void)
{
	rig_must(ibv_dereg_mr(rig_mr), "ibv_dereg_mr");
	rig_must(ibv_dealloc_pd(rig_pd), "ibv_dealloc_pd");
	rig_must(ibv_close_device(rig_context), "ibv_close_device");
	return rig_summary();
}

uint8_t *
rig_buffer(unsigned int number)
{
	return buffers[number];
}

struct ibv_sge
rig_sge(unsigned int number, size_t offset, size_t length)
{
	return (struct ibv_sge){ (uintptr_t)buffers[number] + offset, (uint32_t)length,
		rig_mr->lkey };
}

void
rig_frame(uint8_t *frame, size_t length, uint8_t seed)
{
	const uint16_t ip_length = (uint16_t)(length - 14);
	const uint16_t udp_length = (uint16_t)(length - 34);
	const uint8_t head[RIG_HEADER_BYTES] = { 2, 0, 0, 0, 0, rig_address, 2, 0, 0, 0, 0, 2, 8, 0,
		0x45, 0, (uint8_t)(ip_length >> 8), (uint8_t)ip_length, 0, 1, 0, 0, 64, 17, 0, 0,
		10, 0, 0, 1, 10, 0, 0, 2, 4, 0, 0, 7, (uint8_t)(udp_length >> 8),
		(uint8_t)udp_length };

	memcpy(frame, head, sizeof(head));
	for (size_t i = sizeof(head); i < length; i++)
		frame[i] = (uint8_t)(seed + i - sizeof(head));
}

uint16_t
rig_be16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

uint32_t
rig_be32(const uint8_t *bytes)
{
	return (uint32_t)rig_be16(bytes) << 16 | rig_be16(bytes + 2);
}

uint16_t
rig_sum(const uint8_t *bytes, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i += 2)
		sum += rig_be16(bytes + i);
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

void
rig_to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = 1 };
	int mask = IBV_QP_STATE | (state == IBV_QPS_INIT ? IBV_QP_PORT : 0);

	rig_must(ibv_modify_qp(qp, &attr, mask), "ibv_modify_qp");
}

void
rig_start(struct ibv_qp *qp)
{
	rig_to_state(qp, IBV_QPS_INIT);
	rig_to_state(qp, IBV_QPS_RTR);
	rig_to_state(qp, IBV_QPS_RTS);
}

struct ibv_qp *
rig_qp(struct ibv_cq *cq, uint32_t create_flags)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 32,
			.max_recv_wr = 32,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 128 },
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			IBV_QP_INIT_ATTR_MAX_TSO_HEADER | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = rig_pd,
		.create_flags = create_flags,
		.max_tso_header = 64,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(rig_context, &attr);

	if (qp == NULL)
		rig_die("ibv_create_qp_ex");
	rig_start(qp);
	return qp;
}

/** @param depth how many bytes of the address frames to rig_address must have: 0 or all. */
static struct ibv_flow *
take(struct ibv_qp *qp, size_t depth)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(rule),
			.num_of_specs = 1,
			.port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) },
	};
	const uint8_t address[] = { 2, 0, 0, 0, 0, rig_address };
	struct ibv_flow *flow;

	memcpy(rule.eth.val.dst_mac, address, depth);
	memset(rule.eth.mask.dst_mac, 0xff, depth);
	flow = ibv_create_flow(qp, &rule.attr);
	if (flow == NULL)
		rig_die("ibv_create_flow");
	return flow;
}

struct ibv_flow *
rig_take_all(struct ibv_qp *qp)
{
	return take(qp, 0);
}

struct ibv_flow *
rig_take_own(struct ibv_qp *qp)
{
	return take(qp, sizeof(((struct ibv_flow_eth_filter *)0)->dst_mac));
}

void
rig_receive(struct ibv_qp *qp, unsigned int buffer, size_t length)
{
	struct ibv_sge sge = rig_sge(buffer, 0, length);
	struct ibv_recv_wr wr = { .wr_id = buffer, .sg_list = &sge, .num_sge = 1 }, *bad;

	rig_must(ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

void
rig_send(struct ibv_qp *qp, unsigned int buffer, size_t length)
{
	struct ibv_sge sge = rig_sge(buffer, 0, length);
	struct ibv_send_wr wr = { .wr_id = buffer,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;

	rig_must(ibv_post_send(qp, &wr, &bad), "ibv_post_send");
}

void
rig_poll(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int nb)
{
	time_t end = time(NULL) + RIG_PATIENCE;
	unsigned int got = 0;

	while (got < nb) {
		int more = ibv_poll_cq(cq, (int)(nb - got), wc + got);

		if (more < 0 || time(NULL) > end) {
			errno = more < 0 ? EIO : ETIMEDOUT;
			rig_die("ibv_poll_cq");
		}
		got += (unsigned int)more;
	}
}

void
rig_start_poll(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = { 0 };
	time_t end = time(NULL) + RIG_PATIENCE;
	int ret;

	while ((ret = ibv_start_poll(cq, &attr)) != 0) {
		if (ret != ENOENT || time(NULL) > end)
			rig_must(ret, "ibv_start_poll");
	}
}

struct ibv_wc *
rig_find(struct ibv_wc *wc, unsigned int nb, enum ibv_wc_opcode opcode)
{
	for (unsigned int i = 0; i < nb; i++)
		if (wc[i].opcode == opcode)
			return &wc[i];
	return NULL;
}

#define FRAME_BYTES 100

void
rig_post_frames(struct ibv_qp *qp, uint8_t seed)
{
	for (unsigned int i = 0; i < RIG_NB_FRAMES; i++)
		rig_receive(qp, RIG_NB_FRAMES + i, RIG_BUFFER_BYTES);
	for (unsigned int i = 0; i < RIG_NB_FRAMES; i++) {
		rig_frame(rig_buffer(i), FRAME_BYTES, (uint8_t)(seed + i));
		rig_send(qp, i, FRAME_BYTES);
	}
}

void
rig_collect_frames(struct ibv_cq *cq)
{
	struct ibv_wc wc[2 * RIG_NB_FRAMES];
	unsigned int nb_good = 0;

	rig_poll(cq, wc, 2 * RIG_NB_FRAMES);
	for (unsigned int i = 0; i < 2 * RIG_NB_FRAMES; i++)
		nb_good += wc[i].status == IBV_WC_SUCCESS;
	CHECK(nb_good == 2 * RIG_NB_FRAMES, nb_good);
	for (unsigned int i = 0; i < RIG_NB_FRAMES; i++)
		CHECK(memcmp(rig_buffer(i), rig_buffer(RIG_NB_FRAMES + i), FRAME_BYTES) == 0, i);
}
