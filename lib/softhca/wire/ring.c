/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Ring of frame copies; indices are free-running byte counters. */
#include "wire/ring.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "wire/copy.h"
#include "wire/wide.h"
#include "wire/wire.h"

#define RECORD_ALIGN 16u
#define LENGTH_WRAP  UINT32_MAX

struct record {
	uint32_t length; /**< LENGTH_WRAP: the next record is at the ring's start */
	uint32_t port;
	uint32_t reserved[2];
	uint8_t bytes[];
};

/** Offsets are free-running. */
struct shca_ring_memory {
	_Alignas(64) _Atomic uint64_t head;
	_Alignas(64) _Atomic uint64_t tail;
	_Alignas(64) atomic_bool wants_wake;
	_Alignas(64) uint8_t bytes[];
};

/** One end, or both in one process. */
struct shca_ring {
	struct shca_ring_memory *memory;
	uint64_t size;
	bool is_owner;              /**< of the memory */
	_Alignas(64) uint64_t head; /**< producer: as it has written it last */
	_Alignas(64) uint64_t next; /**< consumer: end of the frames that pop returned */
	bool wants_wake;            /**< consumer: as it has said last */
};

static_assert(sizeof(struct record) == RECORD_ALIGN, "frames are aligned as records are");

size_t
shca_ring_memory_bytes(unsigned int size_log2)
{
	return sizeof(struct shca_ring_memory) + ((size_t)1 << size_log2);
}

struct shca_ring *
shca_ring_attach(struct shca_ring_memory *memory, unsigned int size_log2)
{
	struct shca_ring *ring = aligned_alloc(64, sizeof(*ring));

	if (ring == NULL)
		return NULL;
	memset(ring, 0, sizeof(*ring));
	ring->memory = memory;
	ring->size = UINT64_C(1) << size_log2;
	assert(ring->size >= 4 * SHCA_FRAME_MAX);
	return ring;
}

struct shca_ring *
shca_ring_create(unsigned int size_log2)
{
	struct shca_ring_memory *memory = aligned_alloc(64, shca_ring_memory_bytes(size_log2));
	struct shca_ring *ring;

	if (memory == NULL)
		return NULL;
	memset(memory, 0, sizeof(*memory));
	ring = shca_ring_attach(memory, size_log2);
	if (ring == NULL)
		free(memory);
	else
		ring->is_owner = true;
	return ring;
}

void
shca_ring_destroy(struct shca_ring *ring)
{
	if (ring == NULL)
		return;
	if (ring->is_owner)
		free(ring->memory);
	free(ring);
}

static struct record *
record_at(const struct shca_ring *ring, uint64_t position)
{
	return (struct record *)(ring->memory->bytes + (position & (ring->size - 1)));
}

static inline uint64_t
record_bytes(uint32_t length)
{
	return (sizeof(struct record) + length + RECORD_ALIGN - 1) & ~(uint64_t)(RECORD_ALIGN - 1);
}

/** @return @p head behind the frame's record, or @p head itself: there is no room. */
static inline uint64_t
push_one(uint8_t *memory, uint64_t size, uint64_t head, uint64_t tail,
	const struct shca_frame *frame)
{
	struct record *record = (struct record *)(memory + (head & (size - 1)));
	const uint64_t bytes = record_bytes(frame->length);
	const uint64_t to_end = size - (head & (size - 1));
	const uint64_t skip = bytes > to_end ? to_end : 0;

	if (head + skip + bytes - tail > size)
		return head;
	if (skip != 0) {
		record->length = LENGTH_WRAP;
		record = (struct record *)memory;
	}
	record->length = frame->length;
	record->port = frame->port;
	shca_copy(record->bytes, frame->bytes, frame->length);
	return head + skip + bytes;
}

/** @return length and port of a frame, which a record begins with, too. */
static inline uint64_t
frame_word(const struct shca_frame *frame)
{
	uint64_t word;

	static_assert(sizeof(word) == sizeof(frame->length) + sizeof(frame->port), "both");
	static_assert(offsetof(struct shca_frame, port) == offsetof(struct shca_frame, length) + 4,
		"one behind the other");
	static_assert(offsetof(struct record, port) == 4, "one behind the other");
	memcpy(&word, (const uint8_t *)frame + offsetof(struct shca_frame, length), sizeof(word));
	return word;
}

/** @return how many of @p nb bytes from @p position on lie one behind the other. */
static inline uint64_t
nb_in_a_row(uint64_t position, uint64_t nb, uint64_t size)
{
	const uint64_t to_end = size - (position & (size - 1));

	return nb < to_end ? nb : to_end;
}

/** Push frames with the length and the port of the one before, which lie behind it in @p frames: up
 * to the ring's end, and as many as there is room for. */
static inline unsigned int
push_alike(uint8_t *memory, uint64_t size, uint64_t *head, uint64_t tail,
	const struct shca_frame *frames, unsigned int nb_frames)
{
	const uint64_t word = frame_word(&frames[-1]), bytes = record_bytes(frames[-1].length);
	uint8_t *at = memory + (*head & (size - 1));
	const uint8_t *const end = at + nb_in_a_row(*head, size - (*head - tail), size);
	const size_t length = frames[-1].length;
	size_t i;

	if (!shca_copy_is_short(length))
		return 0;
	for (i = 0; i < nb_frames && at + bytes <= end; i++, at += bytes) {
		if (frame_word(&frames[i]) != word)
			break;
		memcpy(at, &word, sizeof(word));
		shca_copy_short(at + sizeof(struct record), frames[i].bytes, length);
	}
	*head += i * bytes;
	return (unsigned int)i;
}

