/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where there is no libFuzzer: runs the files that are named, then inputs from a seed.
 *
 *     PROGRAM [-runs=N] [-seed=N] [-max_len=N] [FILE or DIRECTORY]...
 *
 * An input that ends the program is left in crash-SEED-NUMBER.
 */

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LENGTH 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	uint64_t seed, number;
	uint8_t data[MAX_LENGTH];
	size_t size;
	int running;
} current;

static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void
leave_input(void)
{
	char name[64];
	FILE *file;

	if (!current.running)
		return;
	current.running = 0;
	snprintf(name, sizeof(name), "crash-%" PRIu64 "-%" PRIu64, current.seed, current.number);
	file = fopen(name, "w");
	if (file == NULL)
		return;
	fwrite(current.data, 1, current.size, file);
	fclose(file);
	fprintf(stderr, "%zu bytes are in %s\n", current.size, name);
}

static void
on_signal(int number)
{
	leave_input();
	signal(number, SIG_DFL);
	raise(number);
}

static void
run(void)
{
	uint8_t *exact = malloc(current.size != 0 ? current.size : 1);

	if (exact == NULL)
		abort();
	memcpy(exact, current.data, current.size);
	current.running = 1;
	LLVMFuzzerTestOneInput(exact, current.size);
	current.running = 0;
	current.number++;
	free(exact);
}

static int
run_file(const char *path)
{
	FILE *file = fopen(path, "r");

	if (file == NULL) {
		perror(path);
		return -1;
	}
	current.size = fread(current.data, 1, sizeof(current.data), file);
	fclose(file);
	run();
	return 0;
}

static int
run_path(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	char name[4096];
	int rc = 0;

	if (directory == NULL)
		return run_file(path);
	while (rc == 0 && (entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		rc = run_file(name);
	}
	closedir(directory);
	return rc;
}

int
main(int argc, char **argv)
{
	uint64_t runs = 0, length = 1024, state;

	current.seed = 1;
	atexit(leave_input);
	signal(SIGABRT, on_signal);
	signal(SIGSEGV, on_signal);
	for (int i = 1; i < argc; i++) {
		if (sscanf(argv[i], "-runs=%" SCNu64, &runs) == 1 ||
			sscanf(argv[i], "-seed=%" SCNu64, &current.seed) == 1 ||
			sscanf(argv[i], "-max_len=%" SCNu64, &length) == 1)
			continue;
		if (run_path(argv[i]) != 0)
			return 1;
	}
	printf("%" PRIu64 " files\n", current.number);
	length = length < MAX_LENGTH ? length : MAX_LENGTH;
	state = current.seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (uint64_t i = 0; i < runs; i++) {
		current.size = next_random(&state) % (length + 1);
		for (size_t at = 0; at < current.size; at++)
			current.data[at] = next_random(&state) >> 24;
		run();
	}
	printf("%" PRIu64 " inputs of seed %" PRIu64 "\n", runs, current.seed);
	return 0;
}
