/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The switch of virtual functions: who gets what, from whom. The network is a pair's end. */
#include "wire_test.h"

#include "eswitch/eswitch.h"
#include "fault/faults.h"
#include "wire/faulty.h"

#define NB_VPORTS 3
#define NETWORK   NB_VPORTS
#define LENGTH    60

static const uint8_t macs[NB_VPORTS][6] = {
	{ 2, 0, 0, 0, 0, 1 },
	{ 2, 0, 0, 0, 0, 2 },
	{ 2, 0, 0, 0, 0, 3 },
};
static const uint8_t stranger[6] = { 2, 0, 0, 0, 0, 9 };
static const uint8_t broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
static const uint8_t group[6] = { 1, 0, 0x5e, 0, 0, 1 };

/** Vport 1 is trusted, vport 2 checked. */
struct bench {
	struct shca_wire *wire[NB_VPORTS + 1], *uplink;
};

static void
bench_open(struct bench *bench)
{
	const struct shca_wire_conf conf = { .arg = "uplink", .fd = -1 };

	bench->uplink = open_wire("pair", &conf);
	bench->wire[NETWORK] = open_wire("pair", &conf);
	for (unsigned int i = 0; i < NB_VPORTS; i++) {
		const struct shca_eswitch_vport vport = {
			.mac = macs[i],
			.is_trusted = i == 1,
			.checks_source = i == 2,
		};
		int ret = i == 0 ? shca_eswitch_open(bench->uplink, &vport, &bench->wire[i])
				 : shca_eswitch_join(bench->wire[0], &vport, &bench->wire[i]);

		assert_int_equal(ret, 0);
	}
}

static void
bench_close(struct bench *bench)
{
	for (unsigned int i = 0; i <= NB_VPORTS; i++)
		bench->wire[i]->ops->close(bench->wire[i]);
}

static void
send_frame(struct bench *bench, unsigned int from, const uint8_t *dst, const uint8_t *src)
{
	uint8_t bytes[LENGTH] = { 0 };
	const struct shca_frame frame = { bytes, sizeof(bytes) };

	memcpy(bytes, dst, 6);
	memcpy(bytes + 6, src, 6);
	assert_int_equal(bench->wire[from]->ops->tx(bench->wire[from], &frame, 1), 1);
}

/** @return frames that came to @p at, all to @p dst. */
static unsigned int
count(struct bench *bench, unsigned int at, const uint8_t *dst)
{
	struct shca_frame frame;
	unsigned int nb = 0;

	while (bench->wire[at]->ops->rx(bench->wire[at], &frame, 1) == 1) {
		assert_int_equal(frame.length, LENGTH);
		assert_memory_equal(frame.bytes, dst, 6);
		nb++;
	}
	return nb;
}

enum mode {
	PLAIN,
	ALLMULTI,
	PROMISCUOUS
};

/** What the netdevs list beside their own address and broadcast: vports 0 and 2 a group, vport 0 a
 * second address, vports 1 and 2 one and the same. */
static const uint8_t lists[NB_VPORTS][4][6] = {
	{ { 2, 0, 0, 0, 0, 1 }, { 255, 255, 255, 255, 255, 255 }, { 2, 0, 0, 0, 0, 0x11 },
		{ 1, 0, 0x5e, 0, 0, 1 } },
	{ { 2, 0, 0, 0, 0, 2 }, { 255, 255, 255, 255, 255, 255 }, { 2, 0, 0, 0, 0, 0x22 } },
	{ { 2, 0, 0, 0, 0, 3 }, { 255, 255, 255, 255, 255, 255 }, { 2, 0, 0, 0, 0, 0x22 },
		{ 1, 0, 0x5e, 0, 0, 1 } },
};
static const unsigned int nb_listed[NB_VPORTS] = { 4, 3, 4 };
static const uint8_t second[6] = { 2, 0, 0, 0, 0, 0x11 };
static const uint8_t shared[6] = { 2, 0, 0, 0, 0, 0x22 };
static const uint8_t unlisted_group[6] = { 1, 0, 0x5e, 0, 0, 9 };

