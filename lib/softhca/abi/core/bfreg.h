/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * BlueFlame registers that come with a context. Programs use them that cannot ask for dynamic UAR
 * pages: libmlx5 before rdma-core 26, and programs of write(2) alone (drivers/infiniband/hw/mlx5/
 * main.c calc_total_bfregs, qp.c alloc_bfreg). A page has two, and programs map it by its index.
 * QPs get them by class: a QP has a low-latency register, one of the last, for itself. Else it
 * shares the medium register with the fewest users, or the first register.
 */
#ifndef SHCA_ABI_CORE_BFREG_H
#define SHCA_ABI_CORE_BFREG_H

#include <stdbool.h>
#include <stdint.h>

#define SHCA_BFREGS_MAX 512
/** Further registers, mapped for a thread domain; they are not in the kernel's count. */
#define SHCA_BFREGS_DYNAMIC 1024
#define SHCA_BFREG_NONE     UINT32_MAX

struct shca_bfregs {
	uint32_t nb; /**< 0: the context's pages are dynamic */
	uint32_t nb_low_latency;
	bool has_classes; /**< false for the first form of the request: all QPs share register 0 */
	uint16_t nb_users[SHCA_BFREGS_MAX];
};

/** @return 0, -EINVAL, -ENOMEM (more than a context can have). */
int shca_bfreg_init(
	struct shca_bfregs *regs, uint32_t nb, uint32_t nb_low_latency, bool has_classes);
/** @return a register, which other QPs may share. */
uint32_t shca_bfreg_get(struct shca_bfregs *regs);
/** SHCA_BFREG_NONE is allowed. */
void shca_bfreg_put(struct shca_bfregs *regs, uint32_t reg);
/** @return the register's number in an answer, which counts four a page. */
uint32_t shca_bfreg_index(uint32_t reg);

#endif /* SHCA_ABI_CORE_BFREG_H */
