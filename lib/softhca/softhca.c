/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and connects the wires, devices and device threads of a set. */
#include "softhca.h"

#include <errno.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "config/options.h"
#include "config/options_ports.h"
#include "ctl/server.h"
#include "eswitch/eswitch.h"
#include "eswitch/manager.h"
#include "fault/faults.h"
#include "hw/device/device.h"
#include "hw/device/threads.h"
#include "strict/findings.h"
#include "sysfs/tree.h"
#include "ucma/nobody.h"
#include "ucma/rdma.h"
#include "wire/faulty.h"
#include "wire/wire.h"

struct port {
	struct shca_model model; /**< the options' one, as the host has it */
	struct shca_wire *wire;
	struct shca_wire *vport;  /**< of a card's first port: its end of the switch */
	struct shca_wire *kernel; /**< NULL: no netdev */
	struct shca_wire *rep;    /**< netdev of its representor; NULL: none */
};

struct shca_set {
	struct shca_options options; /**< wires borrow strings and addresses from it */
	struct port port[SHCA_PORTS_MAX];
	struct shca_device *device[SHCA_PORTS_MAX];
	struct shca_threads *threads; /**< NULL: stopped */
	struct shca_server *server;   /**< NULL: no control socket */
	bool was_frozen;              /**< when it was paused */
	pthread_mutex_t rdma_lock;    /**< of making the next one */
	struct shca_rdma *rdma;       /**< NULL: nobody has opened the node of connections */
	struct shca_findings findings;
	struct shca_faults *faults;  /**< NULL: none */
	char dir[SHCA_TREE_DIR_MAX]; /**< the runner's; "": none */
};

static void
show_counter(unsigned int index, const char *name, uint64_t count, void *arg)
{
	const struct shca_set *set = arg;
	const uint32_t nb_vports = shca_options_ports_vports(&set->options, index);
	int ret = 0;

	/* All ports of a manager show one count (mlx5_ib counters.c, get_counters). */
	for (uint32_t port = 1; port <= (nb_vports != 0 ? nb_vports : 1) && ret == 0; port++)
		ret = shca_tree_set_counter(set->dir, index, port, name, count);

	if (ret != 0)
		SHCA_DEBUG("mlx5_%u: %s not written: %s", index, name, strerror(-ret));
}

static void
show_link(unsigned int index, uint32_t port, bool up, void *arg)
{
	const struct shca_set *set = arg;
	int ret = shca_tree_set_link(set->dir, index, port, up);

	if (ret != 0)
		SHCA_DEBUG("mlx5_%u: link state not written: %s", index, strerror(-ret));
}

static void
show_netdev(unsigned int index, uint32_t port, const struct shca_netdev *netdev, void *arg)
{
	const struct shca_set *set = arg;
	static const uint8_t unknown[sizeof(netdev->mac)];
	struct shca_tree_netdev shown = { .ifindex = netdev->ifindex, .netns = netdev->netns };
	int ret = 0;

	strcpy(shown.name, netdev->name);
	if (shown.name[0] != '\0' && set->dir[0] != '\0')
		ret = shca_tree_set_netdev(set->dir, index, port, &shown);
	if (ret == 0 && shown.name[0] != '\0' && set->dir[0] != '\0' &&
		memcmp(netdev->mac, unknown, sizeof(unknown)) != 0)
		ret = shca_tree_set_mac(set->dir, index, port, netdev->mac);
	if (ret != 0)
		SHCA_DEBUG("mlx5_%u: the netdev was not written: %s", index, strerror(-ret));
}

static void
show_gid(unsigned int index, uint32_t pair, const uint8_t *gid, void *arg)
{
	const struct shca_set *set = arg;
	int ret = shca_tree_set_gid(set->dir, index, pair, gid);

	if (ret != 0)
		SHCA_DEBUG("mlx5_%u: GIDs not written: %s", index, strerror(-ret));
}

static int
open_wire(const struct shca_port_options *port, const struct shca_wire_options *options,
	struct shca_wire **wire)
{
	const struct shca_wire_conf conf = {
		.arg = options->arg,
		.fd = options->fd,
		.mac = port->mac,
		.pace = port->pace,
		.repeat = port->repeat,
		.delay_ms = port->delay_ms,
		.is_kernel_side = options != &port->wire,
		/* The netdevs of a manager get all frames. */
		.wants_macs = options == &port->kernel && !shca_options_ports_manages(port),
	};