/** One row a frame: who gets it, as a digit for each vport and the network. */
static const struct {
	unsigned int from;
	const uint8_t *dst, *src;
	enum mode mode; /**< all netdevs' */
	const char *who;
} cases[] = {
	{ 0, macs[1], macs[0], PLAIN, "0100" }, { 1, macs[0], macs[1], PLAIN, "1000" },
	{ 0, stranger, macs[0], PLAIN, "0001" },
	{ 0, macs[0], macs[0], PLAIN, "0000" }, /* to itself */
	{ 0, second, macs[0], PLAIN, "0000" }, { 0, broadcast, macs[0], PLAIN, "0111" },
	{ NETWORK, macs[1], stranger, PLAIN, "0100" },
	{ NETWORK, stranger, stranger, PLAIN, "0000" },
	{ NETWORK, broadcast, stranger, PLAIN, "1110" },
	/* What netdevs list, trusted or not. */
	{ NETWORK, second, stranger, PLAIN, "1000" }, { 1, second, macs[1], PLAIN, "1000" },
	{ NETWORK, shared, stranger, PLAIN, "0110" }, { 0, shared, macs[0], PLAIN, "0110" },
	{ 1, shared, macs[1], PLAIN, "0010" }, { NETWORK, group, stranger, PLAIN, "1010" },
	{ 1, group, macs[1], PLAIN, "1011" }, { 0, group, macs[0], PLAIN, "0011" },
	{ NETWORK, unlisted_group, stranger, PLAIN, "0000" },
	{ 0, unlisted_group, macs[0], PLAIN, "0001" },
	/* Only the trusted one's modes count, ... */
	{ NETWORK, group, stranger, ALLMULTI, "1110" },
	{ NETWORK, unlisted_group, stranger, ALLMULTI, "0100" },
	{ 0, unlisted_group, macs[0], ALLMULTI, "0101" },
	{ 1, unlisted_group, macs[1], ALLMULTI, "0001" },
	{ NETWORK, stranger, stranger, ALLMULTI, "0000" },
	{ NETWORK, unlisted_group, stranger, PROMISCUOUS, "0100" },
	/* ... and promiscuous mode only for what nobody else has. */
	{ NETWORK, stranger, stranger, PROMISCUOUS, "0100" },
	{ NETWORK, macs[0], stranger, PROMISCUOUS, "1000" },
	{ NETWORK, second, stranger, PROMISCUOUS, "1000" },
	{ 0, stranger, macs[0], PROMISCUOUS, "0001" }, { 0, macs[2], macs[0], PROMISCUOUS, "0010" },
	/* Another's address. */
	{ 0, macs[1], stranger, PLAIN, "0100" }, { 2, macs[0], macs[2], PLAIN, "1000" },
	{ 2, macs[0], stranger, PLAIN, "0000" }, { 2, broadcast, macs[0], PLAIN, "0000" },
	{ 2, stranger, macs[1], PLAIN, "0000" },
	{ 2, stranger, shared, PLAIN, "0000" }, /* the host knows one only */
};

/** What is said of a frame beforehand is what becomes of it. */
static void
foretell(struct bench *bench, unsigned int from, const uint8_t *dst, const uint8_t *src,
	const char *who)
{
	const struct shca_wire *wire = bench->wire[from];
	struct shca_wire_path path = { .what = "onto the wire" };
	uint8_t bytes[LENGTH] = { 0 };
	const struct shca_frame frame = { bytes, sizeof(bytes) };
	bool is_given[NB_VPORTS] = { false };

	memcpy(bytes, dst, 6);
	memcpy(bytes + 6, src, 6);
	wire->ops->explain(wire, &frame, &path);
	for (unsigned int i = 0; i < path.nb_to; i++)
		for (unsigned int v = 0; v < NB_VPORTS; v++)
			is_given[v] |= path.to[i] == bench->wire[v];
	for (unsigned int v = 0; v < NB_VPORTS; v++)
		assert_int_equal(is_given[v], who[v] == '1');
	assert_int_equal(path.is_lost, strcmp(who, "0000") == 0);
	assert_int_equal(strncmp(path.what, "onto the wire", 13) == 0, who[NETWORK] == '1');
}

