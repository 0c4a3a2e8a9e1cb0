/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of the keys of --port: from text, and to text. */
#include "config/options_keys.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "config/model.h"
#include "config/model_parse.h"
#include "config/options.h"
#include "wire/wire.h"

#define DEFAULT_SPEED "25g"
#define MAX_DELAY_MS  3600000u

/** Split "KIND[:ARG]"; @p kernel: one of the kinds that can stand for the netdev. */
static int
set_wire(struct shca_parse *parse, const char *value, struct shca_wire_options *wire,
	const struct shca_wire_ops *kind, const char *usage)
{
	const char *colon = strchr(value, ':');
	const char *arg = colon == NULL ? "" : colon + 1;
	bool takes_arg = strchr(usage, ':') != NULL;

	if (takes_arg && arg[0] == '\0')
		return shca_refuse(
			&parse->refusal, "'%s' needs an argument: %s", kind->name, usage);
	if (!takes_arg && colon != NULL)
		return shca_refuse(&parse->refusal, "'%s' takes no argument", kind->name);
	if (strlen(arg) >= sizeof(wire->arg))
		return shca_refuse(&parse->refusal, "the argument of '%s' is longer than %zu bytes",
			kind->name, sizeof(wire->arg) - 1);
	wire->kind = kind;
	strcpy(wire->arg, arg);
	return 0;
}

static void
print_wire(const struct shca_wire_options *wire, char *text, size_t size)
{
	snprintf(
		text, size, "%s%s%s", wire->kind->name, wire->arg[0] == '\0' ? "" : ":", wire->arg);
}

static int
parse_wire(struct shca_parse *parse, const char *value)
{
	const struct shca_wire_ops *kind = shca_wire_find(value, strcspn(value, ":"));
	char kinds[SHCA_OPTIONS_FIELD_MAX] = "";

	if (kind != NULL)
		return set_wire(parse, value, &parse->port->wire, kind, kind->usage);
	for (unsigned int i = 0; shca_wire_kinds[i] != NULL; i++)
		shca_text_append(kinds, sizeof(kinds), "%s%s", i == 0 ? "" : ", ",
			shca_wire_kinds[i]->usage);
	return shca_refuse(&parse->refusal, "no wire '%s'; there are %s", value, kinds);
}

static void
print_wire_of_port(const struct shca_port_options *port, char *text, size_t size)
{
	print_wire(&port->wire, text, size);
}

/** The wires that can stand for the Linux netdev, and the form of their argument there. */
static const struct {
	const char *kind;
	const char *usage;
} kernel_kinds[] = {
	{ "tap", "tap:IFNAME" },
	{ "pcap", "pcap:OUT" },
};

static int
set_kernel(struct shca_parse *parse, const char *value, struct shca_wire_options *kernel)
{
	size_t length = strcspn(value, ":");

	if (strcmp(value, "none") == 0) {
		kernel->kind = NULL;
		return 0;
	}
	for (unsigned int i = 0; i < sizeof(kernel_kinds) / sizeof(kernel_kinds[0]); i++)
		if (strlen(kernel_kinds[i].kind) == length &&
			strncmp(kernel_kinds[i].kind, value, length) == 0)
			return set_wire(parse, value, kernel, shca_wire_find(value, length),
				kernel_kinds[i].usage);
	return shca_refuse(&parse->refusal, "no kernel side '%s'; there are none, %s, %s", value,
		kernel_kinds[0].usage, kernel_kinds[1].usage);
}

static void
print_netdev(const struct shca_wire_options *kernel, char *text, size_t size)
{
	if (kernel->kind == NULL)
		snprintf(text, size, "none");
	else
		print_wire(kernel, text, size);
}

static int
parse_kernel(struct shca_parse *parse, const char *value)
{
	return set_kernel(parse, value, &parse->port->kernel);
}

static void
print_kernel(const struct shca_port_options *port, char *text, size_t size)
{
	print_netdev(&port->kernel, text, size);
}

static int
parse_rep(struct shca_parse *parse, const char *value)
{
	return set_kernel(parse, value, &parse->port->rep);
}

static void
print_rep(const struct shca_port_options *port, char *text, size_t size)
{
	print_netdev(&port->rep, text, size);
}

