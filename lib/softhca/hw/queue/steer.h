/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Takes frames through the rules: received ones to queues and netdev, sent ones to the wire.
 * Internal to hw/.
 */
#ifndef SHCA_HW_QUEUE_STEER_H
#define SHCA_HW_QUEUE_STEER_H

#include <stdbool.h>
#include <stdint.h>

struct shca_device;
struct shca_frame;
struct shca_packet;

/** Steer and deliver frames from the wire, at most SHCA_OUT_FRAMES. */
void shca_steer_rx(struct shca_device *dev, const struct shca_frame *frame, unsigned int nb_frames);

/**
 * Steer a frame that is about to be sent: sniffers get their copies, and a rule may change it; a
 * changed frame lies in shca_out_build(), where there is room.
 * @param packet in the end with the bytes and length to send, and the headers of the original
 * @return false when a rule forbids it.
 */
bool shca_steer_tx(struct shca_device *dev, struct shca_packet *packet);

/**
 * Give a frame that is about to be sent to receivers of the same port, if local loopback is on.
 * @param tdn the sender's transport domain
 * @return whether the frame leaves the port, too
 */
bool shca_steer_back(struct shca_device *dev, uint32_t tdn, const struct shca_packet *packet);

#endif /* SHCA_HW_QUEUE_STEER_H */
