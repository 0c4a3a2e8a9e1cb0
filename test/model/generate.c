/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets and specs draw from the same small sets of values. */
#include "generate.h"

static const uint8_t macs[][6] = {
	{ 0x02, 0, 0, 0, 0, 0x4b },
	{ 0x02, 0, 0, 0, 0, 0x55 },
	{ 0x01, 0, 0x5e, 1, 2, 3 },
	{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
};
static const uint8_t ip6s[][16] = {
	{ 0x20, 0x01, [15] = 1 },
	{ 0xff, 0x02, [15] = 1 },
};
static const uint32_t ip4s[] = { 0x0a000001, 0x0a000002, 0xe0010101 };
static const uint16_t ports[] = { 53, 5000, 4789, 6635 };
static const uint16_t tcis[] = { 5, 0x6005, 7 };
static const uint8_t toses[] = { 0, 0xb8 };
static const uint32_t labels[] = { 0, 0x12345 };
static const uint32_t vnis[] = { 0, 7 };
static const uint32_t keys[] = { 0, 0xcafe };
static const uint32_t mpls[] = { 0x00064140, 0x000c8140 };
static const uint16_t types[] = { 0x0800, 0x86dd, 0x0806, 0x8847 };
static const uint16_t gre_protocols[] = { 0x0800, 0x86dd, 0x6558, 0x8847 };

#define PICK(generator, array)                                                                     \
	((array)[generate_below((generator), sizeof(array) / sizeof((array)[0]))])

uint32_t
generate_below(struct generator *generator, uint32_t limit)
{
	uint64_t x = generator->state += UINT64_C(0x9e3779b97f4a7c15);

	/* splitmix64 */
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((x ^ x >> 31) % limit);
}

static bool
percent(struct generator *generator, uint32_t chance)
{
	return generate_below(generator, 100) < chance;
}

/** A packet being made: every function here writes bytes and says what they are. */
struct making {
	struct generator *generator;
	struct frame *frame;
	struct naive_packet *packet;
	unsigned int stack; /**< 0 outer, 1 inner */
};

static void
tell(struct making *making, unsigned int field, const void *bytes, size_t length)
{
	naive_set(making->packet, making->stack, field, bytes, length);
}

static void
tell16(struct making *making, unsigned int field, uint16_t number)
{
	uint16_t be = htobe16(number);

	tell(making, field, &be, 2);
}

static void
tell32(struct making *making, unsigned int field, uint32_t number)
{
	uint32_t be = htobe32(number);

	tell(making, field, &be, 4);
}

static void
tell8(struct making *making, unsigned int field, uint8_t number)
{
	tell(making, field, &number, 1);
}

static void make_ip(struct making *making, uint16_t type);

static uint16_t
ip_type(struct generator *generator)
{
	return percent(generator, 50) ? 0x0800 : 0x86dd;
}

static void
make_ether(struct making *making)
{
	struct generator *generator = making->generator;
	const uint8_t *dst = PICK(generator, macs);
	const uint8_t *src = PICK(generator, macs);
	uint16_t type = PICK(generator, types);
	unsigned int nb_vlans = percent(generator, 60) ? 0 : 1 + generate_below(generator, 2);

	frame_macs(making->frame, dst, src);
	tell(making, NAIVE_DMAC, dst, 6);
	tell(making, NAIVE_SMAC, src, 6);
	tell8(making, NAIVE_CTAG, 0);
	for (unsigned int i = 0; i < nb_vlans; i++) {
		uint16_t tpid = percent(generator, 70) ? 0x8100 : 0x88a8;
		uint16_t tci = PICK(generator, tcis);

		frame_vlan(making->frame, tpid, tci);
		if (i == 0 && tpid == 0x8100) {
			tell8(making, NAIVE_CTAG, 1);
			tell16(making, NAIVE_TCI, tci);
		}
	}
	if (percent(generator, 60))
		type = ip_type(generator);
	frame_put16(making->frame, type);
	tell16(making, NAIVE_ETHERTYPE, type);
	if (type == 0x8847) {
		uint32_t label = PICK(generator, mpls);

		frame_put32(making->frame, label);
		tell32(making, NAIVE_MPLS, label);
		type = ip_type(generator);
	}
	if (type == 0x0806)
		frame_zero(making->frame, 28);
	else
		make_ip(making, type);
}

static void
make_mpls_tunnel(struct making *making, unsigned int field)
{
	struct generator *generator = making->generator;
	uint32_t label = PICK(generator, mpls);

	frame_put32(making->frame, label);
	tell32(making, field, label);
	making->stack = 1;
	if (percent(generator, 30)) {
		frame_put32(making->frame, 1); /* control word */
		make_ether(making);
	} else {
		make_ip(making, ip_type(generator));
	}
}

static void
make_gre(struct making *making)
{
	struct generator *generator = making->generator;
	uint16_t protocol = PICK(generator, gre_protocols);
	bool checksum = percent(generator, 30);
	bool key = percent(generator, 60);

	frame_put16(making->frame, (checksum ? 0x8000 : 0) | (key ? 0x2000 : 0));
	frame_put16(making->frame, protocol);
	tell16(making, NAIVE_GRE_PROTOCOL, protocol);
	if (checksum)
		frame_zero(making->frame, 4);
	if (key) {
		uint32_t number = PICK(generator, keys);

		frame_put32(making->frame, number);
		tell32(making, NAIVE_GRE_KEY, number);
	}
	if (protocol == 0x8847) {
		make_mpls_tunnel(making, NAIVE_MPLS_GRE);
		return;
	}
	making->stack = 1;
	if (protocol == 0x6558)
		make_ether(making);
	else
		make_ip(making, protocol);
}

static void
make_l4(struct making *making, uint8_t proto)
{
	struct generator *generator = making->generator;
	uint16_t src = PICK(generator, ports);
	uint16_t dst = PICK(generator, ports);

	switch (proto) {
	case 6:
		frame_tcp(making->frame, src, dst, 0x10);
		tell16(making, NAIVE_TCP_SPORT, src);
		tell16(making, NAIVE_TCP_DPORT, dst);
		break;
	case 17:
		frame_udp(making->frame, src, dst);
		tell16(making, NAIVE_UDP_SPORT, src);
		tell16(making, NAIVE_UDP_DPORT, dst);
		if (making->stack == 0 && dst == 4789) {
			uint32_t vni = PICK(generator, vnis);

			frame_vxlan(making->frame, vni);
			tell32(making, NAIVE_VNI, vni);
			making->stack = 1;
			make_ether(making);
		} else if (making->stack == 0 && dst == 6635) {
			make_mpls_tunnel(making, NAIVE_MPLS_UDP);
		}
		break;
	case 47:
		if (making->stack == 0)
			make_gre(making);
		break;
	default:
		frame_zero(making->frame, 8);
		break;
	}
}

static void
make_ip(struct making *making, uint16_t type)
{
	static const uint8_t protos[] = { 1, 6, 17, 17, 47 };
	struct generator *generator = making->generator;
	uint8_t proto = PICK(generator, protos);
	uint8_t tos = PICK(generator, toses);
	bool fragment = percent(generator, 10);
	uint32_t offset;

	tell8(making, NAIVE_VERSION, type == 0x0800 ? 4 : 6);
	tell8(making, NAIVE_PROTO, proto);
	tell8(making, NAIVE_TOS, tos);
	if (type == 0x0800) {
		uint32_t address[2] = { PICK(generator, ip4s), PICK(generator, ip4s) };
		uint8_t padded[2][16] = { { 0 } };

		for (unsigned int i = 0; i < 2; i++) {
			uint32_t be = htobe32(address[i]);

			memcpy(padded[i] + 12, &be, 4);
			tell(making, i == 0 ? NAIVE_SRC : NAIVE_DST, padded[i], 16);
		}
		offset = frame_ipv4(making->frame, address[0], address[1], proto, tos,
			fragment ? 0x2000 : 0, percent(generator, 20) ? 4 : 0);
	} else {
		const uint8_t *src = PICK(generator, ip6s);
		const uint8_t *dst = PICK(generator, ip6s);
		uint32_t label = PICK(generator, labels);

		tell(making, NAIVE_SRC, src, 16);
		tell(making, NAIVE_DST, dst, 16);
		tell32(making, NAIVE_LABEL, label);
		offset = frame_ipv6(making->frame, src, dst, fragment ? 44 : proto, tos, label);
		if (fragment) {
			frame_put8(making->frame, proto);
			frame_put8(making->frame, 0);
			frame_put16(making->frame, 1);
			frame_put32(making->frame, 9);
		}
	}
	if (fragment)
		frame_zero(making->frame, 64);
	else
		make_l4(making, proto);
	if (type == 0x0800)
		frame_end_ipv4(making->frame, offset);
	else
		frame_end_ipv6(making->frame, offset);
}

void
generate_packet(struct generator *generator, struct frame *frame, struct naive_packet *packet)
{
	struct making making = { .generator = generator, .frame = frame, .packet = packet };

	memset(frame, 0, sizeof(*frame));
	memset(packet, 0, sizeof(*packet));
	make_ether(&making);
	packet->length = frame->length;
}

/** Set a number of a filter, mostly whole, sometimes in part, seldom with bits outside its mask. */
static void
ask(struct generator *generator, void *value, void *mask, const void *wanted, size_t length)
{
	uint8_t *value_byte = value, *mask_byte = mask;
	const uint8_t *wanted_byte = wanted;
	uint32_t kind = generate_below(generator, 200);

	if (kind < 110)
		return;
	for (size_t i = 0; i < length; i++) {
		mask_byte[i] = kind < 180 ? 0xff : kind < 198 ? 0x0f : (uint8_t)kind;
		value_byte[i] = wanted_byte[i] & (kind == 199 ? 0xff : mask_byte[i]);
	}
}

#define ASK(generator, spec, member, number)                                                       \
	do {                                                                                       \
		__typeof__((spec)->value.member) wanted_ = (number);                               \
		ask((generator), &(spec)->value.member, &(spec)->mask.member, &wanted_,            \
			sizeof(wanted_));                                                          \
	} while (0)

static void
ask_eth(struct generator *generator, struct spec *spec)
{
	spec->type = 0x20;
	ask(generator, spec->value.eth.dst_mac, spec->mask.eth.dst_mac, PICK(generator, macs), 6);
	if (percent(generator, 30))
		ask(generator, spec->value.eth.src_mac, spec->mask.eth.src_mac,
			PICK(generator, macs), 6);
	if (percent(generator, 40))
		ASK(generator, spec, eth.ether_type, htobe16(PICK(generator, types)));
	if (percent(generator, 30))
		ASK(generator, spec, eth.vlan_tag, htobe16(PICK(generator, tcis)));
}

static void
ask_ip(struct generator *generator, struct spec *spec)
{
	if (percent(generator, 50)) {
		spec->type = 0x30;
		ASK(generator, spec, ipv4.src_ip, htobe32(PICK(generator, ip4s)));
		ASK(generator, spec, ipv4.dst_ip, htobe32(PICK(generator, ip4s)));
		if (percent(generator, 30))
			ASK(generator, spec, ipv4.tos, PICK(generator, toses));
		if (percent(generator, 20))
			ASK(generator, spec, ipv4.proto, 17);
		if (percent(generator, 2))
			ASK(generator, spec, ipv4.ttl, 64);
		return;
	}
	spec->type = 0x31;
	ask(generator, spec->value.ipv6.src_ip, spec->mask.ipv6.src_ip, PICK(generator, ip6s), 16);
	ask(generator, spec->value.ipv6.dst_ip, spec->mask.ipv6.dst_ip, PICK(generator, ip6s), 16);
	if (percent(generator, 30))
		ASK(generator, spec, ipv6.traffic_class, PICK(generator, toses));
	if (percent(generator, 20))
		ASK(generator, spec, ipv6.next_hdr, 6);
	if (percent(generator, 20)) {
		spec->value.ipv6.flow_label = htobe32(PICK(generator, labels));
		spec->mask.ipv6.flow_label = htobe32(0xfffff);
	}
	if (percent(generator, 2))
		ASK(generator, spec, ipv6.hop_limit, 64);
}

static void
ask_l4(struct generator *generator, struct spec *spec)
{
	spec->type = percent(generator, 70) ? 0x41 : 0x40;
	ASK(generator, spec, tcp_udp.dst_port, htobe16(PICK(generator, ports)));
	if (percent(generator, 30))
		ASK(generator, spec, tcp_udp.src_port, htobe16(PICK(generator, ports)));
}

static void
ask_tunnel(struct generator *generator, struct spec *spec)
{
	switch (generate_below(generator, 3)) {
	case 0:
		spec->type = 0x50;
		spec->value.tunnel.tunnel_id = htobe32(PICK(generator, vnis));
		spec->mask.tunnel.tunnel_id = htobe32(percent(generator, 98) ? 0xffffff : ~0u);
		break;
	case 1:
		spec->type = 0x51;
		ASK(generator, spec, gre.protocol, htobe16(PICK(generator, gre_protocols)));
		ASK(generator, spec, gre.key, htobe32(PICK(generator, keys)));
		if (percent(generator, 3))
			ASK(generator, spec, gre.c_ks_res0_ver, htobe16(0x2000));
		break;
	default:
		spec->type = 0x60;
		ASK(generator, spec, mpls.label, htobe32(PICK(generator, mpls)));
		break;
	}
}

static void
ask_action(struct generator *generator, struct spec *spec)
{
	static const uint32_t actions[] = { 0x1000, 0x1000, 0x1001, 0x1001, 0x1003, 0x1003,
		0x1002 };

	spec->type = PICK(generator, actions);
	spec->word = percent(generator, 98) ? generate_below(generator, 3) : 1 << 24;
}

/** Spoil a byte of the header, or of anything. */
static void
spoil(struct generator *generator, struct specs *specs)
{
	uint32_t limit = percent(generator, 50) ? 8 : (uint32_t)specs->length;

	specs_bytes(specs)[generate_below(generator, limit)] ^=
		(uint8_t)(1 << generate_below(generator, 8));
}

void
generate_specs(struct generator *generator, struct specs *specs)
{
	static const struct {
		uint32_t chance;
		uint32_t inner;
		void (*ask)(struct generator *generator, struct spec *spec);
	} layers[] = {
		{ 6, 0, ask_action },
		{ 65, 0, ask_eth },
		{ 35, 0, ask_ip },
		{ 25, 0, ask_l4 },
		{ 12, 0, ask_tunnel },
		{ 6, 0, ask_tunnel },
		{ 8, 0x100, ask_eth },
		{ 8, 0x100, ask_ip },
		{ 8, 0x100, ask_l4 },
		{ 3, 0x100, ask_tunnel },
		{ 3, 0, ask_eth },
		{ 3, 0, ask_ip },
		{ 30, 0, ask_action },
		{ 6, 0, ask_action },
	};

	memset(specs, 0, sizeof(*specs));
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		struct spec spec = { 0 };

		if (!percent(generator, layers[i].chance))
			continue;
		layers[i].ask(generator, &spec);
		spec.type |= layers[i].inner;
		specs_add_spec(specs, &spec);
	}
	if (specs->length != 0 && percent(generator, 3))
		spoil(generator, specs);
}

void
generate_crowded_specs(struct generator *generator, struct specs *specs)
{
	static const uint8_t masks[] = { 0x01, 0x02, 0x03, 0x40, 0x41, 0x42, 0x0f, 0x10, 0x50,
		0xff };
	const uint8_t *mac = PICK(generator, macs);
	struct spec spec = { .type = 0x20 };

	spec.mask.eth.dst_mac[5] = PICK(generator, masks);
	spec.value.eth.dst_mac[5] = mac[5] & spec.mask.eth.dst_mac[5];
	memset(specs, 0, sizeof(*specs));
	specs_add_spec(specs, &spec);
}
