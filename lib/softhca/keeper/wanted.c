/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper/wanted.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "keeper/message.h"

/** Pieces of one system call (IOV_MAX). */
#define PIECES_MAX 1024u

struct shca_wanted_kept {
	struct shca_wanted_range *piece;
	unsigned int nb, room;
	size_t nb_bytes; /**< of them all */
	uint8_t *bytes;  /**< one behind the other */
};

void
shca_wanted_fini(struct shca_wanted *wanted)
{
	free(wanted->range);
	*wanted = (struct shca_wanted){ 0 };
}

/** @return the number of ranges that end before @p address. */
static unsigned int
nb_before(const struct shca_wanted *wanted, uint64_t address)
{
	unsigned int low = 0, high = wanted->nb;

	while (low < high) {
		const unsigned int middle = low + (high - low) / 2;

		if (wanted->range[middle].to < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/** Put @p nb_new ranges in the place of @p nb_old from number @p first on. */
static void
replace(struct shca_wanted *wanted, unsigned int first, unsigned int nb_old,
	const struct shca_wanted_range *new, unsigned int nb_new)
{
	const unsigned int nb_behind = wanted->nb - first - nb_old;
	const unsigned int nb = first + nb_new + nb_behind;
	struct shca_wanted_range *more = wanted->range;

	if (nb > wanted->nb)
		more = reallocarray(wanted->range, nb, sizeof(*more));
	if (nb_old == 0 && nb_new == 0)
		return;
	if (more == NULL) {
		wanted->is_unknown = true;
		return;
	}
	wanted->range = more;
	if (nb_behind != 0)
		memmove(more + first + nb_new, more + first + nb_old, nb_behind * sizeof(*more));
	for (unsigned int i = 0; i < nb_new; i++)
		more[first + i] = new[i];
	wanted->nb = nb;
}

void
shca_wanted_add(struct shca_wanted *wanted, uint64_t from, uint64_t to)
{
	const unsigned int first = nb_before(wanted, from);
	struct shca_wanted_range new = { from, to };
	unsigned int end = first;

	for (; end < wanted->nb && wanted->range[end].from <= to; end++) {
		if (wanted->range[end].from < new.from)
			new.from = wanted->range[end].from;
		if (wanted->range[end].to > new.to)
			new.to = wanted->range[end].to;
	}
	replace(wanted, first, end - first, &new, 1);
}

void
shca_wanted_remove(struct shca_wanted *wanted, uint64_t from, uint64_t to)
{
	const unsigned int first = nb_before(wanted, from);
	struct shca_wanted_range left[2];
	unsigned int end = first, nb_left = 0;

	for (; end < wanted->nb && wanted->range[end].from < to; end++) {
		const struct shca_wanted_range *range = &wanted->range[end];

		if (range->from < from)
			left[nb_left++] = (struct shca_wanted_range){ range->from, from };
		if (range->to > to)
			left[nb_left++] = (struct shca_wanted_range){ to, range->to };
	}
	replace(wanted, first, end - first, left, nb_left);
}

static bool
add_piece(struct shca_wanted_kept *kept, uint64_t from, uint64_t to)
{
	struct shca_wanted_range *more = kept->piece;

	if (from >= to)
		return true;
	if (kept->nb == kept->room) {
		kept->room = kept->room != 0 ? 2 * kept->room : 64;
		more = reallocarray(kept->piece, kept->room, sizeof(*more));
		if (more == NULL)
			return false;
		kept->piece = more;
	}
	more[kept->nb++] = (struct shca_wanted_range){ from, to };
	kept->nb_bytes += (size_t)(to - from);
	return true;
}

/** Add what is between the wanted ranges of a mapping. */
static bool
add_mapping(
	struct shca_wanted_kept *kept, const struct shca_wanted *wanted, uint64_t from, uint64_t to)
{
	bool works = true;

	for (unsigned int i = nb_before(wanted, from);
		works && i < wanted->nb && wanted->range[i].from < to; i++) {
		works = add_piece(kept, from, wanted->range[i].from);
		from = wanted->range[i].to > from ? wanted->range[i].to : from;
	}
	return works && add_piece(kept, from, to);
}

static bool
find_pieces(struct shca_wanted_kept *kept, const struct shca_wanted *wanted, pid_t pid)
{
	char path[32], *line = NULL;
	uint64_t from, to;
	bool works = true;
	size_t size = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps != NULL && works && getline(&line, &size, maps) > 0)
		if (strstr(line, "/memfd:" SHCA_MESSAGE_MEMORY) != NULL &&
			strstr(line, " rw") != NULL &&
			sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2)
			works = add_mapping(kept, wanted, from, to);
	free(line);
	if (maps != NULL)
		fclose(maps);
	return works && maps != NULL;
}

/** Read all pieces. */
static bool
read_pieces(const struct shca_wanted_kept *kept, pid_t pid, uint8_t *bytes)
{
	struct iovec from[PIECES_MAX];
	bool works = true;

	for (unsigned int first = 0; works && first < kept->nb; first += PIECES_MAX) {
		const unsigned int left = kept->nb - first;
		const unsigned int nb = left < PIECES_MAX ? left : PIECES_MAX;
		struct iovec to = { .iov_base = bytes };

		for (unsigned int i = 0; i < nb; i++) {
			const struct shca_wanted_range *piece = &kept->piece[first + i];

			from[i] = (struct iovec){ (void *)(uintptr_t)piece->from,
				(size_t)(piece->to - piece->from) };
			to.iov_len += from[i].iov_len;
		}
		works = process_vm_readv(pid, &to, 1, from, nb, 0) == (ssize_t)to.iov_len;
		bytes += to.iov_len;
	}
	return works;
}

static void
free_kept(struct shca_wanted_kept *kept)
{
	free(kept->piece);
	free(kept->bytes);
	free(kept);
}

struct shca_wanted_kept *
shca_wanted_keep(const struct shca_wanted *wanted, pid_t pid)
{
	struct shca_wanted_kept *kept =
		wanted->is_unknown ? NULL : calloc(1, sizeof(struct shca_wanted_kept));

	if (kept == NULL)
		return NULL;
	if (find_pieces(kept, wanted, pid) && kept->nb != 0) {
		kept->bytes = malloc(kept->nb_bytes);
		if (kept->bytes != NULL && read_pieces(kept, pid, kept->bytes))
			return kept;
	}
	free_kept(kept);
	return NULL;
}

void
shca_wanted_put_back(struct shca_wanted_kept *kept, pid_t pid)
{
	uint8_t *now = kept != NULL ? malloc(kept->nb_bytes) : NULL;
	size_t at = 0, length;

	if (kept == NULL)
		return;
	if (now == NULL || !read_pieces(kept, pid, now))
		kept->nb = 0; /* it has ended */
	for (unsigned int i = 0; i < kept->nb; i++, at += length) {
		const struct shca_wanted_range *piece = &kept->piece[i];
		struct iovec from, to;

		length = (size_t)(piece->to - piece->from);
		if (memcmp(now + at, kept->bytes + at, length) == 0)
			continue;
		from = (struct iovec){ kept->bytes + at, length };
		to = (struct iovec){ (void *)(uintptr_t)piece->from, length };
		(void)process_vm_writev(pid, &from, 1, &to, 1, 0);
	}
	free(now);
	free_kept(kept);
}
