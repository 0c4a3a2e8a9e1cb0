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

struct shca_faults;
struct shca_wire;

/**
 * Wrap @p inner, which is closed with the new wire, if any fault concerns the wire of mlx5_<@p
 * device>; else *@p wire is @p inner.
 * @param faults borrowed; may be NULL
 * @return 0 or -ENOMEM; @p inner is the caller's then.
 */
int shca_faulty_wrap(struct shca_faults *faults, unsigned int device, struct shca_wire *inner,
	struct shca_wire **wire);

#endif /* SHCA_WIRE_FAULTY_H */