/** Processes of a run may have other working directories than the runner: its path is absolute. */
static int
parse_model_file(struct shca_parse *parse, const char *value)
{
	char error[SHCA_OPTIONS_FIELD_MAX], path[PATH_MAX];
	struct shca_port_options *port = parse->port;

	if (realpath(value, path) == NULL)
		return shca_refuse(&parse->refusal, "%s: %s", value, strerror(errno));
	if (strpbrk(path, ",\n") != NULL || strlen(path) >= sizeof(port->model_file))
		return shca_refuse(&parse->refusal,
			"%s: the path has a comma, or more than %zu bytes", path,
			sizeof(port->model_file) - 1);
	if (shca_model_read(&port->model, path, error, sizeof(error)) != 0)
		return shca_refuse(&parse->refusal, "%s: %s", path, error);
	strcpy(port->model_file, path);
	return 0;
}

static int
parse_model(struct shca_parse *parse, const char *value)
{
	const struct shca_model *model = shca_model_find(value);
	char names[SHCA_OPTIONS_FIELD_MAX] = "";

	if (strchr(value, '/') != NULL)
		return parse_model_file(parse, value);
	if (model != NULL) {
		parse->port->model = *model;
		return 0;
	}
	for (unsigned int i = 0; (model = shca_model_at(i)) != NULL; i++)
		shca_text_append(names, sizeof(names), "%s, ", model->name);
	return shca_refuse(
		&parse->refusal, "no model '%s'; there are %sand files: ./%s", value, names, value);
}

static void
print_model(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%s",
		port->model_file[0] != '\0' ? port->model_file : port->model.name);
}

static int
parse_mac(struct shca_parse *parse, const char *value)
{
	uint8_t mac[6];

	if (strlen(value) != strlen("02:00:00:00:00:01") || !shca_text_mac(value, mac))
		return shca_refuse(
			&parse->refusal, "'%s' is no address of the form 02:00:00:00:00:01", value);
	if ((mac[0] & 1) != 0 || memcmp(mac, "\0\0\0\0\0\0", 6) == 0)
		return shca_refuse(&parse->refusal, "'%s' is not a unicast address", value);
	memcpy(parse->port->mac, mac, sizeof(mac));
	return 0;
}

static void
print_mac(const struct shca_port_options *port, char *text, size_t size)
{
	const uint8_t *mac = port->mac;

	snprintf(text, size, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
		mac[4], mac[5]);
}

static const struct {
	const char *name;
	uint32_t mbps;
} speeds[] = {
	{ "1g", 1000 },
	{ "2.5g", 2500 },
	{ "5g", 5000 },
	{ "10g", 10000 },
	{ "25g", 25000 },
	{ "40g", 40000 },
	{ "50g", 50000 },
	{ "100g", 100000 },
	{ "200g", 200000 },
	{ "400g", 400000 },
};
#define NB_SPEEDS (sizeof(speeds) / sizeof(speeds[0]))

static int
parse_speed(struct shca_parse *parse, const char *value)
{
	char names[SHCA_OPTIONS_FIELD_MAX] = "";

	for (unsigned int i = 0; i < NB_SPEEDS; i++) {
		if (strcasecmp(speeds[i].name, value) == 0) {
			parse->port->speed_mbps = speeds[i].mbps;
			return 0;
		}
		shca_text_append(names, sizeof(names), "%s%s", i == 0 ? "" : ", ", speeds[i].name);
	}
	return shca_refuse(&parse->refusal, "no speed '%s'; there are %s", value, names);
}

static void
print_speed(const struct shca_port_options *port, char *text, size_t size)
{
	for (unsigned int i = 0; i < NB_SPEEDS; i++)
		if (speeds[i].mbps == port->speed_mbps)
			snprintf(text, size, "%s", speeds[i].name);
}

static int
parse_pace(struct shca_parse *parse, const char *value)
{
	uint64_t number;

	if (!shca_text_number(value, 10, 1, &number))
		return shca_refuse(&parse->refusal, "'%s' is neither 0 nor 1", value);
	parse->port->pace = number != 0;
	return 0;
}

static void
print_pace(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%d", port->pace);
}

static int
parse_repeat(struct shca_parse *parse, const char *value)
{
	uint64_t number;

	if (!shca_text_number(value, 10, UINT32_MAX, &number))
		return shca_refuse(
			&parse->refusal, "'%s' is not a number of times (0: for ever)", value);
	parse->port->repeat = number;
	return 0;
}

static void
print_repeat(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%u", port->repeat);
}

static int
parse_delay(struct shca_parse *parse, const char *value)
{
	uint64_t number;

	if (!shca_text_number(value, 10, MAX_DELAY_MS, &number))
		return shca_refuse(&parse->refusal, "'%s' is not a number of milliseconds up to %u",
			value, MAX_DELAY_MS);
	parse->port->delay_ms = number;
	return 0;
}

