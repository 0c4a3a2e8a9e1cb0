/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A frame that a rule matches, as softhca ctl trace takes it. */
#ifndef SOFTHCA_TOP_FRAME_H
#define SOFTHCA_TOP_FRAME_H

#include <stddef.h>

struct app_row;

/**
 * Write the request that traces a frame for a rule: "trace --port 0 eth,/,ipv4,...".
 * @param line also takes the message if there is none
 * @return 0, or -EOPNOTSUPP: the rule matches a field that patterns have no word for.
 */
int app_frame_of_rule(const struct app_row *rule, char *line, size_t size);

#endif /* SOFTHCA_TOP_FRAME_H */
