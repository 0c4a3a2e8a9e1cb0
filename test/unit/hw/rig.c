/* SPDX-License-Identifier: BSD-3-Clause */
/* A device with hand-made rings between two wires that the test plays. */
#include "rig.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "steering/steering.h"
#include "wire/faulty.h"

/** A page of its own each, so that tests can take one away. */
static void *
map(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

static void
keep(struct shca_frame *frame, const void *bytes, uint32_t length)
{
	uint8_t *copy = malloc(length != 0 ? length : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, length);
	*frame = (struct shca_frame){ copy, length };
}

static unsigned int
wire_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct rig_wire *self = (struct rig_wire *)wire;
	unsigned int i;

	for (i = 0; i < nb_frames && self->room != 0; i++, self->room--) {
		if (self->is_down) {
			self->nb_lost++;
			continue;
		}
		assert_uint_in_range(self->nb_sent, 0, RIG_WIRE_FRAMES - 1);
		assert_int_not_equal(frames[i].length, 0);
		/* Memory that is gone faults here, before the copy is allocated. */
		(void)*(const volatile uint8_t *)frames[i].bytes;
		keep(&self->sent[self->nb_sent], frames[i].bytes, frames[i].length);
		self->nb_sent++;
	}
	return i;
}

static unsigned int
wire_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	struct rig_wire *self = (struct rig_wire *)wire;
	unsigned int i;

	for (i = 0; i < nb_frames && self->nb_received < self->nb_coming; i++)
		frames[i] = self->coming[self->nb_received++];
	return i;
}

static void
wire_start(struct shca_wire *wire)
{
	((struct rig_wire *)wire)->nb_starts++;
}

static int
wire_fd(const struct shca_wire *wire)
{
	(void)wire;
	return -1;
}

static void
wire_look(struct shca_wire *wire, struct shca_netdev *netdev)
{
	const struct rig_wire *rig_wire = (struct rig_wire *)wire;

	*netdev = (struct shca_netdev){
		.is_up = !rig_wire->is_down,
		.is_promiscuous = rig_wire->promiscuous,
	};
	memcpy(netdev->mac, rig_wire->mac, sizeof(netdev->mac));
}

static bool
wire_is_patient(const struct shca_wire *wire)
{
	return ((const struct rig_wire *)wire)->patient;
}

static void
wire_set_carrier(struct shca_wire *wire, bool on)
{
	((struct rig_wire *)wire)->no_carrier = !on;
}

static uint64_t
wire_nb_lost(const struct shca_wire *wire)
{
	return ((const struct rig_wire *)wire)->nb_lost;
}

static void
wire_close(struct shca_wire *wire)
{
	(void)wire;
}

static const struct shca_wire_ops wire_ops = {
	.name = "rig",
	.tx = wire_tx,
	.rx = wire_rx,
	.start = wire_start,
	.fd = wire_fd,
	.look = wire_look,
	.is_patient = wire_is_patient,
	.set_carrier = wire_set_carrier,
	.nb_lost = wire_nb_lost,
	.close = wire_close,
};

void
rig_forget(struct rig_wire *wire)
{
	union {
		const uint8_t *bytes;
		void *memory;
	} frame;

	for (unsigned int i = 0; i < wire->nb_sent; i++) {
		frame.bytes = wire->sent[i].bytes;
		free(frame.memory);
	}
	for (unsigned int i = 0; i < wire->nb_coming; i++) {
		frame.bytes = wire->coming[i].bytes;
		free(frame.memory);
	}
	wire->nb_sent = wire->nb_coming = wire->nb_received = 0;
}

static void
on_cq_event(void *owner, enum shca_event event)
{
	struct rig_cq *cq = owner;

	if (event == SHCA_EVENT_COMPLETION)
		cq->nb_completion_events++;
	else
		cq->nb_error_events++;
}

static void
on_queue_event(void *owner, enum shca_event event)
{
	struct rig *rig = owner;

	if (event == SHCA_EVENT_QP_FATAL)
		rig->nb_sq_fatal++;
	else if (event == SHCA_EVENT_WQ_FATAL)
		rig->nb_rq_fatal++;
	else
		fail_msg("event %d on a queue", event);
}

void
rig_init(struct rig *rig)
{
	static const uint8_t key[40] = { 0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
		0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
		0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac,
		0x01, 0xfa };

	memset(rig, 0, sizeof(*rig));
	rig->model = *shca_model_at(0);
	rig->nb_cqes = 32;
	rig->cqe_bytes = 64;
	rig->sq_attr.nb_wqebbs = 16;
	rig->rq_attr.nb_wqes = 8;
	rig->rq_attr.stride_bytes = 16;
	memcpy(rig->tir_attr.key, key, sizeof(key));
	rig->wire.room = rig->kernel.room = UINT32_MAX;
	rig->wire.wire.ops = rig->kernel.wire.ops = &wire_ops;
}

