/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of patterns, byte for byte (their checksums computed elsewhere, by the RFCs), and what is
 * no pattern. */
#include "pattern/pattern.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/refuse.h"

static const uint8_t own[6] = { 2, 0, 0, 0, 0, 1 }, peer[6] = { 2, 0, 0, 0, 0, 0x99 };
static uint8_t frame[SHCA_PATTERN_FRAME_MAX];

static int
make(const char *text, char error[static 256])
{
	const struct shca_refusal refusal = { .text = error, .size = 256 };
	char copy[512];

	error[0] = '\0';
	snprintf(copy, sizeof(copy), "%s", text);
	memset(frame, 0xee, sizeof(frame));
	return shca_pattern_frame(copy, own, peer, frame, &refusal);
}

#define MACS "020000000001020000000099"

/** White space in hexadecimal is for readers. */
static const struct {
	const char *text, *hex;
} frames[] = {
	{ "eth", MACS " 0000" },
	{ "eth type 0x88b5", MACS " 88b5" },
	{ "eth src 02:00:00:00:00:07 dst is ff:ff:ff:ff:ff:ff / end",
		"ffffffffffff 020000000007 0000" },
	{ "ipv4 dst 192.0.2.77 / udp dst 53",
		MACS " 0800 4500001c000000004011f681c0000202c000024d c00000350008bb58" },
	{ "udp", MACS " 0800 4500001c000000004011f6cdc0000202c0000201 c00000090008bbd0" },
	{ "ipv4", MACS " 0800 4500001400000000403bf6abc0000202c0000201" },
	{ "ipv4 proto 89 tos 32 ttl 1 packet_id 7 fragment_offset 0x2000",
		MACS " 0800 452000140007200001591567c0000202c0000201" },
	{ "eth type 0x1234 / ipv4 proto 1 / udp",
		MACS " 1234 4500001c000000004001f6ddc0000202c0000201 c00000090008bbd0" },
	{ "vlan vid 5 pcp 3 / tcp src 7 dst 80 flags 0x10 seq 1 ack 2",
		MACS
		" 8100 60050800 45000028000000004006f6ccc0000202c0000201 0007005000000001000000025010ffff2b770000" },
	{ "vlan tci 0xf001 / vlan vid 2 / ipv6",
		MACS
		" 8100 f0018100 000286dd 6000000000003b4020010db800000000000000000000000220010db8000000000000000000000001" },
	{ "eth type 0x88a8 / vlan dei 1 inner_type 0x88b5", MACS " 88a8 100188b5" },
	{ "ipv6 dst 2001:db8::5 tc 3 flow 0x12345 hop 1 / tcp",
		MACS
		" 86dd 603123450014060120010db800000000000000000000000220010db8000000000000000000000005 c000000900000000000000005002ffff94600000" },
	{ "ipv6 / udp dst is 53 / payload size 3",
		MACS
		" 86dd 60000000000b114020010db800000000000000000000000220010db8000000000000000000000001 c0000035000be42d000000" },
	{ "icmp type 3 code 1",
		MACS " 0800 4500001c000000004001f6ddc0000202c0000201 0301fcfe00000000" },
	{ "icmp6 ident 5 seq 6",
		MACS
		" 86dd 6000000000083a4020010db800000000000000000000000220010db8000000000000000000000001 8000243d00050006" },
	{ "esp spi 0x1234 seq 2",
		MACS " 0800 4500001c000000004032f6acc0000202c0000201 0000123400000002" },
	{ "udp / esp",
		MACS
		" 0800 45000024000000004011f6c5c0000202c0000201 c00011940010aa350000000000000000" },
	{ "vxlan vni 42 / ipv4 / tcp dst 80",
		MACS
		" 0800 4500005a000000004011f68fc0000202c0000201 c00012b50046ee2c0800000000002a00020000000001020000000099080045000028000000004006f6ccc0000202c0000201c000005000000000000000005002ffff6b8e0000" },
	{ "ipv6 / udp dst 4790 / vxlan",
		MACS
		" 86dd 600000000010114020010db800000000000000000000000220010db8000000000000000000000001 c00012b60010c9a20800000000000000" },
	{ "gre / ipv6",
		MACS
		" 0800 4500004000000000402ff68bc0000202c0000201 000086dd6000000000003b4020010db800000000000000000000000220010db8000000000000000000000001" },
	{ "gre key 7 / eth / ipv4",
		MACS
		" 0800 4500003e00000000402ff68dc0000202c0000201 200065580000000702000000000102000000009908004500001400000000403bf6abc0000202c0000201" },
	{ "gre protocol 0x88be", MACS " 0800 4500001800000000402ff6b3c0000202c0000201 000088be" },
	{ "mpls label 5 / mpls label 6 tc 1 ttl 2 / ipv4",
		MACS " 8847 00005040 00006302 4500001400000000403bf6abc0000202c0000201" },
	{ "udp / mpls s 0",
		MACS " 0800 45000020000000004011f6c9c0000202c0000201 c00019eb000ca1a500010040" },
	{ "ipv4 / ipv6 / udp",
		MACS
		" 0800 45000044000000004029f68dc0000202c0000201 600000000008114020010db800000000000000000000000220010db8000000000000000000000001c00000090008e45f" },
	{ "udp src 0 dst 31706",
		MACS " 0800 4500001c000000004011f6cdc0000202c0000201 00007bda0008ffff" },
};

