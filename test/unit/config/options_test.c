/* SPDX-License-Identifier: BSD-3-Clause */
/** @file --port texts, good and bad, and the file that carries them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "config/model.h"
#include "config/options.h"
#include "config/options_ports.h"
#include "wire/wire.h"

/** The first port as text: every field that a user sets. */
static void
print_port(const struct shca_port_options *port, char *text, size_t size)
{
	snprintf(text, size, "%s(%s) %s(%s) %s %02x%02x%02x%02x%02x%02x %u %d %u",
		port->wire.kind->name, port->wire.arg,
		port->kernel.kind == NULL ? "none" : port->kernel.kind->name, port->kernel.arg,
		port->model.name, port->mac[0], port->mac[1], port->mac[2], port->mac[3],
		port->mac[4], port->mac[5], port->speed_mbps, port->pace, port->repeat);
}

static const struct {
	const char *text;
	const char *port;
} good[] = {
	{ "", "loop() none() cx5 020000000001 25000 1 1" },
	{ "wire=loop,kernel=none", "loop() none() cx5 020000000001 25000 1 1" },
	{ "wire=null,model=cx4lx", "null() none() cx4lx 020000000001 25000 1 1" },
	{ "wire=pair:red,speed=10g", "pair(red) none() cx5 020000000001 10000 1 1" },
	{ "wire=tap:w0,kernel=tap:k0", "tap(w0) tap(k0) cx5 020000000001 25000 1 1" },
	{ "wire=pcap:a.pcap:b.pcap,pace=0,repeat=0",
		"pcap(a.pcap:b.pcap) none() cx5 020000000001 25000 0 0" },
	{ "kernel=pcap:out.pcap,repeat=4294967295",
		"loop() pcap(out.pcap) cx5 020000000001 25000 1 4294967295" },
	{ "wire=unix:/tmp/x=y,mac=0e:1D:2c:3b:4a:59",
		"unix(/tmp/x=y) none() cx5 0e1d2c3b4a59 25000 1 1" },
	{ "speed=1g", "loop() none() cx5 020000000001 1000 1 1" },
	{ "speed=2.5G", "loop() none() cx5 020000000001 2500 1 1" },
	{ "speed=200g,model=cx6dx", "loop() none() cx6dx 020000000001 200000 1 1" },
};

static void
test_good(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct shca_options options;
		char error[256] = "", port[1024];

		shca_options_init(&options);
		assert_int_equal(
			shca_options_add_port(&options, good[i].text, error, sizeof(error)), 0);
		assert_string_equal(error, "");
		assert_int_equal(options.nb_ports, 1);
		print_port(&options.port[0], port, sizeof(port));
		assert_string_equal(port, good[i].port);
		assert_int_equal(options.port[0].wire.fd, -1);
		assert_int_equal(options.port[0].kernel.fd, -1);
	}
}