static void
open_cq(struct rig *rig, struct rig_cq *cq, enum shca_mini_format mini_format)
{
	struct shca_cq_attr attr;

	cq->nb_cqes = rig->nb_cqes;
	cq->cqe_bytes = rig->cqe_bytes;
	cq->ring = map((size_t)cq->nb_cqes * cq->cqe_bytes);
	cq->dbrec = map(8);
	/* As libmlx5 prepares it. */
	for (uint32_t i = 0; i < cq->nb_cqes; i++)
		cq->ring[(i + 1) * cq->cqe_bytes - 1] = MLX5_CQE_INVALID << 4;
	attr = (struct shca_cq_attr){
		.ring = cq->ring,
		.dbrec = cq->dbrec,
		.nb_cqes = cq->nb_cqes,
		.cqe_bytes = cq->cqe_bytes,
		.ignore_overrun = rig->ignore_overrun,
		.pad = rig->pad,
		.mini_format = mini_format,
		.event = on_cq_event,
		.owner = cq,
	};
	assert_int_equal(shca_cq_create(rig->dev, &attr, &cq->cq), 0);
}

static void
open_queues(struct rig *rig)
{
	rig->sq_attr.ring = map((size_t)rig->sq_attr.nb_wqebbs * SHCA_WQEBB_BYTES);
	rig->sq_attr.dbrec = map(8);
	rig->sq_attr.pdn = RIG_PDN;
	rig->sq_attr.user_index = RIG_USER_INDEX;
	rig->sq_attr.cq = rig->tx.cq;
	rig->sq_attr.event = on_queue_event;
	rig->sq_attr.owner = rig;
	assert_int_equal(shca_sq_create(rig->dev, &rig->sq_attr, &rig->sq), 0);
	rig->rq_attr.ring = map((size_t)rig->rq_attr.nb_wqes * rig->rq_attr.stride_bytes);
	rig->rq_attr.dbrec = map(8);
	rig->rq_attr.pdn = RIG_PDN;
	rig->rq_attr.user_index = RIG_USER_INDEX;
	rig->rq_attr.cq = rig->rx.cq;
	rig->rq_attr.event = on_queue_event;
	rig->rq_attr.owner = rig;
	assert_int_equal(shca_rq_create(rig->dev, &rig->rq_attr, &rig->rq), 0);
	assert_int_equal(shca_sq_state(rig->sq), SHCA_QUEUE_RESET);
	assert_int_equal(shca_rq_state(rig->rq), SHCA_QUEUE_RESET);
	shca_sq_modify(rig->sq, SHCA_QUEUE_READY);
	shca_rq_modify(rig->rq, SHCA_QUEUE_READY);
	rig->tir_attr.rq = rig->rq;
	assert_int_equal(shca_tir_create(rig->dev, &rig->tir_attr, &rig->tir), 0);
}

static void
open_rule(struct rig *rig)
{
	struct shca_rule_attr attr = { .tir = rig->tir };

	if (rig->no_rule)
		return;
	assert_int_equal(shca_rule_add(shca_device_steering(rig->dev), &attr, &rig->rule), 0);
	shca_device_rules_changed(rig->dev);
}

void
rig_open(struct rig *rig)
{
	struct shca_device_conf conf = {
		.model = &rig->model,
		.mac = { 2, 0, 0, 0, 0, 1 },
		.is_vf = rig->is_vf,
		.kernel = rig->with_kernel ? &rig->kernel.wire : NULL,
		.findings = rig->findings,
		.faults = rig->faults,
		.kernel_abi = SHCA_KERNEL_6_1,
	};

	assert_int_equal(shca_faulty_wrap(rig->faults, 0, &rig->wire.wire, &rig->cable), 0);
	conf.wire = rig->cable;
	assert_int_equal(shca_device_create(&conf, &rig->dev), 0);
	shca_device_lock(rig->dev);
	open_cq(rig, &rig->tx, rig->tx_mini);
	open_cq(rig, &rig->rx, rig->rx_mini);
	open_queues(rig);
	open_rule(rig);
	rig->buffers = map(RIG_BUFFERS_BYTES);
	assert_int_equal(
		shca_mem_reg(shca_device_mem(rig->dev), rig->buffers, RIG_BUFFERS_BYTES,
			(uintptr_t)rig->buffers, RIG_PDN, IB_UVERBS_ACCESS_LOCAL_WRITE, &rig->mr),
		0);
	shca_device_unlock(rig->dev);
}

