/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Kernels whose answers differ; a later one is greater. */
#ifndef SHCA_BASE_KERNEL_H
#define SHCA_BASE_KERNEL_H

enum shca_kernel {
	SHCA_KERNEL_5_10,
	SHCA_KERNEL_6_1, /**< unless told otherwise */
	SHCA_KERNEL_6_12,
};

#endif /* SHCA_BASE_KERNEL_H */