/** Each names the culprit and what is allowed. */
static const struct {
	const char *text;
	const char *error;
} bad[] = {
	{ "colour=red",
		"colour: no such key; there are wire, kernel, model, mac, speed, pace, repeat, "
		"delay, vf, trust, spoof, pf, switchdev, rep, inline, devx, rtc, kernel-abi, "
		"steering" },
	{ "wire-fd=7",
		"wire-fd: no such key; there are wire, kernel, model, mac, speed, pace, repeat, "
		"delay, vf, trust, spoof, pf, switchdev, rep, inline, devx, rtc, kernel-abi, "
		"steering" },
	{ "=x",
		": no such key; there are wire, kernel, model, mac, speed, pace, repeat, delay, "
		"vf, trust, spoof, pf, switchdev, rep, inline, devx, rtc, kernel-abi, "
		"steering" },
	{ "wire=loop,",
		": no such key; there are wire, kernel, model, mac, speed, pace, repeat, delay, "
		"vf, trust, spoof, pf, switchdev, rep, inline, devx, rtc, kernel-abi, "
		"steering" },
	{ "steering=b0", "steering: 'b0' is none of model, cx4-exp, dmfs and a0" },
	{ "kernel-abi=6.2", "kernel-abi: '6.2' is none of 5.10, 6.1 and 6.12" },
	{ "model=cx5,rtc=on", "rtc: model cx5 has no real-time clock: cx6dx does" },
	{ "model=cx6dx,rtc=on,kernel-abi=5.10",
		"kernel-abi: Linux 5.10 does not know the real-time clock of rtc=on" },
	{ "wire", "wire: needs a value: wire=KIND[:ARG]" },
	{ "wire=", "wire: needs a value: wire=KIND[:ARG]" },
	{ "wire=rope",
		"wire: no wire 'rope'; there are loop, null, pair:ID, tap:IFNAME, pcap:IN[:OUT], "
		"unix:PATH" },
	{ "wire=loop:x", "wire: 'loop' takes no argument" },
	{ "wire=loop:", "wire: 'loop' takes no argument" },
	{ "wire=tap", "wire: 'tap' needs an argument: tap:IFNAME" },
	{ "wire=tap:", "wire: 'tap' needs an argument: tap:IFNAME" },
	{ "wire=loop,wire=null", "wire: given twice" },
	{ "kernel=loop", "kernel: no kernel side 'loop'; there are none, tap:IFNAME, pcap:OUT" },
	{ "kernel=pcap", "kernel: 'pcap' needs an argument: pcap:OUT" },
	{ "kernel=none:x",
		"kernel: no kernel side 'none:x'; there are none, tap:IFNAME, pcap:OUT" },
	{ "wire=tap:x,kernel=tap:x", "kernel: x is the port's wire already" },
	{ "model=cx3",
		"model: no model 'cx3'; there are cx5, cx4lx, cx6dx, lean, and files: ./cx3" },
	{ "model=/nowhere/x", "model: /nowhere/x: No such file or directory" },
	{ "model=/dev/null", "model: /dev/null: name: is not given" },
	{ "mac=02:00:00:00:00",
		"mac: '02:00:00:00:00' is no address of the form 02:00:00:00:00:01" },
	{ "mac=02:00:00:00:00:011",
		"mac: '02:00:00:00:00:011' is no address of the form 02:00:00:00:00:01" },
	{ "mac=2:0:0:0:0:1", "mac: '2:0:0:0:0:1' is no address of the form 02:00:00:00:00:01" },
	{ "mac=02:00:00:00:00:-1",
		"mac: '02:00:00:00:00:-1' is no address of the form 02:00:00:00:00:01" },
	{ "mac=02:00:00:00:00: 1",
		"mac: '02:00:00:00:00: 1' is no address of the form 02:00:00:00:00:01" },
	{ "mac=01:00:5e:00:00:01", "mac: '01:00:5e:00:00:01' is not a unicast address" },
	{ "mac=00:00:00:00:00:00", "mac: '00:00:00:00:00:00' is not a unicast address" },
	{ "speed=10",
		"speed: no speed '10'; there are 1g, 2.5g, 5g, 10g, 25g, 40g, 50g, 100g, 200g, 400g" },
	{ "pace=2", "pace: '2' is neither 0 nor 1" },
	{ "pace=yes", "pace: 'yes' is neither 0 nor 1" },
	{ "repeat=-1", "repeat: '-1' is not a number of times (0: for ever)" },
	{ "repeat=4294967296", "repeat: '4294967296' is not a number of times (0: for ever)" },
	{ "delay=3600001", "delay: '3600001' is not a number of milliseconds up to 3600000" },
	{ "delay=1s", "delay: '1s' is not a number of milliseconds up to 3600000" },
	{ "repeat=3x", "repeat: '3x' is not a number of times (0: for ever)" },
	{ "vf=yes", "vf: 'yes' is neither on nor off" },
	{ "trust=on", "trust: needs vf=on: a port of its own has nobody above it" },
	{ "inline=l3", "inline: 'l3' is none of model, none, link, network and transport" },
	{ "inline=network",
		"inline: needs vf=on and a model whose host can demand headers: cx4lx" },
	{ "vf=on,inline=link",
		"inline: needs vf=on and a model whose host can demand headers: cx4lx" },
	{ "rep=none,rep=none", "rep: given twice" },
	{ "rep=loop", "rep: no kernel side 'loop'; there are none, tap:IFNAME, pcap:OUT" },
	{ "rep=tap:r",
		"rep: needs vf=on and a port with switchdev=on, vf=off on the same wire before it" },
	{ "vf=on,switchdev=on,rep=tap:r",
		"rep: needs vf=on and a port with switchdev=on, vf=off on the same wire before it" },
	{ "vf=on,switchdev=on,trust=on", "trust: a host in switchdev mode cannot set it" },
	{ "vf=on,switchdev=on,spoof=on", "spoof: a host in switchdev mode cannot set it" },
	{ "vf=on,switchdev=maybe", "switchdev: 'maybe' is neither on nor off" },
	{ "pf=1", "pf: '1' is neither on nor off" },
	{ "pf=on,vf=on", "pf: a port is the physical function or a virtual one, not both" },
	{ "vf=on,switchdev=on,pf=on",
		"pf: a port is the physical function or a virtual one, not both" },
	{ "pf=on,switchdev=on",
		"pf: with switchdev=on the port is the physical function as it is, with a port a function" },
	{ "pf=on,trust=on", "trust: needs vf=on: a port of its own has nobody above it" },
	{ "pf=on,rep=tap:r",
		"rep: needs vf=on and a port with switchdev=on, vf=off on the same wire before it" },
	{ "spoof=on,vf=off", "spoof: needs vf=on: a port of its own has nobody above it" },
	{ "wire=unix:a\nb", "control character 0x0a" },
};

