/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The configuration space, read as drivers read it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <linux/pci_regs.h>
#include "config/model.h"
#include "sysfs/pci_config.h"

static uint16_t
load16(const uint8_t *bytes, unsigned int offset)
{
	return (uint16_t)(bytes[offset] | bytes[offset + 1] << 8);
}

/** @return the offset of a capability, 0: none; the list must end. */
static unsigned int
find(const uint8_t *bytes, uint8_t id)
{
	unsigned int offset = bytes[PCI_CAPABILITY_LIST], nb = 0;

	assert_true(load16(bytes, PCI_STATUS) & PCI_STATUS_CAP_LIST);
	while (offset != 0 && bytes[offset] != id) {
		assert_true(offset >= 0x40 && offset % 4 == 0 && ++nb < 48);
		offset = bytes[offset + PCI_CAP_LIST_NEXT];
	}
	return offset;
}

static void
of_each_model(void **state)
{
	const struct shca_model *model;

	(void)state;
	for (unsigned int i = 0; (model = shca_model_at(i)) != NULL; i++) {
		for (unsigned int vf = 0; vf < 2; vf++) {
			uint8_t bytes[SHCA_PCI_CONFIG_BYTES];
			unsigned int msix, express;

			memset(bytes, 0x5a, sizeof(bytes));
			shca_pci_config(model, vf != 0, bytes);
			/* The kernel knows a function's identity from its card. */
			assert_int_equal(load16(bytes, PCI_VENDOR_ID), vf ? 0xffff : 0x15b3);
			assert_int_equal(
				load16(bytes, PCI_DEVICE_ID), vf ? 0xffff : model->pci_device_id);
			assert_int_equal(bytes[PCI_HEADER_TYPE], PCI_HEADER_TYPE_NORMAL);
			assert_int_equal(load16(bytes, PCI_CLASS_DEVICE), 0x0200);
			assert_true(load16(bytes, PCI_COMMAND) & PCI_COMMAND_MASTER);
			express = find(bytes, PCI_CAP_ID_EXP);
			assert_int_not_equal(express, 0);
			assert_int_equal(load16(bytes, express + PCI_EXP_FLAGS), 0x0002);
			assert_true(load16(bytes, express + PCI_EXP_DEVCAP + 2) &
				PCI_EXP_DEVCAP_FLR >> 16);
			msix = find(bytes, PCI_CAP_ID_MSIX);
			assert_int_not_equal(msix, 0);
			assert_int_equal(load16(bytes, msix + PCI_MSIX_FLAGS), 0x8000 | 63);
			assert_int_equal(find(bytes, PCI_CAP_ID_PM) == 0, vf);
			assert_int_equal(find(bytes, PCI_CAP_ID_MSI), 0);
		}
	}
}

/** Programs and the kernel read the revision there, which is ibv_device_attr.hw_ver. */
static void
of_a_revision(void **state)
{
	struct shca_model model = *shca_model_at(0);
	uint8_t bytes[SHCA_PCI_CONFIG_BYTES];

	(void)state;
	model.hw_ver = 0x1a;
	for (unsigned int vf = 0; vf < 2; vf++) {
		shca_pci_config(&model, vf != 0, bytes);
		assert_int_equal(bytes[PCI_REVISION_ID], 0x1a);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_each_model),
		cmocka_unit_test(of_a_revision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
