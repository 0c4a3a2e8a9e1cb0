/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the tree's directories and files. */
#include "sysfs/tree_make.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int
shca_tree_make_directory(const char *path)
{
	return mkdir(path, 0755) == 0 || errno == EEXIST ? 0 : -errno;
}

int
shca_tree_make_parents(char *path, size_t base_length)
{
	int ret = 0;

	for (char *slash = strchr(path + base_length + 1, '/'); slash != NULL && ret == 0;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ret = shca_tree_make_directory(path);
		*slash = '/';
	}
	return ret;
}

int
shca_tree_make_file(const char *path, const void *bytes, size_t nb)
{
	FILE *file = fopen(path, "we");
	int ret = 0;

	if (file == NULL)
		return -errno;
	if (fwrite(bytes, 1, nb, file) != nb)
		ret = -EIO;
	if (fclose(file) != 0 && ret == 0)
		ret = -errno;
	return ret;
}
