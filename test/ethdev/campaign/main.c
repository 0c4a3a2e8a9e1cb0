/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Usage: ethdev-campaign EAL-ARGUMENTS -- SEED STEPS NB_PORTS [verbs] [damage] [fatal]
 *
 * Ports are net_mlx5dv<i> on mlx5_<i>; one port is looped to itself, two are wired to each other.
 * Each operation is a line on standard output.
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "campaign.h"

#define POOL_MBUFS       4095
#define SMALL_POOL_MBUFS 8191
#define SMALL_ROOM       (RTE_PKTMBUF_HEADROOM + 512)
#define PROBE_TRIES      300

struct campaign campaign;

static const struct campaign_row *const tables[] = {
	campaign_traffic_rows,
	campaign_port_rows,
	campaign_rules_rows,
};

void
campaign_must(bool ok, const char *format, ...)
{
	va_list args;

	if (ok)
		return;
	printf("seed %" PRIu64 " step %u: ", campaign.seed, campaign.step);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	abort();
}

unsigned int
campaign_choose(unsigned int nb)
{
	/* splitmix64 */
	uint64_t z = campaign.random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % nb;
}

bool
campaign_gone(const struct campaign_port *port)
{
	return !port->attached || rte_eth_dev_is_removed(port->id) == 1;
}

bool
campaign_excused(const struct campaign_port *port, int ret)
{
	/* The campaign itself empties the pools. */
	return (campaign.may & (CAMPAIGN_MAY_VERBS | CAMPAIGN_MAY_FATAL)) != 0 ||
		(ret == -ENOMEM && campaign.nb_hoard != 0) || campaign_gone(port);
}

struct campaign_port *
campaign_peer(const struct campaign_port *port)
{
	return &campaign.ports[campaign.nb_ports - 1 - (port - campaign.ports)];
}

static int
attach(struct campaign_port *port)
{
	char name[32];
	int ret = rte_dev_probe(port->args);

	if (ret != 0)
		return ret;
	snprintf(name, sizeof(name), "net_mlx5dv%u", (unsigned int)(port - campaign.ports));
	campaign_must(rte_eth_dev_get_port_by_name(name, &port->id) == 0, "no port %s", name);
	port->attached = true;
	port->configured = false;
	port->started = false;
	port->isolated = false;
	port->vlans = 0;
	campaign_rules_forget(port);
	return 0;
}

static void
detach(struct campaign_port *port)
{
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(port->id, &info);

	campaign_must(ret == 0, "rte_eth_dev_info_get: %s", rte_strerror(-ret));
	ret = campaign_port_stop(port);
	campaign_must(ret == 0 || campaign_excused(port, ret), "rte_eth_dev_stop: %s",
		rte_strerror(-ret));
	if (campaign_choose(2)) {
		ret = rte_eth_dev_close(port->id);
		campaign_must(ret == 0, "rte_eth_dev_close: %s", rte_strerror(-ret));
	}
	ret = rte_dev_remove(info.device);
	campaign_must(ret == 0, "rte_dev_remove: %s", rte_strerror(-ret));
	port->attached = false;
}

static void
attach_insisting(struct campaign_port *port)
{
	int ret = -1;

	for (unsigned int i = 0; i < PROBE_TRIES && ret != 0; i++)
		ret = attach(port);
	/* A dead device stays dead. */
	campaign_must(ret == 0 || campaign.may & CAMPAIGN_MAY_FATAL, "%s: %s", port->args,
		rte_strerror(-ret));
}

/** Count all descriptors but epoll's: EAL's interrupt thread makes a new one whenever it listens
 * to more or less. */
static unsigned int
nb_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	char target[64];
	unsigned int nb = 0;

	campaign_must(dir != NULL, "/proc/self/fd");
	while ((entry = readdir(dir)) != NULL) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[RTE_MAX(len, 0)] = '\0';
		nb += strcmp(target, "anon_inode:[eventpoll]") != 0;
	}
	closedir(dir);
	return nb;
}

/** Attach and detach once. @return the number of open descriptors, with those that the first
 * device leaves */
static unsigned int
warm_up(void)
{
	for (unsigned int i = 0; i < campaign.nb_ports; i++) {
		attach_insisting(&campaign.ports[i]);
		if (campaign.ports[i].attached)
			detach(&campaign.ports[i]);
	}
	return nb_descriptors();
}

static bool
fits(const struct campaign_row *row, const struct campaign_port *port)
{
	if (!port->configured)
		return row->run == campaign_port_configure;
	return row->when == CAMPAIGN_ALWAYS || (row->when == CAMPAIGN_STARTED) == port->started;
}

static const struct campaign_row *
choose_row(const struct campaign_port *port)
{
	const struct campaign_row *row;
	unsigned int sum = 0, at;

	for (unsigned int i = 0; i < RTE_DIM(tables); i++)
		for (row = tables[i]; row->name != NULL; row++)
			sum += fits(row, port) ? row->weight : 0;
	at = campaign_choose(sum);
	for (unsigned int i = 0; i < RTE_DIM(tables); i++) {
		for (row = tables[i]; row->name != NULL; row++) {
			unsigned int weight = fits(row, port) ? row->weight : 0;

			if (at < weight)
				return row;
			at -= weight;
		}
	}
	return NULL;
}