static void
print_delay(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%u", port->delay_ms);
}

static int
parse_flag(struct shca_parse *parse, const char *value, bool *flag)
{
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
		return shca_refuse(&parse->refusal, "'%s' is neither on nor off", value);
	*flag = strcmp(value, "on") == 0;
	return 0;
}

#define DEFINE_FLAG(name, field)                                                                   \
	static int parse_##name(struct shca_parse *parse, const char *value)                       \
	{                                                                                          \
		return parse_flag(parse, value, &parse->port->field);                              \
	}                                                                                          \
	static void print_##name(const struct shca_port_options *port, char *text, size_t size)    \
	{                                                                                          \
		snprintf(text, size, "%s", port->field ? "on" : "off");                            \
	}
DEFINE_FLAG(vf, is_vf)
DEFINE_FLAG(trust, is_trusted)
DEFINE_FLAG(spoof, checks_source)
DEFINE_FLAG(pf, is_pf)
DEFINE_FLAG(switchdev, is_switchdev)
DEFINE_FLAG(devx, has_devx)
DEFINE_FLAG(rtc, has_rtc)

/** devlink's eswitch inline-mode. */
static const char *const inline_modes[] = {
	[SHCA_MIN_INLINE_UNKNOWN] = "model",
	[SHCA_MIN_INLINE_NONE] = "none",
	[SHCA_MIN_INLINE_L2] = "link",
	[SHCA_MIN_INLINE_NETWORK] = "network",
	[SHCA_MIN_INLINE_TRANSPORT] = "transport",
};

static int
parse_inline(struct shca_parse *parse, const char *value)
{
	for (unsigned int i = 0; i < sizeof(inline_modes) / sizeof(inline_modes[0]); i++) {
		if (strcmp(inline_modes[i], value) != 0)
			continue;
		parse->port->min_inline = i;
		return 0;
	}
	return shca_refuse(
		&parse->refusal, "'%s' is none of model, none, link, network and transport", value);
}

static void
print_inline(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%s", inline_modes[port->min_inline]);
}

static const struct {
	const char *name;
	enum shca_kernel kernel;
} kernels[] = {
	{ "5.10", SHCA_KERNEL_5_10 },
	{ "6.1", SHCA_KERNEL_6_1 },
	{ "6.12", SHCA_KERNEL_6_12 },
};
#define NB_KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static int
parse_kernel_abi(struct shca_parse *parse, const char *value)
{
	for (unsigned int i = 0; i < NB_KERNELS; i++) {
		if (strcmp(kernels[i].name, value) != 0)
			continue;
		parse->port->kernel_abi = kernels[i].kernel;
		return 0;
	}
	return shca_refuse(&parse->refusal, "'%s' is none of 5.10, 6.1 and 6.12", value);
}

static void
print_kernel_abi(const struct shca_port_options *port, char *text, size_t size)
{
	for (unsigned int i = 0; i < NB_KERNELS; i++)
		if (kernels[i].kernel == port->kernel_abi)
			snprintf(text, size, "%s", kernels[i].name);
}

static const char *const profiles[] = {
	[SHCA_PROFILE_MODEL] = "model",
	[SHCA_PROFILE_CX4_EXP] = "cx4-exp",
	[SHCA_PROFILE_DMFS] = "dmfs",
	[SHCA_PROFILE_A0] = "a0",
};

static int
parse_steering(struct shca_parse *parse, const char *value)
{
	for (unsigned int i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		if (strcmp(profiles[i], value) != 0)
			continue;
		parse->port->profile = i;
		return 0;
	}
	return shca_refuse(&parse->refusal, "'%s' is none of model, cx4-exp, dmfs and a0", value);
}

static void
print_steering(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%s", profiles[port->profile]);
}

/** A descriptor the runner opened; -1: none. */
static int
parse_fd(struct shca_parse *parse, const char *value, int *fd)
{
	uint64_t number;

	if (strcmp(value, "-1") == 0) {
		*fd = -1;
		return 0;
	}
	if (!shca_text_number(value, 10, INT32_MAX, &number))
		return shca_refuse(&parse->refusal, "'%s' is not a descriptor", value);
	*fd = number;
	return 0;
}

static int
parse_wire_fd(struct shca_parse *parse, const char *value)
{
	return parse_fd(parse, value, &parse->port->wire.fd);
}

