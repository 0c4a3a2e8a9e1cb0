/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A send queue and a receive queue with their CQs, driven by a program that is mad: WQEs that make
 * sense or are any bytes, doorbell records of any value, memory that comes and goes. The device may
 * fail the queues, but it reads and writes only what it was given: rings, records and buffers are
 * allocations of their exact sizes, and what the device has no business to write is compared.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "base/mem.h"
#include "check.h"
#include "config/model.h"
#include "hw/device/device.h"
#include "hw/format/hw.h"
#include "hw/queue/cq.h"
#include "hw/queue/rq.h"
#include "hw/queue/sq.h"
#include "hw/queue/tir.h"
#include "packet.h"
#include "steering/steering.h"
#include "strict/findings.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	PDN = 7,
	USER_INDEX = 0xabcdef,
	/* Of the buffers only the middle is registered. */
	BUFFER_BYTES = 8192,
	REGION_OFFSET = 512,
	REGION_BYTES = BUFFER_BYTES - 1024,
	READ_ONLY_BYTES = 1024,
	NB_COMING = 8,
	MAX_STEPS = 300,
	MAX_OPERATIONS = 200,
	/* Budgets of one round: WQEs, frames of either wire, flushed WQEs, a reflecting loop. */
	MAX_ROUND = 4096,
};

struct mad_wire {
	struct shca_wire wire;
	uint8_t *coming[NB_COMING];
	uint32_t length[NB_COMING];
	unsigned int nb_coming, nb_received;
	unsigned int room; /* frames it takes before it pushes back */
	uint64_t sum;
};

struct mad_cq {
	struct shca_cq *cq;
	struct shca_cq_attr attr;
	uint32_t ci;
};

static struct mad {
	struct fuzz_input input;
	struct shca_device *dev;
	struct mad_wire wire, kernel;
	struct shca_wire *loop;
	struct mad_cq tx, rx;
	struct shca_sq *sq;
	struct shca_rq *rq;
	struct shca_tir *tir;
	struct shca_rule *rule;
	struct shca_sq_attr sq_attr;
	struct shca_rq_attr rq_attr;
	uint8_t *sq_shadow, *rq_shadow;
	uint8_t *buffer, *read_only;
	struct shca_mr *region, *read_only_region, *foreign;
	uint16_t sq_pi, rq_pi;
	unsigned int nb_steps;
} mad;

static uint64_t counts[SHCA_NB_FINDINGS];
static struct shca_findings findings = { .mode = SHCA_STRICT_REPORT, .count = counts };

/** Memory of exactly that size, aligned as libmlx5 aligns or barely. */
static void *
exact(size_t bytes)
{
	void *memory;

	FUZZ_CHECK(posix_memalign(&memory, 64, bytes) == 0);
	memset(memory, 0, bytes);
	return memory;
}

static unsigned int
wire_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct mad_wire *self = (struct mad_wire *)wire;
	unsigned int nb;

	for (nb = 0; nb < nb_frames && self->room != 0; nb++, self->room--) {
		/* Linux gets what came, however short. */
		FUZZ_CHECK(frames[nb].length >= (self == &mad.wire ? 60 : 1));
		FUZZ_CHECK(frames[nb].length <= SHCA_FRAME_MAX);
		for (uint32_t i = 0; i < frames[nb].length; i += 32)
			self->sum += frames[nb].bytes[i];
		self->sum += frames[nb].bytes[frames[nb].length - 1];
	}
	return nb;
}

/** The frames that the device has been given. */
static void
forget_received(struct mad_wire *wire)
{
	unsigned int nb = wire->nb_received;

	for (unsigned int i = 0; i < nb; i++)
		free(wire->coming[i]);
	wire->nb_coming -= nb;
	memmove(wire->coming, wire->coming + nb, wire->nb_coming * sizeof(wire->coming[0]));
	memmove(wire->length, wire->length + nb, wire->nb_coming * sizeof(wire->length[0]));
	wire->nb_received = 0;
}

