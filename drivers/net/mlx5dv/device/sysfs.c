/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files of sysfs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sysfs.h"

/* The same look-up as libibverbs does (rdma-core sysfs.c), whose function no installed header
 * declares. */
const char *
mdv_sysfs_root(void)
{
	const char *env = secure_getenv("SYSFS_PATH");

	return env != NULL && strlen(env) < 128 ? env : "/sys";
}

int
mdv_sysfs_read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");
	int ret = 0;

	if (file == NULL)
		return -errno;
	if (fgets(line, size, file) == NULL)
		ret = -ENODATA;
	else
		line[strcspn(line, "\n")] = '\0';
	fclose(file);
	return ret;
}

int
mdv_sysfs_read_u64(const char *path, uint64_t *value)
{
	char line[32];
	char *end;
	int ret;

	ret = mdv_sysfs_read_line(path, line, sizeof(line));
	if (ret != 0)
		return ret;
	errno = 0;
	*value = strtoull(line, &end, 10);
	return end == line || errno != 0 ? -EINVAL : 0;
}