static void
print_wire_fd(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%d", port->wire.fd);
}

static int
parse_kernel_fd(struct shca_parse *parse, const char *value)
{
	return parse_fd(parse, value, &parse->port->kernel.fd);
}

static void
print_kernel_fd(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%d", port->kernel.fd);
}

static int
parse_rep_fd(struct shca_parse *parse, const char *value)
{
	return parse_fd(parse, value, &parse->port->rep.fd);
}

static void
print_rep_fd(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%d", port->rep.fd);
}

/* clang-format off */
const struct shca_key shca_keys[] = {
	{ "wire", "KIND[:ARG]", "loop", "what the port's cable is plugged into; the kinds are below",
		false, parse_wire, print_wire_of_port },
	{ "kernel", "none|tap:IFNAME|pcap:OUT", "none",
		"the Linux netdev that shares the port: gets what no rule took, sends to the wire",
		false, parse_kernel, print_kernel },
	{ "model", "cx5|cx4lx|cx6dx|lean|FILE", "cx5",
		"whose capabilities the device has; a file's name has a / in it",
		false, parse_model, print_model },
	{ "mac", "XX:XX:XX:XX:XX:XX", "02:00:00:00:00:01, next port :02, ...", "address of the port",
		false, parse_mac, print_mac },
	{ "speed", "1g|2.5g|5g|10g|25g|40g|50g|100g|200g|400g", DEFAULT_SPEED,
		"link speed it reports; traffic is not shaped", false, parse_speed, print_speed },
	{ "pace", "0|1", "1", "pcap: keep the capture's spacing (0: as fast as the queues take it)",
		false, parse_pace, print_pace },
	{ "repeat", "N", "1", "pcap: how many times to play the capture (0: for ever)",
		false, parse_repeat, print_repeat },
	{ "delay", "MS", "0", "pcap: play so many ms after the first rule that receives",
		false, parse_delay, print_delay },
	{ "vf", "on|off", "off", "a virtual function: shares its wire with others that name it",
		false, parse_vf, print_vf },
	{ "trust", "on|off", "off", "vf: may be promiscuous", false, parse_trust, print_trust },
	{ "spoof", "on|off", "off", "vf: what it sends from another address than its own is dropped",
		false, parse_spoof, print_spoof },
	{ "pf", "on|off", "off", "the physical function of the virtual ones that name its wire",
		false, parse_pf, print_pf },
	{ "switchdev", "on|off", "off",
		"this port manages the switch of its card, and has a port a function; vf: it is managed so",
		false, parse_switchdev, print_switchdev },
	{ "rep", "none|tap:IFNAME|pcap:OUT", "none",
		"vf: the netdev of its representor, beside the switch's manager", false, parse_rep, print_rep },
	{ "inline", "model|none|link|network|transport", "model",
		"vf of a cx4lx: headers that its host demands in send WQEs", false, parse_inline, print_inline },
	{ "devx", "on|off", "off", "contexts may be DevX ones, for packet pacing entries", false,
		parse_devx, print_devx },
	{ "rtc", "on|off", "off", "the clock keeps the time of day, too: completions may have it",
		false, parse_rtc, print_rtc },
	{ "kernel-abi", "5.10|6.1|6.12", "6.1", "the Linux whose answers mlx5_ib gives",
		false, parse_kernel_abi, print_kernel_abi },
	{ "steering", "model|cx4-exp|dmfs|a0", "model", "what rules may say, as on older cards", false,
		parse_steering, print_steering },
	{ "wire-fd", "FD", "-1", "", true, parse_wire_fd, print_wire_fd },
	{ "kernel-fd", "FD", "-1", "", true, parse_kernel_fd, print_kernel_fd },
	{ "rep-fd", "FD", "-1", "", true, parse_rep_fd, print_rep_fd },
	{ NULL },
};
/* clang-format on */

void
shca_keys_preset(struct shca_port_options *port, unsigned int index)
{
	struct shca_parse parse = { .port = port };

	*port = (struct shca_port_options){
		.wire = { .kind = shca_wire_find("loop", 4), .fd = -1 },
		.kernel.fd = -1,
		.rep.fd = -1,
		.model = *shca_model_at(0),
		.kernel_abi = SHCA_KERNEL_6_1,
		.mac = { 2, 0, 0, 0, 0, (uint8_t)(index + 1) },
		.pace = true,
		.repeat = 1,
	};
	parse_speed(&parse, DEFAULT_SPEED);
}
