/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * fte_match_param -> match. fte_match_param is the device's own form (PRM, "Flow Table Entry Match
 * Parameters"), which matchers of mlx5dv have instead of specs.
 *
 * It has parts of 64 bytes; bit i of the criteria enables part i: 0 outer headers, 1 misc, 2 inner
 * headers, 3 misc 2 and so on. Fields are big-endian bit strings.
 */
#ifndef SHCA_STEERING_MATCH_PARAM_H
#define SHCA_STEERING_MATCH_PARAM_H

#include <stdbool.h>
#include <stdint.h>

#include "steering/match/field.h"

#define SHCA_PARAM_PART_BYTES 64
#define SHCA_PARAM_NB_PARTS   7 /**< as many as criteria can name, Linux 6.1 */
#define SHCA_PARAM_BYTES      640

/** A mask or a value; bytes that the caller did not give are 0. */
struct shca_param {
	uint8_t bytes[SHCA_PARAM_BYTES];
};

/**
 * Nobody looks at mask bits in parts that @p criteria does not name.
 * @return 0; -EINVAL: an unknown part, value bits outside the mask (fs_core check_valid_spec);
 * -EOPNOTSUPP: a field that is not modelled
 */
int shca_param_match(uint8_t criteria, const struct shca_param *mask,
	const struct shca_param *value, struct shca_match *match);

/** @return true when mlx5_ib takes the rule for a multicast-only one (raw_fs_is_multicast). */
bool shca_param_is_multicast(
	uint8_t criteria, const struct shca_param *mask, const struct shca_param *value);

#endif /* SHCA_STEERING_MATCH_PARAM_H */
