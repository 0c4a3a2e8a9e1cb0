/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A ring of frame copies between one producer and one consumer: two threads, or two processes that
 * share its memory. Neither trusts what is in the memory.
 *
 *     ring: [length ........ frame][length .. frame][wrap       ][...]
 *            ^ tail (consumer)                                    ^ head (producer)
 *
 * Frames lie back to back and never across the ring's end, so that the consumer reads them in
 * place; the next pop frees their room.
 */
#ifndef SHCA_WIRE_RING_H
#define SHCA_WIRE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shca_frame;
struct shca_ring;
struct shca_ring_memory;

/** @return bytes of the memory of a ring. @param size_log2 of its frames' room, 16 or more */
size_t shca_ring_memory_bytes(unsigned int size_log2);
/**
 * @param memory of shca_ring_memory_bytes(), zero at first, 64-byte aligned; it stays the caller's
 * @return an end of the ring, or NULL when out of memory
 */
struct shca_ring *shca_ring_attach(struct shca_ring_memory *memory, unsigned int size_log2);
/** @param size_log2 of the ring in bytes, 16 or more. @return NULL when out of memory. */
struct shca_ring *shca_ring_create(unsigned int size_log2);
/** NULL is allowed. */
void shca_ring_destroy(struct shca_ring *ring);
/**
 * Copy frames in. Frames longer than SHCA_FRAME_MAX are dropped and added to *@p nb_dropped.
 * @return how many were taken or dropped; fewer than @p nb_frames when the ring is full.
 */
unsigned int shca_ring_push(struct shca_ring *ring, const struct shca_frame *frames,
	unsigned int nb_frames, uint64_t *nb_dropped);
/** @return how many frames were taken out; they are valid until the next pop. */
unsigned int shca_ring_pop(
	struct shca_ring *ring, struct shca_frame *frames, unsigned int nb_frames);
/** For the consumer. @return whether pop would return no frame. */
bool shca_ring_is_empty(const struct shca_ring *ring);
/** For the consumer, which will wait if the ring is empty: want to be woken, or no longer.
 * @return whether it did before */
bool shca_ring_want_wake(struct shca_ring *ring, bool wants);
/** For the producer, after it has pushed. @return whether the consumer wants to be woken: this once
 * for each time that it says so. */
bool shca_ring_must_wake(struct shca_ring *ring);

#endif /* SHCA_WIRE_RING_H */
