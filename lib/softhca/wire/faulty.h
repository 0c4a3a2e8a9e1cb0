/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A bad cable: a wire around another, on which frames are lost, doubled, overtaken, damaged and cut
 * as the faults of a run (fault/faults.h) say.
 *
 *     device ── tx ──> [faults of tx] ──> the wire ──> [faults of rx] ── rx ──> device
 *
 * Frames are counted as they come to it, in each direction for itself. What it makes of a frame
 * does not depend on how many come at once, or on how many the wire takes.
 */
#ifndef SHCA_WIRE_FAULTY_H
#define SHCA_WIRE_FAULTY_H

#include <stdbool.h>
#include <stdint.h>

struct shca_fault;
struct shca_faults;
struct shca_wire;

/**
 * Wrap @p inner, which is closed with the new wire, if any fault concerns the frames of mlx5_<@p
 * device>; else *@p wire is @p inner.
 * @param faults borrowed; may be NULL
 * @return 0 or -ENOMEM; @p inner is the caller's then.
 */
int shca_faulty_wrap(struct shca_faults *faults, unsigned int device, struct shca_wire *inner,
	struct shca_wire **wire);

/** @{ What befalls the port behind a frame. For the device, of a wire that was wrapped. */
/** @return a fault of link or device that is due, counted, or NULL. Until each has been asked for
 * the wire passes nothing more: what follows the frame meets what came of it. */
const struct shca_fault *shca_faulty_take(struct shca_wire *wire);
/** The link is down: what comes in either direction is lost, and meets no fault. When @p nb of the
 * frames sent or received are, the wire passes nothing until shca_faulty_link_up(). */
void shca_faulty_link_down(struct shca_wire *wire, bool is_tx, uint64_t nb);
/** @return whether that many are lost. */
bool shca_faulty_is_over(const struct shca_wire *wire);
void shca_faulty_link_up(struct shca_wire *wire);
/** The device does not look until then: nobody need wake up for the wire. */
void shca_faulty_rest(struct shca_wire *wire, uint64_t until_ns);
/** @} */

#endif /* SHCA_WIRE_FAULTY_H */
