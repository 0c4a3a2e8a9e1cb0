/* SPDX-License-Identifier: BSD-3-Clause */
/* The faults of a run. */
#include "fault/faults.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/shared.h"
#include "fault/verb.h"

#define TEXT_FILE    "faults"
#define APPLIED_FILE "faults-applied"
#define COUNT_BYTES  (SHCA_PLAN_MAX * sizeof(uint64_t))
#define FILE_MAX     65536

int
shca_faults_read(const char *path, char **text)
{
	FILE *file = fopen(path, "re");
	char *read = NULL;
	size_t length;
	int ret = 0;

	if (file == NULL)
		return -errno;
	read = malloc(FILE_MAX + 1);
	if (read == NULL) {
		ret = -ENOMEM;
		goto close;
	}
	errno = 0;
	length = fread(read, 1, FILE_MAX, file);
	read[length] = '\0';
	if (ferror(file))
		ret = errno != 0 ? -errno : -EIO;
	else if (fgetc(file) != EOF)
		ret = -EFBIG;
	else if (strlen(read) != length)
		ret = -EILSEQ;
	if (ret == 0)
		*text = read;
	else
		free(read);
close:
	fclose(file);
	return ret;
}

static int
write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	int ret;

	if (file == NULL)
		return -errno;
	ret = fputs(text, file) < 0 ? -EIO : 0;
	if (fclose(file) != 0 && ret == 0)
		ret = -errno;
	return ret;
}

/** Parse @p text; the caller provides the counts. */
static int
make(const char *text, unsigned int nb_devices, struct shca_faults **out)
{
	struct shca_faults *faults = calloc(1, sizeof(*faults));
	char error[2048];
	int ret;

	if (faults == NULL)
		return -ENOMEM;
	faults->nb_devices = nb_devices;
	faults->calls = calloc((size_t)SHCA_PLAN_MAX * nb_devices, sizeof(*faults->calls));
	ret = faults->calls == NULL
		? -ENOMEM
		: shca_plan_parse(text, nb_devices, &faults->plan, error, sizeof(error));
	if (ret == -EINVAL)
		SHCA_ERR("faults: %s", error);
	if (ret != 0)
		shca_faults_close(faults);
	else
		*out = faults;
	return ret;
}

static int
map_applied(const char *dir, bool create, struct shca_faults *faults)
{
	char path[PATH_MAX];
	void *map;
	int ret;

	if ((size_t)snprintf(path, sizeof(path), "%s/" APPLIED_FILE, dir) >= sizeof(path))
		return -ENAMETOOLONG;
	ret = shca_shared_map(path, create, COUNT_BYTES, &map);
	if (ret != 0)
		return ret;
	faults->applied = map;
	faults->is_shared = true;
	return 0;
}

int
shca_faults_make(const char *text, unsigned int nb_devices, struct shca_faults **out)
{
	int ret = make(text, nb_devices, out);

	if (ret != 0)
		return ret;
	(*out)->applied = calloc(1, COUNT_BYTES);
	if ((*out)->applied != NULL)
		return 0;
	shca_faults_close(*out);
	return -ENOMEM;
}

int
shca_faults_create(
	const char *dir, const char *text, unsigned int nb_devices, struct shca_faults **out)
{
	char path[PATH_MAX];
	int ret;

	if ((size_t)snprintf(path, sizeof(path), "%s/" TEXT_FILE, dir) >= sizeof(path))
		return -ENAMETOOLONG;
	ret = write_text(path, text);
	if (ret == 0)
		ret = make(text, nb_devices, out);
	if (ret != 0)
		return ret;
	ret = map_applied(dir, true, *out);
	if (ret != 0)
		shca_faults_close(*out);
	return ret;
}

int
shca_faults_open(const char *dir, unsigned int nb_devices, struct shca_faults **out)
{
	char path[PATH_MAX];
	char *text;
	int ret;

	*out = NULL;
	if ((size_t)snprintf(path, sizeof(path), "%s/" TEXT_FILE, dir) >= sizeof(path))
		return -ENAMETOOLONG;
	ret = shca_faults_read(path, &text);
	if (ret != 0)
		return ret == -ENOENT ? 0 : ret;
	ret = make(text, nb_devices, out);
	free(text);
	if (ret != 0)
		return ret;
	ret = map_applied(dir, false, *out);
	if (ret != 0) {
		shca_faults_close(*out);
		*out = NULL;
	}
	return ret;
}

void
shca_faults_close(struct shca_faults *faults)
{
	if (faults == NULL)
		return;
	if (faults->is_shared)
		shca_shared_unmap(faults->applied, COUNT_BYTES);
	else
		free(faults->applied);
	free(faults->calls);
	free(faults);
}

