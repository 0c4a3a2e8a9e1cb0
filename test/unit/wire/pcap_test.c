/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pcap plays what a capture holds, records what is sent, and refuses what it cannot play. */
#include "wire_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <pcap/pcap.h>
#include "base/clock.h"

static char dir[] = "/tmp/wire-pcap-XXXXXX";
static char in_path[64], out_path[64], both[128];

static int
make_dir(void **state)
{
	(void)state;
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(in_path, sizeof(in_path), "%s/in", dir);
	snprintf(out_path, sizeof(out_path), "%s/out", dir);
	snprintf(both, sizeof(both), "%s:%s", in_path, out_path);
	return 0;
}

static int
remove_dir(void **state)
{
	(void)state;
	unlink(in_path);
	unlink(out_path);
	return rmdir(dir);
}

static uint32_t
length_of(uint32_t number)
{
	return 60 + number * 7 % 1400;
}

/** A capture of numbered frames, @p gap_us apart. */
static void
write_capture(const char *path, unsigned int nb_frames, unsigned int gap_us, int linktype)
{
	pcap_t *format = pcap_open_dead(linktype, 65535);
	pcap_dumper_t *file = pcap_dump_open(format, path);

	assert_non_null(file);
	for (unsigned int i = 0; i < nb_frames; i++) {
		uint8_t bytes[SHCA_FRAME_MAX];
		struct pcap_pkthdr header = { .caplen = length_of(i), .len = length_of(i) };

		header.ts.tv_sec = 1700000000 + (uint64_t)i * gap_us / 1000000;
		header.ts.tv_usec = (uint64_t)i * gap_us % 1000000;
		numbered_frame(bytes, i, length_of(i));
		pcap_dump((u_char *)file, &header, bytes);
	}
	pcap_dump_close(file);
	pcap_close(format);
}

/** Take all frames of a wire without pace; they must be the numbered ones. */
static unsigned int
play(struct shca_wire *wire, unsigned int nb_in_capture)
{
	struct shca_frame frames[64];
	unsigned int nb, total = 0;

	assert_true(wire->ops->is_patient(wire));
	wire->ops->start(wire);
	while ((nb = wire->ops->rx(wire, frames, 64)) != 0) {
		for (unsigned int i = 0; i < nb; i++, total++)
			assert_numbered_frame(&frames[i], total % nb_in_capture,
				length_of(total % nb_in_capture));
		if (total > 100 * nb_in_capture)
			break;
	}
	return total;
}

/** Not a frame before its time, paced or not; due_ns() says when to come back. */
static void
test_delay(void **state)
{
	(void)state;
	write_capture(in_path, 20, 0, DLT_EN10MB);
	for (unsigned int pace = 0; pace < 2; pace++) {
		const struct shca_wire_conf conf = {
			.arg = in_path, .fd = -1, .repeat = 1, .pace = pace != 0, .delay_ms = 50
		};
		struct shca_frame frames[64];
		struct shca_wire *wire = open_wire("pcap", &conf);
		uint64_t before_ns = shca_clock_ns(), due_ns;

		wire->ops->start(wire);
		due_ns = wire->ops->due_ns(wire);
		assert_true(due_ns >= before_ns + 50000000 && due_ns <= shca_clock_ns() + 50000000);
		while (wire->ops->rx(wire, frames, 64) == 0)
			assert_true(shca_clock_ns() < due_ns + UINT64_C(60000000000));
		assert_true(shca_clock_ns() >= due_ns);
		wire->ops->close(wire);
	}
}

