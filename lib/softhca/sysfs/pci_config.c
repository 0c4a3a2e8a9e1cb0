/* SPDX-License-Identifier: BSD-3-Clause */
/** @file PCI configuration space: one row a register, little-endian. */
#include "sysfs/pci_config.h"

#include <linux/pci_regs.h>
#include <stddef.h>
#include <string.h>
#include "config/model.h"

#define VENDOR_MELLANOX    0x15b3
#define SUBSYSTEM          0x0001
#define CLASS_ETHERNET     0x02
#define VENDOR_OF_FUNCTION 0xffff /* of a virtual function: SR-IOV specification 1.1, 3.4.1.1 */

/** @{ Where ConnectX cards have their capabilities, as lspci -v shows them. */
#define CAP_PM   0x40
#define CAP_EXP  0x60
#define CAP_MSIX 0x9c
/** @} */

#define NB_VECTORS   64
#define MSIX_TABLE   0x2000
#define MSIX_PENDING 0x3000
#define WIDTH_16     (16 << 4) /* PCI_EXP_LNKCAP_MLW, PCI_EXP_LNKSTA_NLW */

enum {
	PF = 1,
	VF = 2,
	BOTH = PF | VF,
};

struct reg {
	uint8_t offset, bytes, functions;
	uint32_t value;
};

/* clang-format off */
static const struct reg regs[] = {
	{ PCI_VENDOR_ID, 2, PF, VENDOR_MELLANOX },
	{ PCI_VENDOR_ID, 2, VF, VENDOR_OF_FUNCTION },
	{ PCI_DEVICE_ID, 2, VF, VENDOR_OF_FUNCTION },
	{ PCI_COMMAND, 2, PF, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE },
	{ PCI_COMMAND, 2, VF, PCI_COMMAND_MASTER },
	{ PCI_STATUS, 2, BOTH, PCI_STATUS_CAP_LIST },
	{ PCI_CLASS_DEVICE + 1, 1, BOTH, CLASS_ETHERNET },
	{ PCI_SUBSYSTEM_VENDOR_ID, 2, BOTH, VENDOR_MELLANOX },
	{ PCI_SUBSYSTEM_ID, 2, BOTH, SUBSYSTEM },
	{ PCI_CAPABILITY_LIST, 1, BOTH, CAP_EXP },
	{ PCI_INTERRUPT_PIN, 1, PF, 1 },

	{ CAP_EXP + PCI_CAP_LIST_ID, 1, BOTH, PCI_CAP_ID_EXP },
	{ CAP_EXP + PCI_CAP_LIST_NEXT, 1, BOTH, CAP_MSIX },
	{ CAP_EXP + PCI_EXP_FLAGS, 2, BOTH, 2 /* version */ | PCI_EXP_TYPE_ENDPOINT << 4 },
	{ CAP_EXP + PCI_EXP_DEVCAP, 4, BOTH, 2 /* payload of 512 */ | PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR },
	{ CAP_EXP + PCI_EXP_DEVCTL, 2, PF, PCI_EXP_DEVCTL_PAYLOAD_256B | PCI_EXP_DEVCTL_READRQ_512B },
	{ CAP_EXP + PCI_EXP_LNKCAP, 4, BOTH, PCI_EXP_LNKCAP_SLS_8_0GB | WIDTH_16 },
	{ CAP_EXP + PCI_EXP_LNKSTA, 2, PF, PCI_EXP_LNKSTA_CLS_8_0GB | WIDTH_16 },

	{ CAP_MSIX + PCI_CAP_LIST_ID, 1, BOTH, PCI_CAP_ID_MSIX },
	{ CAP_MSIX + PCI_CAP_LIST_NEXT, 1, PF, CAP_PM },
	{ CAP_MSIX + PCI_MSIX_FLAGS, 2, BOTH, (NB_VECTORS - 1) | PCI_MSIX_FLAGS_ENABLE },
	{ CAP_MSIX + PCI_MSIX_TABLE, 4, BOTH, MSIX_TABLE },
	{ CAP_MSIX + PCI_MSIX_PBA, 4, BOTH, MSIX_PENDING },

	{ CAP_PM + PCI_CAP_LIST_ID, 1, PF, PCI_CAP_ID_PM },
	{ CAP_PM + PCI_PM_PMC, 2, PF, 3 /* version */ },
};
/* clang-format on */

static void
store(uint8_t *bytes, const struct reg *reg)
{
	for (uint8_t i = 0; i < reg->bytes; i++)
		bytes[reg->offset + i] = (uint8_t)(reg->value >> 8 * i);
}

void
shca_pci_config(const struct shca_model *model, bool is_vf, uint8_t bytes[SHCA_PCI_CONFIG_BYTES])
{
	const struct reg id = { PCI_DEVICE_ID, 2, PF, model->pci_device_id };
	const struct reg revision = { PCI_REVISION_ID, 1, BOTH, model->hw_ver };
	const uint8_t function = is_vf ? VF : PF;

	memset(bytes, 0, SHCA_PCI_CONFIG_BYTES);
	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		if (regs[i].functions & function)
			store(bytes, &regs[i]);
	store(bytes, &revision);
	if (!is_vf)
		store(bytes, &id);
}
