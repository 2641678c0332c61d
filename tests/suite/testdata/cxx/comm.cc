// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// Communicators: many of them, groups, and the handles that Fortran knows.

#include "check.h"

int body(int argc, char **argv)
{
    Check c(&argc, &argv);

#ifdef MPI_ABI_VERSION
    // The standard ABI has numbers of handles, but no libraries for Fortran.
    c.expect(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD, "communicator");
    c.expect(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE, "datatype");
    c.expect(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM, "operation");
    c.expect(MPI_Group_fromint(MPI_Group_toint(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY, "group");
    c.expect(MPI_Info_fromint(MPI_Info_toint(MPI_INFO_ENV)) == MPI_INFO_ENV, "info");
    c.expect(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL, "file");
#else
    // Fortran's handles and statuses, there and back.
    c.expect(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD, "communicator");
    c.expect(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE, "datatype");
    c.expect(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM, "operation");
    c.expect(MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY, "group");
    c.expect(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_ENV)) == MPI_INFO_ENV, "info");
    c.expect(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL, "file");
    MPI_Status status, again;
    MPI_Fint fortran[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    int x = c.rank, y;
    MPI_Sendrecv(&x, 1, MPI_INT, c.right(), 12, &y, 1, MPI_INT, c.left(), 12, MPI_COMM_WORLD, &status);
    MPI_Status_c2f(&status, fortran);
    MPI_Status_f2c(fortran, &again);
    c.expect(again.MPI_SOURCE == c.left() && again.MPI_TAG == 12, "status");
#endif

    // Ten duplicates, used backwards, freed forwards.
    std::vector<MPI_Comm> many(10);
    for (auto &comm : many)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    long sum = 0;
    for (int i = 9; i >= 0; i--) {
        long part = i * (c.rank + 1L);
        MPI_Allreduce(MPI_IN_PLACE, &part, 1, MPI_LONG, MPI_SUM, many[i]);
        sum += part;
    }
    c.expect(sum == 9L * 10 / 2 * c.ranks * (c.ranks + 1) / 2, "duplicates");
    for (auto &comm : many)
        MPI_Comm_free(&comm);
    c.digest = sum;

    MPI_Group world, odd, rest;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int range[1][3] = {{1, c.ranks - 1, 2}};
    MPI_Group_range_incl(world, 1, range, &odd);
    MPI_Group_excl(world, 1, &range[0][0], &rest);
    int n;
    MPI_Group_size(rest, &n);
    c.expect(n == c.ranks - 1, "excl");
    MPI_Comm sub = MPI_COMM_NULL;
    if (c.rank % 2) {
        MPI_Comm_create_group(MPI_COMM_WORLD, odd, 5, &sub);
        MPI_Allreduce(&c.rank, &n, 1, MPI_INT, MPI_SUM, sub);
        c.expect(n == c.ranks / 2 * (c.ranks / 2), "sum of the odd");
        MPI_Comm_free(&sub);
    }
    MPI_Group_free(&rest);
    MPI_Group_free(&odd);
    MPI_Group_free(&world);

    // All ranks as a communicator of two groups.
    MPI_Comm node, half, inter, whole;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    c.expect(n > 0, "ranks of a node");
    MPI_Comm_split(MPI_COMM_WORLD, c.rank < c.ranks / 2, c.rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, c.rank < c.ranks / 2 ? c.ranks / 2 : 0, 6, &inter);
    MPI_Comm_remote_size(inter, &n);
    c.expect(n == c.ranks - c.ranks / 2 || n == c.ranks / 2, "remote size");
    int out = c.rank < c.ranks / 2 ? 1 : 100;
    MPI_Allreduce(&out, &n, 1, MPI_INT, MPI_SUM, inter);
    c.expect(n == (out == 1 ? 100 : 1) * c.ranks / 2, "sum of the others");
    MPI_Intercomm_merge(inter, c.rank < c.ranks / 2, &whole);
    MPI_Comm_rank(whole, &n);
    c.expect(n == (c.rank + c.ranks / 2) % c.ranks, "merge");
    for (MPI_Comm *comm : {&whole, &inter, &half, &node})
        MPI_Comm_free(comm);
    return c.finish("cxx/comm");
}