static void
test_frames(void **state)
{
	char error[256];

	(void)state;
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		const int length = make(frames[i].text, error);
		char got[2 * 256 + 1] = "", wanted[2 * 256 + 1] = "";
		size_t nb = 0;

		if (length < 60 || length > 256)
			fail_msg("%s: %d %s", frames[i].text, length, error);
		for (const char *at = frames[i].hex; *at != '\0'; at++)
			if (*at != ' ')
				wanted[nb++] = *at;
		while (nb < 120)
			wanted[nb++] = '0'; /* shorter frames are padded */
		for (int at = 0; at < length; at++)
			sprintf(got + 2 * at, "%02x", frame[at]);
		if (strcmp(got, wanted) != 0)
			fail_msg("%s:\n%s, not\n%s", frames[i].text, got, wanted);
		assert_int_equal(frame[length], 0xee);
	}
}

static void
test_payload(void **state)
{
	char error[256];

	(void)state;
	assert_int_equal(make("udp / payload size 9000", error), 14 + 20 + 8 + 9000);
	assert_int_equal(frame[16] << 8 | frame[17], 20 + 8 + 9000);
	assert_int_equal(frame[38] << 8 | frame[39], 8 + 9000);
	assert_int_equal(make("udp / vxlan / payload size 9000", error), 14 + 20 + 8 + 8 + 9000);
}

/** As many items as there may be, of the longest kind. */
static void
test_longest(void **state)
{
	char text[512] = "", error[256];

	(void)state;
	for (unsigned int i = 0; i < 22; i++)
		strcat(text, "ipv6 / ");
	strcat(text, "payload size 9000");
	assert_int_equal(make(text, error), 14 + 22 * 40 + 9000);
	assert_true(14 + 22 * 40 + 9000 <= sizeof(frame));
}

static void
test_refusals(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "", "an item is missing at the end" },
		{ "/", "an item is missing before '/'" },
		{ "eth /", "an item is missing at the end" },
		{ "eth / / udp", "an item is missing before '/'" },
		{ "end", "no item 'end'; there are eth, vlan, mpls, ipv4, ipv6, tcp, udp, " },
		{ "ipv9 dst 4", "no item 'ipv9'; there are eth, " },
		{ "udp / end udp", "'udp' stands behind end" },
		{ "udp dport 5", "udp has no field 'dport'; it has src, dst" },
		{ "udp dst", "udp dst needs a value" },
		{ "udp dst is", "udp dst needs a value" },
		{ "udp dst / ipv4", "udp dst needs a value" },
		{ "udp dst 5 dst 6", "udp dst is given twice" },
		{ "udp dst 65536", "udp dst is a number up to 65535, not '65536'" },
		{ "udp dst domain", "udp dst is a number up to 65535, not 'domain'" },
		{ "vlan vid 4096", "vlan vid is a number up to 4095, not '4096'" },
		{ "tcp seq 4294967296", "tcp seq is a number up to 4294967295, not" },
		{ "ipv4 dst 192.0.2", "ipv4 dst is an IPv4 address, not '192.0.2'" },
		{ "ipv4 dst 2001:db8::1", "ipv4 dst is an IPv4 address, not '2001:db8::1'" },
		{ "ipv6 src 192.0.2.1", "ipv6 src is an IPv6 address, not '192.0.2.1'" },
		{ "eth dst 2:0:0:0:0", "eth dst is an address of the form 02:00:00:00:00:01, not" },
		{ "udp / tcp", "'tcp' cannot follow 'udp'" },
		{ "ipv4 / eth", "'eth' cannot follow 'ipv4'" },
		{ "ipv4 / icmp6", "'icmp6' cannot follow 'ipv4'" },
		{ "tcp / vxlan", "'vxlan' cannot follow 'tcp'" },
		{ "payload size 9001", "payload size is a number up to 9000, not '9001'" },
		{ "payload / payload", "'payload' cannot follow 'payload'" },
		{ "vlan / vlan / vlan / vlan / vlan / vlan / vlan / vlan / vlan / vlan / vlan / vlan / "
		  "vlan / vlan / vlan / vlan / vlan / vlan / vlan / vlan / vlan / vlan / vlan / vlan",
			"'vlan' is more than 24 items" },
	};
	char error[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (make(cases[i].text, error) != -EINVAL)
			fail_msg("%s is taken", cases[i].text);
		if (strncmp(error, cases[i].error, strlen(cases[i].error)) != 0)
			fail_msg("%s: %s", cases[i].text, error);
	}
}

static void
test_names(void **state)
{
	(void)state;
	assert_true(shca_pattern_is_one("udp"));
	assert_true(shca_pattern_is_one("ipv4 dst 192.0.2.1"));
	assert_true(shca_pattern_is_one("eth,type,5"));
	assert_false(shca_pattern_is_one("udp.pcap"));
	assert_false(shca_pattern_is_one("/udp"));
	assert_false(shca_pattern_is_one("ffff"));
	assert_false(shca_pattern_is_one(""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_payload),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
