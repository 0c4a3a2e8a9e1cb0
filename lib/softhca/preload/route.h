/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * From paths to ports, which a keeper has (client/link.h). Where there is none (SOFTHCA_KEEPER=0)
 * the process has a set of devices of its own, opened with the first node; a process that opens no
 * node has no device, no device thread and no wire.
 *
 * Without SHCA_ENV_DIR in the environment no path is ours.
 */
#ifndef SHCA_PRELOAD_ROUTE_H
#define SHCA_PRELOAD_ROUTE_H

#include <stdbool.h>

struct shca_nldev;
struct shca_ucma;

/** Kinds of paths. */
enum shca_route {
	SHCA_ROUTE_ELSEWHERE, /**< not a node */
	SHCA_ROUTE_ABSENT,    /**< a node's name, but no such port */
	SHCA_ROUTE_PORT,      /**< of a port, or SHCA_NODE_RDMA_CM */
};

/** @param[out] port of SHCA_ROUTE_PORT. Never changes errno. */
enum shca_route shca_route_find(const char *path, unsigned int *port);
/** The same for a path to open: what leads to a descriptor of a node is its port's, too, as a
 * device that is opened by such a link is opened anew. */
enum shca_route shca_route_find_open(const char *path, unsigned int *port);
/** @return whether a runner's directory is set, so the process sees our devices and no others. */
bool shca_route_is_active(void);
/** @return the directory of the card if it has a keeper, else NULL. */
const char *shca_route_keeper(void);
/** Open the node of @p port. @return a descriptor or a negative errno, after a message. */
int shca_route_open(unsigned int port, bool cloexec);
/** Look whether @p fd, which this process has not opened, is a node of a card that has a keeper: it
 * came from another process, or by exec(). If so it is one of ours from now on. Keeps errno. */
bool shca_route_adopt(int fd);
/** @return whether @p fd is such a node, and none of ours yet. Keeps errno. */
bool shca_route_is_passed(int fd);
/** @return what answers on the node of connections in this process, or NULL: there is none (any
 * more).
 */
struct shca_ucma *shca_route_ucma(void);
/** Set what answers of RDMA netlink are about. @return 0 or a negative errno. */
int shca_route_nldev(struct shca_nldev *nldev);
/** End the device's threads, as the caller needs to be alone. @return whether there were any: then
 * shca_route_resume() follows, and until then nothing is opened or closed. */
bool shca_route_pause(void);
void shca_route_resume(void);
/** Answer what ethtool asks of a netdev. @return as shca_nldev_ethtool(). */
int shca_route_ethtool(const void *request);
/** The same by @p command, a structure of SIOCETHTOOL in this process. */
int shca_route_ask(const struct shca_nldev *nldev, const char *netdev, void *command);
/** Correct the kernel's answer to such a question. */
void shca_route_drvinfo(const void *request);
/** In a child: forget what is the parent's, and locks that anyone held. */
void shca_route_forked(void);
/** A child of fork() must not use what its parent has with a keeper: for connections that are made
 * before a node is opened. */
void shca_route_watch_forks(void);
/** Device number of the node of @p port. */
unsigned long shca_route_rdev(unsigned int port);

#endif /* SHCA_PRELOAD_ROUTE_H */