static void
set_mode(struct bench *bench, unsigned int number, enum mode mode)
{
	const struct shca_netdev netdev = {
		.is_promiscuous = mode == PROMISCUOUS,
		.is_allmulti = mode == ALLMULTI,
		.macs = lists[number],
		.nb_macs = nb_listed[number],
	};

	bench->wire[number]->ops->set_rx_mode(bench->wire[number], &netdev);
}

static void
test_who_gets_what(void **state)
{
	struct bench bench;

	(void)state;
	bench_open(&bench);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (unsigned int v = 0; v < NB_VPORTS; v++)
			set_mode(&bench, v, cases[i].mode);
		if (cases[i].from != NETWORK)
			foretell(&bench, cases[i].from, cases[i].dst, cases[i].src, cases[i].who);
		send_frame(&bench, cases[i].from, cases[i].dst, cases[i].src);
		for (unsigned int at = 0; at <= NB_VPORTS; at++)
			if (count(&bench, at, cases[i].dst) != (unsigned int)cases[i].who[at] - '0')
				fail_msg("case %u: not so at %u", i, at);
	}
	assert_int_equal(bench.wire[0]->ops->nb_refused(bench.wire[0]), 0);
	assert_int_equal(bench.wire[2]->ops->nb_refused(bench.wire[2]), 4);
	bench_close(&bench);
}

/** Vport 0 is the physical function's, vport 1 a trusted function's. Promiscuous are both, or none,
 * or, with ALLMULTI, the trusted one is allmulti. */
static const struct {
	unsigned int from;
	const uint8_t *dst, *src;
	enum mode mode;
	const char *who;
} physical_cases[] = {
	/* What nobody lists comes to it from the wire; from a function it goes there. */
	{ NETWORK, stranger, stranger, PLAIN, "1000" },
	{ NETWORK, unlisted_group, stranger, PLAIN, "1000" },
	{ 1, stranger, macs[1], PLAIN, "0001" },
	{ 1, unlisted_group, macs[1], PLAIN, "0001" },
	/* Else it is one among the others. */
	{ NETWORK, macs[1], stranger, PLAIN, "0100" },
	{ NETWORK, macs[0], stranger, PLAIN, "1000" },
	{ NETWORK, second, stranger, PLAIN, "1000" },
	{ NETWORK, shared, stranger, PLAIN, "0110" },
	{ NETWORK, broadcast, stranger, PLAIN, "1110" },
	{ NETWORK, group, stranger, PLAIN, "1010" },
	{ 1, macs[0], macs[1], PLAIN, "1000" },
	{ 0, macs[2], macs[0], PLAIN, "0010" },
	{ 0, stranger, macs[0], PLAIN, "0001" },
	{ 1, group, macs[1], PLAIN, "1011" },
	/* An entry for strangers, or for all groups, leaves it nothing but its own mode's. */
	{ NETWORK, stranger, stranger, PROMISCUOUS, "1100" },
	{ NETWORK, unlisted_group, stranger, PROMISCUOUS, "1100" },
	{ 2, stranger, macs[2], PROMISCUOUS, "0001" },
	{ 2, unlisted_group, macs[2], PROMISCUOUS, "1101" },
	{ NETWORK, unlisted_group, stranger, ALLMULTI, "0100" },
	{ NETWORK, stranger, stranger, ALLMULTI, "1000" },
	/* Nobody checks its sources. */
	{ 0, macs[1], stranger, PLAIN, "0100" },
	{ 2, macs[0], stranger, PLAIN, "0000" },
};

static void
test_physical_function(void **state)
{
	const struct shca_wire_conf conf = { .arg = "uplink", .fd = -1 };
	struct shca_wire *uplink = open_wire("pair", &conf);
	struct bench bench;

	(void)state;
	bench.wire[NETWORK] = open_wire("pair", &conf);
	for (unsigned int i = 0; i < NB_VPORTS; i++) {
		const struct shca_eswitch_vport vport = {
			.mac = macs[i],
			.is_physical = i == 0,
			.is_trusted = i == 1,
			.checks_source = i == 2,
		};

		assert_int_equal(i == 0 ? shca_eswitch_open(uplink, &vport, &bench.wire[i])
					: shca_eswitch_join(bench.wire[0], &vport, &bench.wire[i]),
			0);
	}
	for (unsigned int i = 0; i < sizeof(physical_cases) / sizeof(physical_cases[0]); i++) {
		for (unsigned int v = 0; v < NB_VPORTS; v++)
			set_mode(&bench, v,
				v == 0 && physical_cases[i].mode == ALLMULTI
					? PLAIN
					: physical_cases[i].mode);
		if (physical_cases[i].from != NETWORK)
			foretell(&bench, physical_cases[i].from, physical_cases[i].dst,
				physical_cases[i].src, physical_cases[i].who);
		send_frame(&bench, physical_cases[i].from, physical_cases[i].dst,
			physical_cases[i].src);
		for (unsigned int at = 0; at <= NB_VPORTS; at++)
			if (count(&bench, at, physical_cases[i].dst) !=
				(unsigned int)physical_cases[i].who[at] - '0')
				fail_msg("case %u: not so at %u", i, at);
	}
	bench_close(&bench);
}