	return options->kind->open(&conf, wire);
}

static void
close_wire(struct shca_wire *wire)
{
	if (wire != NULL)
		wire->ops->close(wire);
}

/** Open a vport on the switch of the port's card, which the card's first port creates. */
static int
open_vport(struct shca_set *set, unsigned int index, struct shca_wire **wire)
{
	const struct shca_port_options *options = &set->options.port[index];
	unsigned int first = shca_options_ports_card(&set->options, index);
	const struct shca_eswitch_vport vport = {
		.mac = options->mac,
		.is_physical = options->is_pf,
		.is_trusted = options->is_trusted,
		/* No netdev can request it later: request it now. */
		.is_promiscuous = options->kernel.kind == NULL,
		.checks_source = options->checks_source,
		.is_switchdev = options->is_switchdev,
		.port = shca_options_ports_rep(&set->options, index),
	};
	struct shca_wire *uplink;
	int ret;

	if (first != index)
		return shca_eswitch_join(set->port[first].vport, &vport, wire);
	ret = open_wire(options, &options->wire, &uplink);
	if (ret != 0)
		return ret;
	ret = shca_eswitch_open(uplink, &vport, wire);
	if (ret != 0)
		uplink->ops->close(uplink);
	else
		set->port[index].vport = *wire;
	return ret;
}

static int
open_manager(struct shca_set *set, unsigned int index, struct shca_wire **wire)
{
	const struct shca_port_options *options = &set->options.port[index];
	struct shca_wire *uplink;
	int ret = open_wire(options, &options->wire, &uplink);

	if (ret != 0)
		return ret;
	ret = shca_eswitch_manage(uplink, shca_options_ports_vports(&set->options, index), wire);
	if (ret != 0)
		uplink->ops->close(uplink);
	else
		set->port[index].vport = *wire;
	return ret;
}

/** Open what a port is connected to: its own wire, or an end of a switch on it. */
static int
open_own_wire(struct shca_set *set, unsigned int index, struct shca_wire **wire)
{
	const struct shca_port_options *options = &set->options.port[index];

	if (shca_options_ports_manages(options))
		return open_manager(set, index, wire);
	if (options->is_vf || options->is_pf)
		return open_vport(set, index, wire);
	return open_wire(options, &options->wire, wire);
}

/** Open the wire that the options name, with faults around it if there are any. */
static int
open_port_wire(struct shca_set *set, unsigned int index)
{
	struct shca_wire *wire;
	int ret = open_own_wire(set, index, &wire);

	if (ret != 0)
		return ret;
	ret = shca_faulty_wrap(set->faults, index, wire, &set->port[index].wire);
	if (ret != 0)
		close_wire(wire);
	return ret;
}

/** Open the netdevs of the representors that a manager has ports for. */
static int
open_reps(struct shca_set *set, unsigned int index, struct shca_device_conf *conf)
{
	int ret = 0;

	conf->nb_vports = shca_options_ports_vports(&set->options, index);
	for (unsigned int rep = 1; rep <= conf->nb_vports && ret == 0; rep++) {
		const int vf = shca_options_ports_of_rep(&set->options, index, rep);
		const struct shca_port_options *options;

		if (vf < 0 || set->options.port[vf].rep.kind == NULL)
			continue;
		options = &set->options.port[vf];
		ret = open_wire(options, &options->rep, &set->port[vf].rep);
		conf->rep[rep - 1] = set->port[vf].rep;
	}
	return ret;
}

