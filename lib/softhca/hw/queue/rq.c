/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive queue: take a WQE, scatter, complete. */
#include "hw/queue/rq.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "hw/check/bus.h"
#include "hw/check/inject.h"
#include "hw/check/strict.h"
#include "hw/format/csum.h"
#include "hw/queue/cq.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"
#include "hw/state/rq.h"
#include "steering/match/parse.h"

#define MAX_WQES         (1u << 15)
#define MAX_STRIDE_BYTES 1024
#define MAX_SEGMENTS     (MAX_STRIDE_BYTES / SHCA_DS_BYTES)

#define VLAN_TAG_OFFSET 12
#define VLAN_TAG_BYTES  4
#define TPID_CVLAN      0x8100
#define FCS_BYTES       4
#define TWO_BYTES       2 /* in front of a frame, to align its IP header */

static bool
is_power_of_two(uint32_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

static uint32_t
header_bytes(const struct shca_rq_attr *attr)
{
	return SHCA_DS_BYTES * ((attr->has_signature ? 1u : 0u) + (attr->log_strides != 0));
}

static bool
is_geometry_valid(const struct shca_rq_attr *attr)
{
	return is_power_of_two(attr->nb_wqes) && attr->nb_wqes <= MAX_WQES &&
		is_power_of_two(attr->stride_bytes) && attr->stride_bytes <= MAX_STRIDE_BYTES &&
		attr->stride_bytes >= header_bytes(attr) + SHCA_DS_BYTES &&
		(uintptr_t)attr->dbrec % SHCA_DBREC_BYTES == 0 && attr->cq != NULL;
}

int
shca_rq_create(struct shca_device *dev, const struct shca_rq_attr *attr, struct shca_rq **out)
{
	struct shca_rq *rq;
	int ret;

	if (!is_geometry_valid(attr))
		return -EINVAL;
	if (!shca_mem_can_pin(attr->ring, (uint64_t)attr->nb_wqes * attr->stride_bytes, false) ||
		!shca_mem_can_pin(attr->dbrec, SHCA_DBREC_BYTES, false))
		return -EFAULT;
	if (!shca_cq_has_clock(attr->cq))
		return -EOPNOTSUPP;
	rq = calloc(1, sizeof(*rq));
	if (rq == NULL)
		return -ENOMEM;
	ret = shca_idtable_add(&dev->queue_numbers, rq, &rq->number);
	if (ret != 0) {
		free(rq);
		return ret;
	}
	rq->dev = dev;
	rq->attr = *attr;
	rq->header_bytes = (uint8_t)header_bytes(attr);
	rq->nb_segments = (uint8_t)((attr->stride_bytes - rq->header_bytes) / SHCA_DS_BYTES);
	rq->state = SHCA_QUEUE_RESET;
	rq->serial = dev->nb_created++;
	rq->ordinal = ++dev->nb_made.rqs;
	rq->is_faulty = shca_inject_concerns(dev, SHCA_FAULT_RQ_ERROR, SHCA_FAULT_RQ_FATAL);
	rq->is_watched = rq->is_faulty || dev->pci != NULL;
	LIST_INSERT_HEAD(&dev->rqs, rq, link);
	if (shca_is_strict(dev))
		shca_strict_rq_created(rq);
	*out = rq;
	return 0;
}

void
shca_rq_destroy(struct shca_rq *rq)
{
	if (rq == NULL)
		return;
	LIST_REMOVE(rq, link);
	shca_idtable_del(&rq->dev->queue_numbers, rq->number);
	free(rq);
}

uint32_t
shca_rq_number(const struct shca_rq *rq)
{
	return rq->number;
}

enum shca_queue_state
shca_rq_state(const struct shca_rq *rq)
{
	return rq->state;
}

/** The next step flushes the queue: it catches faults on the application's memory. */
void
shca_rq_modify(struct shca_rq *rq, enum shca_queue_state state)
{
	if (state == SHCA_QUEUE_RESET) {
		rq->ci = 0;
		rq->pi_seen = 0;
		rq->has_begun = false;
		rq->stride = 0;
		rq->dead = false;
		shca_bus_rq_begin(rq);
	}
	rq->first_syndrome = 0;
	rq->state = state;
}

uint64_t
shca_rq_out_of_buffer(const struct shca_rq *rq)
{
	return rq->count.out_of_buffer;
}

void
shca_rq_set_cvlan_strip(struct shca_rq *rq, bool on)
{
	rq->attr.cvlan_strip = on;
}

static void
fail_fatally(struct shca_rq *rq)
{
	rq->state = SHCA_QUEUE_ERROR;
	rq->dead = true;
	shca_notify(rq->attr.event, rq->attr.owner, SHCA_EVENT_WQ_FATAL);
}

/** @return whether the queue takes off the tag that the frame begins with. */
static bool
strips(const struct shca_rq *rq, const struct shca_packet *packet)
{
	return rq->attr.cvlan_strip && packet->outer.nb_vlans != 0 &&
		packet->outer.vlan_tpid == TPID_CVLAN;
}

/** @return how many bytes of the packet the queue writes. */
static uint32_t
cut_length(const struct shca_rq *rq, const struct shca_packet *packet)
{
	return packet->length - (strips(rq, packet) ? VLAN_TAG_BYTES : 0) +
		(rq->attr.scatter_fcs ? FCS_BYTES : 0);
}

/** Strides of WQE ci that are free. */
static inline uint32_t
strides_left(const struct shca_rq *rq)
{
	return (1u << rq->attr.log_strides) - rq->stride;
}

/** @return the strides of a frame of @p length bytes. */
static inline uint32_t
strides_of(const struct shca_rq *rq, uint32_t length)
{
	const uint32_t shift = rq->attr.two_byte_shift ? TWO_BYTES : 0;

	return ((length + shift - 1) >> rq->attr.log_stride_bytes) + 1;
}

/** Of a watched queue, which looks for a WQE for each frame. @return false when a fault strikes the
 * next WQE, or none is posted; lose() finds out which. */
static __attribute__((noinline)) bool
has_watched_wqe(struct shca_rq *rq, const struct shca_packet *packet)
{
	const uint32_t length = cut_length(rq, packet);
	const uint16_t pi = rq->pi_seen;

	rq->pi_seen = rq->ci;
	if (pi == rq->ci)
		return false;
	if (rq->is_faulty && rq->stride == 0) {
		if (shca_inject_rq_due(rq) != NULL)
			return false;
		rq->nb_wqes++;
	}
	/* pi_seen is ci at the next frame, when this one may have ended the WQE. */
	if (rq->attr.log_strides == 0 || strides_of(rq, length) >= strides_left(rq))
		rq->pi_seen++;
	if (rq->dev->pci != NULL)
		shca_bus_rq_receive(rq, length, pi);
	return true;
}

/** @return whether a WQE is posted for the packet. A counter beyond the ring is a driver's bug: no
 * WQE is valid. */
static bool
has_wqe(struct shca_rq *rq, const struct shca_packet *packet)
{
	if (rq->ci != rq->pi_seen)
		return true;
	rq->pi_seen = shca_rq_read_pi(rq);
	if ((uint16_t)(rq->pi_seen - rq->ci) > rq->attr.nb_wqes) {
		SHCA_WARN("RQ 0x%x: producer counter %u, consumer %u, but only %u WQEs", rq->number,
			rq->pi_seen, rq->ci, rq->attr.nb_wqes);
		if (shca_is_strict(rq->dev))
			shca_strict_rq_overrun(rq);
		fail_fatally(rq);
		return false;
	}
	if (__builtin_expect(rq->is_watched, false))
		return has_watched_wqe(rq, packet);
	return rq->ci != rq->pi_seen;
}

uint32_t
shca_rq_room(struct shca_rq *rq)
{
	uint16_t pi, nb_wqes;

	if (rq->state != SHCA_QUEUE_READY)
		return UINT32_MAX;
	shca_touch(rq->dev, SHCA_TOUCH_RQ_RING, rq);
	pi = shca_rq_read_pi(rq);
	/* has_wqe() handles a counter beyond the ring. */
	if ((uint16_t)(pi - rq->ci) > rq->attr.nb_wqes)
		return UINT32_MAX;
	if (!rq->is_watched)
		rq->pi_seen = pi;
	/* A program may never fill a queue, in order to drop the frames that rules send to it. */
	if (rq->ci == 0 && pi == 0)
		return UINT32_MAX;
	nb_wqes = (uint16_t)(pi - rq->ci);
	/* The rest of a WQE in use may be too small for the next frame. */
	return nb_wqes != 0 && rq->stride != 0 ? nb_wqes - 1u : nb_wqes;
}

struct piece {
	const uint8_t *bytes;
	uint32_t length;
};

/** Copy @p length bytes from the pieces on; advance *piece. */
static void
copy_pieces(uint8_t *to, uint32_t length, struct piece **piece)
{
	while (length != 0) {
		uint32_t part = (*piece)->length < length ? (*piece)->length : length;

		memcpy(to, (*piece)->bytes, part);
		to += part;
		length -= part;
		(*piece)->bytes += part;
		(*piece)->length -= part;
		if ((*piece)->length == 0)
			(*piece)++;
	}
}

/** Copy to the WQE's buffer from byte @p skip on. @return 0 or a syndrome. */
static uint8_t
scatter(struct shca_rq *rq, struct piece *piece, uint32_t length, uint32_t skip)
{
	struct mlx5_wqe_data_seg segment[MAX_SEGMENTS];

	memcpy(segment, shca_rq_segments(rq, rq->ci), (size_t)rq->nb_segments * sizeof(segment[0]));
	shca_touch(rq->dev, SHCA_TOUCH_RQ_BUFFER, rq);
	for (unsigned int i = 0; i < rq->nb_segments && length != 0; i++) {
		uint32_t room = be32toh(segment[i].byte_count);
		uint32_t lkey = be32toh(segment[i].lkey);
		uint32_t part;
		uint8_t *to;

		/* Policy: an empty segment is skipped, unless it ends the list. */
		if (room == 0 && lkey == MLX5_INVALID_LKEY)
			break;
		if (room & MLX5_INLINE_SEG)
			return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
		if (room <= skip) {
			skip -= room;
			continue;
		}
		room -= skip;
		part = room < length ? room : length;
		to = shca_mem_ptr(rq->dev->mem, rq->attr.pdn, lkey, be64toh(segment[i].addr) + skip,
			part, true);
		skip = 0;
		if (to == NULL)
			return MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
		copy_pieces(to, part, &piece);
		length -= part;
	}
	return length == 0 ? 0 : MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR;
}

static void
push_fault(struct shca_rq *rq, uint8_t syndrome, uint32_t byte_count)
{
	struct shca_cqe_fault fault = {
		.cqe_opcode = MLX5_CQE_RESP_ERR,
		.syndrome = syndrome,
		.number = rq->number,
		.user_index = rq->attr.user_index,
		.byte_count = byte_count,
		.wqe_counter = rq->ci,
	};
	struct shca_cqe cqe;

	if (rq->attr.log_strides != 0) {
		fault.wqe_id = rq->ci;
		fault.stride = (uint16_t)rq->stride;
		rq->stride = 0;
	}
	shca_cqe_set_fault(&cqe, &fault);
	rq->ci++;
	rq->dev->stats.rx_errors++;
	rq->count.errors++;
	rq->attr.cq->count.errors++;
	shca_cq_push(rq->attr.cq, &cqe, true);
}

/** Cut the frame as the attributes of this queue say. @return the length to scatter. */
static __attribute__((noinline)) uint32_t
cut(const struct shca_rq *rq, struct shca_rx *rx, struct shca_cqe_rx *cqe_rx,
	struct piece piece[static 3])
{
	const struct shca_packet *packet = rx->packet;
	uint32_t length = packet->length;
	unsigned int nb = 0;

	cqe_rx->vlan_stripped = strips(rq, packet);
	if (cqe_rx->vlan_stripped) {
		const uint32_t rest = VLAN_TAG_OFFSET + VLAN_TAG_BYTES;

		cqe_rx->vlan_tci = packet->outer.vlan_tci;
		piece[nb++] = (struct piece){ packet->bytes, VLAN_TAG_OFFSET };
		piece[nb++] = (struct piece){ packet->bytes + rest, packet->length - rest };
		length -= VLAN_TAG_BYTES;
	} else {
		piece[nb++] = (struct piece){ packet->bytes, packet->length };
	}
	if (rq->attr.scatter_fcs) {
		if (!rx->has_fcs) {
			rx->fcs = shca_csum_fcs(packet->bytes, packet->length);
			rx->has_fcs = true;
		}
		piece[nb] = (struct piece){ (const uint8_t *)&rx->fcs, FCS_BYTES };
		length += FCS_BYTES;
	}
	return length;
}

/**
 * A fast path: most queues give a frame one buffer and take it unchanged.
 *
 * @return false when this queue or this WQE is another case; nothing is done then
 */
static inline bool
copy_whole(struct shca_rq *rq, const struct shca_packet *packet)
{
	struct mlx5_wqe_data_seg segment;
	uint32_t room;
	uint8_t *to;

	if (rq->nb_segments != 1 || rq->attr.cvlan_strip || rq->attr.scatter_fcs ||
		rq->attr.log_strides != 0)
		return false;
	memcpy(&segment, shca_rq_segments(rq, rq->ci), sizeof(segment));
	room = be32toh(segment.byte_count);
	if (room < packet->length || room >= MLX5_INLINE_SEG)
		return false;
	to = shca_mem_ptr(rq->dev->mem, rq->attr.pdn, be32toh(segment.lkey), be64toh(segment.addr),
		packet->length, true);
	if (to == NULL)
		return false;
	shca_touch(rq->dev, SHCA_TOUCH_RQ_BUFFER, rq);
	memcpy(to, packet->bytes, packet->length);
	return true;
}

/** Deliver to the WQE at ci, with the frame cut. @return 0 or a syndrome. */
static __attribute__((noinline)) uint8_t
copy_pieces_of(struct shca_rq *rq, struct shca_rx *rx, struct shca_cqe_rx *cqe_rx)
{
	struct piece piece[3];

	cqe_rx->byte_count = cut(rq, rx, cqe_rx, piece);
	return scatter(rq, piece, cqe_rx->byte_count, 0);
}

/** The queue may not access the WQE's buffer, or the WQE is malformed. */
static __attribute__((noinline)) void
fail(struct shca_rq *rq, uint8_t syndrome)
{
	SHCA_WARN("RQ 0x%x: WQE %u fails with syndrome 0x%02x", rq->number, rq->ci, syndrome);
	rq->state = SHCA_QUEUE_ERROR;
	rq->first_syndrome = syndrome;
	shca_rq_flush(rq);
}

static inline void
complete(struct shca_rq *rq, struct shca_rx *rx, struct shca_cqe_rx *cqe_rx, uint32_t length)
{
	struct shca_cqe cqe;

	if (!rx->is_described) {
		shca_cqe_describe(&rx->described, rx->packet, rx->sees_tunnels, rq->dev->ticks);
		rx->is_described = true;
	}
	cqe_rx->user_index = rq->attr.user_index;
	shca_cqe_set_rx(&cqe, &rx->described, cqe_rx);
	rq->dev->stats.rx_steered++;
	rq->count.packets++;
	rq->count.bytes += length;
	shca_cq_push(rq->attr.cq, &cqe, false);
}

/** An injected fault strikes the WQE at ci. */
static __attribute__((noinline)) void
inject_fault(struct shca_rq *rq, const struct shca_fault *fault)
{
	const uint8_t syndrome = fault->syndrome;

	rq->nb_wqes++;
	shca_inject_applied(rq->dev, fault);
	if (syndrome == MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR) {
		push_fault(rq, syndrome,
			rq->attr.log_strides == 0 ? 0
						  : (strides_left(rq) & SHCA_CQE_STRIDES_MASK)
					<< SHCA_CQE_STRIDES_SHIFT);
		rq->pi_seen = rq->ci; /* later WQEs count as unread */
		return;
	}
	rq->state = SHCA_QUEUE_ERROR;
	rq->first_syndrome = syndrome;
	if (fault->row->kind == SHCA_FAULT_RQ_FATAL)
		shca_notify(rq->attr.event, rq->attr.owner, SHCA_EVENT_WQ_FATAL);
	shca_rq_flush(rq);
}

/** Lose the frame: no WQE is posted, or a fault strikes it. */
static void
lose(struct shca_rq *rq)
{
	const struct shca_fault *fault = NULL;

	if (rq->is_faulty && rq->state == SHCA_QUEUE_READY && shca_rq_read_pi(rq) != rq->ci)
		fault = shca_inject_rq_due(rq);
	if (fault != NULL) {
		inject_fault(rq, fault);
		return;
	}
	rq->dev->stats.out_of_buffer++;
	rq->count.out_of_buffer++;
}

/** The frame does not fit in the rest of the WQE: complete a filler, and go on in the next WQE. */
static void
fill_up(struct shca_rq *rq)
{
	const struct shca_cqe_rx rest = {
		.byte_count = SHCA_CQE_FILLER | strides_left(rq) << SHCA_CQE_STRIDES_SHIFT,
		.user_index = rq->attr.user_index,
		.wqe_id = rq->ci,
		.wqe_counter = (uint16_t)rq->stride,
	};
	const struct shca_cqe blank = {
		.timestamp = htobe64(rq->dev->ticks),
		.op_own = MLX5_CQE_RESP_SEND << SHCA_CQE_OPCODE_SHIFT,
	};
	struct shca_cqe cqe;

	shca_cqe_set_rx(&cqe, &blank, &rest);
	rq->stride = 0;
	rq->ci++;
	shca_cq_push(rq->attr.cq, &cqe, false);
	shca_touch(rq->dev, SHCA_TOUCH_RQ_RING, rq);
}

/** Deliver to as many strides as the frame needs. */
static __attribute__((noinline)) void
receive_striding(struct shca_rq *rq, struct shca_rx *rx, struct shca_cqe_rx *cqe_rx)
{
	const uint32_t shift = rq->attr.two_byte_shift ? TWO_BYTES : 0;
	struct piece piece[3];
	uint32_t length = cut(rq, rx, cqe_rx, piece);
	uint32_t at, nb = strides_of(rq, length);
	uint8_t syndrome;

	if (nb > strides_left(rq) && rq->stride != 0) {
		fill_up(rq);
		if (!has_wqe(rq, rx->packet)) {
			lose(rq);
			return;
		}
	}
	at = (rq->stride << rq->attr.log_stride_bytes) + shift;
	syndrome = nb > strides_left(rq) ? MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR
					 : scatter(rq, piece, length, at);
	if (syndrome != 0 && shca_is_strict(rq->dev))
		shca_strict_rq(rq, syndrome, at + length);
	if (syndrome == MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR) {
		/* Policy: the frame takes the rest of the WQE, as a filler does. */
		push_fault(rq, syndrome,
			(strides_left(rq) & SHCA_CQE_STRIDES_MASK) << SHCA_CQE_STRIDES_SHIFT |
				length);
		rq->pi_seen = rq->ci; /* a watched queue counted on the rest */
		return;
	}
	if (syndrome != 0) {
		fail(rq, syndrome);
		return;
	}
	cqe_rx->byte_count = nb << SHCA_CQE_STRIDES_SHIFT | length;
	cqe_rx->wqe_id = rq->ci;
	cqe_rx->wqe_counter = (uint16_t)rq->stride;
	rq->stride += nb;
	if (strides_left(rq) == 0) {
		rq->stride = 0;
		rq->ci++;
	}
	complete(rq, rx, cqe_rx, length);
}

void
shca_rq_receive(struct shca_rq *rq, struct shca_rx *rx, struct shca_cqe_rx *cqe_rx)
{
	uint8_t syndrome = 0;

	if (rq->state != SHCA_QUEUE_READY)
		return;
	shca_touch(rq->dev, SHCA_TOUCH_RQ_RING, rq);
	if (!has_wqe(rq, rx->packet)) {
		lose(rq);
		return;
	}
	shca_rq_prefetch(shca_rq_ring_of(rq), rq->ci);
	shca_cq_prefetch(rq->attr.cq);
	if (rq->attr.log_strides != 0) {
		receive_striding(rq, rx, cqe_rx);
		return;
	}
	cqe_rx->byte_count = rx->packet->length;
	if (!copy_whole(rq, rx->packet))
		syndrome = copy_pieces_of(rq, rx, cqe_rx);
	if (syndrome != 0 && shca_is_strict(rq->dev))
		shca_strict_rq(rq, syndrome, cqe_rx->byte_count);
	if (syndrome == MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR) {
		push_fault(rq, syndrome, cqe_rx->byte_count);
		return;
	}
	if (syndrome != 0) {
		fail(rq, syndrome);
		return;
	}
	cqe_rx->wqe_counter = rq->ci++;
	complete(rq, rx, cqe_rx, cqe_rx->byte_count);
}

void
shca_rq_flush(struct shca_rq *rq)
{
	if (rq->dead)
		return;
	shca_touch(rq->dev, SHCA_TOUCH_RQ_RING, rq);
	rq->pi_seen = shca_rq_read_pi(rq);
	if ((uint16_t)(rq->pi_seen - rq->ci) > rq->attr.nb_wqes) {
		fail_fatally(rq);
		return;
	}
	while (rq->ci != rq->pi_seen) {
		uint8_t syndrome = rq->first_syndrome;

		rq->first_syndrome = 0;
		push_fault(rq, syndrome != 0 ? syndrome : MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 0);
	}
}

void
shca_rq_fault(struct shca_rq *rq, bool on_buffer)
{
	if (!on_buffer) {
		fail_fatally(rq);
		return;
	}
	rq->state = SHCA_QUEUE_ERROR;
	rq->first_syndrome = MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
}
