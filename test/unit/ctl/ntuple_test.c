/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of the netdev: their text, and who gets a frame that verbs rules, they and the netdev's
 * filter want. */
#include "ctl/ntuple.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../steering/build.h"
#include "base/refuse.h"
#include "steering/arfs.h"
#include "steering/ethtool.h"
#include "steering/steering.h"

#define DT IBV_FLOW_ATTR_FLAGS_DONT_TRAP

static const uint8_t own[6] = { 2, 0, 0, 0, 0, 1 }, peer[6] = { 2, 0, 0, 0, 0, 2 };

static int
parse(const char *text, struct shca_ethtool_attr *attr, char error[static 128])
{
	const struct shca_refusal refusal = { .text = error, .size = 128 };
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", text);
	error[0] = '\0';
	return shca_ntuple_parse(copy, attr, &refusal);
}

static void
test_refusals(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "", "a rule has a flow-type, an action and a loc" },
		{ "udp4", "'udp4' is no KEY=VALUE" },
		{ "dst-port=5", "a rule begins with flow-type=TYPE" },
		{ "flow-type=sctp4",
			"flow-type is ether, ip4, tcp4, udp4, ip6, tcp6 or udp6, not 'sctp4'" },
		{ "flow-type=ether,dst-port=5", "ether has no dst-port" },
		{ "flow-type=ip4,src-port=5", "ip4 has no src-port" },
		{ "flow-type=udp4,proto=5", "udp4 has no proto" },
		{ "flow-type=udp4,colour=5", "no key 'colour'; there are flow-type," },
		{ "flow-type=udp4,dst-port=65536", "dst-port is a port, not '65536'" },
		{ "flow-type=udp4,dst-ip=fd00::1", "dst-ip is ADDRESS[/BITS] of the flow type" },
		{ "flow-type=udp4,dst-ip=10.0.0.1/33", "dst-ip is ADDRESS[/BITS]" },
		{ "flow-type=ether,vlan=4096", "vlan is an identifier up to 4095" },
		{ "flow-type=ether,dst=2:0:0:0:0", "dst is an address" },
		{ "flow-type=udp4,action=8",
			"action is -1 (drop) or a queue of the netdev, 0 to 7" },
		{ "flow-type=udp4,l4proto=8", "udp4 has no l4proto" },
		{ "flow-type=udp4,action=0,loc=1024", "loc is a number up to 1023" },
		{ "flow-type=udp4,action=0", "a rule has a flow-type, an action and a loc" },
		/* The fields of one flow type would be read as those of the other. */
		{ "flow-type=udp4,dst-port=5,flow-type=ether,action=0,loc=1",
			"flow-type is given twice" },
		{ "flow-type=udp4,flow-type=sctp4,action=0,loc=1", "flow-type is given twice" },
		{ "flow-type=udp4,dst-ip=10.0.0.1,dst-ip=11.0.0.0/8,action=0,loc=1",
			"dst-ip is given twice" },
		{ "flow-type=ether,dst=02:00:00:00:00:-1,action=0,loc=1", "dst is an address" },
		{ "flow-type=ether,dst=02:00:00:00:00: 1,action=0,loc=1", "dst is an address" },
	};
	struct shca_ethtool_attr attr;
	char error[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].text, &attr, error), -EINVAL);
		if (strncmp(error, cases[i].error, strlen(cases[i].error)) != 0)
			fail_msg("%s: %s", cases[i].text, error);
	}
}

static void
test_tuples(void **state)
{
	static const struct {
		const char *text;
		bool is_l2;
		uint8_t nb;
	} cases[] = {
		{ "flow-type=ether,dst=02:00:00:00:00:01,src=02:00:00:00:00:02,proto=0x800,vlan=7,"
		  "action=0,loc=0",
			true, 4 },
		{ "flow-type=ip4,action=0,loc=0", false, 1 },
		{ "flow-type=ip6,dst-ip=fd00::/8,l4proto=58,action=0,loc=0", false, 3 },
		{ "flow-type=tcp4,src-ip=1.2.3.4,dst-ip=5.6.7.0/"
		  "24,src-port=1,dst-port=2,vlan=3,dst-mac=02:00:00:00:00:01,"
		  "action=-1,loc=1023",
			false, 7 },
	};
	struct shca_ethtool_attr attr;
	char error[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].text, &attr, error), 0);
		assert_int_equal(attr.nb_tuples, cases[i].nb);
		assert_int_equal(attr.is_l2, cases[i].is_l2);
	}
	assert_true(attr.drop);
	assert_int_equal(attr.location, 1023);
	/* The host's part of a network is nothing. */
	assert_int_equal(attr.match.value.outer.dst_ip[15], 0);
	assert_int_equal(attr.match.mask.outer.dst_ip[14], 0xff);
}

