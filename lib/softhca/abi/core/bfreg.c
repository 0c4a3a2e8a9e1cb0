/* SPDX-License-Identifier: BSD-3-Clause */
/* BlueFlame registers of a context, allocated by class. */
#include "abi/core/bfreg.h"

#include <errno.h>

#define PER_PAGE     2 /* MLX5_NON_FP_BFREGS_PER_UAR */
#define PER_PAGE_ALL 4 /* including those of the kernel's fast path */

int
shca_bfreg_init(struct shca_bfregs *regs, uint32_t nb, uint32_t nb_low_latency, bool has_classes)
{
	if (nb == 0)
		return -EINVAL;
	if (nb > SHCA_BFREGS_MAX)
		return -ENOMEM;
	nb = (nb + PER_PAGE - 1) / PER_PAGE * PER_PAGE;
	if (nb_low_latency > nb - 1)
		return -EINVAL;
	*regs = (struct shca_bfregs){
		.nb = nb,
		.nb_low_latency = nb_low_latency,
		.has_classes = has_classes,
	};
	return 0;
}

/** As Linux alloc_high_class_bfreg, then alloc_med_class_bfreg, then register 0. */
static uint32_t
choose(const struct shca_bfregs *regs)
{
	const uint32_t first_high = regs->nb - regs->nb_low_latency;
	uint32_t best = 1;

	if (!regs->has_classes)
		return 0;
	for (uint32_t reg = first_high; reg < regs->nb; reg++)
		if (regs->nb_users[reg] == 0)
			return reg;
	if (first_high <= 1)
		return 0;
	for (uint32_t reg = 1; reg < first_high; reg++)
		if (regs->nb_users[reg] < regs->nb_users[best])
			best = reg;
	return best;
}

uint32_t
shca_bfreg_get(struct shca_bfregs *regs)
{
	uint32_t reg = choose(regs);

	regs->nb_users[reg]++;
	return reg;
}

void
shca_bfreg_put(struct shca_bfregs *regs, uint32_t reg)
{
	if (reg != SHCA_BFREG_NONE)
		regs->nb_users[reg]--;
}

uint32_t
shca_bfreg_index(uint32_t reg)
{
	return reg / PER_PAGE * PER_PAGE_ALL + reg % PER_PAGE;
}