/** They are the wire's again when it is asked for more, and not before. */
static unsigned int
wire_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	struct mad_wire *self = (struct mad_wire *)wire;
	unsigned int nb = 0;

	forget_received(self);
	for (; nb < nb_frames && self->nb_received < self->nb_coming; nb++, self->nb_received++)
		frames[nb] = (struct shca_frame){ self->coming[self->nb_received],
			self->length[self->nb_received] };
	return nb;
}

static int
wire_fd(const struct shca_wire *wire)
{
	(void)wire;
	return -1;
}

static const struct shca_wire_ops wire_ops = {
	.name = "mad",
	.tx = wire_tx,
	.rx = wire_rx,
	.fd = wire_fd,
};

static void
on_event(void *owner, enum shca_event event)
{
	FUZZ_CHECK(owner == &mad);
	FUZZ_CHECK(event == SHCA_EVENT_CQ_ERR || event == SHCA_EVENT_QP_FATAL ||
		event == SHCA_EVENT_WQ_FATAL || event == SHCA_EVENT_COMPLETION);
}

static void
open_cq(struct mad_cq *cq, uint8_t shape)
{
	static const enum shca_mini_format formats[] = { SHCA_MINI_NONE, SHCA_MINI_HASH,
		SHCA_MINI_CSUM, SHCA_MINI_CSUM_STRIDX };

	cq->attr = (struct shca_cq_attr){
		.nb_cqes = 4u << (shape & 3),
		.cqe_bytes = shape & 4 ? 128 : 64,
		.ignore_overrun = shape & 8,
		.pad = shape & 16,
		.mini_format = formats[shape >> 6],
		.event = on_event,
		.owner = &mad,
	};
	cq->attr.ring = exact((size_t)cq->attr.nb_cqes * cq->attr.cqe_bytes);
	cq->attr.dbrec = exact(8);
	for (uint32_t i = 0; i < cq->attr.nb_cqes; i++)
		cq->attr.ring[(i + 1) * cq->attr.cqe_bytes - 1] = MLX5_CQE_INVALID << 4;
	FUZZ_CHECK(shca_cq_create(mad.dev, &cq->attr, &cq->cq) == 0);
}

static void
open_sq(uint8_t shape)
{
	struct shca_sq_attr *attr = &mad.sq_attr;

	*attr = (struct shca_sq_attr){
		.nb_wqebbs = 1u << (shape & 7) % 7,
		.pdn = PDN,
		.user_index = USER_INDEX,
		.signal_all = shape & 8,
		.cq = mad.tx.cq,
		.event = on_event,
		.owner = &mad,
	};
	attr->ring = exact((size_t)attr->nb_wqebbs * SHCA_WQEBB_BYTES);
	mad.sq_shadow = exact((size_t)attr->nb_wqebbs * SHCA_WQEBB_BYTES);
	attr->dbrec = exact(8);
	FUZZ_CHECK(shca_sq_create(mad.dev, attr, &mad.sq) == 0);
	shca_sq_modify(mad.sq, SHCA_QUEUE_READY);
}

static void
open_rq(uint8_t shape, uint8_t more)
{
	struct shca_rq_attr *attr = &mad.rq_attr;

	*attr = (struct shca_rq_attr){
		.nb_wqes = 1u << (shape & 3),
		.stride_bytes = 64u << (shape >> 2 & 1),
		.pdn = PDN,
		.user_index = USER_INDEX,
		.cvlan_strip = shape & 8,
		.scatter_fcs = shape & 16,
		.has_signature = shape & 32,
		.log_strides = shape & 64 ? 3 + (more & 1) : 0,
		.log_stride_bytes = 6 + (more >> 1 & 3),
		.two_byte_shift = more & 8,
		.cq = mad.rx.cq,
		.event = on_event,
		.owner = &mad,
	};
	attr->ring = exact((size_t)attr->nb_wqes * attr->stride_bytes);
	mad.rq_shadow = exact((size_t)attr->nb_wqes * attr->stride_bytes);
	attr->dbrec = exact(8);
	FUZZ_CHECK(shca_rq_create(mad.dev, attr, &mad.rq) == 0);
	shca_rq_modify(mad.rq, SHCA_QUEUE_READY);
}

