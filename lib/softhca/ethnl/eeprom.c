/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethnl/eeprom.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>

#include "ethnl/call.h"

#define PAGE_BYTES  128u /* linux/ethtool.h ETH_MODULE_EEPROM_PAGE_LEN */
#define ADDRESS_MAX 0x7f /* the same, ETH_MODULE_MAX_I2C_ADDRESS */
#define ADDRESS     0x50 /* of the module: SFF-8636 has no other */

/** What is asked for. */
struct wanted {
	uint32_t offset, length;
	uint8_t page, address;
};

static int
refuse_range(struct shca_ethnl_call *call, const struct nlattr *culprit)
{
	return shca_ethnl_refuse(call, -ERANGE, culprit, "integer out of range");
}

/** ethnl_module_eeprom_get_policy */
static int
read_wanted(struct shca_ethnl_call *call, struct wanted *wanted)
{
	const struct nlattr *offset = call->attrs[ETHTOOL_A_MODULE_EEPROM_OFFSET];
	const struct nlattr *length = call->attrs[ETHTOOL_A_MODULE_EEPROM_LENGTH];
	const struct nlattr *page = call->attrs[ETHTOOL_A_MODULE_EEPROM_PAGE];
	const struct nlattr *address = call->attrs[ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS];

	if (offset != NULL && mnl_attr_get_u32(offset) >= 2 * PAGE_BYTES)
		return refuse_range(call, offset);
	if (length != NULL &&
		(mnl_attr_get_u32(length) == 0 || mnl_attr_get_u32(length) > PAGE_BYTES))
		return refuse_range(call, length);
	if (address != NULL && mnl_attr_get_u8(address) > ADDRESS_MAX)
		return refuse_range(call, address);
	if (offset == NULL || length == NULL || page == NULL || address == NULL)
		return -EINVAL;
	*wanted = (struct wanted){
		.offset = mnl_attr_get_u32(offset),
		.length = mnl_attr_get_u32(length),
		.page = mnl_attr_get_u8(page),
		.address = mnl_attr_get_u8(address),
	};
	return 0;
}

/** eeprom_parse_request(): half a page at most, and below the first page's upper half nothing but
 * the lower memory. */
static int
check(struct shca_ethnl_call *call, const struct wanted *wanted)
{
	const uint32_t end = wanted->offset + wanted->length;

	if (wanted->page != 0 && wanted->offset < PAGE_BYTES)
		return shca_ethnl_refuse(call, -EINVAL, call->attrs[ETHTOOL_A_MODULE_EEPROM_PAGE],
			"reading from lower half page is allowed for page 0 only");
	if (wanted->offset < PAGE_BYTES && end > PAGE_BYTES)
		return shca_ethnl_refuse(call, -EINVAL, call->attrs[ETHTOOL_A_MODULE_EEPROM_LENGTH],
			"reading cross half page boundary is illegal");
	if (end > 2 * PAGE_BYTES)
		return shca_ethnl_refuse(call, -EINVAL, call->attrs[ETHTOOL_A_MODULE_EEPROM_LENGTH],
			"reading cross page boundary is illegal");
	return 0;
}

/** eeprom_fallback(): page by page, from where the ioctl has them one behind the other. */
int
shca_ethnl_eeprom_get(struct shca_ethnl_call *call)
{
	struct ethtool_modinfo info = { .cmd = ETHTOOL_GMODULEINFO };
	union {
		struct ethtool_eeprom head;
		uint8_t room[sizeof(struct ethtool_eeprom) + PAGE_BYTES];
	} eeprom = { .head = { .cmd = ETHTOOL_GMODULEEEPROM } };
	struct wanted wanted = { 0 };
	int ret = read_wanted(call, &wanted);

	if (ret == 0)
		ret = check(call, &wanted);
	if (ret == 0)
		ret = shca_ethnl_ask(call, &info);
	if (ret != 0)
		return ret;
	eeprom.head.offset = wanted.page * PAGE_BYTES + wanted.offset;
	eeprom.head.len = wanted.length;
	if (wanted.address != ADDRESS || eeprom.head.offset >= info.eeprom_len)
		return -EINVAL;
	ret = shca_ethnl_ask(call, &eeprom);
	if (ret == 0)
		mnl_attr_put(call->reply, ETHTOOL_A_MODULE_EEPROM_DATA, wanted.length,
			eeprom.room + sizeof(eeprom.head));
	return ret;
}
