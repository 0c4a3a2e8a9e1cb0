/* SPDX-License-Identifier: BSD-3-Clause */
/* TLPs of reads, writes and registers, by cases computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "pci/pci.h"

static const struct shca_pci_limits usual = { 256, 512, 64 };

/* clang-format off */
static const struct {
	const char *what;
	bool is_read;
	struct shca_pci_limits limits;
	uint64_t address, length;
	struct shca_pci_way to_host, to_device;
} cases[] = {
	{ "nothing", false, { 256, 512, 64 }, 0x1000, 0, { 0, 0 }, { 0, 0 } },
	{ "nothing read", true, { 256, 512, 64 }, 0x1000, 0, { 0, 0 }, { 0, 0 } },
	{ "a CQE", false, { 256, 512, 64 }, 0x1040, 64, { 1, 88 }, { 0, 0 } },
	{ "one payload", false, { 256, 512, 64 }, 0x1000, 256, { 1, 280 }, { 0, 0 } },
	{ "one byte more", false, { 256, 512, 64 }, 0x1000, 257, { 2, 48 + 256 + 4 }, { 0, 0 } },
	{ "a frame of 1514", false, { 256, 512, 64 }, 0x1080, 1514, { 6, 6 * 24 + 1516 }, { 0, 0 } },
	{ "the same by payloads of 128", false, { 128, 512, 64 }, 0x1080, 1514, { 12, 12 * 24 + 1516 },
		{ 0, 0 } },
	{ "over a page's end", false, { 256, 512, 64 }, 0x1fc0, 128, { 2, 48 + 128 }, { 0, 0 } },
	{ "a page's last byte and the next one", false, { 256, 512, 64 }, 0x1fff, 2, { 2, 48 + 8 }, { 0, 0 } },
	{ "one byte", false, { 256, 512, 64 }, 0x1003, 1, { 1, 28 }, { 0, 0 } },
	{ "bytes of two doublewords", false, { 256, 512, 64 }, 0x1002, 4, { 1, 24 + 8 }, { 0, 0 } },
	/* The doubleword at 0x1000 counts: 256 bytes from 0x1002 on do not fit. */
	{ "a payload askew", false, { 256, 512, 64 }, 0x1002, 256, { 2, 48 + 256 + 4 }, { 0, 0 } },
	{ "a record", true, { 256, 512, 64 }, 0x1008, 4, { 1, 24 }, { 1, 24 } },
	{ "a WQEBB", true, { 256, 512, 64 }, 0x1040, 64, { 1, 24 }, { 1, 84 } },
	{ "one request", true, { 256, 512, 64 }, 0x1000, 512, { 1, 24 }, { 2, 2 * 20 + 512 } },
	{ "a frame of 60", true, { 256, 512, 64 }, 0x1080, 60, { 1, 24 }, { 1, 80 } },
	/* Requests of 512, 512, 490; completions of 256, 256; 256, 256; 256, 234. */
	{ "a frame of 1514 read", true, { 256, 512, 64 }, 0x1000, 1514, { 3, 72 }, { 6, 6 * 20 + 1516 } },
	{ "the same in one request", true, { 256, 4096, 64 }, 0x1000, 1514, { 1, 24 }, { 6, 6 * 20 + 1516 } },
	/* The first completion ends at a boundary: 0x1020 to 0x1100 (224), then 32. */
	{ "askew", true, { 256, 512, 64 }, 0x1020, 256, { 1, 24 }, { 2, 40 + 256 } },
	{ "within a boundary's payload", true, { 256, 512, 64 }, 0x1020, 224, { 1, 24 }, { 1, 20 + 224 } },
	{ "boundary as long as the payload", true, { 128, 512, 128 }, 0x1040, 128, { 1, 24 },
		{ 2, 40 + 128 } },
	{ "read over a page's end", true, { 256, 4096, 64 }, 0x1f80, 256, { 2, 48 }, { 2, 40 + 256 } },
	{ "an odd address", true, { 256, 512, 64 }, 0x1001, 61, { 1, 24 }, { 1, 20 + 64 } },
};
/* clang-format on */

static void
check_way(const char *what, const char *way, struct shca_pci_way is, struct shca_pci_way want)
{
	if (is.tlps != want.tlps || is.bytes != want.bytes)
		fail_msg("%s, %s: %u TLPs of %u bytes, not %u of %u", what, way,
			(unsigned int)is.tlps, (unsigned int)is.bytes, (unsigned int)want.tlps,
			(unsigned int)want.bytes);
}

static void
memory_is_cut_by_the_rules(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_pci pci = { .limits = cases[i].limits };
		const struct shca_pci_count *count = &pci.count[SHCA_PCI_RX_DATA];

		(cases[i].is_read ? shca_pci_read : shca_pci_write)(
			&pci, SHCA_PCI_RX_DATA, cases[i].address, cases[i].length);
		check_way(cases[i].what, "to host", count->to_host, cases[i].to_host);
		check_way(cases[i].what, "to device", count->to_device, cases[i].to_device);
		assert_int_equal(count->data, cases[i].length);
		assert_int_equal(count->transactions, cases[i].length != 0);
	}
}

static void
a_register_is_written_towards_the_device(void **state)
{
	struct shca_pci pci = { .limits = usual };
	const struct shca_pci_count *count = &pci.count[SHCA_PCI_TX_DOORBELL];

	(void)state;
	shca_pci_register(&pci, SHCA_PCI_TX_DOORBELL, 8);
	shca_pci_register(&pci, SHCA_PCI_TX_DOORBELL, 64);
	check_way("two doorbells", "to host", count->to_host, (struct shca_pci_way){ 0, 0 });
	check_way("two doorbells", "to device", count->to_device,
		(struct shca_pci_way){ 2, 2 * 24 + 72 });
	assert_int_equal(count->data, 72);
	assert_int_equal(count->transactions, 2);
}

/** Each cause has counts of its own, and a name of its own. */
static void
causes_are_apart(void **state)
{
	struct shca_pci pci = { .limits = usual };

	(void)state;
	for (unsigned int i = 0; i < SHCA_PCI_NB_CAUSES; i++) {
		assert_int_equal(pci.count[i].transactions, 0);
		shca_pci_write(&pci, i, 0, 64);
		shca_pci_write(&pci, i, 64, 64);
		assert_int_equal(pci.count[i].to_host.bytes, 2 * 88);
		assert_non_null(shca_pci_cause_name(i));
		for (unsigned int other = 0; other < i; other++)
			assert_string_not_equal(shca_pci_cause_name(i), shca_pci_cause_name(other));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_cut_by_the_rules),
		cmocka_unit_test(a_register_is_written_towards_the_device),
		cmocka_unit_test(causes_are_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
