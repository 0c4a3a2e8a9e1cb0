/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of the netdev, from text. */
#include "ctl/ntuple.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "base/text.h"
#include "ctl/request.h"
#include "ctl/target.h"
#include "ethtool/flow.h"
#include "hw/device/device.h"
#include "steering/ethtool.h"

#define VLAN_MAX 4095

enum {
	ETHER = 1,
	IP4 = 2,
	IP6 = 4,
	L4 = 8,
	USER = 16, /* IP without a protocol of its own */
};

/** Flow types, as man ethtool names them. */
static const struct type {
	const char *name;
	unsigned int is;
	uint32_t flow_type;
} types[] = {
	{ "ether", ETHER, ETHER_FLOW },
	{ "ip4", IP4 | USER, IP_USER_FLOW },
	{ "tcp4", IP4 | L4, TCP_V4_FLOW },
	{ "udp4", IP4 | L4, UDP_V4_FLOW },
	{ "ip6", IP6 | USER, IPV6_USER_FLOW },
	{ "tcp6", IP6 | L4, TCP_V6_FLOW },
	{ "udp6", IP6 | L4, UDP_V6_FLOW },
};

struct parse {
	struct ethtool_rx_flow_spec spec;
	const struct type *type; /* NULL: not given yet */
	bool has_action, has_location;
	uint32_t given; /* keys, a bit each */
};

static bool
take_type(struct parse *parse, const char *text)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, text) == 0)
			parse->type = &types[i];
	if (parse->type == NULL)
		return false;
	parse->spec.flow_type = parse->type->flow_type;
	if (parse->type->flow_type == IP_USER_FLOW)
		parse->spec.h_u.usr_ip4_spec.ip_ver = ETH_RX_NFC_IP4;
	return true;
}

static bool
take_mac(uint8_t mask[6], uint8_t value[6], const char *text)
{
	memset(mask, UINT8_MAX, 6);
	return shca_text_mac(text, value);
}

static bool
take_src(struct parse *parse, const char *text)
{
	return take_mac(
		parse->spec.m_u.ether_spec.h_source, parse->spec.h_u.ether_spec.h_source, text);
}

static bool
take_dst(struct parse *parse, const char *text)
{
	return take_mac(parse->spec.m_u.ether_spec.h_dest, parse->spec.h_u.ether_spec.h_dest, text);
}

static bool
take_dst_mac(struct parse *parse, const char *text)
{
	parse->spec.flow_type |= FLOW_MAC_EXT;
	return take_mac(parse->spec.m_ext.h_dest, parse->spec.h_ext.h_dest, text);
}

/** Match a whole field of 16 bits, or of its lower bits up to @p max. */
static bool
take_16(__be16 *mask, __be16 *value, uint16_t max, const char *text)
{
	uint64_t number;

	if (!shca_text_number(text, 0, max, &number))
		return false;
	*mask = htons(max);
	*value = htons((uint16_t)number);
	return true;
}

static bool
take_proto(struct parse *parse, const char *text)
{
	__be16 mask, value;

	if (!take_16(&mask, &value, UINT16_MAX, text))
		return false;
	parse->spec.m_u.ether_spec.h_proto = mask;
	parse->spec.h_u.ether_spec.h_proto = value;
	return true;
}

static bool
take_vlan(struct parse *parse, const char *text)
{
	parse->spec.flow_type |= FLOW_EXT;
	return take_16(&parse->spec.m_ext.vlan_tci, &parse->spec.h_ext.vlan_tci, VLAN_MAX, text);
}

/** Read "ADDRESS" or "ADDRESS/BITS" of the flow type. */
static bool
take_address(const struct parse *parse, void *mask, void *value, const char *text)
{
	const bool is_v4 = parse->type->is & IP4;
	const unsigned int max = is_v4 ? 32 : 128;
	const char *slash = strchrnul(text, '/');
	uint8_t *mask_bytes = mask, *value_bytes = value;
	char address[INET6_ADDRSTRLEN];
	uint64_t nb_bits = max;

	if ((size_t)(slash - text) >= sizeof(address))
		return false;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';
	if (inet_pton(is_v4 ? AF_INET : AF_INET6, address, value) != 1 ||
		(*slash != '\0' && !shca_text_number(slash + 1, 0, max, &nb_bits)))
		return false;
	for (unsigned int i = 0; i < nb_bits; i++)
		mask_bytes[i / 8] |= (uint8_t)(0x80 >> i % 8);
	for (unsigned int i = 0; i < max / 8; i++)
		value_bytes[i] &= mask_bytes[i];
	return true;
}

