/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The client's side of a control socket. */
#ifndef SOFTHCA_CTL_CLIENT_H
#define SOFTHCA_CTL_CLIENT_H

#include <stdbool.h>
#include <sys/types.h>

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

/** One of several that are asked. */
struct app_ctl_asked {
	const char *path;
	int ret;    /**< 0 or a negative errno: -EAGAIN: it does not answer */
	char *text; /**< the answer, or a message; NULL: it was not needed. The caller frees it */
	pid_t pid;  /**< the process, once it is known */
	/** @{ To itself. */
	int fd;
	bool broke_off; /**< the answer, in the middle */
			/** @} */
};
/**
 * Send one request to all at once, and wait for the answers together; not for those that stand
 * still, as a stopped process does.
 * @param is_enough whether @p answered makes the others needless, which are left without a text;
 * NULL: none does
 */
void app_ctl_client_all(struct app_ctl_asked *asked, unsigned int nb, const char *line,
	bool (*is_enough)(const struct app_ctl_asked *answered, void *arg), void *arg);

#endif /* SOFTHCA_CTL_CLIENT_H */
