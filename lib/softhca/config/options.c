/* SPDX-License-Identifier: BSD-3-Clause */
/** @file "--port K=V,...": ports from text, the options file, and help. */
#include "config/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/refuse.h"
#include "base/text.h"
#include "config/model.h"
#include "config/model_parse.h"
#include "config/options_keys.h"
#include "config/options_ports.h"
#include "wire/wire.h"

static int
set_key(struct shca_parse *parse, char *field, uint32_t *seen, bool internal)
{
	char *value = strchr(field, '=');
	char names[SHCA_OPTIONS_FIELD_MAX] = "";

	if (value != NULL)
		*value++ = '\0';
	parse->refusal.key = field;
	for (unsigned int i = 0; shca_keys[i].name != NULL; i++) {
		if (shca_keys[i].is_internal && !internal)
			continue;
		shca_text_append(
			names, sizeof(names), "%s%s", i == 0 ? "" : ", ", shca_keys[i].name);
		if (strcmp(shca_keys[i].name, field) != 0)
			continue;
		if (value == NULL || value[0] == '\0')
			return shca_refuse(&parse->refusal, "needs a value: %s=%s", field,
				shca_keys[i].values);
		if ((*seen & 1u << i) != 0)
			return shca_refuse(&parse->refusal, "given twice");
		*seen |= 1u << i;
		return shca_keys[i].parse(parse, value);
	}
	return shca_refuse(&parse->refusal, "no such key; there are %s", names);
}

static int
add_port(struct shca_options *options, const char *text, bool internal, char *error,
	size_t error_size)
{
	struct shca_port_options port;
	struct shca_parse parse = { &port, { .text = error, .size = error_size, .key = "" } };
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
	shca_keys_preset(&port, options->nb_ports);
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
	const struct shca_model *model;

	fprintf(out, "Keys of --port:\n");
	for (unsigned int i = 0; shca_keys[i].name != NULL; i++)
		if (!shca_keys[i].is_internal)
			fprintf(out, "  %s=%s\n        %s (default: %s)\n", shca_keys[i].name,
				shca_keys[i].values, shca_keys[i].help, shca_keys[i].preset);
	fprintf(out, "Wires:\n");
	for (unsigned int i = 0; shca_wire_kinds[i] != NULL; i++)
		fprintf(out, "  %s\n        %s\n", shca_wire_kinds[i]->usage,
			shca_wire_kinds[i]->help);
	fprintf(out, "Models:\n");
	for (unsigned int i = 0; (model = shca_model_at(i)) != NULL; i++)
		fprintf(out, "  %-8s%s, firmware %u.%u.%04u\n", model->name, model->board,
			(unsigned int)(model->fw_ver >> 32),
			(unsigned int)(model->fw_ver >> 16 & 0xffff),
			(unsigned int)(model->fw_ver & 0xffff));
	fprintf(out, "Lines of a model's file:\n");
	shca_model_help(out);
}

int
shca_options_save(const struct shca_options *options, const char *path)
{
	FILE *file = fopen(path, "we");
	char text[SHCA_OPTIONS_FIELD_MAX];
	int ret;

	if (file == NULL)
		return -errno;
	fprintf(file, "cpus ");
	for (unsigned int cpu = 0, nb = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &options->cpus))
			fprintf(file, "%s%u", nb++ == 0 ? "" : ",", cpu);
	fprintf(file, "\n");
	if (options->nb_threads != 0)
		fprintf(file, "threads %u\n", options->nb_threads);
	if (options->strict != SHCA_STRICT_OFF)
		fprintf(file, "strict %s\n", shca_findings_mode_name(options->strict));
	for (unsigned int i = 0; i < options->nb_ports; i++) {
		fprintf(file, "port ");
		for (unsigned int k = 0; shca_keys[k].name != NULL; k++) {
			shca_keys[k].print(&options->port[i], text, sizeof(text));
			fprintf(file, "%s%s=%s", k == 0 ? "" : ",", shca_keys[k].name, text);
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
load_threads(unsigned int *nb_threads, const char *text)
{
	uint64_t nb;

	if (!shca_text_number(text, 10, SHCA_PORTS_MAX, &nb))
		return -EINVAL;
	*nb_threads = (unsigned int)nb;
	return 0;
}

static int
load_line(struct shca_options *options, char *line)
{
	char error[SHCA_OPTIONS_FIELD_MAX];

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "cpus ", 5) == 0)
		return load_cpus(&options->cpus, line + 5);
	if (strncmp(line, "threads ", 8) == 0)
		return load_threads(&options->nb_threads, line + 8);
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
