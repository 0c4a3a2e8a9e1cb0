/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The objects of mlx5's own: UAR pages. methods.c has no row for others. */
#ifndef SHCA_ABI_OBJECT_MLX5_H
#define SHCA_ABI_OBJECT_MLX5_H

#include <stdbool.h>
#include <stdint.h>

struct shca_file;

/** @return whether the file holds the UAR page that queues name @p page. */
bool shca_mlx5_has_uar_page(const struct shca_file *file, uint32_t page);

#endif /* SHCA_ABI_OBJECT_MLX5_H */
