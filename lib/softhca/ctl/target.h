/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The devices of a process, on which the commands work. */
#ifndef SHCA_CTL_TARGET_H
#define SHCA_CTL_TARGET_H

#include <stdio.h>

struct shca_device;
struct shca_request;
struct shca_threads;

struct shca_target {
	struct shca_device *const *devices; /**< mlx5_0 on; borrowed */
	unsigned int nb_devices;
	struct shca_threads *threads; /**< theirs */
};

/** @return the one device that the request means, or NULL with a message in @p out. */
struct shca_device *shca_target_find_one(
	const struct shca_target *target, const struct shca_request *request, FILE *out);

#endif /* SHCA_CTL_TARGET_H */