static void
open_regions(void)
{
	struct shca_mem *mem = shca_device_mem(mad.dev);
	const uint32_t write = IB_UVERBS_ACCESS_LOCAL_WRITE;

	mad.buffer = exact(BUFFER_BYTES);
	mad.read_only = exact(READ_ONLY_BYTES);
	FUZZ_CHECK(shca_mem_reg(mem, mad.buffer + REGION_OFFSET, REGION_BYTES,
			   (uintptr_t)mad.buffer + REGION_OFFSET, PDN, write, &mad.region) == 0);
	FUZZ_CHECK(shca_mem_reg(mem, mad.read_only, READ_ONLY_BYTES, 0, PDN, 0,
			   &mad.read_only_region) == 0);
	FUZZ_CHECK(shca_mem_reg(mem, mad.buffer, BUFFER_BYTES, (uintptr_t)mad.buffer, PDN + 1,
			   write, &mad.foreign) == 0);
}

static void
open_steering(void)
{
	struct shca_tir_attr tir_attr = {
		.rq = mad.rq, .tunneled_offload = true, .takes_own_unicast = true
	};
	struct shca_rule_attr rule_attr = { 0 };

	FUZZ_CHECK(shca_tir_create(mad.dev, &tir_attr, &mad.tir) == 0);
	rule_attr.tir = mad.tir;
	FUZZ_CHECK(shca_rule_add(shca_device_steering(mad.dev), &rule_attr, &mad.rule) == 0);
	shca_device_rules_changed(mad.dev);
}

static void
set_up(void)
{
	const struct shca_wire_conf wire_conf = { .arg = "", .fd = -1 };
	uint8_t how = fuzz_input_byte(&mad.input);
	struct shca_device_conf conf = {
		.model = shca_model_at((how & 3) % 3),
		.mac = { 2, 2, 0, 0, 0, 1 },
		.wire = &mad.wire.wire,
		.findings = how & 4 ? &findings : NULL,
	};

	mad.wire.wire.ops = mad.kernel.wire.ops = &wire_ops;
	mad.wire.room = mad.kernel.room = UINT32_MAX;
	if (how & 16)
		conf.kernel = &mad.kernel.wire;
	if (how & 8) {
		const struct shca_wire_ops *ops = shca_wire_find("loop", 4);

		FUZZ_CHECK(ops->open(&wire_conf, &mad.loop) == 0);
		conf.wire = mad.loop;
	}
	FUZZ_CHECK(shca_device_create(&conf, &mad.dev) == 0);
	open_cq(&mad.tx, fuzz_input_byte(&mad.input));
	open_cq(&mad.rx, fuzz_input_byte(&mad.input));
	open_sq(fuzz_input_byte(&mad.input));
	how = fuzz_input_byte(&mad.input);
	open_rq(how, fuzz_input_byte(&mad.input));
	open_regions();
	open_steering();
}

static void
forget_coming(struct mad_wire *wire)
{
	wire->nb_received = wire->nb_coming;
	forget_received(wire);
}

static void
close_cq(struct mad_cq *cq)
{
	shca_cq_destroy(cq->cq);
	free(cq->attr.ring);
	free(cq->attr.dbrec);
}