/** A netdev that nobody has configured lists its address and broadcast. One that lists too many has
 * the first of them. */
static void
test_list(void **state)
{
	uint8_t many[SHCA_NETDEV_MACS_MAX + 1][6] = { 0 };
	struct shca_netdev netdev = { .macs = many, .nb_macs = SHCA_NETDEV_MACS_MAX + 1 };
	struct bench bench;

	(void)state;
	bench_open(&bench);
	send_frame(&bench, NETWORK, macs[0], stranger);
	assert_int_equal(count(&bench, 0, macs[0]), 1);
	send_frame(&bench, NETWORK, broadcast, stranger);
	for (unsigned int v = 0; v < NB_VPORTS; v++)
		assert_int_equal(count(&bench, v, broadcast), 1);
	send_frame(&bench, NETWORK, group, stranger);
	assert_int_equal(count(&bench, 0, group), 0);
	memcpy(many[SHCA_NETDEV_MACS_MAX - 1], group, 6);
	memcpy(many[SHCA_NETDEV_MACS_MAX], second, 6);
	bench.wire[0]->ops->set_rx_mode(bench.wire[0], &netdev);
	send_frame(&bench, NETWORK, group, stranger);
	assert_int_equal(count(&bench, 0, group), 1);
	send_frame(&bench, NETWORK, second, stranger);
	assert_int_equal(count(&bench, 0, second), 0);
	send_frame(&bench, NETWORK, macs[0], stranger);
	assert_int_equal(count(&bench, 0, macs[0]), 0);
	/* What has left the list. */
	netdev.nb_macs = SHCA_NETDEV_MACS_MAX - 1;
	bench.wire[0]->ops->set_rx_mode(bench.wire[0], &netdev);
	send_frame(&bench, NETWORK, group, stranger);
	assert_int_equal(count(&bench, 0, group), 0);
	memcpy(many[0], second, 6);
	netdev.nb_macs = 1;
	bench.wire[0]->ops->set_rx_mode(bench.wire[0], &netdev);
	send_frame(&bench, NETWORK, second, stranger);
	assert_int_equal(count(&bench, 0, second), 1);
	netdev = (struct shca_netdev){ .nb_macs = 0 };
	bench.wire[0]->ops->set_rx_mode(bench.wire[0], &netdev);
	send_frame(&bench, NETWORK, second, stranger);
	assert_int_equal(count(&bench, 0, second), 0);
	bench_close(&bench);
}