static void
test_bad(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct shca_options options;
		char error[256] = "";

		shca_options_init(&options);
		assert_int_equal(shca_options_add_port(&options, bad[i].text, error, sizeof(error)),
			-EINVAL);
		assert_string_equal(error, bad[i].error);
		assert_int_equal(options.nb_ports, 0);
	}
}

static void
test_long_texts(void **state)
{
	struct shca_options options;
	char text[4096], error[64], tiny[8];

	(void)state;
	shca_options_init(&options);
	memset(text, 'x', sizeof(text));
	memcpy(text, "wire=unix:", 10);
	for (size_t length = 240; length < sizeof(text); length++) {
		int expected = length - 10 < 256 ? 0 : -EINVAL;

		text[length] = '\0';
		options.nb_ports = 0;
		assert_int_equal(
			shca_options_add_port(&options, text, error, sizeof(error)), expected);
		text[length] = 'x';
	}
	/* A message too long for its buffer is cut. */
	assert_int_equal(
		shca_options_add_port(&options, "colour=red", tiny, sizeof(tiny)), -EINVAL);
	assert_int_equal(strlen(tiny), sizeof(tiny) - 1);
}

static void
test_several_ports(void **state)
{
	static const struct {
		const char *text;
		int ret;
	} cases[] = {
		{ "wire=pair:a,kernel=tap:k", 0 },
		{ "kernel-abi=5.10", -EINVAL },
		{ "wire=pair:a", 0 },
		{ "wire=pair:a", -EINVAL },
		{ "kernel=tap:k", -EINVAL },
		{ "wire=tap:k", -EINVAL },
		{ "wire=tap:k2", 0 },
		{ "wire=tap:k2", -EINVAL },
		{ "kernel=tap:k2", -EINVAL },
		{ "", 0 },
		{ "", 0 },
		{ "", 0 },
		{ "", 0 },
		{ "", 0 },
		{ "", -E2BIG },
	};
	struct shca_options options;
	char error[256];

	(void)state;
	shca_options_init(&options);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			shca_options_add_port(&options, cases[i].text, error, sizeof(error)),
			cases[i].ret);
	assert_int_equal(options.nb_ports, SHCA_PORTS_MAX);
	for (unsigned int i = 0; i < options.nb_ports; i++)
		assert_int_equal(options.port[i].mac[5], i + 1);
}

struct added {
	const char *text, *error; /* "": it is taken */
};