static void
tear_down(void)
{
	struct shca_mem *mem = shca_device_mem(mad.dev);

	shca_rule_del(shca_device_steering(mad.dev), mad.rule);
	shca_tir_destroy(mad.tir);
	shca_sq_destroy(mad.sq);
	shca_rq_destroy(mad.rq);
	close_cq(&mad.tx);
	close_cq(&mad.rx);
	shca_mem_dereg(mem, mad.region);
	shca_mem_dereg(mem, mad.read_only_region);
	shca_mem_dereg(mem, mad.foreign);
	/* What is still queued may not name what is gone. */
	mad.wire.room = UINT32_MAX;
	shca_device_step(mad.dev);
	shca_device_destroy(mad.dev);
	if (mad.loop != NULL)
		mad.loop->ops->close(mad.loop);
	forget_coming(&mad.wire);
	forget_coming(&mad.kernel);
	free(mad.sq_attr.ring);
	free(mad.sq_attr.dbrec);
	free(mad.rq_attr.ring);
	free(mad.rq_attr.dbrec);
	free(mad.sq_shadow);
	free(mad.rq_shadow);
	free(mad.buffer);
	free(mad.read_only);
}

/** @{ What the mad program does. */
static void
put32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

/** Mostly inside a region and with its key; else just outside, of another domain, or anything. */
static void
put_pointer(uint8_t *segment, uint32_t most)
{
	uint8_t how = fuzz_input_byte(&mad.input);
	uint32_t offset = fuzz_input_word(&mad.input) % (REGION_BYTES + 64);
	uint32_t length = fuzz_input_word(&mad.input) % most;
	const struct shca_mr *region = mad.region;
	uint64_t address;

	if (how >= 0x20 && region != NULL && offset < REGION_BYTES &&
		length > REGION_BYTES - offset)
		length = REGION_BYTES - offset;
	if ((how & 15) == 1)
		region = mad.read_only_region;
	else if ((how & 15) == 2)
		region = mad.foreign;
	address = region != NULL ? region->iova + offset : fuzz_input_word(&mad.input);
	put32(segment, length);
	put32(segment + 4, region != NULL && how >= 8 ? region->lkey : how);
	put32(segment + 8, (uint32_t)(address >> 32));
	put32(segment + 12, (uint32_t)address);
}

/** The bytes of a WQE into the ring, which may wrap; in the shadow, too. */
static void
put_ring(uint8_t *ring, uint8_t *shadow, size_t ring_bytes, size_t offset, const uint8_t *bytes,
	size_t length)
{
	for (size_t i = 0; i < length; i++) {
		ring[(offset + i) % ring_bytes] = bytes[i];
		shadow[(offset + i) % ring_bytes] = bytes[i];
	}
}

/** @return where the data segments begin */
static uint32_t
put_eth(uint8_t *wqe)
{
	static const uint16_t inline_bytes[] = { 0, 14, 18, 34, 42, 54, 64, 18 };
	uint8_t how = fuzz_input_byte(&mad.input);
	uint16_t length = inline_bytes[how & 7];

	wqe[20] = fuzz_input_byte(&mad.input) & 0xf0;
	wqe[22] = how & 0x80 ? fuzz_input_byte(&mad.input) : 0;
	wqe[23] = fuzz_input_byte(&mad.input);
	if ((how & 0x70) == 0x70) { /* insert a tag, or whatever else the bits say */
		put32(wqe + 28, 0x80000000 | fuzz_input_word(&mad.input));
		return 32;
	}
	if ((how & 0x70) == 0x60)
		length = (uint16_t)fuzz_input_word(&mad.input);
	wqe[28] = (uint8_t)(length >> 8);
	wqe[29] = (uint8_t)length;
	if (length > 512)
		length = 512;
	fuzz_input_fill(&mad.input, wqe + 30, length);
	if (length >= 38 && how & 8) /* as if the header were IPv4 and TCP */
		memcpy(wqe + 30 + 12, "\10\0\105\0\0\0\0\0\100\0\100\6", 12);
	return (30u + length + 15) & ~15u;
}

