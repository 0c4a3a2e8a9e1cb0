/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Received frames of RoCE, to an RC, a UC and a UD queue pair in RTS that post anything meanwhile:
 * requests and answers that fit, nearly fit, or are any bytes. The device may break the queue
 * pairs, but it writes only to memory that was registered with write access, and what it sends is
 * right: rings and buffers are allocations of their exact sizes, and the rest of a buffer is
 * compared.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "base/mem.h"
#include "base/node.h"
#include "check.h"
#include "config/model.h"
#include "hw/device/device.h"
#include "hw/format/hw.h"
#include "hw/queue/cq.h"
#include "hw/roce/roce_qp.h"
#include "input.h"
#include "transport/packet/roce.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	PDN = 7,
	NB_QPS = 3, /* one a type */
	NB_CQES = 64,
	NB_WQEBBS = 8,
	NB_WQES = 8,
	STRIDE = 32,
	MTU = 256,
	BUFFER_BYTES = 4096,
	REGION_OFFSET = 512,
	REGION_BYTES = 3072,
	READ_ONLY_BYTES = 512,
	GUARD = 0xa5,
	QKEY = 0x11,
	PSN = 0xfffffc,
	PAYLOAD_MAX = MTU + 8,
	MAX_STEPS = 400,
};

static struct mad {
	struct fuzz_input input;
	struct shca_wire wire;
	struct shca_device *dev;
	struct shca_cq *cq;
	uint8_t *cq_ring, *buffer, *read_only;
	__be32 *cq_dbrec;
	struct shca_mr *region, *read_only_region;
	struct {
		struct shca_roce_qp *qp;
		struct shca_roce_qp_attr attr;
		uint16_t sq_pi, rq_pi;
	} end[NB_QPS];
	struct shca_roce_path path; /* of frames that come */
	uint8_t *frame;
	uint32_t frame_bytes;
	bool is_there;
	unsigned int nb_sent;
} mad;

static const uint8_t own_mac[6] = { 2, 0, 0, 0, 0, 0x10 };
static const uint8_t peer_mac[6] = { 2, 0, 0, 0, 0, 0x20 };

static void *
exact(size_t bytes, int fill)
{
	void *memory;

	FUZZ_CHECK(posix_memalign(&memory, 64, bytes) == 0);
	memset(memory, fill, bytes);
	return memory;
}

/** What leaves can be read by the other side. */
static unsigned int
wire_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	(void)wire;
	for (unsigned int i = 0; i < nb_frames; i++) {
		struct shca_roce_path path;
		struct shca_bth bth;

		FUZZ_CHECK(shca_roce_read(frames[i].bytes, frames[i].length, &path, &bth) ==
			SHCA_ROCE_GOOD);
		FUZZ_CHECK(memcmp(path.smac, own_mac, sizeof(own_mac)) == 0);
		FUZZ_CHECK(bth.payload_bytes <= 4096);
		mad.nb_sent++;
	}
	return nb_frames;
}

static unsigned int
wire_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	(void)wire;
	if (!mad.is_there || nb_frames == 0)
		return 0;
	mad.is_there = false;
	frames[0] = (struct shca_frame){ mad.frame, mad.frame_bytes };
	return 1;
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
	(void)event;
}

static void
open_qp(unsigned int i)
{
	struct shca_roce_qp_conf conf = {
		.path = mad.path,
		.dest_qpn = 0x77,
		.qkey = QKEY,
		.mtu = MTU,
		.sq_psn = PSN,
		.rq_psn = PSN,
		.access = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ |
			IB_UVERBS_ACCESS_REMOTE_ATOMIC,
		.max_rd_atomic = 2,
		.max_dest_rd_atomic = 2,
		.timeout = 1,
		.retries = 7,
		.rnr_retries = 7,
	};
	struct shca_roce_qp_attr *attr = &mad.end[i].attr;

	memcpy(conf.path.smac, own_mac, sizeof(own_mac));
	memcpy(conf.path.dmac, peer_mac, sizeof(peer_mac));
	memcpy(conf.path.sgid, mad.path.dgid, sizeof(conf.path.sgid));
	memcpy(conf.path.dgid, mad.path.sgid, sizeof(conf.path.dgid));
	*attr = (struct shca_roce_qp_attr){
		.type = (enum shca_roce_type)i,
		.sq_ring = exact(NB_WQEBBS * SHCA_WQEBB_BYTES, 0),
		.rq_ring = exact(NB_WQES * STRIDE, 0),
		.dbrec = exact(8, 0),
		.nb_wqebbs = NB_WQEBBS,
		.nb_wqes = NB_WQES,
		.stride_bytes = STRIDE,
		.pdn = PDN,
		.send_cq = mad.cq,
		.recv_cq = mad.cq,
		.event = on_event,
		.owner = &mad,
	};
	FUZZ_CHECK(shca_roce_qp_create(mad.dev, attr, &mad.end[i].qp) == 0);
	for (enum shca_roce_state state = SHCA_ROCE_INIT; state <= SHCA_ROCE_RTS; state++)
		shca_roce_qp_modify(mad.end[i].qp, state, &conf);
}