/** Add ports to options that have none, one after the other. */
static void
add_ports(const struct added *cases, unsigned int nb)
{
	struct shca_options options;

	shca_options_init(&options);
	for (unsigned int i = 0; i < nb; i++) {
		char error[256] = "";

		assert_int_equal(
			shca_options_add_port(&options, cases[i].text, error, sizeof(error)),
			cases[i].error[0] == '\0' ? 0 : -EINVAL);
		assert_string_equal(error, cases[i].error);
	}
}

/** A file has the frames of one port; the functions of a card share it with their wire. */
static void
test_records(void **state)
{
	static const struct added cases[] = {
		{ "wire=pcap:in:a", "" },
		{ "wire=pcap:in:b", "" },
		{ "wire=pcap::a", "wire: a is recorded into already, by wire of port 0" },
		{ "kernel=pcap:b", "kernel: b is recorded into already, by wire of port 1" },
		{ "wire=pcap::c,kernel=pcap:c",
			"kernel: c is recorded into already, by wire of port 2" },
		{ "wire=pcap:in,kernel=pcap:d", "" },
		{ "wire=pcap:other:d", "wire: d is recorded into already, by kernel of port 2" },
		{ "wire=pcap::e,vf=on", "" },
		{ "wire=pcap::e,vf=on", "" },
		{ "wire=pcap::/dev/null,kernel=pcap:/dev/null", "" },
	};
	/* By other names, while none of these files is there yet; /dev/shm has no devices. */
	static const struct added new[] = {
		{ "wire=pcap:in:a", "" },
		{ "wire=pcap::./a", "wire: ./a is recorded into already, by wire of port 0" },
		{ "wire=pcap:in:nowhere/a", "" },
		{ "wire=pcap::/dev/shm/none", "" },
		{ "kernel=pcap:/dev/shm/none",
			"kernel: /dev/shm/none is recorded into already, by wire of port 2" },
		{ "kernel=pcap:/dev/shm/../shm/none",
			"kernel: /dev/shm/../shm/none is recorded into already, by wire of port 2" },
	};

	(void)state;
	add_ports(cases, sizeof(cases) / sizeof(cases[0]));
	add_ports(new, sizeof(new) / sizeof(new[0]));
}

