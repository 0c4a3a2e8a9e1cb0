/* SPDX-License-Identifier: BSD-3-Clause */
/* An optical QSFP28 module of four lanes: 100GBASE-SR4, with monitors and their thresholds. */
#include "ethtool/module.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "config/model.h"
#include "ethtool/command.h"
#include "hw/device/device.h"

/** Where SFF-8636 rev. 2.7 has it, by page and byte; ethtool's dump has the lower half, then the
 * upper halves of pages 0 to 3. */
#define LOWER(byte)       (byte)
#define UPPER(page, byte) (128 * (page) + (byte))
#define NB_BYTES          ETH_MODULE_SFF_8636_MAX_LEN

#define LOSS_OF_SIGNAL LOWER(3)
#define RX_POWER       LOWER(34)
#define VENDOR         UPPER(0, 148)
#define PART           UPPER(0, 168)
#define SERIAL         UPPER(0, 196)
#define NAME_BYTES     16
#define SUMS_FROM      UPPER(0, 128)
#define BASE_SUM       UPPER(0, 191)
#define EXTENDED_FROM  UPPER(0, 192)
#define EXTENDED_SUM   UPPER(0, 223)

#define NB_LANES    4
#define POWER_BYTES 2

struct field {
	uint16_t at;
	uint8_t length;
	uint8_t bytes[20];
};

/* clang-format off */
#define BYTES(...) sizeof((uint8_t[]){ __VA_ARGS__ }), { __VA_ARGS__ }
/* clang-format on */

static const struct field fields[] = {
	{ LOWER(0), BYTES(0x11, 0x07, 0x00) }, /* QSFP28, revision 2.5 to 2.7, with pages */
	{ LOWER(22), BYTES(0x23, 0x80) },      /* 35.5 degrees */
	{ LOWER(26), BYTES(0x80, 0xe8) },      /* 3.3 V */
	/* Of four lanes: bias of the laser, 6.75 mA, and power, 0.8 mW. */
	{ LOWER(42), BYTES(0x0d, 0x2f, 0x0d, 0x2f, 0x0d, 0x2f, 0x0d, 0x2f) },
	{ LOWER(50), BYTES(0x1f, 0x40, 0x1f, 0x40, 0x1f, 0x40, 0x1f, 0x40) },
	/* QSFP28, 3.5 W with CDR both ways, MPO, further kinds in byte 192. */
	{ UPPER(0, 128), BYTES(0x11, 0xcc, 0x0c, 0x80) },
	/* 64B/66B, rate in byte 222, 70 m of OM3, 100 m of OM4, VCSEL of 850 nm. */
	{ UPPER(0, 139), BYTES(0x05, 0xff, 0x00, 0x00, 0x23, 0x00, 0x00, 0x32, 0x00) },
	{ UPPER(0, 184), BYTES('A', '1') },
	{ UPPER(0, 186), BYTES(0x42, 0x68, 0x07, 0xd0, 0x46) }, /* 850 nm, 10 nm; 70 degrees */
	{ UPPER(0, 192), BYTES(0x02, 0x00, 0x07, 0xde) },       /* 100GBASE-SR4; options */
	{ UPPER(0, 212), BYTES('2', '5', '1', '1', '2', '5', ' ', ' ') },
	/* Monitors: temperature, voltage, average power both ways; 25.75 Gb/s a lane. */
	{ UPPER(0, 220), BYTES(0x3c, 0x10, 0x67) },
	/* Thresholds, high and low of alarms, of warnings: temperature, voltage, power
	 * received, bias, power sent. */
	{ UPPER(3, 128), BYTES(0x4b, 0x00, 0xfb, 0x00, 0x46, 0x00, 0x00, 0x00) },
	{ UPPER(3, 144), BYTES(0x8d, 0xcc, 0x74, 0x04, 0x87, 0x5a, 0x7a, 0x75) },
	{ UPPER(3, 176), BYTES(0x43, 0xe2, 0x02, 0x50, 0x36, 0x28, 0x04, 0x9f) },
	{ UPPER(3, 184), BYTES(0x13, 0x88, 0x05, 0xdc, 0x11, 0x94, 0x07, 0xd0) },
	{ UPPER(3, 192), BYTES(0x43, 0xe2, 0x04, 0x9f, 0x36, 0x28, 0x07, 0x2b) },
};

/** Received by each lane while there is light: 0.7 mW. */
static const uint8_t power[POWER_BYTES] = { 0x1b, 0x58 };

static uint8_t
sum(const uint8_t *image, unsigned int from, unsigned int end)
{
	uint8_t total = 0;

	while (from < end)
		total = (uint8_t)(total + image[from++]);
	return total;
}

/** Texts have spaces behind them. */
static void
put_text(uint8_t *image, unsigned int at, const char *text)
{
	char padded[NAME_BYTES + 1];

	snprintf(padded, sizeof(padded), "%-*s", NAME_BYTES, text);
	memcpy(image + at, padded, NAME_BYTES);
}

static void
make_image(struct shca_device *dev, uint8_t image[NB_BYTES])
{
	const struct shca_device_conf *conf = shca_device_conf(dev);
	const bool has_light = shca_device_link(dev);
	char serial[NAME_BYTES + 1];

	memset(image, 0, NB_BYTES);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		memcpy(image + fields[i].at, fields[i].bytes, fields[i].length);
	if (!has_light)
		image[LOSS_OF_SIGNAL] = (1u << NB_LANES) - 1;
	for (unsigned int lane = 0; has_light && lane < NB_LANES; lane++)
		memcpy(image + RX_POWER + lane * sizeof(power), power, sizeof(power));
	put_text(image, VENDOR, "softhca");
	put_text(image, PART, conf->model->module);
	snprintf(serial, sizeof(serial), "SH%02X%02X%02X%02X%02X%02X", conf->mac[0], conf->mac[1],
		conf->mac[2], conf->mac[3], conf->mac[4], conf->mac[5]);
	put_text(image, SERIAL, serial);
	image[BASE_SUM] = sum(image, SUMS_FROM, BASE_SUM);
	image[EXTENDED_SUM] = sum(image, EXTENDED_FROM, EXTENDED_SUM);
}

/** What mlx5e_get_module_info() makes of registers that the firmware does not let be read: those of
 * a port (PMLP, MCIA) by a virtual function, and those of an empty cage. */
static bool
has_module(const struct shca_device *dev)
{
	const struct shca_device_conf *conf = shca_device_conf(dev);

	return !conf->is_vf && strcmp(conf->model->module, "none") != 0;
}

int
shca_module_info(struct shca_ethtool_call *call)
{
	if (!has_module(call->dev))
		return -EIO;
	*(struct ethtool_modinfo *)(void *)call->bytes = (struct ethtool_modinfo){
		.cmd = ETHTOOL_GMODULEINFO,
		.type = ETH_MODULE_SFF_8636,
		.eeprom_len = NB_BYTES,
	};
	return 0;
}

/** The limits are of net/ethtool/ioctl.c ethtool_get_any_eeprom(), which asks for the length first.
 */
int
shca_module_eeprom(struct shca_ethtool_call *call)
{
	const struct ethtool_eeprom *wanted = (const void *)call->bytes;
	uint8_t image[NB_BYTES];

	if (!has_module(call->dev))
		return -EIO;
	if (wanted->len == 0 || wanted->offset > NB_BYTES ||
		wanted->len > NB_BYTES - wanted->offset)
		return -EINVAL;
	make_image(call->dev, image);
	memcpy(call->bytes + sizeof(*wanted), image + wanted->offset, wanted->len);
	call->length += wanted->len;
	return 0;
}
