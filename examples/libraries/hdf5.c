/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * hdf5: parallel HDF5 in thread ranks. Each rank writes its rows of one dataset, all
 * together; then each reads the rows of the next one back and compares. HDF5 keeps what
 * belongs to a rank in variables; tpsl gives each rank a copy of it, as of MPI.
 *
 *     hdf5 FILE
 */

#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 8, COLUMNS = 1000 };

static double value(long row, long column)
{
    return (double)row + (double)column / COLUMNS;
}

/* Opens the file for all ranks together. */
static hid_t file_of(const char *name, int create)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = create ? H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access) : H5Fopen(name, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return file;
}

/* Writes or reads the rows of a rank, in one collective call. */
static int transfer(hid_t dataset, int rank, double *rows, int writing)
{
    hsize_t start[] = {(hsize_t)rank * ROWS, 0}, count[] = {ROWS, COLUMNS};
    hid_t memory = H5Screate_simple(2, count, NULL);
    hid_t space = H5Dget_space(dataset);
    hid_t how = H5Pcreate(H5P_DATASET_XFER);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE);
    herr_t error = writing ? H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, how, rows)
                           : H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, how, rows);
    H5Pclose(how);
    H5Sclose(space);
    H5Sclose(memory);
    return error < 0;
}

static int write_rows(const char *name, int rank, int size, double *rows)
{
    hsize_t all[] = {(hsize_t)size * ROWS, COLUMNS};
    hid_t file = file_of(name, 1);
    hid_t space = H5Screate_simple(2, all, NULL);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(how, 0); /* equal runs make equal files */
    hid_t dataset = H5Dcreate2(file, "rows", H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        rows[i] = value((long)rank * ROWS + i / COLUMNS, i % COLUMNS);
    int wrong = transfer(dataset, rank, rows, 1);
    H5Dclose(dataset);
    H5Pclose(how);
    H5Sclose(space);
    return wrong | (H5Fclose(file) < 0);
}

/* Number of values that are not what the other rank wrote. */
static int compare_rows(const char *name, int other, double *rows)
{
    hid_t file = file_of(name, 0);
    hid_t dataset = H5Dopen2(file, "rows", H5P_DEFAULT);
    int wrong = transfer(dataset, other, rows, 0);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        wrong += rows[i] != value((long)other * ROWS + i / COLUMNS, i % COLUMNS);
    H5Dclose(dataset);
    H5Fclose(file);
    return wrong;
}

static int run(const char *name)
{
    int rank, size, all;
    double *rows = malloc(sizeof *rows * ROWS * COLUMNS);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int wrong = write_rows(name, rank, size, rows);
    wrong += compare_rows(name, (rank + 1) % size, rows);
    free(rows);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks wrote %d rows of %d columns, %d wrong\n", size, size * ROWS, COLUMNS, all);
    return all;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
#pragma omp parallel reduction(+ : wrong)
    {
        MPI_Init(&argc, &argv);
        wrong += run(argv[1]);
        MPI_Finalize();
    }
    return wrong != 0;
}