static void
close_cq(struct rig_cq *cq)
{
	shca_cq_destroy(cq->cq);
	munmap(cq->ring, (size_t)cq->nb_cqes * cq->cqe_bytes);
	munmap(cq->dbrec, 8);
}

void
rig_close(struct rig *rig)
{
	shca_device_lock(rig->dev);
	shca_rule_del(shca_device_steering(rig->dev), rig->rule);
	shca_tir_destroy(rig->tir);
	shca_rq_destroy(rig->rq);
	shca_sq_destroy(rig->sq);
	close_cq(&rig->tx);
	close_cq(&rig->rx);
	shca_mem_dereg(shca_device_mem(rig->dev), rig->mr);
	shca_device_unlock(rig->dev);
	shca_device_destroy(rig->dev);
	rig->cable->ops->close(rig->cable);
	munmap(rig->sq_attr.ring, (size_t)rig->sq_attr.nb_wqebbs * SHCA_WQEBB_BYTES);
	munmap(rig->sq_attr.dbrec, 8);
	munmap(rig->rq_attr.ring, (size_t)rig->rq_attr.nb_wqes * rig->rq_attr.stride_bytes);
	munmap(rig->rq_attr.dbrec, 8);
	munmap(rig->buffers, RIG_BUFFERS_BYTES);
	rig_forget(&rig->wire);
	rig_forget(&rig->kernel);
}

void
rig_run(struct rig *rig)
{
	for (unsigned int i = 0; i < 1000; i++)
		if (shca_device_step(rig->dev) == 0)
			return;
	fail_msg("the device never comes to rest");
}

uint64_t
rig_place(struct rig *rig, uint32_t offset, const void *bytes, uint32_t length)
{
	uint8_t *to = rig->buffers + RIG_TX_OFFSET + offset;

	assert_uint_in_range(offset + length, 0, RIG_BUFFERS_BYTES - RIG_TX_OFFSET);
	memcpy(to, bytes, length);
	return (uintptr_t)to;
}

void
rig_come(struct rig_wire *wire, const void *bytes, uint32_t length)
{
	assert_uint_in_range(wire->nb_coming, 0, RIG_WIRE_FRAMES - 1);
	keep(&wire->coming[wire->nb_coming++], bytes, length);
}

void
rig_wqe_start(struct rig_wqe *wqe, uint8_t opcode, enum shca_ce ce)
{
	memset(wqe, 0, sizeof(*wqe));
	wqe->bytes[3] = opcode;
	wqe->bytes[11] = (uint8_t)(ce << 2);
	wqe->length = 16;
}

void
rig_wqe_eth(
	struct rig_wqe *wqe, uint8_t cs_flags, uint16_t mss, const void *header, uint16_t length)
{
	wqe->bytes[20] = cs_flags;
	rig_put16(wqe->bytes + 22, mss);
	rig_put16(wqe->bytes + 28, length);
	if (length != 0)
		memcpy(wqe->bytes + 30, header, length);
	wqe->length = (30u + length + 15) & ~15u;
}

void
rig_wqe_eth_vlan(struct rig_wqe *wqe, uint8_t cs_flags, uint16_t insert, uint16_t tci)
{
	wqe->bytes[20] = cs_flags;
	rig_put16(wqe->bytes + 28, insert);
	rig_put16(wqe->bytes + 30, tci);
	wqe->length = 32;
}

void
rig_wqe_pointer(struct rig_wqe *wqe, uint32_t lkey, uint64_t address, uint32_t length)
{
	struct mlx5_wqe_data_seg segment = rig_segment(length, lkey, address);

	memcpy(wqe->bytes + wqe->length, &segment, sizeof(segment));
	wqe->length += sizeof(segment);
}

void
rig_wqe_inline(struct rig_wqe *wqe, const void *bytes, uint32_t length)
{
	uint32_t byte_count = htobe32(0x80000000 | length);

	memcpy(wqe->bytes + wqe->length, &byte_count, sizeof(byte_count));
	memcpy(wqe->bytes + wqe->length + sizeof(byte_count), bytes, length);
	wqe->length = (wqe->length + 4 + length + 15) & ~15u;
}

void
rig_number(const struct rig *rig, struct rig_wqe *wqe)
{
	uint32_t sqn = shca_sq_number(rig->sq);

	rig_put16(wqe->bytes + 1, rig->sq_pi);
	rig_put16(wqe->bytes + 4, (uint16_t)(sqn >> 8));
	wqe->bytes[6] = (uint8_t)sqn;
	wqe->bytes[7] = (uint8_t)(wqe->length / 16);
}