static int
open_port(struct shca_set *set, unsigned int index)
{
	const struct shca_port_options *options = &set->options.port[index];
	struct port *port = &set->port[index];
	struct shca_device_conf conf = {
		.model = &port->model,
		.is_vf = options->is_vf,
		.has_devx = options->has_devx,
		.has_rtc = options->has_rtc || options->model.clocks == SHCA_CLOCKS_REAL_ONLY,
		.kernel_abi = options->kernel_abi,
		.profile = options->profile,
		.speed_mbps = options->speed_mbps,
		.index = index,
		.findings = set->findings.mode != SHCA_STRICT_OFF ? &set->findings : NULL,
		.faults = set->faults,
		.counter = set->dir[0] == '\0' ? NULL : show_counter,
		.link = set->dir[0] == '\0' ? NULL : show_link,
		.netdev = show_netdev,
		.gid = set->dir[0] == '\0' ? NULL : show_gid,
		.arg = set,
	};
	int ret;

	port->model = options->model;
	if (options->min_inline != SHCA_MIN_INLINE_UNKNOWN)
		port->model.min_inline = options->min_inline;
	ret = open_port_wire(set, index);
	if (ret == 0 && options->kernel.kind != NULL)
		ret = open_wire(options, &options->kernel, &port->kernel);
	if (ret == 0)
		ret = open_reps(set, index, &conf);
	if (ret != 0)
		return ret;
	memcpy(conf.mac, options->mac, sizeof(conf.mac));
	conf.wire = port->wire;
	conf.kernel = port->kernel;
	ret = shca_device_create(&conf, &set->device[index]);
	if (ret != 0) {
		SHCA_ERR("mlx5_%u: cannot make the device: %s", index, strerror(-ret));
		return ret;
	}
	shca_device_lock(set->device[index]);
	shca_nobody_listen(set->device[index]);
	shca_device_unlock(set->device[index]);
	return 0;
}

/** Map the counts that a strict set shares with the runner. */
static int
open_findings(struct shca_set *set)
{
	char path[sizeof(set->dir) + sizeof("/" SHCA_FINDINGS_FILE)];
	int ret;

	if (set->options.strict == SHCA_STRICT_OFF || set->dir[0] == '\0')
		return 0;
	snprintf(path, sizeof(path), "%s/" SHCA_FINDINGS_FILE, set->dir);
	ret = shca_findings_map(path, false, &set->findings.count);
	if (ret == 0)
		set->findings.mode = set->options.strict;
	else
		SHCA_ERR("cannot open %s: %s", path, strerror(-ret));
	return ret;
}

static int
open_faults(struct shca_set *set)
{
	int ret;

	if (set->dir[0] == '\0')
		return 0;
	ret = shca_faults_open(set->dir, set->options.nb_ports, &set->faults);
	if (ret != 0)
		SHCA_ERR("cannot take the faults from %s: %s", set->dir, strerror(-ret));
	return ret;
}

int
shca_set_open(const struct shca_options *options, struct shca_set **set)
{
	struct shca_set *new = calloc(1, sizeof(*new));
	const char *dir = getenv(SHCA_ENV_DIR);
	int ret;

	if (new == NULL)
		return -ENOMEM;
	new->options = *options;
	pthread_mutex_init(&new->rdma_lock, NULL);
	if (dir != NULL && strlen(dir) < sizeof(new->dir))
		strcpy(new->dir, dir);
	ret = open_findings(new);
	if (ret == 0)
		ret = open_faults(new);
	for (unsigned int i = 0; i < options->nb_ports && ret == 0; i++)
		ret = open_port(new, i);
	if (ret != 0) {
		shca_set_close(new);
		return ret;
	}
	*set = new;
	return 0;
}

/** Start the control socket; without it the device still works. */
static void
start_server(struct shca_set *set)
{
	const struct shca_target target = {
		.devices = set->device,
		.nb_devices = set->options.nb_ports,
		.threads = set->threads,
	};
	int ret;

	if (set->dir[0] == '\0')
		return;
	ret = shca_server_start(set->dir, &target, &set->options.cpus, &set->server);
	if (ret != 0)
		SHCA_WARN("no control socket in %s: %s", set->dir, strerror(-ret));
}

/** Faults come in an order that their seed decides, which threads would change. */
static int
start_threads(struct shca_set *set)
{
	unsigned int group[SHCA_PORTS_MAX];
	const struct shca_threads_conf conf = {
		.devs = set->device,
		.group = group,
		.nb_devs = set->options.nb_ports,
		.nb_most = set->faults != NULL ? 1 : set->options.nb_threads,
		.cpus = &set->options.cpus,
	};

	for (unsigned int i = 0; i < set->options.nb_ports; i++)
		group[i] = shca_options_ports_card(&set->options, i);
	return shca_threads_start(&conf, &set->threads);
}