/** In switchdev mode the host's rules forward, here all to all, whatever netdevs list. */
static void
test_switchdev(void **state)
{
	const struct shca_wire_conf conf = { .arg = "uplink", .fd = -1 };
	const struct shca_eswitch_vport first = { .mac = macs[0], .is_switchdev = true },
					second_vport = { .mac = macs[1], .is_switchdev = true };
	static const uint8_t *const dsts[] = { macs[0], macs[1], stranger, group };
	struct shca_wire *uplink = open_wire("pair", &conf);
	struct bench bench;

	(void)state;
	bench.wire[NETWORK] = open_wire("pair", &conf);
	assert_int_equal(shca_eswitch_open(uplink, &first, &bench.wire[0]), 0);
	assert_int_equal(shca_eswitch_join(bench.wire[0], &second_vport, &bench.wire[1]), 0);
	for (unsigned int i = 0; i < sizeof(dsts) / sizeof(dsts[0]); i++) {
		struct shca_wire_path path = { .what = "" };
		uint8_t bytes[LENGTH] = { 0 };
		const struct shca_frame frame = { bytes, sizeof(bytes) };

		send_frame(&bench, NETWORK, dsts[i], stranger);
		assert_int_equal(count(&bench, 0, dsts[i]), 1);
		assert_int_equal(count(&bench, 1, dsts[i]), 1);
		send_frame(&bench, 0, dsts[i], macs[0]);
		assert_int_equal(count(&bench, 0, dsts[i]), 0);
		assert_int_equal(count(&bench, 1, dsts[i]), 1);
		assert_int_equal(count(&bench, NETWORK, dsts[i]), 1);
		memcpy(bytes, dsts[i], 6);
		bench.wire[0]->ops->explain(bench.wire[0], &frame, &path);
		assert_true(path.nb_to == 2 && path.to[0] == bench.wire[1] && !path.is_lost);
		assert_non_null(strstr(path.what, "by rules of the host"));
	}
	bench.wire[0]->ops->close(bench.wire[0]);
	bench.wire[1]->ops->close(bench.wire[1]);
	bench.wire[NETWORK]->ops->close(bench.wire[NETWORK]);
}

/** Send a frame from vport 0 to the address that it begins with until it is refused. @return how
 * often it was taken */
static unsigned int
fill(const struct bench *bench, const struct shca_frame *frame)
{
	unsigned int nb = 0;

	while (bench->wire[0]->ops->tx(bench->wire[0], frame, 1) == 1)
		assert_true(++nb < 100000);
	return nb;
}

/** To a vport that does not receive a sender waits; to all it does not. */
static void
test_back_pressure(void **state)
{
	uint8_t bytes[9000] = { 0 };
	const struct shca_frame frame = { bytes, sizeof(bytes) };
	struct shca_frame out;
	struct bench bench;
	unsigned int nb;

	(void)state;
	bench_open(&bench);
	memcpy(bytes, macs[1], 6);
	nb = fill(&bench, &frame);
	assert_true(nb > 50);
	/* What comes from the network does not wait for it. */
	send_frame(&bench, NETWORK, macs[0], stranger);
	assert_int_equal(count(&bench, 0, macs[0]), 1);
	memset(bytes, 0xff, 6);
	assert_int_equal(bench.wire[0]->ops->tx(bench.wire[0], &frame, 1), 1);
	while (bench.wire[1]->ops->rx(bench.wire[1], &out, 1) == 1)
		nb--;
	assert_int_equal(nb, 0);
	assert_int_equal(bench.wire[2]->ops->rx(bench.wire[2], &out, 1), 1);
	assert_int_equal(bench.wire[2]->ops->rx(bench.wire[2], &out, 1), 0);
	bench_close(&bench);
}

/** What comes from the network is not behind what functions send, however much that is: a round of
 * the devices, in which function 0 sends as much as function 1 takes, and more. */
static void
test_flood(void **state)
{
	uint8_t bytes[LENGTH] = { 0 };
	struct shca_frame flood[64], out[64];
	unsigned int nb_from_network = 0, nb;
	struct bench bench;

	(void)state;
	bench_open(&bench);
	memcpy(bytes, macs[1], 6);
	for (unsigned int i = 0; i < 64; i++)
		flood[i] = (struct shca_frame){ bytes, sizeof(bytes) };
	send_frame(&bench, NETWORK, macs[0], stranger);
	send_frame(&bench, NETWORK, macs[1], stranger);
	for (unsigned int round = 0; round < 4; round++) {
		while (bench.wire[0]->ops->tx(bench.wire[0], flood, 64) == 64)
			;
		nb_from_network += count(&bench, 0, macs[0]);
		nb = bench.wire[1]->ops->rx(bench.wire[1], out, 64);
		assert_int_equal(nb, 64);
		for (unsigned int i = 0; i < nb; i++)
			nb_from_network += memcmp(out[i].bytes + 6, stranger, 6) == 0;
	}
	assert_int_equal(nb_from_network, 2);
	bench_close(&bench);
}

/** Functions 0 and 2 send more to function 1 than it takes: in the end it has as much of each,
 * though 0 has its turn before 2 in each round. One that has no more to send holds nobody. */
