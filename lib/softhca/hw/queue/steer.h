/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frames through the rules: those received to queues and netdev, those sent on to the wire.
 * Internal to hw/.
 */
#ifndef SHCA_HW_QUEUE_STEER_H
#define SHCA_HW_QUEUE_STEER_H

#include <stdbool.h>

struct shca_device;
struct shca_frame;
struct shca_packet;

/** Steer and deliver frames that came from the wire, at most SHCA_OUT_SLOTS. */
void shca_steer_rx(struct shca_device *dev, const struct shca_frame *frame, unsigned int nb_frames);

/**
 * A frame is about to be sent: sniffers get their copies, and a rule may change it; it then lies in
 * shca_out_build(), where there is room.
 * @param packet with the bytes and length to send, in the end; headers are those of before
 * @return false when a rule forbids it.
 */
bool shca_steer_tx(struct shca_device *dev, struct shca_packet *packet);

#endif /* SHCA_HW_QUEUE_STEER_H */
