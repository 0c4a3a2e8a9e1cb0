/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends frames no faster than a rate, which the device keeps for the queue pair (packet pacing),
 * and measures the rate.
 *
 *     raw-paced mlx5_0 02:00:00:00:00:02 50 20000
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "raw.h"

static const char usage[] = "raw-paced DEVICE DESTINATION_MAC COUNT KBIT_PER_SECOND";

enum {
	FRAME_BYTES = 1000,
	FRAME_BITS = 8 * FRAME_BYTES,
};

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/** Allow the queue pair @p kbps, in frames one by one. */
static void
limit(const struct raw *raw, uint32_t kbps)
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = kbps };

	errno = ibv_modify_qp_rate_limit(raw->qp, &attr);
	if (errno != 0)
		raw_die("ibv_modify_qp_rate_limit");
}

static void
post(const struct raw *raw)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)raw_buffer(raw, 0),
		.length = FRAME_BYTES,
		.lkey = raw->mr->lkey,
	};

	raw_post_send(raw, sge, 0);
}

int
main(int argc, char **argv)
{
	static const uint8_t rest[8] = { 0x02, 0, 0, 0, 0, 0x99, 0x88, 0xb5 };
	uint32_t count, kbps;
	double begin, seconds;
	uint8_t mac[6];
	struct raw raw;

	if (argc != 5)
		raw_usage(usage);
	raw_parse_mac(argv[2], mac, usage);
	count = raw_parse_number(argv[3], RAW_NB_BUFFERS, usage);
	kbps = raw_parse_number(argv[4], 100000000, usage);
	if (count < 2 || kbps == 0)
		raw_usage(usage);
	raw_open(&raw, argv[1], 0);
	memcpy(raw_buffer(&raw, 0), mac, 6);
	memcpy(raw_buffer(&raw, 0) + 6, rest, sizeof(rest));

	limit(&raw, kbps);
	begin = now();
	for (uint32_t i = 0; i < count; i++)
		post(&raw);
	for (uint32_t i = 0; i < count; i++)
		raw_wait(&raw);
	seconds = now() - begin;
	/* Between the first frame and the last one are count - 1 times. */
	printf("%u frames of %u bytes: %.0f of %u kbit/s\n", count, FRAME_BYTES,
		(count - 1) * (double)FRAME_BITS / 1000 / seconds, kbps);
	raw_close(&raw);
	return 0;
}
