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

/* Returns how many blocks are wrong that ranks give to each other, by counts of both widths. Rank i gives i + 1 elements to each. */
static int wrong_blocks(int rank)
{
    enum { MOST = 16 };
    int size, mine[MOST], all[MOST * MOST], sent[MOST], sent_at[MOST], got[MOST], at[MOST], wrong = 0, next = 0;
    MPI_Count large_sent[MOST], large_got[MOST];
    MPI_Aint large_sent_at[MOST], large_at[MOST];

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; i++) {
        mine[i] = 100 * rank;
        large_sent[i] = sent[i] = rank + 1;
        large_sent_at[i] = sent_at[i] = 0;
        large_got[i] = got[i] = i + 1;
        large_at[i] = at[i] = next;
        next += i + 1;
    }
    for (int call = 0; call < 2; call++) {
        for (int i = 0; i < next; i++)
            all[i] = -1;
        if (call == 0 && rank % 2)
            MPI_Allgatherv_c(mine, rank + 1, MPI_INT, all, large_got, large_at, MPI_INT, MPI_COMM_WORLD);
        else if (call == 0)
            MPI_Allgatherv(mine, rank + 1, MPI_INT, all, got, at, MPI_INT, MPI_COMM_WORLD);
        else if (rank % 2)
            MPI_Alltoallv_c(mine, large_sent, large_sent_at, MPI_INT, all, large_got, large_at, MPI_INT, MPI_COMM_WORLD);
        else
            MPI_Alltoallv(mine, sent, sent_at, MPI_INT, all, got, at, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            for (int j = 0; j <= i; j++)
                wrong += all[at[i] + j] != 100 * i;
    }
    return wrong;
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
    double in[MOST], out[MOST], at_root[MOST], up_to[MOST], before[MOST], part[MOST];
    int wrong = 0, size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < MOST; i++)
        in[i] = 1.0 / (3 + 7 * rank + i);
    for (int l = 0; l < 4; l++) {
        MPI_Allreduce(in, out, lengths[l], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Reduce(in, at_root, lengths[l], MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
        MPI_Scan(in, up_to, lengths[l], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Exscan(in, before, lengths[l], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        int block = lengths[l] / size;
        MPI_Reduce_scatter_block(in, part, block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < lengths[l]; i++) {
            double sum = 0;
            for (int r = 0; r < size; r++) {
                wrong += r > 0 && r == rank && before[i] != sum;
                sum = r == 0 ? 1.0 / (3 + i) : sum + 1.0 / (3 + 7 * r + i);
                wrong += r == rank && up_to[i] != sum;
            }
            wrong += out[i] != sum || (rank == 1 && at_root[i] != sum) || (block && i / block == rank && part[i % block] != sum);
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
    int total = large(rank);
    long bytes = file((*argv)[1], rank);
    int disorder = out_of_order(rank), blocks = wrong_blocks(rank);
    printf("rank %d: %d, %d, %d, %ld, %d, %d\n", rank, told, sum, total, bytes, disorder, blocks);
    fflush(stdout);
    MPI_Finalize();
}
