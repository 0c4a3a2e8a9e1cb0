/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/model_speed.h"

#include <stddef.h>

/** As mlx5_ib reports them (main.c translate_eth_proto_oper(), translate_eth_ext_proto_oper()),
 * which takes 1 Gb/s for SDR, too. */
static const struct shca_model_speed speeds[] = {
	{ 2500, 1, 1, 1, "SDR" },
	{ 5000, 1, 1, 2, "DDR" },
	{ 10000, 1, 1, 4, "QDR" },
	{ 25000, 1, 1, 32, "EDR" },
	{ 40000, 4, 2, 4, "QDR" },
	{ 50000, 2, 16, 32, "EDR" },
	{ 100000, 4, 2, 32, "EDR" },
	{ 200000, 4, 2, 64, "HDR" },
	{ 400000, 4, 2, 128, "NDR" },
};

const struct shca_model_speed *
shca_model_speed_of(uint32_t mbps)
{
	size_t i = 0;

	while (i + 1 < sizeof(speeds) / sizeof(speeds[0]) && speeds[i].mbps < mbps)
		i++;
	return &speeds[i];
}