int
shca_set_start(struct shca_set *set)
{
	int ret;

	if (set->threads != NULL)
		return 0;
	ret = start_threads(set);
	if (ret == 0)
		ret = shca_rdma_start(set->rdma);
	if (ret == 0)
		start_server(set);
	return ret;
}

void
shca_set_stop(struct shca_set *set)
{
	shca_server_stop(set->server);
	set->server = NULL;
	shca_rdma_stop(set->rdma);
	shca_threads_stop(set->threads);
	set->threads = NULL;
}

/** @return the links of the directory that has one for each thread of this process */
static unsigned int
nb_task_links(void)
{
	struct stat status;

	return stat("/proc/self/task", &status) == 0 ? (unsigned int)status.st_nlink : 0;
}

bool
shca_set_pause(struct shca_set *set)
{
	const unsigned int nb_ours = shca_threads_nb(set->threads) + (set->server != NULL) +
		shca_rdma_is_running(set->rdma);
	const unsigned int before = nb_task_links();

	if (nb_ours == 0)
		return false;
	set->was_frozen = set->threads != NULL && shca_threads_are_frozen(set->threads);
	shca_set_stop(set);
	/* A joined thread may be in its group for some time (Linux release_task). */
	for (unsigned int ms = 0; ms < 1000 && nb_task_links() > before - nb_ours; ms++)
		usleep(1000);
	return true;
}

int
shca_set_resume(struct shca_set *set)
{
	const int ret = shca_set_start(set);

	if (ret == 0 && set->was_frozen)
		shca_threads_freeze(set->threads);
	return ret;
}

void
shca_set_forked(struct shca_set *set)
{
	if (set != NULL)
		shca_server_forked(set->server);
}

void
shca_set_close(struct shca_set *set)
{
	if (set == NULL)
		return;
	shca_set_stop(set);
	shca_rdma_destroy(set->rdma);
	for (unsigned int i = 0; i < set->options.nb_ports; i++) {
		shca_device_destroy(set->device[i]);
		close_wire(set->port[i].kernel);
		close_wire(set->port[i].rep);
		close_wire(set->port[i].wire);
	}
	shca_faults_close(set->faults);
	shca_findings_unmap(set->findings.count);
	pthread_mutex_destroy(&set->rdma_lock);
	free(set);
}

static int
make_rdma(struct shca_set *set)
{
	const struct shca_rdma_conf conf = {
		.devices = set->device,
		.nb_devices = set->options.nb_ports,
	};
	int ret = shca_rdma_create(&conf, &set->rdma);

	if (ret == 0 && set->threads != NULL)
		ret = shca_rdma_start(set->rdma);
	if (ret == 0)
		return 0;
	SHCA_ERR("no connections of RDMA: %s", strerror(-ret));
	shca_rdma_destroy(set->rdma);
	set->rdma = NULL;
	return ret;
}

struct shca_ucma *
shca_set_ucma(struct shca_set *set)
{
	int ret = 0;

	pthread_mutex_lock(&set->rdma_lock);
	if (set->rdma == NULL)
		ret = make_rdma(set);
	pthread_mutex_unlock(&set->rdma_lock);
	return ret == 0 ? shca_rdma_ucma(set->rdma) : NULL;
}

struct shca_ucma *
shca_set_has_ucma(struct shca_set *set)
{
	struct shca_ucma *ucma;

	pthread_mutex_lock(&set->rdma_lock);
	ucma = set->rdma != NULL ? shca_rdma_ucma(set->rdma) : NULL;
	pthread_mutex_unlock(&set->rdma_lock);
	return ucma;
}

struct shca_device *
shca_set_device(struct shca_set *set, unsigned int idx)
{
	return idx < set->options.nb_ports ? set->device[idx] : NULL;
}

unsigned int
shca_set_step(struct shca_set *set)
{
	unsigned int work = 0;

	for (unsigned int i = 0; i < set->options.nb_ports; i++)
		work += shca_device_step(set->device[i]);
	return work;
}
