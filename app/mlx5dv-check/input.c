/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a run's options or ports, found before anything is changed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

/** @return the port's number in its verbs device; one of a single port needs none */
static unsigned int
number_of(const struct check_port *port)
{
	return port->number == 0 ? 1 : port->number;
}

bool
check_input_has_two_ends(const struct check *check)
{
	const struct check_port *port = &check->port[CHECK_PORT], *peer = &check->port[CHECK_PEER];

	if (port->ibdev[0] == '\0' || strcmp(port->ibdev, peer->ibdev) != 0 ||
		number_of(port) != number_of(peer))
		return true;
	fprintf(stderr,
		"mlx5dv-check: --peer %s is --ibdev itself, not the other end of its cable\n",
		peer->name);
	return false;
}

bool
check_input_peer_is_other(const struct check *check)
{
	const struct check_port *port = &check->port[CHECK_PORT], *peer = &check->port[CHECK_PEER];

	/* Of several ports of one device each has a netdev of its own. */
	if (peer->ibdev[0] != '\0' || port->info.if_index == 0 ||
		port->info.if_index != peer->info.if_index)
		return true;
	fprintf(stderr,
		"mlx5dv-check: --peer %s is the netdev of %s itself, whose frames go onto the wire, not the other end of its cable\n",
		peer->name, port->name);
	return false;
}

bool
check_input_can_write(const char *path)
{
	const bool was_there = access(path, F_OK) == 0;
	/* What is there stays until there is a report. */
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	char made[PATH_MAX];

	if (fd < 0) {
		fprintf(stderr, "mlx5dv-check: cannot write %s: %s\n", path, strerror(errno));
		return false;
	}
	close(fd);
	/* The user's link may lead to where the file is to be. */
	if (!was_there && realpath(path, made) != NULL)
		(void)unlink(made);
	return true;
}

bool
check_input_has_links(struct check *check)
{
	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++) {
		const struct check_port *port = &check->port[side];
		char name[IF_NAMESIZE], *netdev = if_indextoname(port->info.if_index, name);
		const uint64_t end = check_wait_end(check);

		while (!check_port_has_link(port)) {
			if (check_wait_on(end))
				continue;
			fprintf(stderr,
				"mlx5dv-check: %s has no link: is its cable plugged in at both ends%s%s?\n",
				port->name, netdev != NULL ? ", and its netdev up, " : "",
				netdev != NULL ? netdev : "");
			return false;
		}
	}
	return true;
}