static void
test_in_to_out(void **state)
{
	const struct shca_wire_conf conf = { .arg = both, .fd = -1, .repeat = 1 };
	struct shca_frame frames[64];
	struct pcap_pkthdr *header;
	const u_char *bytes;
	char error[PCAP_ERRBUF_SIZE];
	struct shca_wire *wire;
	unsigned int nb, total = 0;
	pcap_t *file;

	(void)state;
	write_capture(in_path, 500, 1000, DLT_EN10MB);
	wire = open_wire("pcap", &conf);
	assert_int_equal(wire->ops->rx(wire, frames, 64), 0);
	assert_true(wire->ops->due_ns(wire) == UINT64_MAX);
	wire->ops->start(wire);
	while ((nb = wire->ops->rx(wire, frames, 64)) != 0) {
		assert_int_equal(wire->ops->tx(wire, frames, nb), nb);
		total += nb;
	}
	assert_int_equal(total, 500);

	/* Before the wire is closed: a killed program leaves whole frames, too. */
	file = pcap_open_offline(out_path, error);
	assert_non_null(file);
	assert_int_equal(pcap_datalink(file), DLT_EN10MB);
	for (unsigned int i = 0; i < 500; i++) {
		struct shca_frame frame;

		assert_int_equal(pcap_next_ex(file, &header, &bytes), 1);
		assert_int_equal(header->len, header->caplen);
		frame = (struct shca_frame){ bytes, header->caplen };
		assert_numbered_frame(&frame, i, length_of(i));
	}
	assert_int_equal(pcap_next_ex(file, &header, &bytes), PCAP_ERROR_BREAK);
	pcap_close(file);
	wire->ops->close(wire);
}

static void
test_repeat(void **state)
{
	static const struct {
		uint32_t repeat;
		unsigned int at_least, at_most;
	} cases[] = { { 1, 10, 10 }, { 3, 30, 30 }, { 0, 1000, UINT32_MAX } };

	(void)state;
	write_capture(in_path, 10, 0, DLT_EN10MB);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct shca_wire_conf conf = { .arg = in_path, .repeat = cases[i].repeat };
		struct shca_wire *wire = open_wire("pcap", &conf);
		unsigned int total = play(wire, 10);

		assert_uint_in_range(total, cases[i].at_least, cases[i].at_most);
		wire->ops->close(wire);
	}
}

static void
test_empty_capture_ends_though_repeated(void **state)
{
	const struct shca_wire_conf conf = { .arg = in_path, .repeat = 0 };
	struct shca_wire *wire;

	(void)state;
	write_capture(in_path, 0, 0, DLT_EN10MB);
	wire = open_wire("pcap", &conf);
	assert_int_equal(play(wire, 1), 0);
	wire->ops->close(wire);
}

/** A record without bytes is no frame, nor is one that is too long; a capture of these alone ends.
 */
static void
test_no_frames_are_left_out(void **state)
{
	const struct shca_wire_conf once = { .arg = in_path, .repeat = 1 };
	const struct shca_wire_conf always = { .arg = in_path, .repeat = 0 };
	static const uint32_t lengths[] = { 0, SHCA_FRAME_MAX + 1 };
	static const uint8_t bytes[SHCA_FRAME_MAX + 1];
	pcap_t *format = pcap_open_dead(DLT_EN10MB, 65535);
	struct shca_wire *wire;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		pcap_dumper_t *file;

		write_capture(in_path, 2 * i, 0, DLT_EN10MB);
		file = pcap_dump_open_append(format, in_path);
		assert_non_null(file);
		for (unsigned int k = 0; k < 2; k++) {
			const struct pcap_pkthdr header = { .caplen = lengths[k],
				.len = lengths[k] };

			pcap_dump((u_char *)file, &header, bytes);
		}
		pcap_dump_close(file);
		wire = open_wire("pcap", i == 0 ? &always : &once);
		assert_int_equal(play(wire, 2), 2 * i);
		wire->ops->close(wire);
	}
	pcap_close(format);
}

