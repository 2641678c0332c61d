/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 */

/* runhdf5 FILE: ranks of several jobs, one after the other, write a file together with HDF5, of which each rank has a copy. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

static int write_and_read(void *file)
{
    int rank, ranks, value, back = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    value = 10 * rank + ranks;
    hsize_t all = (hsize_t)ranks, one = 1, at = (hsize_t)rank;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t f = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(1, &all, NULL), mine = H5Screate_simple(1, &one, NULL);
    hid_t data = H5Dcreate(f, "data", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
    int error = H5Dwrite(data, H5T_NATIVE_INT, mine, space, H5P_DEFAULT, &value) < 0;
    H5Fflush(f, H5F_SCOPE_GLOBAL);
    MPI_Barrier(MPI_COMM_WORLD);
    at = (hsize_t)((rank + 1) % ranks);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
    error |= H5Dread(data, H5T_NATIVE_INT, mine, space, H5P_DEFAULT, &back) < 0;
    H5Dclose(data);
    H5Sclose(mine);
    H5Sclose(space);
    H5Fclose(f);
    H5Pclose(access);
    return error || back != 10 * (int)at + ranks;
}

int main(int argc, char **argv)
{
    for (int ranks = 1; ranks <= 4; ranks++)
        printf("%d ranks: %d\n", ranks, TPSL_Run(ranks, write_and_read, argv[1], NULL));
    return 0;
}