static bool
concerns(const struct shca_fault *fault, unsigned int device)
{
	return fault->device == SHCA_PLAN_EVERY || fault->device == (int)device;
}

bool
shca_faults_concern(const struct shca_faults *faults, enum shca_fault_kind first,
	enum shca_fault_kind last, unsigned int device)
{
	if (faults == NULL)
		return false;
	for (unsigned int i = 0; i < faults->plan.nb; i++) {
		const struct shca_fault *fault = &faults->plan.fault[i];

		if (fault->row->kind >= first && fault->row->kind <= last &&
			concerns(fault, device))
			return true;
	}
	return false;
}

/** The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
 * 2014): each bit of the input changes half of the output's. */
static uint64_t
mix(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

/** The dice depend on the fault's place among the faults, so a comment line changes nothing. */
static uint64_t
dice(const struct shca_faults *faults, const struct shca_fault *fault,
	const struct shca_fault_site *site, uint64_t purpose)
{
	const uint64_t step = 0x9e3779b97f4a7c15; /* 2^64 by the golden ratio */
	uint64_t value = mix(faults->plan.seed + step);

	value = mix(value ^ (uint64_t)(fault - faults->plan.fault + 1) * step);
	value = mix(value ^
		((uint64_t)site->device << 34 | (uint64_t)site->queue << 2 |
			(uint64_t)site->is_tx << 1 | purpose));
	return mix(value + site->n * step);
}

uint64_t
shca_faults_dice(const struct shca_faults *faults, const struct shca_fault *fault,
	const struct shca_fault_site *site)
{
	return dice(faults, fault, site, 1);
}

static bool
is_due(const struct shca_faults *faults, const struct shca_fault *fault,
	const struct shca_fault_site *site)
{
	switch (fault->when) {
	case SHCA_FAULT_AT:
		return site->n == fault->n;
	case SHCA_FAULT_EVERY:
		return site->n % fault->n == 0;
	case SHCA_FAULT_FROM:
		return site->n >= fault->n;
	case SHCA_FAULT_CHANCE:
		return dice(faults, fault, site, 0) >> 32 < fault->chance;
	case SHCA_FAULT_UNSAID:
		break;
	}
	return false;
}

const struct shca_fault *
shca_faults_due(const struct shca_faults *faults, enum shca_fault_kind kind,
	const struct shca_fault_site *site)
{
	for (unsigned int i = 0; i < faults->plan.nb; i++) {
		const struct shca_fault *fault = &faults->plan.fault[i];

		if (fault->row->kind == kind && fault->is_tx == site->is_tx &&
			(fault->queue == 0 || fault->queue == site->queue) &&
			concerns(fault, site->device) && is_due(faults, fault, site))
			return fault;
	}
	return NULL;
}

void
shca_faults_applied(struct shca_faults *faults, const struct shca_fault *fault)
{
	__atomic_fetch_add(&faults->applied[fault - faults->plan.fault], 1, __ATOMIC_RELAXED);
}

static bool
is_meant(const struct shca_fault *fault, const struct shca_verb *verb)
{
	if ((fault->row->words & SHCA_FAULT_VERB) == 0)
		return false;
	return fault->verb != NULL ? fault->verb == verb : verb == NULL || !verb->is_destroy;
}

/** Each fault of the verb counts the call. All delays that are due add up; of the errors the first
 * that is due applies. */
int
shca_faults_call(struct shca_faults *faults, unsigned int device, const struct shca_verb *verb,
	uint64_t *delay_ns)
{
	int error = 0;

	for (unsigned int i = 0; i < faults->plan.nb; i++) {
		const struct shca_fault *fault = &faults->plan.fault[i];
		struct shca_fault_site site = { .device = device };

		if (!is_meant(fault, verb) || !concerns(fault, device))
			continue;
		site.n = ++faults->calls[(size_t)i * faults->nb_devices + device];
		if (!is_due(faults, fault, &site))
			continue;
		if (fault->row->kind == SHCA_FAULT_VERB_SLOW)
			*delay_ns += fault->ns;
		else if (error == 0)
			error = fault->row->error;
		else
			continue;
		shca_faults_applied(faults, fault);
	}
	return -error;
}

void
shca_faults_print(const struct shca_faults *faults, const char *prefix, FILE *out)
{
	for (unsigned int i = 0; i < faults->plan.nb; i++) {
		const struct shca_fault *fault = &faults->plan.fault[i];
		uint64_t nb = __atomic_load_n(&faults->applied[i], __ATOMIC_RELAXED);

		fprintf(out, "%sline %u: %s: ", prefix, fault->line, fault->text);
		if (nb == 0)
			fprintf(out, "never\n");
		else
			fprintf(out, "%" PRIu64 " time%s\n", nb, nb == 1 ? "" : "s");
	}
}
