/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What the checks of all kinds of queues report (strict/findings.h). Internal to hw/. */
#ifndef SHCA_HW_CHECK_REPORT_H
#define SHCA_HW_CHECK_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "strict/findings.h"

struct shca_device;

/** Report a finding at @p site, whose device is filled in. */
void shca_report(
	struct shca_device *dev, enum shca_finding finding, struct shca_finding_site *site);
/** Report a producer counter beyond the ring, or in the wrong byte order. @param record as the
 * program wrote it @param ci of the device @param nb of the ring */
void shca_report_overrun(struct shca_device *dev, struct shca_finding_site *site, __be32 record,
	uint16_t ci, uint32_t nb);
/** @return what is to be reported of an access to memory, or SHCA_NB_FINDINGS. */
enum shca_finding shca_report_of_access(struct shca_device *dev, uint32_t pdn, uint32_t lkey,
	uint64_t address, uint32_t length, bool write);

#endif /* SHCA_HW_CHECK_REPORT_H */
