// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * Collective operations that ranks reach by different paths: even ranks call the names of C, odd ones those of Fortran, or those with
 * large counts; the MPI library calls them itself when files are opened; functions of attributes call them in MPI_Finalize. Argument: a
 * file that is made.
 */
#include <mpi.h>
#include <stdio.h>

#include "each_rank.h"

void mpi_barrier_(MPI_Fint *comm, MPI_Fint *error);
void mpi_bcast_(void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *error);
void mpi_allreduce_(void *from, void *to, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *error);

static void languages(int rank, int *told, int *sum)
{
    MPI_Fint comm = MPI_Comm_c2f(MPI_COMM_WORLD), type = MPI_Type_c2f(MPI_INT), op = MPI_Op_c2f(MPI_SUM), one = 1, root = 0, error;

    *told = rank == 0 ? 42 : 0;
    if (rank % 2) {
        mpi_barrier_(&comm, &error);
        mpi_bcast_(told, &one, &type, &root, &comm, &error);
        mpi_allreduce_(&rank, sum, &one, &type, &op, &comm, &error);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(told, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&rank, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* By large counts, and from an address that the datatype has. */
static int large(int rank)
{
    int value = rank == 1 ? 17 : 0, blocks = 1, sum = 0;
    MPI_Aint address;
    MPI_Datatype here, type = MPI_INT;

    MPI_Get_address(&value, &address);
    MPI_Type_create_struct(1, &blocks, &address, &type, &here);
    MPI_Type_commit(&here);
    if (rank % 2)
        MPI_Bcast_c(MPI_BOTTOM, 1, here, 1, MPI_COMM_WORLD);
    else
        MPI_Bcast(MPI_BOTTOM, 1, here, 1, MPI_COMM_WORLD);
    MPI_Type_free(&here);
    if (rank % 2)
        MPI_Allreduce_c(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* Returns how many bytes are in a file to which each rank has written one. */
static long file(const char *name, int rank)
{
    MPI_File f;
    MPI_Offset size;
    char byte = 'a';

    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_write_at_all(f, rank, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    MPI_File_get_size(f, &size);
    MPI_File_close(&f);
    return size;
}

/* Returns how many sums of fractions are not those of ranks 0, 1, 2 and so on in this order, to the last bit. */
static int out_of_order(int rank)
{
    enum { MOST = 1000 };
    static const int lengths[] = {1, 6, 7, MOST};
    double in[MOST], out[MOST], at_root[MOST];
    int wrong = 0, size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < MOST; i++)
        in[i] = 1.0 / (3 + 7 * rank + i);
    for (int l = 0; l < 4; l++) {
        MPI_Allreduce(in, out, lengths[l], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Reduce(in, at_root, lengths[l], MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
        for (int i = 0; i < lengths[l]; i++) {
            double sum = 1.0 / (3 + i);
            for (int r = 1; r < size; r++)
                sum += 1.0 / (3 + 7 * r + i);
            wrong += out[i] != sum || (rank == 1 && at_root[i] != sum);
        }
    }
    return wrong;
}

static int meet_again(MPI_Comm self, int key, void *value, void *extra)
{
    int one = 1, sum = 0, size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size)
        printf("%d ranks in MPI_Finalize\n", sum);
    return MPI_SUCCESS;
}

static void be_rank(int *argc, char ***argv)
{
    int rank, told, sum = 0, key;

    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, meet_again, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Comm_free_keyval(&key);
    languages(rank, &told, &sum);
    printf("rank %d: %d, %d, %d, %ld, %d\n", rank, told, sum, large(rank), file((*argv)[1], rank), out_of_order(rank));
    fflush(stdout);
    MPI_Finalize();
}
