/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The two rings of a cable "unix:PATH" whose ends are both softhca's, in memory that they share.
 *
 *     listening end            socket              connecting end, known by its name
 *         ---- hello, with the memory's descriptor ---->
 *         <--- "switched": what follows is in the ring --
 *         <------------- "wake", either way ------------>
 *
 * Any other program that connects is told nothing of it, and each frame is a message.
 */
#ifndef SHCA_WIRE_UNIX_RINGS_H
#define SHCA_WIRE_UNIX_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "wire/wire.h"

/** What a message is when there are rings, of this many bytes: no frame is as short. */
#define SHCA_UNIX_NOTE_BYTES 1

struct shca_unix_rings;

/** Name a socket that will connect, so that the other end knows it for softhca's. Without a name
 * each frame is a message. */
void shca_unix_rings_name(int fd);
/** @return whether who has connected has such a name. */
bool shca_unix_rings_is_named(const struct sockaddr *peer, socklen_t length);
/** Listening end: make the memory, and say hello on socket @p fd. @return NULL: no rings. */
struct shca_unix_rings *shca_unix_rings_offer(int fd);
/**
 * Connecting end.
 * @param memory_fd that came with a message: the callee's from now on
 * @return the rings if that was hello, or NULL: the message is a frame
 */
struct shca_unix_rings *shca_unix_rings_take(const uint8_t *bytes, size_t length, int memory_fd);
/** NULL is allowed. */
void shca_unix_rings_free(struct shca_unix_rings *rings);
/** The other end has sent a note. */
void shca_unix_rings_note(struct shca_unix_rings *rings);
/** See struct shca_wire_ops. Notes go to socket @p fd. */
unsigned int shca_unix_rings_tx(struct shca_unix_rings *rings, int fd,
	const struct shca_frame *frames, unsigned int nb_frames, uint64_t *nb_dropped);
/**
 * Copy received frames: the other process may write to the ring at any time.
 * @param room of @p nb_frames frames of SHCA_FRAME_MAX bytes
 */
unsigned int shca_unix_rings_rx(struct shca_unix_rings *rings, struct shca_frame *frames,
	unsigned int nb_frames, uint8_t *room);
/** The thread will sleep: want a note. @return whether there are frames already. */
bool shca_unix_rings_wait(struct shca_unix_rings *rings);

#endif /* SHCA_WIRE_UNIX_RINGS_H */
