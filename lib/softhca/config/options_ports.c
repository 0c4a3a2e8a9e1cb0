/* SPDX-License-Identifier: BSD-3-Clause */
/* Conflicts between ports: a TAP has one owner, a pair two ends, and a wire one card, whose
 * functions share it. */
#include "config/options_ports.h"

#include <stdbool.h>
#include <string.h>

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

static bool
same_card(const struct shca_port_options *a, const struct shca_port_options *b)
{
	return a->is_vf && b->is_vf && same_wire(&a->wire, &b->wire);
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
		nb += same_card(&options->port[i], &options->port[index]);
	return nb;
}

/** What a host sets of a virtual function, in legacy mode only (Linux mlx5_eswitch_set_vport_trust,
 * mlx5_eswitch_set_vport_spoofchk: EOPNOTSUPP). */
static int
check_host(const struct check *check)
{
	const struct shca_port_options *port = check->port;
	const char *legacy = port->is_trusted ? "trust" : port->checks_source ? "spoof" : NULL;

	if (!port->is_vf && (legacy != NULL || port->is_switchdev))
		return shca_refuse(&check->refusal,
			"%s: needs vf=on: a port of its own has nobody above it",
			legacy != NULL ? legacy : "switchdev");
	if (legacy != NULL && port->is_switchdev)
		return shca_refuse(
			&check->refusal, "%s: a host in switchdev mode cannot set it", legacy);
	return 0;
}

/** The functions of a card have one model, one switch, and addresses of their own. */
static int
check_vf(const struct check *check)
{
	const struct shca_port_options *port = check->port;
	int ret = check_host(check);

	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < check->options->nb_ports; i++) {
		const struct shca_port_options *other = &check->options->port[i];

		if (!same_card(port, other))
			continue;
		if (port->model != other->model || port->speed_mbps != other->speed_mbps)
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

static int
check_kernel(const struct check *check)
{
	const struct shca_wire_options *kernel = &check->port->kernel;

	if (!is_kind(kernel, "tap"))
		return 0;
	if (same_wire(kernel, &check->port->wire))
		return shca_refuse(
			&check->refusal, "kernel: %s is the port's wire already", kernel->arg);
	for (unsigned int i = 0; i < check->options->nb_ports; i++) {
		const struct shca_port_options *other = &check->options->port[i];

		if (same_wire(kernel, &other->kernel) || same_wire(kernel, &other->wire))
			return shca_refuse(&check->refusal, "kernel: %s belongs to port %u already",
				kernel->arg, i);
	}
	return 0;
}

static int
check_wire(const struct check *check)
{
	const struct shca_wire_options *wire = &check->port->wire;
	const struct shca_options *options = check->options;
	unsigned int nb_ends = 0;

	for (unsigned int i = 0; i < options->nb_ports; i++) {
		const struct shca_port_options *other = &options->port[i];

		if (same_card(check->port, other))
			return 0;
		nb_ends +=
			same_wire(wire, &other->wire) && shca_options_ports_card(options, i) == i;
	}
	if (is_kind(wire, "pair") && nb_ends >= 2)
		return shca_refuse(
			&check->refusal, "wire: pair:%s has two ends already", wire->arg);
	if (is_kind(wire, "tap") && nb_ends >= 1)
		return shca_refuse(
			&check->refusal, "wire: %s belongs to another port already", wire->arg);
	return 0;
}

int
shca_options_ports_check(const struct shca_options *options, const struct shca_port_options *port,
	char *error, size_t error_size)
{
	const struct check check = { options, port, { .text = error, .size = error_size } };
	int ret = check_kernel(&check);

	if (ret == 0)
		ret = check_wire(&check);
	if (ret == 0 && port->has_rtc && !port->model->may_keep_time)
		ret = shca_refuse(&check.refusal,
			"rtc: model %s has no real-time clock: cx6dx does", port->model->name);
	return ret != 0 ? ret : check_vf(&check);
}