static void
test_pace(void **state)
{
	const struct shca_wire_conf conf = { .arg = in_path, .repeat = 1, .pace = true };
	uint64_t begin_ns, due_ns;
	struct shca_frame frame;
	struct shca_wire *wire;

	(void)state;
	write_capture(in_path, 3, 20000, DLT_EN10MB);
	wire = open_wire("pcap", &conf);
	begin_ns = shca_clock_ns();
	wire->ops->start(wire);
	assert_int_equal(wire->ops->rx(wire, &frame, 1), 1);
	assert_false(wire->ops->is_patient(wire));
	due_ns = wire->ops->due_ns(wire);
	assert_true(due_ns >= begin_ns);
	/* What rx says before and after the time the wire named. */
	for (unsigned int i = 1; i < 3; i++) {
		uint64_t round_ns = wire->ops->due_ns(wire);

		while (wire->ops->rx(wire, &frame, 1) == 0) {
			due_ns = wire->ops->due_ns(wire);
			usleep(1000);
		}
		assert_true(shca_clock_ns() >= begin_ns + i * UINT64_C(20000000));
		assert_true(round_ns <= shca_clock_ns());
		assert_true(due_ns >= begin_ns + i * UINT64_C(20000000));
		assert_numbered_frame(&frame, i, length_of(i));
	}
	assert_int_equal(wire->ops->rx(wire, &frame, 1), 0);
	assert_true(wire->ops->due_ns(wire) == UINT64_MAX);
	wire->ops->close(wire);
}

/** Cut the file at every length: whole frames are played, then it ends; a cut header is refused. */
static void
test_truncated(void **state)
{
	struct stat status;

	(void)state;
	write_capture(in_path, 3, 0, DLT_EN10MB);
	assert_int_equal(stat(in_path, &status), 0);
	for (off_t size = status.st_size - 1; size >= 0; size -= 13) {
		const struct shca_wire_conf conf = { .arg = in_path, .repeat = 1 };
		const struct shca_wire_ops *ops = shca_wire_find("pcap", 4);
		struct shca_wire *wire = NULL;
		unsigned int whole = 0;
		off_t end = 24;

		assert_int_equal(truncate(in_path, size), 0);
		for (unsigned int i = 0; i < 3; i++) {
			end += 16 + length_of(i);
			whole += end <= size;
		}
		if (size < 24) {
			assert_int_equal(ops->open(&conf, &wire), -EINVAL);
			continue;
		}
		assert_int_equal(ops->open(&conf, &wire), 0);
		assert_int_equal(play(wire, 3), whole);
		wire->ops->close(wire);
	}
}

static void
test_corrupt_record(void **state)
{
	static const uint32_t lengths[] = { 0xffffffff, 0x80000000, 0x10000000 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		const struct shca_wire_conf conf = { .arg = in_path, .repeat = 0 };
		struct shca_wire *wire;
		FILE *file;

		write_capture(in_path, 3, 0, DLT_EN10MB);
		file = fopen(in_path, "r+");
		/* The captured length of the second frame. */
		fseek(file, 24 + 16 + length_of(0) + 8, SEEK_SET);
		fwrite(&lengths[i], 4, 1, file);
		fclose(file);
		wire = open_wire("pcap", &conf);
		assert_int_equal(play(wire, 3), 1);
		wire->ops->close(wire);
	}
}

static void
test_refused(void **state)
{
	static const struct {
		const char *arg; /**< below the directory */
		int linktype;    /**< -1: no file */
		int error;
	} cases[] = {
		{ "/none", -1, -ENOENT },
		{ "", -1, -EINVAL },
		{ "/in", DLT_RAW, -EINVAL },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char arg[128];
		const struct shca_wire_conf conf = { .arg = arg, .repeat = 1 };
		struct shca_wire *wire = NULL;

		snprintf(arg, sizeof(arg), "%s%s", dir, cases[i].arg);
		if (cases[i].linktype >= 0)
			write_capture(arg, 1, 0, cases[i].linktype);
		assert_int_equal(shca_wire_find("pcap", 4)->open(&conf, &wire), cases[i].error);
		assert_null(wire);
	}
}