static void
set_up(void)
{
	struct shca_device_conf conf = { .model = shca_model_at(0), .wire = &mad.wire };
	struct shca_cq_attr cq_attr = {
		.nb_cqes = NB_CQES,
		.cqe_bytes = 64,
		.ignore_overrun = true,
		.event = on_event,
		.owner = &mad,
	};
	const uint32_t all = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
		IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC;
	struct shca_mem *mem;

	memcpy(conf.mac, own_mac, sizeof(own_mac));
	mad.wire.ops = &wire_ops;
	FUZZ_CHECK(shca_device_create(&conf, &mad.dev) == 0);
	mem = shca_device_mem(mad.dev);
	cq_attr.ring = mad.cq_ring = exact(NB_CQES * 64, 0);
	cq_attr.dbrec = mad.cq_dbrec = exact(8, 0);
	FUZZ_CHECK(shca_cq_create(mad.dev, &cq_attr, &mad.cq) == 0);
	mad.buffer = exact(BUFFER_BYTES, GUARD);
	mad.read_only = exact(READ_ONLY_BYTES, GUARD);
	FUZZ_CHECK(shca_mem_reg(mem, mad.buffer + REGION_OFFSET, REGION_BYTES,
			   (uintptr_t)mad.buffer + REGION_OFFSET, PDN, all, &mad.region) == 0);
	FUZZ_CHECK(shca_mem_reg(mem, mad.read_only, READ_ONLY_BYTES, 0, PDN,
			   IB_UVERBS_ACCESS_REMOTE_READ, &mad.read_only_region) == 0);
	mad.path.is_v2 = fuzz_input_choose(&mad.input, 2);
	mad.path.hop_limit = 64;
	memcpy(mad.path.dmac, own_mac, sizeof(own_mac));
	memcpy(mad.path.smac, peer_mac, sizeof(peer_mac));
	shca_node_gid(own_mac, mad.path.dgid);
	shca_node_gid(peer_mac, mad.path.sgid);
	for (unsigned int i = 0; i < NB_QPS; i++)
		open_qp(i);
}

static void
tear_down(void)
{
	for (unsigned int i = 0; i < NB_QPS; i++) {
		shca_roce_qp_destroy(mad.end[i].qp);
		free(mad.end[i].attr.sq_ring);
		free(mad.end[i].attr.rq_ring);
		free(mad.end[i].attr.dbrec);
	}
	shca_device_step(mad.dev);
	shca_cq_destroy(mad.cq);
	shca_mem_dereg(shca_device_mem(mad.dev), mad.region);
	shca_mem_dereg(shca_device_mem(mad.dev), mad.read_only_region);
	shca_device_destroy(mad.dev);
	free(mad.cq_ring);
	free(mad.cq_dbrec);
	free(mad.buffer);
	free(mad.read_only);
	free(mad.frame);
}

/** A region's key or another's, or none. */
static uint32_t
choose_key(uint8_t how)
{
	return (how & 15) == 0    ? fuzz_input_word(&mad.input)
		: (how & 15) == 1 ? mad.read_only_region->lkey
				  : mad.region->lkey;
}

static uint64_t
choose_address(uint8_t how)
{
	const uint32_t offset = fuzz_input_word(&mad.input) % (REGION_BYTES + 16);

	if ((how & 15) == 1)
		return offset % (READ_ONLY_BYTES + 16);
	return (how & 15) == 2 ? fuzz_input_word(&mad.input)
			       : (uintptr_t)mad.buffer + REGION_OFFSET + (offset & ~7u);
}

static void
put32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

static void
put_segment(uint8_t *at)
{
	const uint8_t how = fuzz_input_byte(&mad.input);
	const uint64_t address = choose_address(how);

	put32(at, fuzz_input_word(&mad.input) % (4 * MTU));
	put32(at + 4, choose_key(how));
	put32(at + 8, (uint32_t)(address >> 32));
	put32(at + 12, (uint32_t)address);
}

static void
post_receive(unsigned int i)
{
	uint8_t *wqe = mad.end[i].attr.rq_ring + (mad.end[i].rq_pi % NB_WQES) * STRIDE;

	put_segment(wqe);
	put_segment(wqe + 16);
	mad.end[i].rq_pi = (uint16_t)(mad.end[i].rq_pi + 1);
	mad.end[i].attr.dbrec[MLX5_RCV_DBR] = htobe32(mad.end[i].rq_pi);
}

