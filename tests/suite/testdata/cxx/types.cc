// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// Datatypes: structures of C++, the columns of a matrix, what lies apart in memory,
// packing.

#include "check.h"

#include <complex>
#include <cstddef>

struct Particle {
    char name[5];
    double position[3];
    short charge;
};

static MPI_Datatype particle_type()
{
    const int lengths[] = {5, 3, 1};
    const MPI_Aint at[] = {offsetof(Particle, name), offsetof(Particle, position), offsetof(Particle, charge)};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    MPI_Datatype packed, type;
    MPI_Type_create_struct(3, lengths, at, types, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(Particle), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&packed);
    return type;
}

int body(int argc, char **argv)
{
    Check c(&argc, &argv);
    const int left = c.left(), right = c.right();

    MPI_Datatype type = particle_type();
    std::vector<Particle> out(4), in(4);
    for (int i = 0; i < 4; i++)
        out[i] = {{"abcd"}, {i + 0.5, c.rank * 1.0, -1}, static_cast<short>(10 * c.rank + i)};
    MPI_Sendrecv(out.data(), 4, type, right, 1, in.data(), 4, type, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    c.expect(std::string(in[3].name) == "abcd" && in[3].position[0] == 3.5 && in[2].position[1] == left && in[1].charge == 10 * left + 1, "particles");
    MPI_Type_free(&type);

    // A matrix turned round on its way: columns out, rows in.
    int matrix[5][4], turned[4][5];
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++)
            matrix[i][j] = 100 * c.rank + 10 * i + j;
    MPI_Datatype column, columns;
    MPI_Type_vector(5, 1, 4, MPI_INT, &column);
    MPI_Type_create_hvector(4, 1, sizeof(int), column, &columns);
    MPI_Type_commit(&columns);
    MPI_Sendrecv(matrix, 1, columns, right, 2, turned, 20, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    c.expect(turned[0][0] == 100 * left && turned[3][4] == 100 * left + 43 && turned[1][2] == 100 * left + 21, "turned");
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
    c.digest = turned[3][4];

    // Of the heap and of the stack, by absolute addresses.
    std::vector<double> heap(3, c.rank + 0.25);
    long stack = 7 * c.rank;
    MPI_Aint at[2];
    MPI_Get_address(heap.data(), &at[0]);
    MPI_Get_address(&stack, &at[1]);
    const int lengths[] = {3, 1};
    const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_LONG};
    MPI_Type_create_struct(2, lengths, at, parts, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv_replace(MPI_BOTTOM, 1, type, right, 3, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    c.expect(heap[2] == left + 0.25 && stack == 7 * left, "MPI_BOTTOM");

    MPI_Type_free(&type);

    char bytes[100];
    int position = 0, size;
    MPI_Pack(heap.data(), 3, MPI_DOUBLE, bytes, sizeof bytes, &position, MPI_COMM_WORLD);
    MPI_Pack(&stack, 1, MPI_LONG, bytes, sizeof bytes, &position, MPI_COMM_WORLD);
    MPI_Pack_size(3, MPI_DOUBLE, MPI_COMM_WORLD, &size);
    c.expect(position == 32 && size >= 24, "pack");
    heap.assign(3, 0);
    position = 0;
    MPI_Unpack(bytes, sizeof bytes, &position, heap.data(), 3, MPI_DOUBLE, MPI_COMM_WORLD);
    c.expect(heap[0] == left + 0.25, "unpack");

    const int whole[] = {4, 4, 4}, part[] = {2, 2, 2}, start[] = {1, 2, 0};
    int cube[64], corner[8];
    for (int i = 0; i < 64; i++)
        cube[i] = i + c.rank;
    MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(cube, 1, type, right, 4, corner, 8, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    c.expect(corner[0] == 24 + left && corner[7] == 45 + left, "subarray");
    MPI_Type_free(&type);

    std::complex<double> z(c.rank, 1), sum;
    MPI_Allreduce(&z, &sum, 1, MPI_CXX_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    c.expect(sum == std::complex<double>(c.ranks * (c.ranks - 1) / 2, c.ranks), "complex");
    bool some = c.rank == 1, any;
    MPI_Allreduce(&some, &any, 1, MPI_CXX_BOOL, MPI_LOR, MPI_COMM_WORLD);
    c.expect(any, "bool");
    return c.finish("cxx/types");
}
