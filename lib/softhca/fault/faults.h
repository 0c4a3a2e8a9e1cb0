/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The faults of a run: whether one is due, and how often each was applied.
 *
 *     softhca run ── checks FILE, keeps a copy ──> directory: "faults", "faults-applied"
 *                                                       │              ^
 *     device, wires, verbs ── "is it time?" ── plan <───┘   counts ────┘
 *
 * What is due is a function of the seed, the fault's place in the file, and the number of the event
 * at its place (frame of a wire, WQE of a queue, call of a verb): never of time. The same traffic
 * meets the same faults. Each process counts for itself.
 *
 * A process without faults has no struct shca_faults, and that one pointer is all that is looked
 * at.
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
	uint64_t *applied; /**< SHCA_PLAN_MAX of them, which other processes may add to */
	bool is_shared;    /**< applied is mapped from a file */
	uint64_t *calls;   /**< that a fault of verbs has seen: nb_devices numbers a fault */
	unsigned int nb_devices;
};

/** An event: the n-th of its place, from 1. */
struct shca_fault_site {
	unsigned int device; /**< i of mlx5_<i> */
	bool is_tx;          /**< of frames: it is one that is sent */
	uint32_t queue;      /**< of WQEs and CQEs: the N-th of its kind that was made, from 1 */
	uint64_t n;
};

/**
 * The whole of a file, as text.
 * @param text to be freed
 * @return 0 or a negative errno; -EFBIG, -EILSEQ when it cannot be a faults file.
 */
int shca_faults_read(const char *path, char **text);
/** Prepare a run: @p text, which has been parsed, into directory @p dir. @return 0 or an errno. */
int shca_faults_create(
	const char *dir, const char *text, unsigned int nb_devices, struct shca_faults **faults);
/** Below a runner. @p faults is NULL when the run has none. @return 0 or a negative errno. */
int shca_faults_open(const char *dir, unsigned int nb_devices, struct shca_faults **faults);
/** From text, with counts of its own. @return 0 or a negative errno after a message. */
int shca_faults_make(const char *text, unsigned int nb_devices, struct shca_faults **faults);
/** NULL is allowed. */
void shca_faults_close(struct shca_faults *faults);

/** @return whether any fault of kinds @p first to @p last concerns mlx5_<@p device>. */
bool shca_faults_concern(const struct shca_faults *faults, enum shca_fault_kind first,
	enum shca_fault_kind last, unsigned int device);
/** @return the first fault of @p kind due at @p site, or NULL. A question only: see applied(). */
const struct shca_fault *shca_faults_due(const struct shca_faults *faults,
	enum shca_fault_kind kind, const struct shca_fault_site *site);
/** It has been applied. Thread-safe. */
void shca_faults_applied(struct shca_faults *faults, const struct shca_fault *fault);
/** @return a number that depends on the seed, the fault and the event alone. */
uint64_t shca_faults_dice(const struct shca_faults *faults, const struct shca_fault *fault,
	const struct shca_fault_site *site);
/**
 * Count a call of a verb on mlx5_<@p device>; its lock is held.
 * @param delay_ns what it is to take longer is added
 * @return 0, or the negative errno it fails with.
 */
int shca_faults_call(struct shca_faults *faults, unsigned int device, const struct shca_verb *verb,
	uint64_t *delay_ns);

/** What was applied, a line a fault, each begun with @p prefix. */
void shca_faults_print(const struct shca_faults *faults, const char *prefix, FILE *out);

#endif /* SHCA_FAULT_FAULTS_H */
