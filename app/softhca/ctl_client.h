/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The client's side of a control socket. */
#ifndef SOFTHCA_CTL_CLIENT_H
#define SOFTHCA_CTL_CLIENT_H

/** @return a connection, or a negative errno with a message in @p text, which the caller frees. */
int app_ctl_client_open(const char *path, char **text);
/**
 * Send the request @p line, without a newline.
 * @param text the answer, or a message; the caller frees it
 * @return 0 or a negative errno.
 */
int app_ctl_client_ask(int fd, const char *line, char **text);
/** Send one request on a connection of its own. */
int app_ctl_client_once(const char *path, const char *line, char **text);

#endif /* SOFTHCA_CTL_CLIENT_H */
