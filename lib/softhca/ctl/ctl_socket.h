/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Control sockets: one a process that has the devices open, in the runner's private directory
 * (mode 0700, removed with the runner).
 *
 *     DIR/ctl.<pid>.<n>    of a process; n distinguishes equal pids of different namespaces
 *     DIR/ctl              a link to the socket of the first process that still lives
 *
 * A socket listens before its name appears, so a refused connection means that the process is
 * gone. Paths may be longer than a socket address holds.
 */
#ifndef SHCA_CTL_CTL_SOCKET_H
#define SHCA_CTL_CTL_SOCKET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** The beginning of the names of runners' directories. */
#define SHCA_CTL_RUNNER_PREFIX "softhca-"
/** Name of the first process's socket. */
#define SHCA_CTL_SOCKET_FIRST "ctl"

/**
 * Listen in @p dir.
 * @param path of the socket, @p path_size bytes
 * @return a non-blocking, close-on-exec descriptor or a negative errno.
 */
int shca_ctl_socket_listen(const char *dir, char *path, size_t path_size);
/** Remove the names of the socket at @p path, while it still listens. */
void shca_ctl_socket_remove(const char *path);
/**
 * Connect to @p path.
 * @return a blocking, close-on-exec descriptor or a negative errno: -ECONNREFUSED when nobody
 * listens any more.
 */
int shca_ctl_socket_connect(const char *path);
/** The same without waiting: -EAGAIN where so many wait already that there is no room. */
int shca_ctl_socket_try(const char *path);
/**
 * Find the sockets of this user: those in @p dir, or with NULL those of every runner below
 * $XDG_RUNTIME_DIR, /run/user/<uid>, /dev/shm and /tmp. Removes sockets of processes that are gone.
 * @param visit called with the path of each
 */
void shca_ctl_socket_find(const char *dir, void (*visit)(const char *path, void *arg), void *arg);

/** @{ The asking side: a line out, a counted answer in. */
/**
 * Send a line, and receive the first line of the answer, "ok 123" or "error 123".
 * @param line without its end
 * @param[out] length of the text that follows, for shca_ctl_socket_receive()
 * @return 0 or a negative errno: -EAGAIN: the other side stands still, -EPROTO: it is no device
 */
int shca_ctl_socket_ask(int fd, const char *line, bool *is_ok, size_t *length);
/** @{ The parts of shca_ctl_socket_ask(). */
int shca_ctl_socket_send(int fd, const char *line);
int shca_ctl_socket_receive_head(int fd, bool *is_ok, size_t *length);
/** @} */
/** Receive exactly @p length bytes. @return 0 or a negative errno. */
int shca_ctl_socket_receive(int fd, char *bytes, size_t length);
/** @} */

#endif /* SHCA_CTL_CTL_SOCKET_H */
