/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Findings of softhca run --strict: one row a rule. On hardware a program that breaks the rule
 * gets an error or hangs. hw/check/strict.c, hw/check/doorbell.c and the files of abi/ check the
 * rules; this file counts and reports.
 *
 *     checks ──report──> standard error      a few of a kind, with a decoded dump
 *                  └───> count[]             all of them, in a file that the runner shares and
 *                                            takes its exit status from
 *
 * A process without --strict has no struct shca_findings (shca_device_conf.findings is NULL); one
 * test of that pointer is the whole cost.
 */
#ifndef SHCA_STRICT_FINDINGS_H
#define SHCA_STRICT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shca_context;

/** Exit status of a run with findings, and of a process that a finding ended. */
#define SHCA_FINDINGS_EXIT 123

/** A process prints so many of a kind, and only counts the rest. */
#define SHCA_FINDINGS_PRINTED 8

enum shca_finding {
	SHCA_FINDING_WQE_PAST_PRODUCER,
	SHCA_FINDING_WQE_STALE,
	SHCA_FINDING_WQE_OPCODE,
	SHCA_FINDING_WQE_DS,
	SHCA_FINDING_WQE_DS_OVERFLOW,
	SHCA_FINDING_WQE_INLINE,
	SHCA_FINDING_WQE_IMMEDIATE,
	SHCA_FINDING_WQE_FORM,
	SHCA_FINDING_LKEY,
	SHCA_FINDING_ADDRESS,
	SHCA_FINDING_RING_OVERRUN,
	SHCA_FINDING_RECORD_ORDER,
	SHCA_FINDING_CQ_OVERRUN,
	SHCA_FINDING_CQ_RECORD_ORDER,
	SHCA_FINDING_CQ_RECORD_WIDTH,
	SHCA_FINDING_CQ_RECORD_INDEX,
	SHCA_FINDING_RX_TRUNCATED,
	SHCA_FINDING_DOORBELL_WITHOUT_RECORD,
	SHCA_FINDING_RECORD_AFTER_DOORBELL,
	SHCA_FINDING_RECORD_WITHOUT_DOORBELL,
	SHCA_FINDING_CQ_COMPRESSED_TX,
	SHCA_FINDING_CQ_MINI_FORMAT,
	SHCA_FINDING_CQE_SIZE,
	SHCA_FINDING_FLOW_PORT,
	SHCA_FINDING_OWN_BROADCAST,
	SHCA_FINDING_QUEUE_STATE,
	SHCA_FINDING_EGRESS_ENTRY,
	SHCA_FINDING_SEND_STATE,
	SHCA_FINDING_RECEIVE_STATE,
	SHCA_FINDING_RECEIVE_QUEUE,
	SHCA_FINDING_SEND_UNSIGNALED,
	SHCA_FINDING_SEND_LENGTH,
	SHCA_FINDING_ATOMIC_ADDRESS,
	SHCA_FINDING_AH_DOMAIN,
	SHCA_FINDING_PATH,
	SHCA_FINDING_PATH_MTU,
	SHCA_FINDING_QP_DESTINATION,
	SHCA_FINDING_QP_READS,
	SHCA_FINDING_QP_TIMEOUT,
	SHCA_NB_FINDINGS, /**< as a value: no finding */
};

/** One rule. */
struct shca_finding_row {
	const char *name;
	const char *what;     /**< what the program did */
	const char *hardware; /**< how a ConnectX reacts */
};
extern const struct shca_finding_row shca_finding_rows[SHCA_NB_FINDINGS];

enum shca_strict {
	SHCA_STRICT_OFF,
	SHCA_STRICT_REPORT,
	SHCA_STRICT_ABORT, /**< a process ends at its first finding */
};

/** @param name NULL: a --strict without one. @return 0 or -EINVAL. */
int shca_findings_find_mode(const char *name, enum shca_strict *mode);
const char *shca_findings_mode_name(enum shca_strict mode);

/** The file in the runner's directory that holds the counts of all processes of a run. */
#define SHCA_FINDINGS_FILE "findings"
/**
 * Map the counts in file @p path; @p create: create the file first.
 * @return 0 or a negative errno.
 */
int shca_findings_map(const char *path, bool create, uint64_t **count);
void shca_findings_unmap(uint64_t *count);

/** Findings of a process. */
struct shca_findings {
	enum shca_strict mode;
	uint64_t *count; /**< SHCA_NB_FINDINGS counts; other processes may add to them */
	unsigned int nb_printed[SHCA_NB_FINDINGS];
};

/** The place of a finding, and the evidence. */
struct shca_finding_site {
	const struct shca_context *context; /**< whose mistake it is; NULL: this process's */
	unsigned int device;                /**< i of mlx5_<i> */
	const char *queue; /**< kind of the object that number names: "SQ", "RQ", "CQ" ... */
	uint32_t number;
	uint32_t index;      /**< of the WQE or CQE */
	const char *decoded; /**< the evidence in a line, or NULL */
	const void *bytes;   /**< the evidence as it lies in memory, or NULL */
	size_t nb_bytes;
};

/**
 * Print and count @p finding. Under SHCA_STRICT_ABORT it ends the program: does not return if that
 * is this process; else further findings of it are none. Thread-safe; the lock of the program's
 * device is held.
 */
void shca_findings_report(struct shca_findings *findings, enum shca_finding finding,
	const struct shca_finding_site *site);
/** Summarise @p count in one line of up to @p size. @return the number of findings. */
uint64_t shca_findings_sum(const uint64_t *count, char *text, size_t size);

#endif /* SHCA_STRICT_FINDINGS_H */
