/* SPDX-License-Identifier: BSD-3-Clause */
/** @file softhca ctl trace. */
#ifndef SOFTHCA_TRACE_H
#define SOFTHCA_TRACE_H

struct shca_request;

/**
 * Ask the device at the socket @p path about each packet of the capture that @p request names, or
 * the frame of its pattern.
 * @return 0 or a negative errno after a message.
 */
int app_trace(const char *path, const struct shca_request *request);

#endif /* SOFTHCA_TRACE_H */