/** A recorder empties its file, which may be what another port plays, by any name of it. */
static void
test_plays(void **state)
{
	static const struct added cases[] = {
		{ "wire=pcap:play:a", "" },
		{ "wire=pcap:play:b", "" },
		{ "wire=pcap::play", "wire: play is what port 0 plays" },
		{ "kernel=pcap:play", "kernel: play is what port 0 plays" },
		{ "wire=pcap:play,kernel=pcap:play", "kernel: play is what the port plays" },
		{ "kernel=pcap:./play", "kernel: ./play is what port 0 plays" },
		{ "wire=pcap:b", "wire: b is recorded into, by wire of port 1" },
		{ "wire=pcap::c,vf=on,kernel=pcap:d", "" },
		{ "wire=pcap::c,vf=on", "" },
		{ "wire=pcap:d", "wire: d is recorded into, by kernel of port 2" },
		{ "wire=pcap:/dev/null,kernel=pcap:/dev/null", "" },
	};
	char dir[] = "/tmp/core-options-XXXXXX", here[4096];

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	close(open("play", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	add_ports(cases, sizeof(cases) / sizeof(cases[0]));
	assert_int_equal(unlink("play") | chdir(here) | rmdir(dir), 0);
}

/** The functions of a card share a wire, which has other ends as well. */
static void
test_functions(void **state)
{
	static const struct {
		const char *text;
		int ret;
		const char *error;
		unsigned int card, vf; /**< of the port */
	} cases[] = {
		{ "wire=pair:a,vf=on", 0, "", 0, 0 },
		{ "wire=pair:a,vf=on,trust=on", 0, "", 0, 1 },
		{ "wire=pair:a", 0, "", 2, 0 },
		{ "wire=pair:a", -EINVAL, "wire: pair:a has two ends already", 0, 0 },
		{ "wire=pair:a,vf=on,spoof=on", 0, "", 0, 2 },
		{ "wire=pair:a,vf=on,model=cx6dx", -EINVAL,
			"vf: model and speed are those of port 0, of the same card", 0, 0 },
		{ "wire=pair:a,vf=on,switchdev=on", -EINVAL,
			"switchdev: port 0, of the same card, has the other mode", 0, 0 },
		{ "wire=pair:a,vf=on,mac=02:00:00:00:00:02", -EINVAL,
			"mac: port 1, of the same card, has it", 0, 0 },
		{ "wire=tap:w,vf=on", 0, "", 4, 0 },
		{ "wire=tap:w", -EINVAL, "wire: w belongs to another port already", 0, 0 },
		{ "wire=tap:w,vf=on", 0, "", 4, 1 },
		{ "wire=loop,vf=on,kernel=tap:w", -EINVAL, "kernel: w belongs to port 4 already", 0,
			0 },
		{ "wire=loop,vf=on", 0, "", 6, 0 },
	};
	struct shca_options options;

	(void)state;
	shca_options_init(&options);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char error[256] = "";

		assert_int_equal(
			shca_options_add_port(&options, cases[i].text, error, sizeof(error)),
			cases[i].ret);
		assert_string_equal(error, cases[i].error);
		if (cases[i].ret != 0)
			continue;
		assert_int_equal(
			shca_options_ports_card(&options, options.nb_ports - 1), cases[i].card);
		assert_int_equal(
			shca_options_ports_vf(&options, options.nb_ports - 1), cases[i].vf);
	}
	assert_true(options.port[1].is_trusted);
	assert_true(options.port[3].checks_source);
	assert_false(options.port[3].is_trusted);
}

/** The physical function comes first, with the mode of its functions. */
static void
test_physical_function(void **state)
{
	static const struct {
		const char *text;
		int ret;
		const char *error;
		unsigned int card, vf; /**< of the port */
	} cases[] = {
		{ "wire=tap:w,pf=on,kernel=tap:p", 0, "", 0, 0 },
		{ "wire=tap:w,vf=on", 0, "", 0, 0 },
		{ "wire=tap:w,pf=on", -EINVAL,
			"pf: the physical function comes before port 0, of the same card", 0, 0 },
		{ "wire=tap:w", -EINVAL, "wire: w belongs to another port already", 0, 0 },
		{ "wire=tap:w,vf=on,switchdev=on", -EINVAL,
			"switchdev: port 0, of the same card, has the other mode", 0, 0 },
		{ "wire=tap:w,vf=on,model=cx6dx", -EINVAL,
			"vf: model and speed are those of port 0, of the same card", 0, 0 },
		{ "wire=tap:w,vf=on,mac=02:00:00:00:00:01", -EINVAL,
			"mac: port 0, of the same card, has it", 0, 0 },
		{ "wire=tap:w,vf=on,rep=tap:r", -EINVAL,
			"rep: needs vf=on and a port with switchdev=on, vf=off on the same wire before it",
			0, 0 },
		{ "wire=tap:w,vf=on,kernel=tap:p", -EINVAL, "kernel: p belongs to port 0 already",
			0, 0 },
		{ "wire=pair:a,vf=on", 0, "", 2, 0 },
		{ "wire=pair:a,pf=on", -EINVAL,
			"pf: the physical function comes before port 2, of the same card", 0, 0 },
		{ "wire=tap:w,vf=on,trust=on", 0, "", 0, 1 },
		{ "wire=loop,pf=on", 0, "", 4, 0 },
	};
	struct shca_options options;

	(void)state;
	shca_options_init(&options);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char error[256] = "";

		assert_int_equal(
			shca_options_add_port(&options, cases[i].text, error, sizeof(error)),
			cases[i].ret);
		assert_string_equal(error, cases[i].error);
		if (cases[i].ret != 0)
			continue;
		assert_int_equal(
			shca_options_ports_card(&options, options.nb_ports - 1), cases[i].card);
		assert_int_equal(
			shca_options_ports_vf(&options, options.nb_ports - 1), cases[i].vf);
		assert_int_equal(shca_options_ports_rep(&options, options.nb_ports - 1), 0);
	}
	assert_int_equal(shca_options_ports_nb_vfs(&options, 0), 2);
	assert_int_equal(shca_options_ports_nb_vfs(&options, 2), 0);
	assert_int_equal(shca_options_ports_nb_vfs(&options, 4), 0);
	assert_int_equal(shca_options_ports_vports(&options, 0), 0);
	assert_true(options.port[0].is_pf);
}

