/* SPDX-License-Identifier: BSD-3-Clause */
/* Conflicts between ports: a TAP has one owner, a pair two ends, and a wire one card, whose
 * functions share it. */
#include "config/options_ports.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/refuse.h"
#include "config/model.h"
#include "config/options.h"
#include "wire/wire.h"

struct check {
	const struct shca_options *options;
	const struct shca_port_options *port;
	struct shca_refusal refusal;
};

static bool
is_kind(const struct shca_wire_options *wire, const char *name)
{
	return wire->kind != NULL && strcmp(wire->kind->name, name) == 0;
}

static bool
same_wire(const struct shca_wire_options *a, const struct shca_wire_options *b)
{
	return a->kind != NULL && a->kind == b->kind && strcmp(a->arg, b->arg) == 0;
}

bool
shca_options_ports_manages(const struct shca_port_options *port)
{
	return port->is_switchdev && !port->is_vf;
}

static bool
shares_card(const struct shca_port_options *port)
{
	return port->is_vf || port->is_pf || shca_options_ports_manages(port);
}

static bool
same_card(const struct shca_port_options *a, const struct shca_port_options *b)
{
	return shares_card(a) && shares_card(b) && same_wire(&a->wire, &b->wire);
}

unsigned int
shca_options_ports_card(const struct shca_options *options, unsigned int index)
{
	for (unsigned int i = 0; i < index; i++)
		if (same_card(&options->port[i], &options->port[index]))
			return i;
	return index;
}

unsigned int
shca_options_ports_vf(const struct shca_options *options, unsigned int index)
{
	unsigned int nb = 0;

	for (unsigned int i = 0; i < index; i++)
		nb += options->port[i].is_vf && same_card(&options->port[i], &options->port[index]);
	return nb;
}

unsigned int
shca_options_ports_nb_vfs(const struct shca_options *options, unsigned int index)
{
	unsigned int nb = 0;

	for (unsigned int i = index + 1; i < options->nb_ports; i++)
		nb += options->port[i].is_vf && same_card(&options->port[i], &options->port[index]);
	return nb;
}

/** The first functions' vports have the numbers behind the manager's. */
#define FIRST_REP 2u

int
shca_options_ports_of_rep(const struct shca_options *options, unsigned int index, unsigned int rep)
{
	for (unsigned int i = index + 1; i < options->nb_ports; i++)
		if (same_card(&options->port[i], &options->port[index]) &&
			FIRST_REP + shca_options_ports_vf(options, i) == rep)
			return (int)i;
	return -1;
}

unsigned int
shca_options_ports_vports(const struct shca_options *options, unsigned int index)
{
	unsigned int uplink = FIRST_REP;

	if (!shca_options_ports_manages(&options->port[index]))
		return 0;
	while (shca_options_ports_of_rep(options, index, uplink) >= 0)
		uplink++;
	return uplink;
}

unsigned int
shca_options_ports_rep(const struct shca_options *options, unsigned int index)
{
	const unsigned int first = shca_options_ports_card(options, index);

	if (!options->port[index].is_vf || !shca_options_ports_manages(&options->port[first]))
		return 0;
	return FIRST_REP + shca_options_ports_vf(options, index);
}

/** Linux takes a random one (en_rep.c, mlx5e_build_rep_netdev); here it is found again. */
void
shca_options_ports_rep_mac(const struct shca_port_options *port, uint8_t mac[6])
{
	memcpy(mac, port->mac, sizeof(port->mac));
	mac[0] |= 0x02; /* locally administered */
	mac[1] ^= 0x80;
}

/** What a host sets of a virtual function, in legacy mode only (Linux mlx5_eswitch_set_vport_trust,
 * mlx5_eswitch_set_vport_spoofchk: EOPNOTSUPP). */
static int
check_host(const struct check *check)
{
	const struct shca_port_options *port = check->port;
	const char *legacy = port->is_trusted ? "trust" : port->checks_source ? "spoof" : NULL;

	/* Later generations do not let the host choose (wqe_inline_mode is NOT_REQUIRED). */
	if (port->min_inline != SHCA_MIN_INLINE_UNKNOWN &&
		(!port->is_vf || port->model.min_inline != SHCA_MIN_INLINE_L2))
		return shca_refuse(&check->refusal,
			"inline: needs vf=on and a model whose host can demand headers: cx4lx");
	if (!port->is_vf && legacy != NULL)
		return shca_refuse(&check->refusal,
			"%s: needs vf=on: a port of its own has nobody above it", legacy);
	if (legacy != NULL && port->is_switchdev)
		return shca_refuse(
			&check->refusal, "%s: a host in switchdev mode cannot set it", legacy);
	return 0;
}

/** What a port can be at once: a virtual function, the physical one, or the switch's manager. */
static int
check_pf(const struct check *check)
{
	const struct shca_port_options *port = check->port;

	if (port->is_pf && port->is_vf)
		return shca_refuse(&check->refusal,
			"pf: a port is the physical function or a virtual one, not both");
	if (port->is_pf && port->is_switchdev)
		return shca_refuse(&check->refusal,
			"pf: with switchdev=on the port is the physical function as it is, with a port a function");
	return 0;
}