static uint32_t
put_segments(uint8_t *wqe, uint32_t length)
{
	unsigned int nb = fuzz_input_byte(&mad.input) & 15;

	for (unsigned int i = 0; i < nb && length + 272 <= 1024; i++) {
		uint8_t how = fuzz_input_byte(&mad.input);

		if (how < 0xc0) {
			put_pointer(wqe + length, how & 1 ? 256 : 20000);
			length += 16;
			continue;
		}
		/* Now and then it says to be longer than there is room for. */
		put32(wqe + length,
			0x80000000 | (how >= 0xf8 ? fuzz_input_word(&mad.input) & 0xffff : how));
		fuzz_input_fill(&mad.input, wqe + length + 4, how);
		length = (length + 4 + how + 15) & ~15u;
	}
	return length;
}

static void
send_wqe(void)
{
	static const uint8_t opcodes[] = { MLX5_OPCODE_SEND, MLX5_OPCODE_TSO,
		SHCA_OPCODE_ENHANCED_MPSW, MLX5_OPCODE_NOP, MLX5_OPCODE_SEND, MLX5_OPCODE_TSO };
	uint8_t wqe[2048] = { 0 }, how = fuzz_input_byte(&mad.input);
	uint32_t length = 16, nb_wqebbs;

	put32(wqe, (uint32_t)mad.sq_pi << 8 | opcodes[(how & 15) % 6]);
	if ((how & 15) == 7) /* the old multi-packet form */
		wqe[0] = 1;
	if ((how & 15) == 13)
		wqe[3] = SHCA_OPCODE_DUMP;
	wqe[11] = fuzz_input_byte(&mad.input) & 0x0c;
	if (wqe[3] == SHCA_OPCODE_DUMP) /* no ethernet segment */
		length = put_segments(wqe, length);
	else if (wqe[3] != MLX5_OPCODE_NOP)
		length = put_segments(wqe, put_eth(wqe));
	put32(wqe + 4, shca_sq_number(mad.sq) << 8 | (length / 16 & 63));
	if (how >= 0xe0) /* one byte of the first two segments is another */
		wqe[fuzz_input_byte(&mad.input) & 31] ^= fuzz_input_byte(&mad.input);
	nb_wqebbs = (length + 63) / 64;
	put_ring(mad.sq_attr.ring, mad.sq_shadow, (size_t)mad.sq_attr.nb_wqebbs * 64,
		(size_t)mad.sq_pi * 64, wqe, (size_t)nb_wqebbs * 64);
	mad.sq_pi += (uint16_t)nb_wqebbs;
	if (how & 0x10)
		mad.sq_attr.dbrec[1] = htobe32(mad.sq_pi);
}

static void
receive_wqe(void)
{
	uint32_t bytes = mad.rq_attr.stride_bytes, offset = 0;
	uint8_t wqe[256] = { 0 }, how = fuzz_input_byte(&mad.input);

	offset = 16u * (mad.rq_attr.has_signature + (mad.rq_attr.log_strides != 0));
	for (; offset + 16 <= bytes; offset += 16) {
		if ((how & 3) != 0 && fuzz_input_byte(&mad.input) < 0x80) {
			put32(wqe + offset + 4, 0x100); /* the list ends */
			break;
		}
		put_pointer(wqe + offset, how & 4 ? 256 : 4096);
	}
	if (how >= 0xe0)
		fuzz_input_fill(&mad.input, wqe, bytes);
	put_ring(mad.rq_attr.ring, mad.rq_shadow, (size_t)mad.rq_attr.nb_wqes * bytes,
		(size_t)mad.rq_pi * bytes, wqe, bytes);
	mad.rq_pi++;
	mad.rq_attr.dbrec[0] = htobe32(mad.rq_pi);
}

static void
scribble(void)
{
	uint8_t how = fuzz_input_byte(&mad.input), bytes[32];
	size_t offset = fuzz_input_word(&mad.input) & 0xffff;

	fuzz_input_fill(&mad.input, bytes, how & 31);
	if (how & 0x80)
		put_ring(mad.sq_attr.ring, mad.sq_shadow, (size_t)mad.sq_attr.nb_wqebbs * 64,
			offset, bytes, how & 31);
	else
		put_ring(mad.rq_attr.ring, mad.rq_shadow,
			(size_t)mad.rq_attr.nb_wqes * mad.rq_attr.stride_bytes, offset, bytes,
			how & 31);
}

