/* SPDX-License-Identifier: BSD-3-Clause */
/* What the verbs programs have in common. */
#include "kit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define BUFFERS_BYTES ((size_t)KIT_NB_BUFFERS * KIT_BUFFER_BYTES)

struct ibv_context *kit_context;
struct ibv_pd *kit_pd;
struct ibv_mr *kit_mr;

static uint8_t (*buffers)[KIT_BUFFER_BYTES];
static unsigned int nb_checks, nb_failed;

void
kit_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

void
kit_must(int error, const char *what)
{
	errno = error;
	if (error != 0)
		kit_die(what);
}

void
kit_check(bool is_so, const char *what, long long value)
{
	nb_checks++;
	if (is_so)
		return;
	nb_failed++;
	printf("NOT SO: %s (%lld)\n", what, value);
}

void
kit_check_refused(const void *object, int wanted, const char *what)
{
	kit_check(object == NULL && errno == wanted, what, object == NULL ? errno : 0);
}

void
kit_open(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);

	if (devices == NULL || devices[0] == NULL)
		kit_die("ibv_get_device_list");
	kit_context = ibv_open_device(devices[0]);
	ibv_free_device_list(devices);
	if (kit_context == NULL)
		kit_die("ibv_open_device");
	kit_pd = ibv_alloc_pd(kit_context);
	if (kit_pd == NULL)
		kit_die("ibv_alloc_pd");
	/* Anew each time: after ibv_fork_init() a child does not have its parent's. */
	buffers = mmap(
		NULL, BUFFERS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffers == MAP_FAILED)
		kit_die("mmap");
	kit_mr = ibv_reg_mr(kit_pd, buffers, BUFFERS_BYTES, IBV_ACCESS_LOCAL_WRITE);
	if (kit_mr == NULL)
		kit_die("ibv_reg_mr");
}

int
kit_close(void)
{
	kit_must(ibv_dereg_mr(kit_mr), "ibv_dereg_mr");
	kit_must(ibv_dealloc_pd(kit_pd), "ibv_dealloc_pd");
	kit_must(ibv_close_device(kit_context), "ibv_close_device");
	printf("%u checks, %u failed\n", nb_checks, nb_failed);
	return nb_failed != 0;
}

uint8_t *
kit_buffer(unsigned int number)
{
	return buffers[number];
}

struct ibv_sge
kit_sge(unsigned int number, size_t offset, size_t length)
{
	return (struct ibv_sge){ (uintptr_t)buffers[number] + offset, (uint32_t)length,
		kit_mr->lkey };
}

void
kit_frame(uint8_t *frame, size_t length, uint8_t seed)
{
	const uint16_t ip_length = (uint16_t)(length - 14);
	const uint16_t udp_length = (uint16_t)(length - 34);
	const uint8_t head[KIT_HEADER_BYTES] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0,
		(uint8_t)(ip_length >> 8), (uint8_t)ip_length, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0,
		1, 10, 0, 0, 2, 4, 0, 0, 7, (uint8_t)(udp_length >> 8), (uint8_t)udp_length };

	memcpy(frame, head, sizeof(head));
	for (size_t i = sizeof(head); i < length; i++)
		frame[i] = (uint8_t)(seed + i - sizeof(head));
}

uint16_t
kit_be16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

uint32_t
kit_be32(const uint8_t *bytes)
{
	return (uint32_t)kit_be16(bytes) << 16 | kit_be16(bytes + 2);
}

uint16_t
kit_sum(const uint8_t *bytes, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i += 2)
		sum += kit_be16(bytes + i);
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

void
kit_to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = 1 };
	int mask = IBV_QP_STATE | (state == IBV_QPS_INIT ? IBV_QP_PORT : 0);

	kit_must(ibv_modify_qp(qp, &attr, mask), "ibv_modify_qp");
}

void
kit_start(struct ibv_qp *qp)
{
	kit_to_state(qp, IBV_QPS_INIT);
	kit_to_state(qp, IBV_QPS_RTR);
	kit_to_state(qp, IBV_QPS_RTS);
}

struct ibv_qp *
kit_qp(struct ibv_cq *cq, uint32_t create_flags)
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
		.pd = kit_pd,
		.create_flags = create_flags,
		.max_tso_header = 64,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(kit_context, &attr);

	if (qp == NULL)
		kit_die("ibv_create_qp_ex");
	kit_start(qp);
	return qp;
}

struct ibv_flow *
kit_take_all(struct ibv_qp *qp)
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
	struct ibv_flow *flow = ibv_create_flow(qp, &rule.attr);

	if (flow == NULL)
		kit_die("ibv_create_flow");
	return flow;
}

void
kit_receive(struct ibv_qp *qp, unsigned int buffer, size_t length)
{
	struct ibv_sge sge = kit_sge(buffer, 0, length);
	struct ibv_recv_wr wr = { .wr_id = buffer, .sg_list = &sge, .num_sge = 1 }, *bad;

	kit_must(ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

void
kit_send(struct ibv_qp *qp, unsigned int buffer, size_t length)
{
	struct ibv_sge sge = kit_sge(buffer, 0, length);
	struct ibv_send_wr wr = { .wr_id = buffer,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;

	kit_must(ibv_post_send(qp, &wr, &bad), "ibv_post_send");
}

void
kit_poll(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int nb)
{
	time_t end = time(NULL) + KIT_PATIENCE;
	unsigned int got = 0;

	while (got < nb) {
		int more = ibv_poll_cq(cq, (int)(nb - got), wc + got);

		if (more < 0 || time(NULL) > end) {
			errno = more < 0 ? EIO : ETIMEDOUT;
			kit_die("ibv_poll_cq");
		}
		got += (unsigned int)more;
	}
}

void
kit_start_poll(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = { 0 };
	time_t end = time(NULL) + KIT_PATIENCE;
	int ret;

	while ((ret = ibv_start_poll(cq, &attr)) != 0) {
		if (ret != ENOENT || time(NULL) > end)
			kit_must(ret, "ibv_start_poll");
	}
}

struct ibv_wc *
kit_find(struct ibv_wc *wc, unsigned int nb, enum ibv_wc_opcode opcode)
{
	for (unsigned int i = 0; i < nb; i++)
		if (wc[i].opcode == opcode)
			return &wc[i];
	return NULL;
}