static void
step(void)
{
	struct campaign_port *port = &campaign.ports[campaign_choose(campaign.nb_ports)];
	const struct campaign_row *row;
	int ret;

	if (!port->attached || campaign_choose(100) == 0) {
		printf("%u: port %u: %s\n", campaign.step, port->id,
			port->attached ? "detach" : "attach");
		if (port->attached)
			detach(port);
		else
			attach_insisting(port);
		return;
	}
	row = choose_row(port);
	printf("%u: port %u: %s\n", campaign.step, port->id, row->name);
	ret = row->run(port);
	if (ret == 0)
		return;
	printf("   %s\n", rte_strerror(-ret));
	campaign_must((row->refusal != 0 && ret == row->refusal) || campaign_excused(port, ret),
		"port %u: %s: %s", port->id, row->name, rte_strerror(-ret));
}

/** The last of a port's arguments: plain verbs, or lengths of packets that are copied into WQEs. */
static const char *
choose_sends(void)
{
	static const char *const args[] = { ",mode=ibv", ",mode=ibv", ",tx_inline=60",
		",tx_inline=204", ",tx_inline=924", "", "", "" };

	return args[campaign_choose(RTE_DIM(args))];
}

static void
set_up(unsigned int cache)
{
	campaign.pool = rte_pktmbuf_pool_create(
		"campaign", POOL_MBUFS, cache, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	campaign.small_pool = rte_pktmbuf_pool_create(
		"campaign-small", SMALL_POOL_MBUFS, cache, 0, SMALL_ROOM, SOCKET_ID_ANY);
	campaign_must(campaign.pool != NULL && campaign.small_pool != NULL,
		"rte_pktmbuf_pool_create: %s", rte_strerror(rte_errno));
	for (unsigned int i = 0; i < campaign.nb_ports; i++) {
		snprintf(campaign.ports[i].args, sizeof(campaign.ports[i].args),
			"vdev:net_mlx5dv%u,ibdev=mlx5_%u%s%s", i, i, choose_sends(),
			campaign_choose(2) ? ",rx_cqe_comp=off" : "");
		printf("%s\n", campaign.ports[i].args);
	}
}

/** Check that nothing is left of the ports: all buffers and all descriptors are back. */
static void
close_accounts(unsigned int nb_fds)
{
	const time_t end = time(NULL) + CAMPAIGN_PATIENCE_S;
	unsigned int nb;

	for (unsigned int i = 0; i < campaign.nb_ports; i++) {
		if (campaign.ports[i].attached)
			detach(&campaign.ports[i]);
	}
	nb = rte_mempool_in_use_count(campaign.pool);
	campaign_must(nb == 0, "%u mbufs are missing", nb);
	nb = rte_mempool_in_use_count(campaign.small_pool);
	campaign_must(nb == 0, "%u small mbufs are missing", nb);
	/* EAL's thread closes some descriptors later. */
	while ((nb = nb_descriptors()) > nb_fds)
		campaign_must(time(NULL) < end, "%u file descriptors, %u before", nb, nb_fds);
}

static void
read_arguments(int argc, char **argv, unsigned int *nb_steps)
{
	static const char *const names[] = { "verbs", "damage", "fatal" };

	campaign_must(argc >= 4, "usage: SEED STEPS NB_PORTS [verbs] [damage] [fatal]");
	campaign.seed = campaign.random = strtoull(argv[1], NULL, 0);
	*nb_steps = strtoul(argv[2], NULL, 0);
	campaign.nb_ports = RTE_MIN(strtoul(argv[3], NULL, 0), (unsigned long)CAMPAIGN_PORTS);
	for (int i = 4; i < argc; i++)
		for (unsigned int k = 0; k < RTE_DIM(names); k++)
			campaign.may |= strcmp(argv[i], names[k]) == 0 ? 1u << k : 0;
}

int
main(int argc, char **argv)
{
	const int nb_eal = rte_eal_init(argc, argv);
	unsigned int nb_steps, nb_fds;

	campaign_must(nb_eal >= 0, "rte_eal_init: %s", rte_strerror(rte_errno));
	setvbuf(stdout, NULL, _IOLBF, 0);
	read_arguments(argc - nb_eal, argv + nb_eal, &nb_steps);
	set_up(campaign_choose(2) ? 64 : 0);
	nb_fds = warm_up();
	for (campaign.step = 1; campaign.step <= nb_steps; campaign.step++)
		step();
	campaign_traffic_release();
	for (unsigned int i = 0; i < campaign.nb_ports; i++)
		campaign_settle(&campaign.ports[i]);
	close_accounts(nb_fds);
	return rte_eal_cleanup() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
