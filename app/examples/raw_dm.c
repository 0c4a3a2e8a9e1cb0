/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends a frame out of the device's own memory: it is copied there once, and the device reads it
 * without crossing PCI, as often as it is sent.
 *
 *     raw-dm mlx5_0 02:00:00:00:00:02 3
 */
#include <errno.h>
#include <string.h>

#include "raw.h"

static const char usage[] = "raw-dm DEVICE DESTINATION_MAC COUNT";

enum {
	FRAME_BYTES = 64,
};

/** Write a frame of the type for experiments (IEEE 802), whose payload counts up. */
static void
build(uint8_t *frame, const uint8_t mac[6])
{
	static const uint8_t rest[8] = { 0x02, 0, 0, 0, 0, 0x99, 0x88, 0xb5 };

	memcpy(frame, mac, 6);
	memcpy(frame + 6, rest, sizeof(rest));
	for (unsigned int i = 14; i < FRAME_BYTES; i++)
		frame[i] = (uint8_t)i;
}

static void
send_one(const struct raw *raw, const struct ibv_mr *mr)
{
	/* The region begins at 0: IBV_ACCESS_ZERO_BASED. */
	struct ibv_sge sge = { .addr = 0, .length = FRAME_BYTES, .lkey = mr->lkey };

	raw_post_send(raw, sge, 0);
	raw_wait(raw);
}

int
main(int argc, char **argv)
{
	struct ibv_alloc_dm_attr attr = { .length = FRAME_BYTES };
	uint8_t mac[6], frame[FRAME_BYTES];
	struct ibv_dm *dm;
	struct ibv_mr *mr;
	struct raw raw;
	uint32_t count;

	if (argc != 4)
		raw_usage(usage);
	raw_parse_mac(argv[2], mac, usage);
	count = raw_parse_number(argv[3], 1000000, usage);
	raw_open(&raw, argv[1], 0);

	dm = ibv_alloc_dm(raw.context, &attr);
	if (dm == NULL)
		raw_die("ibv_alloc_dm");
	mr = ibv_reg_dm_mr(raw.pd, dm, 0, FRAME_BYTES, IBV_ACCESS_ZERO_BASED);
	if (mr == NULL)
		raw_die("ibv_reg_dm_mr");
	build(frame, mac);
	errno = ibv_memcpy_to_dm(dm, 0, frame, FRAME_BYTES);
	if (errno != 0)
		raw_die("ibv_memcpy_to_dm");
	for (uint32_t i = 0; i < count; i++)
		send_one(&raw, mr);

	errno = ibv_dereg_mr(mr);
	if (errno == 0)
		errno = ibv_free_dm(dm);
	if (errno != 0)
		raw_die("ibv_free_dm");
	raw_close(&raw);
	return 0;
}
