/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of ethtool, as text between two processes. */
#include "ctl/netdev.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/remote.h"
#include "ctl/request.h"
#include "ctl/target.h"
#include "ethtool/command.h"
#include "hw/device/device.h"

#define TEXT_MAX (2 * SHCA_ETHTOOL_MAX + 64)

static const char digits[] = "0123456789abcdef";

static void
print(char *to, const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		*to++ = digits[bytes[i] >> 4];
		*to++ = digits[bytes[i] & 15];
	}
	*to = '\0';
}

/** @return whether @p text, up to a newline, is bytes in hexadecimal. */
static bool
read_bytes(const char *text, uint8_t *bytes, size_t *length)
{
	const size_t nb = strcspn(text, "\n");

	if (nb % 2 != 0 || nb / 2 > SHCA_ETHTOOL_MAX)
		return false;
	for (size_t i = 0; i < nb; i++) {
		const char *digit = strchr(digits, text[i]);

		if (digit == NULL)
			return false;
		bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | (digit - digits));
	}
	*length = nb / 2;
	return true;
}

int
shca_netdev_run(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	struct shca_device *dev = shca_target_find_one(target, request, out);
	uint8_t *bytes = aligned_alloc(sizeof(uint64_t), SHCA_ETHTOOL_MAX);
	char *text = malloc(TEXT_MAX);
	size_t length = 0;
	int ret = -EINVAL;

	if (dev == NULL || bytes == NULL || text == NULL)
		goto out;
	if (!read_bytes(request->argument, bytes, &length)) {
		fprintf(out, "ethtool takes the bytes of an ioctl in hexadecimal");
		goto out;
	}
	ret = shca_ethtool_run(dev, bytes, &length);
	if (ret == 0)
		print(text, bytes, length);
	else
		snprintf(text, TEXT_MAX, "errno %d", -ret);
	if (request->json)
		fprintf(out, "{\"device\": \"mlx5_%u\", \"answer\": \"%s\"}\n",
			shca_device_conf(dev)->index, text);
	else
		fprintf(out, "%s\n", text);
	ret = 0;
out:
	free(bytes);
	free(text);
	return ret;
}

int
shca_netdev_ask(const char *dir, unsigned int device, uint8_t *bytes, size_t *length)
{
	char *text = malloc(TEXT_MAX);
	int error, ret, end;

	if (text == NULL)
		return -ENOMEM;
	end = sprintf(text, "ethtool --port %u ", device);
	print(text + end, bytes, *length);
	strcat(text, "\n");
	ret = shca_remote_ask(dir, text, text, TEXT_MAX);
	if (ret == -EREMOTEIO || (ret == 0 && sscanf(text, "errno %d", &error) == 1))
		ret = ret == 0 ? -error : -ENODEV;
	else if (ret == 0 && !read_bytes(text, bytes, length))
		ret = -EPROTO;
	free(text);
	return ret;
}
