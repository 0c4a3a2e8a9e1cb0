/* SPDX-License-Identifier: BSD-3-Clause */
/** @file "--port K=V,...": one row a key, used for parsing, for the options file and for help. */
#include "config/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/refuse.h"
#include "base/text.h"
#include "config/model.h"
#include "config/options_ports.h"
#include "wire/wire.h"

#define FIELD_MAX     512
#define DEFAULT_SPEED "25g"
#define MAX_DELAY_MS  3600000u

/** The argument of a key's functions. */
struct parse {
	struct shca_port_options *port;
	struct shca_refusal refusal;
};

struct key {
	const char *name;
	const char *values; /**< for messages and help */
	const char *preset; /**< the default, as text */
	const char *help;
	/** Written to the options file by the runner, refused on the command line. */
	bool is_internal;
	int (*parse)(struct parse *parse, const char *value);
	void (*print)(const struct shca_port_options *port, char *text, size_t size);
};

/** Split "KIND[:ARG]"; @p kernel: one of the kinds that can stand for the netdev. */
static int
set_wire(struct parse *parse, const char *value, struct shca_wire_options *wire,
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
parse_wire(struct parse *parse, const char *value)
{
	const struct shca_wire_ops *kind = shca_wire_find(value, strcspn(value, ":"));
	char kinds[FIELD_MAX] = "";

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
set_kernel(struct parse *parse, const char *value, struct shca_wire_options *kernel)
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
parse_kernel(struct parse *parse, const char *value)
{
	return set_kernel(parse, value, &parse->port->kernel);
}

static void
print_kernel(const struct shca_port_options *port, char *text, size_t size)
{
	print_netdev(&port->kernel, text, size);
}

static int
parse_rep(struct parse *parse, const char *value)
{
	return set_kernel(parse, value, &parse->port->rep);
}

static void
print_rep(const struct shca_port_options *port, char *text, size_t size)
{
	print_netdev(&port->rep, text, size);
}

static int
parse_model(struct parse *parse, const char *value)
{
	const struct shca_model *model = shca_model_find(value);
	char names[FIELD_MAX] = "";

	if (model != NULL) {
		parse->port->model = model;
		return 0;
	}
	for (model = shca_models; model->name != NULL; model++)
		shca_text_append(names, sizeof(names), "%s%s", model == shca_models ? "" : ", ",
			model->name);
	return shca_refuse(&parse->refusal, "no model '%s'; there are %s", value, names);
}

static void
print_model(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%s", port->model->name);
}

static int
parse_mac(struct parse *parse, const char *value)
{
	uint8_t mac[6];
	int end = 0;

	if (sscanf(value, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		    &mac[3], &mac[4], &mac[5], &end) != 6 ||
		value[end] != '\0' || end != 17)
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
};
#define NB_SPEEDS (sizeof(speeds) / sizeof(speeds[0]))

static int
parse_speed(struct parse *parse, const char *value)
{
	char names[FIELD_MAX] = "";

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
parse_pace(struct parse *parse, const char *value)
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
parse_repeat(struct parse *parse, const char *value)
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
parse_delay(struct parse *parse, const char *value)
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
parse_flag(struct parse *parse, const char *value, bool *flag)
{
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
		return shca_refuse(&parse->refusal, "'%s' is neither on nor off", value);
	*flag = strcmp(value, "on") == 0;
	return 0;
}

#define DEFINE_FLAG(name, field)                                                                   \
	static int parse_##name(struct parse *parse, const char *value)                            \
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
DEFINE_FLAG(switchdev, is_switchdev)
DEFINE_FLAG(devx, has_devx)
DEFINE_FLAG(rtc, has_rtc)

/** A descriptor the runner opened; -1: none. */
static int
parse_fd(struct parse *parse, const char *value, int *fd)
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
parse_wire_fd(struct parse *parse, const char *value)
{
	return parse_fd(parse, value, &parse->port->wire.fd);
}

static void
print_wire_fd(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%d", port->wire.fd);
}

static int
parse_kernel_fd(struct parse *parse, const char *value)
{
	return parse_fd(parse, value, &parse->port->kernel.fd);
}

static void
print_kernel_fd(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%d", port->kernel.fd);
}

static int
parse_rep_fd(struct parse *parse, const char *value)
{
	return parse_fd(parse, value, &parse->port->rep.fd);
}

static void
print_rep_fd(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%d", port->rep.fd);
}

/* clang-format off */
static const struct key keys[] = {
	{ "wire", "KIND[:ARG]", "loop", "what the port's cable is plugged into; the kinds are below",
		false, parse_wire, print_wire_of_port },
	{ "kernel", "none|tap:IFNAME|pcap:OUT", "none",
		"the Linux netdev that shares the port: gets what no rule took, sends to the wire",
		false, parse_kernel, print_kernel },
	{ "model", "cx5|cx4lx|cx6dx|lean", "cx5", "whose capabilities the device has",
		false, parse_model, print_model },
	{ "mac", "XX:XX:XX:XX:XX:XX", "02:00:00:00:00:01, next port :02, ...", "address of the port",
		false, parse_mac, print_mac },
	{ "speed", "1g|2.5g|5g|10g|25g|40g|50g|100g|200g", DEFAULT_SPEED,
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
	{ "switchdev", "on|off", "off",
		"this port manages the switch of its card, and has a port a function; vf: it is managed so",
		false, parse_switchdev, print_switchdev },
	{ "rep", "none|tap:IFNAME|pcap:OUT", "none",
		"vf: the netdev of its representor, beside the switch's manager", false, parse_rep, print_rep },
	{ "devx", "on|off", "off", "contexts may be DevX ones, for packet pacing entries", false,
		parse_devx, print_devx },
	{ "rtc", "on|off", "off", "the clock keeps the time of day, too: completions may have it",
		false, parse_rtc, print_rtc },
	{ "wire-fd", "FD", "-1", "", true, parse_wire_fd, print_wire_fd },
	{ "kernel-fd", "FD", "-1", "", true, parse_kernel_fd, print_kernel_fd },
	{ "rep-fd", "FD", "-1", "", true, parse_rep_fd, print_rep_fd },
};
/* clang-format on */
#define NB_KEYS (sizeof(keys) / sizeof(keys[0]))

static int
set_key(struct parse *parse, char *field, uint32_t *seen, bool internal)
{
	char *value = strchr(field, '=');
	char names[FIELD_MAX] = "";

	if (value != NULL)
		*value++ = '\0';
	parse->refusal.key = field;
	for (unsigned int i = 0; i < NB_KEYS; i++) {
		if (keys[i].is_internal && !internal)
			continue;
		shca_text_append(names, sizeof(names), "%s%s", i == 0 ? "" : ", ", keys[i].name);
		if (strcmp(keys[i].name, field) != 0)
			continue;
		if (value == NULL || value[0] == '\0')
			return shca_refuse(
				&parse->refusal, "needs a value: %s=%s", field, keys[i].values);
		if ((*seen & 1u << i) != 0)
			return shca_refuse(&parse->refusal, "given twice");
		*seen |= 1u << i;
		return keys[i].parse(parse, value);
	}
	return shca_refuse(&parse->refusal, "no such key; there are %s", names);
}

static int
add_port(struct shca_options *options, const char *text, bool internal, char *error,
	size_t error_size)
{
	struct shca_port_options port = { .wire.fd = -1, .kernel.fd = -1, .rep.fd = -1 };
	struct parse parse = { &port, { .text = error, .size = error_size, .key = "" } };
	uint32_t seen = 0;
	char copy[2048];
	int ret;

	if (options->nb_ports == SHCA_PORTS_MAX) {
		snprintf(error, error_size, "more than %d ports", SHCA_PORTS_MAX);
		return -E2BIG;
	}
	if (strlen(text) >= sizeof(copy)) {
		snprintf(error, error_size, "longer than %zu bytes", sizeof(copy) - 1);
		return -EINVAL;
	}
	for (const char *c = text; *c != '\0'; c++) {
		if (iscntrl((unsigned char)*c)) {
			snprintf(error, error_size, "control character 0x%02x", *c);
			return -EINVAL;
		}
	}
	port.wire.kind = shca_wire_find("loop", 4);
	port.model = &shca_models[0];
	memcpy(port.mac, (uint8_t[6]){ 2, 0, 0, 0, 0, options->nb_ports + 1 }, sizeof(port.mac));
	parse_speed(&parse, DEFAULT_SPEED);
	port.pace = true;
	port.repeat = 1;

	strcpy(copy, text);
	for (char *rest = copy[0] == '\0' ? NULL : copy, *field; rest != NULL;) {
		field = strsep(&rest, ",");
		ret = set_key(&parse, field, &seen, internal);
		if (ret != 0)
			return ret;
	}
	ret = shca_options_ports_check(options, &port, error, error_size);
	if (ret == 0)
		options->port[options->nb_ports++] = port;
	return ret;
}

void
shca_options_init(struct shca_options *options)
{
	memset(options, 0, sizeof(*options));
	if (sched_getaffinity(0, sizeof(options->cpus), &options->cpus) != 0)
		CPU_SET(0, &options->cpus); /* more CPUs than cpu_set_t has */
}

int
shca_options_add_port(
	struct shca_options *options, const char *text, char *error, size_t error_size)
{
	return add_port(options, text, false, error, error_size);
}

void
shca_options_help(FILE *out)
{
	fprintf(out, "Keys of --port:\n");
	for (unsigned int i = 0; i < NB_KEYS; i++)
		if (!keys[i].is_internal)
			fprintf(out, "  %s=%s\n        %s (default: %s)\n", keys[i].name,
				keys[i].values, keys[i].help, keys[i].preset);
	fprintf(out, "Wires:\n");
	for (unsigned int i = 0; shca_wire_kinds[i] != NULL; i++)
		fprintf(out, "  %s\n", shca_wire_kinds[i]->usage);
	fprintf(out, "Models:\n");
	for (const struct shca_model *model = shca_models; model->name != NULL; model++)
		fprintf(out, "  %-8s%s, firmware %u.%u.%04u\n", model->name, model->board,
			(unsigned int)(model->fw_ver >> 32),
			(unsigned int)(model->fw_ver >> 16 & 0xffff),
			(unsigned int)(model->fw_ver & 0xffff));
}

int
shca_options_save(const struct shca_options *options, const char *path)
{
	FILE *file = fopen(path, "we");
	char text[FIELD_MAX];
	int ret;

	if (file == NULL)
		return -errno;
	fprintf(file, "cpus ");
	for (unsigned int cpu = 0, nb = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &options->cpus))
			fprintf(file, "%s%u", nb++ == 0 ? "" : ",", cpu);
	fprintf(file, "\n");
	if (options->strict != SHCA_STRICT_OFF)
		fprintf(file, "strict %s\n", shca_findings_mode_name(options->strict));
	for (unsigned int i = 0; i < options->nb_ports; i++) {
		fprintf(file, "port ");
		for (unsigned int k = 0; k < NB_KEYS; k++) {
			keys[k].print(&options->port[i], text, sizeof(text));
			fprintf(file, "%s%s=%s", k == 0 ? "" : ",", keys[k].name, text);
		}
		fprintf(file, "\n");
	}
	ret = ferror(file) ? -EIO : 0;
	if (fclose(file) != 0 && ret == 0)
		ret = -errno;
	return ret;
}

static int
load_cpus(cpu_set_t *cpus, char *text)
{
	uint64_t cpu;

	CPU_ZERO(cpus);
	for (char *field = strsep(&text, ","); field != NULL; field = strsep(&text, ",")) {
		if (!shca_text_number(field, 10, CPU_SETSIZE - 1, &cpu))
			return -EINVAL;
		CPU_SET(cpu, cpus);
	}
	return 0;
}

static int
load_line(struct shca_options *options, char *line)
{
	char error[FIELD_MAX];

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "cpus ", 5) == 0)
		return load_cpus(&options->cpus, line + 5);
	if (strncmp(line, "strict ", 7) == 0)
		return shca_findings_find_mode(line + 7, &options->strict);
	if (strncmp(line, "port ", 5) == 0)
		return add_port(options, line + 5, true, error, sizeof(error));
	return -EINVAL;
}

int
shca_options_load(struct shca_options *options, const char *path)
{
	FILE *file = fopen(path, "re");
	struct shca_options loaded;
	size_t size = 0;
	char *line = NULL;
	int ret = 0;

	if (file == NULL)
		return -errno;
	shca_options_init(&loaded);
	while (ret == 0 && getline(&line, &size, file) >= 0)
		ret = load_line(&loaded, line);
	if (ret == 0 && (ferror(file) || loaded.nb_ports == 0))
		ret = ferror(file) ? -EIO : -EINVAL;
	free(line);
	fclose(file);
	if (ret == 0)
		*options = loaded;
	return ret;
}
