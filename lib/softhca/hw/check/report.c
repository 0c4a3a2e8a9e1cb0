/* SPDX-License-Identifier: BSD-3-Clause */
#include "hw/check/report.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "hw/state/device.h"

void
shca_report(struct shca_device *dev, enum shca_finding finding, struct shca_finding_site *site)
{
	site->device = dev->conf.index;
	shca_findings_report(dev->conf.findings, finding, site);
}

void
shca_report_overrun(struct shca_device *dev, struct shca_finding_site *site, __be32 record,
	uint16_t ci, uint32_t nb)
{
	const uint16_t pi = (uint16_t)be32toh(record);
	const bool is_swapped =
		le32toh(record) <= UINT16_MAX && (uint16_t)(le32toh(record) - ci) <= nb;
	char text[128];

	snprintf(text, sizeof(text),
		"producer counter %u (record 0x%08" PRIx32 "), device at %u, ring of %" PRIu32, pi,
		be32toh(record), ci, nb);
	site->index = pi;
	site->decoded = text;
	shca_report(dev, is_swapped ? SHCA_FINDING_RECORD_ORDER : SHCA_FINDING_RING_OVERRUN, site);
}

enum shca_finding
shca_report_of_access(struct shca_device *dev, uint32_t pdn, uint32_t lkey, uint64_t address,
	uint32_t length, bool write)
{
	switch (shca_mem_explain(dev->mem, pdn, lkey, address, length, write)) {
	case SHCA_MEM_GOOD:
		return SHCA_NB_FINDINGS;
	case SHCA_MEM_OUTSIDE:
		return SHCA_FINDING_ADDRESS;
	default:
		return SHCA_FINDING_LKEY;
	}
}