/** The functions of a card have one model, one switch, and addresses of their own. */
static int
check_vf(const struct check *check)
{
	const struct shca_port_options *port = check->port;
	int ret = check_pf(check);

	if (ret == 0)
		ret = check_host(check);
	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < check->options->nb_ports; i++) {
		const struct shca_port_options *other = &check->options->port[i];

		if (!same_card(port, other))
			continue;
		if (shca_options_ports_manages(port))
			return shca_refuse(&check->refusal,
				"switchdev: the manager comes before port %u, of the same card", i);
		if (port->is_pf)
			return shca_refuse(&check->refusal,
				"pf: the physical function comes before port %u, of the same card",
				i);
		if (memcmp(&port->model, &other->model, sizeof(port->model)) != 0 ||
			port->speed_mbps != other->speed_mbps)
			return shca_refuse(&check->refusal,
				"vf: model and speed are those of port %u, of the same card", i);
		if (port->is_switchdev != other->is_switchdev)
			return shca_refuse(&check->refusal,
				"switchdev: port %u, of the same card, has the other mode", i);
		if (memcmp(port->mac, other->mac, sizeof(port->mac)) == 0)
			return shca_refuse(
				&check->refusal, "mac: port %u, of the same card, has it", i);
	}
	return 0;
}

/** A TAP is the netdev of one port. */
static int
check_netdev(const struct check *check, const char *key, const struct shca_wire_options *netdev)
{
	if (!is_kind(netdev, "tap"))
		return 0;
	if (same_wire(netdev, &check->port->wire))
		return shca_refuse(
			&check->refusal, "%s: %s is the port's wire already", key, netdev->arg);
	for (unsigned int i = 0; i < check->options->nb_ports; i++) {
		const struct shca_port_options *other = &check->options->port[i];

		if (same_wire(netdev, &other->kernel) || same_wire(netdev, &other->wire) ||
			same_wire(netdev, &other->rep))
			return shca_refuse(&check->refusal, "%s: %s belongs to port %u already",
				key, netdev->arg, i);
	}
	return 0;
}

/** A representor is beside a manager, and has a netdev of its own. */
static int
check_rep(const struct check *check)
{
	const struct shca_port_options *port = check->port;
	const struct shca_options *options = check->options;

	if (port->rep.kind == NULL)
		return 0;
	for (unsigned int i = 0; i < options->nb_ports; i++)
		if (port->is_vf && shca_options_ports_manages(&options->port[i]) &&
			same_card(port, &options->port[i]))
			return same_wire(&port->rep, &port->kernel)
				? shca_refuse(&check->refusal,
					  "rep: %s is the function's netdev already", port->rep.arg)
				: check_netdev(check, "rep", &port->rep);
	return shca_refuse(&check->refusal,
		"rep: needs vf=on and a port with switchdev=on, vf=off on the same wire before it");
}

static int
check_wire(const struct check *check)
{
	const struct shca_wire_options *wire = &check->port->wire;
	const struct shca_options *options = check->options;
	unsigned int nb_ends = 0;
	bool is_netdev = false;

	for (unsigned int i = 0; i < options->nb_ports; i++) {
		const struct shca_port_options *other = &options->port[i];

		if (same_card(check->port, other))
			return 0;
		nb_ends +=
			same_wire(wire, &other->wire) && shca_options_ports_card(options, i) == i;
		is_netdev = is_netdev || same_wire(wire, &other->kernel) ||
			same_wire(wire, &other->rep);
	}
	if (is_kind(wire, "pair") && nb_ends >= 2)
		return shca_refuse(
			&check->refusal, "wire: pair:%s has two ends already", wire->arg);
	if (is_kind(wire, "tap") && (nb_ends >= 1 || is_netdev))
		return shca_refuse(
			&check->refusal, "wire: %s belongs to another port already", wire->arg);
	return 0;
}

/** Write the name of a file to be with its directory's own. @return whether there is one */
static bool
name_new(const char *file, char name[PATH_MAX])
{
	const char *slash = strrchr(file, '/');
	char dir[PATH_MAX] = ".";
	size_t length;

	if (slash != NULL)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - file + 1), file);
	if (realpath(dir, name) == NULL)
		return false;
	length = strlen(name);
	snprintf(name + length, PATH_MAX - length, "/%s", slash != NULL ? slash + 1 : file);
	return true;
}

/** @return whether both are names of one file, which may be made only later. */
static bool
same_file(const char *a, const char *b)
{
	char one_name[PATH_MAX], other_name[PATH_MAX];
	struct stat one, other;
	const bool is_one = stat(a, &one) == 0, is_other = stat(b, &other) == 0;

	if (strcmp(a, b) == 0)
		return true;
	if (is_one && is_other)
		return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
	return !is_one && !is_other && name_new(a, one_name) && name_new(b, other_name) &&
		strcmp(one_name, other_name) == 0;
}