/** The manager of a switch comes first; its ports are its own vport, the functions' and the
 * uplink's.
 */
static void
test_manager(void **state)
{
	static const struct {
		const char *text;
		int ret;
		const char *error;
		unsigned int card, rep; /**< of the port */
	} cases[] = {
		{ "wire=tap:w,switchdev=on,kernel=tap:p", 0, "", 0, 0 },
		{ "wire=tap:w,switchdev=on", -EINVAL,
			"switchdev: the manager comes before port 0, of the same card", 0, 0 },
		{ "wire=tap:w,vf=on", -EINVAL,
			"switchdev: port 0, of the same card, has the other mode", 0, 0 },
		{ "wire=tap:w,vf=on,switchdev=on,model=cx6dx", -EINVAL,
			"vf: model and speed are those of port 0, of the same card", 0, 0 },
		{ "wire=tap:w,vf=on,switchdev=on,rep=tap:p", -EINVAL,
			"rep: p belongs to port 0 already", 0, 0 },
		{ "wire=tap:w,vf=on,switchdev=on,rep=tap:w", -EINVAL,
			"rep: w is the port's wire already", 0, 0 },
		{ "wire=tap:w,vf=on,switchdev=on,rep=tap:k,kernel=tap:k", -EINVAL,
			"rep: k is the function's netdev already", 0, 0 },
		{ "wire=tap:w,vf=on,switchdev=on,rep=tap:r", 0, "", 0, 2 },
		{ "wire=loop,kernel=tap:r", -EINVAL, "kernel: r belongs to port 1 already", 0, 0 },
		{ "wire=loop,switchdev=on", 0, "", 2, 0 },
		{ "wire=tap:w,vf=on,switchdev=on", 0, "", 0, 3 },
		{ "wire=pair:x,vf=on,switchdev=on", 0, "", 4, 0 }, /* managed elsewhere */
	};
	struct shca_options options;
	uint8_t mac[6];

	(void)state;
	shca_options_init(&options);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char error[256] = "";

		assert_int_equal(
			shca_options_add_port(&options, cases[i].text, error, sizeof(error)),
			cases[i].ret);
		assert_string_equal(error, cases[i].error);
		if (cases[i].ret != 0)
			continue;
		assert_int_equal(
			shca_options_ports_card(&options, options.nb_ports - 1), cases[i].card);
		assert_int_equal(
			shca_options_ports_rep(&options, options.nb_ports - 1), cases[i].rep);
	}
	assert_true(shca_options_ports_manages(&options.port[0]));
	assert_false(shca_options_ports_manages(&options.port[1]));
	assert_int_equal(shca_options_ports_vports(&options, 0), 4);
	assert_int_equal(shca_options_ports_vports(&options, 1), 0);
	assert_int_equal(shca_options_ports_vports(&options, 2), 2);
	assert_int_equal(shca_options_ports_of_rep(&options, 0, 1), -1);
	assert_int_equal(shca_options_ports_of_rep(&options, 0, 2), 1);
	assert_int_equal(shca_options_ports_of_rep(&options, 0, 3), 3);
	assert_int_equal(shca_options_ports_of_rep(&options, 0, 4), -1);
	shca_options_ports_rep_mac(&options.port[1], mac);
	assert_memory_not_equal(mac, options.port[1].mac, sizeof(mac));
	assert_int_equal(mac[0] & 3, 2);
}

