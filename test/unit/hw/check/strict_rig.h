/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A strict device on a rig, and what it says on standard error.
 */
#ifndef TEST_HW_STRICT_RIG_H
#define TEST_HW_STRICT_RIG_H

#include "rig.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hw/check/doorbell.h"
#include "hw/check/strict.h"
#include "strict/findings.h"

/** What one program did: findings, and what they said. */
struct strict_rig {
	struct rig rig;
	struct shca_findings findings;
	uint64_t count[SHCA_NB_FINDINGS];
	char said[8192];
	int saved, file;
	uint64_t page[512]; /* a UAR page */
	struct shca_doorbell_page doorbells;
};

static inline void
strict_rig_start(struct strict_rig *strict_rig)
{
	memset(strict_rig, 0, sizeof(*strict_rig));
	strict_rig->findings.mode = SHCA_STRICT_REPORT;
	strict_rig->findings.count = strict_rig->count;
	strict_rig->saved = dup(STDERR_FILENO);
	strict_rig->file = memfd_create("stderr", 0);
	assert_true(strict_rig->file >= 0);
	dup2(strict_rig->file, STDERR_FILENO);
	rig_init(&strict_rig->rig);
	strict_rig->rig.findings = &strict_rig->findings;
}

static inline void
strict_rig_end(struct strict_rig *strict_rig)
{
	ssize_t nb;

	rig_close(&strict_rig->rig);
	dup2(strict_rig->saved, STDERR_FILENO);
	close(strict_rig->saved);
	nb = pread(strict_rig->file, strict_rig->said, sizeof(strict_rig->said) - 1, 0);
	assert_true(nb >= 0);
	close(strict_rig->file);
}

/** SEND of one frame of 100 bytes, given up before it is posted. */
static inline void
strict_rig_send(struct rig *rig, struct rig_wqe *wqe)
{
	uint8_t frame[100];

	rig_wqe_start(wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(wqe, 0, 0, NULL, 0);
	rig_wqe_pointer(wqe, rig->mr->lkey,
		rig_place(rig, 0, frame, rig_frame(frame, sizeof(frame), 1)), sizeof(frame));
}

/** The page is a UAR page of the program's; the device is open. */
static inline void
strict_rig_watch(struct strict_rig *strict_rig)
{
	shca_device_lock(strict_rig->rig.dev);
	shca_doorbell_watch(
		strict_rig->rig.dev, &strict_rig->doorbells, (uint8_t *)strict_rig->page);
	shca_device_unlock(strict_rig->rig.dev);
}

#endif /* TEST_HW_STRICT_RIG_H */