static void
test_senders_take_turns(void **state)
{
	uint8_t bytes[NB_VPORTS][LENGTH] = { 0 };
	unsigned int nb_from[NB_VPORTS] = { 0 };
	struct shca_frame out[64];
	struct bench bench;

	(void)state;
	bench_open(&bench);
	for (unsigned int v = 0; v < NB_VPORTS; v++) {
		memcpy(bytes[v], macs[1], 6);
		memcpy(bytes[v] + 6, macs[v], 6);
	}
	for (unsigned int round = 0; round < 1000; round++) {
		for (unsigned int v = 0; v < NB_VPORTS; v += 2) {
			const struct shca_frame frame = { bytes[v], LENGTH };

			while (bench.wire[v]->ops->tx(bench.wire[v], &frame, 1) == 1)
				;
		}
		assert_int_equal(bench.wire[1]->ops->rx(bench.wire[1], out, 64), 64);
		for (unsigned int i = 0; round >= 800 && i < 64; i++)
			nb_from[out[i].bytes[11] - 1]++;
	}
	assert_uint_in_range(nb_from[0], 6000, 6800);
	assert_uint_in_range(nb_from[2], 6000, 6800);
	/* Function 2 had no room, and ends. */
	for (unsigned int round = 0; round < 200; round++) {
		const struct shca_frame frame = { bytes[0], LENGTH };

		nb_from[0] = 0;
		while (bench.wire[0]->ops->tx(bench.wire[0], &frame, 1) == 1)
			nb_from[0]++;
		assert_int_equal(bench.wire[1]->ops->rx(bench.wire[1], out, 64), 64);
	}
	assert_uint_in_range(nb_from[0], 60, 66);
	bench_close(&bench);
}

/** A sender waits for the uplink, too, and nobody has the frame before. */
static void
test_full_uplink(void **state)
{
	uint8_t bytes[9000] = { 0 };
	const struct shca_frame frame = { bytes, sizeof(bytes) };
	struct shca_frame out;
	struct bench bench;
	unsigned int nb;

	(void)state;
	bench_open(&bench);
	memcpy(bytes, stranger, 6);
	nb = fill(&bench, &frame);
	memset(bytes, 0xff, 6);
	assert_int_equal(bench.wire[0]->ops->tx(bench.wire[0], &frame, 1), 0);
	assert_int_equal(bench.wire[1]->ops->rx(bench.wire[1], &out, 1), 0);
	while (bench.wire[NETWORK]->ops->rx(bench.wire[NETWORK], &out, 1) == 1)
		nb--;
	assert_int_equal(nb, 0);
	assert_int_equal(bench.wire[0]->ops->tx(bench.wire[0], &frame, 1), 1);
	assert_int_equal(bench.wire[1]->ops->rx(bench.wire[1], &out, 1), 1);
	bench_close(&bench);
}

/** They are for nobody. */
static void
test_frames_without_addresses(void **state)
{
	uint8_t bytes[12] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1 };
	struct bench bench;

	(void)state;
	bench_open(&bench);
	for (uint32_t length = sizeof(bytes) - 1; length <= sizeof(bytes); length++) {
		const struct shca_frame frame = { bytes, length };
		const unsigned int nb = length == sizeof(bytes);
		struct shca_wire_path path = { .what = "" };
		struct shca_frame out;

		bench.wire[0]->ops->explain(bench.wire[0], &frame, &path);
		assert_int_equal(path.is_lost, nb == 0);
		assert_int_equal(bench.wire[0]->ops->tx(bench.wire[0], &frame, 1), 1);
		for (unsigned int at = 1; at <= NETWORK; at++)
			assert_int_equal(bench.wire[at]->ops->rx(bench.wire[at], &out, 1), nb);
		assert_int_equal(bench.wire[NETWORK]->ops->tx(bench.wire[NETWORK], &frame, 1), 1);
		for (unsigned int at = 0; at < NETWORK; at++)
			assert_int_equal(bench.wire[at]->ops->rx(bench.wire[at], &out, 1), nb);
	}
	bench_close(&bench);
}

