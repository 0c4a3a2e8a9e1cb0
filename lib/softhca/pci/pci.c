/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes of memory, and writes of registers -> TLPs. */
#include "pci/pci.h"

#define PAGE_BYTES  4096u
#define DWORD_BYTES 4u

const char *
shca_pci_cause_name(enum shca_pci_cause cause)
{
	static const char *const names[SHCA_PCI_NB_CAUSES] = {
		[SHCA_PCI_TX_DOORBELL] = "tx_doorbell",
		[SHCA_PCI_TX_RECORD] = "tx_record",
		[SHCA_PCI_TX_WQE] = "tx_wqe",
		[SHCA_PCI_TX_DATA] = "tx_data",
		[SHCA_PCI_TX_CQE] = "tx_cqe",
		[SHCA_PCI_RX_RECORD] = "rx_record",
		[SHCA_PCI_RX_WQE] = "rx_wqe",
		[SHCA_PCI_RX_DATA] = "rx_data",
		[SHCA_PCI_RX_CQE] = "rx_cqe",
		[SHCA_PCI_CQ_RECORD] = "cq_record",
		[SHCA_PCI_CQ_ARM] = "cq_arm",
		[SHCA_PCI_INTERRUPT] = "interrupt",
	};

	return names[cause];
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
align_down(uint64_t value, uint64_t to)
{
	return value & ~(to - 1);
}

/** Bytes from @p start to @p end, in whole doublewords. */
static uint64_t
dwords(uint64_t start, uint64_t end)
{
	return align_down(end + DWORD_BYTES - 1, DWORD_BYTES) - align_down(start, DWORD_BYTES);
}

static void
add_data(struct shca_pci_way *way, uint32_t header, uint64_t start, uint64_t end)
{
	way->tlps++;
	way->bytes += header + dwords(start, end);
}

/** @return where the piece of at most @p max bytes ends that begins at @p start. */
static uint64_t
piece_end(uint64_t start, uint64_t end, uint32_t max)
{
	/* The doubleword that a piece begins in takes all of its bytes. */
	const uint64_t longest = align_down(start, DWORD_BYTES) + max;

	return least(end, least(longest, align_down(start, PAGE_BYTES) + PAGE_BYTES));
}

void
shca_pci_write(struct shca_pci *pci, enum shca_pci_cause cause, uint64_t address, uint64_t length)
{
	struct shca_pci_count *count = &pci->count[cause];
	const uint64_t end = address + length;

	count->transactions += length != 0;
	count->data += length;
	for (uint64_t at = address, next; at < end; at = next) {
		next = piece_end(at, end, pci->limits.max_payload);
		add_data(&count->to_host, SHCA_PCI_REQUEST_BYTES, at, next);
	}
}

/** Completions of one request: each but the last ends at the completion boundary. */
static void
complete(struct shca_pci *pci, struct shca_pci_way *way, uint64_t address, uint64_t end)
{
	for (uint64_t at = address, next; at < end; at = next) {
		next = align_down(at, DWORD_BYTES) + pci->limits.max_payload;
		next = least(end, align_down(next, pci->limits.completion_boundary));
		add_data(way, SHCA_PCI_COMPLETION_BYTES, at, next);
	}
}

void
shca_pci_read(struct shca_pci *pci, enum shca_pci_cause cause, uint64_t address, uint64_t length)
{
	struct shca_pci_count *count = &pci->count[cause];
	const uint64_t end = address + length;

	count->transactions += length != 0;
	count->data += length;
	for (uint64_t at = address, next; at < end; at = next) {
		next = piece_end(at, end, pci->limits.max_read);
		count->to_host.tlps++;
		count->to_host.bytes += SHCA_PCI_REQUEST_BYTES;
		complete(pci, &count->to_device, at, next);
	}
}

void
shca_pci_register(struct shca_pci *pci, enum shca_pci_cause cause, uint32_t length)
{
	struct shca_pci_count *count = &pci->count[cause];

	count->transactions++;
	count->data += length;
	add_data(&count->to_device, SHCA_PCI_REQUEST_BYTES, 0, length);
}