enum verbs {
	NOTHING,
	COPIES,    /* all UDP, and does not trap */
	TAKES,     /* all UDP */
	LEFTOVERS, /* what nobody wants */
};

/* clang-format off */
#define DROP_5000  "flow-type=udp4,dst-port=5000,action=-1,loc=1"
#define TAKE_5000  "flow-type=udp4,dst-port=5000,action=0,loc=2"
#define TAKE_IP    "flow-type=ip4,dst-ip=10.0.0.2,action=0,loc=3"
#define DROP_ETHER "flow-type=ether,proto=0x800,action=-1,loc=4"
#define DROP_IP    "flow-type=udp4,action=-1,loc=5"
#define TAKE_ARP   "flow-type=ether,proto=0x806,action=0,loc=6"

/** A UDP frame to port 5000 of 10.0.0.2. */
static const struct row {
	const char *rules[3];
	enum verbs verbs;
	bool is_foreign; /* the address */
	const char *result;
} rows[] = {
	{ { NULL },                    NOTHING,   false, "kernel" },
	{ { NULL },                    NOTHING,   true,  "" },
	{ { DROP_5000 },               NOTHING,   false, "dropped" },
	{ { TAKE_5000 },               NOTHING,   true,  "kernel" }, /* whatever its filter says */
	{ { TAKE_ARP },                NOTHING,   true,  "" },
	{ { DROP_5000 },               TAKES,     false, "A" },      /* verbs above ethtool */
	{ { DROP_5000 },               COPIES,    false, "A dropped" },
	{ { TAKE_5000 },               COPIES,    true,  "A kernel" },
	{ { NULL },                    COPIES,    false, "A kernel" },
	{ { NULL },                    LEFTOVERS, true,  "A" },
	{ { TAKE_5000 },               LEFTOVERS, true,  "kernel" }, /* ethtool above what is left over */
	{ { DROP_5000 },               LEFTOVERS, true,  "dropped" },
	{ { DROP_IP, TAKE_5000 },      NOTHING,   true,  "kernel" }, /* more named: earlier; loc says nothing */
	{ { TAKE_5000, DROP_IP },      NOTHING,   true,  "kernel" },
	{ { DROP_ETHER, TAKE_IP },     NOTHING,   true,  "kernel" }, /* IP before Ethernet */
	{ { DROP_ETHER },              NOTHING,   false, "dropped" },
	{ { DROP_5000, TAKE_IP, DROP_ETHER }, NOTHING, false, "dropped" },
};
/* clang-format on */

static void
add(struct shca_steering *steering, const char *text, int wanted)
{
	struct shca_ethtool_attr attr;
	const char *why = NULL;
	char error[128];

	assert_int_equal(parse(text, &attr, error), 0);
	assert_int_equal(shca_ethtool_add(steering, &attr, &why), wanted);
}

static struct shca_steering *
new_steering(bool has_kernel)
{
	const struct shca_steering_conf conf = { .dont_trap = true, .sniffer = true };
	struct shca_kernel_filter kernel = { .present = has_kernel };
	struct shca_steering *steering = shca_steering_create(&conf);

	assert_non_null(steering);
	memcpy(kernel.mac, own, sizeof(own));
	shca_steering_set_kernel(steering, &kernel);
	return steering;
}

static struct shca_rule *
add_verbs(struct shca_steering *steering, enum verbs verbs)
{
	static const struct spec udp = { .type = IBV_FLOW_SPEC_UDP };
	static char tir;
	struct specs specs = { .nb = 0 };
	struct shca_rule_attr attr = {
		.type = verbs == LEFTOVERS ? IBV_FLOW_ATTR_ALL_DEFAULT : IBV_FLOW_ATTR_NORMAL,
		.flags = verbs == COPIES ? DT : 0,
		.tir = &tir,
	};
	struct shca_rule *rule = NULL;

	if (verbs == NOTHING)
		return NULL;
	if (verbs != LEFTOVERS)
		specs_add_spec(&specs, &udp);
	attr.specs = specs_bytes(&specs);
	attr.specs_length = specs.length;
	attr.nb_specs = specs.nb;
	assert_int_equal(shca_rule_add(steering, &attr, &rule), 0);
	return rule;
}

