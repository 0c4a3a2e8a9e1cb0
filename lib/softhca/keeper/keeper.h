/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The keeper of a card: the process that has the devices, so that they outlive programs and are the
 * same for all. Programs' calls come to it by a socket in the card's directory (keeper/message.h);
 * their rings and buffers are mapped here, so that frames go as they do where the devices are in
 * the program (doc/design/card.md).
 */
#ifndef SHCA_KEEPER_KEEPER_H
#define SHCA_KEEPER_KEEPER_H

#include <sys/types.h>

struct shca_options;
struct shca_set;

struct shca_keeper_conf {
	const char *dir; /**< the card's */
	const struct shca_options *options;
	struct shca_set *set; /**< it runs */
	mode_t mode;          /**< of the socket: who may open the card's nodes */
};

/** @return a listening, close-on-exec descriptor, or a negative errno after a message. */
int shca_keeper_listen(const struct shca_keeper_conf *conf);
/**
 * Serve programs until @p stop_fd is readable; then close what they have open.
 * @param listen_fd of shca_keeper_listen(); is closed
 * @return 0 or a negative errno after a message. Afterwards the process must end: programs may
 * still have sessions.
 */
int shca_keeper_run(const struct shca_keeper_conf *conf, int listen_fd, int stop_fd);

#endif /* SHCA_KEEPER_KEEPER_H */
