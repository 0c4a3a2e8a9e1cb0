/* SPDX-License-Identifier: BSD-3-Clause */
/** @file softhca run --faults FILE: check it before the command runs, report after the command has
 * ended. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "app.h"
#include "config/options.h"
#include "fault/faults.h"

int
app_faults_read(const char *path, unsigned int nb_ports, char **text)
{
	struct shca_plan plan;
	char error[2048];
	int ret;

	*text = NULL;
	if (path == NULL)
		return 0;
	ret = shca_faults_read(path, text);
	if (ret != 0) {
		fprintf(stderr, "softhca: --faults %s: %s\n", path,
			ret == -EILSEQ ? "not a text" : strerror(-ret));
		return ret;
	}
	ret = shca_plan_parse(*text, nb_ports, &plan, error, sizeof(error));
	if (ret != 0) {
		fprintf(stderr, "softhca: --faults %s: %s\n", path, error);
		free(*text);
		*text = NULL;
	}
	return ret;
}

int
app_faults_prepare(
	const char *dir, const char *text, unsigned int nb_ports, struct shca_faults **faults)
{
	int ret;

	*faults = NULL;
	if (text == NULL)
		return 0;
	ret = shca_faults_create(dir, text, nb_ports, faults);
	if (ret != 0)
		fprintf(stderr, "softhca: cannot keep the faults in %s: %s\n", dir, strerror(-ret));
	return ret;
}

void
app_faults_conclude(struct shca_faults *faults)
{
	if (faults == NULL)
		return;
	shca_faults_print(faults, "softhca: faults: ", stderr);
	shca_faults_close(faults);
}
