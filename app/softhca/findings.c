/* SPDX-License-Identifier: BSD-3-Clause */
/** @file softhca run and up --strict: the counts of findings, and their summary at the end. */
#include "strict/findings.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "app.h"

int
app_findings_open(const char *dir, enum shca_strict strict, bool create, uint64_t **count)
{
	char path[PATH_MAX];
	int ret;

	*count = NULL;
	if (strict == SHCA_STRICT_OFF)
		return 0;
	snprintf(path, sizeof(path), "%s/" SHCA_FINDINGS_FILE, dir);
	ret = shca_findings_map(path, create, count);
	if (ret != 0)
		fprintf(stderr, "softhca: cannot %s %s: %s\n", create ? "make" : "open", path,
			strerror(-ret));
	return ret;
}

bool
app_findings_conclude(uint64_t *count)
{
	char text[1024];
	uint64_t sum;

	if (count == NULL)
		return false;
	sum = shca_findings_sum(count, text, sizeof(text));
	fprintf(stderr, "softhca: strict: %s\n", text);
	shca_findings_unmap(count);
	return sum != 0;
}