static void
post_send(unsigned int i)
{
	static const uint8_t opcodes[] = { MLX5_OPCODE_SEND, MLX5_OPCODE_SEND_IMM,
		MLX5_OPCODE_SEND_INVAL, MLX5_OPCODE_RDMA_WRITE, MLX5_OPCODE_RDMA_WRITE_IMM,
		MLX5_OPCODE_RDMA_READ, MLX5_OPCODE_ATOMIC_CS, MLX5_OPCODE_ATOMIC_FA };
	uint8_t *wqe = mad.end[i].attr.sq_ring + (mad.end[i].sq_pi % NB_WQEBBS) * SHCA_WQEBB_BYTES;
	const uint8_t opcode = opcodes[fuzz_input_choose(&mad.input, sizeof(opcodes))];

	memset(wqe, 0, SHCA_WQEBB_BYTES);
	put32(wqe, (uint32_t)mad.end[i].sq_pi << 8 | opcode);
	put32(wqe + 4, 4);
	wqe[11] = fuzz_input_byte(&mad.input);
	fuzz_input_fill(&mad.input, wqe + 16, 16);
	put_segment(wqe + 32);
	put_segment(wqe + 48);
	if (opcode <= MLX5_OPCODE_SEND_IMM && opcode >= MLX5_OPCODE_SEND)
		put_segment(wqe + 16);
	mad.end[i].sq_pi = (uint16_t)(mad.end[i].sq_pi + 1);
	mad.end[i].attr.dbrec[MLX5_SND_DBR] = htobe32(mad.end[i].sq_pi);
}

/** A frame whose ICRC is right; some of its bytes need not be. */
static void
come(unsigned int i)
{
	static const uint8_t services[NB_QPS] = { SHCA_BTH_RC, SHCA_BTH_UC, SHCA_BTH_UD };
	static uint8_t payload[PAYLOAD_MAX];
	uint8_t bytes[SHCA_ROCE_OVERHEAD + PAYLOAD_MAX];
	const uint8_t how = fuzz_input_byte(&mad.input);
	uint32_t sq_psn, rq_psn, at;
	struct shca_bth bth;

	shca_roce_qp_psns(mad.end[i].qp, &sq_psn, &rq_psn);
	bth = (struct shca_bth){
		.opcode = services[i] | (fuzz_input_byte(&mad.input) & SHCA_BTH_OP_MASK),
		.ack_req = how & 16,
		.solicited = how & 32,
		.pkey = 0xffff,
		.qpn = shca_roce_qp_number(mad.end[i].qp),
		.qkey = QKEY,
		.va = choose_address(how),
		.rkey = choose_key(how),
		.dma_length = fuzz_input_word(&mad.input) % (4 * MTU),
		.syndrome = fuzz_input_byte(&mad.input),
		.payload = payload,
	};
	if (!shca_bth_is_known(bth.opcode))
		return;
	bth.psn = shca_bth_has_aeth(bth.opcode) ? sq_psn : rq_psn;
	bth.psn = (bth.psn + fuzz_input_choose(&mad.input, 8) - (how & 64 ? 6 : 0)) & SHCA_PSN_MASK;
	if (shca_bth_has_payload(bth.opcode))
		bth.payload_bytes = how & 128 ? MTU : fuzz_input_word(&mad.input) % PAYLOAD_MAX;
	at = shca_roce_write_headers(&mad.path, &bth, bytes);
	memset(bytes + at, how, bth.payload_bytes);
	if (fuzz_input_choose(&mad.input, 16) == 0)
		bytes[fuzz_input_choose(&mad.input, at)] ^= fuzz_input_byte(&mad.input);
	mad.frame_bytes = shca_roce_finish(&mad.path, &bth, bytes);
	if (fuzz_input_choose(&mad.input, 32) == 0)
		mad.frame_bytes = fuzz_input_word(&mad.input) % mad.frame_bytes;
	free(mad.frame);
	mad.frame = exact(mad.frame_bytes + (mad.frame_bytes == 0), 0);
	memcpy(mad.frame, bytes, mad.frame_bytes);
	mad.is_there = mad.frame_bytes != 0;
}

static void
check_guards(void)
{
	for (uint32_t i = 0; i < BUFFER_BYTES; i++)
		if (i < REGION_OFFSET || i >= REGION_OFFSET + REGION_BYTES)
			FUZZ_CHECK(mad.buffer[i] == GUARD);
	for (uint32_t i = 0; i < READ_ONLY_BYTES; i++)
		FUZZ_CHECK(mad.read_only[i] == GUARD);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t before = fuzz_check_allocated();

	memset(&mad, 0, sizeof(mad));
	mad.input = (struct fuzz_input){ .at = data, .end = data + size };
	set_up();
	for (unsigned int nb = 0; fuzz_input_left(&mad.input) && nb < MAX_STEPS; nb++) {
		const unsigned int i = fuzz_input_choose(&mad.input, NB_QPS);

		switch (fuzz_input_choose(&mad.input, 8)) {
		case 0:
			post_receive(i);
			break;
		case 1:
			post_send(i);
			break;
		default:
			come(i);
		}
		shca_device_step(mad.dev);
	}
	check_guards();
	tear_down();
	fuzz_check_freed(before);
	return 0;
}
