// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// hdf5xx: parallel HDF5 in C++ in thread ranks. Each rank writes its part of one dataset,
// reads the part of the next one back and compares; then it catches what HDF5 throws.
//
//     hdf5xx FILE

#include <H5Cpp.h>
#include <mpi.h>

#include <cstdio>
#include <vector>

static const hsize_t each = 1000;

// Selects a rank's part of the dataset.
static H5::DataSpace part_of(const H5::DataSet &dataset, int rank)
{
    const hsize_t start = rank * each;
    H5::DataSpace space = dataset.getSpace();
    space.selectHyperslab(H5S_SELECT_SET, &each, &start);
    return space;
}

static int exchange(const char *name, int rank, int size)
{
    H5::FileAccPropList access;
    H5Pset_fapl_mpio(access.getId(), MPI_COMM_WORLD, MPI_INFO_NULL);
    H5::H5File file(name, H5F_ACC_TRUNC, H5::FileCreatPropList::DEFAULT, access);
    H5::DSetCreatPropList how;
    H5Pset_obj_track_times(how.getId(), 0); // equal runs make equal files
    H5::DSetMemXferPropList together;
    H5Pset_dxpl_mpio(together.getId(), H5FD_MPIO_COLLECTIVE);
    const hsize_t all = size * each;
    H5::DataSet dataset = file.createDataSet("numbers", H5::PredType::NATIVE_DOUBLE, H5::DataSpace(1, &all), how);

    const int next = (rank + 1) % size;
    std::vector<double> mine(each, rank + 0.5), theirs(each);
    const H5::DataSpace memory(1, &each);
    dataset.write(mine.data(), H5::PredType::NATIVE_DOUBLE, memory, part_of(dataset, rank), together);
    dataset.read(theirs.data(), H5::PredType::NATIVE_DOUBLE, memory, part_of(dataset, next), together);
    int wrong = theirs != std::vector<double>(each, next + 0.5);
    try {
        H5::Exception::dontPrint();
        file.openDataSet("nothing");
        wrong++;
    } catch (const H5::FileIException &) {
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
#pragma omp parallel reduction(+ : failed)
    {
        int rank, size, all;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        int wrong = exchange(argv[1], rank, size);
        MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%d ranks wrote %d numbers each, %d wrong\n", size, static_cast<int>(each), all);
        failed = all;
        MPI_Finalize();
    }
    return failed != 0;
}