/** Addresses and ports stand in one place in the specs of all flow types of an IP version. */
static bool
take_src_ip(struct parse *parse, const char *text)
{
	union ethtool_flow_union *mask = &parse->spec.m_u, *value = &parse->spec.h_u;

	return parse->type->is & IP4
		? take_address(parse, &mask->tcp_ip4_spec.ip4src, &value->tcp_ip4_spec.ip4src, text)
		: take_address(parse, mask->tcp_ip6_spec.ip6src, value->tcp_ip6_spec.ip6src, text);
}

static bool
take_dst_ip(struct parse *parse, const char *text)
{
	union ethtool_flow_union *mask = &parse->spec.m_u, *value = &parse->spec.h_u;

	return parse->type->is & IP4
		? take_address(parse, &mask->tcp_ip4_spec.ip4dst, &value->tcp_ip4_spec.ip4dst, text)
		: take_address(parse, mask->tcp_ip6_spec.ip6dst, value->tcp_ip6_spec.ip6dst, text);
}

static bool
take_l4proto(struct parse *parse, const char *text)
{
	union ethtool_flow_union *mask = &parse->spec.m_u, *value = &parse->spec.h_u;
	uint64_t number;

	if (!shca_text_number(text, 0, UINT8_MAX, &number))
		return false;
	if (parse->type->is & IP4) {
		mask->usr_ip4_spec.proto = UINT8_MAX;
		value->usr_ip4_spec.proto = (uint8_t)number;
	} else {
		mask->usr_ip6_spec.l4_proto = UINT8_MAX;
		value->usr_ip6_spec.l4_proto = (uint8_t)number;
	}
	return true;
}

static bool
take_src_port(struct parse *parse, const char *text)
{
	union ethtool_flow_union *mask = &parse->spec.m_u, *value = &parse->spec.h_u;

	return parse->type->is & IP4
		? take_16(&mask->tcp_ip4_spec.psrc, &value->tcp_ip4_spec.psrc, UINT16_MAX, text)
		: take_16(&mask->tcp_ip6_spec.psrc, &value->tcp_ip6_spec.psrc, UINT16_MAX, text);
}

static bool
take_dst_port(struct parse *parse, const char *text)
{
	union ethtool_flow_union *mask = &parse->spec.m_u, *value = &parse->spec.h_u;

	return parse->type->is & IP4
		? take_16(&mask->tcp_ip4_spec.pdst, &value->tcp_ip4_spec.pdst, UINT16_MAX, text)
		: take_16(&mask->tcp_ip6_spec.pdst, &value->tcp_ip6_spec.pdst, UINT16_MAX, text);
}

static bool
take_action(struct parse *parse, const char *text)
{
	uint64_t queue;

	parse->has_action = true;
	if (strcmp(text, "-1") == 0) {
		parse->spec.ring_cookie = RX_CLS_FLOW_DISC;
		return true;
	}
	if (!shca_text_number(text, 0, SHCA_ETHTOOL_QUEUES - 1, &queue))
		return false;
	parse->spec.ring_cookie = queue;
	return true;
}

static bool
take_location(struct parse *parse, const char *text)
{
	uint64_t number;

	parse->has_location = true;
	if (!shca_text_number(text, 0, SHCA_ETHTOOL_LOCATIONS - 1, &number))
		return false;
	parse->spec.location = (uint32_t)number;
	return true;
}

/* clang-format off */
static const struct key {
	const char *name, *values;
	unsigned int types; /* flow types that have it; 0: not a field of a frame */
	bool (*take)(struct parse *parse, const char *text);
} keys[] = {
	{ "flow-type", "ether, ip4, tcp4, udp4, ip6, tcp6 or udp6", 0, take_type },
	{ "src", "an address of the form 02:00:00:00:00:01", ETHER, take_src },
	{ "dst", "an address of the form 02:00:00:00:00:01", ETHER, take_dst },
	{ "proto", "an EtherType", ETHER, take_proto },
	{ "vlan", "an identifier up to 4095", ETHER | IP4 | IP6, take_vlan },
	{ "dst-mac", "an address of the form 02:00:00:00:00:01", IP4 | IP6, take_dst_mac },
	{ "src-ip", "ADDRESS[/BITS] of the flow type", IP4 | IP6, take_src_ip },
	{ "dst-ip", "ADDRESS[/BITS] of the flow type", IP4 | IP6, take_dst_ip },
	{ "l4proto", "a number up to 255", USER, take_l4proto },
	{ "src-port", "a port", L4, take_src_port },
	{ "dst-port", "a port", L4, take_dst_port },
	{ "action", "-1 (drop) or a queue of the netdev, 0 to 7", 0, take_action },
	{ "loc", "a number up to 1023", 0, take_location },
};
/* clang-format on */

