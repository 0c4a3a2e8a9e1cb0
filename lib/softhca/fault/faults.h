/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The faults of a run: whether one is due, and how often each was applied.
 *
 *     softhca run ── checks FILE, keeps a copy ──> directory: "faults", "faults-applied"
 *                                                       │              ^
 *     device, wires, verbs ── "is it time?" ── plan <───┘   counts ────┘
 *
 * A fault is due by the seed, the fault's place in the file, and the number of the event at its
 * site (frame of a wire, WQE of a queue, call of a verb), never by time: the same traffic meets the
 * same faults. Each process numbers its own events.
 *
 * A process without faults has no struct shca_faults; one test of that pointer is the whole cost.
 */
#ifndef SHCA_FAULT_FAULTS_H
#define SHCA_FAULT_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "fault/plan.h"

struct shca_faults {
	struct shca_plan plan;
	uint64_t *applied; /**< SHCA_PLAN_MAX counts; other processes may add to them */
	bool is_shared;    /**< applied is mapped from a file */
	uint64_t *calls;   /**< calls seen by each fault of verbs: nb_devices counts a fault */
	unsigned int nb_devices;
};

/** An event: the n-th of its site, from 1. */
struct shca_fault_site {
	unsigned int device; /**< i of mlx5_<i> */
	bool is_tx;          /**< of frames: sent, not received */
	uint32_t queue; /**< of WQEs and CQEs: the queue's number in order of creation, from 1 */
	uint64_t n;
};

/**
 * Read a whole file as text.
 * @param text the caller frees it
 * @return 0 or a negative errno; -EFBIG, -EILSEQ when it cannot be a faults file.
 */
int shca_faults_read(const char *path, char **text);
/** Write @p text, which parses, and counts of 0 into the runner's directory @p dir.
 * @return 0 or a negative errno. */
int shca_faults_create(
	const char *dir, const char *text, unsigned int nb_devices, struct shca_faults **faults);
/** Read them in a process below the runner. @p faults is NULL when the run has none.
 * @return 0 or a negative errno. */
int shca_faults_open(const char *dir, unsigned int nb_devices, struct shca_faults **faults);
/** Parse them from text, with counts of this process. @return 0 or a negative errno after a
 * message. */
int shca_faults_make(const char *text, unsigned int nb_devices, struct shca_faults **faults);
/** NULL is allowed. */
void shca_faults_close(struct shca_faults *faults);

/** @return whether any fault of kinds @p first to @p last concerns mlx5_<@p device>. */
bool shca_faults_concern(const struct shca_faults *faults, enum shca_fault_kind first,
	enum shca_fault_kind last, unsigned int device);
/** @return the first fault of @p kind due at @p site, or NULL. Counts nothing: see
 * shca_faults_applied(). */
const struct shca_fault *shca_faults_due(const struct shca_faults *faults,
	enum shca_fault_kind kind, const struct shca_fault_site *site);
/** Count @p fault as applied. Thread-safe. */
void shca_faults_applied(struct shca_faults *faults, const struct shca_fault *fault);
/** @return a number that depends on the seed, the fault and the event alone. */
uint64_t shca_faults_dice(const struct shca_faults *faults, const struct shca_fault *fault,
	const struct shca_fault_site *site);
/**
 * Count a call of a verb on mlx5_<@p device>; the device's lock is held.
 * @param delay_ns grows by the delay of the call
 * @return 0, or the negative errno that the call fails with.
 */
int shca_faults_call(struct shca_faults *faults, unsigned int device, const struct shca_verb *verb,
	uint64_t *delay_ns);

/** Print how often each fault was applied, a line a fault; each line begins with @p prefix. */
void shca_faults_print(const struct shca_faults *faults, const char *prefix, FILE *out);

#endif /* SHCA_FAULT_FAULTS_H */