/** Devices take what all write. By their names alone, as what is behind /dev/stdout is another
 * thing for each process that reads the options; /dev/shm has files. */
static bool
is_device(const char *path)
{
	return strncmp(path, "/dev/", strlen("/dev/")) == 0 &&
		strncmp(path, "/dev/shm/", strlen("/dev/shm/")) != 0;
}

/** @return whether a wire of kind pcap plays @p file. */
static bool
plays(const struct shca_wire_options *wire, const char *file)
{
	char in[sizeof(wire->arg)];

	if (!is_kind(wire, "pcap"))
		return false;
	strcpy(in, wire->arg);
	in[strcspn(in, ":")] = '\0';
	return in[0] != '\0' && same_file(in, file);
}

/** @return the file that a wire of kind pcap records into; NULL: none. */
static const char *
recorded(const struct shca_wire_options *wire, bool is_cable)
{
	const char *out = wire->arg;

	if (!is_kind(wire, "pcap"))
		return NULL;
	if (is_cable) {
		out = strchr(wire->arg, ':');
		out = out != NULL ? out + 1 : "";
	}
	return out[0] != '\0' && !is_device(out) ? out : NULL;
}

static const char *
recorded_by(const struct shca_port_options *port, unsigned int i)
{
	return i == 0    ? recorded(&port->wire, true)
		: i == 1 ? recorded(&port->kernel, false)
			 : recorded(&port->rep, false);
}

static const char *const keys[] = { "wire", "kernel", "rep" };

/** Two that write one file leave none that can be read. The functions of a card have one wire. */
static int
check_records(const struct check *check)
{
	const struct shca_options *options = check->options;

	for (unsigned int i = 0; i < 3; i++) {
		const char *file = recorded_by(check->port, i);

		for (unsigned int j = 0; file != NULL && j < 3 * options->nb_ports + i; j++) {
			const struct shca_port_options *other =
				j / 3 < options->nb_ports ? &options->port[j / 3] : check->port;
			const char *taken = recorded_by(other, j % 3);

			if (taken == NULL || !same_file(taken, file) ||
				(i == 0 && j % 3 == 0 && same_card(check->port, other)))
				continue;
			return shca_refuse(&check->refusal,
				"%s: %s is recorded into already, by %s of port %u", keys[i], file,
				keys[j % 3], j / 3);
		}
	}
	return 0;
}

/** A recorder empties its file. One wire that does both finds out itself (wire/pcap.c). */
static int
check_plays(const struct check *check)
{
	const struct shca_options *options = check->options;
	const struct shca_port_options *port = check->port;

	for (unsigned int i = 0; i < 3; i++) {
		const char *file = recorded_by(port, i);

		if (file != NULL && i != 0 && plays(&port->wire, file))
			return shca_refuse(
				&check->refusal, "%s: %s is what the port plays", keys[i], file);
		for (unsigned int j = 0; file != NULL && j < options->nb_ports; j++)
			if (plays(&options->port[j].wire, file))
				return shca_refuse(&check->refusal, "%s: %s is what port %u plays",
					keys[i], file, j);
	}
	for (unsigned int j = 0; j < 3 * options->nb_ports; j++) {
		const char *file = recorded_by(&options->port[j / 3], j % 3);

		if (file != NULL && plays(&port->wire, file))
			return shca_refuse(&check->refusal,
				"wire: %s is recorded into, by %s of port %u", file, keys[j % 3],
				j / 3);
	}
	return 0;
}

/** Linux has asked for a format of timestamps since 5.12 (2fe8d4b87802), and told programs of the
 * real-time one since 5.14. */
static int
check_clock(const struct check *check)
{
	const struct shca_port_options *port = check->port;
	const bool is_only = port->model.clocks == SHCA_CLOCKS_REAL_ONLY;

	if (port->has_rtc && port->model.clocks == SHCA_CLOCKS_FREE_RUNNING)
		return shca_refuse(&check->refusal,
			"rtc: model %s has no real-time clock: cx6dx does", port->model.name);
	if ((port->has_rtc || is_only) && port->kernel_abi < SHCA_KERNEL_6_1)
		return shca_refuse(&check->refusal,
			"kernel-abi: Linux 5.10 does not know the real-time clock of %s",
			is_only ? "this model" : "rtc=on");
	return 0;
}

int
shca_options_ports_check(const struct shca_options *options, const struct shca_port_options *port,
	char *error, size_t error_size)
{
	const struct check check = { options, port, { .text = error, .size = error_size } };
	int ret = check_netdev(&check, "kernel", &port->kernel);

	if (ret == 0)
		ret = check_rep(&check);
	if (ret == 0)
		ret = check_wire(&check);
	if (ret == 0)
		ret = check_records(&check);
	if (ret == 0)
		ret = check_plays(&check);
	if (ret == 0)
		ret = check_clock(&check);
	if (ret == 0 && options->nb_ports != 0 && port->kernel_abi != options->port[0].kernel_abi)
		ret = shca_refuse(&check.refusal,
			"kernel-abi: a machine has one kernel, and port 0 names another");
	return ret != 0 ? ret : check_vf(&check);
}
