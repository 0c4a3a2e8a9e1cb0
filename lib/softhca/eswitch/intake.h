/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frames for one end of a switch from others of its ends, each of which waits while there is no
 * room. Those that send without a pause take turns: whom one found no room after the other has
 * filled it comes next, or else the one whose turn in the round of devices is first would be the
 * only one to send. Internal to eswitch/, below the switch's lock.
 */
#ifndef SHCA_ESWITCH_INTAKE_H
#define SHCA_ESWITCH_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

struct shca_frame;
struct shca_ring;

struct shca_intake {
	struct shca_ring *ring;
	const void *filler;     /**< who has pushed last */
	const void *claimant;   /**< who comes next; NULL: whoever does */
	unsigned int nb_others; /**< how often others have come since */
};

/** Push a frame. @param from identifies the sender @return false: there is no room for it now. */
bool shca_intake_push(struct shca_intake *intake, const void *from, const struct shca_frame *frame,
	uint64_t *nb_lost);

#endif /* SHCA_ESWITCH_INTAKE_H */
