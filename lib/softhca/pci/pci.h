/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What crosses PCI for a device: transactions -> TLPs and bytes in each direction. Pure arithmetic.
 *
 * The model is pcie-bench's (Neugebauer et al., "Understanding PCIe performance for end host
 * networking", SIGCOMM 2018; their program's model/pcie.py): a TLP is its data and a header of so
 * many bytes, framing and link layer included; acknowledgements and flow control take a share of
 * the link instead (devtools/bench-pci). Beyond it, data counts in whole doublewords, as TLPs carry
 * it, and pieces are cut where PCI Express Base Specification 3.0 lets no TLP cross: 4 KiB (2.2.7),
 * and for completions the read completion boundary (2.3.1.1).
 *
 *     device writes memory     one TLP with data a piece of max_payload           to the host
 *     device reads memory      one request a piece of max_read                    to the host
 *                              one completion with data a piece of max_payload    to the device
 *     CPU writes a register    one TLP with data                                  to the device
 */
#ifndef SHCA_PCI_PCI_H
#define SHCA_PCI_PCI_H

#include <stdint.h>

/** Bytes of a TLP beside its data: 2 of framing, 6 of the link layer, 4 of every TLP's header, and
 * 12 of a request with an address of 64 bits or 8 of a completion. */
#define SHCA_PCI_REQUEST_BYTES    24
#define SHCA_PCI_COMPLETION_BYTES 20

/** Why something crosses. Records are words of doorbell records, which only the device reads over
 * PCI; data is that of frames. */
enum shca_pci_cause {
	SHCA_PCI_TX_DOORBELL,
	SHCA_PCI_TX_RECORD,
	SHCA_PCI_TX_WQE,
	SHCA_PCI_TX_DATA,
	SHCA_PCI_TX_CQE,
	SHCA_PCI_RX_RECORD,
	SHCA_PCI_RX_WQE,
	SHCA_PCI_RX_DATA,
	SHCA_PCI_RX_CQE,
	SHCA_PCI_CQ_RECORD,
	SHCA_PCI_CQ_ARM,
	SHCA_PCI_INTERRUPT,
	SHCA_PCI_NB_CAUSES,
};
/** @return as users write it. */
const char *shca_pci_cause_name(enum shca_pci_cause cause);

/** What crosses one way. */
struct shca_pci_way {
	uint64_t tlps;
	uint64_t bytes; /**< with headers */
};

struct shca_pci_count {
	uint64_t transactions; /**< reads or writes, before they are cut */
	uint64_t data;         /**< bytes that they are about */
	struct shca_pci_way to_host, to_device;
};

/** Limits of the path between device and host, in bytes: powers of two. */
struct shca_pci_limits {
	uint32_t max_payload, max_read;
	uint32_t completion_boundary; /**< at most max_payload */
};

/** Counts of a device. */
struct shca_pci {
	struct shca_pci_limits limits;
	struct shca_pci_count count[SHCA_PCI_NB_CAUSES];
};

/** The device writes @p length bytes at @p address of the host's memory; 0: nothing. */
void shca_pci_write(
	struct shca_pci *pci, enum shca_pci_cause cause, uint64_t address, uint64_t length);
/** The device reads them. */
void shca_pci_read(
	struct shca_pci *pci, enum shca_pci_cause cause, uint64_t address, uint64_t length);
/** The CPU writes a register of @p length bytes, at most 64. */
void shca_pci_register(struct shca_pci *pci, enum shca_pci_cause cause, uint32_t length);

#endif /* SHCA_PCI_PCI_H */