static void
ring_doorbell(void)
{
	uint8_t how = fuzz_input_byte(&mad.input);
	uint32_t value = fuzz_input_word(&mad.input);

	switch (how & 7) {
	case 0:
		mad.sq_attr.dbrec[1] = htobe32(value);
		break;
	case 1:
		mad.rq_attr.dbrec[0] = htobe32(value);
		break;
	case 2:
		mad.sq_pi += value & 3;
		mad.sq_attr.dbrec[1] = htobe32(mad.sq_pi);
		break;
	case 3:
		mad.rq_pi += value & 3;
		mad.rq_attr.dbrec[0] = htobe32(mad.rq_pi);
		break;
	case 4:
		mad.tx.attr.dbrec[value & 1] = htobe32(value);
		break;
	case 5:
		mad.rx.attr.dbrec[value & 1] = htobe32(value);
		break;
	default:
		mad.sq_attr.dbrec[1] = htobe32(mad.sq_pi);
	}
}

/** From the cable, or from Linux. */
static void
frame_comes(void)
{
	uint8_t frame[FUZZ_PACKET_ROOM];
	uint32_t length = fuzz_packet_build(&mad.input, frame);
	struct mad_wire *wire = fuzz_input_byte(&mad.input) & 1 ? &mad.kernel : &mad.wire;
	uint8_t *copy;

	if (wire->nb_coming == NB_COMING || length == 0)
		return;
	copy = malloc(length);
	FUZZ_CHECK(copy != NULL);
	memcpy(copy, frame, length);
	wire->length[wire->nb_coming] = length;
	wire->coming[wire->nb_coming++] = copy;
}

static void
change_state(void)
{
	uint8_t how = fuzz_input_byte(&mad.input);
	enum shca_queue_state state = (how >> 1 & 3) % 3;

	if (how & 1) {
		shca_sq_modify(mad.sq, state);
		mad.sq_pi = state == SHCA_QUEUE_RESET ? 0 : mad.sq_pi;
	} else {
		shca_rq_modify(mad.rq, state);
		mad.rq_pi = state == SHCA_QUEUE_RESET ? 0 : mad.rq_pi;
	}
	if (how & 8 && state == SHCA_QUEUE_RESET) {
		mad.sq_attr.dbrec[1] = htobe32(mad.sq_pi);
		mad.rq_attr.dbrec[0] = htobe32(mad.rq_pi);
		shca_sq_modify(mad.sq, SHCA_QUEUE_READY);
		shca_rq_modify(mad.rq, SHCA_QUEUE_READY);
	}
	if (how & 16)
		shca_sq_set_rate(mad.sq, how, 0);
	if (how & 32)
		shca_device_set_link(mad.dev, how & 64);
	if (how & 128)
		mad.wire.room = how & 15;
}

static void
change_memory(void)
{
	struct shca_mem *mem = shca_device_mem(mad.dev);
	uint8_t how = fuzz_input_byte(&mad.input);

	shca_rq_set_cvlan_strip(mad.rq, how & 2);
	if (how & 1)
		return;
	/* Deregistration waits for what has been rung, as the kernel's system call does. */
	shca_device_catch_up(mad.dev);
	if (mad.region != NULL) {
		shca_mem_dereg(mem, mad.region);
		mad.region = NULL;
	} else {
		FUZZ_CHECK(shca_mem_reg(mem, mad.buffer + REGION_OFFSET, REGION_BYTES,
				   (uintptr_t)mad.buffer + REGION_OFFSET, PDN,
				   IB_UVERBS_ACCESS_LOCAL_WRITE, &mad.region) == 0);
	}
}

