/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper/nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/entry/file.h"

struct node {
	LIST_ENTRY(node) link;
	struct shca_file *file;
	dev_t dev;
	ino_t ino;
	int watch;
	unsigned int nb_users; /* requests */
	bool is_closed;        /* nobody has it; the last request closes it */
};

struct shca_nodes {
	pthread_mutex_t lock;
	int inotify;
	LIST_HEAD(, node) list;
};

struct shca_nodes *
shca_nodes_create(void)
{
	struct shca_nodes *nodes = calloc(1, sizeof(*nodes));

	if (nodes == NULL)
		return NULL;
	nodes->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (nodes->inotify < 0) {
		free(nodes);
		return NULL;
	}
	pthread_mutex_init(&nodes->lock, NULL);
	return nodes;
}

static void
close_node(struct node *node)
{
	shca_file_close(node->file);
	free(node);
}

void
shca_nodes_destroy(struct shca_nodes *nodes)
{
	struct node *node;

	while ((node = LIST_FIRST(&nodes->list)) != NULL) {
		LIST_REMOVE(node, link);
		close_node(node);
	}
	close(nodes->inotify);
	pthread_mutex_destroy(&nodes->lock);
	free(nodes);
}

int
shca_nodes_fd(const struct shca_nodes *nodes)
{
	return nodes->inotify;
}

/**
 * Open the file behind @p fd again: the program's is an open file of its own. Ours is closed when
 * the device has given up its mappings, and then nobody watches. The program's alone can be
 * written: who looks through /proc has others. Bytes go where no file has room, as write(2) gives
 * commands, and not memory.
 */
static int
watch(struct shca_nodes *nodes, struct node *node, int fd)
{
	struct stat status;
	char path[32];
	int theirs;

	if (fstat(fd, &status) != 0)
		return -errno;
	node->dev = status.st_dev;
	node->ino = status.st_ino;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	theirs = open(path, O_RDWR | O_CLOEXEC);
	if (theirs < 0)
		return -errno;
	node->watch = inotify_add_watch(nodes->inotify, path, IN_CLOSE_WRITE);
	if (node->watch >= 0 && lseek(theirs, INT64_MAX, SEEK_SET) == INT64_MAX)
		return theirs;
	close(theirs);
	return -errno;
}

int
shca_nodes_open(struct shca_nodes *nodes, struct shca_device *dev)
{
	struct node *node = calloc(1, sizeof(*node));
	int fd, ret;

	if (node == NULL)
		return -ENOMEM;
	ret = shca_file_open(dev, true, &node->file, &fd);
	if (ret != 0) {
		free(node);
		return ret;
	}
	pthread_mutex_lock(&nodes->lock);
	ret = watch(nodes, node, fd);
	if (ret >= 0)
		LIST_INSERT_HEAD(&nodes->list, node, link);
	pthread_mutex_unlock(&nodes->lock);
	close(fd);
	if (ret < 0)
		close_node(node);
	return ret;
}

/** The lock is held. */
static void
closed(struct shca_nodes *nodes, int watch_number)
{
	struct node *node;

	LIST_FOREACH (node, &nodes->list, link)
		if (node->watch == watch_number)
			break;
	if (node == NULL)
		return;
	inotify_rm_watch(nodes->inotify, node->watch);
	node->is_closed = true;
	if (node->nb_users != 0)
		return;
	LIST_REMOVE(node, link);
	close_node(node);
}

void
shca_nodes_reap(struct shca_nodes *nodes)
{
	_Alignas(struct inotify_event) char events[4096];
	const struct inotify_event *event;
	ssize_t nb;

	pthread_mutex_lock(&nodes->lock);
	while ((nb = read(nodes->inotify, events, sizeof(events))) > 0) {
		for (char *at = events; at < events + nb; at += sizeof(*event) + event->len) {
			event = (const struct inotify_event *)(void *)at;
			if (event->mask & IN_CLOSE_WRITE)
				closed(nodes, event->wd);
		}
	}
	pthread_mutex_unlock(&nodes->lock);
}

int
shca_nodes_get(struct shca_nodes *nodes, pid_t pid, int fd, struct shca_file **file)
{
	struct stat status;
	struct node *node;
	int ret = -EIO;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	if (stat(path, &status) != 0)
		return errno == ENOENT ? -EBADF : -errno;
	pthread_mutex_lock(&nodes->lock);
	LIST_FOREACH (node, &nodes->list, link)
		if (node->ino == status.st_ino && node->dev == status.st_dev && !node->is_closed) {
			node->nb_users++;
			*file = node->file;
			ret = 0;
			break;
		}
	pthread_mutex_unlock(&nodes->lock);
	return ret;
}

void
shca_nodes_put(struct shca_nodes *nodes, struct shca_file *file)
{
	struct node *node;

	pthread_mutex_lock(&nodes->lock);
	LIST_FOREACH (node, &nodes->list, link)
		if (node->file == file)
			break;
	if (node != NULL && --node->nb_users == 0 && node->is_closed) {
		LIST_REMOVE(node, link);
		close_node(node);
	}
	pthread_mutex_unlock(&nodes->lock);
}