/** A function's device is dead, or stands still: the others go on. */
static void
test_function_that_rests(void **state)
{
	struct shca_faults *faults;
	struct shca_wire *plain;
	struct shca_frame frame;
	unsigned int nb = 0;
	struct bench bench;

	(void)state;
	assert_int_equal(shca_faults_make("device fatal at 1", 2, &faults), 0);
	bench_open(&bench);
	plain = bench.wire[1];
	assert_int_equal(shca_faulty_wrap(faults, 1, plain, &bench.wire[1]), 0);
	assert_ptr_not_equal(bench.wire[1], plain);
	shca_faulty_rest(bench.wire[1], UINT64_MAX);
	send_frame(&bench, NETWORK, macs[1], stranger);
	assert_int_equal(count(&bench, 0, macs[0]), 0);
	send_frame(&bench, NETWORK, macs[0], stranger);
	assert_int_equal(count(&bench, 0, macs[0]), 1);
	/* More than there is room for. */
	for (; nb < 30000; nb++)
		send_frame(&bench, 0, macs[1], macs[0]);
	send_frame(&bench, 0, macs[2], macs[0]);
	assert_int_equal(count(&bench, 2, macs[2]), 1);
	shca_faulty_rest(bench.wire[1], 0);
	nb = 0;
	while (plain->ops->rx(plain, &frame, 1) == 1)
		nb++;
	assert_uint_in_range(nb, 1000, 30000);
	send_frame(&bench, NETWORK, macs[1], stranger);
	assert_int_equal(count(&bench, 0, macs[0]), 0);
	send_frame(&bench, NETWORK, macs[0], stranger);
	assert_int_equal(count(&bench, 0, macs[0]), 0);
	bench_close(&bench);
	shca_faults_close(faults);
}

static bool
waits(const struct shca_wire *wire)
{
	(void)wire;
	return true;
}

static unsigned int nb_starts;

static void
start_once(struct shca_wire *wire)
{
	(void)wire;
	nb_starts++;
}

/** The uplink is everybody's: its link, its descriptor, its start; and goes with the last. */
static void
test_uplink(void **state)
{
	struct shca_wire_ops patient;
	struct bench bench;

	(void)state;
	bench_open(&bench);
	assert_true(bench.wire[1]->ops->link(bench.wire[1]));
	bench.wire[NETWORK]->ops->set_carrier(bench.wire[NETWORK], false);
	assert_false(bench.wire[0]->ops->link(bench.wire[0]));
	assert_false(bench.wire[1]->ops->link(bench.wire[1]));
	bench.wire[NETWORK]->ops->set_carrier(bench.wire[NETWORK], true);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(
			bench.wire[i]->ops->fd(bench.wire[i]), bench.uplink->ops->fd(bench.uplink));
	assert_false(bench.wire[0]->ops->is_patient(bench.wire[0]));
	patient = *bench.uplink->ops;
	patient.is_patient = waits;
	patient.start = start_once;
	bench.uplink->ops = &patient;
	assert_true(bench.wire[0]->ops->is_patient(bench.wire[0]));
	for (unsigned int i = 0; i < NB_VPORTS; i++)
		bench.wire[i]->ops->start(bench.wire[i]);
	assert_int_equal(nb_starts, 1);
	bench.wire[0]->ops->close(bench.wire[0]);
	send_frame(&bench, NETWORK, macs[1], stranger);
	assert_int_equal(bench.wire[1]->ops->due_ns(bench.wire[1]), 0);
	assert_int_equal(count(&bench, 1, macs[1]), 1);
	assert_true(bench.wire[1]->ops->due_ns(bench.wire[1]) == UINT64_MAX);
	bench.wire[1]->ops->close(bench.wire[1]);
	bench.wire[2]->ops->close(bench.wire[2]);
	assert_false(bench.wire[NETWORK]->ops->link(bench.wire[NETWORK]));
	bench.wire[NETWORK]->ops->close(bench.wire[NETWORK]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_gets_what),
		cmocka_unit_test(test_physical_function),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_switchdev),
		cmocka_unit_test(test_back_pressure),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_senders_take_turns),
		cmocka_unit_test(test_full_uplink),
		cmocka_unit_test(test_frames_without_addresses),
		cmocka_unit_test(test_function_that_rests),
		cmocka_unit_test(test_uplink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
