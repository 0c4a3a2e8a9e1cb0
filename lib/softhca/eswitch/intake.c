/* SPDX-License-Identifier: BSD-3-Clause */
#include "eswitch/intake.h"

#include <stddef.h>

#include "wire/ring.h"

/** A claimant that has not come by then has nothing more to send: its queue was destroyed. */
#define OTHERS_MAX 64

static bool
is_anothers_turn(struct shca_intake *intake, const void *from)
{
	if (intake->claimant == NULL || intake->claimant == from)
		return false;
	if (++intake->nb_others <= OTHERS_MAX)
		return true;
	intake->claimant = NULL;
	return false;
}

bool
shca_intake_push(struct shca_intake *intake, const void *from, const struct shca_frame *frame,
	uint64_t *nb_lost)
{
	if (is_anothers_turn(intake, from))
		return false;
	if (shca_ring_push(intake->ring, frame, 1, nb_lost) == 1) {
		intake->filler = from;
		intake->claimant = NULL;
		return true;
	}
	if (intake->filler != from && intake->claimant == NULL) {
		intake->claimant = from;
		intake->nb_others = 0;
	}
	return false;
}
