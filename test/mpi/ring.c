/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring: each rank sends to the next one and receives from the last, messages of all sizes up to
 * 1 MiB; what comes must be the last one's. Then a sum over all ranks. Knows MPI alone.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES_MAX (1 << 20)

static uint8_t
content(int rank, int bytes, int at)
{
	return (uint8_t)(rank * 31 + bytes + at * 7);
}

/** @return how many bytes are wrong. */
static int
pass_on(int rank, int nb_ranks, int bytes, uint8_t *out, uint8_t *in)
{
	const int next = (rank + 1) % nb_ranks, last = (rank + nb_ranks - 1) % nb_ranks;
	int nb_wrong = 0, nb_came;
	MPI_Status status;

	for (int i = 0; i < bytes; i++) {
		out[i] = content(rank, bytes, i);
		in[i] = 0;
	}
	MPI_Sendrecv(out, bytes, MPI_BYTE, next, bytes, in, BYTES_MAX, MPI_BYTE, last, bytes,
		MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &nb_came);
	if (nb_came != bytes)
		return bytes + 1;
	for (int i = 0; i < bytes; i++)
		nb_wrong += in[i] != content(last, bytes, i);
	return nb_wrong;
}

int
main(int argc, char **argv)
{
	uint8_t *out = malloc(BYTES_MAX), *in = malloc(BYTES_MAX);
	int rank, nb_ranks, nb_wrong = 0, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nb_ranks);
	for (int bytes = 1; bytes <= BYTES_MAX; bytes *= 4)
		nb_wrong += pass_on(rank, nb_ranks, bytes, out, in);
	MPI_Allreduce(&nb_wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks, %d bytes wrong\n", nb_ranks, sum);
	MPI_Finalize();
	free(out);
	free(in);
	return sum == 0 ? 0 : 1;
}