static void
test_save_and_load(void **state)
{
	char path[] = "/tmp/core-options-XXXXXX";
	struct shca_options options, loaded;
	char error[256];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	shca_options_init(&options);
	for (unsigned int i = 0; i < SHCA_PORTS_MAX; i++)
		assert_int_equal(
			shca_options_add_port(&options, good[i].text, error, sizeof(error)), 0);
	options.port[4].wire.fd = 100;
	options.port[4].kernel.fd = 101;
	options.port[2].is_vf = options.port[2].checks_source = true;
	options.port[3].is_vf = options.port[3].is_trusted = true;
	options.strict = SHCA_STRICT_ABORT;
	options.nb_threads = 3;
	CPU_ZERO(&options.cpus);
	CPU_SET(0, &options.cpus);
	CPU_SET(63, &options.cpus);
	CPU_SET(CPU_SETSIZE - 1, &options.cpus);
	assert_int_equal(shca_options_save(&options, path), 0);
	assert_int_equal(shca_options_load(&loaded, path), 0);
	assert_int_equal(loaded.nb_ports, SHCA_PORTS_MAX);
	assert_int_equal(loaded.strict, SHCA_STRICT_ABORT);
	assert_int_equal(loaded.nb_threads, 3);
	assert_true(CPU_EQUAL(&loaded.cpus, &options.cpus));
	for (unsigned int i = 0; i < SHCA_PORTS_MAX; i++) {
		char a[1024], b[1024];

		print_port(&options.port[i], a, sizeof(a));
		print_port(&loaded.port[i], b, sizeof(b));
		assert_string_equal(a, b);
		assert_int_equal(loaded.port[i].is_vf, options.port[i].is_vf);
		assert_int_equal(loaded.port[i].is_trusted, options.port[i].is_trusted);
		assert_int_equal(loaded.port[i].checks_source, options.port[i].checks_source);
		assert_int_equal(loaded.port[i].wire.fd, options.port[i].wire.fd);
		assert_int_equal(loaded.port[i].kernel.fd, options.port[i].kernel.fd);
	}
	close(fd);
	unlink(path);
}

static void
test_load_refuses(void **state)
{
	static const char *const files[] = {
		"",
		"cpus 0\n",
		"cpus 99999\nport wire=loop\n",
		"cpus 0,x\nport wire=loop\n",
		"port wire=rope\n",
		"port wire=loop,wire-fd=x\n",
		"haven wire=loop\n",
		"strict very\nport wire=loop\n",
		"threads 1000\nport wire=loop\n",
		"threads few\nport wire=loop\n",
		"port wire=loop\nport",
	};
	char path[] = "/tmp/core-options-XXXXXX";
	int fd = mkstemp(path);
	struct shca_options options;

	(void)state;
	for (unsigned int i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t length = strlen(files[i]);

		options.nb_ports = 77;
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, files[i], length, 0), length);
		assert_int_equal(shca_options_load(&options, path), -EINVAL);
		assert_int_equal(options.nb_ports, 77);
	}
	close(fd);
	unlink(path);
	assert_int_equal(shca_options_load(&options, path), -ENOENT);
	assert_int_equal(shca_options_save(&options, "/nonexistent/options"), -ENOENT);
}

static void
test_help_names_every_key_and_wire(void **state)
{
	static const char *const words[] = {
		"wire=", "kernel=", "model=", "mac=", "speed=", "pace=", "repeat=", "delay="
	};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	shca_options_help(out);
	fclose(out);
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_non_null(strstr(text, words[i]));
	for (unsigned int i = 0; shca_wire_kinds[i] != NULL; i++)
		assert_non_null(strstr(text, shca_wire_kinds[i]->usage));
	for (unsigned int i = 0; shca_model_at(i) != NULL; i++)
		assert_non_null(strstr(text, shca_model_at(i)->name));
	assert_null(strstr(text, "wire-fd"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_several_ports),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_plays),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_physical_function),
		cmocka_unit_test(test_manager),
		cmocka_unit_test(test_save_and_load),
		cmocka_unit_test(test_load_refuses),
		cmocka_unit_test(test_help_names_every_key_and_wire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
