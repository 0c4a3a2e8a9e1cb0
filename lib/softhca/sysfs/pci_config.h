/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The first 256 bytes of a function's PCI configuration space, as sysfs shows them. */
#ifndef SHCA_SYSFS_PCI_CONFIG_H
#define SHCA_SYSFS_PCI_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct shca_model;

#define SHCA_PCI_CONFIG_BYTES 256

/** Write them, with the list of capabilities: PCI Express, MSI-X and, of a physical function, power
 * management. No BAR is mapped. Immutable: who writes to the file changes nothing. */
void shca_pci_config(
	const struct shca_model *model, bool is_vf, uint8_t bytes[SHCA_PCI_CONFIG_BYTES]);

#endif /* SHCA_SYSFS_PCI_CONFIG_H */