/** Copies might change any memory: what all frames need is in parameters and registers. */
static SHCA_WIDE unsigned int
push_all(const struct shca_ring *ring, uint64_t *head, uint64_t tail,
	const struct shca_frame *frames, unsigned int nb_frames, uint64_t *nb_dropped)
{
	uint8_t *const memory = ring->memory->bytes;
	const uint64_t size = ring->size;
	uint64_t at = *head, next;
	unsigned int i = 0;

	while (i < nb_frames) {
		if (__builtin_expect(frames[i].length > SHCA_FRAME_MAX, false)) {
			++*nb_dropped;
			i++;
			continue;
		}
		next = push_one(memory, size, at, tail, &frames[i]);
		if (next == at)
			break;
		at = next;
		i++;
		i += push_alike(memory, size, &at, tail, &frames[i], nb_frames - i);
	}
	*head = at;
	return i;
}

unsigned int
shca_ring_push(struct shca_ring *ring, const struct shca_frame *frames, unsigned int nb_frames,
	uint64_t *nb_dropped)
{
	/* The consumer has read the bytes before tail: they may be overwritten. A tail that is none
	 * makes the ring full, or frames be lost. */
	const uint64_t tail = atomic_load_explicit(&ring->memory->tail, memory_order_acquire);
	uint64_t head = ring->head;

	nb_frames = push_all(ring, &head, tail, frames, nb_frames, nb_dropped);
	ring->head = head;
	atomic_store_explicit(&ring->memory->head, head, memory_order_release);
	return nb_frames;
}

/** @return the bytes in front of @p head; 0 if it is none that a producer writes, too. */
static uint64_t
nb_waiting(const struct shca_ring *ring, uint64_t head)
{
	const uint64_t nb = head - ring->next;

	return nb <= ring->size && head % RECORD_ALIGN == 0 ? nb : 0;
}

/** Take the frames that have the length and the port of the one before, from ring->next on, up to
 * the ring's end and to @p head. */
static inline unsigned int
pop_alike(struct shca_ring *ring, uint64_t head, struct shca_frame *frames, unsigned int nb_frames)
{
	const uint64_t word = frame_word(&frames[-1]), bytes = record_bytes(frames[-1].length);
	const uint8_t *at = (const uint8_t *)record_at(ring, ring->next);
	const uint8_t *const end = at + nb_in_a_row(ring->next, head - ring->next, ring->size);
	size_t i;

	for (i = 0; i < nb_frames && at + bytes <= end; i++, at += bytes) {
		/* Once: another process may write it at any time. */
		if (__atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_RELAXED) != word)
			break;
		memcpy((uint8_t *)&frames[i] + offsetof(struct shca_frame, length), &word,
			sizeof(word));
		frames[i].bytes = at + sizeof(struct record);
	}
	ring->next += i * bytes;
	return (unsigned int)i;
}

unsigned int
shca_ring_pop(struct shca_ring *ring, struct shca_frame *frames, unsigned int nb_frames)
{
	uint64_t head = atomic_load_explicit(&ring->memory->head, memory_order_acquire);
	unsigned int nb = 0;

	atomic_store_explicit(&ring->memory->tail, ring->next, memory_order_release);
	if (nb_waiting(ring, head) == 0)
		return 0;
	while (nb < nb_frames && ring->next != head) {
		const struct record *record = record_at(ring, ring->next);
		const uint64_t to_end = ring->size - (ring->next & (ring->size - 1));
		const uint32_t length = *(const volatile uint32_t *)&record->length;
		const bool is_frame = length != LENGTH_WRAP;
		const uint64_t bytes = is_frame ? record_bytes(length) : to_end;

		if (bytes > head - ring->next || bytes > to_end ||
			(is_frame && (length == 0 || length > SHCA_FRAME_MAX))) {
			ring->next = head; /* nor such a record: what is there is lost */
			break;
		}
		ring->next += bytes;
		if (!is_frame)
			continue;
		frames[nb].bytes = record->bytes;
		frames[nb].port = record->port;
		frames[nb++].length = length;
		nb += pop_alike(ring, head, &frames[nb], nb_frames - nb);
	}
	return nb;
}

bool
shca_ring_is_empty(const struct shca_ring *ring)
{
	return nb_waiting(ring, atomic_load_explicit(&ring->memory->head, memory_order_acquire)) ==
		0;
}

bool
shca_ring_want_wake(struct shca_ring *ring, bool wants)
{
	const bool wanted = ring->wants_wake;

	if (!wanted && !wants)
		return false;
	ring->wants_wake = wants;
	if (atomic_load_explicit(&ring->memory->wants_wake, memory_order_relaxed) != wants)
		atomic_store_explicit(&ring->memory->wants_wake, wants, memory_order_relaxed);
	/* Before it looks whether the ring is empty; the other fence is the producer's. */
	if (wants)
		atomic_thread_fence(memory_order_seq_cst);
	return wanted;
}

bool
shca_ring_must_wake(struct shca_ring *ring)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&ring->memory->wants_wake, memory_order_relaxed) &&
		atomic_exchange_explicit(&ring->memory->wants_wake, false, memory_order_relaxed);
}
