/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fault injection: a wire around another that loses, duplicates, reorders, corrupts and truncates
 * frames by the faults of a run (fault/faults.h).
 *
 *     device ── tx ──> [faults of tx] ──> the wire ──> [faults of rx] ── rx ──> device
 *
 * It numbers the frames of each direction as they arrive. The faults of a frame do not depend on
 * the size of bursts, nor on how many frames the inner wire takes at once.
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
 * @return 0, or -ENOMEM with @p inner still the caller's.
 */
int shca_faulty_wrap(struct shca_faults *faults, unsigned int device, struct shca_wire *inner,
	struct shca_wire **wire);

/** @{ Faults of the port that follow a frame. For the device, on a wrapped wire only. */
/** @return a fault of link or device that is due, counted as applied, or NULL. The wire passes no
 * further frame until the device has taken each, so later frames see the effect. */
const struct shca_fault *shca_faulty_take(struct shca_wire *wire);
/** Take the link down: frames of both directions are lost, without faults. After @p nb frames sent
 * (@p is_tx) or received the wire passes no frame until shca_faulty_link_up(). */
void shca_faulty_link_down(struct shca_wire *wire, bool is_tx, uint64_t nb);
/** @return whether so many frames are lost. */
bool shca_faulty_is_over(const struct shca_wire *wire);
void shca_faulty_link_up(struct shca_wire *wire);
/** The device does not poll until @p until_ns: the wire need not wake it. */
void shca_faulty_rest(struct shca_wire *wire, uint64_t until_ns);
/** @} */

#endif /* SHCA_WIRE_FAULTY_H */