void
rig_post_raw(struct rig *rig, const struct rig_wqe *wqe, unsigned int nb_wqebbs)
{
	for (unsigned int i = 0; i < nb_wqebbs; i++, rig->sq_pi++)
		memcpy(rig->sq_attr.ring + (size_t)(rig->sq_pi & (rig->sq_attr.nb_wqebbs - 1)) * 64,
			wqe->bytes + (size_t)i * 64, 64);
	__atomic_store_n(&rig->sq_attr.dbrec[1], htobe32(rig->sq_pi), __ATOMIC_RELEASE);
}

uint16_t
rig_post(struct rig *rig, struct rig_wqe *wqe)
{
	uint16_t index = rig->sq_pi;

	rig_number(rig, wqe);
	rig_post_raw(rig, wqe, (wqe->length + 63) / 64);
	return index;
}

uint16_t
rig_send(struct rig *rig, uint32_t offset, uint32_t length, enum shca_ce ce)
{
	struct rig_wqe wqe;

	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, ce);
	rig_wqe_eth(&wqe, 0, 0, "", 0);
	rig_wqe_pointer(
		&wqe, rig->mr->lkey, (uintptr_t)rig->buffers + RIG_TX_OFFSET + offset, length);
	return rig_post(rig, &wqe);
}

struct mlx5_wqe_data_seg
rig_segment(uint32_t length, uint32_t lkey, uint64_t address)
{
	return (struct mlx5_wqe_data_seg){ htobe32(length), htobe32(lkey), htobe64(address) };
}

void
rig_post_rx(struct rig *rig, const struct mlx5_wqe_data_seg *segments, unsigned int nb)
{
	uint32_t slot = rig->rq_pi & (rig->rq_attr.nb_wqes - 1);
	uint8_t *wqe = rig->rq_attr.ring + (size_t)slot * rig->rq_attr.stride_bytes;
	struct mlx5_wqe_data_seg end = rig_segment(0, MLX5_INVALID_LKEY, 0);

	if (rig->rq_attr.has_signature)
		wqe += 16;
	memcpy(wqe, segments, nb * sizeof(*segments));
	if ((nb + rig->rq_attr.has_signature) * 16 < rig->rq_attr.stride_bytes)
		memcpy(wqe + nb * sizeof(end), &end, sizeof(end));
	rig->rq_pi++;
	__atomic_store_n(&rig->rq_attr.dbrec[0], htobe32(rig->rq_pi), __ATOMIC_RELEASE);
}

void
rig_fill_rx(struct rig *rig, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		uint32_t slot = rig->rq_pi & (rig->rq_attr.nb_wqes - 1);
		struct mlx5_wqe_data_seg segment = rig_segment(RIG_RX_BYTES, rig->mr->lkey,
			(uintptr_t)rig->buffers + (size_t)slot * RIG_RX_BYTES);

		rig_post_rx(rig, &segment, 1);
	}
}

bool
rig_poll(struct rig_cq *cq, struct shca_cqe *cqe)
{
	uint8_t *slot = cq->ring + (size_t)(cq->ci & (cq->nb_cqes - 1)) * cq->cqe_bytes +
		cq->cqe_bytes - 64;
	uint8_t op_own = __atomic_load_n(slot + 63, __ATOMIC_ACQUIRE);
	uint8_t owner = cq->ci / cq->nb_cqes & 1;

	if (op_own >> 4 == MLX5_CQE_INVALID || (op_own & 1) != owner)
		return false;
	memcpy(cqe, slot, sizeof(*cqe));
	cq->ci++;
	__atomic_store_n(&cq->dbrec[0], htobe32(cq->ci & 0xffffff), __ATOMIC_RELEASE);
	return true;
}

void
rig_expect_error(struct rig_cq *cq, uint8_t op, uint8_t syndrome, uint16_t wqe_counter)
{
	struct shca_cqe cqe;
	struct shca_cqe_error error;

	assert_true(rig_poll(cq, &cqe));
	memcpy(&error, &cqe, sizeof(error));
	assert_int_equal(error.op_own >> 4, op);
	assert_int_equal(error.syndrome, syndrome);
	assert_int_equal(be16toh(error.wqe_counter), wqe_counter);
	assert_int_equal(be32toh(error.user_index), RIG_USER_INDEX);
}

void
rig_arm(struct rig_cq *cq, uint8_t sn, bool solicited)
{
	uint32_t word = (uint32_t)(sn & 3) << 28 | (solicited ? 1u << 24 : 0) | (cq->ci & 0xffffff);

	__atomic_store_n(&cq->dbrec[1], htobe32(word), __ATOMIC_RELEASE);
}