static void
walk(struct shca_steering *steering, bool is_foreign, char result[static 32])
{
	static const uint8_t foreign[6] = { 2, 0, 0, 0, 0, 9 };
	struct frame frame = { .length = 0 };
	struct shca_verdict verdict;
	struct shca_packet packet;
	uint32_t ip;

	frame_macs(&frame, is_foreign ? foreign : own, peer);
	frame_put16(&frame, 0x800);
	ip = frame_ipv4(&frame, 0x0a000001, 0x0a000002, 17, 0, 0, 0);
	frame_udp(&frame, 1024, 5000);
	frame_zero(&frame, 20);
	frame_end_ipv4(&frame, ip);
	shca_parse(frame.byte, frame.length, &packet);
	shca_walk_rx(steering, &packet, &verdict);
	snprintf(result, 32, "%s%s%s%s", verdict.nb_destinations != 0 ? "A" : "",
		verdict.nb_destinations != 0 && (verdict.to_kernel || verdict.dropped) ? " " : "",
		verdict.to_kernel ? "kernel" : "", verdict.dropped ? "dropped" : "");
}

static void
test_domains(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct shca_steering *steering = new_steering(true);
		struct shca_rule *rule = add_verbs(steering, rows[i].verbs);
		char result[32];

		for (unsigned int j = 0; j < 3 && rows[i].rules[j] != NULL; j++)
			add(steering, rows[i].rules[j], 0);
		/* The second time by the cache. */
		for (unsigned int j = 0; j < 2; j++) {
			walk(steering, rows[i].is_foreign, result);
			if (strcmp(result, rows[i].result) != 0)
				fail_msg("row %zu: '%s'", i, result);
		}
		shca_rule_del(steering, rule);
		shca_steering_destroy(steering);
	}
}

/** A location is replaced; a rule that contradicts another is none; without a netdev there are
 * none.
 */
static void
test_locations(void **state)
{
	struct shca_steering *steering = new_steering(false);
	char result[32];

	(void)state;
	add(steering, DROP_5000, -ENODEV);
	shca_steering_destroy(steering);
	steering = new_steering(true);
	add(steering, "flow-type=ether,action=0,loc=1", -EINVAL);
	add(steering, DROP_5000, 0);
	add(steering, TAKE_5000, -EEXIST);
	add(steering, "flow-type=udp4,dst-port=5000,action=-1,loc=2", 0);
	/* The same frames, dropped until both are gone. */
	assert_int_equal(shca_ethtool_del(steering, 1), 0);
	assert_int_equal(shca_ethtool_del(steering, 1), -ENOENT);
	walk(steering, false, result);
	assert_string_equal(result, "dropped");
	add(steering, TAKE_5000, 0);
	walk(steering, true, result);
	assert_string_equal(result, "kernel");
	assert_int_equal(shca_ethtool_del(steering, 2), 0);
	walk(steering, true, result);
	assert_string_equal(result, "");
	assert_int_equal(shca_ethtool_del(steering, SHCA_ETHTOOL_LOCATIONS), -ENOSPC);
	add(steering, DROP_5000, 0);
	/* What is left goes with the netdev. */
	shca_steering_destroy(steering);
}

/** mlx5e deletes the rule of the location before Linux's flow core looks at values of the new one.
 */
static void
test_value_outside_mask(void **state)
{
	struct shca_steering *steering = new_steering(true);
	struct shca_ethtool_attr attr;
	const char *why = NULL;
	char error[128], result[32];

	(void)state;
	add(steering, DROP_5000, 0);
	assert_int_equal(parse(TAKE_5000, &attr, error), 0);
	attr.location = 1;
	attr.match.value.outer.udp_src_port = 5;
	assert_int_equal(shca_ethtool_add(steering, &attr, &why), -EINVAL);
	assert_null(shca_ethtool_get(steering, 1));
	walk(steering, false, result);
	assert_string_equal(result, "kernel");
	shca_steering_destroy(steering);
}

static uint64_t
arfs_hits(struct shca_steering *steering)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	uint64_t nb = 0;
	const char *at;

	shca_steering_dump(steering, out);
	fclose(out);
	at = strstr(text, "owner: aRFS");
	at = at != NULL ? strstr(at, "packets:") : NULL;
	if (at != NULL)
		nb = strtoull(at + strlen("packets:"), NULL, 10);
	free(text);
	return nb;
}

static int
add_flow(struct shca_steering *steering, const char *text)
{
	struct shca_ethtool_attr attr;
	char error[128];

	assert_int_equal(parse(text, &attr, error), 0);
	return shca_arfs_add(steering, &attr);
}

#define FLOW                                                                                       \
	"flow-type=udp4,src-ip=10.0.0.1,dst-ip=10.0.0.2,src-port=1024,dst-port=5000,action=3,loc=0"