/** As a program that polls: opcodes are known ones, and name the queue they are of. */
static void
poll_cq(struct mad_cq *cq)
{
	for (uint32_t i = 0; i < cq->attr.nb_cqes; i++) {
		size_t slot = cq->ci & (cq->attr.nb_cqes - 1);
		struct shca_cqe cqe;

		memcpy(&cqe, cq->attr.ring + (slot + 1) * cq->attr.cqe_bytes - 64, sizeof(cqe));
		if (cqe.op_own >> 4 == MLX5_CQE_INVALID ||
			(cqe.op_own & 1) != (cq->ci / cq->attr.nb_cqes & 1))
			break;
		if (cq->attr.mini_format == SHCA_MINI_NONE) {
			uint8_t op = cqe.op_own >> 4;
			bool is_tx = op == MLX5_CQE_REQ || op == MLX5_CQE_REQ_ERR;

			FUZZ_CHECK(is_tx || op == MLX5_CQE_RESP_SEND || op == MLX5_CQE_RESP_ERR);
			FUZZ_CHECK(is_tx == (cq == &mad.tx));
			FUZZ_CHECK((be32toh(cqe.user_index) & 0xffffff) == USER_INDEX);
		}
		cq->ci++;
	}
	cq->attr.dbrec[0] = htobe32(cq->ci & 0xffffff);
}

static void
poll_both(void)
{
	poll_cq(&mad.tx);
	poll_cq(&mad.rx);
}

static void
step(void)
{
	if (mad.nb_steps++ < MAX_STEPS)
		FUZZ_CHECK(shca_device_step(mad.dev) <= MAX_ROUND);
}

static void
step_often(void)
{
	for (unsigned int nb = fuzz_input_byte(&mad.input) & 15; nb != 0; nb--)
		step();
}
/* @} */

static bool
is_clear(const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

/** What only the program writes. */
static void
check_untouched(void)
{
	const size_t sq_bytes = (size_t)mad.sq_attr.nb_wqebbs * SHCA_WQEBB_BYTES;
	const size_t rq_bytes = (size_t)mad.rq_attr.nb_wqes * mad.rq_attr.stride_bytes;
	const size_t end = REGION_OFFSET + REGION_BYTES;

	FUZZ_CHECK(memcmp(mad.sq_attr.ring, mad.sq_shadow, sq_bytes) == 0);
	FUZZ_CHECK(memcmp(mad.rq_attr.ring, mad.rq_shadow, rq_bytes) == 0);
	FUZZ_CHECK(is_clear(mad.buffer, REGION_OFFSET));
	FUZZ_CHECK(is_clear(mad.buffer + end, BUFFER_BYTES - end));
	FUZZ_CHECK(is_clear(mad.read_only, READ_ONLY_BYTES));
}

static void (*const operations[])(void) = { send_wqe, send_wqe, send_wqe, receive_wqe, receive_wqe,
	scribble, ring_doorbell, ring_doorbell, frame_comes, frame_comes, change_state,
	change_memory, poll_both, poll_both, step, step_often };

/** Errors are what this is about. */
static void
be_silent(void)
{
	setenv("SOFTHCA_LOG", "error", 0);
	for (unsigned int i = 0; i < SHCA_NB_FINDINGS; i++)
		findings.nb_printed[i] = SHCA_FINDINGS_PRINTED + 1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t bytes;

	be_silent();
	bytes = fuzz_check_allocated();
	memset(&mad, 0, sizeof(mad));
	mad.input = (struct fuzz_input){ .at = data, .end = data + size };
	set_up();
	for (unsigned int i = 0; i < MAX_OPERATIONS && fuzz_input_left(&mad.input); i++) {
		operations[fuzz_input_byte(&mad.input) & 15]();
		check_untouched();
	}
	for (unsigned int i = 0; i < 16; i++)
		step();
	check_untouched();
	tear_down();
	fuzz_check_freed(bytes);
	return 0;
}
