/* SPDX-License-Identifier: BSD-3-Clause */
/* From a device's name to a queue pair of type RAW_PACKET. */
#include "raw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT 1 /* ports of a device are counted from 1 */

void
raw_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

void
raw_usage(const char *usage)
{
	fprintf(stderr, "usage: %s\n", usage);
	exit(EXIT_FAILURE);
}

void
raw_parse_mac(const char *text, uint8_t mac[6], const char *usage)
{
	char rest;

	if (sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx%c", &mac[0], &mac[1], &mac[2], &mac[3],
		    &mac[4], &mac[5], &rest) != 6)
		raw_usage(usage);
}

uint32_t
raw_parse_number(const char *text, uint32_t most, const char *usage)
{
	char *end;
	unsigned long number = strtoul(text, &end, 0);

	if (end == text || *end != '\0' || number > most)
		raw_usage(usage);
	return (uint32_t)number;
}

static void
open_device(struct raw *raw, const char *name)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);

	if (devices == NULL)
		raw_die("ibv_get_device_list");
	errno = ENODEV;
	for (unsigned int i = 0; devices[i] != NULL && raw->context == NULL; i++)
		if (strcmp(ibv_get_device_name(devices[i]), name) == 0)
			raw->context = ibv_open_device(devices[i]);
	ibv_free_device_list(devices);
	if (raw->context == NULL)
		raw_die(name);
}

/** Register the memory: the device reads and writes it by itself, so it must know it beforehand. */
static void
register_memory(struct raw *raw)
{
	const size_t bytes = (size_t)RAW_NB_BUFFERS * RAW_BUFFER_BYTES;

	raw->pd = ibv_alloc_pd(raw->context);
	if (raw->pd == NULL)
		raw_die("ibv_alloc_pd");
	raw->memory = aligned_alloc(4096, bytes);
	if (raw->memory == NULL)
		raw_die("aligned_alloc");
	memset(raw->memory, 0, bytes);
	raw->mr = ibv_reg_mr(raw->pd, raw->memory, bytes, IBV_ACCESS_LOCAL_WRITE);
	if (raw->mr == NULL)
		raw_die("ibv_reg_mr");
}

static void
to_state(const struct raw *raw, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = PORT };

	errno = ibv_modify_qp(raw->qp, &attr, IBV_QP_STATE | mask);
	if (errno != 0)
		raw_die("ibv_modify_qp");
}

/** Make the queue pair, which needs the capability CAP_NET_RAW. It has no peer address, so the
 * usual steps from INIT to ready-to-send carry only the port. */
static void
make_queue_pair(struct raw *raw, uint16_t tso_header_bytes)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = raw->cq,
		.recv_cq = raw->cq,
		.cap = { .max_send_wr = RAW_NB_BUFFERS,
			.max_recv_wr = RAW_NB_BUFFERS,
			.max_send_sge = 1,
			.max_recv_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = raw->pd,
	};

	if (tso_header_bytes != 0) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
		attr.max_tso_header = tso_header_bytes;
	}
	raw->qp = ibv_create_qp_ex(raw->context, &attr);
	if (raw->qp == NULL)
		raw_die("ibv_create_qp_ex");
	to_state(raw, IBV_QPS_INIT, IBV_QP_PORT);
	to_state(raw, IBV_QPS_RTR, 0);
	to_state(raw, IBV_QPS_RTS, 0);
}

void
raw_open(struct raw *raw, const char *name, uint16_t tso_header_bytes)
{
	memset(raw, 0, sizeof(*raw));
	open_device(raw, name);
	register_memory(raw);
	/* Room for all completions that may come at once: of all posted requests, both ways. */
	raw->cq = ibv_create_cq(raw->context, 2 * RAW_NB_BUFFERS, NULL, NULL, 0);
	if (raw->cq == NULL)
		raw_die("ibv_create_cq");
	make_queue_pair(raw, tso_header_bytes);
}

void
raw_close(struct raw *raw)
{
	/* An object goes before the objects that it uses: verbs refuse any other order. */
	errno = ibv_destroy_qp(raw->qp);
	if (errno == 0)
		errno = ibv_destroy_cq(raw->cq);
	if (errno == 0)
		errno = ibv_dereg_mr(raw->mr);
	if (errno == 0)
		errno = ibv_dealloc_pd(raw->pd);
	if (errno == 0)
		errno = ibv_close_device(raw->context);
	if (errno != 0)
		raw_die("closing the device");
	free(raw->memory);
}

uint8_t *
raw_buffer(const struct raw *raw, unsigned int number)
{
	return raw->memory + (size_t)number * RAW_BUFFER_BYTES;
}

void
raw_post_receive(const struct raw *raw, unsigned int number)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)raw_buffer(raw, number),
		.length = RAW_BUFFER_BYTES,
		.lkey = raw->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = number, .sg_list = &sge, .num_sge = 1 }, *bad;

	errno = ibv_post_recv(raw->qp, &wr, &bad);
	if (errno != 0)
		raw_die("ibv_post_recv");
}

void
raw_post_send(const struct raw *raw, struct ibv_sge sge, unsigned int flags)
{
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		/* SIGNALED: a completion says that the buffer is free again. */
		.send_flags = IBV_SEND_SIGNALED | flags,
	};
	struct ibv_send_wr *bad;

	errno = ibv_post_send(raw->qp, &wr, &bad);
	if (errno != 0)
		raw_die("ibv_post_send");
}

struct ibv_wc
raw_wait(const struct raw *raw)
{
	struct ibv_wc wc;
	int nb;

	do
		nb = ibv_poll_cq(raw->cq, 1, &wc);
	while (nb == 0);
	if (nb < 0)
		raw_die("ibv_poll_cq");
	if (wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc.status));
		exit(EXIT_FAILURE);
	}
	return wc;
}

void
raw_print(const struct raw *raw, unsigned int number, const struct ibv_wc *wc)
{
	const uint8_t *bytes = raw_buffer(raw, (unsigned int)wc->wr_id);

	printf("frame %u: %u bytes to %02x:%02x:%02x:%02x:%02x:%02x from %02x:%02x:%02x:%02x:%02x:%02x type 0x%02x%02x\n",
		number, wc->byte_len, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5],
		bytes[6], bytes[7], bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13]);
}