static void
test_never_records_over_what_it_plays(void **state)
{
	char arg[160];
	const struct shca_wire_conf conf = { .arg = arg, .repeat = 1 };
	struct shca_wire *wire = NULL;
	struct stat before, after;

	(void)state;
	write_capture(in_path, 3, 0, DLT_EN10MB);
	stat(in_path, &before);
	snprintf(arg, sizeof(arg), "%s:%s", in_path, in_path);
	assert_int_equal(shca_wire_find("pcap", 4)->open(&conf, &wire), -EINVAL);
	stat(in_path, &after);
	assert_int_equal(before.st_size, after.st_size);
}

/** Somebody records into the file that is played again and again: it has no frame yet. */
static void
test_capture_that_becomes_empty(void **state)
{
	const struct shca_wire_conf conf = { .arg = in_path, .repeat = 0 };
	struct shca_frame frames[64];
	struct shca_wire *wire;
	unsigned int nb = 0;

	(void)state;
	write_capture(in_path, 2, 0, DLT_EN10MB);
	wire = open_wire("pcap", &conf);
	wire->ops->start(wire);
	assert_true(wire->ops->rx(wire, frames, 64) != 0);
	write_capture(in_path, 0, 0, DLT_EN10MB);
	while (wire->ops->rx(wire, frames, 64) != 0)
		assert_true(++nb < 10);
	wire->ops->close(wire);
}

/** Who plays may leave the directory that the name begins at: the keeper of a card does. */
static void
test_repeat_from_elsewhere(void **state)
{
	const struct shca_wire_conf conf = { .arg = "in", .repeat = 3 };
	struct shca_wire *wire;

	(void)state;
	write_capture(in_path, 2, 0, DLT_EN10MB);
	assert_int_equal(chdir(dir), 0);
	wire = open_wire("pcap", &conf);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(play(wire, 2), 6);
	wire->ops->close(wire);
}

/** Each round is of what the name is of then. */
static void
test_repeat_by_link(void **state)
{
	char link_path[80], other[80];
	const struct shca_wire_conf conf = { .arg = link_path, .repeat = 2 };
	struct shca_frame frames[64];
	struct shca_wire *wire;
	unsigned int nb, nb_more;

	(void)state;
	snprintf(link_path, sizeof(link_path), "%s/link", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	write_capture(in_path, 2, 0, DLT_EN10MB);
	write_capture(other, 5, 0, DLT_EN10MB);
	assert_int_equal(symlink(in_path, link_path), 0);
	wire = open_wire("pcap", &conf);
	assert_int_equal(unlink(link_path), 0);
	assert_int_equal(symlink(other, link_path), 0);
	wire->ops->start(wire);
	for (nb = 0; (nb_more = wire->ops->rx(wire, frames, 64)) != 0; nb += nb_more)
		;
	assert_int_equal(nb, 2 + 5);
	wire->ops->close(wire);
	unlink(link_path);
	unlink(other);
}

/** As kernel side the argument is the record; a colon belongs to its name. */
static void
test_kernel_side_records(void **state)
{
	const struct shca_wire_conf conf = { .arg = out_path, .is_kernel_side = true };
	struct shca_wire *wire = open_wire("pcap", &conf);
	uint8_t bytes[100];
	struct shca_frame frame = numbered_frame(bytes, 0, length_of(0));
	const struct shca_wire_conf in_conf = { .arg = out_path, .repeat = 1 };

	(void)state;
	assert_int_equal(wire->ops->tx(wire, &frame, 1), 1);
	wire->ops->start(wire);
	assert_int_equal(wire->ops->rx(wire, &frame, 1), 0);
	wire->ops->close(wire);
	wire = open_wire("pcap", &in_conf);
	assert_int_equal(play(wire, 1), 1);
	wire->ops->close(wire);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_in_to_out),
		cmocka_unit_test(test_repeat),
		cmocka_unit_test(test_empty_capture_ends_though_repeated),
		cmocka_unit_test(test_capture_that_becomes_empty),
		cmocka_unit_test(test_repeat_from_elsewhere),
		cmocka_unit_test(test_repeat_by_link),
		cmocka_unit_test(test_no_frames_are_left_out),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_corrupt_record),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_never_records_over_what_it_plays),
		cmocka_unit_test(test_kernel_side_records),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