/** One packet that all four domains want: verbs, ethtool, aRFS, the netdev's own address. */
static void
test_four_domains(void **state)
{
	struct shca_steering *steering = new_steering(true);
	struct shca_rule *rule = add_verbs(steering, TAKES);
	char result[32];

	(void)state;
	add(steering, DROP_5000, 0);
	assert_int_equal(add_flow(steering, FLOW), 0);
	for (unsigned int i = 0; i < 2; i++) {
		walk(steering, false, result);
		assert_string_equal(result, "A");
	}
	shca_rule_del(steering, rule);
	for (unsigned int i = 0; i < 2; i++) {
		walk(steering, false, result);
		assert_string_equal(result, "dropped");
	}
	assert_int_equal(arfs_hits(steering), 0);
	assert_int_equal(shca_ethtool_del(steering, 1), 0);
	for (unsigned int i = 0; i < 2; i++) {
		walk(steering, false, result);
		assert_string_equal(result, "kernel");
		assert_int_equal(arfs_hits(steering), i + 1);
	}
	/* aRFS is behind the netdev's filter. */
	walk(steering, true, result);
	assert_string_equal(result, "");
	assert_int_equal(arfs_hits(steering), 2);
	shca_arfs_flush(steering);
	walk(steering, false, result);
	assert_string_equal(result, "kernel");
	shca_steering_destroy(steering);
}

static void
test_flows(void **state)
{
	static const char *const bad[] = {
		"flow-type=udp4,src-ip=10.0.0.1,dst-ip=10.0.0.2,src-port=1024,action=3,loc=0",
		"flow-type=udp4,src-ip=10.0.0.0/8,dst-ip=10.0.0.2,src-port=1,dst-port=2,action=3,loc=0",
		"flow-type=udp4,src-ip=10.0.0.1,dst-ip=10.0.0.2,src-port=1,dst-port=2,action=-1,loc=0",
		"flow-type=udp4,src-ip=10.0.0.1,dst-ip=10.0.0.2,src-port=1,vlan=2,action=1,loc=0",
		"flow-type=ip4,src-ip=10.0.0.1,dst-ip=10.0.0.2,l4proto=6,vlan=2,action=1,loc=0",
	};
	struct shca_steering *steering = new_steering(false);
	struct frame frame = { .length = 0 };
	struct shca_packet packet;
	char text[160], result[32];
	uint32_t ip;

	(void)state;
	assert_int_equal(add_flow(steering, FLOW), -ENODEV);
	shca_steering_destroy(steering);
	steering = new_steering(true);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(add_flow(steering, bad[i]), -EINVAL);
	/* What the netdev sends from port 5000 adds the flow that answers, while it is on. */
	frame_macs(&frame, peer, own);
	frame_put16(&frame, 0x800);
	ip = frame_ipv4(&frame, 0x0a000002, 0x0a000001, 17, 0, 0, 0);
	frame_udp(&frame, 5000, 1024);
	frame_zero(&frame, 20);
	frame_end_ipv4(&frame, ip);
	shca_parse(frame.byte, frame.length, &packet);
	shca_arfs_learn(steering, &packet);
	walk(steering, false, result);
	assert_int_equal(arfs_hits(steering), 0);
	shca_arfs_switch(steering, true);
	shca_arfs_learn(steering, &packet);
	shca_arfs_learn(steering, &packet); /* known */
	walk(steering, false, result);
	assert_string_equal(result, "kernel");
	assert_int_equal(arfs_hits(steering), 1);
	/* With too many others the oldest goes. */
	for (unsigned int i = 1; i < SHCA_ARFS_FLOWS; i++) {
		snprintf(text, sizeof(text),
			"flow-type=tcp6,src-ip=fd00::1,dst-ip=fd00::2,src-port=1,dst-port=%u,action=0,loc=0",
			i);
		assert_int_equal(add_flow(steering, text), 0);
	}
	walk(steering, false, result);
	assert_int_equal(arfs_hits(steering), 2);
	assert_int_equal(add_flow(steering,
				 "flow-type=udp6,src-ip=fd00::1,dst-ip=fd00::2,src-port=1,"
				 "dst-port=1,action=0,loc=0"),
		0);
	walk(steering, false, result);
	assert_int_equal(arfs_hits(steering), 0);
	shca_arfs_switch(steering, false);
	assert_false(shca_arfs_is_on(steering));
	shca_steering_destroy(steering);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_tuples),
		cmocka_unit_test(test_domains),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_value_outside_mask),
		cmocka_unit_test(test_four_domains),
		cmocka_unit_test(test_flows),
	};

	return cmocka_run_group_tests_name("ntuple", tests, NULL, NULL);
}
