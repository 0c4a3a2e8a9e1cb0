/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Ring of frame copies; indices are free-running byte counters. */
#include "wire/ring.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "wire/wire.h"

#define RECORD_ALIGN 16u
#define LENGTH_WRAP  UINT32_MAX

struct record {
	uint32_t length; /**< LENGTH_WRAP: the next record is at the ring's start */
	uint32_t port;
	uint32_t reserved[2];
	uint8_t bytes[];
};

struct shca_ring {
	uint8_t *bytes;
	uint64_t size;
	_Alignas(64) _Atomic uint64_t head;
	_Alignas(64) _Atomic uint64_t tail;
	uint64_t next; /**< consumer: end of the frames that pop returned */
};

static_assert(sizeof(struct record) == RECORD_ALIGN, "frames are aligned as records are");

struct shca_ring *
shca_ring_create(unsigned int size_log2)
{
	struct shca_ring *ring = aligned_alloc(64, sizeof(*ring));

	if (ring == NULL)
		return NULL;
	memset(ring, 0, sizeof(*ring));
	ring->size = UINT64_C(1) << size_log2;
	assert(ring->size >= 4 * SHCA_FRAME_MAX);
	ring->bytes = aligned_alloc(64, ring->size);
	if (ring->bytes == NULL) {
		free(ring);
		return NULL;
	}
	return ring;
}

void
shca_ring_destroy(struct shca_ring *ring)
{
	if (ring == NULL)
		return;
	free(ring->bytes);
	free(ring);
}

static struct record *
record_at(const struct shca_ring *ring, uint64_t position)
{
	return (struct record *)(ring->bytes + (position & (ring->size - 1)));
}

static uint64_t
record_bytes(uint32_t length)
{
	return (sizeof(struct record) + length + RECORD_ALIGN - 1) & ~(uint64_t)(RECORD_ALIGN - 1);
}

unsigned int
shca_ring_push(struct shca_ring *ring, const struct shca_frame *frames, unsigned int nb_frames,
	uint64_t *nb_dropped)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	/* The consumer has read the bytes before tail: they may be overwritten. */
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	unsigned int i;

	for (i = 0; i < nb_frames; i++) {
		uint64_t bytes = record_bytes(frames[i].length);
		uint64_t to_end = ring->size - (head & (ring->size - 1));
		uint64_t skip = bytes > to_end ? to_end : 0;

		if (frames[i].length > SHCA_FRAME_MAX) {
			++*nb_dropped;
			continue;
		}
		if (head + skip + bytes - tail > ring->size)
			break;
		if (skip != 0)
			record_at(ring, head)->length = LENGTH_WRAP;
		head += skip;
		record_at(ring, head)->length = frames[i].length;
		record_at(ring, head)->port = frames[i].port;
		memcpy(record_at(ring, head)->bytes, frames[i].bytes, frames[i].length);
		head += bytes;
	}
	atomic_store_explicit(&ring->head, head, memory_order_release);
	return i;
}

unsigned int
shca_ring_pop(struct shca_ring *ring, struct shca_frame *frames, unsigned int nb_frames)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	unsigned int nb = 0;

	atomic_store_explicit(&ring->tail, ring->next, memory_order_release);
	while (nb < nb_frames && ring->next != head) {
		const struct record *record = record_at(ring, ring->next);

		if (record->length == LENGTH_WRAP) {
			ring->next += ring->size - (ring->next & (ring->size - 1));
			continue;
		}
		frames[nb].bytes = record->bytes;
		frames[nb].port = record->port;
		frames[nb++].length = record->length;
		ring->next += record_bytes(record->length);
	}
	return nb;
}

bool
shca_ring_is_empty(const struct shca_ring *ring)
{
	return ring->next == atomic_load_explicit(&ring->head, memory_order_acquire);
}
