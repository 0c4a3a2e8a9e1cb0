/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided: each rank puts numbers into the next one's window, gets them back, and adds to
 * counters of rank 0's. Knows MPI alone.
 */
#include <mpi.h>
#include <stdio.h>

enum {
	NB = 4096, /* numbers of a rank */
	ROUNDS = 50,
	/* Behind them, counters. */
	FETCHED = NB,
	ADDED,
	SWAPPED,
	NB_ALL,
};

/** @return how many numbers are not those of @p rank. */
static int
count_wrong(const long *numbers, int rank)
{
	int nb_wrong = 0;

	for (int i = 0; i < NB; i++)
		nb_wrong += numbers[i] != rank * (long)NB + i;
	return nb_wrong;
}

static void
add(MPI_Win window)
{
	const long one = 1, none = -1;
	long old;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, FETCHED, MPI_SUM, window);
		MPI_Accumulate(&one, 1, MPI_LONG, 0, ADDED, 1, MPI_LONG, MPI_SUM, window);
		MPI_Compare_and_swap(&one, &none, &old, MPI_LONG, 0, SWAPPED, window);
		MPI_Win_flush(0, window);
	}
}

int
main(int argc, char *argv[])
{
	static long numbers[NB], got[NB];
	int rank, nb_ranks, nb_wrong, sum;
	MPI_Win window;
	long *own;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nb_ranks);
	for (int i = 0; i < NB; i++)
		numbers[i] = rank * (long)NB + i;
	MPI_Win_allocate(NB_ALL * sizeof(*own), sizeof(*own), MPI_INFO_NULL, MPI_COMM_WORLD,
		(void *)&own, &window);
	for (int i = 0; i < NB_ALL; i++)
		own[i] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_fence(0, window);
	MPI_Put(numbers, NB, MPI_LONG, (rank + 1) % nb_ranks, 0, NB, MPI_LONG, window);
	MPI_Win_fence(0, window);
	nb_wrong = count_wrong(own, (rank + nb_ranks - 1) % nb_ranks);
	MPI_Win_lock_all(0, window);
	MPI_Get(got, NB, MPI_LONG, (rank + 1) % nb_ranks, 0, NB, MPI_LONG, window);
	MPI_Win_flush_all(window);
	nb_wrong += count_wrong(got, rank);
	add(window);
	MPI_Win_unlock_all(window);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		nb_wrong += (own[FETCHED] != (long)ROUNDS * nb_ranks) +
			(own[ADDED] != (long)ROUNDS * nb_ranks) + (own[SWAPPED] != 0);
	MPI_Reduce(&nb_wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks, %d numbers wrong\n", nb_ranks, sum);
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
