// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives: in place, nonblocking in any order of completion, on several
// communicators at once.

#include "check.h"

#include <numeric>

int body(int argc, char **argv)
{
    Check c(&argc, &argv);
    const int n = c.ranks;
    std::vector<int> a(n), ones(n, 1), at(n);
    std::iota(at.begin(), at.end(), 0);
    auto is = [&](int factor, int plus) {
        for (int i = 0; i < n; i++)
            if (a[i] != factor * i + plus)
                return false;
        return true;
    };

    a[c.rank] = 3 * c.rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a.data(), 1, MPI_INT, MPI_COMM_WORLD);
    c.expect(is(3, 0), "allgather");
    a.assign(n, 0);
    a[c.rank] = 2 * c.rank + 1;
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a.data(), ones.data(), at.data(), MPI_INT, MPI_COMM_WORLD);
    c.expect(is(2, 1), "allgatherv");
    for (int i = 0; i < n; i++)
        a[i] = 10 * c.rank + i;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a.data(), 1, MPI_INT, MPI_COMM_WORLD);
    c.expect(is(10, c.rank), "alltoall");
    c.digest = std::accumulate(a.begin(), a.end(), 0L);

    int x = c.rank + 1;
    if (c.rank == 1)
        MPI_Reduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_PROD, 1, MPI_COMM_WORLD);
    else
        MPI_Reduce(&x, nullptr, 1, MPI_INT, MPI_PROD, 1, MPI_COMM_WORLD);
    c.expect(c.rank != 1 || n != 4 || x == 24, "reduce");
    x = c.rank;
    MPI_Gather(c.rank == 0 ? MPI_IN_PLACE : &x, 1, MPI_INT, a.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (c.rank == 0) {
        a[0] = 0;
        c.expect(is(1, 0), "gather");
    }
    MPI_Scatterv(a.data(), ones.data(), at.data(), MPI_INT, c.rank == 0 ? MPI_IN_PLACE : &x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    c.expect(x == c.rank, "scatterv");
    double d = c.rank + 0.5;
    MPI_Scan(MPI_IN_PLACE, &d, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    c.expect(d == (c.rank + 1) * (c.rank + 1) / 2.0, "scan");

    MPI_Comm dup, half;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, c.rank % 2, 0, &half);
    int sum[3] = {c.rank, c.rank, c.rank}, root = c.rank == n - 1 ? 77 : 0;
    std::vector<int> all(n, -1), back(n, -1);
    MPI_Request r[6];
    MPI_Iallreduce(MPI_IN_PLACE, &sum[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
    MPI_Iallreduce(MPI_IN_PLACE, &sum[1], 1, MPI_INT, MPI_MAX, dup, &r[1]);
    MPI_Iallreduce(MPI_IN_PLACE, &sum[2], 1, MPI_INT, MPI_SUM, half, &r[2]);
    MPI_Ibcast(&root, 1, MPI_INT, n - 1, dup, &r[3]);
    MPI_Igather(&c.rank, 1, MPI_INT, all.data(), 1, MPI_INT, 0, MPI_COMM_WORLD, &r[4]);
    MPI_Ialltoallv(at.data(), ones.data(), at.data(), MPI_INT, back.data(), ones.data(), at.data(), MPI_INT, dup, &r[5]);
    for (int left = 6; left > 0; left--) {
        int which;
        MPI_Waitany(6, r, &which, MPI_STATUS_IGNORE);
        c.expect(which != MPI_UNDEFINED, "waitany");
    }
    c.expect(sum[0] == n * (n - 1) / 2, "sum");
    c.expect(sum[1] == n - 1, "max");
    c.expect(n != 4 || sum[2] == (c.rank % 2 ? 4 : 2), "sum of half");
    c.expect(root == 77, "ibcast");
    c.expect(c.rank != 0 || all == at, "igather");
    c.expect(back == std::vector<int>(n, c.rank), "ialltoallv");
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
    return c.finish("cxx/coll");
}