uint32_t
rig_frame(uint8_t *bytes, uint32_t length, uint8_t seed)
{
	static const uint8_t header[14] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5 };

	for (uint32_t i = 0; i < length; i++)
		bytes[i] = i < sizeof(header) ? header[i] : (uint8_t)(i * 7 + seed);
	return length;
}

void
rig_put16(uint8_t *bytes, uint16_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

uint16_t
rig_get16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

uint16_t
rig_naive_sum(const uint8_t *bytes, uint32_t length, uint32_t start)
{
	uint32_t sum = start;

	for (uint32_t i = 0; i < length; i += 2) {
		sum += (uint32_t)bytes[i] << 8 | (i + 1 < length ? bytes[i + 1] : 0);
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return (uint16_t)sum;
}

uint32_t
rig_naive_pseudo(const uint8_t *ip, uint8_t protocol, uint32_t length)
{
	bool is_v6 = ip[0] >> 4 == 6;
	uint32_t addresses = rig_naive_sum(ip + (is_v6 ? 8 : 12), is_v6 ? 32 : 8, 0);

	return addresses + protocol + length;
}

static uint8_t *
put_l4(uint8_t *l4, bool is_tcp, uint32_t payload)
{
	uint32_t header = is_tcp ? 20 : 8;

	memset(l4, 0, header);
	rig_put16(l4, 1000);
	rig_put16(l4 + 2, 53);
	if (is_tcp) {
		rig_put16(l4 + 6, 0x1234); /* sequence number, low half */
		l4[12] = 0x50;
		l4[13] = 0x10; /* ACK */
	} else {
		rig_put16(l4 + 4, (uint16_t)(8 + payload));
	}
	for (uint32_t i = 0; i < payload; i++)
		l4[header + i] = (uint8_t)(i * 3 + 1);
	return l4 + header + payload;
}

uint32_t
rig_packet(uint8_t *bytes, enum rig_packet kind, bool vlan, uint32_t payload)
{
	bool is_v6 = kind == RIG_IPV6_UDP || kind == RIG_IPV6_TCP;
	bool is_tcp = kind == RIG_IPV4_TCP || kind == RIG_IPV6_TCP;
	uint32_t ip_header = is_v6 ? 40 : 20;
	uint8_t *ip = bytes + (vlan ? 18 : 14);
	uint8_t *l4 = ip + ip_header;
	uint8_t *end = put_l4(l4, is_tcp, payload);
	uint32_t l4_length = (uint32_t)(end - l4);
	uint8_t protocol = is_tcp ? 6 : 17;

	rig_frame(bytes, 14, 0);
	if (vlan) {
		rig_put16(bytes + 12, 0x8100);
		rig_put16(bytes + 14, 0x6005);
	}
	rig_put16(ip - 2, is_v6 ? 0x86dd : 0x0800);
	memset(ip, 0, ip_header);
	if (is_v6) {
		ip[0] = 0x60;
		rig_put16(ip + 4, (uint16_t)l4_length);
		ip[6] = protocol;
		ip[7] = 64;
		memset(ip + 8, 0x20, 16);
		memset(ip + 24, 0x31, 16);
	} else {
		ip[0] = 0x45;
		rig_put16(ip + 2, (uint16_t)(20 + l4_length));
		rig_put16(ip + 4, 0x0102);
		ip[8] = 64;
		ip[9] = protocol;
		memcpy(ip + 12, "\x0a\x00\x00\x01\x0a\x00\x00\x02", 8);
		rig_put16(ip + 10, (uint16_t)~rig_naive_sum(ip, 20, 0));
	}
	rig_put16(l4 + (is_tcp ? 16 : 6),
		(uint16_t)~rig_naive_sum(l4, l4_length, rig_naive_pseudo(ip, protocol, l4_length)));
	return (uint32_t)(end - bytes);
}

uint32_t
rig_vxlan(uint8_t *bytes, const uint8_t *inner, uint32_t inner_length)
{
	uint32_t length = rig_packet(bytes, RIG_IPV4_UDP, false, 8 + inner_length);
	uint8_t *udp = bytes + 34;

	rig_put16(udp + 2, 4789);
	memcpy(udp + 8, "\x08\x00\x00\x00\x00\x00\x2a\x00", 8);
	memcpy(udp + 16, inner, inner_length);
	rig_put16(udp + 6, 0);
	rig_put16(udp + 6,
		(uint16_t)~rig_naive_sum(
			udp, length - 34, rig_naive_pseudo(bytes + 14, 17, length - 34)));
	return length;
}
