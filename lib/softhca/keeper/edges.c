/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper/edges.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/uio.h>

#define PAGE_BYTES 4096u
/** Both are larger; the head of a chunk of malloc() is not. */
#define LEAST_BYTES 512u

struct shca_edges_kept {
	unsigned int nb;
	struct kept {
		uint64_t start;
		size_t length; /**< 0: it could not be read */
		uint8_t bytes[PAGE_BYTES];
	} edge[];
};

void
shca_edges_fini(struct shca_edges *edges)
{
	free(edges->edge);
	*edges = (struct shca_edges){ 0 };
}

static bool
is_first_part(const struct shca_edge *edge)
{
	return edge->start == edge->page;
}

/** Of two edges at one end of a page both are wanted by somebody: the smaller one is nobody's. */
static bool
merge(struct shca_edges *edges, const struct shca_edge *new)
{
	for (unsigned int i = 0; i < edges->nb; i++) {
		struct shca_edge *edge = &edges->edge[i];

		if (edge->page != new->page || is_first_part(edge) != is_first_part(new))
			continue;
		if (new->length < edge->length)
			*edge = *new;
		return true;
	}
	return false;
}

void
shca_edges_note(struct shca_edges *edges, uint64_t page, uint64_t start, uint64_t length)
{
	const struct shca_edge new = { page, start, length };
	struct shca_edge *more;

	if (length < LEAST_BYTES || merge(edges, &new))
		return;
	/* Without memory it is as if the page were wanted as a whole. */
	more = reallocarray(edges->edge, edges->nb + 1, sizeof(*more));
	if (more == NULL)
		return;
	edges->edge = more;
	more[edges->nb++] = new;
}

void
shca_edges_want(struct shca_edges *edges, uint64_t address, uint64_t length)
{
	for (unsigned int i = 0; i < edges->nb; i++) {
		struct shca_edge *edge = &edges->edge[i];
		const uint64_t end = edge->start + edge->length;

		if (address >= end || address + length <= edge->start)
			continue;
		if (is_first_part(edge)) {
			edge->length = address > edge->start ? address - edge->start : 0;
		} else {
			edge->start = address + length < end ? address + length : end;
			edge->length = end - edge->start;
		}
	}
}

struct shca_edges_kept *
shca_edges_keep(const struct shca_edges *edges, pid_t pid)
{
	struct shca_edges_kept *kept =
		edges->nb != 0 ? malloc(sizeof(*kept) + edges->nb * sizeof(kept->edge[0])) : NULL;

	if (kept == NULL)
		return NULL;
	kept->nb = edges->nb;
	for (unsigned int i = 0; i < kept->nb; i++) {
		struct kept *edge = &kept->edge[i];
		const struct iovec to = { edge->bytes, edges->edge[i].length };
		const struct iovec from = { (void *)(uintptr_t)edges->edge[i].start, to.iov_len };

		edge->start = edges->edge[i].start;
		edge->length = process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)to.iov_len
			? to.iov_len
			: 0; /* it is not mapped any more */
	}
	return kept;
}

void
shca_edges_put_back(struct shca_edges_kept *kept, pid_t pid)
{
	for (unsigned int i = 0; kept != NULL && i < kept->nb; i++) {
		const struct kept *edge = &kept->edge[i];
		const struct iovec from = { (void *)(uintptr_t)edge->bytes, edge->length };
		const struct iovec to = { (void *)(uintptr_t)edge->start, edge->length };

		if (edge->length != 0)
			(void)process_vm_writev(pid, &from, 1, &to, 1, 0);
	}
	free(kept);
}