static int
take_word(struct parse *parse, char *word, const struct shca_refusal *refusal)
{
	char *value = strchr(word, '=');
	const struct key *key = keys;

	if (value == NULL)
		return shca_refuse(refusal, "'%.32s' is no KEY=VALUE", word);
	*value++ = '\0';
	while (key < keys + sizeof(keys) / sizeof(keys[0]) && strcmp(key->name, word) != 0)
		key++;
	if (key == keys + sizeof(keys) / sizeof(keys[0]))
		return shca_refuse(refusal,
			"no key '%.32s'; there are flow-type, src, dst, proto, vlan, dst-mac, src-ip, dst-ip, l4proto, src-port, dst-port, action, loc",
			word);
	if (key->take != take_type && parse->type == NULL)
		return shca_refuse(refusal, "a rule begins with flow-type=TYPE");
	if (key->types != 0 && (key->types & parse->type->is) == 0)
		return shca_refuse(refusal, "%s has no %s", parse->type->name, key->name);
	if ((parse->given & 1u << (key - keys)) != 0)
		return shca_refuse(refusal, "%s is given twice", key->name);
	parse->given |= 1u << (key - keys);
	if (!key->take(parse, value))
		return shca_refuse(refusal, "%s is %s, not '%.48s'", key->name, key->values, value);
	return 0;
}

int
shca_ntuple_parse(char *text, struct shca_ethtool_attr *attr, const struct shca_refusal *refusal)
{
	struct parse parse = { .type = NULL };
	char *rest;
	int ret = 0;

	for (char *word = strtok_r(text, ",", &rest); word != NULL && ret == 0;
		word = strtok_r(NULL, ",", &rest))
		ret = take_word(&parse, word, refusal);
	if (ret == 0 && (parse.type == NULL || !parse.has_action || !parse.has_location))
		ret = shca_refuse(refusal, "a rule has a flow-type, an action and a loc");
	if (ret == 0)
		ret = shca_ethtool_flow_parse(&parse.spec, SHCA_ETHTOOL_QUEUES, attr);
	return ret < 0 ? ret : 0;
}

static const char *
explain(int error)
{
	switch (error) {
	case -ENODEV:
		return "there is no netdev beside the port (kernel=)";
	case -EINVAL:
		return "the rule names nothing of a frame";
	case -EEXIST:
		return "another rule for the same frames says otherwise";
	case -ENOENT:
		return "there is no rule of that location";
	default:
		return strerror(-error);
	}
}

static int
parse_copy(const char *rule, struct shca_ethtool_attr *attr, const struct shca_refusal *refusal)
{
	char *text = strdup(rule);
	const int ret = text != NULL ? shca_ntuple_parse(text, attr, refusal)
				     : shca_refuse(refusal, "out of memory");

	free(text);
	return ret;
}

int
shca_ntuple_run(struct shca_target *target, const struct shca_request *request, FILE *out)
{
	struct shca_device *dev = shca_target_find_one(target, request, out);
	struct shca_ethtool_attr attr;
	char error[256] = "";
	const struct shca_refusal refusal = { .text = error, .size = sizeof(error) };
	const bool is_delete = strncmp(request->argument, "delete=", strlen("delete=")) == 0;
	const char *why = NULL;
	uint64_t location = 0;
	int ret = 0;

	if (dev == NULL)
		return -EINVAL;
	if (!is_delete)
		ret = parse_copy(request->argument, &attr, &refusal);
	else if (!shca_text_number(request->argument + strlen("delete="), 0,
			 SHCA_ETHTOOL_LOCATIONS - 1, &location))
		ret = shca_refuse(&refusal, "delete is a number up to 1023");
	if (ret != 0) {
		fputs(error, out);
		return ret;
	}
	shca_device_lock(dev);
	ret = is_delete ? shca_ethtool_del(shca_device_steering(dev), (uint32_t)location)
			: shca_ethtool_add(shca_device_steering(dev), &attr, &why);
	shca_device_unlock(dev);
	if (ret != 0) {
		fputs(why != NULL ? why : explain(ret), out);
		return ret;
	}
	location = is_delete ? location : attr.location;
	fprintf(out,
		request->json ? "{\"device\": \"mlx5_%u\", \"location\": %" PRIu64 "}\n"
			      : "mlx5_%u rule %" PRIu64 "\n",
		shca_device_conf(dev)->index, location);
	return 0;
}
