/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A strict device on a rig, and what it says on standard error.
 */
#ifndef TEST_HW_TRIAL_H
#define TEST_HW_TRIAL_H

#include "rig.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hw/check/doorbell.h"
#include "hw/check/strict.h"
#include "strict/findings.h"

/* What one program did: findings, and what they said. */
struct trial {
	struct rig rig;
	struct shca_findings findings;
	uint64_t count[SHCA_NB_FINDINGS];
	char said[8192];
	int saved, file;
	uint64_t page[512]; /* a UAR page */
	struct shca_doorbell_page doorbells;
};

static inline void
trial_start(struct trial *trial)
{
	memset(trial, 0, sizeof(*trial));
	trial->findings.mode = SHCA_STRICT_REPORT;
	trial->findings.count = trial->count;
	trial->saved = dup(STDERR_FILENO);
	trial->file = memfd_create("stderr", 0);
	assert_true(trial->file >= 0);
	dup2(trial->file, STDERR_FILENO);
	rig_init(&trial->rig);
	trial->rig.findings = &trial->findings;
}

static inline void
trial_end(struct trial *trial)
{
	ssize_t nb;

	rig_close(&trial->rig);
	dup2(trial->saved, STDERR_FILENO);
	close(trial->saved);
	nb = pread(trial->file, trial->said, sizeof(trial->said) - 1, 0);
	assert_true(nb >= 0);
	close(trial->file);
}

/* SEND of one frame of 100 bytes, given up before it is posted. */
static inline void
trial_send(struct rig *rig, struct rig_wqe *wqe)
{
	uint8_t frame[100];

	rig_wqe_start(wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(wqe, 0, 0, NULL, 0);
	rig_wqe_pointer(wqe, rig->mr->lkey,
		rig_place(rig, 0, frame, rig_frame(frame, sizeof(frame), 1)), sizeof(frame));
}

/* The page is a UAR page of the program's; the device is open. */
static inline void
trial_watch(struct trial *trial)
{
	shca_device_lock(trial->rig.dev);
	shca_doorbell_watch(trial->rig.dev, &trial->doorbells, (uint8_t *)trial->page);
	shca_device_unlock(trial->rig.dev);
}

#endif /* TEST_HW_TRIAL_H */
